"""Compares the model with an installed torch, every operator and every key; also a command:

python -m tests.truth.compare_dispatcher --python EXE --import torchvision
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from op_lint.dispatch.keys import DispatchKeys, KeySet
from op_lint.dispatch.table import Table
from op_lint.installed.dump import relative_to_torch
from op_lint.installed.reader import Reading
from tests.truth.torch_process import installed, run_script


class Comparison(NamedTuple):
    """What was compared, how many of it, and where the two differ."""

    what: str
    number: int
    differences: list[str]


def compare(python: str, imports: tuple[str, ...] = ()) -> tuple[Reading, list[Comparison]]:
    """Hold the model against the torch of `python`, with these modules imported into it."""
    reading = installed(python, imports)
    said = run_script("all_tables.py", imports, python)
    return reading, [
        _tables(reading, said["tables"]),
        _fallthroughs(reading, said["fallthroughs"]),
        *_keys(reading, said["keys"]),
    ]


def _tables(reading: Reading, theirs: dict[str, str]) -> Comparison:
    torch = reading.whole
    keys, fallbacks = DispatchKeys(torch.keys), torch.fallback_registrations()
    relative = relative_to_torch(reading.package or "")
    count, differences = 0, sorted(set(theirs) ^ set(torch.operators))
    for name, installed_operator in torch.operators.items():
        table = Table(keys, installed_operator.operator(), fallbacks)
        count += len(table.entries)
        expected = [relative(line) for line in theirs.get(name, "").splitlines()]
        found = [relative(line) for line in table.dump().splitlines()]
        if expected != found:
            differences.append(f"{name}: {sorted(set(expected) ^ set(found))[:4]}")
    return Comparison(f"table entries of {len(theirs)} operators", count, differences)


def _fallthroughs(reading: Reading, theirs: Sequence[tuple[str, str, bool]]) -> Comparison:
    operators = reading.whole.operators
    differences = [
        f"{operator} at {key}: {expected}"
        for operator, key, expected in theirs
        if operators[operator].operator().active()[key].fallthrough != expected
    ]
    return Comparison("kernels, fallthrough or not", len(theirs), differences)


def _keys(reading: Reading, theirs: dict[str, Any]) -> Iterator[Comparison]:
    keys = DispatchKeys(reading.torch.keys)
    order = list(keys.runtime[1:])
    yield Comparison("runtime keys, names and order", len(order), [] if order == theirs["runtime"] else [str(order)])
    pairs = {(alias, key) for alias, included in theirs["included"].items() for key in included}
    ours = {(alias, key) for alias in theirs["included"] for key in keys.included(alias)}
    yield Comparison("keys included in alias keys", len(pairs), [str(pair) for pair in sorted(pairs ^ ours)])
    below = [key for key, after in theirs["full_after"].items() if sorted(keys.below(key)) != sorted(after)]
    yield Comparison("keys below a key", len(theirs["full_after"]), below)
    sets = [
        hex(raw)
        for raw, highest, members in theirs["sets"]
        if KeySet(raw, keys).highest != highest or list(KeySet(raw, keys)) != members
    ]
    yield Comparison("random key sets, highest key and members", len(theirs["sets"]), sets)


def main() -> int:
    """Print what was compared. 1 where anything differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--import", dest="imports", action="append", default=[])
    options = parser.parse_args()
    reading, comparisons = compare(options.python, tuple(options.imports))
    print(f"torch {reading.torch.version}", *options.imports)
    for comparison in comparisons:
        print(f"{comparison.number:>8} {comparison.what}: {len(comparison.differences)} differences")
        for difference in comparison.differences[:10]:
            print(f"         {difference}")
    return int(any(comparison.differences for comparison in comparisons))


if __name__ == "__main__":
    sys.exit(main())
