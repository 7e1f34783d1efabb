"""A package of registrations in every shape, imported for real: the facts hold all that the dispatcher then has."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from op_lint.condition import ALWAYS
from op_lint.facts import (
    PY_IMPL,
    Definition,
    FileFacts,
    Implementation,
    Lifetime,
    OperatorName,
    Place,
    PythonFunction,
    Unit,
)
from op_lint.python import ImportGraph, dump_place, enclosing_function, implied_keys, read_python, resolve
from op_lint.python.registrations import SCOPED_LIBRARY

pytest.importorskip("torch")

ROOT = Path(__file__).parent / "python_package"

DUMP = """
import json, sys, warnings
warnings.simplefilter("ignore")
sys.path.insert(0, sys.argv[1])
import torch, shapes
names = [name for name in torch._C._dispatch_get_all_op_names() if name.startswith("shapes_")]
print(json.dumps({name: torch._C._dispatch_dump(name) for name in names}))
"""

KERNEL = re.compile(
    r"^(?P<key>\w+)(?:\[alias\]| \(inactive\))?: registered at (?P<file>.+):(?P<line>\d+) :: ", re.MULTILINE
)
SCHEMA = re.compile(r"^schema: (?P<schema>.*)$", re.MULTILINE)
DEFINED = re.compile(r"^debug: registered at (?P<file>.+):(?P<line>\d+)$", re.MULTILINE)


@dataclass(frozen=True)
class Registered:
    """A kernel or definition in the running dispatcher; `key` is None for a definition."""

    operator: str
    key: str | None
    file: str
    line: int


@cache
def dumps() -> dict[str, str]:
    command = [sys.executable, "-c", DUMP, str(ROOT)]
    return dict(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))


def running() -> Iterator[Registered]:
    for operator, dump in dumps().items():
        for found in KERNEL.finditer(dump):
            yield Registered(operator, found["key"], relative(found["file"]), int(found["line"]))
        for found in DEFINED.finditer(dump):
            yield Registered(operator, None, relative(found["file"]), int(found["line"]))


def relative(file: str) -> str:
    """The path from the project's root; what torch itself makes is outside of it."""
    return str(Path(file).relative_to(ROOT)) if Path(file).is_relative_to(ROOT) else ""


@cache
def files() -> tuple[FileFacts, ...]:
    paths = sorted(path.relative_to(ROOT) for path in ROOT.rglob("*.py"))
    return resolve([read_python(path.as_posix(), (ROOT / path).read_bytes()) for path in paths])


Fact = Definition | Implementation


def facts() -> Iterator[tuple[Fact, Unit]]:
    for file in files():
        units = {unit.id: unit for unit in file.units}
        found: tuple[Fact, ...] = (*file.definitions, *file.implementations)
        for fact in found:
            yield fact, units[fact.unit]


def identity(fact: Fact) -> tuple[str, str | None]:
    return str(fact.operator), fact.key if isinstance(fact, Implementation) else None


def implied() -> set[tuple[str, str | None]]:
    keys: dict[OperatorName, set[str]] = {}
    for fact, _ in facts():
        if isinstance(fact, Implementation):
            keys.setdefault(fact.operator, set()).add(fact.key)
    return {
        (str(fact.operator), key)
        for fact, unit in facts()
        if isinstance(fact, Definition)
        for key in implied_keys(unit.macro, fact.schema.value if fact.schema else None, keys.get(fact.operator, ()))
    }


def test_every_registration_in_the_dispatcher_is_a_fact() -> None:
    known = {identity(fact) for fact, _ in facts()} | implied()
    registered = {(found.operator, found.key) for found in running()}
    assert len(registered) > 150
    assert sorted(map(str, registered - known)) == []


def test_places_are_those_of_the_dump() -> None:
    places: dict[tuple[str, str | None], set[tuple[str, int]]] = {}
    for fact, unit in facts():
        place = dump_place(unit)
        places.setdefault(identity(fact), set()).add((place.path, place.line) if place else ("", 0))
    compared = 0
    for found in running():
        expected = places.get((found.operator, found.key), set())
        if found.file:
            assert (found.file, found.line) in expected, found
            compared += 1
        else:
            assert ("", 0) in expected or (found.operator, found.key) in implied(), found
    assert compared > 80


def test_nothing_is_invented() -> None:
    registered = {(found.operator, found.key) for found in running()}
    for fact, unit in facts():
        if identity(fact) in registered or conditional(fact) or vanished(unit) or is_python_only(unit):
            continue
        raise AssertionError(f"{fact.operator} at {fact.place} is not in the dispatcher")


def conditional(fact: Fact) -> bool:
    """Whether the registration is under a test, or in a function that importing the package does not call."""
    function = around(fact.place)
    return fact.condition != ALWAYS or (function is not None and not function.at_import)


def around(place: Place) -> PythonFunction | None:
    python = next(file.python for file in files() if file.path == place.path)
    assert python is not None
    return enclosing_function(python, place)


def vanished(unit: Unit) -> bool:
    """Whether the library is gone by the time the dispatcher is asked."""
    libraries = (library for file in files() if file.python for library in file.python.libraries)
    return unit.macro == SCOPED_LIBRARY or any(
        library.place == unit.place and library.lifetime is Lifetime.LOCAL for library in libraries
    )


def is_python_only(unit: Unit) -> bool:
    return unit.macro == PY_IMPL


def test_schemas_are_those_of_the_dispatcher() -> None:
    import torch

    parse = torch._C.parse_schema
    checked = 0
    for fact, _ in facts():
        if not isinstance(fact, Definition) or str(fact.operator) not in dumps() or fact.schema is None:
            continue
        found = SCHEMA.search(dumps()[str(fact.operator)])
        assert found is not None
        name = f"{fact.operator.namespace}::"
        assert str(parse(name + fact.schema.value)) == str(parse(found["schema"])), fact.place
        checked += 1
    assert checked > 60


def test_nothing_is_unresolved() -> None:
    assert [unresolved for file in files() for unresolved in file.unresolved] == []
    assert [problem for file in files() for problem in file.problems] == []


def test_names_are_where_they_are_written() -> None:
    """The bytes at `name_place` are the operator's name, wherever they come from literals."""
    for fact, _ in facts():
        if fact.text.pieces:
            place = fact.name_place
            written = (ROOT / place.path).read_bytes()[place.start : place.end].decode()
            name = str(fact.operator).split("::")[1]
            assert name.startswith(written.split("{")[0]), (fact.operator, written)


def test_lifetimes() -> None:
    lifetimes = {
        (library.name, library.lifetime)
        for file in files()
        if file.path.endswith("guarded.py") and file.python
        for library in file.python.libraries
    }
    assert lifetimes == {("lib", Lifetime.KEPT), ("local", Lifetime.LOCAL), ("scoped", Lifetime.SCOPED)}


def test_imports_are_a_graph_of_files() -> None:
    graph = ImportGraph(files())
    everything = {file.path for file in files()}
    assert graph.reachable("shapes/__init__.py") == everything
    assert "shapes/constants.py" in dict(graph.imports("shapes/deep/module.py"))
    assert graph.importers("shapes/classes.py") == ("shapes/__init__.py", "shapes/uses_wrappers.py")
