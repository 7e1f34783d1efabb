"""What the arguments of a registering call say: tags, keys, kernels, in the order that each overload takes them."""

from __future__ import annotations

import pytest

from op_lint.facts import FileFacts
from tests.unit.cpp_reading import HEAD, read, registered

_PROLOGUE = HEAD + "#include <ATen/core/op_registration/op_registration.h>\nTensor f(const Tensor& x);\n"


def _read(call: str) -> FileFacts:
    return read(f"{_PROLOGUE}TORCH_LIBRARY(demo, m) {{ {call} }}\n")


def test_a_definition() -> None:
    (row,) = _read('m.def("op(Tensor x) -> Tensor", {at::Tag::pt2_compliant_tag, at::Tag::core});').definitions
    assert row.schema is not None
    assert row.kernel is None
    assert row.tags == ("pt2_compliant_tag", "core")


def test_a_definition_with_a_kernel_and_its_key() -> None:
    (row,) = _read('m.def("op", torch::dispatch(torch::kCPU, &f));').definitions
    assert row.schema is None
    assert row.kernel is not None
    assert (row.kernel.name, row.key) == ("f", "CPU")


def test_the_python_module_of_what_follows() -> None:
    facts = _read('m.def("a() -> ()"); m.set_python_module("demo.fakes"); m.def("b() -> ()");')
    assert {row.operator.name: row.python_module for row in facts.definitions} == {"a": None, "b": "demo.fakes"}


def test_a_chain() -> None:
    assert sorted(registered(_read('m.def("a() -> ()").def("b() -> ()").impl("a", &f);'))) == [
        "def demo::a",
        "def demo::b",
        "impl demo::a at CompositeImplicitAutograd",
    ]


@pytest.mark.parametrize(
    ("chain", "rows"),
    [
        ('.op("demo::a(Tensor x) -> Tensor", &f)', ["def demo::a"]),
        ('.op("demo::a", torch::RegisterOperators::options().kernel<decltype(f), &f>())', ["def demo::a"]),
        (
            '.op(torch::RegisterOperators::options().schema("demo::a(Tensor x) -> Tensor")'
            ".kernel<decltype(f), &f>(torch::kCPU).kernel<decltype(f), &f>(torch::kCUDA))",
            ["def demo::a", "impl demo::a at CPU", "impl demo::a at CUDA"],
        ),
        (
            '.op("demo::a", torch::RegisterOperators::options().catchAllKernel<decltype(f), &f>())'
            '.op("demo::b(Tensor x) -> Tensor", &f)',
            ["def demo::a", "def demo::b"],
        ),
    ],
)
def test_the_legacy_api(chain: str, rows: list[str]) -> None:
    facts = read(f"{_PROLOGUE}static auto registry = torch::RegisterOperators(){chain};\n")
    assert sorted(registered(facts)) == rows
    assert all(row.kernel is None or row.kernel.name == "f" for row in facts.definitions)


def test_what_is_missing_is_no_row() -> None:
    assert registered(_read("m.def(); m.impl();")) == []
