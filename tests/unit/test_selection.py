from __future__ import annotations

from collections.abc import Iterator

import pytest

from op_lint.findings import Finding, Severity
from op_lint.program import Program
from op_lint.rule import Rule
from op_lint.selection import Selectors, is_known, selected_rules, specificity


class _Silent(Rule):
    severity = Severity.WARNING

    def check(self, program: Program) -> Iterator[Finding]:
        yield from ()


class First(_Silent):
    code = "OPL301"
    name = "first"


class Second(_Silent):
    code = "OPL302"
    name = "second"


class OptIn(_Silent):
    code = "OPL401"
    name = "opt-in"
    default = False


class Foreign(_Silent):
    code = "XYZ1"
    name = "foreign"


RULES = (OptIn, Foreign, Second, First)


def codes(configured: Selectors, command_line: Selectors = Selectors()) -> list[str]:  # noqa: B008 -- frozen
    return [rule.code for rule in selected_rules(RULES, configured, command_line)]


@pytest.mark.parametrize(
    ("configured", "expected"),
    [
        (Selectors(), ["OPL301", "OPL302", "XYZ1"]),
        (Selectors(select=()), []),
        (Selectors(select=("ALL",)), ["OPL301", "OPL302", "OPL401", "XYZ1"]),
        (Selectors(select=("OPL3",)), ["OPL301", "OPL302"]),
        (Selectors(select=("second",)), ["OPL302"]),
        (Selectors(extend_select=("opt-in",)), ["OPL301", "OPL302", "OPL401", "XYZ1"]),
        (Selectors(ignore=("OPL",)), ["XYZ1"]),
        (Selectors(ignore=("ALL",)), []),
        (Selectors(select=("OPL301",), ignore=("OPL3",)), ["OPL301"]),
        (Selectors(select=("OPL3",), ignore=("first",)), ["OPL302"]),
        (Selectors(select=("ALL",), ignore=("OPL3",), extend_select=("OPL302",)), ["OPL302", "OPL401", "XYZ1"]),
        (Selectors(select=("OPL301",), ignore=("OPL301",)), []),
    ],
)
def test_the_most_specific_selector_decides(configured: Selectors, expected: list[str]) -> None:
    assert codes(configured) == expected


def test_the_command_line_stands_above_the_configuration() -> None:
    configured = Selectors(select=("XYZ",), ignore=("OPL301",))
    assert codes(configured) == ["XYZ1"]
    assert codes(configured, Selectors(select=("OPL301",))) == ["OPL301"]
    assert codes(configured, Selectors(select=("OPL3",))) == ["OPL302"]
    assert codes(configured, Selectors(extend_select=("OPL4",))) == ["OPL401", "XYZ1"]
    assert codes(configured, Selectors(ignore=("XYZ1",))) == []


def test_what_is_known() -> None:
    assert is_known("OPL3", RULES)
    assert is_known("ALL", ())
    assert not is_known("OPL9", RULES)
    assert not is_known("", RULES)
    assert not is_known("firs", RULES)
    assert specificity("OPL301", "OPL301", "first") == specificity("first", "OPL301", "first")
