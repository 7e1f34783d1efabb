"""`op-lint config`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import msgspec
import pytest

from op_lint.config import Settings
from op_lint.config_schema import schema_text
from tests.check import run, write_project

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CONFIGURATION = """\
ignore = ["OPL2", "unresolved-\\u0072egistration"]
defines = ["A=\\"x\\\\\\\\y\\""]

[per-file-ignores]
"tests/größe/*" = ["OPL3"]

[[wrappers]]
name = "f"
parameters = ["a", "b"]
operator = "a"
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_project(tmp_path, {"op-lint.toml": CONFIGURATION, "sub/a.cpp": ""})


def test_what_is_printed_is_a_configuration_that_says_the_same(project: Path) -> None:
    outcome = run(project, "config")
    assert (outcome.status, outcome.err) == (0, "")
    printed = msgspec.convert(tomllib.loads(outcome.out), Settings)
    assert printed == msgspec.convert(tomllib.loads(CONFIGURATION), Settings)
    (project / "op-lint.toml").write_text(outcome.out)
    assert msgspec.convert(tomllib.loads(run(project, "config").out), Settings) == printed


def test_where_each_setting_comes_from(project: Path) -> None:
    outcome = run(project / "sub", "config", "--no-torch", "--cache-dir", "here", "--output-format", "json")
    value = json.loads(outcome.out)
    assert (value["root"], Path(value["file"])) == (str(project), project / "op-lint.toml")
    origins = {name: each["from"].replace(f"{project}/", "") for name, each in value["settings"].items()}
    assert list(origins) == [field.encode_name for field in msgspec.structs.fields(Settings)]
    assert {name: origin for name, origin in origins.items() if origin != "default"} == {
        "ignore": "op-lint.toml:1",
        "defines": "op-lint.toml:2",
        "per-file-ignores": "op-lint.toml:4",
        "wrappers": "op-lint.toml:7",
        "torch": "the command line",
        "cache-dir": "the command line",
    }
    assert value["settings"]["torch"]["value"] is False
    assert value["settings"]["cache-dir"]["value"] == str(project / "sub" / "here")
    assert "OPL301" in value["rules"]
    assert "OPL201" not in value["rules"]
    assert "torch = false  # the command line\n" in run(project, "config", "--no-torch").out
    isolated = run(project, "config", "--isolated").out
    assert isolated.startswith(f"# {project}: no configuration\n# select is not set\nextend-select = []  # default\n")


def test_verify(project: Path) -> None:
    assert run(project, "config", "--verify") == (0, "op-lint.toml: nothing wrong\n", "")
    (project / "op-lint.toml").write_text('ignroe = []\nignore = ["OPL999"]\n')
    outcome = run(project, "config", "--verify")
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err.splitlines() == [
        "op-lint.toml:1:1: there is no setting `ignroe`; did you mean `ignore`?",
        "op-lint.toml:2:1: `ignore`: no rule has the code, prefix or name `OPL999`",
    ]
    assert run(project, "config").status == 2


def test_schema(tmp_path: Path) -> None:
    assert run(tmp_path, "config", "--schema") == (0, schema_text(), "")
