"""All build files of a project as one graph."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from op_lint.build.bazel import read_bazel
from op_lint.build.cmake import read_cmake
from op_lint.build.configured import combined, read_configured
from op_lint.build.files import BuildFiles
from op_lint.build.listed import with_listed
from op_lint.build.model import BuildGraph, BuildSystem, SourceSymbols, Unread
from op_lint.build.questions import Questions
from op_lint.build.setuptools import may_load, read_setuptools
from op_lint.build.symbols import KnownUnits, local_headers, mentions_module, read_modules, read_symbols
from op_lint.facts import Place, Problem, Suppression
from op_lint.files import is_build_file, language_of
from op_lint.suppress import find_suppressions

_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".cu", ".hip", ".mm")
_INCLUDED = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+\.(?:c|cc|cpp|cxx|cu|hip|mm))[">]', re.MULTILINE)


def read_build(
    root: str | Path,
    build_files: Sequence[str],
    sources: Collection[str],
    *,
    registering: Collection[str] = (),
    scripts: Sequence[str] = (),
    buffers: Mapping[str, bytes] = {},
    apart: bool = True,
) -> BuildGraph:
    """The build graph of the project at `root`. Never raises; what it could not read is among the graph's problems.

    `build_files` are the files for which `is_build_file` holds, `sources` the C++ files, `scripts` the Python files,
    all relative to the root. `registering` are the sources with registrations: the symbols of what is linked with them
    are read, too, as far as they decide something; `apart` is as for `with_sources`.
    """
    files = BuildFiles(root, buffers)
    graph = read_targets(files, build_files, loading_scripts(files, scripts))
    return with_sources(graph, files, frozenset(sources), frozenset(registering), {}, apart=apart)


def loading_scripts(files: BuildFiles, scripts: Iterable[str]) -> tuple[str, ...]:
    """Those of the Python files that may build an extension when they run."""
    return tuple(
        path for path in scripts if not is_build_file(path) and may_load(files.read(files.absolute(path)) or b"")
    )


def read_targets(files: BuildFiles, build_files: Sequence[str], scripts: Sequence[str]) -> BuildGraph:
    """What the build files and the scripts that build extensions say, without what only the sources say."""
    graphs = (
        _tried(read_cmake, files, build_files, BuildSystem.CMAKE),
        _tried(read_setuptools, files, [*build_files, *scripts], BuildSystem.SETUPTOOLS),
        _tried(read_bazel, files, build_files, BuildSystem.BAZEL),
    )
    configured = read_configured(files)
    suppressions, faults = _suppressions(files, build_files)
    return BuildGraph(
        targets=combined([target for each in graphs for target in each.targets], configured),
        switches=tuple(switch for each in graphs for switch in each.switches),
        mentioned=frozenset().union(*(each.mentioned for each in graphs)),
        files=(
            *(path for each in graphs for path in each.files),
            *(path for each in configured for path in each.files),
        ),
        problems=(*files.problems, *faults),
        suppressions=suppressions,
        torches=tuple(torch for each in graphs for torch in each.torches),
        unread=tuple(files.unread),
    )


def _tried(
    read: Callable[[BuildFiles, Sequence[str]], BuildGraph],
    files: BuildFiles,
    paths: Sequence[str],
    system: BuildSystem,
) -> BuildGraph:
    """What one of the readers finds. A fault in it is a message; what the others find still counts."""
    try:
        return read(files, paths)
    except Exception as error:
        what = f"op-lint failed on the build files, please report it ({type(error).__name__}: {error})"
        files.note("internal-error", what, Place(paths[0] if paths else "", 1, 0, 0))
        files.unread[Unread("", "", system)] = None
        return BuildGraph()


def with_sources(
    graph: BuildGraph,
    files: BuildFiles,
    sources: frozenset[str],
    registering: frozenset[str],
    known: KnownUnits,
    jobs: int | None = 0,
    *,
    apart: bool = True,
) -> BuildGraph:
    """The graph with what the sources themselves say: which include which, and what the linker will see.

    `known` is what was read of them before, and takes up what is read now, by `jobs` processes (None: one a processor).
    `apart` says whether some source registers a kernel that another has to define.
    """
    find = local_headers(sources)
    included: set[str] = set()
    makers: set[str] = set()
    for path in sorted(sources):
        data = files.read(files.absolute(path)) or b""
        if mentions_module(data):
            makers.add(path)
        if b"#" in data:
            for found in _INCLUDED.finditer(data):
                header = find(path, found[1].decode("utf-8", "replace"))
                included.update({header} if header else ())
    symbols: tuple[SourceSymbols, ...] = ()
    if registering:
        wanted = _to_read(graph, registering)
        in_headers = any(path in included or not path.endswith(_SOURCES) for path in makers)
        deciding = frozenset(wanted) if apart or in_headers else Questions(graph).decided(registering)
        whole = [path for path in wanted if path in deciding]
        rest = [path for path in wanted if path not in deciding]
        symbols = (*read_symbols(files, whole, find, known, jobs), *read_modules(files, rest))
    return msgspec.structs.replace(
        graph,
        targets=with_listed(graph.targets, files, registering),
        symbols=symbols,
        included=frozenset(included),
    )


def _suppressions(files: BuildFiles, build_files: Sequence[str]) -> tuple[tuple[Suppression, ...], tuple[Problem, ...]]:
    """The comments for op-lint in the build files that are no Python: those have facts, and theirs are among them."""
    found = [
        find_suppressions(path, files.read(files.absolute(path)) or b"", None)
        for path in build_files
        if language_of(path) is None
    ]
    return tuple(each for some, _ in found for each in some), tuple(each for _, some in found for each in some)


_MOST_READ = 2_000
"""Sources whose symbols are read at most; of larger projects only those that decide something."""


def _to_read(graph: BuildGraph, registering: frozenset[str]) -> list[str]:
    """The sources whose symbols decide something, and the others of the projects that register anything."""
    questions = Questions(graph)
    found = questions.neighbours(registering)
    projects: set[tuple[BuildSystem, str]] = set()
    for target in graph.targets:
        if not registering.isdisjoint(source.path for source in target.sources):
            projects.add((target.system, target.project))
    others = {
        source.path
        for target in graph.targets
        if (target.system, target.project) in projects
        for source in target.sources
    }
    return sorted(found | others if len(found | others) <= _MOST_READ else found)
