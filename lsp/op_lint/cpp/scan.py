"""A byte scanner for C++ sources: comments, literals, preprocessor directives. No parsing beyond tokens.

It works on any bytes (UTF-8, Latin-1, half-typed code), never raises and takes time in proportion to their number.
Lines end at LF or CRLF; offsets are bytes, 0-based.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_SPLICE_PATTERN = rb"\\[ \t]*\r?\n"
_COMMENT = rb"//[^\n\\]*(?:\\(?:[ \t]*\r?\n)?[^\n\\]*)*|/\*.*?(?:\*/|\Z)"
_STRING = rb'"[^"\\\n]*(?:\\(?:\r\n|.)[^"\\\n]*)*'
_RAW = rb'(?:u8|[uUL])?R"(?P<delimiter>[^()\\\s"]{0,16})\((?P<raw>.*?)'

_SKIP = re.compile(
    rb"(?P<comment>" + _COMMENT + rb")"
    rb"|(?<![0-9A-Za-z_])" + _RAW + rb'(?:\)(?P=delimiter)"|\Z)'
    rb"|(?P<string>" + _STRING + rb'(?:"|(?=\n)|\\?\Z))'
    rb"|(?<![0-9A-Za-z_])(?:u8|[uUL])?(?P<char>'(?:[^'\\\n]|\\.){1,16}')",
    re.DOTALL,
)
"""Comments and literals. A quote after a word character is a digit separator (`1'000`) or a literal's prefix."""

_SPLICE = re.compile(_SPLICE_PATTERN)
_MARK = re.compile(rb"#|%:")
_BOM = b"\xef\xbb\xbf"
_DIRECTIVE = re.compile(rb"(?:#|%:)[ \t\f\v]*([A-Za-z_]*)")
_LOGICAL_LINE = re.compile(rb"[^\n\\]*(?:\\(?:[ \t]*\r?\n)?[^\n\\]*)*")
_WORD = re.compile(rb"[A-Za-z_]\w*")
_LITERAL = re.compile(
    rb"(?:" + _RAW + rb'\)(?P=delimiter)"|(?:u8|[uUL])?' + _STRING.replace(rb'"', rb'"(?P<plain>', 1) + rb')")',
    re.DOTALL,
)
_BLANK = re.compile(rb"\s+|" + _COMMENT + rb"|" + _SPLICE_PATTERN, re.DOTALL)

DEFINE = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)([^\n\\]*(?:\\(?:[ \t]*\r?\n)?[^\n\\]*)*)", re.MULTILINE)
"""A `#define`: the macro's name, and all that follows it."""


class Directive(NamedTuple):
    """A preprocessor directive: bytes `start` (the `#`) to `end` (before the line end or a comment that ends the line).

    `argument` is the text after the word, its lines joined and its comments blank.
    """

    word: str
    argument: bytes
    start: int
    end: int


class Literal(NamedTuple):
    """One string literal token: `start` to `end` with quotes, contents from `inner_start` to `inner_end`."""

    start: int
    end: int
    inner_start: int
    inner_end: int
    raw: bool


def blank_comments_and_literals(data: bytes) -> bytes:
    """`data` with every comment and the contents of every literal replaced by blanks; quotes and line ends stay."""
    return _SKIP.sub(_blank_literal, data)


def _blank_literal(match: re.Match[bytes]) -> bytes:
    text = match.group()
    if match.lastgroup == "comment":
        return blanked(text)
    opening = text.find(b"'" if match.lastgroup == "char" else b'"') + 1
    is_closed = len(text) > opening and text[-1:] == text[opening - 1 : opening]
    closing = len(text) - is_closed
    return text[:opening] + blanked(text[opening:closing]) + text[closing:]


def blanked(text: bytes) -> bytes:
    """Blanks of the length of `text`; line ends stay."""
    return text.translate(_TO_BLANKS)


_TO_BLANKS = bytes(byte if byte in b"\r\n" else 0x20 for byte in range(256))


def directives(data: bytes, bare: bytes | None = None) -> list[Directive]:
    """All preprocessor directives that stand outside comments and literals.

    `bare` is `data` with its comments and the contents of its literals blank, where that is known already.
    """
    if b"#" not in data and b"%:" not in data:
        return []
    code = blank_comments_and_literals(data) if bare is None else bare
    if any(data[start:end] != code[start:end] for start, end in _line_starts(code)):
        # A comment ends before a `#`: whether it began on that line is seen where no line ends in a comment.
        code = _SKIP.sub(_blank_lines, data)
    found: list[Directive] = []
    position = 0
    for before, start in _line_starts(code):
        if before < position:
            continue
        line = _logical_line(data, start)
        text = line.rstrip()
        joined = _SPLICE.sub(b"", text) if b"\\" in text else text
        match = _DIRECTIVE.match(joined)
        if match:
            argument = joined[match.end() :].strip()
            found.append(Directive(match.group(1).decode("ascii"), argument, start, start + len(text)))
        position = start + max(1, len(text))
    return found


def _line_starts(code: bytes) -> Iterator[tuple[int, int]]:
    """Each `#` that is the first on its line: where the line end before it is, and its offset."""
    for mark in _MARK.finditer(code):
        end = code.rfind(b"\n", 0, mark.start())
        if code[end + 1 : mark.start()].strip(b" \t\f\v") not in (b"", *(() if end >= 0 else (_BOM,))):
            continue
        before = end - 1 if code[end - 1 : end] == b"\r" else end
        if end < 0 or code[before - 1 : before] != b"\\" or before == 0:
            yield max(before, 0), mark.start()


def _logical_line(data: bytes, start: int) -> bytes:
    """The line of the directive at `start`, those that continue it among it, its comments blank."""
    room = _FIRST_LOOK
    while True:
        # Only the line is looked at, not the file; where a comment reaches to the end of the look, more of it.
        text = _SKIP.sub(_blank_lines, data[start : start + room])
        line = _LOGICAL_LINE.match(text)
        found = line.group() if line else b""
        if len(found) < len(text) or start + room >= len(data):
            return found
        room *= 8


_FIRST_LOOK = 512


def _blank_lines(match: re.Match[bytes]) -> bytes:
    """Blanks for what ends no line and holds no directive, though it may look so: comments and raw strings."""
    text = match.group()
    return text if match.lastgroup in ("string", "char") else b" " * len(text)


def words(data: bytes) -> Iterator[bytes]:
    """The identifiers of a piece of code (comments and literals are the caller's to blank)."""
    return (match.group() for match in _WORD.finditer(data))


def defined_names(data: bytes, start: int, end: int) -> list[bytes]:
    """The macros that are defined in bytes `start` to `end`."""
    return [match.group(1) for match in DEFINE.finditer(data, start, end)]


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

    The offsets are empty where character `i` is simply byte `i`. A byte that is not UTF-8 is a character of its own.
    """
    if data.isascii() and b"\r" not in data and (raw or b"\\" not in data):
        return data.decode("ascii"), ()
    characters: list[str] = []
    steps: list[int] = []
    position = 0
    while position < len(data):
        start = position
        if data[start] == 0x5C and not raw and start + 1 < len(data):
            character, position = _decode_escape(data, start + 1)
        else:
            character, position = _decode_character(data, start)
        if character:
            characters.append(character)
            steps.append(start)
    return "".join(characters), tuple(steps)


def _decode_character(data: bytes, position: int) -> tuple[str, int]:
    if data[position : position + 2] == b"\r\n":
        return "\n", position + 2  # in a raw string the compiler reads one line end for either
    end = position + _utf8_width(data[position])
    try:
        return data[position:end].decode("utf-8"), end
    except UnicodeDecodeError:
        return chr(data[position]), position + 1


def _decode_escape(data: bytes, position: int) -> tuple[str, int]:
    byte = data[position]
    if byte in _ESCAPES:
        return _ESCAPES[byte], position + 1
    splice = _SPLICE.match(data, position - 1)
    if splice:
        return "", splice.end()
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
        is_character = code < 0xD800 or 0xDFFF < code < 0x110000
        return chr(code) if is_character else "\ufffd", end
    return chr(byte), position + 1


def _utf8_width(byte: int) -> int:
    if byte < 0xC0:
        return 1
    return 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
