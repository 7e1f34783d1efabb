"""Child process: runs programs that fail, each in a fork of this process and in a folder of its own.

Standard input: `[[FOLDER, PROGRAM], ...]`. Standard output: what each printed, the traceback among it.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
import traceback
import warnings

import torch


def failing(folder: str, program: str) -> str:
    """What a program prints."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.dup2(writing, 1)
        os.dup2(writing, 2)
        os.chdir(folder)
        sys.path.insert(0, folder)
        warnings.simplefilter("default")  # a warning is an answer, too
        try:
            runpy.run_path(program, run_name="__main__")
        except Exception:  # whatever torch raises is the answer
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, errors="replace") as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return text


def main() -> None:
    """Answer the request on stdin."""
    torch.set_num_threads(1)
    print(json.dumps([failing(*each) for each in json.load(sys.stdin)]))


main()
