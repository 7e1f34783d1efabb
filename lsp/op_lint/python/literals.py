"""Python string literals, character by character: which bytes of the source each character of the value came from."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

_PREFIX = re.compile(r"[A-Za-z]{0,2}(?=['\"])")
_BETWEEN = re.compile(r"(?:[\s()]|\\\r?\n|#[^\r\n]*)*")
_SIMPLE_ESCAPES = dict(zip("\\'\"abfnrtv", "\\'\"\a\b\f\n\r\t\v", strict=True))
_OCTAL = re.compile(r"[0-7]{1,3}")
_HEX_LENGTH = {"x": 2, "u": 4, "U": 8}


@dataclass(slots=True)
class Token:
    """A run of constant text inside one literal token.

    `value` is the text; `starts` holds, per character of it, the character of the source where it is written;
    `start` and `end` bound the run in the source.
    """

    value: str
    starts: list[int]
    start: int
    end: int


def constant_parts(source: str) -> list[list[Token]]:
    """The constant text of a string expression: of one literal, of several side by side, of f-strings among them.

    `source` is the expression as written. What stands between two replacement fields is one part, as in the `values`
    of `ast.JoinedStr`; a part is a list, because adjacent literals join. Parts without text are left out. Whoever
    calls this compares the values with what the parser made of them: what is not understood differs.
    """
    parts: list[list[Token]] = [[]]
    position = _skip(source, 0)
    while position < len(source):
        prefix = _PREFIX.match(source, position)
        if prefix is None:
            return []
        position = _literal(source, prefix.group().lower(), prefix.end(), parts)
        position = _skip(source, position)
    return [part for part in parts if any(token.value for token in part)]


def _skip(source: str, position: int) -> int:
    between = _BETWEEN.match(source, position)
    return between.end() if between else position


def _literal(source: str, prefix: str, position: int, parts: list[list[Token]]) -> int:
    """Read one literal whose opening quote is at `position`; the position after its closing quote."""
    quote = source[position] * 3 if source.startswith(source[position] * 3, position) else source[position]
    position += len(quote)
    token = _Builder(position)
    while position < len(source) and not source.startswith(quote, position):
        character = source[position]
        if "f" in prefix and character in "{}":
            if source.startswith(character * 2, position):
                token.add(character, position)
                position += 2
                continue
            parts[-1].append(token.done(position))
            position = _field_end(source, position)
            parts.append([])
            token = _Builder(position)
            continue
        position = _character(source, position, "r" in prefix, token)
    parts[-1].append(token.done(position))
    return position + len(quote)


class _Builder:
    """A token while it is being read."""

    def __init__(self, start: int) -> None:
        self.start = start
        self.characters: list[str] = []
        self.starts: list[int] = []

    def add(self, text: str, position: int) -> None:
        self.characters.append(text)
        self.starts.extend([position] * len(text))

    def done(self, end: int) -> Token:
        return Token("".join(self.characters), self.starts, self.start, end)


def _character(source: str, position: int, raw: bool, token: _Builder) -> int:
    """Read one character or escape sequence; the position after it."""
    character = source[position]
    if character == "\r":
        token.add("\n", position)
        return position + (2 if source.startswith("\r\n", position) else 1)
    if character != "\\":
        token.add(character, position)
        return position + 1
    if raw:
        end = position + 2 + source.startswith("\r\n", position + 1)
        for offset in range(position, min(position + 2, len(source))):
            token.add("\n" if source[offset] == "\r" else source[offset], offset)
        return end
    return _escape(source, position, token)


def _escape(source: str, position: int, token: _Builder) -> int:
    letter = source[position + 1 : position + 2]
    if letter in ("\n", "\r"):
        return position + (3 if source.startswith("\r\n", position + 1) else 2)
    if letter in _SIMPLE_ESCAPES:
        token.add(_SIMPLE_ESCAPES[letter], position)
        return position + 2
    octal = _OCTAL.match(source, position + 1)
    if octal:
        token.add(chr(int(octal.group(), 8)), position)
        return octal.end()
    length = _HEX_LENGTH.get(letter)
    if length:
        digits = source[position + 2 : position + 2 + length]
        token.add(chr(int(digits, 16)) if _is_code_point(digits) else "?", position)
        return position + 2 + length
    if letter == "N" and source.startswith("{", position + 2):
        end = source.find("}", position)
        token.add(_named(source[position + 3 : end]), position)
        return end + 1
    token.add("\\", position)
    return position + 1


def _is_code_point(digits: str) -> bool:
    return bool(re.fullmatch("[0-9a-fA-F]+", digits)) and int(digits, 16) < 0x110000


def _named(name: str) -> str:
    try:
        return unicodedata.lookup(name)
    except KeyError:
        return "?"


def _field_end(source: str, position: int) -> int:
    """The position after the replacement field that opens at `position`."""
    depth = 0
    characters = iter(_outside_strings(source, position))
    for index, character in characters:
        if character in "{[(":
            depth += 1
        elif character in ")]}":
            depth -= 1
            if depth == 0:
                return index + 1
    return len(source)


def _outside_strings(source: str, position: int) -> Iterator[tuple[int, str]]:
    """The characters of an f-string's field that are not in a string literal nested in it."""
    while position < len(source):
        character = source[position]
        if character in "'\"":
            quote = character * 3 if source.startswith(character * 3, position) else character
            end = source.find(quote, position + len(quote))
            position = len(source) if end < 0 else end + len(quote)
            continue
        yield position, character
        position += 1
