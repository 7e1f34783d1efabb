"""The arguments of a call, by its text: where libclang does not say, or is not asked yet."""

from __future__ import annotations

import re
from collections.abc import Iterator

_BRACKET = re.compile(rb"[(){}\[\],]|(?<=\w)\s*<(?![<=])|(?<![->])>(?![>=])|>>")
"""A `<` behind a name opens template arguments: hardly any registration compares."""


def arguments_of(code: bytes, start: int, limit: int) -> Iterator[tuple[int, int]]:
    """Where each argument of the call that is opened before `start` starts and ends; none if nothing closes it."""
    depth = 0
    found: list[tuple[int, int]] = []
    begin = start
    for bracket in _BRACKET.finditer(code, start, limit):
        text = bracket.group().strip()
        if text in (b"(", b"{", b"[", b"<"):
            depth += 1
        elif text == b",":
            if depth == 0:
                found.append((begin, bracket.start()))
                begin = bracket.end()
        elif text in (b">", b">>"):
            depth = max(0, depth - len(text))
        elif depth == 0:
            yield from (*found, (begin, bracket.start()))
            return
        else:
            depth -= 1
