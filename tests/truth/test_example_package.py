"""`examples/pairwise`, built and imported: what the dispatcher then has is what `op-lint ops` lists."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.check import check, run
from tests.truth.registration_sources import why_nothing_compiles

REASON = why_nothing_compiles()
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))

PACKAGE = Path(__file__).parents[2] / "examples" / "pairwise"
IMPORTED = Path(__file__).with_name("example_imported.py")

KERNEL = re.compile(
    r"^(?P<key>\w+)(?:\[alias\]| \(inactive\))?: registered at (?P<file>.+):(?P<line>\d+) :: ", re.MULTILINE
)
DEFINED = re.compile(r"^debug: registered at (?P<file>.+):(?P<line>\d+)$", re.MULTILINE)


class Registration(NamedTuple):
    """A kernel, or a definition (`key` is empty), and where it comes from."""

    operator: str
    key: str
    path: str
    """In the package; empty where torch made the `torch.library.Library` itself."""
    line: int

    @property
    def what(self) -> tuple[str, str]:
        return self.operator, self.key


class Running(NamedTuple):
    """What the import of the package has put into the dispatcher."""

    dumped: tuple[Registration, ...]
    """As the dispatcher says: the line is that of the C++ block or of the `Library`."""
    called: tuple[Registration, ...]
    """As Python did it: the line is that of the package which was running."""


class Listed(NamedTuple):
    """What `op-lint ops` says of the package."""

    registrations: tuple[Registration, ...]
    units: frozenset[tuple[str, int]]
    not_understood: tuple[Any, ...]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("example") / "pairwise"
    shutil.copytree(PACKAGE, folder)
    _python(folder, "setup.py", "-q", "build_ext", "--inplace")
    return folder


@pytest.fixture(scope="module")
def running(folder: Path) -> Running:
    shutil.copy(IMPORTED, folder)
    answer = json.loads(_python(folder, "-W", "ignore", IMPORTED.name))
    (folder / IMPORTED.name).unlink()
    called = [Registration(name, key, _inside(folder, file), line) for name, key, file, line in answer["called"]]
    return Running(tuple(_dumped(folder, answer["dumps"])), tuple(called))


def _python(folder: Path, *arguments: str) -> str:
    done = subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def _dumped(folder: Path, dumps: dict[str, str]) -> Iterator[Registration]:
    for operator, dump in dumps.items():
        for pattern in (KERNEL, DEFINED):
            for found in pattern.finditer(dump):
                key = found.groupdict().get("key", "")
                yield Registration(operator, key, _inside(folder, found["file"]), int(found["line"]))


def _inside(folder: Path, file: str) -> str:
    path = folder / file
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else ""


@pytest.fixture(scope="module")
def listed(folder: Path) -> Listed:
    outcome = run(folder, "ops", "--output-format", "json", "--jobs", "0", "--no-cache")
    found = json.loads(outcome.out)
    units = frozenset((unit["path"], unit["line"]) for unit in found["units"])
    return Listed(tuple(_listed(found["ops"])), units, (*found["unresolved"], *found["problems"]))


def _listed(operators: list[dict[str, Any]]) -> Iterator[Registration]:
    for operator in operators:
        name = f"{operator['namespace']}::{operator['name']}"
        for definition in operator["definitions"]:
            for key in ("", *definition["implies"]):
                yield Registration(name, key, definition["path"], definition["line"])
        for kernel in operator["kernels"]:
            yield Registration(name, kernel["key"], kernel["path"], kernel["line"])


def test_every_registration_of_cpp_is_listed_with_its_block(running: Running, listed: Listed) -> None:
    of_cpp = [found for found in running.dumped if found.path.endswith(".cpp")]
    assert len(of_cpp) >= 12
    files = {(found.what, found.path) for found in listed.registrations}
    for found in of_cpp:
        assert (found.what, found.path) in files, found
        assert (found.path, found.line) in listed.units, found


def test_every_registration_of_python_is_listed_with_its_line(running: Running, listed: Listed) -> None:
    of_python = [found for found in running.dumped if not found.path.endswith(".cpp")]
    assert {found.what for found in of_python} == {found.what for found in running.called}
    assert len(running.called) >= 20
    for found in running.called:
        assert found in listed.registrations
    for found in of_python:
        assert not found.path or (found.path, found.line) in listed.units, found


def test_nothing_else_is_listed(running: Running, listed: Listed) -> None:
    assert {found.what for found in listed.registrations} == {found.what for found in running.dumped}
    assert listed.not_understood == ()


def test_lines_of_cpp_are_those_of_the_names(folder: Path, listed: Listed) -> None:
    """Each registration stands in the line that is listed, not only in its block."""
    for found in listed.registrations:
        if found.path.endswith(".cpp"):
            text = (folder / found.path).read_text("utf-8").splitlines()[found.line - 1]
            assert found.operator.partition("::")[2] in text, found


def test_nothing_is_wrong_with_it(folder: Path) -> None:
    assert check(folder, "--torch-version", "2.13.0") == []
