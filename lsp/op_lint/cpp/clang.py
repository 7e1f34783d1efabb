"""The one door to libclang: parsing from memory, and where things are in what was parsed.

All sources are handed over as bytes; libclang opens no file but a precompiled header of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from ctypes import POINTER, byref, c_char_p, c_int, c_uint, c_void_p
from functools import cache
from typing import NamedTuple

from op_lint.cpp.libclang import Cursor, CursorKind, Location, String, UnsavedFile, Visitor, function, text, visit

_KEEP_GOING = 0x200
"""CXTranslationUnit_KeepGoing: after a fatal error, report the following ones too (Index.h, libclang 18)."""

_ERROR = 3
"""CXDiagnostic_Error; above it is only CXDiagnostic_Fatal."""

_CONTINUE, _RECURSE = 1, 2
"""CXChildVisitResult."""

_ENTERED = (CursorKind.NAMESPACE, CursorKind.LINKAGE_SPEC, CursorKind.UNEXPOSED_DECL)
FUNCTIONS = frozenset({
    CursorKind.FUNCTION_DECL, CursorKind.FUNCTION_TEMPLATE, CursorKind.CXX_METHOD, CursorKind.CONSTRUCTOR,
})  # fmt: skip
_INSTANTIATED = (CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD)


class Point(NamedTuple):
    """A place as libclang knows it: the file's name (None inside the compiler) and the byte offset."""

    file: str | None
    offset: int


class Diagnostic(NamedTuple):
    """An error of libclang: its number, where the token is written, and where the macro around that is used."""

    number: int
    spelled: Point
    expanded: Point


class ParseError(Exception):
    """libclang gave no translation unit at all."""


class TranslationUnit:
    """A parsed source: `size` bytes, with the name `path`. Its cursors must not outlive it."""

    def __init__(self, handle: int, path: str, size: int) -> None:
        self._handle = handle
        self._path = path
        self._first, self._last = _numbers(handle, size)
        self._names: dict[int, str] = {}
        self._file, self._offset = c_void_p(), c_uint()
        self._to_file, self._to_offset = byref(self._file), byref(self._offset)

    def __del__(self) -> None:
        _dispose_unit(self._handle)
        _qualified.pop(self._handle, None)

    def save(self, file: str) -> bool:
        """Write the unit to `file`, for `-include-pch`; whether that was possible."""
        return _save(self._handle, _encoded(file), 0) == 0

    def errors(self) -> list[Diagnostic]:
        """All errors, in order of report."""
        found: list[Diagnostic] = []
        for index in range(_count_diagnostics(self._handle)):
            diagnostic = _get_diagnostic(self._handle, index)
            if _get_severity(diagnostic) >= _ERROR:
                location = _get_diagnostic_location(diagnostic)
                found.append(Diagnostic(index, self.spelling(location), self.expansion(location)))
            _dispose_diagnostic(diagnostic)
        return found

    def message(self, error: Diagnostic) -> str:
        """The text of an error."""
        diagnostic = _get_diagnostic(self._handle, error.number)
        found = text(_get_diagnostic_spelling(diagnostic))
        _dispose_diagnostic(diagnostic)
        return found

    def is_semantic(self, error: Diagnostic) -> bool:
        """Whether an error is about what names mean: then it does not decide where libclang goes on reading."""
        diagnostic = _get_diagnostic(self._handle, error.number)
        found = text(_get_diagnostic_category(diagnostic))
        _dispose_diagnostic(diagnostic)
        return found == "Semantic Issue"

    def expansion(self, location: Location) -> Point:
        """Where the outermost macro that `location` comes from is used."""
        return self._point(_expansion, location)

    def spelling(self, location: Location) -> Point:
        """Where the token at `location` was written (in a macro's body, possibly)."""
        return self._point(_spelling, location)

    def file_point(self, location: Location) -> Point:
        """As `expansion`, but for a macro's argument the place of the argument."""
        return self._point(_file_location, location)

    def extent(self, cursor: Cursor) -> tuple[Point, Point]:
        """Where the whole of `cursor` begins and its last token ends; for what a macro made, where that is used."""
        whole = cursor.extent
        first, last = whole.begin_int_data, whole.end_int_data
        if self._first <= first <= self._last and self._first <= last <= self._last:
            return Point(self._path, first - self._first), Point(self._path, last - self._first)
        return self.expansion(whole.start), self.expansion(whole.end)

    def _point(self, ask: Callable[..., None], location: Location) -> Point:
        number = location.int_data
        if self._first <= number <= self._last:
            return Point(self._path, number - self._first)
        ask(location, self._to_file, None, None, self._to_offset)
        handle = self._file.value
        if not handle:
            return Point(None, 0)
        name = self._names.get(handle)
        if name is None:
            name = self._names[handle] = text(_get_file_name(handle))
        return Point(name, self._offset.value)

    def declarations(self, enter: Callable[[Cursor], bool], skipped_file: str | None) -> list[Cursor]:
        """The declarations of the translation unit in order, without those of `skipped_file` and precompiled ones.

        Namespaces, linkage specifications and the cursors for which `enter` answers yes are entered; the others
        are listed and not looked into.
        """
        found: list[Cursor] = []

        def look(cursor: Cursor, _parent: Cursor, _data: object) -> int:
            if skipped_file is not None and self.expansion(cursor.location).file == skipped_file:
                return _CONTINUE
            if cursor.kind in _ENTERED:
                return _RECURSE
            if cursor.kind in _INSTANTIATED and self._is_instantiated(cursor):
                return _CONTINUE
            found.append(cursor)
            return _RECURSE if enter(cursor) else _CONTINUE

        visit(_get_unit_cursor(self._handle), Visitor(look), None)
        return found

    def _is_instantiated(self, cursor: Cursor) -> bool:
        """Whether libclang made this function of a template by itself: it then stands where the template does."""
        template = cursor.template
        return template is not None and self.spelling(template.location) == self.spelling(cursor.location)


def parse(path: str, files: Mapping[str, bytes], arguments: Sequence[str]) -> TranslationUnit:
    """Parse `path`; every file that it includes must be in `files`. Raises ParseError where libclang gives up."""
    unsaved = (UnsavedFile * len(files))()
    for entry, (name, data) in zip(unsaved, files.items(), strict=True):
        entry.name, entry.contents, entry.length = _encoded(name), data, len(data)
    encoded = [_encoded(argument) for argument in arguments]
    handle = _parse(
        _index(), _encoded(path), (c_char_p * len(encoded))(*encoded), len(encoded), unsaved, len(files), _KEEP_GOING
    )
    if not handle:
        raise ParseError(path)
    return TranslationUnit(handle, path, len(files.get(path, b"")))


def _numbers(unit: int, size: int) -> tuple[int, int]:
    """The numbers by which libclang knows the first place of the source and the one behind its last.

    What no macro made is numbered as the bytes are, so that libclang need not be asked where it is: a quarter of a
    reading's questions. That is not promised, so both ends are asked; where they do not fit, nothing has these numbers.
    """
    whole = _get_unit_cursor(unit).extent
    first, last = whole.begin_int_data, whole.end_int_data
    return (first, last) if last - first == size else (0, -1)


def _encoded(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


@cache
def _index() -> int:
    exclude_precompiled_declarations, display_diagnostics = 1, 0
    return _create_index(exclude_precompiled_declarations, display_diagnostics)


def qualified_name(cursor: Cursor) -> str:
    """`ns::Class::name` of a declaration.

    Without anonymous and inline namespaces, and without the function that it is local to.
    """
    unit, declaration = cursor.data[2], cursor.data[0]
    known = _qualified.setdefault(unit, {})
    if declaration not in known:
        known[declaration] = _qualified_name(cursor)
    return known[declaration]


_qualified: dict[int | None, dict[int | None, str]] = {}
"""The qualified names that were asked for, by unit and declaration: those of a file are in few namespaces."""


def _qualified_name(cursor: Cursor) -> str:
    parts: list[str] = []
    current: Cursor | None = cursor
    while current is not None and current.kind != CursorKind.TRANSLATION_UNIT:
        if current.kind == CursorKind.NAMESPACE and current is not cursor:
            parts += filter(None, (qualified_name(current),))
            break
        if parts and current.kind in FUNCTIONS:
            break
        named = current.kind != CursorKind.LINKAGE_SPEC and not current.is_anonymous
        if named and not (current.kind == CursorKind.NAMESPACE and current.is_inline_namespace):
            parts += filter(None, (current.spelling,))
        current = current.semantic_parent
    return "::".join(reversed(parts))


def _location_function(name: str) -> Callable[..., None]:
    found: Callable[..., None] = function(name, None, Location, POINTER(c_void_p), c_void_p, c_void_p, POINTER(c_uint))
    return found


_expansion = _location_function("clang_getExpansionLocation")
_spelling = _location_function("clang_getSpellingLocation")
_file_location = _location_function("clang_getFileLocation")
_get_file_name: Callable[[int], String] = function("clang_getFileName", String, c_void_p)

_create_index: Callable[[int, int], int] = function("clang_createIndex", c_void_p, c_int, c_int)
_parse: Callable[..., int | None] = function(
    "clang_parseTranslationUnit",
    c_void_p, c_void_p, c_char_p, POINTER(c_char_p), c_int, POINTER(UnsavedFile), c_uint, c_uint,
)  # fmt: skip
_save: Callable[[int, bytes, int], int] = function("clang_saveTranslationUnit", c_int, c_void_p, c_char_p, c_uint)
_dispose_unit: Callable[[int], None] = function("clang_disposeTranslationUnit", None, c_void_p)
_get_unit_cursor: Callable[[int], Cursor] = function("clang_getTranslationUnitCursor", Cursor, c_void_p)

_count_diagnostics: Callable[[int], int] = function("clang_getNumDiagnostics", c_uint, c_void_p)
_get_diagnostic: Callable[[int, int], int] = function("clang_getDiagnostic", c_void_p, c_void_p, c_uint)
_get_severity: Callable[[int], int] = function("clang_getDiagnosticSeverity", c_int, c_void_p)
_get_diagnostic_location: Callable[[int], Location] = function("clang_getDiagnosticLocation", Location, c_void_p)
_get_diagnostic_spelling: Callable[[int], String] = function("clang_getDiagnosticSpelling", String, c_void_p)
_get_diagnostic_category: Callable[[int], String] = function("clang_getDiagnosticCategoryText", String, c_void_p)
_dispose_diagnostic: Callable[[int], None] = function("clang_disposeDiagnostic", None, c_void_p)
