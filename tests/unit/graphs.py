"""Little projects of build files, and what the build graph makes of them in a form that is easy to write down."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from op_lint.build import BuildGraph, read_build
from op_lint.build.model import Target
from op_lint.files import find_sources


def graph_of(folder: Path, files: Mapping[str, str | bytes], *, registering: tuple[str, ...] = ()) -> BuildGraph:
    """The build graph of a project with these files; the content of sources does not matter."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    tree = find_sources(folder)
    return read_build(folder, tree.build, tree.cpp, registering=registering, scripts=tree.python)


def cmake(folder: Path, text: str, *sources: str, **more: str) -> BuildGraph:
    """The graph of one `CMakeLists.txt` beside empty sources. `more` are further files, `__` for `/` in their names."""
    files: dict[str, str | bytes] = {"CMakeLists.txt": text, **dict.fromkeys(sources, "")}
    files |= {name.replace("__", "/").replace("_dot_", "."): content for name, content in more.items()}
    return graph_of(folder, files)


def only(graph: BuildGraph, name: str | None = None) -> Target:
    """The target of a name, or the only one there is."""
    (target,) = [each for each in graph.targets if name is None or each.name == name]
    return target


def sources(target: Target) -> dict[str, str]:
    """The sources of a target and their conditions, as text."""
    return {source.path: str(source.condition) for source in target.sources}


def links(target: Target) -> list[tuple[str, str]]:
    """What a target links, and how."""
    return [(link.to, link.how.value) for link in target.links]


def defines(target: Target) -> dict[str, str | None]:
    """The macros of a target."""
    return {define.name: define.value for define in target.defines}


def codes(graph: BuildGraph) -> set[str]:
    """The problems of a graph."""
    return {problem.code for problem in graph.problems}
