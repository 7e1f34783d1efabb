"""Regular expressions that build files bring along, of which none may hold us up."""

from __future__ import annotations

import re
from functools import lru_cache

_LONGEST_TEXT = 2_000
_LONGEST_PATTERN = 500
_MOST_REPEATS = 4
_NESTED = re.compile(r"\([^()]*[*+}][^()]*\)[*+{]|[*+}][*+{]")
_REPEAT = re.compile(r"(?<!\\)[*+]")


class UnsafeError(Exception):
    """A pattern that is none, or that may take for ever."""


@lru_cache(maxsize=512)
def safe_pattern(pattern: str) -> re.Pattern[str]:
    """`pattern` compiled. Raises UnsafeError for repeats inside repeats, many repeats, or no pattern."""
    if len(pattern) > _LONGEST_PATTERN or _NESTED.search(pattern) or len(_REPEAT.findall(pattern)) > _MOST_REPEATS:
        raise UnsafeError(pattern)
    try:
        return re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise UnsafeError(pattern) from error


def checked_text(text: str) -> str:
    """`text`. Raises UnsafeError for one that is too long to match against an unknown pattern."""
    if len(text) > _LONGEST_TEXT:
        raise UnsafeError(text[:40])
    return text
