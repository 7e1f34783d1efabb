"""CMake's language as the cmake-language(7) manual has it: command invocations, their arguments, and where they stand.

The tokens and what may follow what are those of CMake's own reader, down to what it refuses; a test holds one against
the other. Positions are bytes: the text is decoded as Latin-1 for reading, in which a character is a byte, and the
values are decoded as UTF-8 afterwards. What CMake refuses is noted and the rest is read: nothing that could be
understood is given up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from op_lint.facts import Place, Problem
from op_lint.text import SourceText

_MOST_LOOKED = 1_000_000
"""Bytes that are looked at in vain for the end of something; beyond that the rest of a file is left out."""


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


_MAKE = r"\$\(\w*\)"
_PLAIN = r'[^ \0\t\r\n()#"[=\\]|\\(?!\r?\n)[^\0\n]'
_LEGACY = rf'{_MAKE}|{_PLAIN}|"(?:{_MAKE}|{_PLAIN}|[ \t[=])*"'
_TOKEN = re.compile(
    rf"""
    (?P<space>[ \t]+|\r(?!\n))
    |(?P<newline>\r?\n)
    |(?P<comment>\#\[(?P<hashes>=*)\[.*?\](?P=hashes)\])
    |\#(?!\[=*\[)[^\n]*?(?=\r?\n|\Z)
    |(?P<parenthesis>[()])
    |(?P<bracket>\[(?P<equals>=*)\[(?:\r?\n)?(?P<held>.*?)\](?P=equals)\])
    |(?P<unquoted>(?!\[=*\[)(?:{_MAKE}|{_PLAIN}|=|\[=*(?:{_LEGACY}))(?:{_LEGACY}|[\[=])*|\[(?!=*\[))
    |"(?P<quoted>(?:[^"\\]|\\.)*)"
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_UNCLOSED = re.compile(r'#?\[(=*)\[|"')
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_OPEN = re.compile(r"(?:[ \t]|\r(?!\n))*\(")
_CONTINUATION = re.compile(r"(?<!\\)((?:\\\\)*)\\\r?\n")


class _Arguments(NamedTuple):
    """The arguments of a command, and the position after its closing parenthesis."""

    found: list[Argument]
    end: int


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
        self._looked = 0
        self.problems: list[Problem] = []

    def commands(self) -> Iterator[Command]:
        text, position = self._text, 3 if self._text.startswith("\xef\xbb\xbf") else 0
        fresh = True  # whether a command may start: it must be the first on its line
        while position < len(text):
            token = _TOKEN.match(text, position)
            kind = token.lastgroup if token else "fault"
            if token is not None and kind in ("space", "newline", "comment", None):
                fresh = kind == "newline" or (fresh and kind != "comment")
                position = token.end()
                continue
            command = self._command(position, token)
            if command is None:
                position, fresh = self._next_line(position), True
                continue
            if not fresh:
                self._refuse("CMake wants a new line before this command", position, command.name_place.end)
            yield command
            position, fresh = command.place.end, False

    def _command(self, start: int, token: re.Match[str] | None) -> Command | None:
        """The command that starts with a token; None where that is none."""
        if token is None or token.lastgroup != "unquoted" or not _NAME.match(token.group()):
            self._refuse(self._unclosed(start) or "CMake wants the name of a command here", start, start + 1)
            return None
        name, end = token.group(), token.end()
        opened = _OPEN.match(self._text, end)
        if opened is None:
            self._refuse(f"CMake wants `(` behind `{name}`, on the same line", start, end)
            return None
        arguments = self._arguments(opened.end())
        if arguments is None:
            self._looked += len(self._text) - end
            self._refuse(f"no `)` closes this `{name}(`", start, end)
            return None
        place = self._place(start, arguments.end)
        return Command(name.lower(), tuple(arguments.found), place, self._place(start, end))

    def _unclosed(self, position: int) -> str | None:
        """What is wrong with a text or bracket that goes on to the end of the file; None for anything else."""
        opened = _UNCLOSED.match(self._text, position)
        if opened is None:
            return None
        self._looked += len(self._text) - position
        return 'no `"` closes this text' if opened.group() == '"' else f"no `]{opened[1]}]` closes this bracket"

    def _arguments(self, position: int) -> _Arguments | None:
        """The arguments up to the closing parenthesis; None where there is none."""
        found: list[Argument] = []
        depth = 1
        before: str | None = "space"  # what stands before, as far as it needs a blank behind it
        while True:
            token = _TOKEN.match(self._text, position)
            if token is None:
                return None
            kind, position = token.lastgroup, token.end()
            if kind == "parenthesis":
                depth += 1 if token.group() == "(" else -1
                if depth == 0:
                    return _Arguments(found, position)
                found.append(Argument(token.group(), "parenthesis", self._place(token.start(), position)))
                before = "space" if token.group() == "(" else "unquoted"
            elif kind in ("bracket", "quoted", "unquoted"):
                if "bracket" in (before, kind) and before != "space":
                    self._refuse("CMake wants a blank before this argument", token.start(), position)
                found.append(self._argument(token, kind))
                before = kind
            elif kind is not None:
                before = "bracket" if kind == "comment" else "space"

    def _argument(self, token: re.Match[str], kind: str) -> Argument:
        group = "held" if kind == "bracket" else kind
        value = _CONTINUATION.sub(r"\1", token[group]) if kind == "quoted" else token[group]
        decoded = value.replace("\r\n", "\n").encode("latin-1").decode("utf-8", "replace")
        return Argument(decoded, kind, self._place(token.start(group), token.end(group)))

    def _next_line(self, position: int) -> int:
        """Where reading starts anew; the end of the file where too much was looked at in vain."""
        end = self._text.find("\n", position)
        return len(self._text) if end < 0 or self._looked > _MOST_LOOKED else end + 1

    def _place(self, start: int, end: int) -> Place:
        return Place(self._path, self._source.line_of(start), start, end)

    def _refuse(self, message: str, start: int, end: int) -> None:
        if not self.problems:
            self.problems.append(Problem("build-syntax", message, self._place(start, end)))
