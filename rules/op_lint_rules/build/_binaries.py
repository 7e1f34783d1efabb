"""What the rules about builds share: the registering sources, how blocks are named, what ends a search."""

from __future__ import annotations

from pathlib import PurePosixPath

from op_lint.build.model import BuildGraph
from op_lint.facts import Language, Unit, UnitKind
from op_lint.program import Program

_HEADERS = frozenset({".cuh", ".h", ".h++", ".hh", ".hpp", ".hxx", ".inc", ".inl", ".ipp", ".tcc", ".tpp", ".txx"})
_UNREAD = frozenset({"build-limit", "internal-error", "build-syntax", "glob-too-large", "recursion", "too-large"})


def registering(program: Program) -> dict[str, tuple[Unit, ...]]:
    """The sources that register something when their object is loaded, with their units, by path."""
    found: dict[str, list[Unit]] = {}
    for unit in program.units:
        path = program.file_of(unit)
        if unit.language is Language.CPP and unit.kind is not UnitKind.HELPER and not is_header(path):
            found.setdefault(path, []).append(unit)
    return {path: tuple(units) for path, units in sorted(found.items())}


def is_header(path: str) -> bool:
    """Whether a file is compiled only as a part of others."""
    return PurePosixPath(path).suffix.casefold() in _HEADERS


def block(unit: Unit) -> str:
    """A unit as the source writes it, in one line."""
    if unit.namespace is None and unit.key is None:
        return unit.macro
    arguments = ", ".join(part for part in (unit.namespace_macro or unit.namespace or "_", unit.key) if part)
    return f"{unit.macro}({arguments})"


def is_complete(graph: BuildGraph) -> bool:
    """Whether the build files were read to their end."""
    return not any(problem.code in _UNREAD for problem in graph.problems)
