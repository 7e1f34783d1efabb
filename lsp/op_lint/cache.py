"""Facts kept between runs, by content: what was read once is not read again until something it depends on changes.

One folder serves every project and any number of processes at a time: an entry is written beside its place and
moved there whole, and an entry that is damaged, cut short or from another version of op-lint is thrown away
without a word. A cache that cannot be written costs time, never a result.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from op_lint import condition, facts
from op_lint.facts import FileFacts
from op_lint.version import VERSION
from op_lint.whole import TEMPORARY, replace_whole

_DIGEST_SIZE = 16
_DAY = 24 * 60 * 60
_OLDEST = 30 * _DAY
"""Seconds after its last use at which an entry goes."""
_LARGEST = 256 * 1024 * 1024
"""Bytes of all entries above which the longest unused go."""

_STAMP = "pruned"


def default_folder() -> Path:
    """The user's cache folder for op-lint, as the operating system has it."""
    from platformdirs import user_cache_path

    return user_cache_path("op-lint", appauthor=False)


_Kept = TypeVar("_Kept")


class _Cache(Generic[_Kept]):
    """Values of one type in files below one folder. All caches share it, so that one look prunes them all."""

    def __init__(self, folder: Path, type_: type[_Kept]) -> None:
        self._folder = folder / "facts"
        self._added = 0
        """Bytes that were kept since the last look at all of them."""
        self._decoder = msgspec.msgpack.Decoder(type_)
        self._encoder = msgspec.msgpack.Encoder()

    def _load(self, file: Path, is_it: Callable[[_Kept], bool] = lambda _: True) -> _Kept | None:
        """What is kept in `file`, or None. What is damaged, or is not what it should be, goes."""
        try:
            data = file.read_bytes()
        except OSError:
            return None
        digest, payload = data[:_DIGEST_SIZE], memoryview(data)[_DIGEST_SIZE:]  # the largest are not to be copied
        try:
            found = self._decoder.decode(payload) if digest == _digest(payload) else None
        except (msgspec.DecodeError, msgspec.ValidationError):
            found = None
        if found is None or not is_it(found):
            with suppress(OSError):
                file.unlink()
            return None
        self._mark_used(file)
        return found

    def _store(self, file: Path, value: _Kept) -> None:
        """Keep `value` in `file`; where that cannot be, do nothing."""
        with suppress(OSError, UnicodeEncodeError):  # a file's name that is no text is in no entry
            payload = self._encoder.encode(value)
            if not file.parent.is_dir():
                self._make_folder(file.parent)
            replace_whole(file, _digest(payload) + payload)
            self._added += _DIGEST_SIZE + len(payload)

    def _make_folder(self, folder: Path) -> None:
        is_new = not self._folder.is_dir()
        folder.mkdir(parents=True, exist_ok=True)
        if is_new:  # backup programs and git leave a folder alone that says what it is
            (self._folder / "CACHEDIR.TAG").write_text("Signature: 8a477f597d28d172789f06886806bc55\n")
            (self._folder / ".gitignore").write_text("*\n")

    def _mark_used(self, file: Path) -> None:
        with suppress(OSError):
            if time.time() - file.stat().st_mtime > _DAY:
                os.utime(file)


class RunCache(_Cache[_Kept]):
    """Whole runs by name, or other values of a `kind`. The name must name everything that is not looked at again."""

    def __init__(self, folder: Path, type_: type[_Kept], kind: str = "runs") -> None:
        super().__init__(folder, type_)
        self._kind = kind

    def get(self, name: str) -> _Kept | None:
        """The run that is kept under `name`, or None."""
        return self._load(self._folder / self._kind / name)

    def put(self, name: str, run: _Kept) -> None:
        """Keep a run in place of the last one of that name; where that cannot be, do nothing."""
        self._store(self._folder / self._kind / name, run)


class FactsCache(_Cache[FileFacts]):
    """The facts of files by key. The key must name everything that the facts depend on but the vocabulary itself."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, FileFacts)

    def get(self, path: str, key: str) -> FileFacts | None:
        """The facts of the file at `path` under `key`, or None where they are not kept."""
        return self._load(self._file(path, key), lambda found: found.path == path)

    def put(self, path: str, key: str, found: FileFacts) -> None:
        """Keep the facts of the file at `path` under `key`; where that cannot be, do nothing."""
        self._store(self._file(path, key), found)

    def prune(self, now: float | None = None) -> None:
        """Remove what was not used for a month, and the longest unused above the size limit.

        All entries are looked at once a day, and when those of the last look and what came since are above the limit.
        """
        now = time.time() if now is None else now
        stamp = self._folder / _STAMP
        added, self._added = self._added, 0
        known = self._known_size(stamp, now)
        if known is not None and known + added <= _LARGEST:
            if added:
                self._note_size(stamp, known + added)
            return
        kept, room = 0, _LARGEST
        for used, size, file in sorted(self._entries(), reverse=True):
            room -= size
            if room < 0 or now - used > (_DAY if file.endswith(TEMPORARY) else _OLDEST):
                with suppress(OSError):
                    os.unlink(file)
            else:
                kept += size
        self._note_size(stamp, kept, now)

    def _known_size(self, stamp: Path, now: float) -> int | None:
        """Bytes of all entries as far as is known; None where it is time to look."""
        try:
            return int(stamp.read_text("ascii")) if now - stamp.stat().st_mtime < _DAY else None
        except (OSError, ValueError):  # there is none, it is damaged, or of an earlier version
            return None

    def _note_size(self, stamp: Path, size: int, now: float | None = None) -> None:
        """Write down how much there is; `now` is the time of the look that told, None where there was no new one."""
        with suppress(OSError):
            looked = stamp.stat().st_mtime if now is None else now
            if self._folder.is_dir():
                stamp.write_text(str(size), "ascii")
                os.utime(stamp, (looked, looked))

    def size(self) -> tuple[int, int]:
        """How many entries there are, and their bytes."""
        sizes = [size for _, size, _ in self._entries()]
        return len(sizes), sum(sizes)

    def _file(self, path: str, key: str) -> Path:
        name = blake2b(f"{path}\0{key}".encode(), key=vocabulary(), digest_size=_DIGEST_SIZE).hexdigest()
        return self._folder / name[:2] / name[2:]

    def _entries(self) -> Iterator[tuple[float, int, str]]:
        """Time of last use, bytes and path of each entry."""
        for folder in self._listed(self._folder):
            for entry in self._listed(Path(folder.path)) if folder.is_dir() else ():
                with suppress(OSError):
                    status = entry.stat()
                    yield status.st_mtime, status.st_size, entry.path

    def _listed(self, folder: Path) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(folder) as entries:
                return list(entries)
        except OSError:
            return []


def _digest(payload: bytes | memoryview) -> bytes:
    return blake2b(payload, digest_size=_DIGEST_SIZE).digest()


@cache
def vocabulary() -> bytes:
    """Names the shape of the values themselves, so that facts of another vocabulary are never found."""
    sources = (Path(module.__file__ or "").read_bytes() for module in (facts, condition))
    return _digest(b"\0".join((VERSION.encode(), *sources)))
