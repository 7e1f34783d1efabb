"""Conditions: under which compile-time or run-time circumstances a fact exists.

A condition is a formula over *atoms*, texts that are only compared (`USE_ROCM`, `CUDA_VERSION >= 12000`,
`torch.cuda.is_available()`). Three questions are asked of conditions: can both hold (`compatible`), does one
follow from the other (`implies`), and how is it written (`str`). Atoms are taken as independent; where that is
wrong (`A >= 2` and `A >= 3`) the answer errs towards "both can hold".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product

import msgspec

_MOST_ATOMS = 12
"""Above this many atoms a question is answered without enumeration, on the safe side."""


class Atom(msgspec.Struct, frozen=True, tag="atom", array_like=True):
    """One text that is true or false as a whole."""

    text: str

    def __str__(self) -> str:
        return self.text


class Not(msgspec.Struct, frozen=True, tag="not", array_like=True):
    """The negation of a condition."""

    operand: Condition

    def __str__(self) -> str:
        inner = str(self.operand)
        simple = isinstance(self.operand, Atom) and inner.replace("_", "a").isalnum()
        return f"!{inner}" if simple else f"!({inner})"


class All(msgspec.Struct, frozen=True, tag="all", array_like=True):
    """The conjunction of its operands; of none: always."""

    operands: tuple[Condition, ...] = ()

    def __str__(self) -> str:
        if not self.operands:
            return ""
        return " && ".join(f"({o})" if isinstance(o, Any) and len(o.operands) > 1 else str(o) for o in self.operands)


class Any(msgspec.Struct, frozen=True, tag="any", array_like=True):
    """The disjunction of its operands; of none: never."""

    operands: tuple[Condition, ...] = ()

    def __str__(self) -> str:
        if not self.operands:
            return "0"
        return " || ".join(f"({o})" if isinstance(o, All) and len(o.operands) > 1 else str(o) for o in self.operands)


Condition = Atom | Not | All | Any

ALWAYS: Condition = All()
NEVER: Condition = Any()


def negation(condition: Condition) -> Condition:
    """The condition that holds when `condition` does not."""
    if isinstance(condition, Not):
        return condition.operand
    if condition == ALWAYS:
        return NEVER
    if condition == NEVER:
        return ALWAYS
    return Not(condition)


def conjunction(conditions: Iterable[Condition]) -> Condition:
    """All of `conditions`, flattened, without repeats; NEVER where two contradict each other literally."""
    restricting = [condition for condition in conditions if condition is not ALWAYS and condition != ALWAYS]
    if not restricting:
        return ALWAYS
    if len(restricting) == 1 and not isinstance(restricting[0], All):
        return restricting[0]
    parts: list[Condition] = []
    for condition in restricting:
        for part in condition.operands if isinstance(condition, All) else (condition,):
            if part == NEVER or negation(part) in parts:
                return NEVER
            if part not in parts:
                parts.append(part)
    return parts[0] if len(parts) == 1 else All(tuple(parts))


def disjunction(conditions: Iterable[Condition]) -> Condition:
    """Any of `conditions`, flattened, without repeats; ALWAYS where two complete each other literally."""
    parts: list[Condition] = []
    for condition in conditions:
        for part in condition.operands if isinstance(condition, Any) else (condition,):
            if part == ALWAYS or negation(part) in parts:
                return ALWAYS
            if part not in parts:
                parts.append(part)
    return parts[0] if len(parts) == 1 else Any(tuple(parts))


def atoms(condition: Condition) -> Iterator[str]:
    """The atoms of a condition, in order of writing, with repeats."""
    if isinstance(condition, Atom):
        yield condition.text
    elif isinstance(condition, Not):
        yield from atoms(condition.operand)
    else:
        for operand in condition.operands:
            yield from atoms(operand)


def evaluate(condition: Condition, values: Mapping[str, bool]) -> bool | None:
    """The truth of a condition where `values` gives the truth of atoms; None where they do not decide it."""
    if isinstance(condition, Atom):
        return values.get(condition.text)
    if isinstance(condition, Not):
        inner = evaluate(condition.operand, values)
        return None if inner is None else not inner
    truths = [evaluate(operand, values) for operand in condition.operands]
    decisive = isinstance(condition, Any)
    if decisive in truths:
        return decisive
    return None if None in truths else not decisive


def satisfying(condition: Condition) -> dict[str, bool] | None:
    """An assignment of atoms under which `condition` holds (false preferred), or None if there is none.

    Above `_MOST_ATOMS` atoms the search is a greedy one that may miss; the caller treats None as "not found".
    """
    names = list(dict.fromkeys(atoms(condition)))
    if len(names) > _MOST_ATOMS:
        return _greedy(condition, names)
    for values in product((False, True), repeat=len(names)):
        assignment = dict(zip(names, values, strict=True))
        if evaluate(condition, assignment):
            return assignment
    return None


def _greedy(condition: Condition, names: list[str]) -> dict[str, bool] | None:
    assignment = dict.fromkeys(names, False)
    for name in names:
        if evaluate(condition, assignment):
            return assignment
        assignment[name] = True
        if evaluate(condition, assignment) is False and not isinstance(condition, All):
            assignment[name] = False
    return assignment if evaluate(condition, assignment) else None


def compatible(first: Condition, second: Condition) -> bool:
    """Whether both can hold in one configuration. Too many atoms to decide: True."""
    if first == ALWAYS == second:
        return True
    both = conjunction((first, second))
    if len(set(atoms(both))) > _MOST_ATOMS:
        return both != NEVER
    return satisfying(both) is not None


def implies(first: Condition, second: Condition) -> bool:
    """Whether `second` holds wherever `first` does. Too many atoms to decide: False."""
    if first == second or second == ALWAYS:
        return True
    counterexample = conjunction((first, negation(second)))
    if len(set(atoms(counterexample))) > _MOST_ATOMS:
        return False
    return satisfying(counterexample) is None
