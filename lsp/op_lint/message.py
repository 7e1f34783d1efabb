"""A text of torch with names in it: written for one operator, and found again in a log.

Logs wrap lines, indent them and put words in front of them. So a text is found in what is left of a log without white
space (`squeezed`), and what stands for a name is taken from the log as it was.
"""

from __future__ import annotations

import re
from functools import cached_property
from string import Formatter

_FIELDS = {
    "operator": r"[A-Za-z_]\w*::\w+(?:\.\w+)?",
    "qualified": r"[A-Za-z_]\w*(?:::|\.)\w+(?:\.\w+)?",
    "python": r"\w+\.\w+\.\w+",
    "namespace": r"\w+",
    "name": r"[\w.]+(?:::[\w.]+)?",
    "key": r"\w+",
    "word": r"\w+",
    "number": r"\d+",
    "macro": r"(?:STABLE_)?TORCH_LIBRARY\w*",
    "place": r"(?:registeredat.+?:\d+|registeredby\w+|nodebuginfo)",
    "where": r"[^()]+?:\d+",
    "path": r"[^'\"]+?",
    "library": r"[^'\":(]+",
    "symbol": r"[\w.$@]+",
    "wanted": r"[^']{1,60}?",
    "found": r"[^']{0,60}",
    "marked": r"[^~]{1,4000}~+",
    "line": r".",
    "declaration": r".",
}
"""What stands for a field, without white space, by the field's name without digits; anything else is any text.

Of what is in `TO_END_OF_LINE` only the start is there to be seen: without white space nothing tells where it ends.
"""

TO_END_OF_LINE = frozenset({"line", "declaration"})

_LEAST_ANCHOR = 8


def squeezed(text: str) -> str:
    """The text without white space."""
    return "".join(text.split())


class Message:
    """A text with fields, as for `str.format`: `Could not run '{operator}' ...`.

    `anchor` is the piece between fields by which it is looked for; the longest one, unless it is said. `ahead` is what
    comes after it in a log and is not part of it, where only that tells where its last field ends.
    """

    def __init__(self, text: str, anchor: str | None = None, *, ahead: str = "") -> None:
        self.text = text
        self.ahead = ahead
        self._pieces = [(literal, field) for literal, field, _, _ in Formatter().parse(text)]
        literals = [squeezed(literal) for literal, _ in self._pieces]
        self.anchor = squeezed(anchor) if anchor is not None else max(literals, key=len)
        if len(self.anchor) < _LEAST_ANCHOR or not any(self.anchor in literal for literal in literals):
            raise ValueError(f"{self.anchor!r} is no piece to look for {text!r} by")

    def write(self, **fields: str) -> str:
        """The text with these fields."""
        return self.text.format(**fields)

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """The names of the fields, in order, each once."""
        return tuple(dict.fromkeys(field for _, field in self._pieces if field))

    @property
    def starts_with_field(self) -> bool:
        """Whether nothing but a name is before the first words."""
        return not self._pieces[0][0]

    @property
    def last_field(self) -> str | None:
        """The field that ends the text where nothing tells where it ends itself; None where words do."""
        return self._pieces[-1][1] if not self.ahead else None

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """What the text is like without white space, with a group for each field.

        A field of any text ends where what follows it comes first, once and for all: were others tried, a message that
        is cut off would take time by a power of its length.
        """
        parts: list[str] = []
        seen: set[str] = set()
        for index, (literal, field) in enumerate(self._pieces):
            parts.append(re.escape(squeezed(literal)))
            if not field:
                continue
            follows = self._start_of(index + 1)
            if field in seen:
                parts.append(f"(?P={field})")
            elif stem(field) in _FIELDS or not follows:
                parts.append(f"(?P<{field}>{_FIELDS.get(stem(field), '.+?')})")
            else:
                parts.append(f"(?=(?P<{field}>.+?){follows})(?P={field})")
            seen.add(field)
        if self.ahead:
            parts.append(f"(?={re.escape(squeezed(self.ahead))})")
        return re.compile("".join(parts))

    def _start_of(self, index: int) -> str:
        """What the text from the piece at `index` on starts with; nothing where it ends there."""
        if index == len(self._pieces):
            return re.escape(squeezed(self.ahead))
        literal, field = self._pieces[index]
        return re.escape(squeezed(literal)) or _FIELDS.get(stem(field or ""), "")


def stem(field: str) -> str:
    """The name of a field without digits: `place2` is a `place`."""
    return field.rstrip("0123456789")
