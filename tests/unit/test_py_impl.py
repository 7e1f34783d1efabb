"""Kernels of `OpOverload.py_impl`: only the dispatcher in Python has them, which most rules are not about."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.check import run, write_project
from tests.unit.builders import findings, lines, torch

DEFINED = (
    "#include <torch/library.h>\n"
    "at::Tensor f(const at::Tensor& x);\n"
    'TORCH_LIBRARY(demo, m) { m.def("scale(Tensor x) -> Tensor"); }\n'
)
CPU = 'TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl("scale", &f); }\n'
META = CPU.replace("CPU", "Meta")
IMPORTS = (
    "import torch\n"
    "from torch._C import DispatchKey\n"
    "from torch._subclasses.fake_tensor import FakeTensorMode\n"
    "from torch.library import register_fake\n"
)


def py_impl(key: str, operator: str = "demo.scale.default", parameters: str = "x", result: str = "x.clone()") -> str:
    """Five lines that give one kernel."""
    return f"\n\n@torch.ops.{operator}.py_impl({key})\ndef _({parameters}):\n    return {result}\n"


@pytest.mark.parametrize("key", ["CPU", "Meta", "CompositeImplicitAutograd", "AutogradCPU"])
def test_it_meets_no_kernel_of_torchs_dispatcher(key: str) -> None:
    sources = {"ops.cpp": DEFINED + CPU + META, "ops.py": IMPORTS + py_impl(f"DispatchKey.{key}")}
    assert findings("OPL204", sources) == []


def test_a_fake_meets_no_composite_kernel_of_it() -> None:
    """Torch asks its own dispatcher whether an operator is composite (`FakeImplHolder.register`, torch 2.13)."""
    fake = '\n\n@register_fake("demo::scale")\ndef _(x):\n    return torch.empty_like(x)\n'
    composite = py_impl("DispatchKey.CompositeImplicitAutograd")
    assert findings("OPL204", {"ops.cpp": DEFINED + CPU, "ops.py": IMPORTS + composite + fake}) == []


@pytest.mark.parametrize(
    ("key", "parameters", "said"),
    [
        ("DispatchKey.CPU", "x", "a CPU kernel of `py_impl` at line 7"),
        ("FakeTensorMode", "mode, x", "a FakeTensorMode kernel of `py_impl` at line 7"),
    ],
)
def test_the_second_of_one_key_raises(key: str, parameters: str, said: str) -> None:
    """RuntimeError "Trying to override a python impl", and AssertionError for a mode (torch 2.13)."""
    kernels = py_impl(key, parameters=parameters) * 2
    (finding,) = findings("OPL204", {"ops.cpp": DEFINED + CPU, "ops.py": IMPORTS + kernels})
    assert lines([finding]) == ["ops.py:12"]
    assert said in finding.message
    assert "so torch raises here" in finding.message


def test_a_fake_mode_is_not_meta() -> None:
    kernels = py_impl("DispatchKey.Meta") + py_impl("FakeTensorMode", parameters="mode, x")
    assert findings("OPL204", {"ops.cpp": DEFINED + CPU, "ops.py": IMPORTS + kernels}) == []


@pytest.mark.parametrize("code", ["OPL213", "OPL406"])
def test_torchs_own_kernels_stay(code: str) -> None:
    """Of `aten::relu` at CPU, and of `aten::matmul`, which is composite."""
    kernels = py_impl("DispatchKey.CPU", "aten.relu.default", "self")
    kernels += py_impl("DispatchKey.CPU", "aten.matmul.default", "self, other", "self + other")
    assert findings(code, {"ops.py": IMPORTS + kernels}, installed=torch()) == []


def test_what_it_returns_is_not_held_against_the_schema() -> None:
    sources = {"ops.cpp": DEFINED + CPU, "ops.py": IMPORTS + py_impl("DispatchKey.CPU", result="x")}
    assert findings("OPL403", sources) == []


@pytest.mark.parametrize("key", ["Meta", "CompositeExplicitAutograd", "CompositeImplicitAutograd"])
def test_it_serves_as_a_fake(key: str) -> None:
    """For torch.compile, which turns the dispatcher in Python on."""
    plain = {"ops.cpp": DEFINED + CPU}
    assert lines(findings("OPL302", plain)) == ["ops.cpp:3"]
    assert findings("OPL302", plain | {"ops.py": IMPORTS + py_impl(f"DispatchKey.{key}")}) == []


def test_a_kernel_of_it_elsewhere_is_no_fake() -> None:
    sources = {"ops.cpp": DEFINED + CPU, "ops.py": IMPORTS + py_impl("DispatchKey.AutogradCPU")}
    assert lines(findings("OPL302", sources)) == ["ops.cpp:3"]


@pytest.mark.parametrize("code", ["OPL303", "OPL308"])
def test_formulas_and_modules(code: str) -> None:
    """A formula that only the dispatcher in Python has was given by somebody who knows; no module is asked for."""
    kernels = py_impl("DispatchKey.Autograd") + py_impl("FakeTensorMode", parameters="mode, x")
    assert findings(code, {"ops.cpp": DEFINED + CPU, "ops.py": IMPORTS + kernels}) == []


def test_ops_says_which_dispatcher_has_it(tmp_path: Path) -> None:
    write_project(tmp_path, {"ops.cpp": DEFINED + CPU, "ops.py": IMPORTS + py_impl("DispatchKey.CPU")})
    outcome = run(tmp_path, "ops", "--jobs", "0", "--no-cache")
    rows = [line.split() for line in outcome.out.splitlines()]
    assert ["CPU", "f", "ops.cpp:4"] in rows
    assert ["CPU", "(py_impl)", "_", "ops.py:7"] in rows
