"""What op-lint costs on large projects: `python -m benchmarks.scale [--apart] [FILES ...]`.

For each number of registration files (500 and 5,000 by default, ten operators a file), prints what `op-lint check`
takes on a generated project (`benchmarks/generated.py`), cold (nothing kept) and warm (nothing changed since): seconds
by the clock, seconds of all processors together, the memory of all processes together at its highest, and where the
time goes. Then, what a file costs in the largest project beside what it costs in the smallest: in processor time, since
other work on the machine hardly makes that longer. `--jobs` is 2: as on a machine with two cores. With `--apart` the
definitions and the kernels for four keys are in files of their own: two and a half times as many kernels.
"""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

import msgspec

from benchmarks.generated import write_project

OPERATORS_PER_FILE = 10
JOBS = 2
TORCH = "2.13.0"

_LIMITS = {"cold": 60.0, "warm": 5.0}
"""Seconds for 5,000 files."""
_MEMORY = 1024
"""MiB."""
_GROWTH = 0.20

_LOOK_SECONDS = 0.05
"""How often the memory of the processes is looked at."""


class Cost(msgspec.Struct, frozen=True):
    """What one run took. `memory` is in MiB, of all its processes; shared pages are counted once."""

    clock: float
    processors: float
    memory: float
    timings: str
    findings: int


def main(counts: list[int], *, apart: bool) -> None:
    costs: dict[tuple[int, str], Cost] = {}
    for files in counts:
        with tempfile.TemporaryDirectory() as place:
            project = Path(place, "project")
            write_project(project, files=files, operators=files * OPERATORS_PER_FILE, apart=apart)
            for run in ("cold", "warm"):
                cost = costs[files, run] = measure(project, Path(place, "cache"))
                print(f"{files:6} files, {run}: {_words(cost)}\n{_indented(cost.timings)}", flush=True)
    _judge(costs, min(counts), max(counts))


def measure(project: Path, cache: Path) -> Cost:
    """Check a project and say what it took. Raises where op-lint fails."""
    command = [
        sys.executable, "-m", "op_lint", "check", "--torch-version", TORCH, "--jobs", str(JOBS), "--timings",
        "--cache-dir", str(cache), "--output-format", "json", ".",
    ]  # fmt: skip
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    peak = _PeakMemory(process.pid)
    out, err = process.communicate()
    clock = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode not in (0, 1):
        raise RuntimeError(err)
    processors = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    timings = "\n".join(re.findall(r"^ *\d+\.\d+ s .*$", err, re.MULTILINE))
    return Cost(clock, processors, peak.stop(), timings, len(json.loads(out)))


class _PeakMemory:
    """Watches a process and its children until told to stop."""

    def __init__(self, process: int) -> None:
        self._process = process
        self._highest = 0.0
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def stop(self) -> float:
        """The most that all processes had at a time, in MiB."""
        self._end.set()
        self._thread.join()
        return self._highest

    def _watch(self) -> None:
        while not self._end.wait(_LOOK_SECONDS):
            self._highest = max(self._highest, sum(map(_proportional, _family(self._process))))


def _family(process: int) -> list[int]:
    """A process and all below it; fewer where they are ending."""
    found = [process]
    for each in found:
        for children in Path(f"/proc/{each}/task").glob("*/children"):
            with suppress(OSError):
                found += map(int, children.read_text().split())
    return found


def _proportional(process: int) -> float:
    """MiB of a process's pages, each divided by the number of processes that share it; 0 where it has ended."""
    try:
        rollup = Path(f"/proc/{process}/smaps_rollup").read_text()
    except OSError:
        return 0.0
    found = re.search(r"^Pss: +(\d+) kB", rollup, re.MULTILINE)
    return int(found[1]) / 1024 if found else 0.0


def _words(cost: Cost) -> str:
    return (
        f"{cost.clock:.1f} s by the clock, {cost.processors:.1f} s of processors, {cost.memory:.0f} MiB,"
        f" {cost.findings} findings"
    )


def _indented(text: str) -> str:
    return "\n".join(f"        {line}" for line in text.splitlines()[:20])


def _judge(costs: dict[tuple[int, str], Cost], least: int, most: int) -> None:
    print(f"{most} files beside what is allowed for 5000")
    for run, limit in _LIMITS.items():
        print(f"    {run}             {costs[most, run].clock:8.1f} s    (at most {limit:g})")
    highest = max(costs[most, run].memory for run in _LIMITS)
    print(f"    memory           {highest:8.0f} MiB  (at most {_MEMORY})")
    for run in _LIMITS:
        each = {files: costs[files, run].processors / files * 1000 for files in (least, most)}
        growth = each[most] / each[least] - 1
        print(
            f"    {run}, each file  {each[most]:8.2f} ms beside {each[least]:.2f} ms in {least} files:"
            f" {growth:+.0%}  (at most {_GROWTH:+.0%})"
        )


if __name__ == "__main__":
    words = sys.argv[1:]
    main([int(word) for word in words if word != "--apart"] or [500, 5000], apart="--apart" in words)
