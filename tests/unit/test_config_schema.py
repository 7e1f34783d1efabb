"""The JSON schema of the configuration says what the configuration code does."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from op_lint.config import load_configuration
from op_lint.config_schema import configuration_schema, schema_text

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

COPY = Path(__file__).parents[2] / "docs" / "op-lint.schema.json"


def test_the_published_copy_is_current() -> None:
    assert COPY.read_text("utf-8") == schema_text(), "make it again: op-lint config --schema > docs/op-lint.schema.json"


def test_it_is_a_schema() -> None:
    Draft202012Validator.check_schema(configuration_schema())


@pytest.mark.parametrize(
    "text",
    [
        "",
        'select = ["ALL"]\nignore = ["OPL3"]\ntorch = false\npython = "x"\n',
        '[per-file-ignores]\n"a/*" = ["OPL301"]\n',
        '[[wrappers]]\nname = "f"\nparameters = ["a"]\noperator = "a"\nkey = "a"\n',
        "zzz = 1\n",
        'select = "ALL"\n',
        "ignore = [1]\n",
        'torch = "no"\n',
        "python = 3\n",
        '[per-file-ignores]\n"a/*" = "OPL301"\n',
        '[[wrappers]]\nname = "f"\nparameters = ["a"]\n',
        '[[wrappers]]\nname = "f"\nparameters = ["a"]\noperator = "a"\nzzz = "a"\n',
    ],
)
def test_it_refuses_what_op_lint_refuses(text: str, tmp_path: Path) -> None:
    (tmp_path / "op-lint.toml").write_text(text)
    document: Any = tomllib.loads(text)
    refused = bool(load_configuration(tmp_path).problems)
    assert (not Draft202012Validator(configuration_schema()).is_valid(document)) is refused
