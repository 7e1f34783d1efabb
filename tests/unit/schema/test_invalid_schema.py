"""Where OPL101 points: at all of a C++ type, and only at what torch stumbles over elsewhere."""

from __future__ import annotations

import pytest

from tests.unit.builders import findings


@pytest.mark.parametrize(
    ("schema", "pointed_at"),
    [
        ("f(const at::Tensor & x) -> Tensor", "const at::Tensor &"),
        ("f(c10::optional<at::Tensor> x) -> Tensor", "c10::optional<at::Tensor>"),
        ("f(unsigned long n) -> Tensor", "unsigned long"),
        ("f(Tensor x) -> std::tuple<Tensor, Tensor>", "std::tuple<Tensor, Tensor>"),
        ("f(int[] n=None) -> Tensor", "None"),
        ("f(Tensor x) Tensor", "Tensor"),
    ],
)
def test_columns(schema: str, pointed_at: str) -> None:
    line = f'TORCH_LIBRARY(demo, m) {{ m.def("{schema}"); }}'
    text = f"#include <torch/library.h>\n{line}\n"
    (finding,) = findings("OPL101", {"ops.cpp": text})
    assert text[finding.place.start : finding.place.end] == pointed_at


def test_in_a_macro() -> None:
    text = '#include <torch/library.h>\n#define OP(n) m.def(n "(const Tensor& x) -> Tensor")\n'
    text += 'TORCH_LIBRARY(demo, m) { OP("f"); }\n'
    (finding,) = findings("OPL101", {"ops.cpp": text})
    assert text[finding.place.start : finding.place.end] in ("const Tensor&", 'OP("f")')
