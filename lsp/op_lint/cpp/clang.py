"""The one door to libclang: parsing from memory, and the few questions that clang.cindex asks too slowly or not at all.

libclang 18 through the bindings of the `libclang` wheel. All sources are handed over as bytes; it opens no file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from ctypes import POINTER, byref, c_char_p, c_int, c_uint, c_void_p
from functools import cache
from typing import Any, NamedTuple

from clang import cindex

Cursor = cindex.Cursor
CursorKind = cindex.CursorKind
Type = cindex.Type
TypeKind = cindex.TypeKind

_KEEP_GOING = 0x200
"""CXTranslationUnit_KeepGoing: after a fatal error, report the following ones too (Index.h, libclang 18)."""

_CONTINUE, _RECURSE = 1, 2


class Point(NamedTuple):
    """A place as libclang knows it: the file's name (None inside the compiler) and the byte offset."""

    file: str | None
    offset: int
    line: int


class Diagnostic(NamedTuple):
    """An error of libclang: its text, where the token is written, and where the macro around that is used."""

    message: str
    spelled: Point
    expanded: Point


class ParseError(Exception):
    """libclang gave no translation unit at all."""


@cache
def _library() -> Any:
    library = cindex.conf.lib
    for name in ("clang_getSpellingLocation", "clang_getFileLocation", "clang_getExpansionLocation"):
        function = getattr(library, name)
        function.argtypes = [
            cindex.SourceLocation, POINTER(c_void_p), POINTER(c_uint), POINTER(c_uint), POINTER(c_uint),
        ]  # fmt: skip
        function.restype = None
    library.clang_getFileName.argtypes = [c_void_p]
    library.clang_getFileName.restype = cindex._CXString
    library.clang_getExceptionSpecificationType.argtypes = [Type]
    library.clang_getExceptionSpecificationType.restype = c_int
    library.clang_isInvalidDeclaration.argtypes = [Cursor]
    library.clang_isInvalidDeclaration.restype = c_uint
    library.clang_Cursor_isInlineNamespace.argtypes = [Cursor]
    library.clang_Cursor_isInlineNamespace.restype = c_uint
    library.clang_Cursor_isAnonymous.argtypes = [Cursor]
    library.clang_Cursor_isAnonymous.restype = c_uint
    return library


@cache
def _index() -> Any:
    return cindex.Index.create()


class TranslationUnit:
    """A parsed source. Cursors keep it alive."""

    def __init__(self, handle: Any) -> None:
        self.unit = handle
        self.library = _library()
        self._names: dict[int, str] = {}

    @property
    def cursor(self) -> Any:
        """The cursor of the whole."""
        return self.unit.cursor

    def errors(self) -> list[Diagnostic]:
        """All errors, in order of report."""
        found: list[Diagnostic] = []
        for diagnostic in self.unit.diagnostics:
            if diagnostic.severity >= cindex.Diagnostic.Error:
                location = diagnostic.location
                found.append(Diagnostic(diagnostic.spelling, self.spelling(location), self.expansion(location)))
        return found

    def _point(self, function: Any, location: Any) -> Point:
        file, line, offset = c_void_p(), c_uint(), c_uint()
        function(location, byref(file), byref(line), None, byref(offset))
        if not file.value:
            return Point(None, 0, 0)
        name = self._names.get(file.value)
        if name is None:
            name = self._names[file.value] = str(self.library.clang_getFileName(file))
        return Point(name, offset.value, line.value)

    def expansion(self, location: Any) -> Point:
        """Where the outermost macro that `location` comes from is used."""
        return self._point(self.library.clang_getExpansionLocation, location)

    def spelling(self, location: Any) -> Point:
        """Where the token at `location` was written (in a macro's body, possibly)."""
        return self._point(self.library.clang_getSpellingLocation, location)

    def file_point(self, location: Any) -> Point:
        """As `expansion`, but for a macro's argument the place of the argument."""
        return self._point(self.library.clang_getFileLocation, location)

    def declarations(self, enter: Callable[[Any], bool], skipped_file: str) -> list[Any]:
        """The declarations of the translation unit in order, without those of `skipped_file`.

        Namespaces, linkage specifications and the cursors for which `enter` answers yes are entered; the others
        are listed and not looked into.
        """
        found: list[Any] = []
        unit = self.unit
        transparent = (CursorKind.NAMESPACE.value, CursorKind.LINKAGE_SPEC.value, CursorKind.UNEXPOSED_DECL.value)

        def visit(cursor: Any, _parent: Any, _data: Any) -> int:
            if self.expansion(cursor.location).file == skipped_file:
                return _CONTINUE
            cursor._tu = unit
            if cursor._kind_id in transparent:
                return _RECURSE
            found.append(cursor)
            return _RECURSE if enter(cursor) else _CONTINUE

        self.library.clang_visitChildren(unit.cursor, cindex.callbacks["cursor_visit"](visit), None)
        return found


def parse(path: str, files: Mapping[str, bytes], arguments: Sequence[str]) -> TranslationUnit:
    """Parse `path`; every file that it includes must be in `files`. Raises ParseError where libclang gives up."""
    library = _library()
    unsaved = (cindex._CXUnsavedFile * len(files))()
    for index, (name, data) in enumerate(files.items()):
        unsaved[index].name = name.encode("utf-8", "surrogateescape")
        unsaved[index].contents = data
        unsaved[index].length = len(data)
    encoded = [argument.encode("utf-8", "surrogateescape") for argument in arguments]
    array = (c_char_p * len(encoded))(*encoded)
    handle = library.clang_parseTranslationUnit(
        _index(), path.encode("utf-8", "surrogateescape"), array, len(encoded), unsaved, len(files), _KEEP_GOING
    )
    if not handle:
        raise ParseError(path)
    return TranslationUnit(cindex.TranslationUnit(handle, _index()))


def is_invalid(cursor: Any) -> bool:
    """Whether libclang found errors in this declaration itself (so that its types may be made up)."""
    return bool(_library().clang_isInvalidDeclaration(cursor))


_NOEXCEPT = (1, 4)
"""CXCursor_ExceptionSpecificationKind_DynamicNone and _BasicNoexcept (Index.h, libclang 18)."""


def is_noexcept(type_: Any) -> bool:
    """Whether a function type is `noexcept` (or `throw()`)."""
    return _library().clang_getExceptionSpecificationType(type_) in _NOEXCEPT


def qualified_name(cursor: Any) -> str:
    """`ns::Class::name`, without anonymous and inline namespaces."""
    library = _library()
    parts: list[str] = []
    current = cursor
    while current is not None and current.kind != CursorKind.TRANSLATION_UNIT and not current.kind.is_invalid():
        named = not (current.kind == CursorKind.NAMESPACE and library.clang_Cursor_isInlineNamespace(current))
        if named and current.kind != CursorKind.LINKAGE_SPEC and not library.clang_Cursor_isAnonymous(current):
            spelling = current.spelling
            if spelling:
                parts.append(spelling)
        current = current.semantic_parent
    return "::".join(reversed(parts))


def template_of(cursor: Any) -> Any:
    """The template that a function is a specialization of, or None."""
    return _library().clang_getSpecializedCursorTemplate(cursor)


def only_overload(reference: Any) -> Any:
    """The function that a name stands for, if it stands for one only."""
    library = _library()
    if library.clang_getNumOverloadedDecls(reference) != 1:
        return None
    return library.clang_getOverloadedDecl(reference, 0)
