"""OPL106. What torchgen says of these schemas: tests/truth/test_out_variants.py."""

from __future__ import annotations

import pytest

from op_lint.kernels import parsed
from op_lint.schema.model import Schema
from op_lint_rules.schema._out import is_out_overload, misplaced_out
from tests.unit.builders import findings, lines, torch
from tests.unit.schema.out_variants import BAD, GOOD, NO_VARIANTS
from tests.unit.sources import define


@pytest.mark.parametrize(("schema", "argument", "cure"), BAD)
def test_what_the_tools_do_not_see(schema: str, argument: str, cure: str) -> None:
    text = define(schema)
    (finding,) = findings("OPL106", {"ops.cpp": text})
    assert f"do not see `{argument}` as its out argument: {cure}" in finding.message
    written = text[finding.place.start : finding.place.end]
    assert written.endswith(argument)
    assert written.startswith("Tensor")


@pytest.mark.parametrize("schema", [*GOOD, *NO_VARIANTS, "f.out(Tensor x, *, Tensor(a!) out) -> ()"])
def test_what_is_seen_or_no_out_variant(schema: str) -> None:
    assert findings("OPL106", {"ops.cpp": define(schema)}) == []


def test_nothing_is_said_of_what_does_not_parse() -> None:
    assert findings("OPL106", {"ops.cpp": define("f.out(Tensor x, Tensor(a! out) -> ()", "f.out")}) == []
    assert findings("OPL106", {"ops.cpp": "TORCH_LIBRARY(demo, m) { m.def(schema()); }\n"}) == []


def test_in_python_and_in_the_stable_abi() -> None:
    python = 'import torch\ntorch.library.define("demo::f.out", "(Tensor x, Tensor(a!) out) -> Tensor(a!)")\n'
    stable = 'STABLE_TORCH_LIBRARY(demo, m) { m.def("g.out(Tensor x, Tensor(a!) out) -> Tensor(a!)"); }\n'
    assert lines(findings("OPL106", {"ops.py": python, "ops.cpp": stable})) == ["ops.cpp:1", "ops.py:2"]


def test_torch_has_its_own_as_they_should_be() -> None:
    """All but those of the quantized and FBGEMM operators, which torchgen does not read."""
    schemas = {name: parsed(each.schema or "") for name, each in torch().operators.items()}
    outs = {
        name: schema
        for name, schema in schemas.items()
        if name.startswith("aten::") and isinstance(schema, Schema) and is_out_overload(schema.name.overload)
    }
    assert len(outs) > 900
    wrong = {name for name, schema in outs.items() if misplaced_out(schema) is not None}
    assert {name.split("_weight")[0] for name in wrong} == {"aten::fbgemm_linear_fp16"}
