"""The build graph between two looks at a project: read again only when something that it depends on has changed.

What the build files say is kept apart from what the sources say, in memory and between runs: an edit of a source makes
only that source read again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from pathlib import Path

import msgspec

from op_lint import condition, facts
from op_lint.build.files import BuildFiles
from op_lint.build.model import BuildGraph
from op_lint.build.reader import loading_scripts, read_targets, with_sources
from op_lint.build.setuptools import may_load
from op_lint.build.symbols import KnownUnits, mentions_module
from op_lint.build.watched import DIGEST_SIZE, Look, Watched, same_answers
from op_lint.cache import RunCache
from op_lint.version import VERSION

_Signature = tuple[object, ...]

_ACCIDENTS = frozenset({"build-limit", "internal-error"})
"""Problems of a graph that reading it another time may not have."""


class KeptTargets(msgspec.Struct, frozen=True):
    """What some build files and scripts say, and everything that it was made of."""

    build_files: tuple[str, ...]
    scripts: tuple[str, ...]
    looks: tuple[Look, ...]
    graph: BuildGraph


class KeptGraph:
    """The last graph and what it was made of; with `folder`, the cache's, its parts are kept between runs.

    Of sources the files on disk count and not what is typed in an editor: what one defines changes rarely, and the
    build sees the files, too. What counts at once is a Python module that comes into a source or goes out of it.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._cache = None if folder is None else RunCache(folder, KeptTargets, "builds")
        self._texts = None if folder is None else RunCache(folder, KnownUnits, "builds")
        self._made_of: _Signature = ()
        self._graph = BuildGraph()
        self._looks: tuple[Look, ...] = ()
        self._targets: KeptTargets | None = None
        self._units: KnownUnits = {}

    def graph(
        self,
        root: Path,
        build_files: Sequence[str],
        sources: Sequence[str],
        *,
        registering: Sequence[str],
        scripts: Sequence[str],
        buffers: Mapping[str, bytes],
        files: Watched | None = None,
        jobs: int | None = 0,
        apart: bool = True,
    ) -> BuildGraph:
        """The graph as `read_build` makes it, the last one where nothing has changed since.

        `files` are told every question to the file system that the graph depends on. `jobs` processes read many sources
        (None: one a processor); with 0 this one does. `apart` is as for `with_sources`.
        """
        loading = self._targets.scripts if self._targets else ()
        typed = {
            path: data
            for path, data in buffers.items()
            if path in build_files or path in loading or (path in scripts and may_load(data))
        }
        typed |= _with_other_modules(root, sources, buffers)
        made_of = (
            tuple(build_files),
            tuple(sources),
            tuple(registering),
            apart,
            tuple(sorted(typed.items())),
            tuple(_stamps(root, (*build_files, *sources, *scripts))),
        )
        if made_of != self._made_of:
            watched = Watched(root, typed)
            targets = self._read_targets(root, build_files, loading_scripts(watched, scripts), typed)
            name = _name(root, "sources")
            self._graph = self._with_sources(targets.graph, watched, sources, registering, name, jobs, apart)
            self._looks = (*targets.looks, *watched.looks)
            self._made_of = made_of
        if files is not None:
            files.remember(self._looks)
        return self._graph

    def _with_sources(
        self,
        targets: BuildGraph,
        files: BuildFiles,
        sources: Sequence[str],
        registering: Sequence[str],
        name: str,
        jobs: int | None,
        apart: bool,
    ) -> BuildGraph:
        """The whole graph; of the sources only what has changed is read again."""
        if self._texts and not self._units:
            self._units = self._texts.get(name) or {}
        before = dict(self._units)
        graph = with_sources(targets, files, frozenset(sources), frozenset(registering), self._units, jobs, apart=apart)
        if self._texts and any(self._units[path] is not before.get(path) for path in self._units):
            self._texts.put(name, self._units)
        return graph

    def _read_targets(
        self, root: Path, build_files: Sequence[str], scripts: tuple[str, ...], typed: Mapping[str, bytes]
    ) -> KeptTargets:
        """What the build files say: as it was, where everything that it was made of is as it was."""
        name = _name(root, "targets")
        kept = self._targets or (self._cache.get(name) if self._cache else None)
        named = (tuple(build_files), scripts)
        if kept is None or (kept.build_files, kept.scripts) != named or not _is_current(kept, root, typed):
            watched = Watched(root, typed)
            graph = read_targets(watched, build_files, scripts)
            kept = KeptTargets(*named, watched.looks, graph)
            if self._cache and not typed and _ACCIDENTS.isdisjoint(problem.code for problem in graph.problems):
                self._cache.put(name, kept)
        self._targets = kept
        return kept


def _with_other_modules(root: Path, sources: Sequence[str], buffers: Mapping[str, bytes]) -> dict[str, bytes]:
    """The sources that become Python modules, or are none any more, once what is typed is saved."""
    files = BuildFiles(root)
    return {
        path: data
        for path, data in buffers.items()
        if path in sources and mentions_module(data) != mentions_module(files.read(files.absolute(path)) or b"")
    }


def _is_current(kept: KeptTargets, root: Path, typed: Mapping[str, bytes]) -> bool:
    return same_answers(BuildFiles(root, typed), kept.looks)


def _name(root: Path, what: str) -> str:
    """Names what is kept of a project, and op-lint's readers of build files by their own sources."""
    return blake2b(f"{VERSION} {what} {root}".encode() + _readers(), digest_size=DIGEST_SIZE).hexdigest()


@cache
def _readers() -> bytes:
    sources = [Path(module.__file__ or "") for module in (condition, facts)]
    sources += sorted(Path(__file__).parent.rglob("*.py"))
    return blake2b(b"\0".join(file.read_bytes() for file in sources), digest_size=DIGEST_SIZE).digest()


def _stamps(root: Path, paths: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Size in bytes and time of the last change of each file."""
    return (_stamp(os.path.join(root, path)) for path in paths)


def _stamp(path: str) -> tuple[int, int]:
    try:
        status = os.stat(path)
    except OSError:
        return (-1, -1)
    return (status.st_size, status.st_mtime_ns)
