"""OPL210."""

from __future__ import annotations

import pytest

from tests.unit.builders import findings, fixed, lines, torch

HEAD = "#include <torch/library.h>\nat::Tensor f(const at::Tensor& x);\n"


def block(key: str) -> str:
    return f'TORCH_LIBRARY_IMPL(demo, {key}, m) {{ m.impl("scale", &f); }}\n'


@pytest.mark.parametrize(
    ("key", "meant"),
    [("CUDDA", "CUDA"), ("PrivateUse4", "PrivateUse1"), ("AutogradCpu", "AutogradCPU"), ("Cpu", "CPU")],
)
def test_a_misspelt_key(key: str, meant: str) -> None:
    files = {"ops.cpp": HEAD + block(key)}
    (finding,) = findings("OPL210", files, torch())
    assert finding.message == (
        f"torch 2.13.0+cpu has no dispatch key `{key}`, so this does not compile; did you mean `{meant}`?"
    )
    assert fixed(finding, files)["ops.cpp"] == HEAD + block(meant)


@pytest.mark.parametrize("key", ["Sparse", "Quantized", "Dense", "SparseCsr", "NestedTensor", "AutogradFunctionality"])
def test_a_functionality(key: str) -> None:
    (finding,) = findings("OPL210", {"ops.cpp": HEAD + block(key)}, torch())
    assert finding.message.startswith(f"no call ever reaches a kernel at `{key}`")
    assert finding.fix is None


@pytest.mark.parametrize(
    "key",
    [
        "CPU",
        "SparseCUDA",
        "Autocast",
        "CatchAll",
        "Undefined",
        "DefaultBackend",
        "CompositeImplicitAutograd",
        "PrivateUse1",
    ],
)
def test_keys_of_this_torch(key: str) -> None:
    assert findings("OPL210", {"ops.cpp": HEAD + block(key)}, torch()) == []


def test_a_key_of_another_torch() -> None:
    assert findings("OPL210", {"ops.cpp": HEAD + block("AutocastMPS")}, torch("2.13.0")) == []
    assert lines(findings("OPL210", {"ops.cpp": HEAD + block("AutocastMPS")}, torch("2.4.0"))) == ["ops.cpp:3"]


def test_under_a_version() -> None:
    source = f"{HEAD}#if TORCH_VERSION_MINOR >= 5\n{block('AutocastMPS')}#endif\n"
    assert findings("OPL210", {"ops.cpp": source}, torch("2.4.0")) == []


def test_a_macro_of_the_build() -> None:
    assert findings("OPL210", {"ops.cpp": HEAD + block("MY_BACKEND_KEY")}, torch()) == []


def test_every_place_of_a_key() -> None:
    source = HEAD + (
        "TORCH_LIBRARY(demo, m) {\n"
        '  m.def("a(Tensor x) -> Tensor", torch::dispatch(c10::DispatchKey::Sparse, &f));\n'
        '  m.impl("a", torch::dispatch(c10::DispatchKey::Quantized, &f));\n'
        "}\n"
        "TORCH_LIBRARY_IMPL(_, Dense, m) { m.fallback(torch::CppFunction::makeFallthrough()); }\n"
    )
    assert lines(findings("OPL210", {"ops.cpp": source}, torch())) == ["ops.cpp:4", "ops.cpp:5", "ops.cpp:7"]


def test_a_block_is_reported_once() -> None:
    source = HEAD + 'TORCH_LIBRARY_IMPL(demo, Sparse, m) { m.impl("a", &f); m.impl("b", &f); }\n'
    assert lines(findings("OPL210", {"ops.cpp": source}, torch())) == ["ops.cpp:3"]


def test_python() -> None:
    source = 'import torch\nlib = torch.library.Library("demo", "IMPL", "CUDDA")\n'
    assert lines(findings("OPL210", {"ops.py": source}, torch())) == ["ops.py:2"]


PYTHON = 'import torch\nlib = torch.library.Library("demo", "FRAGMENT")\nlib.define("f(Tensor x) -> Tensor")\n'


@pytest.mark.parametrize("key", ["TPU", "AutogradTPU", "SparseCsrTPU", "NPU"])
def test_a_key_that_a_package_gives_to_privateuse1(key: str) -> None:
    """After `torch.utils.rename_privateuse1_backend("tpu")` torch knows `TPU`: measured with torch 2.13."""
    register = f'{PYTHON}lib.impl("f", lambda x: x, "{key}")\n'
    assert findings("OPL210", {"ops.py": register, "backend.py": "from torch_tpu import pallas\n"}, torch()) == []
    if key != "NPU":
        assert lines(findings("OPL210", {"ops.py": register}, torch())) == ["ops.py:4"]


@pytest.mark.parametrize("key", ["BatchedTPU", "tpu", "GPU"])
def test_a_key_that_nobody_gives_to_privateuse1(key: str) -> None:
    register = f'import torch_tpu\n{PYTHON}lib.impl("f", lambda x: x, "{key}")\n'
    assert lines(findings("OPL210", {"ops.py": register}, torch())) == ["ops.py:5"]


def test_cpp_knows_no_other_name_for_privateuse1() -> None:
    files = {"ops.cpp": HEAD + block("TPU"), "backend.py": "import torch_tpu\n"}
    assert lines(findings("OPL210", files, torch())) == ["ops.cpp:3"]
