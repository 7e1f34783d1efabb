"""Every case under tests/cases, through the command line in this process; some of them through every front."""

from __future__ import annotations

from pathlib import Path

import pytest

from op_lint.packs import load_packs
from tests.check import CASES, FRONTS, LOADED, Findings, check, copy_of, expected, marks, meets, missing
from tests.loading import loaded

_ALL = sorted(path for path in CASES.iterdir() if path.is_dir())


def _arguments(case: Path) -> tuple[str, ...]:
    """A case that needs no torch is held against none, so that it cannot pass only because one is there."""
    codes = {mark.code for mark in marks(case)} | {each["code"] for each in expected(case).expect}
    wanted = ",".join(sorted(codes & {rule.code for rule in load_packs().rules}))
    torch = ("--torch-version", "2.13.0") if expected(case).needs == "torch" else ("--no-torch",)
    return (*torch, *(("--extend-select", wanted) if wanted else ()))


def _findings(case: Path, project: Path, front: str = "command line") -> Findings:
    """What is found in a case; one that needs a loaded extension says what the dispatcher has with it."""
    said = expected(case)
    if said.needs != "live":
        return check(project, *_arguments(case), front=front)
    with loaded((case / LOADED).read_text("utf-8"), said.torch):
        return check(project, "--load", "demo.so", front=front)


@pytest.mark.parametrize("case", _ALL, ids=lambda case: case.name)
def test_case(case: Path, tmp_path: Path) -> None:
    said = expected(case)
    known = {rule.code for rule in load_packs().rules}
    unknown = sorted({each["code"] for each in said.expect} - known)
    findings = _findings(case, copy_of(case, tmp_path))
    assert not missing(findings, [each for each in said.expect if each["code"] in known]), findings
    assert not [finding for finding in findings if finding["code"] in said.silent]
    announced = marks(case)
    codes = {mark.code for mark in announced}
    stray = [
        finding
        for finding in findings
        if finding["code"] in codes and not any(meets(finding, mark) for mark in announced)
    ]
    unmet = [mark for mark in announced if not any(meets(finding, mark) for finding in findings)]
    assert (unmet, stray) == ([], [])
    if unknown:
        pytest.skip(f"all but {', '.join(unknown)} is as expected: no rule has that code yet")


def test_cases_expect_something() -> None:
    empty = [case.name for case in _ALL if not (expected(case).expect or expected(case).silent or marks(case))]
    assert _ALL
    assert not empty


@pytest.mark.parametrize("case", _ALL, ids=lambda case: case.name)
def test_the_server_says_the_same(case: Path, tmp_path: Path) -> None:
    project = copy_of(case, tmp_path)
    if expected(case).needs == "live":
        pytest.skip("what its extension registers is not known to another process")
    assert _findings(case, project, "server") == _findings(case, project)


@pytest.mark.parametrize("front", sorted(FRONTS.keys() - {"command line"}))
@pytest.mark.parametrize("name", ["26-two-torch-library-blocks", "35-cpp-meta-plus-python-fake", "comments"])
def test_fronts_agree(name: str, front: str, tmp_path: Path) -> None:
    case = CASES / name
    project = copy_of(case, tmp_path)
    findings = check(project, *_arguments(case))
    assert findings
    assert check(project, *_arguments(case), front=front) == findings
