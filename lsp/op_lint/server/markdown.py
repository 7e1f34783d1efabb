"""Pieces of Markdown that several features write."""

from __future__ import annotations

from collections.abc import Callable

from op_lint.facts import Place

Link = Callable[[Place], str]
"""Makes the target of a link to a place."""


def code(text: str) -> str:
    """Text as inline code, also where it holds backticks."""
    fence = "``" if "`" in text else "`"
    return f"{fence}{text}{fence}"


def link_to(words: str, place: Place, link: Link) -> str:
    """A link to a place."""
    return f"[{words}]({link(place)})"


def where(place: Place) -> str:
    """A place in words."""
    return f"{place.path}:{place.line}"


def counting(count: int, word: str) -> str:
    """A count with its word: `1 kernel`, `2 kernels`."""
    return f"{count} {word}{'' if count == 1 else 's'}"
