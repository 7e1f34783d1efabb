"""Which Python's torch to read: the written order of the places to look, and why each was taken or passed over.

1. `--python`                2. the configuration        3. the editor's choice
4. `$VIRTUAL_ENV`            5. `$CONDA_PREFIX`          6. `.venv` in the project's root
7. the interpreter op-lint runs in

The first that exists is used, whether or not it has torch: another torch than the expected one is worse than none.
`--python` that does not exist ends the search; a configuration or editor's choice that is gone does not.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path

import msgspec

_IN_ENVIRONMENT = ("Scripts/python.exe", "python.exe") if os.name == "nt" else ("bin/python", "bin/python3")


class InterpreterSource(str, Enum):
    """Who named an interpreter, in the order of the search."""

    OPTION = "--python"
    CONFIGURATION = "configuration"
    EDITOR = "editor"
    VIRTUAL_ENV = "$VIRTUAL_ENV"
    CONDA_PREFIX = "$CONDA_PREFIX"
    PROJECT = ".venv"
    OWN = "op-lint's own"


class InterpreterSearch(msgspec.Struct, frozen=True):
    """What is known before the search.

    `option`, `configured` and `editor` are as written: a path, a path with `~`, a command on `PATH`, or the folder of
    an environment; a relative `option` is relative to the current folder, the others to `root`, the project's root.
    `trusted` is False for a workspace that the user has not vouched for: then nothing that it holds or names is run.
    """

    option: str | None = None
    configured: str | None = None
    editor: str | None = None
    root: Path | None = None
    environment: Mapping[str, str] = {}
    own: str = sys.executable
    trusted: bool = True


class Candidate(msgspec.Struct, frozen=True):
    """One place of the search: what it names (None: nothing), and what came of it, in words."""

    source: InterpreterSource
    named: str | None
    verdict: str


class Interpreter(msgspec.Struct, frozen=True):
    """The outcome: `path` is absolute, None where nothing was found. `candidates` are the places seen, in order."""

    path: str | None
    source: InterpreterSource | None
    candidates: tuple[Candidate, ...]


def find_interpreter(search: InterpreterSearch) -> Interpreter:
    """Search in the written order. Touches the disk, runs nothing."""
    candidates: list[Candidate] = []
    for source, named, base in _places(search):
        found = None if named is None else _resolve(named, base)
        refusal = _refusal(search, source, found)
        if found is not None and refusal is None:
            candidates.append(Candidate(source, named, "used"))
            return Interpreter(found, source, tuple(candidates))
        candidates.append(Candidate(source, named, refusal or _absence(named, base)))
        if source is InterpreterSource.OPTION and named is not None:
            break
    return Interpreter(None, None, tuple(candidates))


def _places(search: InterpreterSearch) -> Iterator[tuple[InterpreterSource, str | None, Path]]:
    """Each place with what it names and the folder that a relative path starts from."""
    here = Path.cwd()
    root = search.root or here
    yield InterpreterSource.OPTION, search.option or None, here
    yield InterpreterSource.CONFIGURATION, search.configured or None, root
    yield InterpreterSource.EDITOR, search.editor or None, root
    yield InterpreterSource.VIRTUAL_ENV, search.environment.get("VIRTUAL_ENV") or None, here
    yield InterpreterSource.CONDA_PREFIX, search.environment.get("CONDA_PREFIX") or None, here
    environment = None if search.root is None else search.root / ".venv"
    yield InterpreterSource.PROJECT, str(environment) if environment and os.path.isdir(environment) else None, root
    yield InterpreterSource.OWN, search.own or None, here


def _resolve(named: str, base: Path) -> str | None:
    """The absolute path of the interpreter that `named` means; links are kept: they are what makes an environment."""
    if os.path.basename(named) == named and not os.path.exists(base / named):
        command = shutil.which(named)
        return None if command is None else os.path.abspath(command)
    # Of os.path: pathlib raises for what lies in a folder that may not be looked into, and such a path is just no use.
    path = Path(os.path.abspath(base / Path(named).expanduser()))
    options = [path / inside for inside in _IN_ENVIRONMENT] if os.path.isdir(path) else [path]
    return next((str(option) for option in options if os.path.isfile(option) and os.access(option, os.X_OK)), None)


def _absence(named: str | None, base: Path) -> str:
    """Why nothing that can be run was found where `named` says."""
    if named is None:
        return "not there"
    path = os.path.join(base, os.path.expanduser(named))
    if os.path.isdir(path):
        return f"has no {_IN_ENVIRONMENT[0]}"
    return "is not executable" if os.path.exists(path) else "does not exist"


def _refusal(search: InterpreterSearch, source: InterpreterSource, found: str | None) -> str | None:
    if search.trusted or found is None:
        return None
    if source in (InterpreterSource.CONFIGURATION, InterpreterSource.EDITOR):
        return "named by a workspace that is not trusted"
    if search.root is not None and _inside(Path(found), search.root):
        return "inside a workspace that is not trusted"
    return None


def _inside(path: Path, root: Path) -> bool:
    """Whether `path`, or what it links to, lies in `root`."""
    resolved = root.resolve()
    return any(candidate.is_relative_to(resolved) for candidate in (path.parent.resolve() / path.name, path.resolve()))
