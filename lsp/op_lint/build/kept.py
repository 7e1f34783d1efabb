"""The build graph between two looks at a project: read again only when a file that it depends on has changed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from op_lint.build.files import BuildFiles
from op_lint.build.model import BuildGraph
from op_lint.build.reader import read_build

_Signature = tuple[object, ...]


class KeptGraph:
    """The last graph and what it was made of.

    Of sources only the files on disk count and not what is typed in an editor: what one defines changes rarely, and the
    build sees the files, too.
    """

    def __init__(self) -> None:
        self._made_of: _Signature = ()
        self._graph = BuildGraph()

    def graph(
        self,
        root: Path,
        build_files: Sequence[str],
        sources: Sequence[str],
        *,
        registering: Sequence[str],
        scripts: Sequence[str],
        buffers: Mapping[str, bytes],
        files: BuildFiles | None = None,
    ) -> BuildGraph:
        """The graph as `read_build` makes it, the last one where nothing has changed since."""
        typed = {path: data for path, data in buffers.items() if path in build_files}
        made_of = (
            tuple(build_files),
            tuple(sources),
            tuple(registering),
            tuple(sorted(typed.items())),
            tuple(_stamps(root, (*build_files, *sources, *scripts))),
        )
        if made_of != self._made_of:
            self._graph = read_build(
                root, build_files, sources, registering=registering, scripts=scripts, buffers=typed, files=files
            )
            self._made_of = made_of
        return self._graph


def _stamps(root: Path, paths: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Size in bytes and time of the last change of each file."""
    return (_stamp(os.path.join(root, path)) for path in paths)


def _stamp(path: str) -> tuple[int, int]:
    try:
        status = os.stat(path)
    except OSError:
        return (-1, -1)
    return (status.st_size, status.st_mtime_ns)
