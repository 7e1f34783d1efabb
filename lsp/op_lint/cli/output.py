"""Writing to a stream, whoever reads it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO


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
