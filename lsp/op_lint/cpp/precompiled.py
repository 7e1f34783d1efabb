"""The overlay header, precompiled: parsing it anew for each source takes as long as the source.

A precompiled header is a file, which belongs to one process and those that it forks and is gone with the last of them:
it has no name, only a descriptor. Where the operating system has no such files, the header is parsed each time.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from op_lint.cpp import clang

_LANGUAGE = ("-x", "c++")
"""The only one with enough files to be worth it."""

_AFTER = 2
"""Parses with the same arguments after which it pays."""
_MOST = 8
"""Headers at most: a project that compiles each file with other macros has no use for them."""
_LARGEST = 4 * 1024 * 1024
"""Bytes that a precompiled header may take."""


class _Header(NamedTuple):
    """A file without a name. Its descriptor may have been closed, and given to another file, by whoever closes
    descriptors that are not theirs: it is looked at before each use.
    """

    descriptor: int
    identity: tuple[int, int]
    """Device and inode."""

    @property
    def path(self) -> str:
        return f"/proc/self/fd/{self.descriptor}"

    def is_there(self) -> bool:
        with suppress(OSError):
            return _identity(self.descriptor) == self.identity
        return False


def _identity(descriptor: int) -> tuple[int, int]:
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino


_uses: Counter[tuple[str, ...]] = Counter()
_made: dict[tuple[str, ...], _Header | None] = {}


def with_precompiled(arguments: Sequence[str], name: str, content: bytes) -> Sequence[str]:
    """`arguments`, which end by including the header `name`, or others that have the same effect in less time."""
    if tuple(arguments[:2]) != _LANGUAGE or tuple(arguments[-2:]) != ("-include", name) or not _has_descriptors():
        return arguments
    others = tuple(arguments[:-2])
    if others not in _made:
        _uses[others] += 1
        if _uses[others] < _AFTER or len(_made) >= _MOST:
            return arguments
        _made[others] = _precompile(others, name, content)
    header = _made[others]
    if header is not None and not header.is_there():
        header = _made[others] = _precompile(others, name, content)
    return arguments if header is None else [*others, "-include-pch", header.path]


def _has_descriptors() -> bool:
    return sys.platform == "linux"


def _require_room(file: str) -> None:
    """Raise OSError where no large file can be written: libclang ends the process when it runs out of room."""
    with open(file, "wb") as stream:
        os.posix_fallocate(stream.fileno(), 0, _LARGEST)
    os.unlink(file)


def _precompile(arguments: tuple[str, ...], name: str, content: bytes) -> _Header | None:
    """The precompiled header; None where it cannot be made."""
    with suppress(clang.ParseError, OSError), tempfile.TemporaryDirectory(prefix="op-lint-") as folder:
        file = os.path.join(folder, "overlay.pch")
        _require_room(file)
        unit = clang.parse(name, {name: content}, ["-x", "c++-header", *arguments[len(_LANGUAGE) :]])
        if unit.save(file):
            descriptor = os.open(file, os.O_RDONLY)
            return _Header(descriptor, _identity(descriptor))
    return None
