"""What half-typed text around the cursor means: read from the bytes as they are now, whether or not they parse."""

from __future__ import annotations

import msgspec

from op_lint.text import SourceText

_FAR = 4000
"""Bytes before the cursor that are looked at."""

_QUOTES = b"\"'"


class Around(msgspec.Struct, frozen=True):
    """A string literal around the cursor: what is in it, what of that is before the cursor, where it starts."""

    content: bytes
    before: bytes
    start: int


class Opened(msgspec.Struct, frozen=True):
    """The innermost open bracket before the cursor, and the commas since."""

    start: int
    commas: int


def string_around(text: SourceText, offset: int) -> Around | None:
    """The one-line string literal around `offset`; an unclosed one goes to the end of its line."""
    line = text.line_of(offset)
    begin = text.line_starts[line - 1]
    end = text.line_starts[line] if line < len(text.line_starts) else len(text.data)
    data = text.data[begin:end].rstrip(b"\r\n")
    position, cursor = 0, offset - begin
    while position < len(data):
        if data[position] in _QUOTES:
            close = _closing(data, position)
            if position < cursor <= close:
                return Around(data[position + 1 : close], data[position + 1 : cursor], begin + position + 1)
            position = close
        position += 1
    return None


def _closing(data: bytes, start: int) -> int:
    position = start + 1
    while position < len(data) and data[position] != data[start]:
        position += 2 if data[position] == ord("\\") else 1
    return min(position, len(data))


def brackets_open(data: bytes, offset: int) -> Opened | None:
    """The innermost bracket `(` that is open at `offset`, strings left out."""
    start = max(0, offset - _FAR)
    stack: list[list[int]] = []
    position = start
    while position < offset:
        byte = data[position]
        if byte in _QUOTES:
            position = _closing(data[:offset], position)
        elif byte in b"([{":
            stack.append([position, 0, byte])
        elif byte in b")]}":
            if stack:
                stack.pop()
        elif byte == ord(",") and stack:
            stack[-1][1] += 1
        position += 1
    if not stack or stack[-1][2] != ord("("):
        return None
    return Opened(stack[-1][0], stack[-1][1])
