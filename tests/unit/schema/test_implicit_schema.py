"""OPL112."""

from __future__ import annotations

import pytest

from op_lint.findings import Severity
from op_lint.kernels import parsed
from op_lint.schema.model import Schema
from tests.unit.builders import findings, fixed, lines, torch

HEAD = "#include <ATen/ATen.h>\n#include <torch/library.h>\n"


def source(kernel: str, call: str = 'm.def("f", &f);', block: str = "TORCH_LIBRARY(demo, m)") -> dict[str, str]:
    """A kernel in line 3, and its registration in line 4."""
    return {"ops.cpp": f"{HEAD}{kernel}\n{block} {{ {call} }}\n"}


SCALE = "at::Tensor f(const at::Tensor& x, double s);"


def test_the_message() -> None:
    (finding,) = findings("OPL112", source(SCALE))
    assert finding.severity is Severity.HINT
    assert finding.place.line == 4
    assert finding.message == (
        "the schema of `demo::f` is inferred from its kernel, so its arguments have no names: "
        "write `f(Tensor x, float s) -> Tensor`"
    )


@pytest.mark.parametrize(
    ("kernel", "schema"),
    [
        (SCALE, "f(Tensor x, float s) -> Tensor"),
        ("void f();", "f() -> ()"),
        ("void f(c10::DispatchKeySet keys);", "f() -> ()"),
        ("void f(c10::DispatchKeySet keys, const at::Tensor& x);", "f(Tensor x) -> ()"),
        ("at::Tensor f(const at::Tensor&, int64_t n, bool);", "f(Tensor _0, int n, bool _2) -> Tensor"),
        ("at::Tensor& f(at::Tensor& x, c10::SymInt n);", "f(Tensor x, SymInt n) -> Tensor"),
        ("std::tuple<at::Tensor, int64_t> f(at::TensorList xs);", "f(Tensor[] xs) -> (Tensor, int)"),
        ("at::Tensor f(const at::Tensor& in, int64_t is, int64_t inf);", "f(Tensor _0, int _1, int inf) -> Tensor"),
    ],
)
def test_the_schema(kernel: str, schema: str) -> None:
    """The words that a schema has for itself (`in`, `is`) name no argument: torch's parser refuses them."""
    assert isinstance(parsed(schema), Schema)
    files = source(kernel)
    (finding,) = findings("OPL112", files)
    assert finding.fix is not None
    assert not finding.fix.safe
    repaired = fixed(finding, files)
    assert repaired == source(kernel, f'm.def("{schema}", &f);')
    assert findings("OPL112", repaired) == []
    assert findings("OPL101", repaired) == []
    assert findings("OPL102", repaired) == []


@pytest.mark.parametrize(
    ("call", "written"),
    [
        ('m.def("demo::f", f);', "demo::f(Tensor x, float s) -> Tensor"),
        ('m.def("f.more", TORCH_FN(f));', "f.more(Tensor x, float s) -> Tensor"),
        ('m.def("g", [](at::Tensor y) { return y; });', "g(Tensor y) -> Tensor"),
    ],
)
def test_ways_to_give_a_kernel(call: str, written: str) -> None:
    files = source(SCALE, call)
    (finding,) = findings("OPL112", files)
    assert f'm.def("{written}", ' in fixed(finding, files)["ops.cpp"]


def test_a_name_in_two_literals_is_not_edited() -> None:
    (finding,) = findings("OPL112", source(SCALE, 'm.def("f" "g", &f);'))
    assert finding.fix is None


@pytest.mark.parametrize(
    ("kernel", "call"),
    [
        (SCALE, 'm.def("f(Tensor x, float s) -> Tensor", &f);'),
        (SCALE, "m.def(name(), &f);"),
        (SCALE, 'm.def("f", torch::CppFunction::makeFallthrough());'),
        (SCALE, 'm.def("f", made());'),
        (SCALE, 'm.def("f", &undeclared);'),
        ("at::Tensor f(const Unknown& x);", 'm.def("f", &f);'),
        ("at::Tensor f(at::Tensor x, int n);", 'm.def("f", &f);'),
        ("at::Tensor f(at::Tensor x); at::Tensor f(int64_t n);", 'm.def("f", &f);'),
        ("template <typename T> at::Tensor f(T x);", 'm.def("f", &f<T>);'),
    ],
)
def test_what_is_written_or_not_known(kernel: str, call: str) -> None:
    assert findings("OPL112", source(kernel, call)) == []


def test_an_operator_that_torch_has() -> None:
    kernel = "at::Tensor f(const at::Tensor& x);"
    files = source(kernel, 'm.def("relu", &f); m.def("relux", &f);', "TORCH_LIBRARY_FRAGMENT(aten, m)")
    assert len(findings("OPL112", files)) == 2
    (finding,) = findings("OPL112", files, torch())
    assert "`aten::relux`" in finding.message


def test_python_and_the_stable_abi_infer_nothing() -> None:
    python = 'import torch\nlib = torch.library.Library("demo", "DEF")\nlib.define("f")\n'
    stable = 'STABLE_TORCH_LIBRARY(demo, m) { m.def("g"); }\n'
    assert lines(findings("OPL112", {"ops.py": python, "ops.cpp": stable})) == []
