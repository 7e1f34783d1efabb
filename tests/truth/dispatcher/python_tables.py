"""Child process: runs a Python source and says what tables its operators have then.

Standard input: `[SOURCE, NAMESPACE, CALLS]`; each of CALLS is an expression to evaluate after it. Standard output:
`[{OPERATOR: {KEY: REASON}}, [the text of each call's error, null where it returns]]`.
"""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

import torch

C = torch._C


def table(operator: str) -> dict[str, str]:
    """The computed table: what stands in brackets at each key, or that it is a fallthrough."""
    rows: dict[str, str] = {}
    for line in C._dispatch_dump_table(operator).splitlines():
        key, _, entry = line.partition(": ")
        rows[key] = "fallthrough" if entry.startswith("fallthrough ") else entry[entry.rindex("[") + 1 : -1]
    return rows


def ending(call: str, names: dict[str, Any]) -> str | None:
    """How a call ends."""
    try:
        eval(call, names)
    except Exception as error:  # whatever torch raises is the answer
        return str(error)
    return None


def main() -> None:
    """Answer the request on stdin."""
    warnings.simplefilter("ignore")
    source, namespace, calls = json.load(sys.stdin)
    names: dict[str, Any] = {"__name__": "ops"}
    exec(compile(source, "ops.py", "exec"), names)
    found = [name for name in C._dispatch_get_all_op_names() if name.startswith(f"{namespace}::")]
    print(json.dumps([{name: table(name) for name in found}, [ending(call, names) for call in calls]]))


main()
