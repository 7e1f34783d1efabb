"""The worker processes of the server: one is kept warm between edits, more help while there is much to read."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import wait
from pathlib import Path

from op_lint.analysis import facts_of
from op_lint.cpp import CppReader
from op_lint.facts import FileFacts
from op_lint.workers import Failure, ReadFile, Task, Worker, processors

_SECONDS = 20.0
"""How long one file may take: while somebody types, sooner given up than on the command line."""

_FILES_PER_WORKER = 8
_WARM = "warm-up.cpp"
_LOOK_SECONDS = 0.05
"""How often a reading looks whether it is still wanted."""


class Cancelled(Exception):  # noqa: N818 -- it is no error
    """What is being computed is wanted no more."""


class Pool:
    """Reads files in processes. Used by one thread."""

    def __init__(self, seconds: float = _SECONDS) -> None:
        self._seconds = seconds
        self._workers: list[Worker[FileFacts]] = []

    def warm(self) -> None:
        """Start the first worker and let it load what reading needs, so that it is ready when it is wanted."""
        if not self._workers:
            worker = Worker(self._seconds, _read_nothing, FileFacts)
            worker.give((_WARM, None), _warm_up)
            self._workers.append(worker)

    @property
    def process_ids(self) -> tuple[int, ...]:
        """The processes that there are now."""
        return tuple(worker.process_id for worker in self._workers)

    def read(
        self, read: ReadFile, tasks: Sequence[Task], is_wanted: Callable[[], bool]
    ) -> Iterator[tuple[str, FileFacts]]:
        """Do `tasks`, in no order. Raises Cancelled when nobody wants them any more; what runs ends by itself."""
        if not tasks:
            return
        self.warm()
        wanted = min(processors(), len(tasks) // _FILES_PER_WORKER + 1)
        while len(self._workers) < wanted:
            self._workers.append(Worker(self._seconds, _read_nothing, FileFacts))
        pending = deque(tasks)
        mine: set[Worker[FileFacts]] = set()
        again = {path: (path, data) for path, data in tasks}
        while True:
            if not is_wanted():
                raise Cancelled
            for worker in self._workers:
                if worker.path is None and pending:
                    worker.give(pending.popleft(), read)
                    mine.add(worker)
            if not pending and not mine:
                break
            for worker in self._ready():
                path, answer = worker.take()
                if worker in mine:  # else an answer that an earlier reading did not wait for
                    mine.discard(worker)
                    if isinstance(answer, Failure) and answer.code == "crash" and path in again:
                        # Once may have been a signal from outside, as from a system that runs out of memory.
                        pending.append(again.pop(path))
                        continue
                    yield path, facts_of(path, answer)
        self._shrink()

    def close(self) -> None:
        """End all processes."""
        for worker in self._workers:
            worker.end()
        self._workers.clear()

    def _ready(self) -> list[Worker[FileFacts]]:
        busy = {worker.connection: worker for worker in self._workers if worker.path is not None}
        ready = wait(list(busy), timeout=_LOOK_SECONDS)
        now = time.monotonic()
        return [worker for connection, worker in busy.items() if connection in ready or worker.deadline <= now]

    def _shrink(self) -> None:
        for worker in self._workers[1:]:
            worker.end()
        del self._workers[1:]


def _warm_up(path: str, data: bytes | None) -> FileFacts:  # noqa: ARG001 -- a ReadFile
    return CppReader(Path(), (path,), buffers={path: b"TORCH_LIBRARY(a, m) {}"}).read(path)


def _read_nothing(path: str, data: bytes | None) -> FileFacts:  # noqa: ARG001 -- a ReadFile
    raise AssertionError("each task comes with its own function")
