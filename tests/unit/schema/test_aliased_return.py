"""OPL107."""

from __future__ import annotations

import pytest

from tests.unit.builders import findings

INPLACE = ", or, since torch 2.13, tag the operator `torch.Tag.inplace`"


@pytest.mark.parametrize(
    ("schema", "cure"),
    [
        ("f_(Tensor(a!) x, float s) -> Tensor(a!)", f"write `-> ()`, and let the kernel return void{INPLACE}"),
        ("f(Tensor x, Tensor(a!) y) -> Tensor(a!)", "write `-> ()`, and let the kernel return void"),
        ("f(Tensor(a!) x, Tensor(b!) y) -> Tensor(a!)", "write `-> ()`, and let the kernel return void"),
        ("f(Tensor(a!) x) -> (Tensor(a!), Tensor)", "write `-> ()`, and let the kernel return void"),
        ("f(Tensor(a!)? x) -> Tensor(a!)", "write `-> ()`, and let the kernel return void"),
        ("f(*, Tensor(a!) x) -> Tensor(a!)", "write `-> ()`, and let the kernel return void"),
        ("f(Tensor(a) x) -> Tensor(a)", "return a new tensor, and clone it in the kernel"),
    ],
)
def test_what_to_do(schema: str, cure: str) -> None:
    (finding,) = findings("OPL107", {"ops.cpp": f'TORCH_LIBRARY(demo, m) {{ m.def("{schema}"); }}\n'})
    assert finding.message.endswith(f" refuse in a custom operator: {cure}")


@pytest.mark.parametrize(
    "ops",
    [
        'lib.define("f_(Tensor(a!) x) -> Tensor(a!)", tags=(torch.Tag.inplace,))\n',
        '@torch.library.custom_op("demo::f_", mutates_args={"x"}, tags=torch.Tag.inplace)\n'
        "def f(x: torch.Tensor) -> torch.Tensor:\n    return x.add_(1)\n",
        'lib.define("f(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", tags=[torch.Tag.out])\n',
    ],
)
def test_torch_compiles_what_has_a_tag_for_it(ops: str) -> None:
    """Measured with torch 2.13: functionalization takes these tags at their word."""
    head = 'import torch\nlib = torch.library.Library("demo", "FRAGMENT")\n'
    assert findings("OPL107", {"ops.py": head + ops}) == []


def test_tags_of_cpp() -> None:
    definition = 'm.def("f_(Tensor(a!) x) -> Tensor(a!)", {at::Tag::inplace});'
    text = f"#include <torch/library.h>\nTORCH_LIBRARY(demo, m) {{ {definition} }}\n"
    assert findings("OPL107", {"ops.cpp": text}) == []
