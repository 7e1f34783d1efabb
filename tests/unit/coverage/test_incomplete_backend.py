"""OPL306."""

from __future__ import annotations

import pytest

from tests.unit.builders import findings, rule, torch
from tests.unit.sources import HEAD, fallback, implement, under

ALWAYS = ["empty.memory_format", "empty_strided", "_copy_from"]
OTHERS = ["as_strided", "view", "fill_.Scalar", "normal_", "_local_scalar_dense", "resize_"]
RELU = HEAD + implement("PrivateUse1", "relu", namespace="aten")


def test_it_is_opt_in() -> None:
    assert rule("OPL306").default is False


def test_all_is_missing() -> None:
    (finding,) = findings("OPL306", {"ops.cpp": RELU}, torch())
    assert finding.place.line == 5
    assert finding.message == (
        f"PrivateUse1 has no kernel for {', '.join([*ALWAYS, *OTHERS])}, so making, copying or printing a tensor "
        "raises NotImplementedError: register these, or a fallback: `TORCH_LIBRARY_IMPL(_, PrivateUse1, m) { "
        "m.fallback(...); }`"
    )


def test_with_a_fallback_less_is_needed() -> None:
    (finding,) = findings("OPL306", {"ops.cpp": RELU + fallback("PrivateUse1")}, torch())
    assert finding.message.startswith(f"PrivateUse1 has no kernel for {', '.join(ALWAYS)}, so ")
    assert finding.message.endswith(": register these")


def test_a_fallthrough_is_no_fallback() -> None:
    (finding,) = findings("OPL306", {"ops.cpp": RELU + fallback("PrivateUse1", "makeFallthrough()")}, torch())
    assert "as_strided" in finding.message


def test_all_is_there() -> None:
    whole = RELU + implement("PrivateUse1", *ALWAYS, *OTHERS, namespace="aten")
    assert findings("OPL306", {"ops.cpp": whole}, torch()) == []
    with_fallback = RELU + implement("PrivateUse1", *ALWAYS, namespace="aten") + fallback("PrivateUse1")
    assert findings("OPL306", {"ops.cpp": with_fallback}, torch()) == []


def test_what_is_conditional_counts() -> None:
    more = under("USE_IT", implement("PrivateUse1", *ALWAYS, *OTHERS, namespace="aten"))
    assert findings("OPL306", {"ops.cpp": RELU + more}, torch()) == []


def test_what_could_not_be_read_may_be_it() -> None:
    more = "TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { for (auto name : names()) m.impl(name, &f); }\n"
    assert findings("OPL306", {"ops.cpp": RELU + more}, torch()) == []


@pytest.mark.parametrize("key", ["CPU", "CUDA", "Meta", "AutogradPrivateUse1", "SparseCPU"])
def test_a_key_of_torch(key: str) -> None:
    assert findings("OPL306", {"ops.cpp": HEAD + implement(key, "relu", namespace="aten")}, torch()) == []


def test_operators_of_its_own() -> None:
    assert findings("OPL306", {"ops.cpp": HEAD + implement("PrivateUse1", "relu")}, torch()) == []
