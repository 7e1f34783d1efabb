"""Conditions while build files are evaluated: one object for each truth function, so that comparing is cheap.

`op_lint.condition` has formulas as people write them; following hundreds of nested `if`s needs a form that does not
grow with every step. A `Guard` is a node of a reduced, ordered binary decision diagram over the same atoms: what is
equal is identical, and whether one follows from another is decided without trying assignments.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from zlib import crc32

from op_lint.condition import ALWAYS as ALWAYS_FORMULA
from op_lint.condition import NEVER as NEVER_FORMULA
from op_lint.condition import Atom, Condition, conjunction, disjunction, negation

HEAVIEST = 64
"""Paths through a diagram; a function with more becomes one atom that nothing is known of."""


class Guard:
    """The function `high` where the atom `text` holds, else `low`. Compared by identity; made by the functions here.

    `weight` is the number of paths through it. `mask` has a bit for each atom that it depends on, one of 256: where two
    masks have none in common, neither guard says anything about the other.
    """

    __slots__ = ("high", "low", "mask", "text", "weight")

    def __init__(self, text: str, low: Guard | None, high: Guard | None) -> None:
        self.text = text
        self.low = low
        self.high = high
        self.weight: int = 1 if low is None or high is None else low.weight + high.weight
        self.mask: int = (
            0
            if low is None or high is None
            else 1 << (crc32(text.encode("utf-8", "surrogatepass")) & 255) | low.mask | high.mask
        )

    def __str__(self) -> str:
        return str(formula(self))


NEVER = Guard("", None, None)
ALWAYS = Guard("", None, None)

_known: dict[tuple[str, int, int], Guard] = {}
"""Every node there is. A node keeps what is below it alive, so that no id in a key is used again."""

_MOST_NODES = 200_000


def _node(text: str, low: Guard, high: Guard) -> Guard:
    if low is high:
        return low
    key = (text, id(low), id(high))
    found = _known.get(key)
    if found is None:
        found = Guard(text, low, high)
        if len(_known) >= _MOST_NODES:
            _forget()
        _known[key] = found
    return found


def _forget() -> None:
    """Start anew. Guards that are still in use stay right; only some that are equal are then not identical."""
    _known.clear()
    for remembered in (_mark, exactly_both, opposite, relative, formula):
        remembered.cache_clear()


def atom(text: str) -> Guard:
    """The condition that `text`, which is only compared, holds."""
    return _node(text, NEVER, ALWAYS)


def _branches(guard: Guard, text: str) -> tuple[Guard, Guard]:
    """The function where the atom is false, and where it is true."""
    if guard.low is not None and guard.high is not None and guard.text == text:
        return guard.low, guard.high
    return guard, guard


def _first(one: Guard, other: Guard) -> str:
    if one.low is None:
        return other.text
    return one.text if other.low is None or one.text < other.text else other.text


def both(one: Guard, other: Guard) -> Guard:
    """The condition that both hold."""
    if one is ALWAYS:
        return other
    if other is ALWAYS or one is other:
        return one
    together = exactly_both(one, other)
    # The name is of its own, so that two such conditions are not taken for one, or one for another's opposite.
    return together if together.weight <= HEAVIEST else atom(f"(a condition of too many parts, {_mark(together):08x})")


@lru_cache(maxsize=8192)
def _mark(guard: Guard) -> int:
    """A number that another function hardly has, the same in every process."""
    marks: dict[int, int] = {id(NEVER): 0, id(ALWAYS): 1}

    def visit(node: Guard) -> int:
        known = marks.get(id(node))
        if known is None and node.low is not None and node.high is not None:
            known = marks[id(node)] = crc32(f"{node.text} {visit(node.low)} {visit(node.high)}".encode())
        return known or 0

    return visit(guard)


@lru_cache(maxsize=65536)
def exactly_both(one: Guard, other: Guard) -> Guard:
    """The condition that both hold, of any weight."""
    if one is NEVER or other is NEVER:
        return NEVER
    if one is ALWAYS or one is other:
        return other
    if other is ALWAYS:
        return one
    text = _first(one, other)
    low, high = zip(_branches(one, text), _branches(other, text), strict=True)
    return _node(text, exactly_both(*low), exactly_both(*high))


@lru_cache(maxsize=65536)
def opposite(guard: Guard) -> Guard:
    """The condition that holds when `guard` does not."""
    if guard.low is None or guard.high is None:
        return ALWAYS if guard is NEVER else NEVER
    return _node(guard.text, opposite(guard.low), opposite(guard.high))


def all_of(guards: Iterable[Guard]) -> Guard:
    """The condition that all hold."""
    result = ALWAYS
    for guard in guards:
        result = both(result, guard)
    return result


def any_of(guards: Iterable[Guard]) -> Guard:
    """The condition that any holds."""
    return opposite(all_of(opposite(guard) for guard in guards))


def simplified(guard: Guard, given: Guard) -> Guard:
    """`guard` where `given` holds: ALWAYS or NEVER where that decides it."""
    if given is ALWAYS or guard is ALWAYS or guard is NEVER:
        return guard
    if given.mask and not guard.mask & given.mask:
        return guard
    together = exactly_both(guard, given)
    if together is given:
        return ALWAYS
    return NEVER if together is NEVER else guard


@lru_cache(maxsize=65536)
def relative(guard: Guard, given: Guard) -> Guard:
    """A condition that agrees with `guard` wherever `given` holds, and says as little as possible besides."""
    if given is ALWAYS or given is NEVER or guard.low is None or guard.high is None:
        return guard
    if given.low is None or given.high is None:
        return guard
    if given.text < guard.text:
        return relative(guard, opposite(exactly_both(opposite(given.low), opposite(given.high))))
    low, high = _branches(given, guard.text)
    if low is NEVER:
        return relative(guard.high, high)
    if high is NEVER:
        return relative(guard.low, low)
    return _node(guard.text, relative(guard.low, low), relative(guard.high, high))


def atoms_of(guard: Guard) -> frozenset[str]:
    """The atoms that a condition depends on."""
    found: set[str] = set()
    pending, seen = [guard], {id(guard)}
    while pending:
        node = pending.pop()
        if node.low is None or node.high is None:
            continue
        found.add(node.text)
        for below in (node.low, node.high):
            if id(below) not in seen:
                seen.add(id(below))
                pending.append(below)
    return frozenset(found)


@lru_cache(maxsize=8192)
def formula(guard: Guard) -> Condition:
    """The condition as a formula."""
    if guard.low is None or guard.high is None:
        return NEVER_FORMULA if guard is NEVER else ALWAYS_FORMULA
    this = Atom(guard.text)
    if guard.low is NEVER:
        return conjunction((this, formula(guard.high)))
    if guard.high is NEVER:
        return conjunction((negation(this), formula(guard.low)))
    if guard.high is ALWAYS:
        return disjunction((this, formula(guard.low)))
    if guard.low is ALWAYS:
        return disjunction((negation(this), formula(guard.high)))
    if exactly_both(guard.low, guard.high) is guard.low:  # what holds without the atom holds with it, too
        return disjunction((conjunction((this, formula(guard.high))), formula(guard.low)))
    if exactly_both(guard.low, guard.high) is guard.high:
        return disjunction((conjunction((negation(this), formula(guard.low))), formula(guard.high)))
    return disjunction((conjunction((this, formula(guard.high))), conjunction((negation(this), formula(guard.low)))))
