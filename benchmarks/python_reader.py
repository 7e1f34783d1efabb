"""What reading Python files costs: `python benchmarks/python_reader.py FOLDER... [--files N] [--processes N]`.

Prints how many files there are and how many of them are candidates, the seconds that finding, reading (phase 1: in
processes that are started for it) and resolving (phase 2: in one process) take, and those of `op-lint ops` on a project
of copies of the files: cold, with nothing kept, and warm, with nothing changed. Behind some figures stands what is
asked for 10,000 files. Fewer files than asked for are repeated under other paths. Seconds are by the clock, with those
of all processors together in brackets; the first line says how busy the machine is besides.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from itertools import chain, count, islice
from pathlib import Path

from op_lint.facts import FileFacts
from op_lint.python import is_candidate, read_python, resolve

_BATCH = 100

_HINDRANCES = ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED")
"""Settings of people who work on op-lint that cost each run time."""


def found(folders: Iterable[str]) -> list[Path]:
    return sorted(path for folder in folders for path in Path(folder).rglob("*.py") if path.is_file())


def repeated(paths: list[Path], files: int) -> list[tuple[Path, str]]:
    """As many files as asked for, each with the path it is read under."""
    rounds = ((path, f"{number}/{path.as_posix().lstrip('/')}") for number in count() for path in paths)
    return list(islice(rounds, max(files, len(paths))))


def read(batch: list[tuple[Path, str]]) -> list[FileFacts]:
    """The facts of some files."""
    return [read_python(name, path.read_bytes()) for path, name in batch]


class Clock:
    """Seconds since the last look: by the clock, and of the processors in this process and those that it waited for."""

    def __init__(self) -> None:
        self._last = self._now()

    def lap(self) -> str:
        """Both, as text."""
        before, self._last = self._last, self._now()
        wall, processors = (now - then for now, then in zip(self._last, before, strict=True))
        return f"{wall:.2f} s ({processors:.2f} s)"

    def _now(self) -> tuple[float, float]:
        return time.perf_counter(), sum(os.times()[:4])


def copied(files: list[tuple[Path, str]], folder: Path) -> Path:
    """A project of the files."""
    root = folder / "project"
    for path, name in files:
        copy = root / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    (root / "op-lint.toml").touch()
    return root


def listed(root: Path, cache: Path) -> str:
    """What `op-lint ops` says of a project, in an environment in which Python keeps what it compiles, as users do."""
    command = [sys.executable, "-m", "op_lint", "ops", "--root", str(root), "--cache-dir", str(cache), str(root)]
    environment = {name: value for name, value in os.environ.items() if name not in _HINDRANCES}
    environment["PYTHONPYCACHEPREFIX"] = f"{cache}.compiled"
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--files", type=int, default=10_000, help="at least so many files (10,000)")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()

    print(f"load of the machine: {os.getloadavg()[0]:.1f}")
    clock = Clock()
    paths = found(options.folders)
    if not paths:
        sys.exit("no Python files")
    files = repeated(paths, options.files)
    print(f"list {clock.lap()}")
    batches = [files[first : first + _BATCH] for first in range(0, len(files), _BATCH)]
    with ProcessPoolExecutor(options.processes) as pool:
        results = list(chain.from_iterable(pool.map(read, batches)))
    print(f"read {clock.lap()} in {options.processes} processes (asked, with the resolving: 10 s)")
    facts = resolve(results)
    print(f"resolve {clock.lap()}")

    contents = [path.read_bytes() for path, _ in files]
    size = sum(map(len, contents)) / 1_000_000
    registrations = sum(len(file.definitions) + len(file.implementations) for file in facts)
    print(f"{len(files)} files ({len(paths)} different), {size:.0f} MB, {sum(map(is_candidate, contents))} candidates")
    print(f"{registrations} definitions and kernels, {sum(len(file.unresolved) for file in facts)} unresolved")

    with tempfile.TemporaryDirectory() as folder:
        root = copied(files, Path(folder))
        clock.lap()
        cold = listed(root, Path(folder, "cache"))
        print(f"op-lint ops, cold: {clock.lap()} (asked: 10 s)")
        warm = listed(root, Path(folder, "cache"))
        print(f"op-lint ops, warm: {clock.lap()} (asked: 1 s)")
        assert warm == cold, "what is kept says something else"


if __name__ == "__main__":
    main()
