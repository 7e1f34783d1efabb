"""Which configurations of a source are read, so that every arm that registers is live in one of them.

And the way back: one list of facts from the readings of all passes, each fact with the condition under which it exists.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import msgspec

from op_lint.condition import (
    ALWAYS,
    NEVER,
    All,
    Atom,
    Condition,
    Not,
    atoms,
    compatible,
    conjunction,
    disjunction,
    negation,
    satisfying,
)
from op_lint.cpp.contexts import Context
from op_lint.cpp.preprocess import Preprocessed, arms_of
from op_lint.cpp.registrations import ROW_LISTS, Registrations
from op_lint.cpp.views import Arm, View, holds
from op_lint.facts import Definition, Delegation, Fallback, Implementation, Place, Unit, UnitKind

MOST_PASSES = 16
"""Readings of one source at the most; arms that need more are reported as unread."""

Assignment = dict[str, bool]


@dataclass(frozen=True)
class Plan:
    """The assignments to read a source under, the first one with as many arms as go together."""

    assignments: tuple[Assignment, ...]
    uncovered: tuple[tuple[View, Arm], ...]


def plan(
    preprocessed: Preprocessed,
    matters: Callable[[View, Arm], bool],
    ways: Iterable[Arm] = (),
    done: Sequence[Assignment] = (),
) -> Plan:
    """Assignments under which every arm that `matters` is live once, and each of the `ways` of the main file.

    `done` are readings that need no repeat.
    """
    wanted = [(v, a) for v, a in arms_of(preprocessed.views) if a.condition not in (ALWAYS, NEVER) and matters(v, a)]
    wanted.extend((preprocessed.main, way) for way in ways)
    names = list(dict.fromkeys(name for view in preprocessed.views for _, c in view.tests for name in atoms(c)))
    waiting = [(v, a) for v, a in wanted if not any(holds(a.condition, assignment) for assignment in done)]
    assignments: list[Assignment] = []
    while waiting and len(assignments) + len(done) < MOST_PASSES:
        chosen: Assignment = {}
        for _, arm in waiting:
            chosen = _extended(chosen, arm.condition) or chosen
        full = {name: chosen.get(name, False) for name in names}
        rest = [(v, a) for v, a in waiting if not holds(a.condition, full)]
        if len(rest) == len(waiting):
            break
        assignments.append(full)
        waiting = rest
    if not assignments and not done:
        assignments.append(dict.fromkeys(names, False))
    return Plan(tuple(assignments), tuple((v, a) for v, a in waiting if compatible(a.condition, ALWAYS)))


def _extended(chosen: Assignment, condition: Condition) -> Assignment | None:
    """`chosen` with what it takes to make `condition` true, or None where they contradict each other."""
    literals = list(_literals(condition))
    if None not in literals:
        extended = dict(chosen)
        for literal in literals:
            assert literal is not None
            name, value = literal
            if extended.setdefault(name, value) != value:
                return None
        return extended
    shared = set(atoms(condition)) & set(chosen)
    known = [Atom(name) if chosen[name] else Not(Atom(name)) for name in sorted(shared)]
    solution = satisfying(conjunction((*known, condition)))
    return None if solution is None else {**chosen, **solution}


def _literals(condition: Condition) -> Iterator[tuple[str, bool] | None]:
    """The literals of a plain conjunction; a None among them where it is more than that."""
    for part in condition.operands if isinstance(condition, All) else (condition,):
        if isinstance(part, Atom):
            yield part.text, True
        elif isinstance(part, Not) and isinstance(part.operand, Atom):
            yield part.operand.text, False
        else:
            yield None


# ---------------------------------------------------------------- merging


def merge(
    readings: Sequence[tuple[Assignment, Registrations]], preprocessed: Preprocessed, depending: Sequence[Context] = ()
) -> Registrations:
    """One list of facts from several readings of a source.

    What two readings say alike is one fact. Where they differ at the same place (a macro or a kernel that has another
    definition there), each is a fact of its own, and its condition names what tells the readings apart: where it can,
    something that the registration is `depending` on.
    """
    readings = _without_idle_helpers(readings)
    merger = _Merger([assignment for assignment, _ in readings], preprocessed, depending)
    units = merger.rows([[msgspec.structs.replace(unit, id=0) for unit in reading.units] for _, reading in readings])
    numbers = {_unit_identity(unit): index for index, unit in enumerate(units)}
    merged = Registrations(units=[msgspec.structs.replace(unit, id=index) for index, unit in enumerate(units)])
    of_readings = [[numbers[_unit_identity(unit)] for unit in reading.units] for _, reading in readings]
    for name in ROW_LISTS:
        rows = [
            [_renumbered(row, own) for row in getattr(reading, name)]
            for (_, reading), own in zip(readings, of_readings, strict=True)
        ]
        setattr(merged, name, merger.rows(rows))
    return merged


def _without_idle_helpers(
    readings: Sequence[tuple[Assignment, Registrations]],
) -> Sequence[tuple[Assignment, Registrations]]:
    """The readings without the helpers that only other readings call: those have what they register."""
    called: set[Place] = set()
    for _, reading in readings:
        rows: list[Definition | Implementation | Fallback | Delegation] = [
            *reading.definitions,
            *reading.implementations,
        ]
        rows += [*reading.fallbacks, *reading.delegations]
        called.update(row.place for row in rows if row.calls)
    return [(assignment, _without_units(reading, called)) for assignment, reading in readings]


def _without_units(reading: Registrations, called: Collection[Place]) -> Registrations:
    """A reading without the helpers in whose bodies one of the places `called` is."""
    idle = {
        unit.id
        for unit in reading.units
        if unit.kind is UnitKind.HELPER and unit.body is not None
        for place in called
        if place.path == unit.body.path and unit.body.start <= place.start < unit.body.end
    }
    if not idle:
        return reading
    kept = [unit for unit in reading.units if unit.id not in idle]
    numbers = {unit.id: index for index, unit in enumerate(kept)}
    left = Registrations(units=[msgspec.structs.replace(unit, id=index) for index, unit in enumerate(kept)])
    for name in ROW_LISTS:
        rows = [row for row in getattr(reading, name) if row.unit not in idle]
        setattr(
            left,
            name,
            [row if row.unit is None else msgspec.structs.replace(row, unit=numbers[row.unit]) for row in rows],
        )
    return left


def _unit_identity(unit: Unit) -> tuple[Any, ...]:
    return (unit.place, unit.spelled, unit.kind, unit.namespace, unit.key, unit.function)


def _renumbered(row: Any, numbers: Sequence[int]) -> Any:
    if row.unit is None or numbers[row.unit] == row.unit:
        return row
    return msgspec.structs.replace(row, unit=numbers[row.unit])


class _Merger:
    """Merges the rows of readings, made under `assignments`, of one source."""

    def __init__(
        self, assignments: Sequence[Assignment], preprocessed: Preprocessed, depending: Sequence[Context]
    ) -> None:
        self.assignments = assignments
        self.preprocessed = preprocessed
        self.main = preprocessed.main.path
        self.depending = depending

    @cached_property
    def arms(self) -> list[tuple[View, Arm]]:
        """The arms of all files, which hardly any source has to be asked for."""
        return list(arms_of(self.preprocessed.views))

    def rows(self, readings: Sequence[list[Any]]) -> list[Any]:
        """The rows of all readings, each once, in source order."""
        variants: dict[Any, list[tuple[Any, list[int]]]] = {}
        for number, rows in enumerate(readings):
            for row in rows:
                _add_variant(variants.setdefault(_site(row), []), row, number)
        merged = [self._conditioned(row, seen) for known in variants.values() for row, seen in known]
        return sorted(merged, key=lambda row: (row.place, getattr(row, "unit", 0) or 0))

    def _conditioned(self, row: Any, seen: list[int]) -> Any:
        """`row` under its own condition and, where other readings that compile its place lack it, what tells these."""
        others = [
            number
            for number, assignment in enumerate(self.assignments)
            if number not in seen and holds(row.condition, assignment)
        ]
        if not others:
            return row
        condition = conjunction((row.condition, *self._difference(row, seen, others)))
        return msgspec.structs.replace(row, condition=condition)

    def _difference(self, row: Any, seen: list[int], others: list[int]) -> list[Condition]:
        """What holds in the readings `seen` and not in the `others`: what the row depends on, an arm, else plain atoms.

        Of several arms, the one that declares the row's kernel is meant, else the innermost one.
        """
        known = self._known(row.place, seen, others)
        if known is not None:
            return [known]
        deciding = [
            (view, arm)
            for view, arm in self.arms
            if all(holds(arm.condition, self.assignments[number]) for number in seen)
            and not any(holds(arm.condition, self.assignments[number]) for number in others)
        ]
        if deciding:
            kernel = getattr(row, "kernel", None)
            declared = kernel.declared if kernel is not None else None
            for view, arm in deciding:
                if declared is not None and view.path == declared.path and arm.start <= declared.start < arm.end:
                    return [arm.condition]
            return [min((arm.condition for _, arm in deciding), key=lambda each: len(str(each)))]
        return self._atoms(seen, others)

    def _known(self, place: Place, seen: list[int], others: list[int]) -> Condition | None:
        """What the registration at a place is known to depend on, where that decides it."""
        if place.path != self.main:
            return None
        around = [each for each in self.depending if each.start < place.end and place.start < each.end]
        for condition in (each for context in around for choice in context.choices for each in choice):
            if self._holds_in(condition, seen) == len(seen) and not self._holds_in(condition, others):
                return condition
        for context in around:
            ways = [way for way in context.ways if self._holds_in(way, seen) and not self._holds_in(way, others)]
            decisive = disjunction(ways)
            if ways and self._holds_in(decisive, seen) == len(seen):
                return decisive
        return None

    def _holds_in(self, condition: Condition, readings: list[int]) -> int:
        """In how many of `readings` a condition holds."""
        return sum(holds(condition, self.assignments[number]) for number in readings)

    def _atoms(self, seen: list[int], others: list[int]) -> list[Condition]:
        """The fewest atoms that no other reading shares with those `seen`."""
        found: list[Condition] = []
        left = list(others)
        for name, value in self.assignments[seen[0]].items():
            if all(self.assignments[number].get(name) == value for number in seen):
                excluded = [number for number in left if self.assignments[number].get(name) != value]
                if excluded:
                    found.append(Atom(name) if value else negation(Atom(name)))
                    left = [number for number in left if number not in excluded]
        return found


def _add_variant(known: list[tuple[Any, list[int]]], row: Any, number: int) -> None:
    """Count `row` of reading `number` to the variant that it is, or make it a new one."""
    for index, (variant, seen) in enumerate(known):
        if _alike(variant, row):
            if number not in seen:
                seen.append(number)
            if _signature(variant) is None and _signature(row) is not None:
                known[index] = (row, seen)
            return
    known.append((row, [number]))


def _site(row: Any) -> Any:
    return (row.place, row.spelled if hasattr(row, "spelled") else None)


def _signature(row: Any) -> Any:
    kernel = getattr(row, "kernel", None)
    return kernel.signature if kernel is not None else None


def _alike(first: Any, second: Any) -> bool:
    """Whether two rows are one: a kernel whose declaration only one reading has is no other kernel."""
    if first == second:
        return True
    typed = _signature(first) is not None and _signature(second) is not None
    return bool(_essence(first, typed) == _essence(second, typed))


def _essence(row: Any, typed: bool) -> Any:
    """A row without what may differ between readings and says nothing: where a kernel happens to be declared."""
    kernel = getattr(row, "kernel", None)
    if kernel is None:
        return row
    signature = kernel.signature if typed else None
    if signature is not None:
        parameters = tuple(msgspec.structs.replace(p, place=None, name="") for p in signature.parameters)
        signature = msgspec.structs.replace(signature, place=None, parameters=parameters)
    bare = msgspec.structs.replace(kernel, signature=signature, declared=None, defined=None)
    return msgspec.structs.replace(row, kernel=bare)


def mentions_kernel(names: Iterable[str]) -> Callable[[View, Arm], bool]:
    """Whether an arm declares one of these functions: it may give a registered kernel another signature."""
    simple = sorted({name.partition("<")[0].rpartition("::")[2] for name in names} - {"", "lambda>"})
    words = [re.escape(word.encode()) for word in simple if word.isidentifier()]
    if not words:
        return lambda _view, _arm: False

    @cache
    def pattern() -> re.Pattern[bytes]:  # only a file with conditions pays for making it
        return re.compile(rb"(?<![\w.>])(?:" + b"|".join(words) + rb")\s*\(")

    return lambda view, arm: pattern().search(view.data, arm.start, arm.end) is not None


def registered_names(found: Registrations) -> Iterator[str]:
    """The names of all kernels of a reading."""
    rows: list[Definition | Implementation | Fallback] = [
        *found.definitions,
        *found.implementations,
        *found.fallbacks,
    ]
    return (row.kernel.name for row in rows if row.kernel is not None)
