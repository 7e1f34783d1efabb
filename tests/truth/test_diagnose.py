"""What `op-lint diagnose` makes of what torch really prints: kind, names, the place in the sources."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from op_lint.errors.recognise import KINDS
from tests.check import run, write_project
from tests.truth.error_cases import CASES, HEAD, QUIET
from tests.truth.torch_process import needs_torch, run_script

pytestmark = needs_torch


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("programs")


@lru_cache
def printed(folder: Path) -> dict[str, str]:
    """What torch prints for each program, which are projects in folders of `folder`."""
    programs = {name: HEAD + case.source for name, case in CASES.items()} | {
        name: HEAD + source for name, source in QUIET.items()
    }
    for name, text in programs.items():
        files = CASES[name].files if name in CASES else {}
        write_project(folder / name, {**files, "ops.py": text})
    said = run_script("raise_errors.py", [[str(folder / name), "ops.py"] for name in programs])
    return dict(zip(programs, said, strict=True))


def diagnosed(project: Path, log: str, *arguments: str) -> list[dict[str, Any]]:
    (project / "log.txt").write_text(log)
    given = ("--from", "log.txt", "--torch-version", "2.13.0+cpu", "--jobs", "0", "--output-format", "json")
    outcome = run(project, "diagnose", *given, *arguments)
    found: list[dict[str, Any]] = json.loads(outcome.out)["errors"]
    assert outcome.status == (1 if found else 0), outcome
    return found


@pytest.mark.parametrize("name", CASES)
def test_it_says_what_torch_means(name: str, folder: Path) -> None:
    case, log = CASES[name], printed(folder)[name]
    errors = diagnosed(folder / name, log)
    assert [error["kind"] for error in errors] == [case.kind], log
    (error,) = errors
    assert (error["operator"], error["key"]) == (case.operator, case.key), error
    lines = [cause["line"] for cause in error["causes"]]
    assert case.line in lines[:1], (lines, error)
    codes = {finding["code"] for finding in error["findings"]}
    assert case.code is None or case.code in codes, (codes, error)
    assert error["causes"][0]["certainty"] in ("certain", "likely", "possible")
    assert error["meaning"]
    assert error["change"]


@pytest.mark.parametrize("name", QUIET)
def test_what_is_not_torchs_is_left_alone(name: str, folder: Path) -> None:
    log = printed(folder)[name]
    assert "Error" in log
    assert diagnosed(folder / name, log) == []


def test_the_programs_are_of_most_kinds() -> None:
    """What Python cannot raise is raised from C++ in `test_load_errors.py`, or is a matter of compilers and linkers."""
    raised = {case.kind for case in CASES.values()}
    assert raised <= {kind.name for kind in KINDS}
    assert len(raised) >= 25
