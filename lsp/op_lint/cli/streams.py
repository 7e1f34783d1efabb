"""Writing to those who may stop listening. Nothing else is imported here: also `--version` needs it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO


def say(line: str) -> None:
    """A line for people, on stderr."""
    with whole_or_broken_pipe(sys.stderr) as stream:
        stream.write(f"{line}\n")


@contextmanager
def whole_or_broken_pipe(stream: TextIO) -> Iterator[TextIO]:
    """Write to `stream` inside; a reader who goes away early (`| head`) is no error, and changes no exit status."""
    try:
        yield stream
        stream.flush()
    except BrokenPipeError:
        _lead_nowhere(stream)
    except OSError:
        _lead_nowhere(stream)
        raise


def _lead_nowhere(stream: TextIO) -> None:
    """Python flushes a stream once more at its end, which must not fail again."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
