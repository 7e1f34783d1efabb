"""The nearest right spelling of a wrong word."""

from __future__ import annotations

from collections.abc import Iterable

_LEAST_SCORE = 70
"""Of 100. Below this two words share too little for one to be meant by the other."""


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate that `word` was probably meant to be (the first of equals), or None where none is close."""
    from rapidfuzz import fuzz, process  # only a mistake pays for the import

    found = process.extractOne(
        word, list(candidates), scorer=fuzz.ratio, processor=str.casefold, score_cutoff=_LEAST_SCORE
    )
    return found[0] if found else None


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """``; did you mean `x`?`` to end a message with, or nothing."""
    found = nearest(word, candidates)
    return f"; did you mean `{found}`?" if found else ""
