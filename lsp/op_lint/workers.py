"""Reading files in worker processes, so that a file on which the reader crashes or never ends costs only itself."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from op_lint.facts import FileFacts

_SECONDS = 60.0
"""How long one file may take. The largest registration files of real projects take less than one second."""

_MEMORY = 4 * 1024**3
"""Bytes of address space for one worker beyond what its parent had: macros that expand without end stop here, and not
at the machine's limit."""

_LOOK_SECONDS = 1.0
"""How often a worker looks whether its parent is still there."""

Task = tuple[str, bytes | None]
"""A path, and its content where the reader is not to fetch it itself."""

Answer = TypeVar("Answer")
"""What a worker makes of a file: a value that msgspec can encode."""

Read = Callable[[str, bytes | None], Answer]
"""What workers do with a task. It must survive pickling where processes are spawned."""

ReadFile = Read[FileFacts]


class Failure(msgspec.Struct, frozen=True):
    """Why there is no answer for a file: `code` is `crash` or `timeout`, `message` one line."""

    code: str
    message: str


def processors() -> int:
    """How many processors this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def read_in_workers(
    read: Read[Answer], tasks: Iterable[Task], answer: type[Answer], *, jobs: int, seconds: float = _SECONDS
) -> Generator[tuple[str, Answer | Failure], None, None]:
    """Read `tasks` with `jobs` processes; yield each path with its `answer` as they come, in no order.

    A worker that dies, or that takes more than `seconds` for one file and is ended, is replaced by a new one.
    """
    pending = deque(tasks)
    workers = [Worker(seconds, read, answer) for _ in range(min(jobs, len(pending)))]
    try:
        for worker in workers:
            worker.give(pending.popleft())
        while busy := {worker.connection: worker for worker in workers if worker.path is not None}:
            nearest = max(0.0, min(worker.deadline for worker in busy.values()) - time.monotonic())
            ready = wait(list(busy), timeout=nearest)
            for connection, worker in busy.items():
                if connection in ready or worker.deadline <= time.monotonic():
                    done = worker.take()
                    if pending:  # before anybody looks at the answer: the worker is not to wait for that
                        worker.give(pending.popleft())
                    yield done
    finally:
        for worker in workers:
            worker.end()


def _context() -> BaseContext:
    # A fork shares what the parent has read already and costs milliseconds, but is only safe without other threads.
    method = "fork" if sys.platform == "linux" and threading.active_count() == 1 else "spawn"
    return multiprocessing.get_context(method)


class Worker(Generic[Answer]):
    """A process that reads one file at a time.

    `read` is what it does with each task, where `give` names nothing else; `answer` is the type of what that gives.
    `path` is the file that it is at work on, None while it is free, and `deadline` the time (of `time.monotonic`) at
    which it is given up.
    """

    def __init__(self, seconds: float, read: Read[Answer], answer: type[Answer]) -> None:
        self._read = read
        self._seconds = seconds
        self._decoder = msgspec.msgpack.Decoder(answer)
        self.path: str | None = None
        self.deadline = 0.0
        self._start()

    def _start(self) -> None:
        context = _context()  # asked each time: what was safe for the first may not be for its successor
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, self._read), daemon=True)  # type: ignore[attr-defined]
        self._process.start()
        theirs.close()  # so that the worker's death is the end of the stream

    @property
    def process_id(self) -> int:
        """The process's number."""
        return self._process.pid or 0

    def give(self, task: Task, read: Read[Answer] | None = None) -> None:
        """Let it do `task`, with `read` in place of its own function."""
        if not self._process.is_alive():  # it was ended from outside while it had nothing to do: no fault of the file
            self.end()
            self._start()
        self.path = task[0]
        self.deadline = time.monotonic() + self._seconds
        with suppress(OSError):  # it died before its first task: taking its answer tells
            self.connection.send((read, *task))

    def take(self) -> tuple[str, Answer | Failure]:
        """The answer of a worker that is ready or too late; it is free afterwards."""
        path, self.path = self.path or "", None
        try:
            if self.connection.poll():
                return path, self._decoder.decode(self.connection.recv_bytes())
            failure = Failure("timeout", f"reading took more than {self._seconds:g} seconds and was given up")
        except (EOFError, OSError):
            self._process.join()
            failure = Failure("crash", f"the reader died on this file ({_cause(self._process.exitcode)})")
        self.end()
        self._start()
        return path, failure

    def end(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.join()
        self.connection.close()


def _cause(exit_code: int | None) -> str:
    if exit_code is not None and exit_code < 0:
        return signal.Signals(-exit_code).name
    return f"exit status {exit_code}"


def _serve(connection: Connection, own: Read[Answer]) -> None:
    """The life of a worker: read what is asked for until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is the parent's to handle
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # and what it does at its own end is nothing for a worker
    gc.freeze()  # what its parent had is there to stay, and memory in common as long as nothing looks at it
    gc.enable()  # its parent may do without for a while, but what a worker leaves behind at each file adds up
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    _limit_memory()
    encoder = msgspec.msgpack.Encoder()
    while True:
        try:
            given, path, data = connection.recv()
        except EOFError:
            return
        connection.send_bytes(encoder.encode((given or own)(path, data)))


def _end_with_parent(parent: int) -> None:
    """End this process when its parent is gone, also where the reader never comes back to look."""
    while os.getppid() == parent:
        time.sleep(_LOOK_SECONDS)
    os._exit(1)


def _address_space() -> int:
    """Bytes that this process has mapped, on Linux: what was its parent's is a worker's, too. 0 where nothing tells."""
    try:
        pages = Path("/proc/self/statm").read_text("ascii").split()[0]
    except OSError:  # a container without /proc
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _limit_memory() -> None:
    if sys.platform != "linux":
        return  # Windows has no such limit, and macOS refuses to set it
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = _address_space() + _MEMORY
    limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
