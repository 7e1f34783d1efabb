"""Files written whole or not at all, so that neither an interrupt nor another process ever sees half of one."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

TEMPORARY = ".tmp"
"""The suffix of a file that is being written; one that is left was abandoned."""


def write_whole(file: Path, data: bytes) -> None:
    """Make `data` the content of `file`, with the permissions that it had. Raises OSError where that cannot be.

    A link is followed, and what is not a plain file (a terminal, a pipe) is written to as it is.
    """
    file = Path(os.path.realpath(file))
    if file.exists() and not file.is_file():
        file.write_bytes(data)
        return
    replace_whole(file, data, file.stat().st_mode & 0o7777 if file.exists() else 0o666 & ~_umask())


def replace_whole(file: Path, data: bytes, mode: int | None = None) -> None:
    """The same for a plain file; without `mode` it is for its owner alone."""
    descriptor, temporary = tempfile.mkstemp(prefix=f".{file.name[:64]}.", suffix=TEMPORARY, dir=file.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
        if mode is not None:
            os.chmod(temporary, mode)
        os.replace(temporary, file)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _umask() -> int:
    """The process's umask, which can be read by setting it only."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
