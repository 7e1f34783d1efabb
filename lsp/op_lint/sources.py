"""The text behind places: from the byte offsets of facts to lines and columns that a reader can find."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from op_lint.facts import Place
from op_lint.files import relative_path
from op_lint.text import SourceText


class Location(msgspec.Struct, frozen=True, order=True):
    """A place for people: 1-based lines and columns, columns in characters, the end exclusive."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"


class Sources:
    """The files of a project as they are on disk, or in `buffers` (by the path that facts use). Each is read once.

    `shown_from` is the folder that shown paths are relative to; a file outside it is shown with its absolute path.
    """

    def __init__(self, root: Path, buffers: Mapping[str, bytes], shown_from: Path) -> None:
        self._root = root
        self._buffers = buffers
        self._shown_from = shown_from
        self._texts: dict[str, SourceText] = {}

    @property
    def base(self) -> Path:
        """The folder that shown paths are relative to."""
        return self._shown_from

    def seen_from(self, folder: Path) -> Sources:
        """The same texts, with paths relative to another folder."""
        other = Sources(self._root, self._buffers, folder)
        other._texts = self._texts
        return other

    def text(self, path: str) -> SourceText:
        """The text of the file that facts call `path`; empty where it cannot be read any more."""
        if path not in self._texts:
            self._texts[path] = SourceText(self._bytes(path))
        return self._texts[path]

    def location(self, place: Place) -> Location:
        """Where `place` is; in a file that is gone, the line that the place itself names."""
        text = self.text(place.path)
        shown = self.shown(place.path)
        if place.end > len(text.data):
            return Location(shown, place.line, 1, place.line, 1)
        return Location(shown, *text.line_column(place.start), *text.line_column(place.end))

    def shown(self, path: str) -> str:
        """The path as a report names it."""
        return relative_path(self._root / path, self._shown_from)

    def _bytes(self, path: str) -> bytes:
        if path in self._buffers:
            return self._buffers[path]
        try:
            return (self._root / path).read_bytes()
        except OSError:
            return b""
