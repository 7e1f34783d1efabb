"""The function that a registration is given: which one, how it is wrapped, and what signature it has."""

from __future__ import annotations

import pytest

from op_lint.cpp.kernels import split_name
from op_lint.facts import Kernel, KernelKind
from tests.unit.cpp_reading import HEAD, read

_PROLOGUE = (
    HEAD
    + """Tensor f(const Tensor& x);
double over(double x);
Tensor over(const Tensor& x);
Tensor boxed(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack);
namespace k {
template <class T> Tensor g(const Tensor& x, T n) { return x; }
struct S { static Tensor h(Tensor x); Tensor operator()(Tensor x, int64_t n) { return x; } };
auto pointer = &f;
}
"""
)


def _kernel(expression: str) -> Kernel:
    source = f'{_PROLOGUE}TORCH_LIBRARY_IMPL(demo, CPU, m) {{ m.impl("op", {expression}); }}\n'
    (row,) = read(source).implementations
    return row.kernel


@pytest.mark.parametrize(
    ("expression", "name", "signature"),
    [
        ("f", "f", "at::Tensor(const at::Tensor&)"),
        ("&f", "f", "at::Tensor(const at::Tensor&)"),
        ("TORCH_FN(f)", "f", "at::Tensor(const at::Tensor&)"),
        ("torch::CppFunction(&f)", "f", "at::Tensor(const at::Tensor&)"),
        ("torch::dispatch(torch::kCUDA, &f)", "f", "at::Tensor(const at::Tensor&)"),
        ("&k::g<double>", "k::g<double>", "at::Tensor(const at::Tensor&, double)"),
        ("&k::S::h", "k::S::h", "at::Tensor(at::Tensor)"),
        ("k::pointer", "f", "at::Tensor(const at::Tensor&)"),
        ("static_cast<Tensor (*)(const Tensor&)>(&over)", "over", "at::Tensor(const at::Tensor&)"),
        ("[](const Tensor& x, bool b) { return x; }", "<lambda>", "at::Tensor(const at::Tensor&, bool)"),
        ("[](Tensor x) -> void {}", "<lambda>", "void(at::Tensor)"),
        ("nowhere::declared", "nowhere::declared", "None"),
    ],
)
def test_which_function(expression: str, name: str, signature: str) -> None:
    kernel = _kernel(expression)
    assert kernel.kind is KernelKind.KERNEL
    assert (kernel.name, str(kernel.signature)) == (name, signature)


@pytest.mark.parametrize(
    ("expression", "kind", "name"),
    [
        ("torch::CppFunction::makeFallthrough()", KernelKind.FALLTHROUGH, "torch::CppFunction::makeFallthrough"),
        ("torch::CppFunction::makeFromBoxedFunction<&boxed>()", KernelKind.BOXED, "boxed"),
        (
            "torch::autograd::autogradNotImplementedFallback()",
            KernelKind.BOXED,
            "torch::autograd::autogradNotImplementedFallback",
        ),
    ],
)
def test_kernels_without_a_signature(expression: str, kind: KernelKind, name: str) -> None:
    kernel = _kernel(expression)
    assert (kernel.kind, kernel.name, kernel.signature) == (kind, name, None)


def test_where_it_is_declared_and_defined() -> None:
    source = _PROLOGUE + 'TORCH_LIBRARY(demo, m) { m.def("op", &f); }\nTensor f(const Tensor& x) { return x; }\n'
    (row,) = read(source).definitions
    assert row.kernel is not None
    assert row.kernel.declared is not None
    assert row.kernel.defined is not None
    last = source.count("\n")
    assert row.kernel.defined.line == last
    assert row.kernel.place.line == last - 1


def test_parameters_keep_their_names_and_places_behind_a_cast() -> None:
    source = _PROLOGUE + 'TORCH_LIBRARY(demo, m) { m.def("op", (Tensor (*)(const Tensor&))&over); }\n'
    (row,) = read(source).definitions
    assert row.kernel is not None
    assert row.kernel.signature is not None
    (parameter,) = row.kernel.signature.parameters
    assert parameter.name == "x"
    assert parameter.place is not None
    assert source[parameter.place.start : parameter.place.end] == "const Tensor& x"


def test_what_wraps_a_kernel_is_what_counts() -> None:
    wrapper = "struct Two { Tensor operator()(Tensor x, Tensor y) { return x; } };\ntemplate <class F> Two both(F f);\n"
    source = _PROLOGUE + wrapper + 'TORCH_LIBRARY(demo, m) { m.def("op", both(&f)); }\n'
    (row,) = read(source).definitions
    assert row.kernel is not None
    assert row.kernel.wrapped
    assert str(row.kernel.signature) == "at::Tensor(at::Tensor, at::Tensor)"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("f", ["f"]),
        ("a::b::f", ["a", "b", "f"]),
        ("A<x::y>::f<z::w>", ["A<x::y>", "f<z::w>"]),
        ("::f", ["f"]),
        ("A<T>::templatef<int>", ["A<T>", "f<int>"]),
    ],
)
def test_parts_of_a_name(text: str, parts: list[str]) -> None:
    assert split_name(text) == parts
