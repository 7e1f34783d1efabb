"""OPL205."""

from __future__ import annotations

import pytest

from tests.unit.builders import findings, lines, torch

HEAD = "#include <torch/library.h>\n"


def fallback(key: str) -> str:
    return f"TORCH_LIBRARY_IMPL(_, {key}, m) {{ m.fallback(torch::CppFunction::makeFallthrough()); }}\n"


def test_two_in_one_file() -> None:
    (finding,) = findings("OPL205", {"ops.cpp": HEAD + fallback("PrivateUse1") * 2})
    assert finding.place.line == 3
    assert finding.message == (
        "PrivateUse1 already has a fallback at line 2, so loading the library aborts: remove one"
    )


def test_two_keys() -> None:
    assert findings("OPL205", {"ops.cpp": HEAD + fallback("PrivateUse1") + fallback("PrivateUse2")}) == []


@pytest.mark.parametrize("key", ["AutogradCPU", "AutocastCUDA", "Autocast", "Meta", "BackendSelect", "Python"])
def test_torch_has_one(key: str) -> None:
    (finding,) = findings("OPL205", {"ops.cpp": HEAD + fallback(key)}, torch())
    assert finding.message.startswith("torch 2.13.0+cpu has a fallback for ")
    assert finding.notes[0].startswith("torch's own is registered at aten/src/")


@pytest.mark.parametrize("key", ["PrivateUse1", "CPU", "AutocastPrivateUse1", "AutogradPrivateUse2"])
def test_torch_has_none(key: str) -> None:
    assert findings("OPL205", {"ops.cpp": HEAD + fallback(key)}, torch()) == []


@pytest.mark.parametrize("key", ["Autograd", "CompositeExplicitAutograd", "FuncTorchBatchedDecomposition"])
def test_an_alias_is_all_that_it_includes(key: str) -> None:
    assert lines(findings("OPL205", {"ops.cpp": HEAD + fallback(key)}, torch())) == ["ops.cpp:2"]


def test_the_exception() -> None:
    twice = {"ops.cpp": HEAD + fallback("AutogradPrivateUse1") * 2}
    assert findings("OPL205", twice, torch("2.13.0+cpu")) == []
    assert findings("OPL205", twice) == []
    assert lines(findings("OPL205", twice, torch("2.4.0"))) == ["ops.cpp:3"]


@pytest.mark.parametrize(
    "source",
    [
        "#ifdef USE_ROCM\n{0}#else\n{0}#endif\n",
        "#ifdef USE_ROCM\n{0}#endif\n#ifdef USE_CUDA\n{0}#endif\n",
    ],
)
def test_alternatives(source: str) -> None:
    assert findings("OPL205", {"ops.cpp": HEAD + source.format(fallback("PrivateUse1"))}) == []


def test_what_is_conditional_may_be_for_another_torch() -> None:
    source = f"{HEAD}#if TORCH_VERSION_MINOR < 8\n{fallback('AutogradCPU')}#endif\n"
    assert findings("OPL205", {"ops.cpp": source}, torch()) == []


def test_a_refused_fallback_takes_no_key() -> None:
    named = fallback("PrivateUse1").replace("(_,", "(demo,")
    assert findings("OPL205", {"ops.cpp": HEAD + named + fallback("PrivateUse1")}) == []


def test_python() -> None:
    source = (
        'import torch\nlib = torch.library.Library("_", "IMPL")\n'
        'lib.fallback(torch.library.fallthrough_kernel, "XLA")\nlib.fallback(torch.library.fallthrough_kernel, "XLA")\n'
    )
    (finding,) = findings("OPL205", {"ops.py": source})
    assert finding.place.line == 4
    assert "so this raises RuntimeError" in finding.message
