"""A workspace at one moment: all that features answer from. Nothing in it changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from op_lint.check import Checked
from op_lint.dispatch.table import Table
from op_lint.facts import FileFacts, OperatorName, OperatorUse
from op_lint.findings import Finding, Related
from op_lint.installed.reader import Reading
from op_lint.packs import Packs
from op_lint.program import Program
from op_lint.project import Project
from op_lint.server.documents import Document
from op_lint.server.settings import ClientSettings
from op_lint.sources import Sources
from op_lint.tables import Tables
from op_lint.text import SourceText


@dataclass(frozen=True, eq=False)
class Snapshot:
    """What is known at `revision`. `documents` are the open ones that it was made from, by the path that facts use.

    `configured_in` is the file with the settings, as it is typed, which are in force when it is saved.
    """

    revision: int
    project: Project
    program: Program
    checked: Checked
    documents: Mapping[str, Document]
    reading: Reading | None
    packs: Packs
    settings: ClientSettings
    configured_in: str | None = None

    @cached_property
    def sources(self) -> Sources:
        """The text behind places, with paths as facts have them."""
        return Sources(self.project.root, self.project.buffers, self.project.root)

    def text(self, path: str) -> SourceText:
        """The text of a file as it was read."""
        return self.sources.text(path)

    @cached_property
    def findings(self) -> dict[str, tuple[Finding, ...]]:
        """The findings by file, of the files that the workspace is about."""
        found: dict[str, list[Finding]] = {}
        for finding in self.checked.findings:
            path = finding.place.path
            if self.project.is_named(path) or path == self.configured_in:
                found.setdefault(path, []).append(finding)
        return {path: tuple(findings) for path, findings in found.items()}

    @cached_property
    def marks(self) -> dict[str, tuple[tuple[Finding, Related], ...]]:
        """By file the other places of findings that are marked, too: a fault of two files is seen in each."""
        found: dict[str, list[tuple[Finding, Related]]] = {}
        for findings in self.findings.values():
            for finding in findings:
                for related in finding.related:
                    if related.marked and related.place != finding.place:
                        found.setdefault(related.place.path, []).append((finding, related))
        return {path: tuple(marks) for path, marks in found.items()}

    @cached_property
    def files(self) -> dict[str, FileFacts]:
        """The facts by file."""
        return {facts.path: facts for facts in self.program.files}

    @cached_property
    def _showing(self) -> dict[str, tuple[str, ...]]:
        """For each header the files whose facts may hold what stands in it."""
        found: dict[str, list[str]] = {}
        for facts in self.program.files:
            for include in facts.includes:
                found.setdefault(include.path, []).append(facts.path)
        return {path: tuple(paths) for path, paths in found.items()}

    def facts_about(self, path: str) -> tuple[FileFacts, ...]:
        """The facts that may have places in a file: its own, and for a header those of its includers."""
        paths = (path, *self._showing.get(path, ()))
        return tuple(self.files[each] for each in paths if each in self.files)

    @cached_property
    def tables(self) -> Tables | None:
        """The dispatch tables; None where no torch says which keys there are."""
        torch = self.program.installed
        return Tables(self.program, torch) if torch is not None else None

    def table(self, operator: OperatorName) -> Table | None:
        """The computed table of an operator; None where there is none to compute."""
        return self.tables.table(operator) if self.tables else None

    @cached_property
    def _uses(self) -> dict[tuple[str, str], tuple[OperatorUse, ...]]:
        found: dict[tuple[str, str], list[OperatorUse]] = {}
        for facts in self.program.files:
            for use in facts.python.uses if facts.python else ():
                found.setdefault((use.operator.namespace, use.operator.name), []).append(use)
        return {name: tuple(uses) for name, uses in found.items()}

    def uses_of(self, operator: OperatorName) -> tuple[OperatorUse, ...]:
        """The places in Python that need an operator; one that names no overload means all of them."""
        uses = self._uses.get((operator.namespace, operator.name), ())
        return tuple(use for use in uses if use.packet or use.operator.overload == operator.overload)
