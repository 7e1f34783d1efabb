"""Facts, programs and findings for tests: by hand where a test is about facts, from text where it is about code."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

from op_lint import python
from op_lint.condition import ALWAYS, Condition
from op_lint.cpp import CppReader, link
from op_lint.facts import (
    Definition,
    Fallback,
    FileFacts,
    Implementation,
    Kernel,
    KernelKind,
    Language,
    OperatorName,
    Place,
    Text,
    Unit,
    UnitKind,
)
from op_lint.findings import Edit, Finding
from op_lint.installed.bundled import choose_snapshot, load_snapshot
from op_lint.installed.model import InstalledTorch
from op_lint.macros import MacroSearch
from op_lint.packs import load_packs
from op_lint.program import Program
from op_lint.rule import Rule


class File:
    """Builds the facts of one file: each registration stands in a line of its own, in the order of the calls."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.language = Language.PYTHON if path.endswith(".py") else Language.CPP
        self._lines = count(1)
        self._rows: dict[str, list[Any]] = {}

    def place(self) -> Place:
        line = next(self._lines)
        return Place(self.path, line, line * 100, line * 100 + 10)

    def unit(
        self,
        kind: UnitKind = UnitKind.FRAGMENT,
        namespace: str | None = "demo",
        key: str | None = None,
        **fields: Any,
    ) -> Unit:
        fields = {"language": self.language, "macro": kind.value, **fields}
        rows = self._rows.setdefault("units", [])
        unit = Unit(id=len(rows), kind=kind, place=self.place(), namespace=namespace, key=key, **fields)
        rows.append(unit)
        return unit

    def define(self, unit: Unit, name: str, condition: Condition = ALWAYS, **fields: Any) -> Definition:
        place = self.place()
        text = Text(f"{name}(Tensor x) -> Tensor", place)
        row = Definition(
            unit.id,
            OperatorName(unit.namespace or "", name),
            place,
            place,
            text,
            schema=text,
            language=self.language,
            condition=condition,
            **fields,
        )
        self._rows.setdefault("definitions", []).append(row)
        return row

    def implement(
        self, unit: Unit, name: str, key: str | None = None, kind: KernelKind = KernelKind.KERNEL, **fields: Any
    ) -> Implementation:
        place = self.place()
        row = Implementation(
            unit.id,
            OperatorName(unit.namespace or "", name),
            key or unit.key or "CompositeImplicitAutograd",
            Kernel(kind, "f", place),
            place,
            place,
            Text(name, place),
            call_key=key,
            language=self.language,
            **fields,
        )
        self._rows.setdefault("implementations", []).append(row)
        return row

    def fallback(self, unit: Unit, key: str | None = None, **fields: Any) -> Fallback:
        place = self.place()
        kernel = Kernel(KernelKind.FALLTHROUGH, "", place)
        row = Fallback(unit.id, key or unit.key, kernel, place, unit.namespace, language=self.language, **fields)
        self._rows.setdefault("fallbacks", []).append(row)
        return row

    def add(self, field: str, row: Any) -> None:
        self._rows.setdefault(field, []).append(row)

    def facts(self, **fields: Any) -> FileFacts:
        rows = {name: tuple(found) for name, found in self._rows.items()}
        return FileFacts(self.path, self.language, **{**rows, **fields})


@cache
def torch(version: str = "2.13.0+cpu") -> InstalledTorch:
    """The bundled snapshot of a torch version."""
    return load_snapshot(choose_snapshot(version))


def read(files: dict[str, str]) -> tuple[FileFacts, ...]:
    """The facts of a project that exists only in these texts."""
    contents = {path: text.encode() for path, text in files.items()}
    sources = [path for path in contents if not path.endswith(".py")]
    reader = CppReader(Path("/nowhere"), sources, None, contents)
    facts = [reader.read(path) for path in reader.candidates()]
    facts += [python.read_python(path, data) for path, data in contents.items() if path.endswith(".py")]
    return python.resolve(link(tuple(sorted(facts, key=lambda each: each.path))))


def program(
    files: dict[str, str], installed: InstalledTorch | None = None, macros: tuple[MacroSearch, ...] = ()
) -> Program:
    return Program(read(files), installed, macros=macros)


def rule(code: str) -> Rule:
    (found,) = (each for each in load_packs().rules if each.code == code)
    return found()


def findings(code: str, files: dict[str, str] | Program, installed: InstalledTorch | None = None) -> list[Finding]:
    """What one rule finds, in the order of the report."""
    asked = files if isinstance(files, Program) else program(files, installed)
    return sorted(rule(code).check(asked), key=lambda finding: (finding.place, finding.message))


def lines(found: list[Finding]) -> list[str]:
    """`path:line` of each finding."""
    return [f"{finding.place.path}:{finding.place.line}" for finding in found]


def fixed(finding: Finding, files: dict[str, str]) -> dict[str, str]:
    """The files after the finding's fix."""
    assert finding.fix is not None
    contents = {path: text.encode() for path, text in files.items()}
    for edit in _last_first(finding.fix.edits):
        data = contents[edit.place.path]
        contents[edit.place.path] = data[: edit.place.start] + edit.text.encode() + data[edit.place.end :]
    return {path: data.decode() for path, data in contents.items()}


def _last_first(edits: tuple[Edit, ...]) -> Iterator[Edit]:
    return iter(sorted(edits, key=lambda edit: edit.place, reverse=True))
