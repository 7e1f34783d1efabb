"""Runs the rows of a library made with `deferred.h`, each in a fork of this process, which a crash does not reach.

Given `{"library": PATH, "rows": [NUMBER, ...], "aborting": bool}` it prints for each row its exit status (negative: the
signal that ended it; 2: the dispatcher is in ruins), what it printed, and the dump of each operator in the namespace
`e`. With `aborting` an error ends the process, as it does while a library is loaded.
"""

import ctypes
import json
import os
import sys

import torch


def run(library: str, row: int, *, aborting: bool) -> int:
    """Run one row in this process; its status."""
    loaded = ctypes.CDLL(library, ctypes.RTLD_GLOBAL)
    if aborting:
        loaded.load_row(row)
        return 0
    status: int = loaded.run_row(row)
    ctypes.CDLL(None).fflush(None)
    return status


def dumps() -> list[str]:
    """What the dispatcher says of the operators in `e`."""
    return [torch._C._dispatch_dump(name) for name in torch._C._dispatch_get_all_op_names() if name.startswith("e::")]


def in_a_child(library: str, row: int, *, aborting: bool) -> dict[str, object]:
    """Run one row in a fork."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.dup2(writing, 1)
        os.dup2(writing, 2)
        status = run(library, row, aborting=aborting)
        try:
            os.write(1, "\n".join(dumps() if status == 0 else []).encode())
        except UnicodeDecodeError:  # a name of random bytes: what `Library` read from a namespace that is not there
            status = 2
        os._exit(status)
    os.close(writing)
    with os.fdopen(reading, errors="replace") as pipe:
        text = pipe.read()
    return {"status": os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), "text": text}


def main() -> None:
    """Answer the request on stdin."""
    request = json.load(sys.stdin)
    aborting = request.get("aborting", False)
    print(json.dumps([in_a_child(request["library"], row, aborting=aborting) for row in request["rows"]]))


main()
