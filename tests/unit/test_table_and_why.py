"""`op-lint table` and `op-lint why`, through the command line, on a bundled snapshot."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from op_lint.dispatch.keys import DispatchKeys
from op_lint.dispatch.table import Table
from tests.check import Outcome, run, write_project
from tests.loading import loaded
from tests.unit.builders import torch

SOURCES = {
    "ops.cpp": (
        "#include <torch/library.h>\n"
        "at::Tensor scale_cpu(const at::Tensor& x);\n"
        "at::Tensor scale_autograd(const at::Tensor& x);\n"
        "TORCH_LIBRARY(demo, m) {\n"
        '  m.def("scale(Tensor x) -> Tensor");\n'
        '  m.def("pair.one(Tensor x) -> Tensor");\n'
        '  m.def("pair.two(Tensor x) -> Tensor");\n'
        "}\n"
        'TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl("scale", &scale_cpu); }\n'
        'TORCH_LIBRARY_IMPL(demo, Autograd, m) { m.impl("scale", &scale_autograd); }\n'
        'TORCH_LIBRARY_IMPL(demo, AutogradMPS, m) { m.impl("scale", torch::CppFunction::makeFallthrough()); }\n'
        'TORCH_LIBRARY_IMPL(aten, CPU, m) { m.impl("mv", &scale_cpu); }\n'
    ),
}
LOADED = """name: demo::scale
schema: demo::scale(Tensor x) -> Tensor
debug: registered at ops.cpp:4
alias analysis kind: FROM_SCHEMA
CPU: registered at ops.cpp:9 :: (Tensor _0) -> Tensor _0 [ boxed unboxed ]
Meta: registered at old.cpp:2 :: (Tensor _0) -> Tensor _0 [ boxed unboxed ]
"""
KEYS = DispatchKeys(torch().keys)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_project(tmp_path / "project", dict(SOURCES))


def ask(project: Path, command: str, *arguments: str, version: str = "2.13.0+cpu") -> Outcome:
    return run(project, command, *arguments, "--torch-version", version, "--jobs", "0", "--no-cache")


def value(project: Path, command: str, *arguments: str) -> dict[str, Any]:
    outcome = ask(project, command, *arguments, "--output-format", "json")
    assert outcome.status == 0, outcome
    found: dict[str, Any] = json.loads(outcome.out)
    return found


class TestTable:
    def test_text(self, project: Path, golden: Callable[[str, str], None]) -> None:
        golden("table.text", ask(project, "table", "demo::scale").out)

    def test_json(self, project: Path) -> None:
        table = value(project, "table", "demo::scale")
        assert (table["op"], table["torch"]) == ("demo::scale", "2.13.0+cpu")
        assert [entry["key"] for entry in table["keys"]] == list(KEYS.runtime)
        assert {tuple(entry) for entry in table["keys"]} == {("key", "kernel", "reason", "path", "line", "source")}
        rows = {entry.pop("key"): tuple(entry.values()) for entry in table["keys"]}
        assert rows["CPU"] == ("scale_cpu", "kernel", "ops.cpp", 9, "workspace")
        assert rows["AutogradCPU"] == ("scale_autograd", "autograd kernel", "ops.cpp", 10, "workspace")
        assert rows["AutogradMPS"][1:] == ("fallthrough", "ops.cpp", 11, "workspace")
        assert rows["CUDA"] == (None, "missing", None, None, None)
        assert rows["BackendSelect"] == (
            *("fallthrough", "fallthrough", "aten/src/ATen/core/BackendSelectFallbackKernel.cpp", 3, "installed"),
        )

    def test_a_kernel_over_torchs(self, project: Path) -> None:
        rows = {entry["key"]: entry for entry in value(project, "table", "aten::mv")["keys"]}
        assert (rows["CPU"]["path"], rows["CPU"]["source"]) == ("ops.cpp", "workspace")
        assert rows["AutogradCPU"]["source"] == "installed"

    @pytest.mark.parametrize("name", ["aten::add.Tensor", "aten::einsum", "aten::relu", "aten::empty.memory_format"])
    def test_an_installed_operator(self, name: str, project: Path) -> None:
        installed = torch()
        expected = Table(KEYS, installed.operators[name].operator(), installed.fallback_registrations())
        rows = value(project, "table", name)["keys"]
        assert [row["kernel"] is None for row in rows] == [entry.registration is None for entry in expected.entries]
        assert [row["reason"] for row in rows] == [
            "fallthrough" if entry.fallthrough else entry.reason.value for entry in expected.entries
        ]
        assert {row["source"] for row in rows} == {"installed", None}

    def test_every_key(self, project: Path) -> None:
        few, every = (ask(project, "table", "demo::scale", *more).out for more in ([], ["--all"]))
        assert " SparseCPU " not in few
        assert len(every.splitlines()) == len(KEYS.runtime) + 3


class TestWhy:
    @pytest.mark.parametrize("device", ["cpu", "cuda"])
    def test_text(self, device: str, project: Path, golden: Callable[[str, str], None]) -> None:
        golden(f"why.{device}.text", ask(project, "why", "demo::scale", "--device", device, "--requires-grad").out)

    def test_json(self, project: Path) -> None:
        path = value(project, "why", "demo::scale")
        assert path["op"] == "demo::scale"
        assert path["key_set"] == ["AutogradCPU", "ADInplaceOrView", "BackendSelect", "CPU"]
        assert [step["key"] for step in path["steps"]] == path["key_set"]
        assert {"key", "kernel", "reason", "path", "line"} <= path["steps"][0].keys()
        assert [(step["kernel"], step["line"]) for step in path["steps"] if step["path"] == "ops.cpp"] == [
            ("scale_autograd", 10),
            ("scale_cpu", 9),
        ]
        assert (path["error"], path["cures"]) == (None, [])

    def test_a_call_that_raises(self, project: Path) -> None:
        path = value(project, "why", "demo::scale", "--device", "cuda")
        assert path["steps"][-1]["reason"] == "missing"
        assert path["error"]["type"] == "NotImplementedError"
        assert path["error"]["text"].startswith("Could not run 'demo::scale' with arguments from the 'CUDA' backend.")
        assert "CUDA" in path["cures"]

    def test_under_modes(self, project: Path) -> None:
        def keys(*options: str) -> list[str]:
            return list(value(project, "why", "demo::scale", *options)["key_set"])

        assert "AutocastCPU" in keys("--autocast")
        assert "AutogradCPU" not in keys("--inference-mode")
        assert "Functionalize" in keys("--functionalize")
        assert "SparseCPU" in keys("--layout", "sparse")
        assert keys("--vmap")[0].startswith("FuncTorch")
        assert "Python" in keys("--python-mode")
        assert "CUDA" in keys("--device", "cpu", "--device", "cuda")

    def test_each_tensor_may_have_its_own_layout(self, project: Path) -> None:
        path = value(
            project,
            "why",
            "demo::scale",
            "--device",
            "cuda",
            "--device",
            "cpu",
            "--layout",
            "sparse",
            "--layout",
            "strided",
        )
        assert path["key_set"][-2:] == ["SparseCUDA", "CUDA"]

    def test_tensors_of_other_kinds(self, project: Path) -> None:
        inference = value(project, "why", "demo::scale", "--inference-tensors")
        assert inference["key_set"] == ["ADInplaceOrView", "BackendSelect", "CPU"]
        inside = value(project, "why", "demo::scale", "--subclass")["steps"]
        taken = [step["key"] for step in inside].index("Python")
        assert inside[taken]["note"].startswith("__torch_dispatch__ of the tensor's class")
        assert [step["key"] for step in inside[taken + 1 :]] == ["BackendSelect", "CPU"]

    def test_no_tensor_is_given(self, project: Path) -> None:
        path = value(project, "why", "demo::scale", "--no-tensors")
        assert path["error"]["text"].startswith("There were no tensor arguments to this function")
        made = value(project, "why", "aten::empty.memory_format", "--no-tensors", "--device", "meta")
        assert made["steps"][-1]["key"] == "Meta"

    def test_autocast_of_the_devices_that_have_it(self, project: Path) -> None:
        path = value(project, "why", "demo::scale", "--device", "meta", "--device", "cpu", "--autocast")
        assert "AutocastCPU" in path["key_set"]

    def test_a_wrapper_that_takes_over_no_backend(self, project: Path) -> None:
        """Vmap's has the functionality of an MPS tensor and not its backend, and that is no key (`_PROPAGATED`)."""
        path = value(project, "why", "demo::scale", "--device", "mps", "--vmap")
        assert "CPU" not in [*path["key_set"], *path["excluded"]]

    def test_an_operator_without_tensors(self, project: Path) -> None:
        """There is no tensor whose keys a call could have: the device is what BackendSelect chooses."""
        made = value(project, "why", "aten::empty.memory_format", "--device", "cuda", "--requires-grad")
        assert made["key_set"] == ["ADInplaceOrView", "BackendSelect"]
        assert [step["key"] for step in made["steps"]] == ["ADInplaceOrView", "BackendSelect", "CUDA"]
        sparse = value(project, "why", "aten::empty.memory_format", "--layout", "sparse")
        assert sparse["steps"][-1]["key"] == "SparseCPU"
        fake = value(project, "why", "aten::empty.memory_format", "--fake")
        assert (fake["steps"][-1]["key"], fake["error"]) == ("Meta", None)
        assert value(project, "why", "aten::ones", "--vmap")["error"] is None
        refused = ask(project, "why", "aten::empty.memory_format", "--layout", "nested")
        assert (refused.status, "no dispatch key for making nested tensors" in refused.err) == (2, True)

    def test_an_overload_named_tensor_is_no_annotation(self, project: Path) -> None:
        path = value(project, "why", "aten::add.Tensor", "--functionalize")
        assert (path["error"], path["steps"][-1]["key"]) == (None, "CPU")

    def test_a_kernel_in_place_of_all_transforms(self, project: Path) -> None:
        path = value(project, "why", "aten::binary_cross_entropy_with_logits", "--vmap")
        assert [step["key"] for step in path["steps"]] == ["FuncTorchDynamicLayerFrontMode"]
        assert path["error"] is None

    def test_the_jagged_layout(self, project: Path) -> None:
        """Some are implemented in Python, some are pointwise, the others need a composite kernel."""
        for name, error in (("aten::to_padded_tensor", None), ("aten::sin", None), ("aten::bmm", None)):
            assert value(project, "why", name, "--layout", "jagged")["error"] is error, name
        lacking = value(project, "why", "aten::cholesky_inverse", "--layout", "jagged")
        assert lacking["error"]["text"] == "aten.cholesky_inverse.default"

    def test_a_fake_in_a_module(self, tmp_path: Path) -> None:
        source = (
            "#include <torch/library.h>\n"
            "TORCH_LIBRARY(demo, m) {\n"
            '  m.set_python_module("demo.fakes");\n'
            '  m.def("scale(Tensor x) -> Tensor");\n'
            '  m.def("into(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", {at::Tag::out});\n'
            "}\n"
        )
        project = write_project(tmp_path / "project", {"ops.cpp": source})
        text = value(project, "why", "demo::scale", "--device", "meta")["error"]["text"]
        assert "may need to import the 'demo.fakes' Python module" in text
        assert value(project, "why", "demo::into", "--fake")["error"] is None


class TestPythonKernels:
    """Kernels of `py_impl`: only the dispatcher in Python has them."""

    SOURCE = (
        "import torch\n"
        "from torch._C import DispatchKey\n"
        'lib = torch.library.Library("demo", "FRAGMENT")\n'
        'lib.define("only(Tensor x) -> Tensor")\n'
        "@torch.ops.demo.only.default.py_impl(DispatchKey.CPU)\n"
        "def only(x):\n"
        "    return x.clone()\n"
    )

    @pytest.fixture
    def python(self, project: Path) -> Path:
        (project / "ops.py").write_text(self.SOURCE)
        return project

    def test_the_table_does_not_have_them(self, python: Path) -> None:
        rows = {entry["key"]: entry["reason"] for entry in value(python, "table", "demo::only")["keys"]}
        assert rows["CPU"] == "missing"

    def test_a_call_without_it_raises(self, python: Path) -> None:
        path = value(python, "why", "demo::only")
        assert path["error"]["text"].startswith("Could not run 'demo::only' with arguments from the 'CPU' backend.")

    def test_a_call_with_it_runs_them(self, python: Path) -> None:
        path = value(python, "why", "demo::only", "--python-dispatcher")
        last = path["steps"][-1]
        assert (last["key"], last["kernel"], last["line"], path["error"]) == ("CPU", "only", 5, None)
        assert last["note"].startswith("py_impl")

    def test_what_is_not_known_is_said(self, project: Path) -> None:
        (said,) = value(project, "why", "aten::relu", "--python-dispatcher")["notes"]
        assert "py_impl" in said
        assert "note: torch.compile functionalizes" in ask(project, "why", "demo::scale", "--functionalize").out
        assert value(project, "why", "demo::scale", "--python-dispatcher")["notes"] == []


@pytest.mark.parametrize("name", ["torch.ops.demo.scale", "torch.ops.demo.scale.default"])
def test_names_as_python_writes_them(name: str, project: Path) -> None:
    assert value(project, "table", name)["op"] == "demo::scale"


def test_a_device_may_have_a_number(project: Path) -> None:
    numbered, plain = (value(project, "why", "demo::scale", "--device", each) for each in ("CUDA:1", "cuda"))
    assert numbered == plain


def test_a_backend_outside_torch_may_go_by_its_own_name(project: Path) -> None:
    own, plain = (value(project, "why", "demo::scale", "--device", each) for each in ("npu", "privateuseone"))
    assert own == plain


class TestErrors:
    @pytest.mark.parametrize("command", ["table", "why"])
    @pytest.mark.parametrize(
        ("operator", "message"),
        [
            ("demo::skale", "neither the sources nor torch 2.13.0+cpu know `demo::skale`; did you mean `demo::scale`?"),
            ("aten::reluu", "did you mean `aten::relu`?"),
            ("dem::scale", "did you mean `demo::scale`?"),
            ("demo::nope", "neither the sources nor torch 2.13.0+cpu know `demo::nope`\n"),
            ("demo::pair", "`demo::pair` is not among its overloads: demo::pair.one, demo::pair.two"),
            ("demo::pair.three", "`demo::pair.three` is not among its overloads: demo::pair.one, demo::pair.two"),
            ("scale", "`scale` is no operator: write namespace::name or namespace::name.overload"),
            ("demo::", "`demo::` is no operator"),
        ],
    )
    def test_which_operator(self, operator: str, message: str, command: str, project: Path) -> None:
        outcome = ask(project, command, operator)
        assert (outcome.status, outcome.out) == (2, "")
        assert message in outcome.err

    def test_an_overload_may_be_left_out_where_there_is_one(self, project: Path) -> None:
        assert value(project, "table", "aten::mv.")["op"] == "aten::mv"
        assert value(project, "table", "aten::empty_like")["op"] == "aten::empty_like"

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--device", "gpu"], "this torch has no device type `gpu`: use one of cpu, cuda,"),
            (["--python-mode", "--fake"], "--fake is a Python mode of its own: leave out --python-mode"),
            (["--layout", "round"], "'round' is not one of"),
            (["--layout", "sparse", "--layout", "strided"], "--layout is given once for all tensors, or once for each"),
            (["--subclass", "--fake"], "fake tensors have a class of their own: leave out --subclass"),
            (["--device", "meta", "--autocast"], "torch.autocast has no dispatch key for `meta`"),
        ],
    )
    def test_which_call(self, options: list[str], message: str, project: Path) -> None:
        outcome = ask(project, "why", "demo::scale", *options)
        assert (outcome.status, outcome.out) == (2, "")
        assert message in outcome.err

    @pytest.mark.parametrize("command", ["check", "table", "why"])
    @pytest.mark.parametrize("option", ["--load", "--import"])
    def test_nothing_is_loaded_into_a_snapshot(self, option: str, command: str, project: Path) -> None:
        words = [] if command == "check" else ["demo::scale"]
        outcome = ask(project, command, *words, option, "demo")
        assert outcome.status == 2
        assert "--load and --import need a torch that runs" in outcome.err


class TestLoaded:
    """The same with an extension that has the CPU kernel, an older Meta kernel, and none of the others."""

    def rows(self, project: Path) -> dict[str, tuple[Any, ...]]:
        with loaded(LOADED, "2.13.0+cpu"):
            outcome = run(project, "table", "demo::scale", "--load", "x.so", "--jobs", "0", "--output-format", "json")
        return {entry.pop("key"): tuple(entry.values()) for entry in json.loads(outcome.out)["keys"]}

    def test_each_kernel_says_whether_it_is_loaded(self, project: Path) -> None:
        rows = self.rows(project)
        assert rows["CPU"] == ("scale_cpu", "kernel", "ops.cpp", 9, "live")
        assert rows["Meta"] == ("kernel", "kernel", "old.cpp", 2, "live")
        assert rows["AutogradCPU"] == ("scale_autograd", "autograd kernel", "ops.cpp", 10, "workspace")
        assert rows["Tracer"][-1] == "installed"

    def test_text(self, project: Path) -> None:
        with loaded(LOADED, "2.13.0+cpu"):
            table = run(project, "table", "demo::scale", "--load", "x.so", "--jobs", "0").out
            why = run(project, "why", "demo::scale", "--import", "x", "--jobs", "0").out
        assert "ops.cpp:9\n" in table
        assert "ops.cpp:10, not loaded\n" in table
        assert "(ops.cpp:9)\n" in why
        assert "(ops.cpp:10, not loaded)\n" in why

    def test_an_operator_that_only_the_extension_has(self, tmp_path: Path) -> None:
        project = write_project(tmp_path, {"empty.cpp": ""})
        assert self.rows(project)["CPU"] == ("kernel", "kernel", "ops.cpp", 9, "live")
