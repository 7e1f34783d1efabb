"""Child process: calls operators that have no tensor among their arguments, and says how each call ends.

Standard input: lists of `[kind, key]`, the registrations of one operator each; `kind` is `kernel` or `fallthrough`.
Standard output, for each: the first line of the error, null where the call returned.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import torch


def ending(number: int, steps: list[list[str]]) -> str | None:
    """How a call ends."""
    library = torch.library.Library("op_lint_makes", "FRAGMENT")
    name = f"make{number}"
    library.define(f"{name}(int n) -> int")
    for kind, key in steps:
        kernel: Any = torch.library.fallthrough_kernel if kind == "fallthrough" else lambda n: n
        library.impl(name, kernel, key)
    kept.append(library)
    try:
        getattr(torch.ops.op_lint_makes, name)(3)
    except Exception as error:  # whatever torch raises is the answer
        return str(error).splitlines()[0]
    return None


kept: list[Any] = []
json.dump([ending(number, steps) for number, steps in enumerate(json.load(sys.stdin))], sys.stdout)
