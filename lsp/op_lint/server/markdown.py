"""Pieces of Markdown that several features write."""

from __future__ import annotations

import re
from collections.abc import Callable

from op_lint.facts import Place

Link = Callable[[Place], str]
"""Makes the target of a link to a place."""

_MARKUP = re.compile(r"[\\`*\[\]<>|]|(?<![^\W_])_|_(?![^\W_])")
"""What Markdown takes for markup. An underscore between letters is none, for those who see the source."""


def code(text: str) -> str:
    """Text as inline code, also where it holds backticks."""
    fence = "``" if "`" in text else "`"
    return f"{fence}{text}{fence}"


def link_to(words: str, place: Place, link: Link) -> str:
    """A link to a place. The words are plain text: `__init__.py` is not bold."""
    return f"[{plain(words)}]({link(place)})"


def plain(text: str) -> str:
    """Text that Markdown shows as it is, also in a table."""
    return _MARKUP.sub(r"\\\g<0>", text)


def where(place: Place) -> str:
    """A place in words."""
    return f"{place.path}:{place.line}"


def counting(count: int, word: str) -> str:
    """A count with its word: `1 kernel`, `2 kernels`."""
    return f"{count} {word}{'' if count == 1 else 's'}"
