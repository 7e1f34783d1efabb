"""OPL307."""

from __future__ import annotations

import pytest

from tests.unit.builders import findings, rule, torch
from tests.unit.sources import HEAD, fallback, under


def found(*text: str) -> list[str]:
    return [finding.message for finding in findings("OPL307", {"ops.cpp": HEAD + "".join(text)}, torch())]


def test_it_is_opt_in() -> None:
    assert rule("OPL307").default is False


def test_no_twin() -> None:
    (message,) = found(fallback("PrivateUse2"))
    assert message == (
        "a call with PrivateUse2 tensors raises at AutogradPrivateUse2 before it gets to this fallback: register one "
        "there, TORCH_LIBRARY_IMPL(_, AutogradPrivateUse2, m) "
        "{ m.fallback(torch::CppFunction::makeFallthrough()); }"
    )


@pytest.mark.parametrize("key", ["PrivateUse1", "CPU", "CUDA", "XLA", "MPS", "FPGA"])
def test_torch_has_the_twin(key: str) -> None:
    assert found(fallback(key)) == []


@pytest.mark.parametrize(
    "twin",
    [
        fallback("AutogradPrivateUse2", "makeFallthrough()"),
        fallback("AutogradPrivateUse2"),
        under("USE_IT", fallback("AutogradPrivateUse2")),
    ],
)
def test_the_sources_have_it(twin: str) -> None:
    assert found(fallback("PrivateUse2"), twin) == []


@pytest.mark.parametrize(
    "key", ["AutogradPrivateUse2", "AutocastPrivateUse1", "Autograd", "NoSuchKey", "FuncTorchVmapMode"]
)
def test_no_backend(key: str) -> None:
    assert found(fallback(key)) == []
