"""What half-typed text around the cursor means: read from the bytes as they are now, whether or not they parse."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from op_lint.facts import Language
from op_lint.text import SourceText

_FAR = 4000
"""Bytes before the cursor in which an open bracket is looked for."""

_SCANNED = 65_536
"""Bytes before the cursor that are split into tokens: a string that is longer is no schema."""

_CPP = re.compile(
    rb"""
      (?P<comment> //[^\r\n]* | /\*.*?(?:\*/|\Z) )
    | (?P<raw> (?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\((?P<body>.*?)(?:\)(?P=mark)"|\Z) )
    | (?P<text> "(?:[^"\\\r\n]|\\.)*"? )
    | \.?[0-9](?:'?[\w.])* | '(?:[^'\\\r\n]|\\.)*'? | [^\W\d]\w*   # digits with ', characters, names that end in R
    """,
    re.VERBOSE | re.DOTALL,
)
_PYTHON = re.compile(
    rb"""
      (?P<comment> \#[^\r\n]* )
    | (?P<raw> (?P<mark>'''|\"\"\")(?P<body>(?:[^\\]|\\.)*?)(?:(?P=mark)|\Z) )
    | (?P<text> "(?:[^"\\\r\n]|\\.)*"? | '(?:[^'\\\r\n]|\\.)*'? )
    """,
    re.VERBOSE | re.DOTALL,
)
_BETWEEN = re.compile(rb"(?:[\s\\]|//[^\r\n]*|/\*.*?\*/|\#[^\r\n]*)*(?:u8|[uULrRbBfF]{1,2})?", re.DOTALL)
"""What may stand between two literals that are one string."""


class Around(msgspec.Struct, frozen=True):
    """The string around the cursor, made of one literal or of several that follow each other.

    `content` is what is in it, `before` what of that is before the cursor, `piece` what of that is in the literal of
    the cursor. `start` is where the first literal opens, in bytes of the text.
    """

    content: bytes
    before: bytes
    piece: bytes
    start: int


class Opened(msgspec.Struct, frozen=True):
    """The innermost open bracket before the cursor, and the commas since."""

    start: int
    commas: int


class _Literal(msgspec.Struct, frozen=True):
    """A string literal: where it opens, its content, where it ends. An unclosed one goes to the end of its line."""

    start: int
    first: int
    last: int
    end: int


def string_around(text: SourceText, offset: int, language: Language) -> Around | None:
    """The string around byte `offset`."""
    begin = text.line_starts[text.line_of(max(0, offset - _SCANNED)) - 1]
    data = text.data
    for literals in _strings(data, begin, language):
        if literals[0].first > offset:
            break
        here = next((index for index, each in enumerate(literals) if each.first <= offset <= each.last), None)
        if here is not None:
            contents = [data[each.first : each.last] for each in literals]
            piece = data[literals[here].first : offset]
            return Around(b"".join(contents), b"".join(contents[:here]) + piece, piece, literals[0].start)
    return None


def _strings(data: bytes, begin: int, language: Language) -> Iterator[list[_Literal]]:
    """The literals that are one string each."""
    string: list[_Literal] = []
    for literal in _literals(data, begin, language):
        if string and not _follows(data, string[-1], literal):
            yield string
            string = []
        string.append(literal)
    if string:
        yield string


def _follows(data: bytes, before: _Literal, literal: _Literal) -> bool:
    """Whether two literals are one string. One that is not closed ends with its line, and so does the string."""
    return before.end > before.last and _BETWEEN.fullmatch(data, before.end, literal.start) is not None


def _literals(data: bytes, begin: int, language: Language) -> Iterator[_Literal]:
    for match in (_CPP if language is Language.CPP else _PYTHON).finditer(data, begin):
        if match["raw"] is not None:
            yield _Literal(match.start(), match.start("body"), match.end("body"), match.end())
        elif match["text"] is not None:
            is_closed = len(match[0]) > 1 and data[match.end() - 1] == data[match.start()]
            yield _Literal(match.start(), match.start() + 1, match.end() - is_closed, match.end())


def brackets_open(data: bytes, offset: int) -> Opened | None:
    """The innermost bracket `(` that is open at `offset`, strings left out."""
    start = max(0, offset - _FAR)
    stack: list[list[int]] = []
    position = start
    while position < offset:
        byte = data[position]
        if byte in b"\"'":
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


def _closing(data: bytes, start: int) -> int:
    position = start + 1
    while position < len(data) and data[position] != data[start]:
        position += 2 if data[position] == ord("\\") else 1
    return min(position, len(data))
