"""How long the phases of a run take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Stopwatch:
    """The seconds that each phase took, in the order of their start. `entered` is told when one begins."""

    def __init__(self, entered: Callable[[str], None] = lambda _: None) -> None:
        self._entered = entered
        self.seconds: dict[str, float] = {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time what happens inside; the times of one name add up, also where it ends with an exception."""
        self._entered(name)
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start
