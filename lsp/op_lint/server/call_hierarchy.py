"""Call hierarchy: who calls an operator in Python, and the kernels that it calls."""

from __future__ import annotations

import re

import msgspec

from op_lint.facts import OperatorName, OperatorUse, Place, UseKind
from op_lint.naming import kernel_word
from op_lint.server.site import KernelSite, operators_at, site_at
from op_lint.server.snapshot import Snapshot

_DEF = re.compile(rb"(?:@[^\n]*\n\s*)*(?:async\s+)?def\s+(\w+)")


class Node(msgspec.Struct, frozen=True):
    """A caller, an operator or a kernel. `operator` is set on operators, whose calls can be asked for further."""

    name: str
    detail: str
    place: Place
    name_place: Place
    operator: OperatorName | None = None


class Call(msgspec.Struct, frozen=True):
    """A node and the places of the calls."""

    node: Node
    places: tuple[Place, ...]


def nodes_at(snapshot: Snapshot, path: str, offset: int) -> tuple[Node, ...]:
    """The operator at `offset`, or all overloads of its name; at a kernel the operator that it serves."""
    site = site_at(snapshot, path, offset)
    if isinstance(site, KernelSite):
        return (_of_operator(snapshot, site.fact.operator, site.place),)
    return tuple(_of_operator(snapshot, operator, site.place) for operator in operators_at(snapshot, site) if site)


def incoming(snapshot: Snapshot, operator: OperatorName) -> tuple[Call, ...]:
    """The Python functions (or modules) that call an operator."""
    calls: dict[Node, list[Place]] = {}
    for use in snapshot.uses_of(operator):
        if use.kind not in (UseKind.CALL, UseKind.REFERENCE):
            continue
        node = _caller(snapshot, use)
        calls.setdefault(node, []).append(use.name_place)
    return tuple(Call(node, tuple(places)) for node, places in calls.items())


def _caller(snapshot: Snapshot, use: OperatorUse) -> Node:
    """The function around a use; the module where there is none."""
    path = use.place.path
    facts = snapshot.files[path].python
    module = facts.module if facts else path
    found = _DEF.match(snapshot.text(path).data, use.function.start) if use.function else None
    if use.function is None or found is None:
        start = Place(path, 1, 0, 0)
        return Node(module, path, start, start)
    name_place = msgspec.structs.replace(use.function, start=found.start(1), end=found.end(1))
    return Node(found[1].decode("utf-8", "replace"), module, use.function, name_place)


def outgoing(snapshot: Snapshot, operator: OperatorName) -> tuple[Call, ...]:
    """The kernels of an operator, one for each key."""
    found: list[Call] = []
    for key, kernels in snapshot.program.kernels_of(operator).items():
        for registered in kernels:
            kernel = registered.fact.kernel
            if kernel is None:
                continue
            place = kernel.defined or kernel.declared or kernel.place
            node = Node(kernel_word(kernel), key, place, place)
            found.append(Call(node, (registered.fact.name_place,)))
    return tuple(found)


def _of_operator(snapshot: Snapshot, operator: OperatorName, place: Place) -> Node:
    definitions = snapshot.program.definitions_of(operator)
    best = definitions[0].fact.name_place if definitions else place
    return Node(str(operator), "operator", best, best, operator)
