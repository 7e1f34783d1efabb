"""Keeps what was read of an installed torch, until another torch stands there.

An entry holds the files that it was read from with their sizes and modification times: torch's version file, its
extension module and main library, the folders of installed packages (any install or removal changes one: a package may
register operators when torch is imported), where else Python looks for a torch before it comes to this one, the
interpreter. All are compared on reading, so nothing stale is served; and nothing damaged, as of all that is kept.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from op_lint.cache import RunCache
from op_lint.installed.child import PROBE, module_path
from op_lint.installed.model import InstalledTorch
from op_lint.version import VERSION

# What in the environment decides which torch an interpreter imports.
_VARIABLES = ("PYTHONHOME", "PYTHONNOUSERSITE", "PYTHONUSERBASE", "TORCH_DEVICE_BACKEND_AUTOLOAD")


class Stamp(msgspec.Struct, frozen=True, array_like=True):
    """A file or folder as it was: modification time in nanoseconds, size in bytes."""

    path: str
    modified: int
    size: int


class CachedTorch(msgspec.Struct, frozen=True):
    """A torch as it was read: `package` is its folder."""

    package: str
    stamps: tuple[Stamp, ...]
    torch: InstalledTorch


class InstalledCache:
    """The torches in a cache folder; a folder that cannot be used holds none."""

    def __init__(self, folder: Path) -> None:
        self._kept = RunCache(folder, CachedTorch, "torch")

    def load(self, interpreter: str, environment: Mapping[str, str], *, isolated: bool) -> CachedTorch | None:
        """What was read with this interpreter, if the same torch is still there."""
        cached = self._kept.get(_name(interpreter, environment, isolated))
        if cached is None or stamp(entry.path for entry in cached.stamps) != cached.stamps:
            return None
        return cached

    def store(self, interpreter: str, environment: Mapping[str, str], cached: CachedTorch, *, isolated: bool) -> None:
        """Keep it. A cache that cannot be written costs time and is no error."""
        self._kept.put(_name(interpreter, environment, isolated), cached)


def _name(interpreter: str, environment: Mapping[str, str], isolated: bool) -> str:
    """Names what decides which torch is read, and how."""
    variables = [*(environment.get(name) for name in _VARIABLES), module_path(environment)]
    key = repr((VERSION, hashlib.sha256(PROBE.read_bytes()).digest(), interpreter, isolated, variables))
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def stamp(paths: Iterable[str]) -> tuple[Stamp, ...]:
    """The files as they are now; one that is not there has size -1."""
    return tuple(map(_stamp, paths))


def _stamp(path: str) -> Stamp:
    try:
        status = os.stat(path)
    except OSError:
        return Stamp(path, 0, -1)
    return Stamp(path, status.st_mtime_ns, status.st_size)
