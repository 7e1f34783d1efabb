"""Regular expressions that build files bring along, of which none may hold us up."""

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
