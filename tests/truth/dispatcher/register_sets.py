"""Child process: registers sets of kernels for real, in the order given, and prints what torch makes of each.

Standard input: `sets` (lists of steps) and `fallbacks` (`[key, kind]`, registered when half of the sets are). A step is
`["define"]`, `["def", key]` (C++, with a kernel; key may be empty), `["cpp", key]` (C++ kernel), `["python", key]` or
`["fallthrough", key]`. Step `i` of a set appears in torch's dump as `registered at /step:i` (Python) or `step i` (C++).
Standard output, for each set: `dump`, `table`, and `live`, those of the `askable` keys that really have a kernel.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import torch

C = torch._C
NAMESPACE = "op_lint_sets"
SCHEMA = "(Tensor self) -> Tensor"


def identity(tensor: Any) -> Any:
    return tensor


def keys_by_name() -> dict[str, Any]:
    """Every key of the enum; torch's own parser does not know all of them."""
    found: dict[str, Any] = {}
    value = 1
    while value < 64 or C._dispatch_key_name(C.DispatchKey(value)) != "UnknownUnknown":
        found[C._dispatch_key_name(C.DispatchKey(value))] = C.DispatchKey(value)
        value += 1
    return found


KEYS = keys_by_name()


def python_kernel(library: Any, name: str, key: str, function: Callable[..., Any]) -> None:
    library.impl(name, KEYS[key], function, False)


def take(name: str, number: int, step: list[str]) -> Any:
    """Do one step; the library that it lives in."""
    library = C._dispatch_library("FRAGMENT", NAMESPACE, "", "/step", number)
    kind, *key = step
    if kind == "define":
        library.define(name + SCHEMA, "")
    elif kind == "def":
        library.def_schema_t_t(name + SCHEMA, key[0], "", f"step {number}")
    elif kind == "cpp":
        library.impl_t_t(name, key[0], f"step {number}")
    elif kind == "python":
        python_kernel(library, name, key[0], identity)
    else:
        python_kernel(library, name, key[0], torch.library.fallthrough_kernel)
    return library


def fall_back(key: str, kind: str) -> Any:
    library = torch.library.Library("_", "IMPL", key)
    library.fallback(torch.library.fallthrough_kernel if kind == "fallthrough" else identity, key)
    return library


def main() -> None:
    request = json.load(sys.stdin)
    runtime = C._dispatch_keyset_to_string(C._dispatch_keyset_full())[len("DispatchKeySet(") : -1].split(", ")
    askable = [key for key in runtime if C._parse_dispatch_key(key) is not None]
    kept: list[Any] = []
    half = len(request["sets"]) // 2
    for index, steps in enumerate(request["sets"]):
        if index == half:
            kept.extend(fall_back(key, kind) for key, kind in request["fallbacks"])
        kept.extend(take(f"f{index}", number, step) for number, step in enumerate(steps))
    answers = []
    for index in range(len(request["sets"])):
        name = f"{NAMESPACE}::f{index}"
        live = [key for key in askable if C._dispatch_has_computed_kernel_for_dispatch_key(name, key)]
        answers.append({"dump": C._dispatch_dump(name), "table": C._dispatch_dump_table(name), "live": live})
    nothing = C._dispatch_library("FRAGMENT", NAMESPACE, "", "/step", 0)
    nothing.define("nothing() -> ()", "")
    json.dump(
        {"sets": answers, "askable": askable, "fallbacks": C._dispatch_dump_table(f"{NAMESPACE}::nothing")}, sys.stdout
    )
    sys.stdout.flush()


if __name__ == "__main__":
    main()
