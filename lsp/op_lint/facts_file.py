"""Facts in files, to be read on one machine and judged on another.

A build system that spreads work and keeps its results can do the reading: one file of facts for each of its actions.
The same sources under the same settings give the same bytes, whatever the folder, the machine or the order of the
arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

import msgspec

from op_lint.config import Settings
from op_lint.facts import FileFacts, Language
from op_lint.files import language_of
from op_lint.python.options import Wrapper
from op_lint.version import VERSION

SUFFIX = ".facts"
"""What files of facts are called in a folder that is searched for them."""

_MAGIC = b"op-lint facts"
_READERS = ("facts.py", "condition.py", "suppress.py", "cpp/**/*.py", "cpp/overlay/*", "python/**/*.py")
"""What decides on the facts of a file, relative to this package."""


_Part = TypeVar("_Part", FileFacts, "Scanned")


class FactsFileError(ValueError):
    """Why facts cannot be used: a line for the user."""


class ReadWith(msgspec.Struct, frozen=True):
    """The settings that facts depend on."""

    include_dirs: tuple[str, ...]
    defines: tuple[str, ...]
    wrappers: tuple[Wrapper, ...]
    compile_commands: str | None

    @staticmethod
    def of(settings: Settings) -> ReadWith:
        """The part of a project's settings."""
        return ReadWith(settings.include_dirs, settings.defines, settings.wrappers, settings.compile_commands)


class Scanned(msgspec.Struct, frozen=True, order=True):
    """A file that was looked at, whether or not it has facts, and the SHA-256 of its content."""

    path: str
    digest: str
    is_candidate: bool


class KeptFacts(msgspec.Struct, frozen=True):
    """What one or more files of facts hold: everything sorted by path."""

    settings: ReadWith
    scanned: tuple[Scanned, ...]
    files: tuple[FileFacts, ...]

    def paths(self, language: Language) -> tuple[str, ...]:
        """The files of one language that were looked at."""
        return tuple(each.path for each in self.scanned if language_of(each.path) is language)


def encode(kept: KeptFacts) -> bytes:
    """The content of a file of facts: a line that says what made it, and the facts."""
    body = msgspec.msgpack.encode(kept)
    return b"%b %b %b\n%b" % (_MAGIC, _maker().encode(), sha256(body).hexdigest().encode(), body)


def decode(data: bytes, name: str) -> KeptFacts:
    """Read the content of the file `name`. Raises FactsFileError where it is not as this op-lint wrote it."""
    header, newline, body = data.partition(b"\n")
    if not header.startswith(_MAGIC + b" ") or not newline:
        raise FactsFileError(f"{name} is not a file of facts: `op-lint facts FILES -o {name}` makes one")
    maker, _, digest = header[len(_MAGIC) + 1 :].decode("ascii", "replace").rpartition(" ")
    if maker != _maker():
        version = maker.partition(" ")[0]
        theirs = f"another build of op-lint {version}" if version == VERSION else f"op-lint {version}"
        raise FactsFileError(f"{name} was made by {theirs}, this is {VERSION}: make it again with this one")
    if digest != sha256(body).hexdigest():
        raise FactsFileError(f"{name} is damaged or cut short: make it again")
    return msgspec.msgpack.decode(body, type=KeptFacts)


def load(files: Sequence[Path], settings: Settings) -> KeptFacts:
    """The facts of several files as one. Raises FactsFileError where they do not fit together or to the settings."""
    wanted = ReadWith.of(settings)
    facts: dict[str, tuple[FileFacts, Path]] = {}
    scanned: dict[str, tuple[Scanned, Path]] = {}
    for file in files:
        try:
            kept = decode(file.read_bytes(), str(file))
        except OSError as error:
            raise FactsFileError(f"{file} cannot be read: {error.strerror or error}") from error
        if kept.settings != wanted:
            raise FactsFileError(f"{file} was made with other settings ({_differences(kept.settings, wanted)})")
        _merge(scanned, kept.scanned, file)
        _merge(facts, kept.files, file)
    return KeptFacts(
        wanted,
        tuple(each for _, (each, _) in sorted(scanned.items())),
        tuple(each for _, (each, _) in sorted(facts.items())),
    )


def is_one(path: Path) -> bool:
    """Whether a file is one of facts, whoever made it."""
    try:
        with path.open("rb") as stream:
            return stream.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def require_unchanged(kept: KeptFacts, root: Path) -> None:
    """Raise FactsFileError where a source is not any more what it was when its facts were read.

    One that is gone is none: facts can be judged where the sources are not.
    """
    changed = [each.path for each in kept.scanned if _digest(root / each.path) not in (each.digest, None)]
    if changed:
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        raise FactsFileError(f"{changed[0]}{more} changed since the facts were read: make them again")


def _digest(file: Path) -> str | None:
    try:
        return sha256(file.read_bytes()).hexdigest()
    except OSError:
        return None


def _merge(found: dict[str, tuple[_Part, Path]], more: Iterable[_Part], file: Path) -> None:
    for each in more:
        before, where = found.setdefault(each.path, (each, file))
        if before != each:
            raise FactsFileError(
                f"{where} and {file} say different things of {each.path}: one is older than it, or saw other headers"
            )


def _differences(theirs: ReadWith, ours: ReadWith) -> str:
    names = [name for name in ReadWith.__struct_fields__ if getattr(theirs, name) != getattr(ours, name)]
    return "; ".join(
        f"{name.replace('_', '-')}: {_words(getattr(theirs, name))}, now {_words(getattr(ours, name))}"
        for name in names
    )


def _words(value: object) -> str:
    return msgspec.json.encode(value).decode() if value else "none"


@cache
def _maker() -> str:
    """Names this op-lint: its version, and a digest of the sources that decide on facts."""
    package = Path(__file__).parent
    digest = sha256()
    for file in sorted({file for pattern in _READERS for file in package.glob(pattern) if file.is_file()}):
        digest.update(file.relative_to(package).as_posix().encode() + b"\0" + file.read_bytes())
    return f"{VERSION} {digest.hexdigest()[:16]}"
