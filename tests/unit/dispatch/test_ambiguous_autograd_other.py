"""OPL413."""

from __future__ import annotations

import pytest

from op_lint.findings import Severity
from tests.unit.builders import findings, lines, torch
from tests.unit.sources import HEAD, UNREAD, define, implement, quoted, under

COMPOSITE = HEAD + define(f"{quoted('a(Tensor x) -> Tensor')}, &f")


def found(*text: str) -> list[str]:
    return lines(findings("OPL413", {"ops.cpp": "".join(text)}, torch()))


def test_a_second_composite_does_not_help() -> None:
    assert found(COMPOSITE, implement("MkldnnCPU", "a"), implement("CompositeExplicitAutograd", "a")) == ["ops.cpp:6"]


@pytest.mark.parametrize("key", ["MkldnnCPU", "SparseCPU", "SparseCUDA", "QuantizedCPU", "FPGA", "Vulkan"])
def test_a_backend_without_autograd_of_its_own(key: str) -> None:
    assert found(COMPOSITE, implement(key, "a")) == ["ops.cpp:6"]


def test_the_words() -> None:
    (finding,) = findings("OPL413", {"ops.cpp": COMPOSITE + implement("MkldnnCPU", "a")}, torch())
    assert finding.message == (
        "`demo::a` has a composite kernel (line 5) and this MkldnnCPU kernel, and torch cannot tell which serves "
        "AutogradOther: a call with MkldnnCPU tensors raises; register the composite one at CompositeExplicitAutograd, "
        "or one at AutogradOther, too"
    )


def test_tensors_of_that_backend_have_another_autograd_key() -> None:
    (finding,) = findings("OPL413", {"ops.cpp": COMPOSITE + implement("SparseCPU", "a")}, torch())
    assert finding.severity is Severity.WARNING
    assert "a call with MkldnnCPU, FPGA or such tensors raises" in finding.message
    (finding,) = findings(
        "OPL413", {"ops.cpp": COMPOSITE + implement("SparseCPU", "a") + implement("MkldnnCPU", "a")}, torch()
    )
    assert (finding.severity, finding.place.line) == (Severity.ERROR, 7)


def test_the_composite_is_torchs() -> None:
    (finding,) = findings("OPL413", {"ops.cpp": HEAD + implement("FPGA", "einsum", namespace="aten")}, torch())
    assert "has a composite kernel in torch" in finding.message


@pytest.mark.parametrize(
    "text",
    [
        COMPOSITE + implement("CPU", "a"),
        COMPOSITE + implement("PrivateUse1", "a"),
        COMPOSITE + implement("MkldnnCPU", "a") + implement("AutogradOther", "a"),
        COMPOSITE + under("USE_IT", implement("MkldnnCPU", "a")),
        COMPOSITE + implement("MkldnnCPU", "a") + under("USE_IT", implement("AutogradOther", "a")),
        COMPOSITE + implement("MkldnnCPU", "a") + UNREAD,
        HEAD + define("a(Tensor x) -> Tensor") + implement("MkldnnCPU", "a") + implement("Autograd", "a"),
    ],
)
def test_it_is_not_ambiguous_for_certain(text: str) -> None:
    assert found(text) == []
