"""What the rules about builds share: the registering sources, how blocks are named, what ends a search."""

from __future__ import annotations

from pathlib import PurePosixPath

from op_lint.build.model import BuildGraph, BuildSystem, Source, Target
from op_lint.build.questions import Compiled, Questions
from op_lint.condition import ALWAYS
from op_lint.facts import Language, Place, Unit, UnitKind
from op_lint.findings import Edit
from op_lint.program import Program

_HEADERS = frozenset({".cuh", ".h", ".h++", ".hh", ".hpp", ".hxx", ".inc", ".inl", ".ipp", ".tcc", ".tpp", ".txx"})
_VENDORED = frozenset({
    "third_party", "third-party", "thirdparty", "3rdparty", "external", "extern", "vendor", "vendored",
})  # fmt: skip
_OF_THEIR_FOLDER = frozenset({"BUILD", "BUILD.bazel", "BUCK", "TARGETS"})
"""Build files that name only files of their own folder and below."""

ASIDE = _VENDORED | {
    "test", "tests", "testing", "example", "examples", "demo", "demos", "benchmark", "benchmarks", "bench", "tutorial",
    "tutorials", "docs", "doc", "experimental", "contrib",
}  # fmt: skip
"""Folders that the build files of a project may well leave alone."""


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


def is_complete(graph: BuildGraph, path: str) -> bool:
    """Whether all build files that can name the source at `path` were read to their end."""
    return not any(
        path.startswith(f"{unread.folder}/" if unread.folder else "")
        and can_name(unread.path, path)
        and not is_at_run_time(unread.system, unread.path)
        for unread in graph.unread
    )


def knows_links(graph: BuildGraph, target: Target, path: str) -> bool:
    """Whether all build files that may say more of what a target links, and can name `path`, were read to their end."""
    return not any(
        unread.system is target.system and unread.project == target.project and can_name(unread.path, path)
        for unread in graph.unread
    )


def is_at_run_time(system: BuildSystem, build_file: str) -> bool:
    """Whether a test or an example builds something when it runs: its own, and not what the project is made of."""
    return system is BuildSystem.JIT and not ASIDE.isdisjoint(map(str.casefold, PurePosixPath(build_file).parts))


def can_name(build_file: str, path: str) -> bool:
    """Whether a build file may have a target for a source: a vendored one has none but for its own."""
    pure = PurePosixPath(build_file)
    if pure.name in _OF_THEIR_FOLDER:
        return PurePosixPath(path).is_relative_to(pure.parent)
    vendored = next((at for at, part in enumerate(pure.parts[:-1]) if part.casefold() in _VENDORED), None)
    if vendored is None:
        return True
    return PurePosixPath(path).parts[: vendored + 1] == pure.parts[: vendored + 1]


def can_be_listed_after(questions: Questions, compiled: Compiled) -> bool:
    """Whether what is added behind a source of a target is always compiled, and by that target alone."""
    source = compiled.source
    return source.listed is not None and compiled.condition == ALWAYS and is_sole(questions, source)


def is_sole(questions: Questions, source: Source) -> bool:
    """Whether the word that names a source gives it to one target only."""
    return sum(each.place == source.place for target in questions.graph.targets for each in target.sources) == 1


def listed_after(neighbour: Source, path: str) -> Edit | None:
    """Adds the file at `path` to the list behind a source of the same folder."""
    listed = neighbour.listed
    if listed is None or PurePosixPath(neighbour.path).parent != PurePosixPath(path).parent:
        return None
    before, name, after = listed.text.rpartition(PurePosixPath(neighbour.path).name)
    word = before + PurePosixPath(path).name + after
    place = listed.place
    return Edit(Place(place.path, place.line, place.end, place.end), listed.separator + word) if name else None


def taken_out(questions: Questions, source: Source) -> Edit | None:
    """Takes a source out of the list that names it, where that list is of one target and the word can go."""
    if source.listed is None or source.listed.removal is None or not is_sole(questions, source):
        return None
    return Edit(source.listed.removal, "")
