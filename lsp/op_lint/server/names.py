"""Words for things that several features speak of."""

from __future__ import annotations

import re

import msgspec

from op_lint.facts import OperatorName, Signature
from op_lint.schema import infer_schema
from op_lint.schema.model import Name, Schema
from op_lint.server.snapshot import Snapshot

_IDENTIFIER = re.compile(r"[A-Za-z]\w*", re.ASCII)


def overloads(snapshot: Snapshot, packet: OperatorName) -> tuple[OperatorName, ...]:
    """The operators that `torch.ops.ns.name` stands for; that name itself where none is known."""
    program = snapshot.program
    known = program.overloads(packet.namespace, packet.name)
    found = [each for each in known if program.definitions_of(each) or program.installed_operator(each)]
    return tuple(found) or (packet,)


def meant_schema(signature: Signature, name: Name | None = None) -> Schema | None:
    """The schema that a kernel's signature means, as a person would write it: with the parameters' names.

    None where a type is refused or not known.
    """
    inferred = infer_schema(signature, name)
    if inferred is None:
        return None
    names = [parameter.name for parameter in signature.parameters]
    arguments = inferred.arguments
    if len(names) == len(arguments) and all(map(_IDENTIFIER.fullmatch, names)):
        arguments = tuple(msgspec.structs.replace(each, name=name) for each, name in zip(arguments, names, strict=True))
    returns = tuple(msgspec.structs.replace(each, name="") for each in inferred.returns)
    return msgspec.structs.replace(inferred, arguments=arguments, returns=returns)
