"""The thread that makes snapshots. A change makes what is under way void; the latest state of a workspace wins."""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable

from op_lint.server.pool import Cancelled, Pool
from op_lint.server.snapshot import Snapshot
from op_lint.server.workspace import Workspace

_SWITCH_SECONDS = 0.001
"""How long this thread may hold Python while the protocol's thread wants to answer."""

Done = Callable[[Workspace, int, Snapshot | None], None]
"""Told of each revision of a workspace that was computed; without a snapshot where that failed."""


class Engine:
    """Computes snapshots of workspaces, one at a time, and hands each to `done` (on its own thread)."""

    def __init__(self, pool: Pool, done: Done) -> None:
        self._done = done
        self._pool = pool
        self._workspaces: list[Workspace] = []
        self._given_up: dict[Workspace, int] = {}
        self._wake = threading.Condition()
        self._is_closing = False
        self._thread = threading.Thread(target=self._run, name="op-lint engine", daemon=True)

    def start(self) -> None:
        """Start the thread and the first worker."""
        sys.setswitchinterval(_SWITCH_SECONDS)
        self._thread.start()

    def set_workspaces(self, workspaces: list[Workspace]) -> None:
        """The workspaces to look after, the most urgent first."""
        with self._wake:
            self._workspaces = list(workspaces)
            self._wake.notify()

    def look(self) -> None:
        """Something has changed."""
        with self._wake:
            self._wake.notify()

    @property
    def process_ids(self) -> tuple[int, ...]:
        """The worker processes that there are now."""
        return self._pool.process_ids

    def close(self) -> None:
        """End the workers. What is being computed is dropped."""
        with self._wake:
            self._is_closing = True
            for workspace in self._workspaces:
                workspace.change()  # cancels what is under way
            self._wake.notify()
        if self._thread.is_alive():
            self._thread.join(_JOIN_SECONDS)
        self._pool.close()

    def _run(self) -> None:
        self._pool.warm()
        while (workspace := self._next()) is not None:
            revision = workspace.revision
            try:
                snapshot = workspace.compute(self._pool)
            except Cancelled:
                continue
            except Exception:  # a fault of ours: it goes to the log, and the next change is another chance
                traceback.print_exc()
                self._given_up[workspace] = revision
                self._done(workspace, revision, None)
                continue
            self._done(workspace, snapshot.revision, snapshot)

    def _next(self) -> Workspace | None:
        with self._wake:
            while not self._is_closing:
                due = [each for each in self._workspaces if each.is_due and self._given_up.get(each) != each.revision]
                if due:
                    return due[0]
                self._wake.wait()
            return None


_JOIN_SECONDS = 2.0
