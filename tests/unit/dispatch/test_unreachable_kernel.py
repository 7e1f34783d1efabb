"""OPL412."""

from __future__ import annotations

import pytest

from tests.unit.builders import findings, lines, torch
from tests.unit.sources import HEAD, UNREAD, define, implement, quoted, under

COMPOSITE = HEAD + define(f"{quoted('a(Tensor x) -> Tensor')}, &f")


def found(*text: str) -> list[str]:
    return lines(findings("OPL412", {"ops.cpp": "".join(text)}, torch()))


def test_autograd_beside_a_composite() -> None:
    (finding,) = findings("OPL412", {"ops.cpp": COMPOSITE + implement("Autograd", "a")}, torch())
    assert finding.place.line == 6
    assert finding.message == (
        "no call ever reaches this Autograd kernel of `demo::a`: the composite kernel (line 5) is used at every key "
        "that Autograd stands for; register that one at CompositeExplicitAutograd instead, with `m.impl`"
    )
    assert [related.place.line for related in finding.related] == [5]


def test_a_composite_beside_another() -> None:
    source = COMPOSITE + implement("CompositeExplicitAutograd", "a")
    (finding,) = findings("OPL412", {"ops.cpp": source}, torch())
    assert finding.place.line == 5
    assert finding.message.endswith("other kernels stand at all of its keys")


@pytest.mark.parametrize(
    "text",
    [
        COMPOSITE,
        COMPOSITE + implement("CPU", "a") + implement("Autograd", "a"),
        COMPOSITE + implement("AutogradCPU", "a"),
        COMPOSITE + under("USE_IT", implement("Autograd", "a")),
        COMPOSITE + implement("Autograd", "a") + under("USE_IT", implement("CPU", "a")),
        COMPOSITE + implement("Autograd", "a") + UNREAD,
        HEAD + define("a(Tensor x) -> Tensor") + implement("Autograd", "a") + implement("CPU", "a"),
        HEAD + define("a(Tensor x) -> Tensor") + implement("NoSuchKey", "a"),
        COMPOSITE + implement("SparseCPU", "a") + implement("Autograd", "a"),
    ],
)
def test_every_kernel_may_be_reached(text: str) -> None:
    assert found(text) == []


def test_a_key_that_no_call_has_is_another_rules_business() -> None:
    source = (
        "#include <torch/library.h>\nat::Tensor f(const at::Tensor& x);\n"
        'TORCH_LIBRARY(demo, m) { m.def("f(Tensor x) -> Tensor"); }\n'
        'TORCH_LIBRARY_IMPL(demo, NestedTensor, m) { m.impl("f", &f); }\n'
    )
    assert findings("OPL412", {"ops.cpp": source}, torch()) == []
    assert len(findings("OPL210", {"ops.cpp": source}, torch())) == 1
