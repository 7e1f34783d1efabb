"""OPL305."""

from __future__ import annotations

import pytest

from tests.unit.builders import findings
from tests.unit.sources import HEAD, UNREAD, define, implement, under


def made(arguments: str, *more: str) -> dict[str, str]:
    return {"ops.cpp": HEAD + define(f"make({arguments}) -> Tensor") + "".join(more)}


CPU = implement("CPU", "make", kernel="&make")


@pytest.mark.parametrize("arguments", ["int n", "", "Device? device=None", "int[] n, *, ScalarType? dtype=None"])
def test_nothing_to_dispatch_on(arguments: str) -> None:
    (finding,) = findings("OPL305", made(arguments, CPU))
    assert finding.place.line == 6
    assert finding.message == (
        "`demo::make` (line 5) has no argument that the dispatcher looks at, so a CPU kernel is never chosen: register "
        "it at CompositeExplicitAutograd, or choose a backend in a BackendSelect kernel"
    )


@pytest.mark.parametrize("arguments", ["Tensor[][] x", "Dict(str, Tensor) x"])
def test_tensors_that_are_not_looked_into(arguments: str) -> None:
    assert len(findings("OPL305", made(arguments, CPU))) == 1


@pytest.mark.parametrize(
    "arguments", ["Tensor x", "Tensor? x", "Tensor[] x", "Tensor?[] x", "int n, *, Tensor(a!) out"]
)
def test_something_to_dispatch_on(arguments: str) -> None:
    assert findings("OPL305", made(arguments, CPU)) == []


@pytest.mark.parametrize(
    "more",
    [
        implement("CompositeExplicitAutograd", "make", kernel="&make"),
        implement("CompositeImplicitAutograd", "make", kernel="&make"),
        implement("BackendSelect", "make", kernel="&make"),
        under("USE_CUDA", implement("BackendSelect", "make", kernel="&make")),
        UNREAD,
    ],
)
def test_a_kernel_that_is_chosen_all_the_same(more: str) -> None:
    assert findings("OPL305", made("int n", CPU, more)) == []


def test_no_backend_kernel() -> None:
    assert findings("OPL305", made("int n")) == []


def test_one_definition_of_two_has_a_tensor() -> None:
    first = under("OLD", define("make(int n) -> Tensor"))
    second = under("!OLD", define("make(Tensor like, int n) -> Tensor"))
    assert findings("OPL305", {"ops.cpp": HEAD + first + second + CPU}) == []


def test_an_operator_that_is_not_defined_here() -> None:
    assert findings("OPL305", {"ops.cpp": HEAD + CPU}) == []
