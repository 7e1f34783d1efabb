"""OPL409."""

from __future__ import annotations

import pytest

from tests.unit.builders import findings, lines, torch
from tests.unit.sources import HEAD, UNREAD, define, fallthrough, implement, under

DEFINED = HEAD + define("a(Tensor x) -> Tensor") + implement("CPU", "a")


def found(*text: str) -> list[str]:
    return lines(findings("OPL409", {"ops.cpp": DEFINED + "".join(text)}, torch()))


@pytest.mark.parametrize(
    ("alias", "key"),
    [
        ("Autograd", "AutogradCPU"),
        ("Autograd", "AutogradOther"),
        ("CompositeExplicitAutograd", "CUDA"),
        ("CompositeExplicitAutograd", "Meta"),
        ("CompositeImplicitAutograd", "Meta"),
        ("CompositeImplicitAutograd", "AutogradCUDA"),
    ],
)
def test_it_hides_an_alias_kernel(alias: str, key: str) -> None:
    assert found(implement(alias, "a"), fallthrough(key, "a")) == ["ops.cpp:8"]


def test_the_words() -> None:
    source = DEFINED + implement("Autograd", "a") + fallthrough("AutogradCPU", "a")
    (finding,) = findings("OPL409", {"ops.cpp": source}, torch())
    assert finding.message == (
        "this fallthrough makes calls skip AutogradCPU, where the Autograd kernel (line 7) would run otherwise: remove "
        "it, or the kernel does not run on that device"
    )
    assert [related.place.line for related in finding.related] == [7]


@pytest.mark.parametrize(
    "text",
    [
        fallthrough("AutogradCPU", "a"),
        fallthrough("Autograd", "a"),
        implement("Autograd", "a") + fallthrough("CUDA", "a"),
        implement("CompositeImplicitAutograd", "a") + fallthrough("AutogradCPU", "a"),
        implement("Autograd", "a") + under("USE_IT", fallthrough("AutogradCPU", "a")),
        under("USE_IT", implement("Autograd", "a")) + fallthrough("AutogradCPU", "a"),
        implement("Autograd", "a") + fallthrough("AutogradCPU", "a") + UNREAD,
        implement("AutogradCPU", "a") + fallthrough("AutogradCUDA", "a"),
    ],
)
def test_it_hides_nothing_for_certain(text: str) -> None:
    assert found(text) == []
