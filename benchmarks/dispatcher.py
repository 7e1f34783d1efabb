"""What reading the dispatcher and computing tables costs: `python benchmarks/dispatcher.py [--python EXE]`.

Each number is the median of several runs, each run in a process of its own.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile

IMPORTS = """
import os, resource, sys, time
from pathlib import Path
from op_lint.dispatch.call import Call
from op_lint.dispatch.keys import DispatchKeys
from op_lint.dispatch.path import call_path
from op_lint.dispatch.table import Table
from op_lint.installed.bundled import DEFAULT, load_snapshot
from op_lint.installed.interpreter import InterpreterSearch
from op_lint.installed.model import Origin
from op_lint.installed.reader import ReadRequest, read_installed
python, cache = sys.argv[1], Path(sys.argv[2])
def peak_kib():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 if sys.platform == "darwin" else 1)
before_memory, start = peak_kib(), time.perf_counter()
"""
SNAPSHOT = "torch = load_snapshot(DEFAULT)\n"
READ = """
search = InterpreterSearch(option=python, environment=dict(os.environ))
reading = read_installed(ReadRequest(search, cache=cache))
"""
UNCACHED = READ + "assert reading.origin is Origin.PROBE, reading.problems\n"
CACHED = READ + "assert reading.origin is Origin.CACHE, reading.problems\n"
TABLES = (
    SNAPSHOT
    + """
keys, fallbacks = DispatchKeys(torch.keys), torch.fallback_registrations()
operators = [operator.operator() for operator in torch.operators.values()]
start = time.perf_counter()
entries = sum(len(Table(keys, operator, fallbacks).entries) for operator in operators)
"""
)
PATHS = (
    TABLES
    + """
tables = [Table(keys, operator, fallbacks) for operator in operators]
start = time.perf_counter()
for table in tables:
    call_path(table, Call())
"""
)
REPORT = "print(time.perf_counter() - start, (peak_kib() - before_memory) / 1024)\n"


def measure(code: str, python: str, cache: str, runs: int) -> tuple[float, float]:
    """Median seconds, and median growth of the process in MiB."""
    command = [sys.executable, "-c", IMPORTS + code + REPORT, python, cache]
    outputs = [subprocess.run(command, check=True, capture_output=True, text=True).stdout.split() for _ in range(runs)]
    return statistics.median(float(out[0]) for out in outputs), statistics.median(float(out[1]) for out in outputs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has torch")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        print("                                  ms      MiB   (limit)")
        for what, code, runs, limit in (
            ("probe, first use", UNCACHED, 1, "one child process"),
            ("from the cache", CACHED, 9, "50 ms"),
            ("bundled snapshot", SNAPSHOT, 9, "150 ms, 60 MiB"),
            ("tables of all operators", TABLES, 3, ""),
            ("a path through each table", PATHS, 3, ""),
        ):
            seconds, memory = measure(code, options.python, cache, runs)
            print(f"{what:28}{seconds * 1000:8.1f} {memory:8.1f}   {limit}")


if __name__ == "__main__":
    main()
