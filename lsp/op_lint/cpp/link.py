"""What only the files together say: helpers that are called from another file, blocks in headers.

The facts of one file are a function of that file and what it includes. Two things cross that border: a function
that takes a `torch::Library&` and is called by a block elsewhere, and a block in a header, which every source that
includes it shows, perhaps with other macros than the header alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import msgspec

from op_lint.condition import conjunction
from op_lint.facts import FileFacts, Language, Place, Unit, UnitKind, Unresolved

_ROWS = ("definitions", "implementations", "fallbacks", "unresolved", "delegations")


def link(files: Sequence[FileFacts]) -> tuple[FileFacts, ...]:
    """`files` with the facts of headers in one place each, and those of helpers under the blocks that call them."""
    return _called_helpers(_headers_once(tuple(files)))


def _headers_once(files: tuple[FileFacts, ...]) -> tuple[FileFacts, ...]:
    """Each block of a header belongs to the facts of the header, or else to the first source that shows it."""
    owners: dict[Any, str] = {}
    for facts in files:
        for unit in facts.units:
            if unit.place.path == facts.path:
                owners[_identity(unit)] = facts.path
    for facts in files:
        for unit in facts.units:
            owners.setdefault(_identity(unit), facts.path)
    return tuple(_without_strangers(facts, owners) for facts in files)


def _identity(unit: Unit) -> Any:
    return (unit.place.path, unit.place.start, unit.namespace, unit.key, unit.kind, unit.spelled)


def _without_strangers(facts: FileFacts, owners: dict[Any, str]) -> FileFacts:
    kept = [unit for unit in facts.units if owners[_identity(unit)] == facts.path]
    if len(kept) == len(facts.units):
        return facts
    numbers = {unit.id: index for index, unit in enumerate(kept)}
    changed: dict[str, Any] = {
        "units": tuple(msgspec.structs.replace(unit, id=index) for index, unit in enumerate(kept))
    }
    for name in _ROWS:
        rows = getattr(facts, name)
        changed[name] = tuple(
            row if row.unit is None else msgspec.structs.replace(row, unit=numbers[row.unit])
            for row in rows
            if row.unit is None or row.unit in numbers
        )
    return msgspec.structs.replace(facts, **changed)


def _called_helpers(files: tuple[FileFacts, ...]) -> tuple[FileFacts, ...]:
    callers: dict[str, list[tuple[Unit, Any]]] = defaultdict(list)
    for facts in files:
        for delegation in facts.delegations:
            callers[delegation.function].append((facts.units[delegation.unit], delegation))
    bodies = {unit.function for facts in files for unit in facts.units if unit.kind == UnitKind.HELPER}
    return tuple(_linked(facts, callers, bodies) for facts in files)


def _linked(facts: FileFacts, callers: dict[str, list[tuple[Unit, Any]]], bodies: set[str | None]) -> FileFacts:
    if facts.language != Language.CPP:
        return facts
    helpers = [unit for unit in facts.units if unit.kind == UnitKind.HELPER]
    lost = [delegation for delegation in facts.delegations if delegation.function not in bodies]
    if not helpers and not lost:
        return facts
    rows: dict[str, list[Any]] = {name: list(getattr(facts, name)) for name in _ROWS}
    units = list(facts.units)
    for helper in helpers:
        calls = callers.get(helper.function or "", [])
        if not calls:
            _without_caller(helper, rows)
            continue
        for position, (block, delegation) in enumerate(calls):
            unit = msgspec.structs.replace(
                helper,
                id=helper.id if position == 0 else len(units),
                namespace=block.namespace,
                key=block.key,
                namespace_macro=block.namespace_macro,
                condition=conjunction((helper.condition, delegation.condition)),
            )
            if position == 0:
                units[helper.id] = unit
                _bind(rows, helper.id, unit, unit.id, replace=True)
            else:
                units.append(unit)
                _bind(rows, helper.id, unit, unit.id, replace=False)
    for delegation in lost:
        block = facts.units[delegation.unit]
        reason = f"the body of {delegation.function} is in no file that was read"
        rows["unresolved"].append(
            Unresolved("unit", reason, delegation.place, delegation.unit, block.namespace, block.key,
                       condition=delegation.condition)
        )  # fmt: skip
    return msgspec.structs.replace(facts, units=tuple(units), **{name: tuple(found) for name, found in rows.items()})


def _without_caller(helper: Unit, rows: dict[str, list[Any]]) -> None:
    """Nobody calls the helper: what it registers, it registers nowhere that can be known."""
    for name, what in (("definitions", "def"), ("implementations", "impl"), ("fallbacks", "fallback")):
        for row in [row for row in rows[name] if row.unit == helper.id]:
            rows[name].remove(row)
            reason = f"no block calls {helper.function}, which takes the library"
            explicit = getattr(row, "explicit_namespace", None)
            place: Place = row.place
            rows["unresolved"].append(Unresolved(what, reason, place, helper.id, explicit, condition=row.condition))


def _bind(rows: dict[str, list[Any]], old: int, unit: Unit, number: int, replace: bool) -> None:
    """Give the rows of helper `old` the namespace and key of the block that calls it, in place or as copies."""
    for name in ("definitions", "implementations", "fallbacks"):
        for index, row in enumerate(list(rows[name])):
            if row.unit != old:
                continue
            bound = _bound(row, unit, number)
            if replace:
                rows[name][index] = bound
            else:
                rows[name].append(bound)


def _bound(row: Any, unit: Unit, number: int) -> Any:
    changes: dict[str, Any] = {"unit": number}
    if hasattr(row, "operator") and row.explicit_namespace is None:
        changes["operator"] = msgspec.structs.replace(row.operator, namespace=unit.namespace or "")
    if getattr(row, "call_key", "") is None and unit.key is not None:
        changes["key"] = unit.key
    if not hasattr(row, "operator"):
        changes["key"] = row.key or unit.key
        changes["namespace"] = unit.namespace
    return msgspec.structs.replace(row, **changes)
