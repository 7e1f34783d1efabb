"""One parsed translation unit -> the registrations in it.

Registration is recognised by what the code *is*: a variable of type `torch::detail::TorchLibraryInit` or its stable
twin, a `torch::Library` object, a chain on `RegisterOperators`, and calls of `def`, `impl` and `fallback` on such an object,
wherever macros, helper functions and lambdas put them. A macro's name decides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from op_lint.condition import ALWAYS, Condition, conjunction
from op_lint.cpp.clang import CursorKind, TranslationUnit, TypeKind, is_invalid, qualified_name
from op_lint.cpp.kernels import KernelReader
from op_lint.cpp.literals import LiteralReader
from op_lint.cpp.preprocess import Preprocessed, View
from op_lint.cpp.sources import SourceMap
from op_lint.facts import (
    Definition,
    Delegation,
    Fallback,
    Implementation,
    Kernel,
    OperatorName,
    Place,
    Text,
    Unit,
    UnitKind,
    Unresolved,
)

_INIT_TYPES = {"torch::detail::TorchLibraryInit": False, "torch::stable::detail::StableTorchLibraryInit": True}
_LIBRARY_TYPES = {"torch::Library": False, "torch::stable::detail::StableLibrary": True}
_LEGACY_TYPE = "c10::RegisterOperators"
_KINDS = {"DEF": UnitKind.LIBRARY, "FRAGMENT": UnitKind.FRAGMENT, "IMPL": UnitKind.IMPL}
_CALLS = ("def", "impl", "fallback", "op", "impl_UNBOXED", "set_python_module", "impl_abstract_pystub")
_TRANSPARENT = {
    CursorKind.UNEXPOSED_EXPR,
    CursorKind.PAREN_EXPR,
    CursorKind.CXX_FUNCTIONAL_CAST_EXPR,
    CursorKind.CSTYLE_CAST_EXPR,
}
_FUNCTIONS = {
    CursorKind.FUNCTION_DECL,
    CursorKind.FUNCTION_TEMPLATE,
    CursorKind.CXX_METHOD,
    CursorKind.CONVERSION_FUNCTION,
    CursorKind.CONSTRUCTOR,
}
_CLASSES = {CursorKind.CLASS_DECL, CursorKind.STRUCT_DECL, CursorKind.CLASS_TEMPLATE}
_MACRO_NAME = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_SCHEMA_NAME = re.compile(r"\s*(?:([A-Za-z_][\w.]*)::)?([A-Za-z_]\w*)(?:\.([A-Za-z_]\w*))?")
_DEEPEST_CALL = 8

DEFAULT_KEY = "CompositeImplicitAutograd"
"""The key of a kernel that is registered without one (library.cpp, torch 2.13)."""


@dataclass
class Registrations:
    """What one parse found. Unit ids count from 0 in this parse."""

    units: list[Unit] = field(default_factory=list)
    definitions: list[Definition] = field(default_factory=list)
    implementations: list[Implementation] = field(default_factory=list)
    fallbacks: list[Fallback] = field(default_factory=list)
    unresolved: list[Unresolved] = field(default_factory=list)
    delegations: list[Delegation] = field(default_factory=list)


@dataclass(frozen=True)
class _Library:
    """A `torch::Library` (or `StableLibrary`, or `RegisterOperators`) object in scope, as the unit it belongs to."""

    unit: int


@dataclass(frozen=True)
class _Scope:
    """What names mean inside a body: declarations (by libclang's hash) -> library, text, or a lambda's cursor."""

    values: dict[int, Any]
    guard: str | None = None
    depth: int = 0


def read_unit(tu: TranslationUnit, sources: SourceMap) -> Registrations:
    """All registrations of the source (and of the bodies that its blocks include or call)."""
    return _UnitReader(tu, sources).run()
