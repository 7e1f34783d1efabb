"""Loads shared libraries, each in a process of its own, and says what the dispatcher knows then that it did not before.

Given `{NAME: {"library": PATH, "schemas": [TEXT, ...]}}`; for each name it prints

`operators`  the dump of each operator that is new or changed: what it was before (empty if it was not there) and now
`tags`       the tags of each of those that has a schema
`stubs`      the Python module of each of those that has one
`fallbacks`  the computed table of an operator without kernels, where it changed
`schemas`    each given schema as torch prints it, or torch's error
`error`      why the library did not load, null if it did
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import torch

SCRATCH = "op_lint_load_libraries"


def dumps() -> dict[str, str]:
    """Every operator with its dump."""
    return {name: torch._C._dispatch_dump(name) for name in torch._C._dispatch_get_all_op_names()}


def fallbacks() -> list[str]:
    """The computed table of an operator without kernels, by line."""
    table: str = torch._C._dispatch_dump_table(SCRATCH + "::nothing")
    return table.splitlines()


def printed(schema: str) -> str:
    """A schema as torch prints it."""
    try:
        return str(torch._C.parse_schema(schema))
    except RuntimeError as error:
        return f"error: {error}"


def loaded(library: str, schemas: list[str]) -> dict[str, Any]:
    """What is new after loading a library into this process."""
    before, fallbacks_before = dumps(), fallbacks()
    try:
        torch.ops.load_library(library)
    except OSError as error:
        return {"error": str(error)}
    changed = {name: (before.get(name, ""), dump) for name, dump in dumps().items() if before.get(name) != dump}
    known = [name for name, (_, dump) in changed.items() if "\nschema: (none)\n" not in dump]
    parts = {name: (name.partition(".")[0], name.partition(".")[2]) for name in known}
    tags = {name: sorted(tag.name for tag in torch._C._get_operation_overload(*parts[name])[2]) for name in known}
    stubs = {name: torch._C._dispatch_pystub(*parts[name]) for name in known}
    return {
        "operators": changed,
        "tags": tags,
        "stubs": {name: stub[0] for name, stub in stubs.items() if stub is not None},
        "fallbacks": [line for line in fallbacks() if line not in fallbacks_before],
        "schemas": {schema: printed(schema) for schema in schemas},
        "error": None,
    }


def in_a_child(request: dict[str, Any]) -> dict[str, Any]:
    """`loaded` in a fork of this process, which a crash does not reach."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        with os.fdopen(writing, "w") as pipe:
            json.dump(loaded(request["library"], request["schemas"]), pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    status = os.waitpid(child, 0)[1]
    answer: dict[str, Any] = json.loads(text) if status == 0 else {"error": f"wait status {status}"}
    return answer


def main() -> None:
    """Answer the request on stdin."""
    library = torch.library.Library(SCRATCH, "DEF")
    library.define("nothing() -> ()")
    print(json.dumps({name: in_a_child(request) for name, request in json.load(sys.stdin).items()}))


main()
