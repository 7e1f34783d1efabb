"""How far a long run is: a bar on a terminal, and nothing anywhere else."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from op_lint.analysis import Analysis
from op_lint.project import Project

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

_PATIENCE = 0.7
"""Seconds for which a run shows nothing: most are over by then, and do not pay for the bar."""

_BETWEEN = 0.1
"""Seconds between two states of the bar. It is drawn when files come in, by no thread of its own: processes that are
forked while there is one are not safe."""


class Progress:
    """A bar on stderr that goes away at the end."""

    def __init__(self, *, quiet: bool) -> None:
        self._shows = not quiet and _is_for_eyes()
        self._begin = time.monotonic()
        self._drawn = 0.0
        self._bar: Bar | None = None
        self._task: TaskID | None = None
        self._phase = ""

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Show a bar where what happens inside takes long; it is gone afterwards."""
        try:
            yield
        finally:
            if self._bar is not None:
                self._bar.stop()
                self._bar = None

    def phase(self, name: str) -> None:
        """The next phase begins."""
        self._phase = name
        self._show(0, None)

    def files(self, done: int, total: int) -> None:
        """So many files of so many are read."""
        self._show(done, total)

    def _show(self, done: int, total: int | None) -> None:
        now = time.monotonic()
        if not self._shows or now - self._begin < _PATIENCE or (total is not None and now - self._drawn < _BETWEEN):
            return
        self._drawn = now
        bar, task = self._made()
        bar.update(task, description=self._phase, completed=done, total=total, refresh=True)

    def _made(self) -> tuple[Bar, TaskID]:
        if self._bar is None or self._task is None:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
            from rich.progress import Progress as Bar

            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
            self._bar = Bar(*columns, console=Console(file=sys.stderr), transient=True, auto_refresh=False)
            self._bar.start()
            self._task = self._bar.add_task(self._phase, total=None)
        return self._bar, self._task


def read_in_sight(project: Project, *, use_cache: bool, jobs: int | None) -> Analysis:
    """Read a project's files (see `Project.read`) with a bar where that takes long."""
    progress = Progress(quiet=False)
    progress.phase("read files")
    with progress.shown():
        return project.read(use_cache=use_cache, jobs=jobs, progress=progress.files)


def _is_for_eyes() -> bool:
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("CI")
