"""What README.md says is true."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import msgspec

from op_lint.cli import COMMANDS
from op_lint.config import Settings
from tests.check import run

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")


def settings_rows() -> list[str]:
    """A row of the settings' table for each setting, as its definition describes it."""
    rows = []
    for name, field in msgspec.json.schema(Settings)["$defs"]["Settings"]["properties"].items():
        default = field["default"]
        shown = "a list of usual names" if name == "exclude" else json.dumps(default)
        rows.append(f"| `{name}` | {'' if default is None else shown} | {field['description']} |")
    return rows


def test_the_table_of_settings_is_the_settings() -> None:
    table = re.findall(r"^\| `[a-z-]+` \|.*$", README, re.MULTILINE)
    assert table == settings_rows()


def test_every_subcommand_is_listed() -> None:
    listed = re.findall(r"^op-lint \[?(\w+)\]?.*  ", README, re.MULTILINE)
    assert sorted(listed) == sorted(COMMANDS)


def test_the_first_command_finds_mistakes_in_the_example() -> None:
    (command,) = re.findall(r"^python3 -m venv .*$", README, re.MULTILINE)
    program, *arguments = shlex.split(command.rpartition("&&")[2])
    assert program == ".venv/bin/op-lint"
    outcome = run(ROOT, *arguments)
    assert outcome.status == 1, outcome
    (printed,) = re.findall(r"Among what it prints:\n\n```\n(.*?)```", README, re.DOTALL)
    assert printed in outcome.out


def test_the_second_command_is_there() -> None:
    assert "\n.ci/run\n" in README
    assert (ROOT / ".ci/run").stat().st_mode & 0o111
