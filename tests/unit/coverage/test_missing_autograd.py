"""OPL303."""

from __future__ import annotations

import pytest

from tests.unit.builders import findings, lines
from tests.unit.sources import HEAD, UNREAD, define, implement

ALONE = HEAD + define("a(Tensor x) -> Tensor") + implement("CPU", "a")


def test_a_kernel_and_no_formula() -> None:
    (finding,) = findings("OPL303", {"ops.cpp": ALONE})
    assert finding.place.line == 5
    assert finding.message == (
        "`demo::a` has no autograd formula, so gradients stop at it: register one, "
        '`torch.library.register_autograd("demo::a", backward, setup_context=...)`, if it is used in training'
    )


def test_with_a_backward_half() -> None:
    source = HEAD + define("a(Tensor x) -> Tensor", "a_backward(Tensor x) -> Tensor") + implement("CPU", "a")
    (finding,) = findings("OPL303", {"ops.cpp": source + implement("CPU", "a_backward")})
    assert "although there is `demo::a_backward` (line 5)" in finding.message
    assert [related.place.line for related in finding.related] == [5]


@pytest.mark.parametrize(
    "more",
    [
        implement("Autograd", "a"),
        implement("AutogradCPU", "a"),
        implement("CompositeImplicitAutograd", "a"),
        UNREAD,
        'TORCH_LIBRARY_FRAGMENT(demo, m) { m.impl("a", key(), &f); }\n',
    ],
)
def test_there_is_one_or_may_be(more: str) -> None:
    assert findings("OPL303", {"ops.cpp": ALONE + more}) == []


@pytest.mark.parametrize(
    "schema",
    ["a(Tensor x) -> int", "a(Tensor(a!) x) -> ()", "a(Tensor(a) x) -> Tensor(a)", "a(int n) -> Tensor"],
)
def test_nothing_to_differentiate(schema: str) -> None:
    assert findings("OPL303", {"ops.cpp": HEAD + define(schema) + implement("CPU", "a")}) == []


FORMULA = """
import torch

def backward(ctx, grad): return grad

torch.library.register_autograd("demo::a", backward)
"""


def test_the_formula_is_in_another_language() -> None:
    assert findings("OPL303", {"ops.cpp": ALONE, "ops.py": FORMULA}) == []
    assert lines(findings("OPL303", {"ops.cpp": ALONE, "ops.py": FORMULA.replace("::a", "::b")})) == ["ops.cpp:5"]


def test_the_kernel_is_in_another_language() -> None:
    python = 'import torch\nlib = torch.library.Library("demo", "IMPL")\nlib.impl("a", lambda x: x.clone(), "CPU")\n'
    assert lines(findings("OPL303", {"ops.cpp": HEAD + define("a(Tensor x) -> Tensor"), "ops.py": python})) == [
        "ops.cpp:5"
    ]
