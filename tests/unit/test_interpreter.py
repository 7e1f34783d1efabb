"""The search for an interpreter."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from op_lint.installed.interpreter import Interpreter, InterpreterSearch, InterpreterSource, find_interpreter

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the environments are made as POSIX has them")


def make_python(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def everything(tmp_path: Path, root: Path) -> InterpreterSearch:
    """Every place of the search has an interpreter."""
    for name in ("given", "configured", "editor", "own"):
        make_python(tmp_path / name / "python")
    for environment in (tmp_path / "venv", tmp_path / "conda", root / ".venv"):
        make_python(environment / "bin" / "python")
    return InterpreterSearch(
        option=str(tmp_path / "given/python"),
        configured=str(tmp_path / "configured/python"),
        editor=str(tmp_path / "editor/python"),
        root=root,
        environment={"VIRTUAL_ENV": str(tmp_path / "venv"), "CONDA_PREFIX": str(tmp_path / "conda")},
        own=str(tmp_path / "own/python"),
    )


def without(search: InterpreterSearch, found: Interpreter) -> InterpreterSearch:
    """The search when the interpreter that it found is gone from its place."""
    assert found.path is not None
    Path(found.path).unlink()
    if found.source is InterpreterSource.OPTION:
        return InterpreterSearch(
            None, search.configured, search.editor, search.root, search.environment, search.own, search.trusted
        )
    return search


def test_the_order(everything: InterpreterSearch) -> None:
    search, seen = everything, []
    while (found := find_interpreter(search)).path is not None:
        seen.append(found.source)
        search = without(search, found)
    assert seen == list(InterpreterSource)
    assert [place.source for place in found.candidates] == list(InterpreterSource)
    assert [place.verdict for place in found.candidates] == [
        *("not there", "does not exist", "does not exist"),
        *(["has no bin/python"] * 3),
        "does not exist",
    ]


def test_an_option_that_is_gone_ends_the_search(everything: InterpreterSearch, tmp_path: Path) -> None:
    (tmp_path / "given/python").unlink()
    found = find_interpreter(everything)
    assert found.path is None
    assert [(place.source, place.verdict) for place in found.candidates] == [
        (InterpreterSource.OPTION, "does not exist")
    ]


def test_reasons_are_kept(everything: InterpreterSearch) -> None:
    found = find_interpreter(
        InterpreterSearch(configured="gone/python", root=everything.root, environment=everything.environment)
    )
    assert [(place.source, place.verdict) for place in found.candidates] == [
        (InterpreterSource.OPTION, "not there"),
        (InterpreterSource.CONFIGURATION, "does not exist"),
        (InterpreterSource.EDITOR, "not there"),
        (InterpreterSource.VIRTUAL_ENV, "used"),
    ]


def test_ways_to_name_one(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    inside = make_python(root / "env/bin/python")
    at_home = make_python(home / "env/bin/python")
    on_path = make_python(tmp_path / "commands/some-python")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", str(on_path.parent))
    monkeypatch.chdir(tmp_path)
    for named, expected in (
        ("env/bin/python", inside),
        ("env", inside),
        ("./env", inside),
        (str(inside), inside),
        ("~/env/bin/python", at_home),
        ("~/env", at_home),
        ("some-python", on_path),
    ):
        assert find_interpreter(InterpreterSearch(configured=named, root=root)).path == str(expected), named
    assert find_interpreter(InterpreterSearch(option="project/env", root=root)).path == str(inside)


def test_a_link_stays_a_link(tmp_path: Path, root: Path) -> None:
    link = tmp_path / "venv/bin/python"
    link.parent.mkdir(parents=True)
    link.symlink_to(sys.executable)
    search = InterpreterSearch(root=root, environment={"VIRTUAL_ENV": str(tmp_path / "venv")})
    assert find_interpreter(search).path == str(link)


def test_what_cannot_be_run_is_passed_over(tmp_path: Path, root: Path) -> None:
    python = make_python(tmp_path / "venv/bin/python")
    python.chmod(0o644)
    own = make_python(tmp_path / "own")
    search = InterpreterSearch(root=root, environment={"VIRTUAL_ENV": str(tmp_path / "venv")}, own=str(own))
    assert find_interpreter(search).source is InterpreterSource.OWN


class TestUntrusted:
    def test_nothing_that_the_workspace_names_or_holds(self, tmp_path: Path, root: Path) -> None:
        outside = make_python(tmp_path / "outside/python")
        make_python(root / ".venv/bin/python")
        own = make_python(tmp_path / "own")
        search = InterpreterSearch(
            option=None,
            configured=str(outside),
            editor=str(outside),
            root=root,
            environment={"VIRTUAL_ENV": str(root / ".venv"), "CONDA_PREFIX": ""},
            own=str(own),
            trusted=False,
        )
        found = find_interpreter(search)
        assert (found.path, found.source) == (str(own), InterpreterSource.OWN)
        assert [place.verdict for place in found.candidates] == [
            "not there",
            "named by a workspace that is not trusted",
            "named by a workspace that is not trusted",
            "inside a workspace that is not trusted",
            "not there",
            "inside a workspace that is not trusted",
            "used",
        ]

    def test_an_environment_outside_is_used(self, everything: InterpreterSearch, tmp_path: Path) -> None:
        search = InterpreterSearch(root=everything.root, environment=everything.environment, trusted=False)
        assert find_interpreter(search).path == str(tmp_path / "venv/bin/python")

    def test_not_by_links_either(self, tmp_path: Path, root: Path) -> None:
        hidden = make_python(root / "tools/python")
        link = tmp_path / "venv/bin/python"
        link.parent.mkdir(parents=True)
        link.symlink_to(hidden)
        for environment in ({"VIRTUAL_ENV": str(tmp_path / "venv")}, {"VIRTUAL_ENV": f"{root}/../project/tools"}):
            search = InterpreterSearch(root=root, environment=environment, own="", trusted=False)
            assert find_interpreter(search).path is None

    def test_not_even_with_the_option(self, root: Path) -> None:
        python = make_python(root / "python")
        assert find_interpreter(InterpreterSearch(option=str(python), root=root, trusted=False)).path is None
