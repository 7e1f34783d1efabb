"""CMake's language as the cmake-language(7) manual has it: command invocations, their arguments, and where they stand.

Positions are bytes: the text is decoded as Latin-1 for reading, in which a character is a byte, and the values are
decoded as UTF-8 afterwards. A syntax error costs the line it is on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from op_lint.facts import Place, Problem
from op_lint.text import SourceText


class Argument(msgspec.Struct, frozen=True):
    """An argument as written. `place` covers its value, without quotes or brackets.

    `kind` is `unquoted`, `quoted`, `bracket` (in which nothing is replaced), or `parenthesis`.
    """

    text: str
    kind: str
    place: Place


class Command(msgspec.Struct, frozen=True):
    """A command invocation. `name` is in lower case, as CMake compares it; `place` is the whole of it."""

    name: str
    arguments: tuple[Argument, ...]
    place: Place
    name_place: Place


class Script(msgspec.Struct, frozen=True):
    """The commands of a file, in order, and what could not be read."""

    commands: tuple[Command, ...]
    problems: tuple[Problem, ...] = ()


_BLANK = re.compile(r"(?:[ \t\r\n;]|#\[(=*)\[.*?\]\1\]|#[^\n]*)*", re.DOTALL)
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OPEN = re.compile(r"[ \t]*\(")
_BRACKET = re.compile(r"\[(=*)\[\n?(.*?)\]\1\]", re.DOTALL)
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_UNQUOTED = re.compile(r'(?:[^\s()#"\\]|\\.|"(?:[^"\\\n]|\\.)*")+', re.DOTALL)
_CONTINUATION = re.compile(r"(?<!\\)((?:\\\\)*)\\\r?\n")


def read_script(path: str, data: bytes) -> Script:
    """The commands of a CMake file. Never raises."""
    reader = _Reader(path, data)
    commands = tuple(reader.commands())
    return Script(commands, tuple(reader.problems))


class _Reader:
    def __init__(self, path: str, data: bytes) -> None:
        self._path = path
        self._text = data.decode("latin-1")
        self._source = SourceText(data)
        self.problems: list[Problem] = []

    def commands(self) -> Iterator[Command]:
        text, position = self._text, 3 if self._text.startswith("\xef\xbb\xbf") else 0
        while True:
            position = self._skip(position)
            if position >= len(text):
                return
            name = _IDENTIFIER.match(text, position)
            opened = _OPEN.match(text, name.end()) if name else None
            arguments = self._arguments(opened.end()) if opened else None
            if name is None or arguments is None:
                place = self._place(position, name.end() if name else position + 1)
                self._problem("CMake's syntax is not kept here: the line is left out", place)
                position = self._next_line(position)
                continue
            found, position = arguments
            name_place = self._place(name.start(), name.end())
            yield Command(name.group().lower(), tuple(found), self._place(name.start(), position), name_place)

    def _arguments(self, position: int) -> tuple[list[Argument], int] | None:
        """The arguments up to the closing parenthesis, and the position after it; None where there is none."""
        found: list[Argument] = []
        depth = 1
        while True:
            position = self._skip(position)
            character = self._text[position : position + 1]
            if character in ("(", ")"):
                depth += 1 if character == "(" else -1
                position += 1
                if depth == 0:
                    return found, position
                found.append(Argument(character, "parenthesis", self._place(position - 1, position)))
                continue
            argument = self._argument(position)
            if argument is None:
                return None
            found.append(argument[0])
            position = argument[1]

    def _argument(self, position: int) -> tuple[Argument, int] | None:
        for kind, pattern, group in (("bracket", _BRACKET, 2), ("quoted", _QUOTED, 1), ("unquoted", _UNQUOTED, 0)):
            found = pattern.match(self._text, position)
            if found:
                value = _CONTINUATION.sub(r"\1", found[group]) if kind == "quoted" else found[group]
                decoded = value.encode("latin-1").decode("utf-8", "replace")
                return Argument(decoded, kind, self._place(found.start(group), found.end(group))), found.end()
        return None

    def _skip(self, position: int) -> int:
        blank = _BLANK.match(self._text, position)
        return blank.end() if blank else position

    def _next_line(self, position: int) -> int:
        end = self._text.find("\n", position)
        return len(self._text) if end < 0 else end + 1

    def _place(self, start: int, end: int) -> Place:
        return Place(self._path, self._source.line_of(start), start, end)

    def _problem(self, message: str, place: Place) -> None:
        if not self.problems:
            self.problems.append(Problem("build-syntax", message, place))
