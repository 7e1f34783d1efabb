"""Every fix, applied, makes its finding go away and brings no other one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from op_lint.packs import load_packs
from op_lint.rule import Rule
from op_lint.text import SourceText
from tests.check import CASES, Findings, check, copy_of, write_project
from tests.unit.test_rule_documentation import NEWEST, example

_CASES = sorted(path for path in CASES.iterdir() if path.is_dir())
_RULES = load_packs().rules


_SHOWN = {"OPL302"}
"""What an operator lacks is seen once it has a kernel."""


def _apply(folder: Path, fix: dict[str, Any]) -> None:
    """Make the edits of a fix, last one first, so that none moves another."""
    for edit in sorted(fix["edits"], key=lambda edit: (edit["path"], edit["line"], edit["column"]), reverse=True):
        file = folder / edit["path"]
        text = SourceText(file.read_bytes())
        start = text.offset_of(edit["line"] - 1, edit["column"] - 1, "utf-32")
        end = text.offset_of(edit["end_line"] - 1, edit["end_column"] - 1, "utf-32")
        file.write_bytes(text.data[:start] + edit["text"].encode() + text.data[end:])


def _said(findings: Findings) -> set[tuple[str, str]]:
    """The findings without their lines, which an edit may move."""
    return {(finding["code"], finding["message"]) for finding in findings}


def _assert_fixes_hold(folder: Path, *arguments: str) -> set[str]:
    """Apply every fix in a fresh state of the project; the codes of their findings."""
    before = check(folder, *arguments)
    original = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    fixable = [finding for finding in before if finding["fix"]]
    for finding in fixable:
        _apply(folder, finding["fix"])
        after = check(folder, *arguments)
        assert (finding["code"], finding["message"]) not in _said(after), finding
        assert len(after) < len(before), (finding, after)
        assert {found["code"] for found in after} <= {found["code"] for found in before} | _SHOWN, (finding, after)
        for path, content in original.items():
            path.write_bytes(content)
    return {finding["code"] for finding in fixable}


@pytest.mark.parametrize("case", _CASES, ids=lambda case: case.name)
def test_fixes_of_a_case(case: Path, tmp_path: Path) -> None:
    _assert_fixes_hold(copy_of(case, tmp_path), "--torch-version", NEWEST)


@pytest.mark.parametrize("rule", _RULES, ids=lambda rule: f"{rule.code}-{rule.name}")
def test_fixes_of_an_example(rule: type[Rule], tmp_path: Path) -> None:
    torch = ".".join(map(str, rule.until)) if rule.until else NEWEST
    folder = write_project(tmp_path, dict(example(rule, "Example")))
    fixes = _assert_fixes_hold(folder, "--extend-select", rule.code, "--torch-version", torch)
    documented = "## Fix" in (rule.__doc__ or "")
    assert (rule.code in fixes) == documented, "a rule has a fix exactly where its document says so"
