"""URIs of documents and the files they mean."""

from __future__ import annotations

from pathlib import Path

from pygls.uris import from_fs_path, to_fs_path


def path_of(uri: str) -> Path | None:
    """The file that a URI means; None for a document that is no file (`untitled:`, a diff, a notebook's cell).

    What has a NUL in it names no file on any system, and libclang would read its name up to there.
    """
    if not uri.startswith("file:"):
        return None
    path = to_fs_path(uri)
    return Path(path) if path and "\0" not in path else None


def uri_of(path: Path) -> str:
    """The URI of a file."""
    return from_fs_path(str(path)) or ""
