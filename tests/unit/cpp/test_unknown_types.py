"""A type that no header here declares is unknown: libclang takes it for `int`, and nobody may believe that."""

from __future__ import annotations

import pytest

from op_lint.facts import CppType, KernelKind, Signature
from tests.unit.cpp_reading import HEAD, read, signatures, types

_PROLOGUE = (
    HEAD
    + """#include "not_here.h"
template <class R, class... A> auto wrap(R (*f)(A...)) { return [f](A... a) -> R { return f(a...); }; }
template <class F, F* f> struct Adapter;
template <class R, class... A, R (*f)(A...)> struct Adapter<R(A...), f> { static R call(A... a) { return f(a...); } };
"""
)

_DECLARATIONS = {
    "parameter": ("Tensor f(const Tensor& x, Missing n);", "&f"),
    "qualified": ("Tensor f(const Tensor& x, const my::Config& n);", "&f"),
    "pointer": ("Tensor f(const Tensor& x, my::Config* n);", "&f"),
    "template": ("Tensor f(const Tensor& x, my::Vec<int64_t, 3> n);", "&f"),
    "in a template argument": ("Tensor f(const Tensor& x, std::optional<Missing> n);", "&f"),
    "nested class": ("Tensor f(const Tensor& x, Missing::Inner n);", "&f"),
    "typename": ("Tensor f(const Tensor& x, typename Missing::Inner n);", "&f"),
    "result": ("Missing f(const Tensor& x);", "&f"),
    "trailing result": ("auto f(const Tensor& x) -> my::Result { return {}; }", "&f"),
    "deduced result": ("auto f(const Tensor& x) { return my::make(x); }", "&f"),
    "decltype": ("decltype(my::make(1)) f(const Tensor& x);", "&f"),
    "tuple result": ("std::tuple<Tensor, Missing> f(const Tensor& x);", "&f"),
    "alias": ("using Alias = my::Config;\nTensor f(const Tensor& x, Alias n);", "&f"),
    "typedef": ("typedef my::Config Alias;\nTensor f(const Tensor& x, Alias n);", "&f"),
    "typedef, by value": ("typedef Missing Alias;\nauto f(const Tensor& x) { return Alias(); }", "&f"),
    "alias template": ("template <class T> using V = my::Vec<T>;\nTensor f(V<int64_t> n);", "&f"),
    "member alias": ("struct K { using T = Missing; };\nTensor f(K::T n);", "&f"),
    "static method": ("struct K { static Tensor f(Missing n); };", "&K::f"),
    "functor": ("struct K { Tensor operator()(Missing n) { return {}; } };", "K()"),
    "function template": ("template <class T> T f(Missing n, T x);", "&f<Tensor>"),
    "template over it": ("template <class T> Tensor f(const Tensor& x, T n);", "&f<Missing>"),
    "lambda": ("", "[](const Tensor& x, Missing n) { return x; }"),
    "lambda, qualified": ("", "[](const Tensor& x, const my::Config<2>& n) { return x; }"),
    "lambda, in a template": ("", "[](const Tensor& x, std::vector<my::Config> n) { return x; }"),
    "lambda, result": ("", "[](const Tensor& x) -> my::Result { return my::make(x); }"),
    "lambda, deduced": ("", "[](const Tensor& x) { return my::make(x); }"),
    "lambda variable": ("auto f = [](const Tensor& x, Missing n) { return x; };", "f"),
    "function pointer": ("Tensor g(Missing n);\nauto f = &g;", "f"),
    "cast to an alias": ("using F = Tensor (*)(Missing);\nTensor f(Missing);", "static_cast<F>(&f)"),
    "cast": ("Tensor f(Missing);", "static_cast<Tensor (*)(Missing)>(&f)"),
    "wrapped": ("typedef Missing Alias;\nTensor f(Alias n);", "wrap(&f)"),
    "wrapped variable": ("typedef Missing Alias;\nTensor g(Alias n);\nauto f = &g;", "wrap(f)"),
    "adapted": ("typedef Missing Alias;\nTensor f(Alias n);", "&Adapter<decltype(f), &f>::call"),
    "TORCH_FN": ("Tensor f(Missing n);", "TORCH_FN(f)"),
    "by a macro": ("#define KERNEL(name, T) Tensor name(T n) { return {}; }\nKERNEL(f, Missing)", "&f"),
    "missing attribute": ("Tensor f(MY_ATTRIBUTE Tensor x, MY_ATTRIBUTE int64_t n);", "&f"),
    "missing export macro": ("MY_API Tensor f(const Tensor& x);", "&f"),
}


def _known(signature: Signature | None) -> list[str]:
    """Every type, to its last part, of which the reader is sure."""
    waiting: list[CppType] = []
    if signature is not None:
        waiting = [signature.returns, *(parameter.type for parameter in signature.parameters)]
    found = []
    while waiting:
        type_ = waiting.pop()
        found.append(type_.name)
        waiting.extend(type_.arguments)
    return found


@pytest.mark.parametrize("case", _DECLARATIONS)
def test_never_an_int(case: str) -> None:
    declaration, kernel = _DECLARATIONS[case]
    facts = read(f'{_PROLOGUE}{declaration}\nTORCH_LIBRARY(demo, m) {{ m.def("f(Tensor x) -> Tensor", {kernel}); }}\n')
    assert "int" not in _known(signatures(facts).get("f"))


@pytest.mark.parametrize("case", ["parameter", "alias", "lambda", "TORCH_FN", "trailing result", "lambda, result"])
def test_what_is_known_stays(case: str) -> None:
    declaration, kernel = _DECLARATIONS[case]
    facts = read(f'{_PROLOGUE}{declaration}\nTORCH_LIBRARY(demo, m) {{ m.def("f(Tensor x) -> Tensor", {kernel}); }}\n')
    known = _known(signatures(facts)["f"])
    assert known.count("?") == 1
    assert "at::Tensor" in known


def test_the_type_is_shown_as_written() -> None:
    text = "Tensor f(const my::Config& c, std::vector<Missing> v, int64_t n = my::size());\n"
    facts = read(f'{_PROLOGUE}{text}TORCH_LIBRARY(demo, m) {{ m.def("f", &f); }}\n')
    assert types(facts, "f") == ["at::Tensor", "const my::Config&", "std::vector<Missing>", "int64_t"]


def test_in_a_header_of_the_project() -> None:
    facts = read(
        f'{HEAD}#include "kernels.h"\nTORCH_LIBRARY(demo, m) {{ m.def("f", &f); m.def("g", &g); }}\n',
        kernels='#include "not_here.h"\nat::Tensor f(hidden_t n);\nhidden_t g(const at::Tensor& x);\n',
    )
    assert types(facts, "f") == ["at::Tensor", "hidden_t"]
    assert types(facts, "g") == ["hidden_t", "const at::Tensor&"]


def test_a_boxed_kernel_of_the_stable_abi() -> None:
    text = "#include <torch/csrc/stable/library.h>\nusing torch::stable::Tensor;\nTensor f(Tensor x, Missing n);\n"
    block = 'STABLE_TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl("f", TORCH_BOX(&f)); }\n'
    facts = read(text + block)
    assert "int" not in _known(signatures(facts).get("f"))
    assert len(facts.implementations) + len(facts.unresolved) == 1


def test_a_kernel_that_is_boxed_by_hand_in_the_stable_abi() -> None:
    text = (
        "#include <torch/csrc/stable/library.h>\nvoid f(StableIValue* stack, uint64_t args, uint64_t outputs);\n"
        'STABLE_TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl("f", &f); }\n'
    )
    (implementation,) = read(text).implementations
    assert (implementation.kernel.kind, implementation.kernel.signature) == (KernelKind.BOXED, None)


def test_a_known_int_is_still_an_int() -> None:
    text = "Tensor f(const Tensor& x, int n);\nint g(const Tensor& x, Missing y);\n"
    facts = read(f'{_PROLOGUE}{text}TORCH_LIBRARY(demo, m) {{ m.def("f", &f); m.def("g", &g); }}\n')
    assert types(facts, "f") == ["at::Tensor", "const at::Tensor&", "int"]
    assert types(facts, "g") == ["int", "const at::Tensor&", "Missing"]
