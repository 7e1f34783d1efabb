"""A source taken apart: what libclang need not be given to read the rest of it.

Most of a registration file are statements `m.def(...)` and `m.impl(...)` and the bodies of kernels. Neither says
anything about another one: what a statement registers follows from itself and from the declarations around it, and the
body of a function that registers nothing says nothing about its signature. So such statements and bodies are *holes*,
the rest is the frame. The bodies are never read; without them libclang is done in two thirds of the time.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

from op_lint.cpp.blanked import BLOCK, BLOCK_MACROS, Blanked
from op_lint.cpp.expansion import Macro
from op_lint.cpp.scan import Directive, blanked

_CALL = re.compile(rb"(?<![\w.>:])(\w+)\s*\.\s*(?:def|impl|fallback)\s*\(")
_BEFORE_STATEMENT = b"{};"
_BRACE = re.compile(rb"[{}]")
_STOP = re.compile(rb"[{};]")
_ENTERED = re.compile(rb"(?:\bnamespace\b[\w\s:]*|\bextern\s*\"\s*\"\s*)\Z")
_HEADER = re.compile(rb"[\w\s:<>,*&()=.\[\]\"-]*\)\s*(?:const\s*)?(?:noexcept\s*)?")
_LONGEST_HEADER = 4000
_MOST_HOLES = 4096
"""Pieces of text whose examination is remembered: most are the same after an edit."""
_NAME_BEFORE = re.compile(rb"(\w+)\s*\Z")
_PARENTHESES = re.compile(rb"[()]")
_NOT_PLAIN = frozenset({
    b"auto", b"decltype", b"constexpr", b"consteval", b"template", b"class", b"struct", b"union", b"enum", b"operator",
    b"requires", b"concept", b"using", b"typedef", b"if", b"for", b"while", b"switch", b"do", b"else", b"try", b"catch",
    b"asm", b"__attribute__", b"Library", b"StableLibrary", b"RegisterOperators",
    *BLOCK_MACROS,
})  # fmt: skip
"""What makes a function more than one whose body nobody looks into: its body may decide its type, or be read."""
_NOT_PLAIN_WORD = re.compile(
    rb"\b(?:auto|decltype|constexpr|consteval|template|operator|Library|StableLibrary)\b|[{};]"
)
_WORD = re.compile(rb"[A-Za-z_]\w*")
_REGISTERS = re.compile(rb"Library\b|RegisterOperators|TorchLibraryInit|[.>]\s*(?:def|impl|fallback)\s*\(")
_REGISTERING_WORD = re.compile(rb"TORCH_LIBRARY|Library\b|RegisterOperators|\b(?:def|impl|impl_UNBOXED|fallback)\b")
_ODD = re.compile(
    rb"\b(?:namespace|template|extern|export|module|import|_Pragma|__pragma|asm|__asm|__asm__|concept|requires|friend)\b"
    rb"|[@\\`]|<%|%>|%:|<:(?!:[^:>])"
)
"""What in a hole might have libclang go on reading beyond its end, where it is wrong."""
_CLOSED_CHARACTER = re.compile(rb"'[ ]+'|(?<=\w)'(?=\w)")
_BRACKET = re.compile(rb"[(){}\[\]]")
_CLOSING = {b"(": b")", b"[": b"]", b"{": b"}"}
_DEEPEST = 100
_ALIAS = re.compile(rb"\b(?:using|typedef|define)\b[^;\n]*Library")
_CALLED = re.compile(rb"(\w+)\s*(?:<[^;{}()]*>\s*)?\(")


class Span(NamedTuple):
    """Bytes `start` to `end`."""

    start: int
    end: int


class Cut:
    """A source taken apart: its statements and bodies, in order and apart from each other, and the frame."""

    def __init__(
        self,
        data: bytes,
        code: Blanked,
        directives: Sequence[Directive],
        registers: re.Pattern[bytes],
        macros: Mapping[bytes, Macro],
    ) -> None:
        """`data` is what libclang would be given; `code` and `directives` are those of the file, at the same offsets.

        `registers` finds the project's own macros that register, `macros` are all those that the source can use.
        """
        self.data = data
        self._code = code
        self._directives = [directive.start for directive in directives]
        self._registers = registers
        self._macros = _MacroWords(macros)

    @cached_property
    def statements(self) -> tuple[Span, ...]:
        """The statements of blocks that are one call on the block's library, which is named nowhere else in them."""
        return tuple(self._find_statements())

    @cached_property
    def bodies(self) -> tuple[Span, ...]:
        """The bodies of functions that are not read: plain functions that register nothing and that no block calls."""
        return tuple(self._find_bodies())

    @property
    def code(self) -> bytes:
        """The text with blanks for comments, the contents of literals, and directives."""
        return self._code.code

    @cached_property
    def frame(self) -> bytes:
        """The text with a mark for each body and for each run of statements with only blanks and comments between."""
        parts: list[bytes] = []
        position = 0
        for start, end in sorted((*self._runs(), *self.bodies)):
            parts += (self.data[position:start], b"\0")
            position = end
        return b"".join((*parts, self.data[position:]))

    def without(self, holes: Iterable[Span]) -> bytes:
        """The text with blanks for these holes; all else stands where it stood."""
        parts: list[bytes] = []
        position = 0
        for start, end in sorted(holes):
            parts += (self.data[position:start], blanked(self.data[start:end]))
            position = end
        return b"".join((*parts, self.data[position:]))

    @cached_property
    def holes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The starts and the ends of all holes, in order."""
        ordered = sorted((*self.statements, *self.bodies))
        return tuple(span.start for span in ordered), tuple(span.end for span in ordered)

    def is_in_hole(self, offset: int) -> bool:
        """Whether a byte is in a statement or a body."""
        starts, ends = self.holes
        index = bisect_right(starts, offset) - 1
        return index >= 0 and offset < ends[index]

    def is_in_statement(self, offset: int) -> bool:
        """Whether a byte is in a statement."""
        index = bisect_right(self.statements, offset, key=lambda span: span.start) - 1
        return index >= 0 and offset < self.statements[index].end

    def _runs(self) -> Iterator[Span]:
        start = end = -1
        code = self._code.code
        for statement in self.statements:
            # A directive is no blank: what it switches may differ from run to run.
            if end >= 0 and not code[end : statement.start].strip() and not self._has_directive(end, statement.start):
                end = statement.end
                continue
            if end >= 0:
                yield Span(start, end)
            start, end = statement
        if end >= 0:
            yield Span(start, end)

    def _has_directive(self, start: int, end: int) -> bool:
        return bisect_left(self._directives, start) < bisect_left(self._directives, end)

    def _find_statements(self) -> Iterator[Span]:
        code = self._code.code
        done = 0
        for _, stop, zone in self._code.zones:
            variable = self._code.library_in(zone) if BLOCK.fullmatch(zone.group()) else None
            if variable is None:
                continue
            named_again = re.compile(rb"(?<!\w)" + re.escape(variable) + rb"(?!\w)")
            has_directives = self._has_directive(zone.end(), stop)
            position = max(done, zone.end())
            while (call := _CALL.search(code, position, stop)) is not None:
                position = call.end()
                end = self._code.matching(call.end() - 1)
                closing = _next_code(code, end)
                before = code[:0] if call.start() == 0 else _last_code(code, call.start())
                if call.group(1) != variable or code[closing : closing + 1] != b";" or before not in _BEFORE_STATEMENT:
                    continue
                span = Span(call.start(), closing + 1)
                if span.end > stop or (has_directives and self._has_directive(*span)):
                    continue
                if named_again.search(code, call.end(), end):
                    continue
                if not self._is_whole(code[span.start : span.end]):
                    continue
                yield span
                position = span.end
            done = max(done, stop)

    def _find_bodies(self) -> Iterator[Span]:
        code = self._code.code
        if b"Library" in code and _ALIAS.search(code):
            return
        called = {match.group(1) for start, end, _ in self._code.zones for match in _CALLED.finditer(code, start, end)}
        boundary = position = 0
        while (stop := _STOP.search(code, position)) is not None:
            position = stop.end()
            if stop.group() != b"{":
                boundary = position
                continue
            directive = bisect_left(self._directives, stop.start()) - 1
            start = max(boundary, self._directives[directive] if directive >= 0 else 0)
            header = code[start : stop.start()]
            boundary = position
            words = _WORD.findall(header)
            if (b"namespace" in words or b"extern" in words) and _ENTERED.search(header):
                continue
            position = boundary = _end_of_braces(code, stop.start())
            name = _plain_function(header) if _NOT_PLAIN.isdisjoint(words) and b"TORCH_LIBRARY" not in header else None
            if name is None or name in called or not self._macros.plain.isdisjoint(words):
                continue
            span = Span(stop.end(), max(stop.end(), position - 1))
            registers = (
                _REGISTERS.search(code, *span)
                or self._registers.search(code, *span)
                or not self._macros.registering.isdisjoint(_WORD.findall(code, *span))
            )
            if registers or self._has_directive(start + 1, position) or code[position - 1 : position] != b"}":
                continue
            if self._is_whole(code[span.start : span.end]):
                yield span

    def _is_whole(self, code: bytes) -> bool:
        """Whether the code of a hole ends where it ends, however wrong it is."""
        return _is_closed(code) and (not self._macros.odd or self._macros.odd.isdisjoint(_WORD.findall(code)))


@lru_cache(maxsize=_MOST_HOLES)
def _is_closed(code: bytes) -> bool:
    """Whether all brackets and quotes of a hole are closed, and nothing in it has a meaning beyond it."""
    if _ODD.search(code) or BLOCK.search(code) or not _is_nested(code):
        return False
    if any(line.count(b'"') % 2 for line in code.split(b"\n")):
        return False
    return b"'" not in code or b"'" not in _CLOSED_CHARACTER.sub(b"", code)


class _MacroWords:
    """The macros that make more of a text than one sees: of a hole (`odd`), of the head of a function (`plain`).

    `registering` are those that may be a part of code that registers, such as another name for a block's macro.
    """

    def __init__(self, macros: Mapping[bytes, Macro]) -> None:
        self.odd = _closure(macros, lambda body: bool(_ODD.search(body) or BLOCK.search(body)) or not _is_nested(body))
        self.registering = _closure(macros, lambda body: bool(_REGISTERING_WORD.search(body)))
        self.plain = self.odd | self.registering | _closure(macros, lambda body: bool(_NOT_PLAIN_WORD.search(body)))


def _closure(macros: Mapping[bytes, Macro], is_meant: Callable[[bytes], bool]) -> frozenset[bytes]:
    """The macros whose bodies are meant, and those that use them."""
    bodies = {name: b" ".join(macro.body) for name, macro in macros.items()}
    found = {name for name, body in bodies.items() if b"##" in body or is_meant(body)}
    while more := {name for name, macro in macros.items() if name not in found and not found.isdisjoint(macro.body)}:
        found |= more
    return frozenset(found)


def _is_nested(code: bytes) -> bool:
    """Whether every bracket is closed by its like, and none too deep inside of others."""
    closing: list[bytes] = []
    for match in _BRACKET.finditer(code):
        bracket = match.group()
        if bracket in _CLOSING:
            closing.append(_CLOSING[bracket])
            if len(closing) > _DEEPEST:
                return False
        elif not closing or closing.pop() != bracket:
            return False
    return not closing


@lru_cache(maxsize=_MOST_HOLES)
def _plain_function(header: bytes) -> bytes | None:
    """The name of the function that a header without the words of `_NOT_PLAIN` declares; None for any other header."""
    if len(header) > _LONGEST_HEADER or not _HEADER.fullmatch(header) or b":" in header.replace(b"::", b""):
        return None
    depth = 0
    for parenthesis in reversed(list(_PARENTHESES.finditer(header))):
        depth += 1 if parenthesis.group() == b")" else -1
        if depth == 0:
            name = _NAME_BEFORE.search(header, 0, parenthesis.start())
            return name.group(1) if name else None
    return None


def _next_code(code: bytes, position: int) -> int:
    """The offset of the first byte from `position` on that is no blank."""
    while code[position : position + 1].isspace():
        position += 1
    return position


def _last_code(code: bytes, position: int) -> bytes:
    """The last byte before `position` that is no blank."""
    while position > 0 and code[position - 1 : position].isspace():
        position -= 1
    return code[position - 1 : position] or b"\0"


def _end_of_braces(code: bytes, position: int) -> int:
    """The offset after the brace that closes the one at `position`."""
    depth = 0
    for brace in _BRACE.finditer(code, position):
        depth += 1 if brace.group() == b"{" else -1
        if depth == 0:
            return brace.end()
    return len(code)
