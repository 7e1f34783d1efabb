"""Child process: what torch says of its keys and of every operator's table. Standard input: modules to import."""

from __future__ import annotations

import importlib
import json
import random
import sys
from typing import Any

import torch

C = torch._C
SAMPLES = 20_000


def names(keyset: Any) -> list[str]:
    inner = C._dispatch_keyset_to_string(keyset)[len("DispatchKeySet(") : -1]
    return inner.split(", ") if inner else []


def enum() -> dict[str, Any]:
    """Every key of the enum, by the name that torch prints."""
    found: dict[str, Any] = {}
    value = 1
    while value < 64 or C._dispatch_key_name(C.DispatchKey(value)) != "UnknownUnknown":
        found.setdefault(C._dispatch_key_name(C.DispatchKey(value)), C.DispatchKey(value))
        value += 1
    return found


def random_sets() -> list[tuple[int, str, list[str]]]:
    """Raw sets with their highest key and their members. Before torch 2.5 a set cannot be made from a number."""
    if not hasattr(C.DispatchKeySet, "from_raw_repr"):
        return []
    choice = random.Random(0)
    width = C._dispatch_keyset_full().raw_repr().bit_length()
    sets = []
    for _ in range(SAMPLES):
        raw = choice.getrandbits(width) & choice.getrandbits(width) | 1 << choice.randrange(C._dispatch_num_backends())
        keyset = C.DispatchKeySet.from_raw_repr(raw)
        sets.append((raw, C._dispatch_key_name(keyset.highestPriorityTypeId()), names(keyset)))
    return sets


def keys() -> dict[str, Any]:
    known = enum()
    runtime = names(C._dispatch_keyset_full())
    aliases = [name for name, key in known.items() if C._dispatch_is_alias_key(key)]
    full_after = {name: names(C._dispatch_keyset_full_after(known[name])) for name in runtime}
    return {
        "runtime": runtime,
        "full_after": full_after,
        "included": {
            alias: [name for name in runtime if C._dispatch_is_included_in_alias(known[name], known[alias])]
            for alias in aliases
        },
        "sets": random_sets(),
    }


def fallthroughs(operators: list[str]) -> list[tuple[str, str, bool]]:
    """For each kernel that torch can be asked for, whether it is a fallthrough."""
    askable = [name for name in enum() if C._parse_dispatch_key(name) is not None]
    return [
        (operator, key, C._dispatch_kernel_for_dispatch_key_is_fallthrough(operator, key))
        for operator in operators
        for key in askable
        if C._dispatch_has_kernel_for_dispatch_key(operator, key)
    ]


def main() -> None:
    for module in json.load(sys.stdin):
        importlib.import_module(module)
    operators = C._dispatch_get_all_op_names()
    answer = {
        "keys": keys(),
        "tables": {name: C._dispatch_dump_table(name) for name in operators},
        "fallthroughs": fallthroughs(operators),
    }
    json.dump(answer, sys.stdout)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
