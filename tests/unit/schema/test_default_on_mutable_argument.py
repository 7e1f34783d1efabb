"""OPL110.

Measured with the wrapper of torch 2.12: it looks for the arguments that are written to among those that the dispatcher
hands on, which leaves out what is the default. `define` puts no such wrapper before an operator.
"""

from __future__ import annotations

import pytest

from tests.unit.builders import findings, lines, torch
from tests.unit.sources import define

SCHEMA = "(Tensor x, Tensor(a!)? out=None) -> ()"


def found(text: str, version: str | None = "2.12") -> list[str]:
    """Where the rule speaks in a module with this text after its first line."""
    return lines(findings("OPL110", {"ops.py": f"import torch\n{text}"}, torch(version) if version else None))


def custom_op(parameters: str, schema: str = "", api: str = "custom_op") -> str:
    given = f', schema="{schema}"' if schema else ""
    head = f'@torch.library.{api}("demo::fill", mutates_args={{"out"}}{given})\n'
    return f"{head}def fill({parameters}) -> None:\n    pass\n"


INFERRED = custom_op("x: torch.Tensor, out: torch.Tensor | None = None")


def test_the_message() -> None:
    (finding,) = findings("OPL110", {"ops.py": f"import torch\n{INFERRED}"}, torch("2.12"))
    assert finding.message == (
        "`out` of `demo::fill` is written to and has a default, which breaks calls that leave it out in torch 2.12: "
        "remove the default"
    )


def test_where_it_is() -> None:
    text = f"import torch\n{custom_op('x, out=None', SCHEMA)}"
    (finding,) = findings("OPL110", {"ops.py": text}, torch("2.12"))
    assert text[finding.place.start : finding.place.end] == "Tensor(a!)? out=None"


@pytest.mark.parametrize("version", ["2.5", "2.12"])
def test_up_to_a_version(version: str) -> None:
    assert found(INFERRED, version) == ["ops.py:2"]
    assert found(custom_op("x: torch.Tensor, out: torch.Tensor | None = None", api="triton_op"), "2.12") == ["ops.py:2"]


@pytest.mark.parametrize("version", ["2.13", None])
def test_later_versions_and_none(version: str | None) -> None:
    assert found(INFERRED, version) == []


@pytest.mark.parametrize(
    "text",
    [
        custom_op("x: torch.Tensor, out: torch.Tensor"),
        custom_op("x: torch.Tensor, out: torch.Tensor, n: int = 1"),
        custom_op("x, out=None", "(Tensor x, Tensor? out=None) -> ()"),
        custom_op("x, out", "(Tensor x, Tensor(a!)? out) -> ()"),
        custom_op("x, out=None", "SCHEMA").replace('"SCHEMA"', "SCHEMA"),
        f'torch.library.define("demo::fill", "{SCHEMA}")\n',
        f'lib = torch.library.Library("demo", "DEF")\nlib.define("fill{SCHEMA}")\n',
        f'if torch.__version__ >= "2.13":\n    torch.library.custom_op("demo::fill", f, mutates_args=("out",), '
        f'schema="{SCHEMA}")\n',
    ],
)
def test_what_works(text: str) -> None:
    assert found(text) == []


def test_cpp() -> None:
    assert findings("OPL110", {"ops.cpp": define(f"fill{SCHEMA}")}, torch("2.12")) == []
