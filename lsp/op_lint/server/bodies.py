"""Kernels whose bodies stand in files that register nothing: found by their names, in the text."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator

from op_lint.facts import Definition, Implementation, Kernel, Language, Place
from op_lint.files import language_of
from op_lint.server.snapshot import Snapshot
from op_lint.text import SourceText

_MOST_SEARCHED = 2_000
"""Files that are searched for one function: those nearest to its declaration."""

_IDENTIFIER = re.compile(r"[^\W\d]\w*", re.ASCII)
_WORD = re.compile(rb"[^\W\d]\w*", re.ASCII)
_BEHIND = rb"\s*\([^;{}]*\)\s*(?:noexcept\s*)?\{"
"""What follows the name of a function where its body begins."""

Registration = Definition | Implementation


def bodies_of(snapshot: Snapshot, kernel: Kernel) -> tuple[Place, ...]:
    """The name of a C++ function that was only declared in what was read, wherever the project defines it.

    Of one that was not declared either nothing is said: its name alone may be anyone's.
    """
    if kernel.defined is not None or kernel.declared is None or language_of(kernel.declared.path) is not Language.CPP:
        return ()
    name = _name(kernel)
    return tuple(_search(snapshot, name, kernel.declared.path)) if name else ()


def kernel_at(snapshot: Snapshot, path: str, offset: int) -> tuple[Place, Kernel, Registration] | None:
    """The kernel whose body begins with the word at `offset`, of those that were only declared in what was read."""
    if language_of(path) is not Language.CPP:
        return None
    text = snapshot.text(path)
    start = text.line_starts[text.line_of(offset) - 1]
    word = next((each for each in _WORD.finditer(text.data, start) if each.end() >= offset), None)
    if word is None or word.start() > offset or not re.compile(_BEHIND).match(text.data, word.end()):
        return None
    program = snapshot.program
    facts: list[Registration] = [each.fact for each in program.definitions]
    facts += [each.fact for each in program.implementations]
    for fact in facts:
        kernel = fact.kernel
        if kernel and kernel.declared and not kernel.defined and _name(kernel) == word[0].decode():
            return Place(path, text.line_of(offset), word.start(), word.end()), kernel, fact
    return None


def _name(kernel: Kernel) -> str | None:
    name = kernel.name.rpartition("::")[2]
    return name if _IDENTIFIER.fullmatch(name) else None


def _search(snapshot: Snapshot, name: str, declared_in: str) -> Iterator[Place]:
    begins = re.compile(rb"(?<![\w.>])" + name.encode() + _BEHIND)
    project = snapshot.project
    folder = posixpath.dirname(declared_in)
    for path in sorted(project.tree.cpp, key=lambda path: _distance(folder, path))[:_MOST_SEARCHED]:
        data = project.buffers.get(path)
        if data is None:
            try:
                data = (project.root / path).read_bytes()
            except OSError:
                continue  # gone since the project was listed
        found = begins.search(data) if name.encode() in data else None
        if found is not None:
            start = found.start()
            yield Place(path, SourceText(data).line_of(start), start, start + len(name.encode()))


def _distance(folder: str, path: str) -> tuple[int, str]:
    """How many folders lie between."""
    relative = posixpath.relpath(posixpath.dirname(path) or ".", folder or ".")
    return relative.count("/") + (relative != os.curdir), path
