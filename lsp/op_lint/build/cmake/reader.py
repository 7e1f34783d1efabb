"""All CMake files of a project: those that no other leads to are where reading starts."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from functools import partial

import msgspec

from op_lint.build.cmake import buildings, language
from op_lint.build.cmake.interpreter import Interpreter
from op_lint.build.cmake.lexer import Command
from op_lint.build.drafts import finished
from op_lint.build.files import BuildFiles, Start
from op_lint.build.guarded import Item
from op_lint.build.model import BuildGraph, BuildSystem
from op_lint.facts import Place

LISTS = "CMakeLists.txt"
LIMIT = "the build files take too long to read: they are understood in part only"

_HANDLERS = {**language.HANDLERS, **buildings.HANDLERS}
_START = Place(LISTS, 1, 0, 0)


def read_cmake(files: BuildFiles, paths: Sequence[str]) -> BuildGraph:
    """What the CMake files among `paths` (relative to the root) say. Never raises."""
    graphs: list[BuildGraph] = []
    scripts: dict[str, tuple[Command, ...]] = {}
    projects: set[str] = set()
    read: set[str] = set()
    for path in sorted((path for path in paths if posixpath.basename(path) == LISTS), key=lambda each: each.count("/")):
        absolute = files.absolute(path)
        if absolute not in read:
            reader = Interpreter(files, _HANDLERS, scripts, projects)
            folder = posixpath.dirname(absolute)
            start = Start(BuildSystem.CMAKE, path, posixpath.dirname(path))
            files.attempt(start, partial(_read_from, reader, folder), LIMIT)
            projects.add(folder)
            read.update(reader.read)
            graphs.append(_graph(reader, posixpath.dirname(path)))
    return BuildGraph(
        targets=tuple(target for graph in graphs for target in graph.targets),
        switches=tuple(switch for graph in graphs for switch in graph.switches),
        mentioned=frozenset().union(*(graph.mentioned for graph in graphs)),
        files=tuple(sorted(files.relative(path) for path in read)),
        torches=tuple(torch for graph in graphs for torch in graph.torches),
    )


def _read_from(reader: Interpreter, folder: str) -> None:
    """Read the files that the `CMakeLists.txt` of a folder leads to."""
    for name in ("CMAKE_SOURCE_DIR", "CMAKE_CURRENT_SOURCE_DIR", "PROJECT_SOURCE_DIR"):
        reader.set(name, [Item(folder)])
    for name in ("CMAKE_CURRENT_BINARY_DIR", "PROJECT_BINARY_DIR"):
        reader.set(name, [Item("${CMAKE_BINARY_DIR}")])
    reader.run_file(posixpath.join(folder, LISTS), _START)
    buildings.finish_folder(reader)


def _graph(reader: Interpreter, project: str) -> BuildGraph:
    files = reader.files
    headers = frozenset(map(files.relative, reader.headers))
    declared = [target for targets in reader.targets.values() for target in targets]
    for target in declared if headers else ():
        target.sources = [source for source in target.sources if source.path not in headers]
    return BuildGraph(
        targets=tuple(finished(target.concluded(project, reader.minimum, reader.aliases) for target in declared)),
        switches=tuple(reader.switches.values()),
        mentioned=frozenset(map(files.relative, reader.mentioned)),
        torches=tuple(msgspec.structs.replace(torch, project=project) for torch in reader.torches.values()),
    )
