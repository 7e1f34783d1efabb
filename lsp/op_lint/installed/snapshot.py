"""Makes a bundled snapshot: `python -m op_lint.installed.snapshot --python EXE`, EXE being one that has the torch."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from op_lint.installed import problems
from op_lint.installed.answers import torch_said
from op_lint.installed.bundled import FOLDER, SUFFIX, encode_snapshot
from op_lint.installed.child import ProbeRequest, run_probe
from op_lint.installed.interpreter import InterpreterSearch, find_interpreter
from op_lint.installed.model import InstalledTorch, ReadProblem

_MACHINE_PATH = re.compile(r"registered at (?:/(?!dev/null:)|[A-Za-z]:[\\/])")
_TIMEOUT_SECONDS = 600.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Read that torch, write the snapshot, print its name and size. 1 if that cannot be, or machine paths are left."""
    parser = argparse.ArgumentParser(prog="python -m op_lint.installed.snapshot", description=__doc__)
    parser.add_argument(
        "--python", default=sys.executable, help="the interpreter that has the torch (default: this one)"
    )
    parser.add_argument("--output", type=Path, default=FOLDER, help="the folder to write to (default: the package's)")
    options = parser.parse_args(arguments)
    interpreter = find_interpreter(InterpreterSearch(option=options.python))
    if interpreter.path is None:
        return _failed(problems.no_interpreter(interpreter))
    output = run_probe(interpreter.path, ProbeRequest(), timeout=_TIMEOUT_SECONDS)
    read = torch_said(output)
    if read is None:
        return _failed(problems.unread(interpreter, output, _TIMEOUT_SECONDS))
    left = sorted({origin for origin in _origins(read.torch) if _MACHINE_PATH.match(origin)})
    if left:
        print("paths of this machine are left:", *left[:20], sep="\n  ", file=sys.stderr)
        return 1
    data = encode_snapshot(read.torch)
    target = options.output / f"{read.torch.version}{SUFFIX}"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)
    print(f"{target.name}: {len(read.torch.operators)} operators, {len(data)} bytes")
    return 0


def _failed(problem: ReadProblem) -> int:
    print(problem.message, problem.detail, sep="\n", file=sys.stderr)
    return 1


def _origins(torch: InstalledTorch) -> Iterator[str]:
    for operator in torch.operators.values():
        yield operator.origin or ""
        yield from (kernel.origin for kernel in operator.kernels)
    yield from (kernel.origin for kernel in torch.fallbacks)


if __name__ == "__main__":
    sys.exit(main())
