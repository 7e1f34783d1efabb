"""What several subcommands print, and how."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

from op_lint.installed.model import Origin
from op_lint.installed.reader import Reading


def describe_torch(reading: Reading) -> Iterator[str]:
    """One line on the torch that the sources were held against, and one on each thing that went wrong with it."""
    version = reading.torch.version
    if reading.origin is Origin.SNAPSHOT:
        yield f"held against op-lint's snapshot of torch {version}"
    else:
        yield f"held against torch {version} ({reading.package})"
    for problem in reading.problems:
        yield f"torch: {problem.message}"


def plural(count: int, word: str) -> str:
    """`1 file`, `2 files`."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


@contextmanager
def whole_or_broken_pipe(stream: TextIO) -> Iterator[TextIO]:
    """Write to `stream` inside; a reader who goes away early (`| head`) is no error, and changes no exit status."""
    try:
        yield stream
        stream.flush()
    except BrokenPipeError:
        # Python flushes it once more at its end, which must not fail again.
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
