"""What reading Python files costs: `python benchmarks/python_reader.py FOLDER... [--files N] [--processes N]`.

Prints how many files there are and how many of them are candidates, and the seconds that finding, reading (phase 1: in
processes that are started for it) and resolving (phase 2: in one process) take. Fewer files than asked for are repeated
under other paths.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from itertools import chain, count, islice
from pathlib import Path

from op_lint.facts import FileFacts
from op_lint.python import is_candidate, read_python, resolve

_BATCH = 100


def found(folders: Iterable[str]) -> list[Path]:
    return sorted(path for folder in folders for path in Path(folder).rglob("*.py") if path.is_file())


def repeated(paths: list[Path], files: int) -> list[tuple[Path, str]]:
    """As many files as asked for, each with the path it is read under."""
    rounds = ((path, f"{number}/{path.as_posix().lstrip('/')}") for number in count() for path in paths)
    return list(islice(rounds, max(files, len(paths))))


def read(batch: list[tuple[Path, str]]) -> list[FileFacts]:
    """The facts of some files."""
    return [read_python(name, path.read_bytes()) for path, name in batch]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--files", type=int, default=10_000, help="at least so many files (10,000)")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()

    start = time.perf_counter()
    paths = found(options.folders)
    if not paths:
        sys.exit("no Python files")
    files = repeated(paths, options.files)
    listed = time.perf_counter()
    batches = [files[first : first + _BATCH] for first in range(0, len(files), _BATCH)]
    with ProcessPoolExecutor(options.processes) as pool:
        results = list(chain.from_iterable(pool.map(read, batches)))
    phase_1 = time.perf_counter()
    used = os.times()
    facts = resolve(results)
    phase_2 = time.perf_counter()

    contents = [path.read_bytes() for path, _ in files]
    candidates = sum(map(is_candidate, contents))
    size = sum(map(len, contents)) / 1_000_000
    registrations = sum(len(file.definitions) + len(file.implementations) for file in facts)
    print(f"{len(files)} files ({len(paths)} different), {size:.0f} MB, {candidates} candidates")
    print(f"{registrations} definitions and kernels, {sum(len(file.unresolved) for file in facts)} unresolved")
    print(f"list {listed - start:.2f} s")
    processor = used.children_user + used.children_system
    print(f"read {phase_1 - listed:.2f} s in {options.processes} processes ({processor:.2f} s of processor time)")
    print(f"resolve {phase_2 - phase_1:.2f} s")


if __name__ == "__main__":
    main()
