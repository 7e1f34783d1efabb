"""What a run found, kept until something changes that it depends on: then the next run over it need not judge again.

A run depends on the project's files and settings, what else the build is read from, the torch, and op-lint itself with
its rules. All of that is looked at again each time: a kept run is one of which every look gives the same answer.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from hashlib import blake2b
from pathlib import Path

import msgspec

from op_lint.analysis import PASSING, Analysis
from op_lint.build.files import BuildFiles
from op_lint.build.watched import DIGEST_SIZE, Look, Watched, digest_of, same_answers
from op_lint.cache import RunCache
from op_lint.check import Checked
from op_lint.cpp.compile_commands import read_compile_commands
from op_lint.facts import Problem
from op_lint.installed.model import Origin
from op_lint.installed.reader import Reading
from op_lint.macros import MacroSearch, search_named
from op_lint.project import Project
from op_lint.rule import Rule
from op_lint.version import VERSION

_ACCIDENTS = PASSING | {"build-limit"}
"""Problems that another run may not have: what takes too long today may not tomorrow."""


class KeptRun(msgspec.Struct, frozen=True):
    """A run. `sources` and `torch` are digests; `problems` are those of the project (see `Run`)."""

    sources: bytes
    looks: tuple[Look, ...]
    macros: tuple[MacroSearch, ...]
    torch: bytes
    candidates: tuple[str, ...]
    problems: tuple[Problem, ...]
    checked: Checked


class RunKeeper:
    """The kept runs of one project with one selection of rules."""

    def __init__(self, project: Project, selected: Iterable[type[Rule]], installed: Iterable[type[Rule]]) -> None:
        self._project = project
        self._kept = RunCache(project.cache_folder, KeptRun)
        self._name = _name(project, selected, tuple(installed))
        self._before = self._stamps()
        self._contents = {path: _content_digest(project.root / path) for path in self._paths}
        self._sources = digest_of(list(self._contents.values()))

    @staticmethod
    def serves(project: Project) -> bool:
        """Whether runs of a project can be kept: where all that they depend on is in files, and nothing is loaded."""
        settings = project.settings
        return not (project.buffers or project.kept or settings.load or settings.imports)

    def find(self, torch: Callable[[], Reading | None]) -> tuple[KeptRun, Reading | None] | None:
        """The last run, where everything is as it was then; with the torch that was asked for, if it needed one."""
        run = self._kept.get(self._name)
        if run is None or run.sources != self._sources or not self._answered(run.looks):
            return None
        if run.macros != search_named(self._project.root, [search.macro for search in run.macros]):
            return None
        reading = torch() if run.candidates else None
        return (run, reading) if run.torch == _torch_digest(reading) else None

    def keep(
        self,
        files: Watched,
        macros: tuple[MacroSearch, ...],
        analysis: Analysis,
        reading: Reading | None,
        problems: tuple[Problem, ...],
        checked: Checked,
    ) -> None:
        """Keep a run, unless another one might say something else.

        So it is where a rule failed, a file could not be read by accident, or a source changed while it was under way.
        """
        said = (problems, *(facts.problems for facts in analysis.files))
        if not _ACCIDENTS.isdisjoint(problem.code for each in said for problem in each) or checked.failures:
            return
        if self._stamps() != self._before:
            return
        torch = _torch_digest(reading)
        checked = msgspec.structs.replace(checked, seconds={})
        run = KeptRun(self._sources, files.looks, macros, torch, analysis.candidates, problems, checked)
        self._kept.put(self._name, run)

    @property
    def _paths(self) -> tuple[str, ...]:
        tree = self._project.tree
        return (*tree.cpp, *tree.python)

    def _stamps(self) -> list[tuple[int, int]]:
        return [_stamp(os.path.join(self._project.root, path)) for path in self._paths]

    def _answered(self, looks: Iterable[Look]) -> bool:
        """Whether every question still has the same answer."""
        files = BuildFiles(self._project.root)
        known = {("read", files.absolute(path)): digest for path, digest in self._contents.items()}
        return same_answers(files, looks, known)


def _name(project: Project, selected: Iterable[type[Rule]], installed: tuple[type[Rule], ...]) -> str:
    """Names what decides on a run besides the contents of files."""
    configuration = project.configuration
    parts = (
        _program(installed),
        str(project.root),
        configuration,
        project.tree,
        read_compile_commands(project.root, project.settings.compile_commands),
        [rule.code for rule in selected],
        [rule.code for rule in installed],
    )
    return blake2b(b"\0".join(map(_encoded, parts)), digest_size=DIGEST_SIZE).hexdigest()


def _program(rules: tuple[type[Rule], ...]) -> bytes:
    """Names op-lint and the rule packs by their own sources."""
    packages = {"op_lint", *(rule.__module__.partition(".")[0] for rule in rules)}
    return _sources_of(tuple(sorted(packages)))


@cache
def _sources_of(packages: tuple[str, ...]) -> bytes:
    digest = blake2b(VERSION.encode() + sys.version.encode(), digest_size=DIGEST_SIZE)
    for file in sorted(file for package in packages for file in _files_of(package)):
        digest.update(str(file).encode() + b"\0" + file.read_bytes())
    return digest.digest()


def _files_of(package: str) -> Iterator[Path]:
    module = sys.modules[package]
    for folder in getattr(module, "__path__", ()):
        yield from (file for pattern in ("*.py", "*.h") for file in Path(folder).rglob(pattern))
    if not hasattr(module, "__path__") and module.__file__:
        yield Path(module.__file__)


def _torch_digest(reading: Reading | None) -> bytes:
    """Names what was read, whether just now or earlier: a report says the same of both."""
    if reading is not None and reading.origin is Origin.PROBE:
        reading = msgspec.structs.replace(reading, origin=Origin.CACHE)
    return digest_of(reading)


def _content_digest(file: Path) -> bytes:
    try:
        return digest_of(file.read_bytes())
    except OSError:
        return digest_of(None)


def _encoded(value: object) -> bytes:
    return msgspec.msgpack.encode(value)


def _stamp(path: str) -> tuple[int, int]:
    """Size in bytes and time of the last change."""
    try:
        status = os.stat(path)
    except OSError:
        return (-1, -1)
    return (status.st_size, status.st_mtime_ns)
