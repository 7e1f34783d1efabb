"""What only the files together say: helpers that are called from another file, blocks in headers.

The facts of one file are a function of that file and what it includes. Two things cross that border: a function
that takes a `torch::Library&` and is called by a block elsewhere, and a block in a header, which every source that
includes it shows, perhaps with other macros than the header alone.
"""

from __future__ import annotations

import posixpath
from collections import Counter, defaultdict, deque
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

from msgspec.structs import replace

from op_lint.condition import ALWAYS, Condition, conjunction
from op_lint.facts import (
    ClassDefinition,
    Definition,
    Delegation,
    Fallback,
    FileFacts,
    Implementation,
    Language,
    OperatorName,
    Place,
    Unit,
    UnitKind,
    Unresolved,
)

_Row = TypeVar("_Row", Definition, Implementation, Fallback, Unresolved, Delegation, ClassDefinition)

_DEEPEST = 32
"""Calls on the way from a block to a helper; what is further away is not reached."""

_MOST_ALIKE = 2
"""Ways from one block to one helper under one condition that are kept: what comes twice comes once too often."""

_Helper = tuple[str, str]
"""The file that a helper's body is in, and its qualified name."""


def link(files: Sequence[FileFacts]) -> tuple[FileFacts, ...]:
    """`files` with the facts of headers in one place each, and those of helpers under the blocks that call them."""
    return _called_helpers(_headers_once(tuple(files)))


# ---------------------------------------------------------------- headers


def _headers_once(files: tuple[FileFacts, ...]) -> tuple[FileFacts, ...]:
    """Each block of a header belongs to the facts of the header, or else to the first source that shows it.

    What the header alone shows and no source that includes it does (a namespace that is a macro of the includer's) is
    in no binary.
    """
    shown: dict[Hashable, set[Hashable]] = defaultdict(set)
    for facts in files:
        for unit in facts.units:
            if unit.place.path != facts.path:
                shown[_site(unit)].add(_identity(unit))
    owners: dict[Hashable, str] = {}
    for facts in files:
        for unit in facts.units:
            others = shown.get(_site(unit))
            if unit.place.path == facts.path and (others is None or _identity(unit) in others):
                owners[_identity(unit)] = facts.path
    for facts in files:
        for unit in facts.units:
            if unit.place.path != facts.path:
                owners.setdefault(_identity(unit), facts.path)
    return tuple(_without_strangers(facts, owners) for facts in files)


def _site(unit: Unit) -> Hashable:
    return (unit.place.path, unit.place.start, unit.kind, unit.spelled)


def _identity(unit: Unit) -> Hashable:
    return (_site(unit), unit.namespace, unit.key)


def _without_strangers(facts: FileFacts, owners: dict[Hashable, str]) -> FileFacts:
    kept = [unit for unit in facts.units if owners.get(_identity(unit)) == facts.path]
    if len(kept) == len(facts.units):
        return facts
    numbers = {unit.id: index for index, unit in enumerate(kept)}

    def own(rows: Iterable[_Row]) -> tuple[_Row, ...]:
        return tuple(
            row if row.unit is None else replace(row, unit=numbers[row.unit])
            for row in rows
            if row.unit is None or row.unit in numbers
        )

    return replace(
        facts,
        units=tuple(replace(unit, id=index) for index, unit in enumerate(kept)),
        definitions=own(facts.definitions),
        implementations=own(facts.implementations),
        fallbacks=own(facts.fallbacks),
        unresolved=own(facts.unresolved),
        delegations=own(facts.delegations),
        classes=own(facts.classes),
    )


# ---------------------------------------------------------------- helpers


class _Call(NamedTuple):
    """A call of a helper: the block that the library is of, under which conditions it is made, and by which calls.

    `file` is the source that the block is compiled with; `calls` are as in `Definition`.
    """

    file: str
    block: Unit
    condition: Condition
    guard: str | None
    calls: tuple[Place, ...]

    def through(self, delegation: Delegation) -> _Call:
        """The call that a function makes which this call has come to."""
        return self._replace(
            condition=conjunction((self.condition, delegation.condition)),
            guard=_both(self.guard, delegation.runtime_guard),
            calls=(*self.calls, *delegation.calls, delegation.place),
        )


class _Bound(NamedTuple):
    """A helper as one block calls it; `unit` is the helper's unit for that block."""

    helper: int
    unit: Unit
    call: _Call


def _called_helpers(files: tuple[FileFacts, ...]) -> tuple[FileFacts, ...]:
    callers = _Callers(files)
    return tuple(_linked(facts, callers) if facts.language is Language.CPP else facts for facts in files)


class _Callers:
    """Who calls which helper. Of several functions of one name, a call means the one nearest in the tree."""

    def __init__(self, files: Sequence[FileFacts]) -> None:
        self._bodies: dict[str, list[str]] = defaultdict(list)
        for facts in files:
            for unit in facts.units:
                if unit.kind is UnitKind.HELPER and unit.function is not None:
                    self._bodies[unit.function].append(facts.path)
        self._handed_on: dict[_Helper, list[Delegation]] = defaultdict(list)
        self._calls: dict[_Helper, list[_Call]] = defaultdict(list)
        self._seen: Counter[Hashable] = Counter()
        self._follow(self._of_blocks(files))

    def has_body(self, function: str) -> bool:
        return function in self._bodies

    def of(self, path: str, function: str) -> Sequence[_Call]:
        """The calls by which a block's library reaches the helper `function` of the file at `path`.

        Of those that differ in nothing but the calls on the way, the first two: one and one too many.
        """
        return self._calls.get((path, function), ())

    def _of_blocks(self, files: Sequence[FileFacts]) -> Iterator[tuple[_Helper, _Call]]:
        """The calls that blocks make; those that helpers make are set aside."""
        for facts in files:
            for delegation in facts.delegations:
                unit = facts.units[delegation.unit]
                if unit.kind is UnitKind.HELPER:
                    self._handed_on[facts.path, unit.function or ""].append(delegation)
                    continue
                whole = _Call(facts.path, unit, ALWAYS, None, ()).through(delegation)
                for path in self._nearest(facts.path, delegation.function):
                    yield (path, delegation.function), whole

    def _follow(self, calls: Iterable[tuple[_Helper, _Call]]) -> None:
        """Take in `calls`, and what the helpers that they reach call."""
        waiting = deque(calls)
        while waiting:
            helper, call = waiting.popleft()
            alike = (helper, call._replace(calls=()))
            self._seen[alike] += 1
            if self._seen[alike] > _MOST_ALIKE:
                continue
            self._calls[helper].append(call)
            for delegation in self._handed_on.get(helper, ()):
                if delegation.place not in call.calls and len(call.calls) < _DEEPEST:
                    for path in self._nearest(helper[0], delegation.function):
                        waiting.append(((path, delegation.function), call.through(delegation)))

    def _nearest(self, caller: str, function: str) -> list[str]:
        bodies = self._bodies.get(function, [])
        most = max((_shared(caller, path) for path in bodies), default=0)
        return [path for path in bodies if _shared(caller, path) == most]


def _shared(first: str, second: str) -> int:
    """How many leading folders two paths share."""
    pairs = zip(posixpath.dirname(first).split("/"), posixpath.dirname(second).split("/"), strict=False)
    count = 0
    for one, other in pairs:
        if one != other:
            break
        count += 1
    return count


def _linked(facts: FileFacts, callers: _Callers) -> FileFacts:
    helpers = [unit for unit in facts.units if unit.kind is UnitKind.HELPER]
    lost = [delegation for delegation in facts.delegations if not callers.has_body(delegation.function)]
    if not helpers and not lost:
        return facts
    units = list(facts.units)
    bound: list[_Bound] = []
    idle: set[int] = set()
    for helper in helpers:
        calls = callers.of(facts.path, helper.function or "")
        if not calls:
            idle.add(helper.id)
        for position, call in enumerate(calls):
            unit = _under(helper, call, helper.id if position == 0 else len(units))
            if position == 0:
                units[helper.id] = unit
            else:
                units.append(unit)
            bound.append(_Bound(helper.id, unit, call))
    uses = {helper.id: [each for each in bound if each.helper == helper.id] for helper in helpers}
    unresolved = [
        *_bind(facts.unresolved, uses),
        *(_without_caller(row, facts.units[row.unit]) for row in _registering(facts) if row.unit in idle),
        *(_without_body(delegation, facts.units[delegation.unit]) for delegation in lost),
    ]
    return replace(
        facts,
        units=tuple(units),
        definitions=tuple(row for row in _bind(facts.definitions, uses) if row.unit not in idle),
        implementations=tuple(row for row in _bind(facts.implementations, uses) if row.unit not in idle),
        fallbacks=tuple(row for row in _bind(facts.fallbacks, uses) if row.unit not in idle),
        classes=tuple(row for row in _bind(facts.classes, uses) if row.unit not in idle),
        unresolved=tuple(unresolved),
    )


def _under(helper: Unit, call: _Call, number: int) -> Unit:
    """The helper's unit as the block of `call` makes it one."""
    block = call.block
    return replace(
        helper,
        id=number,
        namespace=block.namespace,
        key=block.key,
        namespace_macro=block.namespace_macro,
        condition=conjunction((helper.condition, call.condition)),
    )


def _registering(facts: FileFacts) -> Iterator[Definition | Implementation | Fallback]:
    yield from facts.definitions
    yield from facts.implementations
    yield from facts.fallbacks


def _without_caller(row: Definition | Implementation | Fallback, helper: Unit) -> Unresolved:
    """Nobody calls the helper: what it registers, it registers nowhere that can be known."""
    what = "def" if isinstance(row, Definition) else "impl" if isinstance(row, Implementation) else "fallback"
    reason = f"no block calls {helper.function}, which takes the library"
    namespace = None if isinstance(row, Fallback) else row.explicit_namespace
    return Unresolved(what, reason, row.place, helper.id, namespace, condition=row.condition)


def _without_body(delegation: Delegation, block: Unit) -> Unresolved:
    reason = f"the body of {delegation.function} is in no file that was read"
    return Unresolved(
        "unit", reason, delegation.place, block.id, block.namespace, block.key, condition=delegation.condition
    )


def _bind(rows: Iterable[_Row], uses: dict[int, list[_Bound]]) -> Iterator[_Row]:
    """`rows`, those of a helper once for each block that calls it."""
    for row in rows:
        calls = uses.get(row.unit, []) if row.unit is not None else []
        if not calls:
            yield row
        for bound in calls:
            yield _bound(row, bound.unit, bound.call)


def _bound(row: _Row, unit: Unit, call: _Call) -> _Row:
    """A row of a helper with the namespace, key and conditions of the block that calls it."""
    condition = conjunction((row.condition, call.condition)) if call.condition != ALWAYS else row.condition
    row = replace(row, unit=unit.id, condition=condition)
    if isinstance(row, Unresolved):
        return replace(row, namespace=row.namespace or unit.namespace, key=row.key or unit.key)
    if isinstance(row, Delegation | ClassDefinition):
        return row
    row = replace(row, runtime_guard=_both(call.guard, row.runtime_guard), calls=(*call.calls, *row.calls))
    if isinstance(row, Fallback):
        return replace(row, key=row.key or unit.key, namespace=unit.namespace)
    if row.explicit_namespace is None:
        row = replace(row, operator=OperatorName(unit.namespace or "", row.operator.name, row.operator.overload))
    if isinstance(row, Implementation) and row.call_key is None and unit.key is not None:
        row = replace(row, key=unit.key)
    return row


def _both(first: str | None, second: str | None) -> str | None:
    return f"{first} && {second}" if first and second else first or second
