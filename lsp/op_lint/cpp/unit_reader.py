"""One parsed translation unit -> the registrations in it.

Registration is recognised by what the code *is*: a variable of type `torch::detail::TorchLibraryInit` or its stable
twin, a `torch::Library` object, a chain on `RegisterOperators`, and calls of `def`, `impl` and `fallback` on such an
object, wherever macros, helper functions and lambdas put them. A macro's name decides nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from functools import cached_property

from op_lint.cpp.bodies import INIT_TYPES, LIBRARY_TYPES, BodyReader, Library, Scope, Value
from op_lint.cpp.calls import LEGACY_TYPE
from op_lint.cpp.clang import FUNCTIONS, TranslationUnit, qualified_name
from op_lint.cpp.cursors import body_of, parameters_of, type_name
from op_lint.cpp.kernels import KernelReader, split_name
from op_lint.cpp.libclang import Cursor, CursorKind, Type
from op_lint.cpp.overlay_header import OVERLAY
from op_lint.cpp.recorder import Recorder
from op_lint.cpp.registrations import Registrations
from op_lint.cpp.sources import SourceMap

_CLASSES = (CursorKind.CLASS_DECL, CursorKind.STRUCT_DECL, CursorKind.CLASS_TEMPLATE)
_CALLED = (CursorKind.CALL_EXPR, CursorKind.UNEXPOSED_EXPR)
_REGISTERS = re.compile(rb"Library\b|RegisterOperators|TorchLibraryInit|(?:\.|->)\s*(?:def|impl|fallback)\s*\(")


def read_unit(tu: TranslationUnit, sources: SourceMap) -> Registrations:
    """All registrations of the source, and of what its blocks include or call."""
    return _UnitReader(tu, sources).run()


class _UnitReader:
    def __init__(self, tu: TranslationUnit, sources: SourceMap) -> None:
        self.tu = tu
        self.sources = sources
        self.recorder = Recorder(sources)
        self.declarations = tu.declarations(self._is_class_with_library, OVERLAY)
        self.bodies = BodyReader(tu, sources, self.recorder, KernelReader(sources, self.find_function))
        self.objects: dict[int, Value] = {}
        self._are_libraries: dict[int | None, bool] = {}

    def run(self) -> Registrations:
        variables = [cursor for cursor in self.declarations if cursor.kind == CursorKind.VAR_DECL]
        for cursor in variables:
            library = self.bodies.variable(cursor, Scope({}))
            if library is not None:
                self.objects[cursor.identity] = library
        for cursor in variables:
            self.called_initialiser(cursor)
        main = self.sources.main.alias
        for cursor in self.declarations:
            is_function = cursor.kind in FUNCTIONS
            is_field = cursor.kind == CursorKind.FIELD_DECL
            if not (is_function or is_field) or self.tu.expansion(cursor.location).file != main:
                continue
            if is_function:
                self.function(cursor)
            elif type_name(cursor.type) == LEGACY_TYPE:
                self.bodies.expressions(cursor, Scope({}))
        return self.recorder.found

    def _is_class_with_library(self, cursor: Cursor) -> bool:
        return cursor.kind in _CLASSES and self._registers(cursor)

    def _registers(self, cursor: Cursor) -> bool:
        """Whether the text of a cursor in the main file may register something, so that it is worth a look inside."""
        start, end = self.tu.extent(cursor)
        view = self.sources.view(start)
        if view is None or view.path != self.sources.main.path:
            return False
        after = bisect_left(self._registering, start.offset)
        return after < len(self._registering) and end.file == start.file and self._registering[after] < end.offset

    @cached_property
    def _registering(self) -> list[int]:
        """Where something in the text of the main file registers, in order."""
        return [match.start() for match in _REGISTERS.finditer(self.sources.main.data)]

    def _is_library(self, type_: Type) -> bool:
        """Whether a type is that of a library. Asked for each parameter of each function, which are of few types."""
        identity = type_.data[0]
        known = self._are_libraries.get(identity)
        if known is None:
            known = self._are_libraries[identity] = type_name(type_) in LIBRARY_TYPES
        return known

    def find_function(self, name: str) -> Cursor | None:
        """A function of this source by the name that a registration calls it; None where several could be meant."""
        written = "::".join(part.partition("<")[0] for part in split_name(name))
        found = {
            qualified: cursor
            for cursor in self._functions.get(written.rpartition("::")[2], ())
            if f"::{(qualified := qualified_name(cursor))}".endswith(f"::{written}")
        }
        return next(iter(found.values())) if len(found) == 1 else None

    @cached_property
    def _functions(self) -> dict[str, list[Cursor]]:
        found: dict[str, list[Cursor]] = defaultdict(list)
        for cursor in self.declarations:
            if cursor.kind in FUNCTIONS:
                found[cursor.spelling].append(cursor)
        return found

    def called_initialiser(self, cursor: Cursor) -> None:
        """`static auto done = [] { library.def(...); return 0; }()`: a variable made by code that registers."""
        if not self._registers(cursor):
            return
        if type_name(cursor.type) in (*INIT_TYPES, *LIBRARY_TYPES, LEGACY_TYPE):
            return
        for child in cursor.children():
            if child.kind in _CALLED:
                self.bodies.expression(child, Scope(dict(self.objects)))

    def function(self, cursor: Cursor) -> None:
        """A function of the source: one that makes registering objects, or a helper that no block here has called."""
        block = body_of(cursor)
        if block is None:
            return
        libraries = [parameter for parameter in parameters_of(cursor) if self._is_library(parameter.type)]
        if cursor.kind == CursorKind.CONSTRUCTOR:
            self.bodies.expressions(cursor, Scope({}))
        if not libraries and self._registers(block):
            self.bodies.statements(block.children(), Scope(dict(self.objects)))
        if libraries and cursor.identity not in self.bodies.read:
            self.helper(cursor, libraries, block)

    def helper(self, cursor: Cursor, libraries: list[Cursor], block: Cursor) -> None:
        """A helper whose callers are in other files."""
        place = self.sources.place(cursor)
        if place is None:
            return
        is_stable = any("stable::" in type_name(parameter.type) for parameter in libraries)
        unit = self.recorder.helper(cursor, place, block, is_stable)
        self.bodies.run(cursor, (), Scope({parameter.identity: Library(unit) for parameter in libraries}))
        self.recorder.drop_if_empty(unit)
