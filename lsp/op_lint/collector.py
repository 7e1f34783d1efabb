"""Python's garbage collector, kept away from work that makes many values and no cycles."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager


def without_a_last_look() -> None:
    """Let this process end without a search for cycles in all that it read, which takes seconds in a large project."""
    atexit.register(gc.freeze)


@contextmanager
def without_collector() -> Iterator[None]:
    """Do something without garbage collection.

    Facts, syntax trees and findings are trees: looking for cycles finds nothing, and with a large project in memory
    each look takes as long as the work itself. Values that nothing refers to go all the same.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
