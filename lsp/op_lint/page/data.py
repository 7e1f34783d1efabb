"""What the page shows, as values that become JSON.

Strings and cells that repeat are written once and named by their index, so that tens of thousands of operators stay a
few megabytes. Paths are relative to the project's root, lines and columns 1-based.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar

import msgspec

from op_lint.dispatch.keys import KeyKind
from op_lint.dispatch.registration import Registration
from op_lint.dispatch.table import Entry, Reason
from op_lint.facts import FileFacts, KernelKind, OperatorName, Place, Unit
from op_lint.findings import Finding
from op_lint.matrix import columns_of, state_of
from op_lint.naming import kernel_word, schema_of
from op_lint.program import Kernel, Program
from op_lint.sources import Sources
from op_lint.tables import Tables
from op_lint.version import VERSION

_Value = TypeVar("_Value", bound=Hashable)

PagePlace = tuple[int, int]
"""The index of a path, and a line."""


class Subject(msgspec.Struct, frozen=True):
    """What a page is about: `torch` says which torch the sources were held against, in words."""

    project: str
    torch: str
    findings: tuple[Finding, ...]
    summaries: dict[str, str]
    """One line on each rule with findings, by code."""
    link: str | None = None
    """Where places are linked to: a URL with `{path}` and `{line}`."""


class Cell(msgspec.Struct, frozen=True):
    """What a call with a key as its highest one finds. `place` is None where there is nothing, or nobody knows."""

    state: str | None
    reason: str | None = None
    kernel: str | None = None
    place: PagePlace | None = None


class PageKernel(msgspec.Struct, frozen=True):
    """A kernel that the sources register."""

    key: str
    kernel: str
    kind: str
    place: PagePlace
    condition: str


class PageOperator(msgspec.Struct, frozen=True):
    """A row: `cells` are indices, one for each key of the page; `findings` are indices, too."""

    name: str
    schema: str | None
    definitions: tuple[PagePlace, ...]
    kernels: tuple[PageKernel, ...]
    cells: tuple[int, ...]
    findings: tuple[int, ...]


class PageFinding(msgspec.Struct, frozen=True):
    """A finding; `related` are the other places and what is there."""

    code: str
    name: str
    severity: str
    message: str
    place: PagePlace
    column: int
    related: tuple[tuple[PagePlace, str], ...]
    notes: tuple[str, ...]


class PageUnit(msgspec.Struct, frozen=True):
    """A registration unit, with the targets that compile it; `operators` is how many registrations it makes."""

    macro: str
    namespace: str | None
    key: str | None
    place: PagePlace
    condition: str
    targets: tuple[str, ...]
    registrations: int


class PageTarget(msgspec.Struct, frozen=True):
    """A target of the build that compiles registration units."""

    name: str
    kind: str
    system: str
    place: PagePlace
    units: int


class PageData(msgspec.Struct, frozen=True):
    """Everything."""

    version: str
    project: str
    torch: str
    link: str | None
    paths: tuple[str, ...]
    own: tuple[bool, ...]
    """For each path, whether it is one of the project's files, and not one of torch's."""
    keys: tuple[str, ...]
    backends: int
    """How many of `keys` are backends: the first ones."""
    cells: tuple[Cell, ...]
    operators: tuple[PageOperator, ...]
    findings: tuple[PageFinding, ...]
    rules: dict[str, str]
    units: tuple[PageUnit, ...]
    targets: tuple[PageTarget, ...]
    notes: tuple[tuple[PagePlace, str], ...]
    """What could not be read, and registrations whose name or key is not known."""


def page_data(program: Program, sources: Sources, subject: Subject) -> PageData:
    """The page on a program. `sources` shows paths from the project's root."""
    return _Collector(program, sources, subject).data()


class _Numbered(Generic[_Value]):
    """Values, each once, in the order in which they are first asked for."""

    def __init__(self) -> None:
        self._numbers: dict[_Value, int] = {}

    def __call__(self, value: _Value) -> int:
        return self._numbers.setdefault(value, len(self._numbers))

    @property
    def values(self) -> tuple[_Value, ...]:
        return tuple(self._numbers)


class _Collector:
    def __init__(self, program: Program, sources: Sources, subject: Subject) -> None:
        self._program = program
        self._sources = sources
        self._subject = subject
        self._tables = Tables(program, program.installed) if program.installed is not None else None
        self._own_paths = {file.path for file in program.files}
        self._paths: _Numbered[str] = _Numbered()
        self._foreign: set[str] = set()
        self._cells: _Numbered[Cell] = _Numbered()
        self._keys = columns_of(program)

    def data(self) -> PageData:
        about = self._findings_by_line()
        operators = tuple(self._operator(name, about) for name in self._program.operators)
        findings = tuple(map(self._finding, self._subject.findings))
        units = tuple(self._units())
        targets = tuple(self._targets())
        notes = tuple(self._notes(self._program.files))
        return PageData(
            VERSION,
            self._subject.project,
            self._subject.torch,
            self._subject.link,
            self._paths.values,
            tuple(path not in self._foreign for path in self._paths.values),
            self._keys,
            self._backends(),
            self._cells.values,
            operators,
            findings,
            self._subject.summaries,
            units,
            targets,
            notes,
        )

    def _backends(self) -> int:
        keys = self._program.keys
        if keys is None:
            return len(self._keys)
        return sum(keys.kind(key) is KeyKind.BACKEND for key in self._keys)

    def _findings_by_line(self) -> dict[tuple[str, int], list[int]]:
        """The findings that are about a line, as their own place or as another one."""
        found: dict[tuple[str, int], list[int]] = defaultdict(list)
        for index, finding in enumerate(self._subject.findings):
            for place in {finding.place, *(related.place for related in finding.related)}:
                found[place.path, place.line].append(index)
        return found

    def _operator(self, name: OperatorName, about: dict[tuple[str, int], list[int]]) -> PageOperator:
        own = self._program.kernels_of(name)
        definitions = self._program.definitions_of(name)
        kernels = [(key, each) for key, found in own.items() for each in found]
        places = {each.fact.name_place for each in (*definitions, *(kernel for _, kernel in kernels))}
        findings = {index for place in places for index in about.get((place.path, place.line), ())}
        return PageOperator(
            str(name),
            schema_of(self._program, name),
            tuple(dict.fromkeys(self._place(each.place) for each in definitions)),
            tuple(self._kernel(key, each) for key, each in kernels),
            tuple(self._row(name, own)),
            tuple(sorted(findings)),
        )

    def _kernel(self, key: str, registered: Kernel) -> PageKernel:
        kernel = registered.fact.kernel
        assert kernel is not None
        place = self._place(registered.place)
        return PageKernel(key, kernel_word(kernel), kernel.kind.value, place, str(registered.condition))

    def _row(self, name: OperatorName, own: Mapping[str, tuple[Kernel, ...]]) -> Iterator[int]:
        table = self._tables.table(name) if self._tables is not None else None
        for key in self._keys:
            if table is not None:
                yield self._cells(self._computed(table[key]))
            else:
                yield self._cells(self._written(own.get(key, ())))

    def _computed(self, entry: Entry) -> Cell:
        registration = entry.registration
        state = state_of(entry)
        if registration is None or state == Reason.MISSING.value:
            return Cell(state, state)
        kernel = registration.kernel or registration.kind.value
        return Cell(state, entry.reason.value, kernel, self._registered_at(registration))

    def _written(self, kernels: Sequence[Kernel]) -> Cell:
        """Without a torch only what is written is known, and not what stands in for a missing kernel."""
        kernel = kernels[-1].fact.kernel if kernels else None
        if kernel is None:
            return Cell(None)
        state = "fallthrough" if kernel.kind is KernelKind.FALLTHROUGH else "kernel"
        return Cell(state, "kernel", kernel_word(kernel), self._place(kernels[-1].place))

    def _registered_at(self, registration: Registration) -> PagePlace | None:
        if registration.path is None:
            return None
        if registration.path in self._own_paths:
            return self._paths(self._sources.shown(registration.path)), registration.line
        self._foreign.add(registration.path)
        return self._paths(registration.path), registration.line

    def _finding(self, finding: Finding) -> PageFinding:
        return PageFinding(
            finding.code,
            finding.name,
            finding.severity.value,
            finding.message,
            self._place(finding.place),
            self._sources.location(finding.place).column,
            tuple((self._place(related.place), related.message) for related in finding.related),
            finding.notes,
        )

    def _units(self) -> Iterator[PageUnit]:
        counts: Counter[Unit] = Counter(
            each.unit
            for registered in (self._program.definitions, self._program.implementations, self._program.fallbacks)
            for each in registered
        )
        for unit in self._program.units:
            yield PageUnit(
                unit.macro,
                unit.namespace,
                unit.key,
                self._place(unit.place),
                str(unit.condition),
                self._program.targets_of(unit),
                counts[unit],
            )

    def _targets(self) -> Iterator[PageTarget]:
        build = self._program.build
        compiled = Counter(self._program.file_of(unit) for unit in self._program.units)
        for target in build.targets if build is not None else ():
            units = sum(compiled[path] for path in {source.path for source in target.sources})
            if units:
                yield PageTarget(target.name, target.kind.value, target.system.value, self._place(target.place), units)

    def _notes(self, files: Iterable[FileFacts]) -> Iterator[tuple[PagePlace, str]]:
        for file in files:
            for unresolved in file.unresolved:
                yield self._place(unresolved.place), f"{unresolved.what}: {unresolved.reason}"
            for problem in file.problems:
                yield self._place(problem.place), problem.message

    def _place(self, place: Place) -> PagePlace:
        return self._paths(self._sources.shown(place.path)), place.line
