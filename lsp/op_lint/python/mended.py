"""A Python file that does not parse, as half-typed files do: without the statements that are to blame it does.

A statement is to blame that does not parse by itself. Of one with a body only the statements in it are, if it parses
without them. Instead of each stands a `0`, so that every other byte of the file is where it was.
"""

from __future__ import annotations

import ast
import codecs
import re
import tokenize
import warnings
from collections.abc import Iterator, Sequence

import msgspec

_LINE = re.compile(r"[^\r\n]*(?:\r\n|[\r\n])|[^\r\n]+")

_CODE = re.compile(r"[^\r\n]+")

_NOTHING = re.compile(r"[ \t\f]*(?:#[^\r\n]*)?[\r\n]*")
"""A line without code."""

_CLAUSE = re.compile(r"(?:else|elif|except|finally)\b")

_GOES_ON = re.compile(r"[)\]}]|" + _CLAUSE.pattern)
"""The start of a line that belongs to the statement above it."""

_DECORATED = re.compile(r"@|(?:async[ \t]+)?def\b|class\b")

_STAND_IN = "0"
"""The shortest statement there is."""

_OPEN = re.compile(r"was never closed|unterminated triple-quoted|unexpected EOF")
"""What Python says of a statement that may go on in lines which look like statements of their own."""

_LINE_NUMBER = re.compile(r"\bline (\d+)")

_LONGEST_BRACKET = 40
"""Lines of that kind in one bracket."""

_IN_NO_BRACKET = re.compile(
    r"@|(?:assert|async|break|class|continue|def|del|from|global|import|nonlocal|pass|raise|return|try|while|with)\b"
)
"""The start of a line that is in no bracket."""

_EFFORT = 30
"""How many times the length of the file is parsed before it is given up."""

CANNOT_PARSE = (SyntaxError, ValueError, RecursionError, MemoryError)
"""What the parser raises."""


_Range = tuple[int, int]
_Fault = tuple[int, int, Exception]
"""Lines that are not Python, and what the parser says."""


class Lines(msgspec.Struct, frozen=True, order=True):
    """Lines of a file, 1-based, `last` included."""

    first: int
    last: int


class Broken(msgspec.Struct, frozen=True):
    """Lines that are not Python, and why. The parser stops at `line` and `column` (as trees count).

    `statement` is the outermost statement that they are in.
    """

    lines: Lines
    statement: Lines
    reason: str
    line: int
    column: int


class Mended(msgspec.Struct, frozen=True):
    """A text that parses, and what had to go for that."""

    lines: tuple[str, ...]
    broken: tuple[Broken, ...]

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(self.lines)

    def applied(self, data: bytes) -> bytes:
        """The bytes of the text, of those that it was before: in every line as many."""
        mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
        lines = data.removeprefix(mark).splitlines(keepends=True)
        for each in self.broken:
            for number in range(each.lines.first - 1, each.lines.last):
                code = lines[number].rstrip(b"\r\n")
                stand_in = self.lines[number].rstrip("\r\n").encode()
                lines[number] = stand_in.ljust(len(code)) + lines[number][len(code) :]
        return mark + b"".join(lines)


class _TooMuchError(Exception):
    """The file is not worth the effort."""


def parsed(text: str) -> ast.Module:
    """The syntax tree. Raises one of `CANNOT_PARSE`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the compiler's opinions on the user's string escapes
        return ast.parse(text)


def mended(text: str) -> Mended | None:
    """A text that does not parse without what is to blame for it; None where that cannot be told."""
    mender = _Mender(text)
    try:
        broken = tuple(mender.outermost())
        parsed("".join(mender.lines))
    except (_TooMuchError, *CANNOT_PARSE):
        return None
    return Mended(tuple(mender.lines), broken)


class _Mender:
    """The lines of a text (0-based here, ends exclusive), in which those that are not Python are blanked one by one."""

    def __init__(self, text: str) -> None:
        self.lines: list[str] = _LINE.findall(text)
        self._effort = _EFFORT * len(text) + 10_000

    def outermost(self) -> Iterator[Broken]:
        """Blank what is to blame in the whole file."""
        texts = tuple(self.lines)
        for (start, end), faults in self._suite(0, len(self.lines), ""):
            for first, last, error in faults:
                lines, statement = Lines(first + 1, last), Lines(start + 1, end)
                if isinstance(error, SyntaxError):
                    line = min(max(error.lineno or 1, first + 1), last)
                    before = texts[line - 1][: max(error.offset or 1, 1) - 1]
                    yield Broken(lines, statement, error.msg, line, len(before.encode()))
                else:
                    yield Broken(lines, statement, str(error) or type(error).__name__, first + 1, 0)

    def _suite(self, first: int, last: int, indentation: str) -> Iterator[tuple[_Range, list[_Fault]]]:
        """The statements of a suite that do not parse, each with the lines in it that were blanked."""
        starts = self._starts(first, last, indentation)
        ends = [self._without_comments(end) for end in (*starts[1:], last)]
        index = 0
        while index < len(starts):
            error = self._error(starts[index], ends[index], indentation)
            following = index + 1 if error is None else self._end_of_open(starts, ends, index, indentation, error)
            if error is not None and following is None:
                statement = starts[index], ends[index]
                yield statement, self._blanked(*statement, indentation, error)
            index = following or index + 1

    def _starts(self, first: int, last: int, indentation: str) -> list[int]:
        """The lines with which statements of a suite start, as far as their form tells."""
        starts: list[int] = []
        decorated = False
        for number in range(first, last):
            line = self.lines[number]
            if _NOTHING.fullmatch(line):
                continue
            code = line.lstrip(" \t\f")
            is_own = _indentation(line) == indentation and not _GOES_ON.match(code)
            goes_on = not is_own or self.lines[number - 1].rstrip("\r\n").endswith("\\")
            if not starts or not (goes_on or (decorated and _DECORATED.match(code))):
                starts.append(number)
            if is_own:
                decorated = code.startswith("@")
        return starts

    def _without_comments(self, end: int) -> int:
        """The end of what ends at a line, without the comments before that."""
        while end and _NOTHING.fullmatch(self.lines[end - 1]):
            end -= 1
        return end

    def _end_of_open(
        self, starts: Sequence[int], ends: Sequence[int], index: int, indentation: str, error: Exception
    ) -> int | None:
        """The index after the last of the `starts` that are one statement from `index` on; None where it is none.

        What stands in a bracket or a string may look like statements.
        """
        still: Exception | None = error
        for following in range(index + 1, len(starts)):
            if not _OPEN.search(str(still)):
                return None
            is_end = _IN_NO_BRACKET.match(self.lines[starts[following]], len(indentation))
            if "quoted" not in str(still) and (is_end or following - index > _LONGEST_BRACKET):
                return None
            still = self._error(starts[index], ends[following], indentation)
            if still is None:
                return following + 1
        return None

    def _error(self, start: int, end: int, indentation: str) -> Exception | None:
        """What the parser says of some lines of a suite by themselves, in lines of the file; None where they parse."""
        text = "".join(("if 1:\n" if indentation else "", *self.lines[start:end]))
        self._effort -= len(text)
        if self._effort < 0:
            raise _TooMuchError
        try:
            parsed(text)
        except SyntaxError as error:
            before = start - bool(indentation)
            error.lineno = before + (error.lineno or 1)
            error.msg = _LINE_NUMBER.sub(lambda found: f"line {before + int(found[1])}", error.msg)
            return error
        except CANNOT_PARSE as error:
            return error
        return None

    def _blanked(self, start: int, end: int, indentation: str, error: Exception) -> list[_Fault]:
        """Blank what is to blame of a statement: statements of its bodies, if that suffices, or all of it."""
        before = self.lines[start:end]
        inner = [
            fault
            for first, last in self._bodies(start, end, indentation)
            for _, faults in self._suite(first, last, _indentation(self.lines[first]))
            for fault in faults
        ]
        if inner and self._error(start, end, indentation) is None:
            return inner
        self.lines[start:end] = before
        after, has_body = self._logical_line(start, end)
        after = self._first(after, end)
        if not has_body and self._is_inside(after, end, indentation) and not self._error(start, after, indentation):
            start = after  # a line that is indented without reason
        for number in range(start, end):
            self.lines[number] = _CODE.sub("", self.lines[number])
        self.lines[start] = f"{indentation}{_STAND_IN}{self.lines[start]}"
        return [(start, end, error)]

    def _bodies(self, start: int, end: int, indentation: str) -> Iterator[_Range]:
        """The suites of a compound statement, of which every clause starts at its indentation."""
        number = start
        while number < end:
            number, has_body = self._logical_line(number, end)
            if has_body:
                first = self._first(number, end)
                number = next((at for at in range(first, end) if self._is_clause(at, indentation)), end)
                if self._is_inside(first, number, indentation):
                    yield first, number

    def _first(self, start: int, end: int) -> int:
        """The first line with code."""
        return next((at for at in range(start, end) if not _NOTHING.fullmatch(self.lines[at])), end)

    def _is_inside(self, number: int, end: int, indentation: str) -> bool:
        return number < end and len(_indentation(self.lines[number])) > len(indentation)

    def _is_clause(self, number: int, indentation: str) -> bool:
        line = self.lines[number]
        return _indentation(line) == indentation and _CLAUSE.match(line, len(indentation)) is not None

    def _logical_line(self, start: int, end: int) -> tuple[int, bool]:
        """The line after a logical line, and whether that ends in a colon."""
        lines = (line.rstrip("\r\n") + "\n" for line in self.lines[start:end])
        last = ""
        try:
            for token in tokenize.generate_tokens(lambda: next(lines, "")):
                if token.type == tokenize.NEWLINE:
                    return start + token.start[0], last == ":"
                if token.type != tokenize.COMMENT:
                    last = token.string
        except (tokenize.TokenError, SyntaxError):
            pass  # then nothing of it is read
        return end, False


def _indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t\f"))]
