"""Which questions reading build files asks the file system: where all answers are the same, so is what was read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from hashlib import blake2b
from pathlib import Path

import msgspec

from op_lint.build.files import BuildFiles, Entry

DIGEST_SIZE = 16


class Look(msgspec.Struct, frozen=True, array_like=True):
    """A question to the file system, by the absolute path it is about, and a digest of the answer."""

    question: str
    path: str
    answer: bytes


class Watched(BuildFiles):
    """The files that build files speak of, with a record of every question that was asked and its answer."""

    def __init__(self, root: Path, buffers: Mapping[str, bytes]) -> None:
        super().__init__(root, buffers)
        self._answers: dict[tuple[str, str], bytes] = {}

    @property
    def looks(self) -> tuple[Look, ...]:
        """What was asked, in the order of the paths."""
        return tuple(Look(*asked, answer) for asked, answer in sorted(self._answers.items()))

    def remember(self, looks: Iterable[Look]) -> None:
        """Count questions that were asked elsewhere among those of these files."""
        self._answers.update({(look.question, look.path): look.answer for look in looks})

    def read(self, path: str) -> bytes | None:
        """As there; the answer is remembered."""
        data = super().read(path)
        self._answers["read", path] = digest_of(data)
        return data

    def is_file(self, path: str) -> bool:
        """As there; the answer is remembered."""
        found = super().is_file(path)
        self._answers["file", path] = digest_of(found)
        return found

    def is_there(self, path: str) -> bool:
        """As there; the answer is remembered."""
        found = super().is_there(path)
        self._answers["there", path] = digest_of(found)
        return found

    def is_folder(self, path: str) -> bool:
        """As there; the answer is remembered."""
        found = super().is_folder(path)
        self._answers["folder", path] = digest_of(found)
        return found

    def real_folder(self, folder: str) -> str:
        """As there; the answer is remembered."""
        found = super().real_folder(folder)
        self._answers["real", folder] = digest_of(found)
        return found

    def changed(self, path: str) -> float:
        """As there; the answer is remembered."""
        found = super().changed(path)
        self._answers["changed", path] = digest_of(found)
        return found

    def entries(self, folder: str) -> tuple[Entry, ...]:
        """As there; the answer is remembered."""
        found = super().entries(folder)
        self._answers["entries", folder] = digest_of(found)
        return found


def same_answers(files: BuildFiles, looks: Iterable[Look], known: Mapping[tuple[str, str], bytes] = {}) -> bool:
    """Whether every question still has the same answer. `known` are answers that need not be asked for again."""
    ask: Mapping[str, Callable[[str], object]] = {
        "read": files.read,
        "file": files.is_file,
        "there": files.is_there,
        "folder": files.is_folder,
        "real": files.real_folder,
        "changed": files.changed,
        "entries": files.entries,
    }
    return all(
        (known.get((look.question, look.path)) or digest_of(ask[look.question](look.path))) == look.answer
        for look in looks
    )


def digest_of(value: object) -> bytes:
    """A digest of a content, or of any value that can be encoded."""
    try:
        data = value if isinstance(value, bytes) else msgspec.msgpack.encode(value)
    except UnicodeEncodeError:  # a file's name that is no text
        data = repr(value).encode()
    return blake2b(data, digest_size=DIGEST_SIZE).digest()
