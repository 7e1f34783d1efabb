"""Loads each library in a process of its own, forked from one that has torch, and prints which operators it defines.

Standard input: a JSON object from a name to a library. Standard output: a JSON object from that name to the operators
of the namespace `linking` that the dispatcher then has, or to null where loading ended the process.
"""

from __future__ import annotations

import json
import os
import sys

import torch

OPERATORS = ("a", "b")


def loaded(path: str) -> list[str]:
    torch.ops.load_library(path)
    dumps = {name: torch._C._dispatch_dump(f"linking::{name}") for name in OPERATORS}
    return [name for name, dump in dumps.items() if "schema: (none)" not in dump and "schema:" in dump]


def in_child(path: str) -> list[str] | None:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        with os.fdopen(writing, "w") as stream:
            json.dump(loaded(path), stream)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as stream:
        answer = stream.read()
    _, status = os.waitpid(child, 0)
    return json.loads(answer) if status == 0 else None


json.dump({name: in_child(path) for name, path in json.load(sys.stdin).items()}, sys.stdout)
