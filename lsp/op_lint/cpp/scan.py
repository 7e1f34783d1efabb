"""A byte scanner for C++ sources: comments, literals, preprocessor directives. No parsing beyond tokens.

It works on any bytes (UTF-8, Latin-1, half-typed code) and never raises. Offsets are bytes, 0-based.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_SKIP = re.compile(
    rb"""
    (?P<line>//(?:[^\n\\]|\\\r?\n|\\.)*)
  | (?P<block>/\*.*?(?:\*/|\Z))
  | (?P<raw>\b(?:u8|u|U|L)?R"(?P<delimiter>[^()\\\s"]{0,16})\(.*?(?:\)(?P=delimiter)"|\Z))
  | (?P<string>"(?:[^"\\\n]|\\(?:\r\n|.))*(?:"|(?=\n)|\Z))
  | (?P<char>(?<![0-9A-Za-z_])'(?:[^'\\\n]|\\.)+')
    """,
    re.VERBOSE | re.DOTALL,
)
"""Comments and literals. A quote after a word character is a digit separator (`1'000`) or a literal's prefix."""

_DIRECTIVE = re.compile(rb"[ \t\f\v]*(?:\xef\xbb\xbf)?[ \t]*(?:#|%:)[ \t]*([A-Za-z_]+)?")
_WORD = re.compile(rb"[A-Za-z_]\w*")
_LITERAL = re.compile(
    rb'(?P<prefix>u8|u|U|L)?(?:R"(?P<delimiter>[^()\\\s"]{0,16})\((?P<raw>.*?)\)(?P=delimiter)"'
    rb'|"(?P<plain>(?:[^"\\\n]|\\(?:\r\n|.))*)")',
    re.DOTALL,
)
_BLANK = re.compile(rb"\s+|//(?:[^\n\\]|\\\r?\n|\\.)*|/\*.*?(?:\*/|\Z)|\\\r?\n", re.DOTALL)


class Directive(NamedTuple):
    """A preprocessor directive: bytes `start` (the `#`) to `end` (the line end, continuation lines included).

    `argument` is the text after the word with comments and continuations replaced by blanks;
    `argument_start` is where it starts in the file.
    """

    word: str
    argument: bytes
    start: int
    end: int
    argument_start: int


class Literal(NamedTuple):
    """One string literal token: `start` to `end` with quotes, contents from `inner_start` to `inner_end`."""

    start: int
    end: int
    inner_start: int
    inner_end: int
    raw: bool


def blank_comments_and_literals(data: bytes, keep_literals: bool = False) -> bytes:
    """`data` with every comment (and literal's contents) replaced by blanks of the same length; line ends stay."""

    def blank(match: re.Match[bytes]) -> bytes:
        text = match.group()
        if match.lastgroup in ("line", "block"):
            return blanked(text)
        if keep_literals:
            return text
        return text[:1] + blanked(text[1:-1]) + text[-1:] if len(text) > 1 else text

    return _SKIP.sub(blank, data)


def blanked(text: bytes) -> bytes:
    """Blanks of the length of `text`; line ends stay."""
    return re.sub(rb"[^\r\n]", b" ", text)


def comments(data: bytes) -> Iterator[tuple[int, int]]:
    """The byte ranges of all comments, in order; literals that look like comments are not."""
    for match in _SKIP.finditer(data):
        if match.lastgroup in ("line", "block"):
            yield match.start(), match.end()


def directives(data: bytes) -> list[Directive]:
    """All preprocessor directives that stand outside comments and literals."""
    if b"#" not in data and b"%:" not in data:
        return []
    code = blank_comments_and_literals(data, keep_literals=True)
    hidden = [(m.start(), m.end()) for m in _SKIP.finditer(data) if m.lastgroup == "raw" and b"#" in m.group()]
    found: list[Directive] = []
    position = 0
    length = len(data)
    while position < length:
        end = _logical_line_end(code, position)
        match = _DIRECTIVE.match(code, position, end)
        if match and not any(start < match.end() <= stop for start, stop in hidden):
            mark = code.find(b"#", match.start(), match.end())
            mark = mark if mark >= 0 else code.find(b"%:", match.start(), match.end())
            word = (match.group(1) or b"").decode("ascii")
            argument = re.sub(rb"\\\r?\n", b"  ", code[match.end() : end])
            found.append(Directive(word, argument.strip(), mark, end, match.end()))
        newline = code.find(b"\n", end)
        position = length if newline < 0 else newline + 1
    return found


def _logical_line_end(data: bytes, position: int) -> int:
    while True:
        newline = data.find(b"\n", position)
        if newline < 0:
            return len(data)
        stop = newline - 1 if newline > 0 and data[newline - 1] == 0x0D else newline
        if stop > 0 and data[stop - 1] == 0x5C:
            position = newline + 1
            continue
        return stop


def words(data: bytes) -> Iterator[bytes]:
    """The identifiers of a piece of code (comments and literals are the caller's to blank)."""
    return (match.group() for match in _WORD.finditer(data))


_DEFINED = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)", re.MULTILINE)


def defined_names(data: bytes, start: int, end: int) -> list[bytes]:
    """The macros that are defined in bytes `start` to `end`."""
    return _DEFINED.findall(data, start, end)


def literal_tokens(data: bytes, start: int, limit: int) -> tuple[list[Literal], list[tuple[int, int]], int]:
    """The string literals that stand side by side from `start`, as the compiler concatenates them.

    Returns the literals, the byte ranges of what stands between them and is neither a literal nor blank (a
    macro that expands to one), and the end. Reading stops at `limit`.
    """
    found: list[Literal] = []
    others: list[tuple[int, int]] = []
    position = start
    while position < limit:
        blank = _BLANK.match(data, position, limit)
        if blank:
            position = blank.end()
            continue
        literal = _LITERAL.match(data, position)
        if literal:
            group = "raw" if literal.group("raw") is not None else "plain"
            found.append(Literal(position, literal.end(), literal.start(group), literal.end(group), raw=group == "raw"))
            position = literal.end()
            continue
        word = _WORD.match(data, position, limit)
        if not word:
            break
        others.append((position, word.end()))
        position = word.end()
    return found, others, position


_ESCAPES = {
    0x6E: "\n", 0x74: "\t", 0x72: "\r", 0x61: "\a", 0x62: "\b", 0x66: "\f", 0x76: "\v", 0x5C: "\\", 0x27: "'",
    0x22: '"', 0x3F: "?",
}  # fmt: skip
_HEX = b"0123456789abcdefABCDEF"
_OCTAL = b"01234567"


def decode_literal(data: bytes, raw: bool = False) -> tuple[str, tuple[int, ...]]:
    """The characters that a literal's contents stand for, and for each its byte offset in `data`.

    The offsets are empty where character `i` is simply byte `i`.
    """
    if data.isascii() and (raw or b"\\" not in data):
        return data.decode("ascii"), ()
    characters: list[str] = []
    steps: list[int] = []
    position = 0
    while position < len(data):
        steps.append(position)
        if data[position] == 0x5C and not raw and position + 1 < len(data):
            text, position = _decode_escape(data, position + 1)
            if not text:
                steps.pop()
            characters.append(text)
            continue
        width = _utf8_width(data[position])
        characters.append(data[position : position + width].decode("utf-8", "replace")[:1])
        position += width
    return "".join(characters), tuple(steps)


def _decode_escape(data: bytes, position: int) -> tuple[str, int]:
    byte = data[position]
    if byte in _ESCAPES:
        return _ESCAPES[byte], position + 1
    if byte in b"\r\n":
        step = 2 if data[position : position + 2] == b"\r\n" else 1
        return "", position + step
    if byte in _OCTAL:
        end = position
        while end < len(data) and end < position + 3 and data[end] in _OCTAL:
            end += 1
        return chr(int(data[position:end], 8)), end
    widths = {0x78: len(data), 0x75: 4, 0x55: 8}
    if byte in widths:
        end = position + 1
        while end < len(data) and end <= position + widths[byte] and data[end] in _HEX:
            end += 1
        digits = data[position + 1 : end]
        code = int(digits, 16) if digits else 0
        return chr(code) if code < 0x110000 else "\ufffd", end
    return chr(byte), position + 1


def _utf8_width(byte: int) -> int:
    if byte < 0xC0:
        return 1
    return 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
