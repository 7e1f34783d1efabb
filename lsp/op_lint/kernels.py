"""Which schema a kernel has to fit: that of its own definition, of the operator's, or of the installed operator."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import msgspec

from op_lint.condition import Condition, compatible, conjunction
from op_lint.facts import (
    CppType,
    Definition,
    Implementation,
    Kernel,
    KernelKind,
    Language,
    Parameter,
    Signature,
    Text,
)
from op_lint.program import Program, Registered
from op_lint.schema.compare import Difference, differences
from op_lint.schema.match import Verdict, compare
from op_lint.schema.model import Name, Schema, SchemaError
from op_lint.schema.parser import parse_declaration

_KEPT = 65_536
"""Schema strings whose parse is kept in one process."""


@lru_cache(maxsize=_KEPT)
def parsed(text: str) -> Schema | Name | SchemaError:
    """What a string given to `def` means (`parse_declaration`), remembered."""
    return parse_declaration(text)


def schema_text(fact: Definition) -> Text:
    """The string that a definition gives as its schema; the operator's name where it gives nothing else."""
    return fact.schema or fact.text


def text_differences(text: str, other: str) -> tuple[Difference, ...]:
    """In what two schema strings differ besides the namespace, which one may leave out; nothing where one is none."""
    ours, theirs = parsed(text), parsed(other)
    if not isinstance(ours, Schema) or not isinstance(theirs, Schema):
        return ()
    bare = Schema(Name(theirs.name.name, ours.name.namespace, theirs.name.overload), theirs.arguments, theirs.returns)
    return differences(ours, bare)


CppTypes = tuple[CppType, ...]


def types_of(signature: Signature) -> CppTypes:
    """The types of a signature, the returned one first: all of it that the dispatcher compares."""
    return (signature.returns, *(parameter.type for parameter in signature.parameters))


def fits(signature: Signature, written: str) -> bool:
    """Whether a kernel fits a schema for certain. Remembered by kind: the kernels of a library are of few."""
    return _fits(types_of(signature), signature.noexcept, written.partition("(")[2])


@lru_cache(maxsize=_KEPT)
def _fits(types: CppTypes, noexcept: bool, behind_name: str) -> bool:
    schema = parsed(f"any({behind_name}")
    signature = Signature(types[0], tuple(Parameter("", each) for each in types[1:]), noexcept)
    return isinstance(schema, Schema) and compare(signature, schema).verdict is Verdict.FITS


class Bound(msgspec.Struct, frozen=True, eq=False):
    """A kernel and a schema that it has to fit.

    `text` is the schema's string in the sources; None for an installed operator's, whose string is `written`.
    `condition` is when both are there.
    """

    registered: Registered[Definition] | Registered[Implementation]
    kernel: Kernel
    schema: Schema
    written: str
    text: Text | None
    condition: Condition


@lru_cache(maxsize=1)
def bound_kernels(program: Program) -> tuple[Bound, ...]:
    """Every C++ kernel whose schema is known for certain, with that schema. Made once for the rules that ask.

    An operator that is defined several times with schemas that differ (per backend, per configuration) binds
    its kernels where one definition is in the kernel's own file, or only one can be there with it.
    """
    return tuple(_bound_kernels(program))


def _bound_kernels(program: Program) -> Iterator[Bound]:
    for definition in program.definitions:
        kernel = definition.fact.kernel
        if kernel is not None and _is_compared(definition.fact):
            text = schema_text(definition.fact)
            schema = parsed(text.value)
            if isinstance(schema, Schema):
                yield Bound(definition, kernel, schema, text.value, text, definition.condition)
    for implementation in program.implementations:
        if _is_compared(implementation.fact):
            yield from bound(program, implementation)


def _is_compared(fact: Definition | Implementation) -> bool:
    """Whether a registration gives a C++ function whose types the dispatcher looks at."""
    return fact.language is Language.CPP and fact.kernel is not None and fact.kernel.kind is KernelKind.KERNEL


def bound(program: Program, implementation: Registered[Implementation]) -> Iterator[Bound]:
    """A kernel of either language with the schema of its operator, where that is known for certain."""
    fact = implementation.fact
    definitions = _candidates(program, implementation)
    if not program.definitions_of(fact.operator):
        yield from _installed(program, implementation)
        return
    schemas = [(definition, parsed(schema_text(definition.fact).value)) for definition in definitions]
    known = [(definition, schema) for definition, schema in schemas if isinstance(schema, Schema)]
    if len(known) != len(schemas) or not known:
        return
    if len(known) > 1 and any(schema != known[0][1] for _, schema in known[1:]):
        return
    definition, schema = known[0]
    condition = conjunction((definition.condition, implementation.condition))
    text = schema_text(definition.fact)
    yield Bound(implementation, fact.kernel, schema, text.value, text, condition)


def _candidates(program: Program, implementation: Registered[Implementation]) -> list[Registered[Definition]]:
    """The definitions that can be there with a kernel; those of its own file, if there are such."""
    possible = [
        definition
        for definition in program.definitions_of(implementation.fact.operator)
        if compatible(definition.condition, implementation.condition)
    ]
    own = [definition for definition in possible if definition.file == implementation.file]
    return own or possible


def _installed(program: Program, implementation: Registered[Implementation]) -> Iterator[Bound]:
    found = program.installed_operator(implementation.fact.operator)
    if found is None or found.schema is None or program.in_torch:
        return
    schema = parsed(found.schema)
    if isinstance(schema, Schema):
        kernel = implementation.fact.kernel
        yield Bound(implementation, kernel, schema, found.schema, None, implementation.condition)
