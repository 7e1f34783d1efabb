"""What the Python files of a project say, kept in one file between runs.

Of ten thousand Python files some hundred register or call operators. To look for marks in the text of all, and to open
an entry of the cache for each of those, takes several times as long as everything else in a run before which nothing
was changed.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Sequence
from hashlib import blake2b
from pathlib import Path

import msgspec

from op_lint.cache import RunCache, vocabulary
from op_lint.collector import without_collector
from op_lint.facts import FileFacts, Language

_DIGEST_SIZE = 16


class PackedFile(msgspec.Struct, frozen=True, array_like=True):
    """A file by the digest of its content, and what it says by itself."""

    digest: bytes
    is_candidate: bool
    facts: FileFacts


class Packed(msgspec.Struct, frozen=True):
    """All files. `linked` are the facts of those of which the files together say something else."""

    files: tuple[PackedFile, ...] = ()
    linked: tuple[FileFacts, ...] = ()


class Pack:
    """The Python files of one project: those of the last run that kept them, and those of this run.

    `made_by` names what their facts depend on besides their content.
    """

    def __init__(self, folder: Path, root: Path, made_by: bytes) -> None:
        self._cache = RunCache(folder, Packed, "python")
        named_by = b"\0".join((os.fsencode(root), made_by))
        self._name = blake2b(named_by, key=vocabulary(), digest_size=_DIGEST_SIZE).hexdigest()
        with without_collector():
            self._kept = self._cache.get(self._name) or Packed()
        self._before = {file.facts.path: file for file in self._kept.files}
        self._digests: dict[str, bytes] = {}
        self._files: tuple[PackedFile, ...] = ()

    def get(self, path: str, data: bytes) -> PackedFile | None:
        """What is known of the file at `path` if `data` is what it was when that was kept."""
        digest = self._digests[path] = blake2b(data, digest_size=_DIGEST_SIZE).digest()
        known = self._before.get(path)
        return known if known is not None and known.digest == digest else None

    def note(self, found: Iterable[FileFacts], *, candidates: Container[str]) -> None:
        """Take what this run knows of the files that it asked for; those that it leaves out are read again."""
        self._files = tuple(
            PackedFile(self._digests[facts.path], facts.path in candidates, facts)
            for facts in found
            if facts.path in self._digests
        )

    def linked(self, files: Sequence[FileFacts]) -> tuple[FileFacts, ...] | None:
        """`files` with what they say together; None if one of Python is not as it was, is new, or is gone."""
        if self._digests != {path: file.digest for path, file in self._before.items()}:
            return None
        linked = {facts.path: facts for facts in self._kept.linked}
        return tuple(linked.get(facts.path, facts) for facts in files)

    def keep(self, alone: Iterable[FileFacts], together: Iterable[FileFacts]) -> None:
        """Keep the files of this run. `alone` and `together` are the facts of each before and after linking."""
        changed = (after for before, after in zip(alone, together, strict=True) if after is not before)
        linked = tuple(facts for facts in changed if facts.language is Language.PYTHON)
        self._cache.put(self._name, Packed(self._files, linked))
