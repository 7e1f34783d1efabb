"""Sources changed until there is nothing more to change: in memory, and at the end on disk.

Round after round the project is examined, the edits of what was found are made in buffers, and it is examined again:
a fix may uncover another finding, and two fixes that touch each other cannot be made at once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from op_lint.findings import Edit, Finding
from op_lint.fixes import edited
from op_lint.project import Project
from op_lint.whole import write_whole

Look = TypeVar("Look")
"""What is seen of the project in each round."""

_MOST_ROUNDS = 20
"""Fixes that are still at work after this many rounds undo each other."""


class Step(msgspec.Struct, frozen=True):
    """What to change next: edits, and the findings that they are about."""

    edits: tuple[Edit, ...]
    findings: tuple[Finding, ...]


class Rewritten(msgspec.Struct, Generic[Look], frozen=True):
    """What came of it: the project with its changed files as buffers, and their contents before.

    `findings` are those that the edits were about; `first` and `last` what was seen before and after them. `settled`
    is False where the rounds came to no end.
    """

    project: Project
    before: Mapping[str, bytes]
    findings: tuple[Finding, ...]
    first: Look
    last: Look
    settled: bool = True

    @property
    def after(self) -> Mapping[str, bytes]:
        """The contents of the files that changed."""
        now = {path: self.project.buffers[path] for path in self.before}
        return {path: data for path, data in now.items() if data != self.before[path]}


def rewrite(project: Project, look: Callable[[Project], Look], choose: Callable[[Look], Step]) -> Rewritten[Look]:
    """Look at the project and make the edits that are chosen, until there are none. Nothing is written to disk."""
    before: dict[str, bytes] = {}
    about: list[Finding] = []
    first = last = look(project)
    for _ in range(_MOST_ROUNDS):
        step = choose(last)
        if not step.edits:
            return Rewritten(project, before, tuple(about), first, last)
        buffers = dict(project.buffers)
        for path in sorted({edit.place.path for edit in step.edits}):
            data = project.sources().text(path).data
            before.setdefault(path, data)
            buffers[path] = edited(data, (edit for edit in step.edits if edit.place.path == path))
        about += step.findings
        project = msgspec.structs.replace(project, buffers=buffers)
        last = look(project)
    return Rewritten(project, before, tuple(about), first, last, settled=False)


def why_not(project: Project, edits: Iterable[Edit]) -> str | None:
    """Why a project's files must not be changed like that, or None where they may."""
    root = os.path.realpath(project.root)
    for edit in edits:
        path = edit.place.path
        file = os.path.realpath(project.root / path)
        if not file.startswith(root + os.sep):
            return f"{path} is outside the project"
        if not edit.text.isascii() and not project.sources().text(path).is_utf8:
            return f"{path} is not UTF-8, and the change would be"
    return None


def write_rewritten(rewritten: Rewritten[Look]) -> tuple[str, ...]:
    """Write the changed files, each whole; a message for each that is not written.

    None is, where any has changed on disk meanwhile or may not be written: a change may need more than one file.
    """
    root = rewritten.project.root
    changed = rewritten.after
    faults = tuple(fault for path in changed if (fault := _fault(root / path, path, rewritten.before[path])))
    if faults:
        return faults
    return tuple(fault for path, data in changed.items() if (fault := _write(root / path, path, data)))


def _write(file: Path, path: str, data: bytes) -> str | None:
    try:
        write_whole(file, data)
    except OSError as error:
        return f"{path} cannot be written: {error.strerror or error}"
    return None


def _fault(file: Path, path: str, before: bytes) -> str | None:
    try:
        unchanged = file.read_bytes() == before
    except OSError as error:
        return f"{path} cannot be read any more: {error.strerror or error}"
    if not unchanged:
        return f"{path} was changed while op-lint looked at it, so nothing is written: run it again"
    return None if os.access(file, os.W_OK) else f"{path} is write-protected, so nothing is written"
