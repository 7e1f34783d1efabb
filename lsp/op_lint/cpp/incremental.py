"""Reading a source again after an edit, without what the edit cannot have changed.

Most of a registration file are statements `m.def(...)` and `m.impl(...)` and the bodies of kernels. Neither says
anything about another one: what a statement registers follows from itself and from the declarations around it, and the
body of a function that registers nothing says nothing about its signature. So the text is cut: such statements and
bodies are *holes*, the rest is the frame. Where an edit leaves the frame as it is, libclang is given the frame with
nothing but the changed statements in it, and the rows of all other statements are those of the last reading, moved to
where they stand now.

What comes out is what reading afresh gives. Where that is not certain the source is read afresh: where the frame has
changed, where something had to be repaired, where a statement does more than one call, and where libclang sees other
errors or other blocks in the frame than it did before.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, get_args, get_type_hints

import msgspec

from op_lint.cpp.blanked import BLOCK, Blanked
from op_lint.cpp.clang import Diagnostic, Point
from op_lint.cpp.expansion import Macro
from op_lint.cpp.registrations import ROW_LISTS, Registrations
from op_lint.cpp.scan import Directive, blanked
from op_lint.cpp.scanned import ScannedFile
from op_lint.facts import (
    ClassDefinition,
    Definition,
    Delegation,
    Fallback,
    Implementation,
    Kernel,
    Parameter,
    Piece,
    Place,
    Signature,
    Text,
    Unit,
    Unresolved,
)

_MOST_FILES = 8
"""Files whose last reading is remembered: those that are being edited."""

_MOST_SCANNED = 2_000
"""Files that are kept scanned: more than a few sources include."""

_LARGEST = 4_000_000
"""Bytes of a source above which it is read afresh: the reader's own bounds might show there."""

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
_NOT_PLAIN = re.compile(
    rb"\b(?:auto|decltype|constexpr|consteval|template|class|struct|union|enum|operator|requires|concept|using|typedef"
    rb"|if|for|while|switch|do|else|try|catch|asm|__attribute__|Library|StableLibrary|RegisterOperators)\b"
    rb"|(?<!:):(?!:)"
)
"""What makes a function more than one whose body nobody looks into: its body may decide its type, or be read."""
_NOT_PLAIN_WORD = re.compile(
    rb"\b(?:auto|decltype|constexpr|consteval|template|operator|Library|StableLibrary)\b|[{};]"
)
_WORD = re.compile(rb"[A-Za-z_]\w*")
_REGISTERS = re.compile(rb"Library\b|RegisterOperators|TorchLibraryInit|[.>]\s*(?:def|impl|fallback)\s*\(")
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
_COUNTING = (
    b"__LINE__", b"__COUNTER__", b"__FILE__", b"__TIME__", b"__DATE__", b"__INCLUDE_LEVEL__", b"source_location",
)  # fmt: skip
"""What makes the meaning of a text depend on where it stands."""
_CALLED = re.compile(rb"(\w+)\s*(?:<[^;{}()]*>\s*)?\(")


class Repaired(NamedTuple):
    """What was declared for a parse: a header, further arguments, and the words that it speaks of."""

    header: bytes
    arguments: tuple[str, ...]
    words: frozenset[bytes]


class Parsed(NamedTuple):
    """What reading a source gave: the rows, the errors that libclang saw last, what had to be declared for it.

    `broken` are the errors that are not about what names mean: behind one it is not certain where libclang goes on.
    `is_plain` is False where the reader did more than to declare what registration code misses.
    """

    found: Registrations
    errors: Sequence[Diagnostic]
    broken: Sequence[Diagnostic] = ()
    repaired: Repaired | None = None
    is_plain: bool = True


class Source(NamedTuple):
    """A source under one assignment: what libclang is given of each file, by name, and what is known of the main one.

    `key` names the source among all that are remembered, `path` is what places call its main file, `name` what libclang
    calls it. `registers` finds the project's own macros that register, `macros` are all those of its files. The blanked
    code and the directives are those of the file as it is, whose offsets are the same.
    """

    key: Hashable
    path: str
    name: str
    files: Mapping[str, bytes]
    arguments: Sequence[str]
    blanked: Blanked
    directives: Sequence[Directive]
    registers: re.Pattern[bytes]
    macros: Mapping[bytes, Macro]

    @property
    def data(self) -> bytes:
        """The main file's text."""
        return self.files[self.name]


class Span(NamedTuple):
    """Bytes `start` to `end`."""

    start: int
    end: int


class Cut:
    """A source taken apart: its statements and bodies, in order and apart from each other, and the frame."""

    def __init__(self, source: Source) -> None:
        self.data = source.data
        self._code = source.blanked
        self._directives = [directive.start for directive in source.directives]
        self._registers = source.registers
        self._macros = _MacroWords(source.macros)
        self.statements = tuple(self._find_statements())
        self.bodies = tuple(self._find_bodies())

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
        """The statements of blocks that are one call on the block's library, which is named nowhere else in them."""
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
        """The bodies of functions that are not read: plain functions that register nothing and that no block calls."""
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
            if _ENTERED.search(header):
                continue
            position = boundary = _end_of_braces(code, stop.start())
            name = _plain_function(header)
            if name is None or name in called or not self._macros.plain.isdisjoint(_WORD.findall(header)):
                continue
            span = Span(stop.end(), max(stop.end(), position - 1))
            registers = _REGISTERS.search(code, *span) or self._registers.search(code, *span)
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
    """The macros that make more of a text than one sees: of a hole (`odd`), of the head of a function (`plain`)."""

    def __init__(self, macros: Mapping[bytes, Macro]) -> None:
        self.odd = _closure(macros, lambda body: bool(_ODD.search(body) or BLOCK.search(body)) or not _is_nested(body))
        self.plain = self.odd | _closure(macros, lambda body: bool(_NOT_PLAIN_WORD.search(body)))


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
    """The name of the plain function that a header declares; None for any other header."""
    if len(header) > _LONGEST_HEADER or not _HEADER.fullmatch(header):
        return None
    if _NOT_PLAIN.search(header) or BLOCK.search(header):
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


class Change:
    """What became of a text: bytes `start` to `old_end` are now `start` to `new_end`; all else is the same."""

    def __init__(self, old: bytes, new: bytes) -> None:
        self.start = _common_prefix(old, new)
        rest = min(len(old), len(new)) - self.start
        same = _common_suffix(old, new, rest)
        self.old_end, self.new_end = len(old) - same, len(new) - same
        self._shift = len(new) - len(old)
        self._lines = new.count(b"\n", self.start, self.new_end) - old.count(b"\n", self.start, self.old_end)

    def start_of(self, offset: int) -> int:
        """Where what started at `offset` starts now. Raises _MovedError where that is not known."""
        if offset < self.start:
            return offset
        if offset >= self.old_end:
            return offset + self._shift
        raise _MovedError

    def end_of(self, offset: int) -> int:
        """Where what ended at `offset` ends now. Raises _MovedError where that is not known."""
        if offset <= self.start:
            return offset
        if offset >= self.old_end:
            return offset + self._shift
        raise _MovedError

    def place(self, place: Place) -> Place:
        """Where a place of the old text is now. Raises _MovedError where that is not known."""
        if place.end <= self.start and place.start < self.start:
            return place
        if place.start >= self.old_end and place.end >= place.start:  # nearly all the others
            shift = self._shift
            return Place(place.path, place.line + self._lines, place.start + shift, place.end + shift)
        start = self.start_of(place.start)
        end = start if place.end == place.start else self.end_of(place.end)
        line = place.line if place.start < self.start else place.line + self._lines
        return Place(place.path, line, start, end)


class _MovedError(Exception):
    """A place cannot be followed through a change: the source is read afresh. Never leaves this module."""


def _common_prefix(first: bytes, second: bytes) -> int:
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_suffix(first: bytes, second: bytes, most: int) -> int:
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if first[len(first) - middle : len(first) - low] == second[len(second) - middle : len(second) - low]:
            low = middle
        else:
            high = middle - 1
    return low


class _Kept(NamedTuple):
    """A reading of a source, to start the next one from."""

    source: Source
    cut: Cut
    parsed: Parsed


class Ways(NamedTuple):
    """How a source is read.

    `part` parses it with another text for its main file, and with what was declared for it before; None where libclang
    gives up. `whole` reads it afresh, `is_final` says whether that would leave it at what a
    parse has given.
    """

    part: Callable[[bytes, Repaired | None], Parsed | None]
    whole: Callable[[], Parsed]
    is_final: Callable[[Parsed], bool]


class Memory:
    """The last readings of the files that are being edited, and the headers that they include, scanned.

    `afresh` and `again` count what was read in which way.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, dict[Hashable, _Kept]] = OrderedDict()
        self.scanned: dict[str, ScannedFile] = {}
        self.afresh = 0
        self.again = 0

    def read(self, source: Source, under: Hashable, ways: Ways) -> Parsed:
        """The reading of a source under an assignment: what `ways.whole` gives, from less where that is certain."""
        kept = self._kept.get(source.key, {}).get(under)
        cut = Cut(source)
        parsed = _read_again(kept, source, cut, ways) if kept is not None else None
        if parsed is not None:
            self.again += 1
        else:
            self.afresh += 1
            parsed = ways.whole()
        self._kept.setdefault(source.key, {})[under] = _Kept(source, cut, parsed)
        self._kept.move_to_end(source.key)
        while len(self._kept) > _MOST_FILES:
            self._kept.popitem(last=False)
        if len(self.scanned) > _MOST_SCANNED:
            self.scanned.clear()
        return parsed


def _read_again(kept: _Kept, source: Source, cut: Cut, ways: Ways) -> Parsed | None:
    """The reading of `source` from the last one; None where it has to be read afresh."""
    before = kept.source
    if not kept.parsed.is_plain or not _is_same_but_for_main(before, source) or len(source.data) > _LARGEST:
        return None
    if any(word in data for data in (before.data, source.data) for word in _COUNTING):
        return None
    if kept.cut.frame != cut.frame or len(kept.cut.bodies) != len(cut.bodies):
        return None
    change = Change(before.data, source.data)
    try:
        same = _unchanged(kept.cut.statements, cut.statements, change, apart=0)
        if not _need_the_same(kept, cut, same):
            return None
        bodies = _unchanged(kept.cut.bodies, cut.bodies, change, apart=1)
        partial = ways.part(cut.without(span for _, span in (*same, *bodies)), kept.parsed.repaired)
        if partial is None or not _is_same_frame(kept, cut, partial, change, source):
            return None
        found = _joined(kept.parsed.found, partial.found, [old for old, _ in same], source.path, change)
    except _MovedError:
        return None
    parsed = Parsed(found, partial.errors, (), kept.parsed.repaired)
    return parsed if ways.is_final(parsed) else None


def _is_same_but_for_main(before: Source, after: Source) -> bool:
    return (
        before.name == after.name
        and before.arguments == after.arguments
        and before.registers == after.registers
        and before.files.keys() == after.files.keys()
        and all(data == after.files[name] for name, data in before.files.items() if name != before.name)
    )


def _unchanged(old: Sequence[Span], new: Sequence[Span], change: Change, *, apart: int) -> list[tuple[Span, Span]]:
    """The holes that the change did not touch, as they were and as they are. Raises _MovedError.

    `apart` is how many bytes must lie between them and the change: what is written at the end of a body is in it.
    """
    pairs: list[tuple[Span, Span]] = []
    first = change.start - apart
    for is_before in (True, False):
        ours = [span for span in old if _is_apart(span, first, change.old_end + apart, is_before=is_before)]
        theirs = [span for span in new if _is_apart(span, first, change.new_end + apart, is_before=is_before)]
        moved = [Span(change.start_of(span.start), change.end_of(span.end)) for span in ours]
        if moved != theirs:
            raise _MovedError
        pairs += zip(ours, theirs, strict=True)
    return pairs


def _need_the_same(kept: _Kept, cut: Cut, unchanged: Sequence[tuple[Span, Span]]) -> bool:
    """Whether the changed statements name what had to be declared in just the ways in which they did before."""
    repaired = kept.parsed.repaired
    if repaired is None or not repaired.words:
        return True
    names = b"|".join(map(re.escape, sorted(repaired.words)))
    use = re.compile(rb"[\w:.<>&*]*(?<!\w)(?:" + names + rb")(?!\w)[\w:<>&*]*\s*\(?")
    uses = []
    for each, spans in ((kept.cut, {old for old, _ in unchanged}), (cut, {new for _, new in unchanged})):
        changed = (span for span in each.statements if span not in spans)
        uses.append({match.group() for span in changed for match in use.finditer(each.code, *span)})
    return uses[0] == uses[1]


def _is_apart(span: Span, start: int, end: int, *, is_before: bool) -> bool:
    """Whether a hole lies wholly before (or behind) the bytes from `start` to `end`."""
    return span.end <= start if is_before else span.start >= end and span.end > start


def _is_same_frame(kept: _Kept, cut: Cut, partial: Parsed, change: Change, source: Source) -> bool:
    """Whether libclang saw the frame as it did before: the same blocks, and errors in the same places."""
    if _has_broken_hole(kept.parsed, kept.cut, source.name) or _has_broken_hole(partial, cut, source.name):
        return False
    if any(each.expanded.file == source.name and cut.is_in_statement(each.expanded.offset) for each in partial.errors):
        return False  # it may be one that can be repaired
    old = kept.parsed.found.units
    if len(old) != len(partial.found.units):
        return False
    moved = [_moved(unit, source.path, change) for unit in old]
    if moved != partial.found.units:
        return False
    before = {
        tuple(Point(file, change.start_of(offset) if file == source.name else offset) for file, offset in points)
        for points in _errors_in_frame(kept.parsed, kept.cut, source.name)
    }
    return before == set(_errors_in_frame(partial, cut, source.name))


def _has_broken_hole(parsed: Parsed, cut: Cut, name: str) -> bool:
    return any(each.expanded.file == name and cut.is_in_hole(each.expanded.offset) for each in parsed.broken)


def _errors_in_frame(parsed: Parsed, cut: Cut, name: str) -> Iterator[tuple[Point, Point]]:
    """The errors outside of the main file's holes: where each is written, and where the macro around it is used."""
    for _, spelled, expanded in parsed.errors:
        if expanded.file != name or not cut.is_in_hole(expanded.offset):
            yield spelled, expanded


def _joined(
    before: Registrations, partial: Registrations, unchanged: Sequence[Span], path: str, change: Change
) -> Registrations:
    """The rows of the frame and of the changed statements, and those of all other statements where they are now."""
    spans = sorted(unchanged)
    starts = [span.start for span in spans]

    def is_kept(place: Place) -> bool:
        index = bisect_right(starts, place.start) - 1
        return place.path == path and index >= 0 and place.start < spans[index].end

    found = Registrations(units=partial.units)
    for name in ROW_LISTS:
        kept = [_moved(row, path, change) for row in getattr(before, name) if is_kept(row.place)]
        setattr(found, name, sorted([*getattr(partial, name), *kept], key=lambda row: row.place))
    return found


def _moved(value: Any, path: str, change: Change) -> Any:
    """A value with all its places where they are now; the value itself where none has moved. Raises _MovedError."""
    if isinstance(value, Place):
        return change.place(value) if value.path == path else value
    if isinstance(value, tuple):
        parts = [_moved(part, path, change) for part in value]
        return value if all(new is old for new, old in zip(parts, value, strict=True)) else tuple(parts)
    fields = _FIELDS_WITH_PLACES.get(type(value))
    if fields is None:
        return value
    changed: dict[str, Any] = {}
    for name in fields:
        old = getattr(value, name)
        if old is None:
            continue
        # Most are places, of which there are thousands: each call counts.
        new = change.place(old) if old.__class__ is Place and old.path == path else _moved(old, path, change)
        if new is not old:
            changed[name] = new
    return msgspec.structs.replace(value, **changed) if changed else value


_WITH_PLACES = (
    ClassDefinition, Definition, Delegation, Fallback, Implementation, Kernel, Parameter, Piece, Signature, Text, Unit,
    Unresolved,
)  # fmt: skip


def _fields_with_places(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    """The fields of a fact that are places, or values with places in them."""
    hints = get_type_hints(kind)
    return tuple(name for name in kind.__struct_fields__ if _may_hold_places(hints[name]))


def _may_hold_places(hint: Any) -> bool:
    return hint is Place or hint in _WITH_PLACES or any(_may_hold_places(part) for part in get_args(hint))


_FIELDS_WITH_PLACES = {kind: _fields_with_places(kind) for kind in _WITH_PLACES}
