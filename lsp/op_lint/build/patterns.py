"""Regular expressions that build files bring along, of which none may hold us up, and texts that are known in part."""

from __future__ import annotations

import re
from functools import lru_cache

_LONGEST_TEXTS = (2_000, 2_000, 400, 150, 80)
"""Characters that a pattern with so many repeats may be matched against: more than 0.3 s are never needed."""
_LONGEST_PATTERN = 500
_NESTED = re.compile(r"\([^()]*[*+}][^()]*\)[*+{]|[*+}][*+{]")
_REPEAT = re.compile(r"(?<!\\)[*+]")


class UnsafeError(Exception):
    """A pattern that is none, or that may take for ever."""


def fits(pattern: str, text: str) -> bool:
    """Whether a text is as a pattern says, whose `*` stands for any text."""
    first, *middle, last = pattern.split("*")
    if not middle and "*" not in pattern:
        return pattern == text
    if len(text) < len(first) + len(last) or not (text.startswith(first) and text.endswith(last)):
        return False
    position, end = len(first), len(text) - len(last)
    for part in middle:
        found = text.find(part, position, end)
        if found < 0:
            return False
        position = found + len(part)
    return True


def may_be_equal(one: str, other: str) -> bool:
    """Whether two texts, each of which may have parts that are not known (`*`), can be the same."""
    if "*" not in one or "*" not in other:
        return fits(one, other) if "*" in one else fits(other, one)
    ends = (
        (one.partition("*")[0], other.partition("*")[0]),
        (one.rpartition("*")[2][::-1], other.rpartition("*")[2][::-1]),
    )
    return all(a.startswith(b) or b.startswith(a) for a, b in ends)


def safe_pattern(pattern: str, text: str) -> re.Pattern[str]:
    """`pattern` compiled. Raises UnsafeError for what is none, and where matching it against `text` may take for ever:
    repeats inside repeats, many repeats, a long text.
    """
    compiled, repeats = _compiled(pattern)
    if len(text) > _LONGEST_TEXTS[repeats]:
        raise UnsafeError(text[:40])
    return compiled


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> tuple[re.Pattern[str], int]:
    """The pattern, and the number of its repeats."""
    repeats = len(_REPEAT.findall(pattern))
    if len(pattern) > _LONGEST_PATTERN or _NESTED.search(pattern) or repeats >= len(_LONGEST_TEXTS):
        raise UnsafeError(pattern)
    try:
        return re.compile(pattern), repeats
    except (re.error, OverflowError, RecursionError) as error:
        raise UnsafeError(pattern) from error
