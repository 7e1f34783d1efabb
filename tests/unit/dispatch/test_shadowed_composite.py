"""OPL406."""

from __future__ import annotations

import pytest

from tests.unit.builders import findings, lines, torch
from tests.unit.sources import HEAD, define, fallthrough, implement, under


def found(*text: str) -> list[str]:
    return lines(findings("OPL406", {"ops.cpp": HEAD + "".join(text)}, torch()))


def aten(key: str, name: str = "einsum") -> str:
    return implement(key, name, namespace="aten")


@pytest.mark.parametrize("key", ["PrivateUse1", "CPU", "CUDA", "SparseCPU", "XLA"])
def test_a_backend_kernel(key: str) -> None:
    assert found(aten(key)) == ["ops.cpp:5"]


def test_the_words() -> None:
    (finding,) = findings("OPL406", {"ops.cpp": HEAD + aten("PrivateUse1")}, torch())
    assert finding.message == (
        "`aten::einsum` is CompositeImplicitAutograd in torch: with this PrivateUse1 kernel its gradients stop at "
        "AutogradPrivateUse1; register the operators that it is made of instead, or a kernel at AutogradPrivateUse1, "
        "too"
    )


@pytest.mark.parametrize(
    "more",
    [aten("AutogradPrivateUse1"), aten("Autograd"), under("USE_IT", aten("AutogradPrivateUse1"))],
)
def test_with_gradients_of_its_own(more: str) -> None:
    assert found(aten("PrivateUse1"), more) == []


@pytest.mark.parametrize(
    "text",
    [
        aten("PrivateUse1", "mv"),
        aten("AutogradPrivateUse1"),
        aten("Meta"),
        aten("AutocastCPU"),
        fallthrough("PrivateUse1", "einsum").replace("demo", "aten"),
        define("einsum(Tensor x) -> Tensor") + implement("CPU", "einsum"),
        implement("CPU", "einsum"),
    ],
)
def test_nothing_is_shadowed(text: str) -> None:
    assert found(text) == []


def test_without_torch() -> None:
    assert findings("OPL406", {"ops.cpp": HEAD + aten("PrivateUse1")}) == []
