"""Byte offsets and what people and editors count in: lines, columns of characters, UTF-16 units."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from itertools import accumulate


class SourceText:
    """The bytes of one file, with its line table. Lines end at LF, CRLF or a lone CR, as the LSP has it.

    The bytes are decoded as UTF-8 (a BOM is part of line 1); bytes that are not UTF-8 count as one character each.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data

    @cached_property
    def line_starts(self) -> tuple[int, ...]:
        """The byte offset at which each line starts."""
        lines = self.data.splitlines(keepends=True)  # of bytes: at LF, CRLF and CR, and at nothing else
        if not lines or lines[-1].endswith((b"\n", b"\r")):
            lines.append(b"")
        return (0, *accumulate(map(len, lines[:-1])))

    def line_of(self, offset: int) -> int:
        """The 1-based line that holds byte `offset`."""
        return bisect_right(self.line_starts, offset)

    def line_column(self, offset: int) -> tuple[int, int]:
        """The 1-based line and the 1-based column, in characters, of byte `offset`."""
        line = self.line_of(offset)
        start = self.line_starts[line - 1]
        return line, 1 + len(_decode(self.data[start:offset]))

    def line_units(self, offset: int, encoding: str) -> tuple[int, int]:
        """The 0-based line and column of byte `offset`, in units of `utf-8`, `utf-16` or `utf-32`."""
        line = self.line_of(offset)
        prefix = self.data[self.line_starts[line - 1] : offset]
        if encoding == "utf-8":
            return line - 1, len(prefix)
        text = _decode(prefix)
        return line - 1, len(text) if encoding == "utf-32" else _utf16_length(text)

    def offset_of(self, line: int, column: int, encoding: str) -> int:
        """The byte offset of a 0-based line and column in units of `encoding`; clamped to the line and the file."""
        starts = self.line_starts
        if line >= len(starts):
            return len(self.data)
        start = starts[line]
        end = starts[line + 1] if line + 1 < len(starts) else len(self.data)
        content = self.data[start:end].rstrip(b"\r\n")
        if encoding == "utf-8":
            return start + min(column, len(content))
        units = 0
        position = start
        for character in _decode(content):
            units += 2 if encoding == "utf-16" and ord(character) > 0xFFFF else 1
            if units > column:
                break
            position += len(_encode(character))
        return position

    @cached_property
    def is_utf8(self) -> bool:
        """Whether every byte is part of a character of UTF-8."""
        try:
            self.data.decode("utf-8")
        except UnicodeDecodeError:
            return False
        return True

    @cached_property
    def newline(self) -> str:
        """What ends the first line: CRLF or LF."""
        return "\r\n" if self.data[: self.data.find(b"\n") + 1].endswith(b"\r\n") else "\n"

    def bytes_of(self, written: str) -> bytes:
        """`written` as it is put into this file: with its line ends."""
        return _encode(re.sub("\r?\n", self.newline, written))

    def line_text(self, line: int) -> str:
        """The text of 1-based `line`, without its line end."""
        starts = self.line_starts
        if not 1 <= line <= len(starts):
            return ""
        end = starts[line] if line < len(starts) else len(self.data)
        return _decode(self.data[starts[line - 1] : end]).rstrip("\r\n")


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _utf16_length(text: str) -> int:
    return len(text) + sum(ord(character) > 0xFFFF for character in text)
