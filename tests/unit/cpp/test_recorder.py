"""Rows: names, namespaces, units, and what is written down where something is not known."""

from __future__ import annotations

import pytest

from op_lint.condition import Atom
from op_lint.cpp.recorder import IN_LOOP
from op_lint.facts import OperatorName, UnitKind
from tests.unit.cpp_reading import HEAD, read

_PROLOGUE = HEAD + "Tensor f(const Tensor& x);\n"


@pytest.mark.parametrize(
    ("text", "operator", "explicit"),
    [
        ("op", OperatorName("demo", "op"), None),
        ("op.out", OperatorName("demo", "op", "out"), None),
        ("other::op.out", OperatorName("other", "op", "out"), "other"),
        (" op ", OperatorName("demo", "op"), None),
        ("1op", OperatorName("demo", "1op"), None),
    ],
)
def test_names(text: str, operator: OperatorName, explicit: str | None) -> None:
    source = f'{_PROLOGUE}TORCH_LIBRARY_IMPL(demo, CPU, m) {{ m.impl("{text}", &f); }}\n'
    (row,) = read(source).implementations
    assert (row.operator, row.explicit_namespace) == (operator, explicit)
    name = operator.name + (f".{operator.overload}" if operator.overload else "")
    assert source[row.name_place.start : row.name_place.end] == name


def test_no_name_at_all() -> None:
    facts = read(f'{_PROLOGUE}TORCH_LIBRARY(demo, m) {{ m.impl("", &f); m.def("(Tensor x) -> Tensor"); }}\n')
    assert (facts.definitions, facts.implementations) == ((), ())
    assert sorted((row.what, row.reason) for row in facts.unresolved) == [
        ("def", "no operator name in '(Tensor x) -> Tensor'"),
        ("impl", "no operator name in ''"),
    ]


@pytest.mark.parametrize(
    ("block", "kind", "namespace", "key", "stable"),
    [
        ("TORCH_LIBRARY(demo, m)", UnitKind.LIBRARY, "demo", None, False),
        ("TORCH_LIBRARY_FRAGMENT(demo, m)", UnitKind.FRAGMENT, "demo", None, False),
        ("TORCH_LIBRARY_IMPL(demo, CPU, m)", UnitKind.IMPL, "demo", "CPU", False),
        ("TORCH_LIBRARY_IMPL(_, CPU, m)", UnitKind.IMPL, None, "CPU", False),
        ("STABLE_TORCH_LIBRARY_FRAGMENT(demo, m)", UnitKind.FRAGMENT, "demo", None, True),
    ],
)
def test_units(block: str, kind: UnitKind, namespace: str | None, key: str | None, stable: bool) -> None:
    source = f"#include <torch/csrc/stable/library.h>\n{_PROLOGUE}{block} {{ }}\n"
    (unit,) = read(source).units
    assert (unit.kind, unit.namespace, unit.key, unit.stable) == (kind, namespace, key, stable)
    assert unit.macro == block.partition("(")[0]
    assert unit.body is not None
    assert source[unit.body.start : unit.body.end] == "{ }"
    if unit.key_place is not None:
        assert source[unit.key_place.start : unit.key_place.end] == key


def test_a_namespace_that_the_build_gives() -> None:
    wrapper = "#define LIBRARY(ns, m) TORCH_LIBRARY(ns, m)\n"
    (unit,) = read(f"{_PROLOGUE}{wrapper}LIBRARY(MY_NAMESPACE, m) {{ }}\n").units
    assert unit.namespace_macro == "MY_NAMESPACE"


def test_conditions_and_guards() -> None:
    body = 'if (enabled()) m.def("a() -> ()");\n#ifdef USE_B\nm.def("b() -> ()");\n#endif\n'
    facts = read(f"{_PROLOGUE}bool enabled();\nTORCH_LIBRARY(demo, m) {{\n{body}}}\n")
    first, second = facts.definitions
    assert first.runtime_guard == "enabled()"
    assert second.condition == Atom("USE_B")


def test_a_name_of_a_loop_says_that_it_is_of_one() -> None:
    body = 'for (int i = 0; i < n(); i++) { m.def(name(i)); m.def("same() -> ()"); }'
    facts = read(f"{_PROLOGUE}int n(); std::string name(int);\nTORCH_LIBRARY(demo, m) {{ {body} }}\n")
    (lost,) = facts.unresolved
    assert lost.reason == "the schema is not a constant (registered in a loop)"
    (row,) = facts.definitions
    assert (row.runtime_guard or "").endswith(IN_LOOP)


def test_a_helper_that_registers_nothing_is_no_unit() -> None:
    assert read(f"{_PROLOGUE}void look(torch::Library& m) {{ }}\n").units == ()
