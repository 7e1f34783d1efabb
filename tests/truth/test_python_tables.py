"""The tables of operators that Python registers, read from the source, against those that torch has once it has run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.check import run
from tests.truth.torch_process import needs_torch, run_script

pytestmark = needs_torch

SOURCE = """
import torch
from torch import Tensor

lib = torch.library.Library("demo", "DEF")


@torch.library.custom_op("demo::bare", mutates_args=())
def bare(x: Tensor) -> Tensor:
    return x.clone()


bare.register_autocast("cuda", torch.float16)


@torch.library.custom_op("demo::full", mutates_args=(), device_types=["cpu", "cuda"])
def full(x: Tensor) -> Tensor:
    return x.clone()


@full.register_fake
def _(x):
    return torch.empty_like(x)


@full.register_kernel("xpu")
def _(x):
    return x.clone()


full.register_autograd(lambda ctx, grad: grad)


@torch.library.custom_op("demo::writes", mutates_args={"x"})
def writes(x: Tensor, y: Tensor) -> None:
    x.add_(y)


@torch.library.register_vmap("demo::writes")
def _(info, in_dims, x, y):
    return None, None


@torch.library.custom_op("demo::makes", mutates_args=())
def makes(n: int) -> Tensor:
    return torch.empty(n)


@torch.library.triton_op("demo::tritons", mutates_args={})
def tritons(x: Tensor) -> Tensor:
    return x.clone()


torch.library.define("demo::named", "(Tensor x) -> Tensor", lib=lib)
torch.library.impl("demo::named", ("cuda", "meta"), lambda x: x.clone())
torch.library.register_kernel("demo::named", "default", lambda x: x.clone())
torch.library.register_autograd("demo::named", lambda ctx, grad: grad)
torch.library.register_autocast("demo::named", "cpu", torch.bfloat16)
torch.library.register_vmap("demo::named", lambda info, in_dims, x: (x, 0))

lib.define("pair.one(Tensor x) -> Tensor")
lib.impl("pair.one", torch.library.fallthrough_kernel, "AutogradCPU")
lib.impl("pair.one", lambda x: x.clone(), "SparseCPU")
lib.impl("pair.one", lambda x: x.clone(), "CompositeImplicitAutograd")


@torch.library.impl(lib, "pair.one", "CPU")
def pair_one(x):
    return x.clone()
"""

CALLS = {
    ("demo::bare", "--device", "meta"): "torch.ops.demo.bare(torch.ones(1, device='meta'))",
    ("demo::full", "--device", "meta"): "torch.ops.demo.full(torch.ones(1, device='meta'))",
    ("demo::writes", "--device", "meta"): "torch.ops.demo.writes(*[torch.ones(1, device='meta')] * 2)",
    ("demo::pair.one", "--layout", "mkldnn"): "torch.ops.demo.pair.one(torch.ones(1).to_mkldnn())",
    ("demo::bare", "--inference-mode"): "torch.inference_mode()(lambda: torch.ops.demo.bare(torch.ones(1)))()",
}
"""What is asked of `op-lint why`, and the call that it is about."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "op-lint.toml").touch()
    (tmp_path / "ops.py").write_text(SOURCE, encoding="utf-8")
    return tmp_path


def said(project: Path, *arguments: str) -> Any:
    """What a command says, as JSON. The torch is read once."""
    outcome = run(project, *arguments, "--output-format", "json", "--jobs", "0", "--cache-dir", str(project / "cache"))
    assert outcome.status == 0, outcome.err
    return json.loads(outcome.out)


def test_tables_and_calls_of_operators_in_python(project: Path) -> None:
    tables, errors = run_script("python_tables.py", [SOURCE, "demo", list(CALLS.values())])
    assert len(tables) == 7
    for operator, expected in tables.items():
        entries = said(project, "table", operator)["keys"]
        found = {entry["key"]: entry["reason"] for entry in entries if entry["reason"] != "missing"}
        assert found == expected, operator
    assert 0 < sum(error is not None for error in errors) < len(errors)
    for (operator, *options), error in zip(CALLS, errors, strict=True):
        path = said(project, "why", operator, *options)
        assert (path["error"] is None) == (error is None), (operator, options, path["error"], error)
        assert error is None or path["error"]["text"] in error


def test_loaded_operators_are_where_the_source_has_them(project: Path) -> None:
    """The dump names torch's own Python code; the table says which line of the project it was."""
    entries = said(project, "table", "demo::bare", "--import", "ops")["keys"]
    rows = {entry["key"]: (entry["kernel"], entry["path"], entry["source"]) for entry in entries}
    assert rows["CPU"] == ("bare", "ops.py", "live")
    assert rows["Meta"] == ("no fake, raises", "ops.py", "live")
    assert rows["AutocastCUDA"] == ("torch.library.register_autocast", "ops.py", "live")
    assert rows["Tracer"][2] == "installed"
