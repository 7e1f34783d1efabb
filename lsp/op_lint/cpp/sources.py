"""From libclang's points to places in the files as they are."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from op_lint.condition import Condition, disjunction
from op_lint.cpp.clang import Diagnostic, Point, TranslationUnit
from op_lint.cpp.libclang import Cursor, CursorKind, Location
from op_lint.cpp.macro_bodies import MacroBodies, Written
from op_lint.cpp.overlay_header import OVERLAY
from op_lint.cpp.preprocess import Preprocessed
from op_lint.cpp.views import View
from op_lint.facts import Place
from op_lint.text import SourceText

_WORD = re.compile(rb"[A-Za-z_]\w*")


class _Extents(NamedTuple):
    """The declarations of a file by their starts; `furthest` is how far any up to each of them reaches."""

    starts: Sequence[int]
    ends: Sequence[int]
    furthest: Sequence[int]
    declarations: Sequence[Cursor]


_NO_EXTENTS = _Extents((), (), (), ())


def _extents_of(rows: Sequence[tuple[int, int, Cursor]]) -> _Extents:
    ends = [end for _, end, _ in rows]
    return _Extents([start for start, _, _ in rows], ends, list(accumulate(ends, max)), [each for *_, each in rows])


class SourceMap:
    """The files of one parse, and where things are in them."""

    def __init__(
        self, tu: TranslationUnit, preprocessed: Preprocessed, errors: list[Diagnostic], bodies: MacroBodies
    ) -> None:
        self.tu = tu
        self.preprocessed = preprocessed
        self._bodies = bodies
        self._counted: dict[tuple[Point, frozenset[bytes]], list[int]] = {}
        self._members: dict[bytes, Mapping[tuple[Point, Point, str], Sequence[Location]]] = {}
        self._views = {view.alias: view for view in preprocessed.views}
        self._by_path: dict[str, list[View]] = defaultdict(list)
        for view in preprocessed.views:
            self._by_path[view.path].append(view)
        self._texts: dict[str, SourceText] = {}
        self._places: dict[bytes, Place | None] = {}
        self._error_offsets: dict[str | None, list[int]] = defaultdict(list)
        self._has_errors = bool(errors)
        for error in errors:
            self._error_offsets[error.spelled.file].append(error.spelled.offset)
        for offsets in self._error_offsets.values():
            offsets.sort()

    @property
    def main(self) -> View:
        """The file that is being read."""
        return self.preprocessed.main

    def view(self, point: Point) -> View | None:
        """The file that holds `point`; None for the overlay and the compiler itself."""
        return self._views.get(point.file) if point.file else None

    def view_of(self, place: Place) -> View:
        """The file that `place` is in."""
        return self._by_path[place.path][0]

    def at(self, view: View, start: int, end: int) -> Place:
        """Bytes `start` to `end` of a file."""
        text = self._texts.get(view.alias)
        if text is None:
            text = self._texts[view.alias] = SourceText(view.data)
        return Place(view.path, text.line_of(start), start, max(start, end))

    def place(self, cursor: Cursor) -> Place | None:
        """Where `cursor` is; for what a macro makes, the whole use of the outermost macro."""
        node = bytes(cursor)
        if node not in self._places:
            self._places[node] = self._place(cursor)
        return self._places[node]

    def _place(self, cursor: Cursor) -> Place | None:
        start, end = self.tu.extent(cursor)
        view = self.view(start)
        if view is None:
            return None
        stop = end.offset if end.file == start.file else start.offset
        return self.at(view, start.offset, stop)

    def in_macro(self, cursor: Cursor) -> bool:
        """Whether a macro put `cursor` where it is."""
        location = cursor.location
        return self.tu.spelling(location) != self.tu.expansion(location)

    def block_in_macro(self, cursor: Cursor, names: frozenset[bytes]) -> Place | None:
        """Where the block or object whose variable is `cursor` was written, if a macro of the project made it.

        It is written as a use of one of `names`. None where no macro is at work, or the place cannot be told.
        """
        location = cursor.location
        calls = self._calls_of_macro(location, names)
        if not isinstance(calls, tuple):
            return calls
        point = self.tu.file_point(location)
        counted = self._counted.setdefault((point, names), [])
        if cursor.identity not in counted:
            counted.append(cursor.identity)
        index = counted.index(cursor.identity)
        return self._at_written(calls[index]) if index < len(calls) else None

    def call_in_macro(self, name: Location, method: str) -> Place | None:
        """Where a call was written, if a macro put it where it is: in the macro's body, or in an argument of its use.

        `name` is the location of the called method's name. None where no macro is at work, or the place cannot be told.
        """
        calls = self._calls_of_macro(name, frozenset({method.encode()}))
        if not isinstance(calls, tuple):
            return calls
        if len(set(calls)) > 1:
            # libclang shows the calls that it understood: only if these are all of them, it is known which is which.
            use, point = self.tu.expansion(name), self.tu.file_point(name)
            shown = [
                member.int_data
                for declaration in self._around(use)
                for member in self._members_of(declaration).get((use, point, method), ())
            ]
            if len(shown) != len(calls) or name.int_data not in shown:
                return None
            return self._at_written(calls[shown.index(name.int_data)])
        return self._at_written(calls[0]) if calls else None

    def _calls_of_macro(self, name: Location, names: frozenset[bytes]) -> tuple[Written, ...] | Place | None:
        """The calls of `names` that the macro makes which put a name where it is.

        Where no macro of the project did, the call itself: its place if an argument of a use has it, else None.
        """
        point = self.tu.file_point(name)
        view = self.view(point)
        if view is None:
            return None
        use = self.tu.expansion(name)
        calls = self._bodies.calls(view, point.offset, use.offset, names)
        if calls is not None:
            return calls
        return self._at_written(self._bodies.call_at(view, point.offset)) if point != use else None

    def _at_written(self, written: Written) -> Place:
        return self.at(written.view, written.start, written.end)

    def _around(self, use: Point) -> list[Cursor]:
        """The declarations that reach over a place, in source order."""
        starts, ends, furthest, declarations = self._extents.get(use.file, _NO_EXTENTS)
        found: list[Cursor] = []
        index = bisect_right(starts, use.offset) - 1
        while index >= 0 and furthest[index] >= use.offset:
            if ends[index] >= use.offset:
                found.append(declarations[index])
            index -= 1
        return found[::-1]

    @cached_property
    def _extents(self) -> Mapping[str | None, _Extents]:
        found: dict[str | None, list[tuple[int, int, Cursor]]] = defaultdict(list)
        for declaration in self.tu.declarations(lambda _: False, OVERLAY):
            first, last = self.tu.extent(declaration)
            found[first.file].append((first.offset, last.offset, declaration))
        return {file: _extents_of(sorted(rows, key=lambda row: row[0])) for file, rows in found.items()}

    def _members_of(self, declaration: Cursor) -> Mapping[tuple[Point, Point, str], Sequence[Location]]:
        """The names of the methods called in a declaration, as written: by where they are, and name."""
        node = bytes(declaration)
        if node not in self._members:
            found: dict[tuple[Point, Point, str], list[Location]] = defaultdict(list)
            for cursor in declaration.walk_up():
                if cursor.kind == CursorKind.MEMBER_REF_EXPR:
                    name = cursor.location
                    found[self.tu.expansion(name), self.tu.file_point(name), cursor.spelling].append(name)
            self._members[node] = found
        return self._members[node]

    def condition(self, place: Place) -> Condition:
        """The condition under which what is at `place` is compiled.

        What a macro makes is compiled where the macro is used; which of several definitions it uses is told by the
        passes (`op_lint.cpp.passes`), not here.
        """
        return disjunction(view.condition_at(place.start) for view in self._by_path[place.path])

    def text(self, place: Place) -> str:
        """The source text at `place`, blanks folded."""
        return " ".join(self.view_of(place).data[place.start : place.end].decode("utf-8", "replace").split())

    def word_at(self, view: View, offset: int) -> str:
        """The identifier that starts at `offset`, or an empty string."""
        match = _WORD.match(view.data, offset)
        return match.group().decode() if match else ""

    def find_word(self, place: Place, word: str) -> Place | None:
        """Where `word` stands, as a whole identifier, inside `place`."""
        view = self.view_of(place)
        pattern = re.compile(rb"(?<!\w)" + re.escape(word.encode()) + rb"(?!\w)")
        match = pattern.search(view.data, place.start, place.end)
        return self.at(view, match.start(), match.end()) if match else None

    @property
    def has_errors(self) -> bool:
        """Whether libclang reported an error anywhere."""
        return self._has_errors

    def has_error(self, place: Place) -> bool:
        """Whether libclang reported an error inside `place`."""
        if not self._has_errors:
            return False
        for view in self._by_path[place.path]:
            offsets = self._error_offsets.get(view.alias, [])
            index = bisect_left(offsets, place.start)
            if index < len(offsets) and offsets[index] < place.end:
                return True
        return False
