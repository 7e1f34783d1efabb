"""Reading a source again after an edit, without what the edit cannot have changed.

What the statements of a registration file and the bodies of its kernels say follows from themselves and from the rest,
the frame (`op_lint.cpp.cut`). Where an edit leaves the frame as it is, libclang is given the frame with nothing but the
changed statements in it, and the rows of all other statements are those of the last reading, moved to where they stand
now.

What comes out is what reading afresh gives. Where that is not certain the source is read afresh: where the frame has
changed, where something had to be repaired, where a statement does more than one call, and where libclang sees other
errors or other blocks in the frame than it did before.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, get_args, get_type_hints

import msgspec

from op_lint.cpp.blanked import Blanked
from op_lint.cpp.clang import Diagnostic, Point
from op_lint.cpp.cut import Cut, Span
from op_lint.cpp.expansion import Macro
from op_lint.cpp.registrations import ROW_LISTS, Registrations
from op_lint.cpp.scan import Directive
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

_COUNTING = (
    b"__LINE__", b"__COUNTER__", b"__FILE__", b"__TIME__", b"__DATE__", b"__INCLUDE_LEVEL__", b"source_location",
)  # fmt: skip
"""What makes the meaning of a text depend on where it stands."""


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

    def cut(self) -> Cut:
        """The main file taken apart."""
        return Cut(self.data, self.blanked, self.directives, self.registers, self.macros)


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
        cut = source.cut()
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
