"""OPL109."""

from __future__ import annotations

import pytest

from op_lint.findings import Severity
from op_lint.schema import Verdict, compare
from tests.unit.builders import findings, lines
from tests.unit.schema.kernels import kernel, schema_of
from tests.unit.sources import define

SIZES = (
    ("int size", "SymInt", "int64_t size"),
    ("int? _rows=None", "SymInt?", "std::optional<int64_t> rows"),
    ("int[] shape", "SymInt[]", "at::IntArrayRef shape"),
    ("int[2] output_size=1", "SymInt[2]", "at::IntArrayRef size"),
    ("int[2]? Shape_", "SymInt[2]?", "at::OptionalIntArrayRef shape"),
    ("*, int num_tokens", "SymInt", "int64_t n"),
)
"""An argument, its type made symbolic, and a kernel's parameter for either."""


@pytest.mark.parametrize(("argument", "write", "parameter"), SIZES)
def test_a_size(argument: str, write: str, parameter: str) -> None:
    text = define(f"f(Tensor x, {argument}) -> Tensor")
    (finding,) = findings("OPL109", {"ops.cpp": text})
    assert finding.severity is Severity.HINT
    assert finding.message.endswith(f"compiles again for each new value: write `{write}`")
    assert text[finding.place.start : finding.place.end] == argument.removeprefix("*, ")


@pytest.mark.parametrize(("argument", "write", "parameter"), SIZES)
def test_the_kernel_can_stay_as_it_is(argument: str, write: str, parameter: str) -> None:
    written = argument.removeprefix("*, ").partition(" ")[0]
    signature = kernel("at::Tensor", "const at::Tensor& x", parameter)
    for schema in (f"f(Tensor x, {argument}) -> Tensor", f"f(Tensor x, {argument.replace(written, write)}) -> Tensor"):
        assert compare(signature, schema_of(schema)).verdict is Verdict.FITS


@pytest.mark.parametrize(
    "schema",
    [
        "f(Tensor x, SymInt size, SymInt[] shape) -> Tensor",
        "f(Tensor x, float size, bool[] shape, Tensor lengths) -> Tensor",
        "f(Tensor x, int dim, int sizes_of, int n) -> Tensor",
        "f(Tensor x, int[][] shape, int?[] lengths) -> Tensor",
        "f(Tensor x) -> int size",
        "f(Tensor x, int size",
    ],
)
def test_no_size_or_no_integer(schema: str) -> None:
    assert findings("OPL109", {"ops.cpp": define(schema)}) == []


def test_in_python() -> None:
    text = (
        "import torch\n"
        'torch.library.define("demo::f", "(Tensor x, int size) -> Tensor")\n'
        '@torch.library.custom_op("demo::g", mutates_args=())\n'
        "def g(x: torch.Tensor, size: int) -> torch.Tensor:\n    return x\n"
        '@torch.library.custom_op("demo::h", mutates_args=(), schema="(Tensor x, int size) -> Tensor")\n'
        "def h(x, size):\n    return x\n"
    )
    assert lines(findings("OPL109", {"ops.py": text})) == ["ops.py:2", "ops.py:6"]


def test_in_the_stable_abi() -> None:
    text = 'STABLE_TORCH_LIBRARY(demo, m) { m.def("f(Tensor x, int size) -> Tensor"); }\n'
    assert lines(findings("OPL109", {"ops.cpp": text})) == ["ops.cpp:1"]
