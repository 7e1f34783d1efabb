"""Open documents: their bytes, kept in step with the editor by our own line table."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from op_lint.text import SourceText


class Document(msgspec.Struct, frozen=True):
    """What an editor has open. `version` is the client's; `data` is the text in UTF-8, line ends as they are."""

    uri: str
    language_id: str
    version: int
    data: bytes


class Change(msgspec.Struct, frozen=True):
    """An edit as the protocol has it: 0-based lines, columns in the client's units. Without `start` all is replaced."""

    text: str
    start: tuple[int, int] | None = None
    end: tuple[int, int] | None = None


def encoded(text: str) -> bytes:
    """The text in UTF-8. Half of a surrogate pair becomes U+FFFD: as long in UTF-16, so that columns stay right."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def changed(data: bytes, changes: Iterable[Change], encoding: str) -> bytes:
    """`data` after the edits, one after the other. Positions beyond a line or the file are clamped to it."""
    for change in changes:
        inserted = encoded(change.text)
        if change.start is None or change.end is None:
            data = inserted
            continue
        text = SourceText(data)
        start = text.offset_of(*change.start, encoding)
        end = max(start, text.offset_of(*change.end, encoding))
        data = data[:start] + inserted + data[end:]
    return data
