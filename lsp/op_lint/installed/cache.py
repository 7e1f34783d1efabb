"""Keeps what was read of an installed torch, until another torch stands there.

An entry holds the files that it was read from with their sizes and modification times: torch's version file, its
extension module and main library, the folder of installed packages (any install or removal changes it: a package may
register operators when torch is imported), the interpreter. All are compared on reading, so nothing stale is served.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from op_lint.installed.child import PROBE
from op_lint.installed.model import InstalledTorch
from op_lint.version import VERSION

# What in the environment decides which torch an interpreter imports.
_VARIABLES = ("PYTHONHOME", "PYTHONPATH", "PYTHONNOUSERSITE", "PYTHONUSERBASE", "TORCH_DEVICE_BACKEND_AUTOLOAD")


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
    """The cache in one folder; a folder that cannot be used is a cache that holds nothing."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def load(self, interpreter: str, environment: Mapping[str, str], *, isolated: bool) -> CachedTorch | None:
        """What was read with this interpreter, if the same torch is still there."""
        try:
            data = self._file(interpreter, environment, isolated).read_bytes()
            cached = msgspec.msgpack.decode(data, type=CachedTorch)
        except (OSError, msgspec.DecodeError):
            return None
        return cached if stamp(entry.path for entry in cached.stamps) == cached.stamps else None

    def store(self, interpreter: str, environment: Mapping[str, str], cached: CachedTorch, *, isolated: bool) -> None:
        """Keep it. A cache that cannot be written costs time and is no error."""
        target = self._file(interpreter, environment, isolated)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self._folder, suffix=".part", delete=False) as part:
                part.write(msgspec.msgpack.encode(cached))
            os.replace(part.name, target)
        except OSError:
            return

    def _file(self, interpreter: str, environment: Mapping[str, str], isolated: bool) -> Path:
        probe = hashlib.sha256(PROBE.read_bytes()).hexdigest()
        variables = [environment.get(name) for name in _VARIABLES]
        key = msgspec.json.encode([VERSION, probe, interpreter, isolated, variables])
        return self._folder / f"torch-{hashlib.sha256(key).hexdigest()[:24]}.msgpack"


def stamp(paths: Iterable[str]) -> tuple[Stamp, ...]:
    """The files as they are now; one that is gone has size -1."""
    return tuple(map(_stamp, paths))


def _stamp(path: str) -> Stamp:
    try:
        status = os.stat(path)
    except OSError:
        return Stamp(path, 0, -1)
    return Stamp(path, status.st_mtime_ns, status.st_size)
