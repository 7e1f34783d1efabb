"""Registrations whose kernel libclang cannot make out: all but the kernel is read."""

from __future__ import annotations

import pytest

from op_lint.facts import FileFacts
from tests.unit.cpp_reading import HEAD, read, registered, signatures

_WRAPPER = "template <Tensor (*f)(const Tensor&)> Tensor wrapped(const Tensor& x) { return f(x); }\n"
_LOST = "wrapped<&at::not_here>"
_PAIR = "pair<int, at::not::here(1)>::call<2>"


def _kernels(facts: FileFacts) -> list[str]:
    kernels = [*(row.kernel for row in facts.definitions), *(row.kernel for row in facts.implementations)]
    return [kernel.name for kernel in kernels if kernel is not None]


@pytest.mark.parametrize(
    ("body", "rows", "kernels"),
    [
        (f'm.impl("f", {_LOST});', ["impl demo::f at CPU"], [_LOST]),
        (f'm.impl("f", TORCH_FN({_LOST}));', ["impl demo::f at CPU"], [_LOST]),
        (f'm.impl("f", torch::kCUDA, {_LOST});', ["impl demo::f at CUDA"], [_LOST]),
        (f'm.impl("f", {_PAIR});', ["impl demo::f at CPU"], [_PAIR]),
        (f'm.def("f(Tensor x) -> Tensor", {_LOST});', ["def demo::f"], [_LOST]),
        (f'm.impl("f", {_LOST}); m.impl("g", &here);', ["impl demo::f at CPU", "impl demo::g at CPU"], [_LOST, "here"]),
        (f"m.fallback({_LOST});", ["fallback CPU"], []),
        (f'ADD(m, "f", {_LOST})', ["impl demo::f at CPU"], [_LOST]),
        ("CAST(f)", ["impl demo::f at CPU"], ["wrapped<&at::f, 1>::call"]),
    ],
)  # fmt: skip
def test_all_but_the_kernel(body: str, rows: list[str], kernels: list[str]) -> None:
    macros = (
        "#define ADD(M, NAME, FUNC) M.impl(NAME, TORCH_FN(FUNC));\n"
        "#define CAST(OP)      \\\n  m.impl(#OP, \\\n    &wrapped<&at::OP, \\\n 1>::call);\n"
    )
    here = "Tensor here(const Tensor& x);\n"
    facts = read(f"{HEAD}{_WRAPPER}{macros}{here}TORCH_LIBRARY_IMPL(demo, CPU, m) {{\n  {body}\n}}\n")
    assert (registered(facts), facts.unresolved) == (rows, ())
    assert _kernels(facts) == kernels
    assert {signature for name, signature in signatures(facts).items() if name == "f"} <= {None}


def test_what_else_there_is_stays_as_it_was() -> None:
    """Only the lost call is taken from the reading without kernels."""
    macro = "#define ADD(NAME, FUNC) m.impl(NAME, TORCH_FN(FUNC));\n"
    source = f'{HEAD}{_WRAPPER}{macro}Tensor f(const Tensor& x);\nTORCH_LIBRARY_IMPL(demo, CPU, m) {{\n  ADD("f", f)\n'
    facts = read(f'{source}  ADD("g", {_LOST})\n}}\n')
    assert registered(facts) == ["impl demo::f at CPU", "impl demo::g at CPU"]
    found = signatures(facts)
    assert (found["f"] is not None, found["g"]) == (True, None)


def test_the_macros_of_autocast() -> None:
    source = (
        "#include <ATen/autocast_mode.h>\nTORCH_LIBRARY_IMPL(aten, AutocastPrivateUse1, m) {\n"
        "  KERNEL_PRIVATEUSEONE(conv1d, lower_precision_fp)\n  KERNEL_PRIVATEUSEONE(pow, Tensor_Scalar, fp32)\n"
        '  KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_PRIVATEUSEONE(\n    ADD_NS(norm), "norm.Scalar", Tensor(const Tensor&,'
        " const Scalar&), Tensor(const Tensor&, const Scalar&, ScalarType), fp32_append_dtype)\n}\n"
    )
    facts = read(source)
    assert [str(row.operator) for row in facts.implementations] == [
        "aten::conv1d",
        "aten::pow.Tensor_Scalar",
        "aten::norm.Scalar",
    ]
    assert {row.key for row in facts.implementations} == {"AutocastPrivateUse1"}
    assert set(signatures(facts).values()) == {None}
    assert facts.unresolved == ()
