"""Runs the probe as a child process, and survives whatever that process does."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import msgspec

PROBE = Path(__file__).with_name("probe.py")

# The report on torch 2.14 is 4.5 MB; a child that prints this much more is printing without end.
_MOST_OUTPUT = 256 << 20
_KEPT_STDERR = 16 << 10
_GRACE_SECONDS = 2.0
_POLL_SECONDS = 0.01


class ProbeRequest(msgspec.Struct, frozen=True):
    """What the child is to do: see `probe.py`."""

    plain: bool = True
    load: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    path: tuple[str, ...] = ()


class ProbeOutput(msgspec.Struct, frozen=True):
    """What came of it.

    `said` are the probe's lines, the last of each kind. `exit_code` is negative for a signal (POSIX), None where the
    child had to be killed: it took too long or, with `endless`, printed too much. `unstarted` says why it could not be
    started. `stderr` is the end of its error output.
    """

    said: dict[str, Any]
    exit_code: int | None
    stderr: str = ""
    endless: bool = False
    unstarted: str | None = None


def run_probe(interpreter: str, request: ProbeRequest, *, timeout: float, isolated: bool = False) -> ProbeOutput:
    """Run the probe under `interpreter` for at most `timeout` seconds. Never raises for what the child does.

    `isolated` runs Python with `-I`: without the environment variables and the user's site-packages.
    """
    marker = f"@@op-lint-{secrets.token_hex(8)}"
    asked = {
        "marker": marker,
        "plain": request.plain,
        "load": request.load,
        "import": request.imports,
        "path": request.path,
    }
    command = [interpreter, *(["-I"] if isolated else []), str(PROBE), json.dumps(asked)]
    try:
        # In the probe's own folder: an empty entry of PYTHONPATH must not mean the workspace.
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=PROBE.parent,
            env=_environment(os.environ),
            start_new_session=True,
        )
    except OSError as error:
        return ProbeOutput({}, None, unstarted=error.strerror or str(error))
    return _collect(process, marker, timeout)


def module_path(environment: Mapping[str, str]) -> list[str]:
    """The folders in PYTHONPATH, absolute: what is relative in it is so to the current folder."""
    return [os.path.abspath(entry) for entry in environment.get("PYTHONPATH", "").split(os.pathsep) if entry]


def _environment(inherited: Mapping[str, str]) -> dict[str, str]:
    """The environment for the child, which runs in another folder: what is relative in PYTHONPATH is made absolute."""
    environment = {name: value for name, value in inherited.items() if name != "PYTHONINSPECT"}
    entries = module_path(inherited)
    if entries:
        environment["PYTHONPATH"] = os.pathsep.join(entries)
    environment["PYTHONIOENCODING"] = "utf-8:backslashreplace"
    return environment


class _Drain(threading.Thread):
    """Reads a pipe to its end, so that the child never waits for us, and keeps `most` bytes: the first, or the last."""

    def __init__(self, pipe: IO[bytes], most: int, *, last: bool = False) -> None:
        super().__init__(daemon=True)
        self._pipe = pipe
        self._most = most
        self._last = last
        self._kept = bytearray()
        self.overflowed = threading.Event()
        self.start()

    def run(self) -> None:
        with self._pipe as pipe:
            while chunk := os.read(pipe.fileno(), 1 << 16):
                self._keep(chunk)

    def _keep(self, chunk: bytes) -> None:
        if self._last:
            self._kept += chunk
            del self._kept[: -self._most]
        elif len(self._kept) + len(chunk) <= self._most:
            self._kept += chunk
        else:
            self.overflowed.set()

    def kept(self) -> bytes:
        """What was kept so far."""
        return bytes(self._kept)


_running: set[subprocess.Popen[bytes]] = set()


def end_probes() -> None:
    """End the probes that other threads wait for: the process is about to end."""
    for process in tuple(_running):
        _end(process)


def _collect(process: subprocess.Popen[bytes], marker: str, timeout: float) -> ProbeOutput:
    assert process.stdout is not None
    assert process.stderr is not None
    output, errors = _Drain(process.stdout, _MOST_OUTPUT), _Drain(process.stderr, _KEPT_STDERR, last=True)
    deadline = time.monotonic() + timeout
    _running.add(process)
    while (exit_code := process.poll()) is None and time.monotonic() < deadline and not output.overflowed.is_set():
        time.sleep(_POLL_SECONDS)
    _running.discard(process)
    _end(process)
    # What left the process group may hold the pipes open for ever.
    output.join(_GRACE_SECONDS)
    errors.join(_GRACE_SECONDS)
    return ProbeOutput(
        _lines(output.kept(), marker.encode()),
        exit_code,
        errors.kept().decode(errors="replace"),
        output.overflowed.is_set(),
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the child with whatever it started."""
    try:
        if os.name == "nt":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass  # it and all that it started are gone
    process.wait()


def _lines(output: bytes, marker: bytes) -> dict[str, Any]:
    """The probe's lines among whatever else was printed. A line that was cut off is none."""
    said: dict[str, Any] = {}
    for line in output.split(b"\n"):
        if line.startswith(marker + b" "):
            kind, _, value = line[len(marker) + 1 :].partition(b" ")
            try:
                said[kind.decode()] = msgspec.json.decode(value)
            except msgspec.DecodeError:
                continue
    return said
