from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, EntryPoint
from pathlib import Path
from types import ModuleType

import pytest

from op_lint.documentation import page_url
from op_lint.findings import Finding, Severity
from op_lint.packs import GROUP, Packs, load_packs
from op_lint.program import Program
from op_lint.rule import Rule


class _Silent(Rule):
    severity = Severity.WARNING

    def check(self, program: Program) -> Iterator[Finding]:
        yield from ()


class First(_Silent):
    code = "AAA1"
    name = "first"


class Second(_Silent):
    code = "AAA2"
    name = "second"


class SameCode(_Silent):
    code = "AAA1"
    name = "same-code"


class SameName(_Silent):
    code = "AAA3"
    name = "first"


class Nameless(_Silent):
    code = "AAA4"


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> object:
    def load(**packs: object) -> Packs:
        points = []
        for name, rules in packs.items():
            module = ModuleType(f"pack_{name}")
            if rules is not None:
                module.rules = (lambda found: lambda: found)(rules)  # type: ignore[attr-defined]
            monkeypatch.setitem(sys.modules, module.__name__, module)
            points.append(EntryPoint(name, module.__name__, GROUP))
        return load_packs(points)

    return load


def test_packs_are_equals_and_rules_are_sorted(load: type) -> None:
    packs = load(one=[Second], two=[First])
    assert (packs.rules, packs.names, packs.broken, packs.clashes) == ((First, Second), ("one", "two"), (), ())


def test_a_broken_pack_is_a_message_and_the_others_count(load: type) -> None:
    packs = load(bad=None, good=[First], worse=[int], worst=[Nameless], none=7)
    assert packs.rules == (First,)
    assert packs.names == ("good",)
    assert packs.broken == (
        "rule pack `bad` (pack_bad): AttributeError: module 'pack_bad' has no attribute 'rules'",
        "rule pack `none` (pack_none): TypeError: 'int' object is not iterable",
        "rule pack `worse` (pack_worse): TypeError: <class 'int'> is not a subclass of op_lint.rule.Rule",
        f"rule pack `worst` (pack_worst): TypeError: {__name__}.Nameless has no name",
    )


def test_a_pack_that_is_not_there(load: type) -> None:
    packs = load_packs([EntryPoint("gone", "no_such_module_anywhere", GROUP)])
    assert packs.rules == ()
    assert packs.broken == (
        "rule pack `gone` (no_such_module_anywhere): ModuleNotFoundError: No module named 'no_such_module_anywhere'",
    )


def test_two_rules_of_one_code_or_name_clash(load: type) -> None:
    packs = load(one=[First], two=[SameCode, SameName])
    assert packs.clashes == (
        f"`AAA1` is claimed by {__name__}.First and by {__name__}.SameCode",
        f"`first` is claimed by {__name__}.First and by {__name__}.SameName",
    )


def test_the_same_rule_twice_is_no_clash(load: type) -> None:
    packs = load(one=[First], two=[First])
    assert (packs.rules, packs.names, packs.clashes) == ((First,), ("one", "two"), ())
    assert packs.sources["AAA1"].name == "one"


def test_our_own_pack_is_found_by_its_entry_point() -> None:
    packs = load_packs()
    assert "op-lint" in packs.names
    assert not packs.broken
    assert not packs.clashes
    assert {"OPL901", "OPL902", "OPL903", "OPL904"} <= {rule.code for rule in packs.rules}


class _Distribution(Distribution):
    def __init__(self, text: str) -> None:
        self.text = text

    def read_text(self, filename: str) -> str | None:
        return self.text if filename == "METADATA" else None

    def locate_file(self, path: str | os.PathLike[str]) -> Path:
        raise NotImplementedError


@pytest.mark.parametrize(
    ("urls", "page"),
    [
        ("Project-URL: Documentation, https://example.org/docs/\n", "https://example.org/docs/rules/first"),
        ("Project-URL: Homepage, https://example.org\n", None),
        ("", None),
    ],
)
def test_a_rule_has_a_page_where_its_package_names_a_site(urls: str, page: str | None) -> None:
    distribution = _Distribution(f"Metadata-Version: 2.1\nName: x\nVersion: 1\n{urls}")
    source = EntryPoint("one", "pack", GROUP)
    assert page_url(First, source) is None
    assert page_url(First, source._for(distribution)) == page  # type: ignore[attr-defined]
