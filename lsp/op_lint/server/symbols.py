"""Symbols: the blocks of a file with what they register, and the operators of the workspace as `ns::op`."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

import msgspec

from op_lint.dispatch.keys import IMPLICIT
from op_lint.facts import FileFacts, Place, Unit
from op_lint.naming import kernel_word
from op_lint.server.snapshot import Snapshot


class SymbolKind(str, Enum):
    """What a symbol is."""

    BLOCK = "block"
    OPERATOR = "operator"
    KERNEL = "kernel"


class Symbol(msgspec.Struct, frozen=True):
    """A symbol: `place` is all of it, `name_place` what to select."""

    name: str
    kind: SymbolKind
    detail: str
    place: Place
    name_place: Place
    children: tuple[Symbol, ...] = ()


def document_symbols(snapshot: Snapshot, path: str) -> tuple[Symbol, ...]:
    """The registration blocks of a file, each with its definitions and kernels; Python's stand by themselves."""
    found: list[Symbol] = []
    for facts in snapshot.facts_about(path):
        for unit in facts.units:
            children = tuple(_children(facts, unit, path))
            if unit.place.path == path and unit.body is not None and unit.body.path == path:
                whole = Place(path, unit.place.line, unit.place.start, max(unit.body.end, unit.place.end))
                inside = tuple(each for each in children if _is_in(each.place, whole))
                found.append(Symbol(_block_name(unit), SymbolKind.BLOCK, unit.macro, whole, unit.place, inside))
                found += [each for each in children if not _is_in(each.place, whole)]
            else:
                found += children
    return tuple(sorted(found, key=lambda symbol: symbol.place))


def workspace_symbols(snapshot: Snapshot, query: str) -> Iterator[Symbol]:
    """The definitions and kernels whose `ns::op` holds the letters of `query` in order."""
    program = snapshot.program
    for operator in program.operators:
        if not _fits(query.lower(), str(operator).lower()):
            continue
        for definition in program.definitions_of(operator):
            yield Symbol(str(operator), SymbolKind.OPERATOR, "def", definition.place, definition.fact.name_place)
        for found in program.implementations_of(operator):
            yield Symbol(str(operator), SymbolKind.KERNEL, found.fact.key, found.place, found.fact.name_place)


def _children(facts: FileFacts, unit: Unit, path: str) -> Iterator[Symbol]:
    for definition in facts.definitions:
        if definition.unit == unit.id and definition.place.path == path:
            detail = definition.key or (IMPLICIT if definition.kernel else "")
            yield Symbol(
                str(definition.operator),
                SymbolKind.OPERATOR,
                detail,
                definition.place,
                _within(definition.name_place, definition.place),
            )
    for found in facts.implementations:
        if found.unit == unit.id and found.place.path == path:
            detail = f"{found.key}: {kernel_word(found.kernel)}"
            yield Symbol(
                str(found.operator), SymbolKind.KERNEL, detail, found.place, _within(found.name_place, found.place)
            )


def _within(inner: Place, outer: Place) -> Place:
    """The protocol wants what is selected to lie in the whole."""
    return inner if _is_in(inner, outer) else outer


def _is_in(inner: Place, outer: Place) -> bool:
    return inner.path == outer.path and outer.start <= inner.start and inner.end <= outer.end


def _block_name(unit: Unit) -> str:
    return f"{unit.namespace or '_'}, {unit.key}" if unit.key else unit.namespace or "_"


def _fits(query: str, name: str) -> bool:
    letters = iter(name)
    return all(letter in letters for letter in query)
