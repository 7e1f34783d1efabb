"""The code that registers, read as it runs: helpers, lambdas, loops, conditions."""

from __future__ import annotations

import pytest

from op_lint.condition import Atom
from tests.unit.cpp_reading import HEAD, read, registered

_KERNEL = HEAD + "Tensor f(const Tensor& x);\n"


@pytest.mark.parametrize(
    ("before", "inside"),
    [
        ("void add(torch::Library& m) { m.def(S); }", "add(m);"),
        ("template <class L> void add(L& m) { m.def(S); }", "add(m);"),
        ("template <class L> void add(L&& m) { m.def(S); }", "add(m);"),
        ("template <class L> void add(L& m, const char* s) { m.def(s); }", "add(m, S);"),
        ("template <class L> void add(L* m) { m->def(S); }", "add(&m);"),
        ("auto add = [](torch::Library& m) { m.def(S); };", "add(m);"),
        ("auto add = [](auto& m) { m.def(S); };", "add(m);"),
        ("", "auto add = [&](auto&& s) { m.def(s); }; add(S);"),
        ("", "[](auto& k) { k.def(S); }(m);"),
        ("torch::Library& same(torch::Library& m) { return m; }", "same(m).def(S);"),
        ("template <class L> L& same(L& m) { return m; }", "same(m).def(S);"),
        ("", "auto& k = m; k.def(S);"),
        ("", "if (true) { m.def(S); }"),
        ("struct Add { void operator()(torch::Library& m) const { m.def(S); } };", "Add()(m);"),
        ("struct Add { void operator()(torch::Library& m, const char* s) { m.def(s); } };", "Add add; add(m, S);"),
        ("struct Add { template <class L> void operator()(L& m) { m.def(S); } };", "Add{}(m);"),
        ("", 'for (auto s : {"g(Tensor x) -> Tensor"}) m.def(s);'),
    ],
)
def test_ways_to_the_library(before: str, inside: str) -> None:
    before, inside = (text.replace("S)", '"g(Tensor x) -> Tensor")') for text in (before, inside))
    facts = read(f"{_KERNEL}{before}\nTORCH_LIBRARY(demo, m) {{ {inside} }}\n")
    assert registered(facts) == ["def demo::g"]
    assert facts.unresolved == ()


def test_a_chain_in_a_template() -> None:
    helper = (
        'template <class L> void add(L& m) { m.def("g(Tensor x) -> Tensor", &f).def("h() -> ()"); m.impl("h", &f); }\n'
    )
    facts = read(f"{_KERNEL}{helper}TORCH_LIBRARY(demo, m) {{ add(m); }}\n")
    assert sorted(registered(facts)) == ["def demo::g", "def demo::h", "impl demo::h at CompositeImplicitAutograd"]


def test_a_template_that_nobody_calls_registers_nothing() -> None:
    helper = 'template <class L> void add(L& m) { m.def("g(Tensor x) -> Tensor"); }\n'
    facts = read(f"{_KERNEL}{helper}TORCH_LIBRARY(demo, m) {{ }}\n")
    assert registered(facts) == []


def test_another_class_with_such_methods() -> None:
    other = 'struct Table { void def(const char*); };\ntemplate <class L> void add(L& m) { m.def("x"); }\n'
    facts = read(f'{_KERNEL}{other}TORCH_LIBRARY(demo, m) {{ Table t; add(t); t.def("y"); }}\n')
    assert registered(facts) == []


def test_a_helper_for_two_blocks() -> None:
    helper = 'template <class L> void add(L& m) { m.impl("g", &f); }\n'
    blocks = "TORCH_LIBRARY_IMPL(demo, CPU, m) { add(m); }\nTORCH_LIBRARY_IMPL(demo, CUDA, m) { add(m); }\n"
    assert sorted(registered(read(_KERNEL + helper + blocks))) == ["impl demo::g at CPU", "impl demo::g at CUDA"]


def test_run_time_conditions() -> None:
    block = 'TORCH_LIBRARY(demo, m) { if (on()) m.def("a() -> ()"); else m.def("b() -> ()"); m.def("c() -> ()"); }\n'
    facts = read(f"{HEAD}bool on();\n{block}")
    assert [row.runtime_guard for row in facts.definitions] == ["on()", "!(on())", None]


def test_names_that_torch_refuses_are_read() -> None:
    calls = 'm.impl("1f", &f); m.impl("f-g", &f); m.impl("", &f);'
    facts = read(f"{_KERNEL}TORCH_LIBRARY_IMPL(demo, CPU, m) {{ {calls} }}\n")
    assert [row.operator.name for row in facts.implementations] == ["1f", "f"]
    assert [row.reason for row in facts.unresolved] == ["no operator name in ''"]


@pytest.mark.parametrize(
    "made",
    [
        'auto owned = std::make_unique<torch::Library>(torch::Library::DEF, "demo", std::nullopt, __FILE__, __LINE__);',
        'auto* owned = new torch::Library(torch::Library::DEF, "demo", std::nullopt, __FILE__, __LINE__);',
    ],
)
def test_a_library_behind_a_pointer_is_not_known(made: str) -> None:
    """What is registered through it is said all the same."""
    facts = read(
        f'{HEAD}#include <memory>\nstatic {made}\nstatic int done = [] {{ owned->def("a() -> ()"); return 0; }}();\n'
    )
    assert registered(facts) == []
    assert [(row.what, row.reason) for row in facts.unresolved] == [
        ("def", "it is not known which block this library belongs to")
    ]


def test_the_conditions_of_the_calls_count() -> None:
    helper = HEAD + 'void f();\nvoid add(torch::Library& m) { m.def("f() -> ()"); m.impl("f", &f); }\n'
    facts = read(helper + "TORCH_LIBRARY(demo, m) {\n#ifdef USE_IT\nadd(m);\n#endif\n}\n")
    conditions = [row.condition for row in facts.definitions] + [row.condition for row in facts.implementations]
    assert conditions == [Atom("USE_IT"), Atom("USE_IT")]


def test_many_ways_through_helpers_end() -> None:
    helpers = "".join(f"void h{n}(torch::Library& m) {{ h{n + 1}(m);\nh{n + 1}(m); }}\n" for n in reversed(range(14)))
    source = HEAD + 'void h14(torch::Library& m) { m.def("g() -> ()"); }\n' + helpers
    facts = read(source + "TORCH_LIBRARY(demo, m) { h0(m); }\n")
    assert [len(row.calls) for row in facts.definitions] == [15, 15]


def test_a_function_that_only_makes_a_class() -> None:
    source = HEAD + 'struct C {};\nvoid bind(torch::Library& m) { m.class_<C>("C"); }\n'
    facts = read(source)
    assert [facts.units[row.unit].function for row in facts.classes] == ["bind"]
