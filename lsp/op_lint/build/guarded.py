"""Lists whose items exist under conditions: what a build file's variable holds after an `if` that cannot be decided."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from op_lint.build.guards import ALWAYS, NEVER, Guard, all_of, any_of, both, opposite, simplified
from op_lint.facts import Place


class Item(NamedTuple):
    """An item of a list, the condition under which it is there, and where it is written."""

    text: str
    condition: Guard = ALWAYS
    place: Place | None = None


Items = tuple[Item, ...]
Arm = tuple[Guard, Items]

_MOST_WORLDS = 16
"""More combinations of conditions than this are not told apart."""


def under(items: Items, given: Guard) -> Items:
    """The items that can be there where `given` holds."""
    if given is ALWAYS:
        return items
    found: list[Item] = []
    changed = False
    for item in items:
        condition = simplified(item.condition, given)
        if condition is not item.condition:
            changed = True
            if condition is NEVER:
                continue
            item = Item(item.text, condition, item.place)
        found.append(item)
    return tuple(found) if changed else items


def merged(arms: Sequence[Arm]) -> Items:
    """One list for several, of which each is the value under its own condition; the conditions exclude each other.

    Items that all arms start or end with keep their conditions, so that a list which only one arm extends stays
    readable.
    """
    lists = [items for _, items in arms]
    if len(lists) < 2:
        return lists[0] if lists else ()
    if all(items is lists[0] or _same(items, lists[0]) for items in lists[1:]):
        return lists[0]
    prefix = _common(lists)
    suffix = _common([items[prefix:][::-1] for items in lists])
    middle: dict[tuple[str, int], Item] = {}
    for condition, items in arms:
        counted: dict[str, int] = {}
        for item in items[prefix : len(items) - suffix]:
            number = counted[item.text] = counted.get(item.text, 0) + 1
            here = both(condition, item.condition)
            known = middle.get((item.text, number))
            if known is not None:  # the same item of another arm
                middle[item.text, number] = Item(known.text, any_of((known.condition, here)), known.place)
            elif here is not NEVER:
                middle[item.text, number] = Item(item.text, here, item.place)
    first = lists[0]
    return (*first[:prefix], *middle.values(), *first[len(first) - suffix :])


def _same(one: Items, other: Items) -> bool:
    return len(one) == len(other) and _common([one, other]) == len(one)


def _common(lists: Sequence[Items]) -> int:
    """How many items all lists start with."""
    count = _identical(lists)
    for column in zip(*(items[count:] for items in lists), strict=False):
        first = column[0]
        if any(item.text != first.text or item.condition is not first.condition for item in column[1:]):
            break
        count += 1
    return count


def _identical(lists: Sequence[Items]) -> int:
    """About how many items at the start are even the same objects: lists are compared at once, not item by item."""
    first, others = lists[0], lists[1:]
    certain, length = 0, min(map(len, lists))
    while length - certain > 8:
        middle = (certain + length + 1) // 2
        if all(items[certain:middle] == first[certain:middle] for items in others):
            certain = middle
        else:
            length = middle - 1
    return certain


def worlds(conditions: Iterable[Guard], given: Guard = ALWAYS) -> list[Guard] | None:
    """The ways in which `conditions` can turn out where `given` holds; None where there are too many.

    Each way is a condition that implies each of `conditions` or its negation, and excludes all other ways.
    """
    found = [ALWAYS]
    for condition in dict.fromkeys(conditions):
        if condition is ALWAYS:
            continue
        split: list[Guard] = []
        for world in found:
            known = simplified(condition, all_of((given, world)))
            if known is ALWAYS or known is NEVER:
                split.append(world)
                continue
            split += [all_of((world, condition)), all_of((world, opposite(condition)))]
        found = split
        if len(found) > _MOST_WORLDS:
            return None
    return found
