"""What the server's workers do with a file that is being edited: they start from their last reading of it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from op_lint.analysis import Readers
from op_lint.cpp import CppReader
from op_lint.facts import FileFacts

if TYPE_CHECKING:
    from op_lint.cpp.incremental import Memory


class Rereading:
    """A `ReadFile` that remembers, in the process that it is called in, what it has read."""

    def __init__(self, readers: Readers) -> None:
        self._readers = readers

    def __call__(self, path: str, data: bytes | None) -> FileFacts:
        """The facts of one file: the same that `Readers.read` gives."""
        cpp = self._readers.cpp
        if isinstance(cpp, CppReader):
            cpp.memory = _memory()
        return self._readers.read(path, data)


@cache
def _memory() -> Memory:
    from op_lint.cpp.incremental import Memory

    return Memory()
