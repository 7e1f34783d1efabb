"""The documentation of every rule: its headings, and its examples, which are run.

An example is one or more code blocks. Each is a file, named by the block's first line (`title="ops.cpp"`), else after
its language. Of a rule that needs a loaded extension a block `title="loaded"` is what the dispatcher says of it.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from op_lint.packs import load_packs
from op_lint.rule import Rule
from tests.check import Findings, check, write_project
from tests.loading import loaded

RULES = load_packs().rules
HEADINGS = ("What it does", "Why it is bad", "Example", "Use instead", "References")
NEWEST = "2.13.0"
LOADED = "loaded"

_BLOCK = re.compile(
    r'^```(?P<language>\w+)(?: title="(?P<title>[^"]+)")?\n(?P<code>.*?)^```$', re.MULTILINE | re.DOTALL
)
_NAMES = {"cpp": "ops.cpp", "python": "ops.py", "toml": "op-lint.toml", "cmake": "CMakeLists.txt"}

every_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.code}-{rule.name}")


def sections(rule: type[Rule]) -> dict[str, str]:
    """The text under each heading of a rule's documentation."""
    _, *parts = re.split(r"^## (.+)\n", inspect.getdoc(rule) or "", flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def example(rule: type[Rule], heading: str) -> dict[str, str]:
    """The files of the example under a heading."""
    blocks = list(_BLOCK.finditer(sections(rule)[heading]))
    files = {block["title"] or _NAMES[block["language"]]: block["code"] for block in blocks}
    assert len(files) == len(blocks) > 0, "each code block must be a file of its own"
    return files


def findings(rule: type[Rule], files: dict[str, str], folder: Path) -> Findings:
    """What the default rules and this one find, as far as it is of this rule's theme."""
    torch = ".".join(map(str, rule.until)) if rule.until else NEWEST
    sources = {name: text for name, text in files.items() if name != LOADED}
    project = write_project(folder, dict(sources))
    if LOADED in files:
        with loaded(files[LOADED], torch):
            found = check(project, "--extend-select", rule.code, "--load", "demo.so")
    else:
        found = check(project, "--extend-select", rule.code, "--torch-version", torch)
    return [finding for finding in found if finding["code"][:4] == rule.code[:4]]


@every_rule
def test_headings(rule: type[Rule]) -> None:
    wanted = [heading for heading in HEADINGS if heading != "References"] + ["Fix", "References"]
    assert [heading for heading in wanted if heading in sections(rule)] == list(sections(rule))
    assert set(HEADINGS) <= sections(rule).keys()
    assert all(text.strip() for text in sections(rule).values())


@every_rule
def test_summary_is_one_sentence(rule: type[Rule]) -> None:
    first = (inspect.getdoc(rule) or "").splitlines()[:2]
    assert first[0].endswith(".")
    assert first[1:] == [""]


@every_rule
def test_name_is_that_of_the_module(rule: type[Rule]) -> None:
    assert rule.__module__.rpartition(".")[2] == rule.name.replace("-", "_")


@every_rule
def test_example_triggers_this_rule_and_no_other_of_its_kind(rule: type[Rule], tmp_path: Path) -> None:
    found = findings(rule, example(rule, "Example"), tmp_path)
    assert {finding["code"] for finding in found} == {rule.code}
    assert any(finding["fix"] for finding in found) == ("Fix" in sections(rule))


@every_rule
def test_use_instead_does_not_trigger_it(rule: type[Rule], tmp_path: Path) -> None:
    assert findings(rule, example(rule, "Use instead"), tmp_path) == []


@every_rule
def test_messages(rule: type[Rule], tmp_path: Path) -> None:
    for finding in findings(rule, example(rule, "Example"), tmp_path):
        message = finding["message"]
        assert "\n" not in message
        assert not message.endswith(".")
        assert not message[:1].isupper() or message.split()[0].isidentifier()
