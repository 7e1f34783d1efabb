"""The second look: what stands in the text and is in no row."""

from __future__ import annotations

import pytest

from op_lint.condition import ALWAYS, NEVER, Atom, Condition
from op_lint.cpp.audit import audit
from op_lint.cpp.registrations import Registrations
from op_lint.cpp.scanned import ScannedFile
from op_lint.facts import Place, Unit, UnitKind, Unresolved
from tests.unit.cpp_reading import HEAD, read, registered

_SOURCE = """\
TORCH_LIBRARY(demo, m) {
  m.def("a() -> ()");  // m.def("comment() -> ()");
  other.def("b");
  m.impl("a", f);
}
void add(torch::Library& k) { k.fallback(f); k.call("m.def(x)"); }
#define REG m.def("c() -> ()")
"""


def _missed(found: Registrations, condition: Condition = ALWAYS) -> list[Unresolved]:
    data = _SOURCE.encode()
    return audit("ops.cpp", data, ScannedFile(data).blanked, found, lambda _: condition)


def _place(text: str) -> Place:
    start = _SOURCE.index(text)
    return Place("ops.cpp", _SOURCE.count("\n", 0, start) + 1, start, start + len(text))


def test_all_that_nothing_read() -> None:
    rows = _missed(Registrations())
    assert [(row.what, row.place.line) for row in rows] == [("unit", 1), ("def", 2), ("impl", 4), ("fallback", 6)]
    assert {row.unit for row in rows} == {None}


def test_what_was_read_is_not_missed() -> None:
    unit = Unit(0, UnitKind.LIBRARY, "TORCH_LIBRARY", _place("TORCH_LIBRARY(demo, m)"), "demo")
    known = Unresolved("def", "the schema is not a constant", _place('m.def("a() -> ()")'), 0)
    rows = _missed(Registrations(units=[unit], unresolved=[known]))
    assert [(row.what, row.place.line) for row in rows] == [("impl", 4), ("fallback", 6)]


def test_a_row_of_another_file_covers_nothing() -> None:
    elsewhere = Unresolved("def", "", Place("other.h", 1, 0, len(_SOURCE)))
    assert len(_missed(Registrations(unresolved=[elsewhere]))) == 4


@pytest.mark.parametrize(("condition", "number"), [(Atom("USE_IT"), 4), (NEVER, 0)])
def test_code_that_is_never_compiled_is_not_missed(condition: Condition, number: int) -> None:
    rows = _missed(Registrations(), condition)
    assert len(rows) == number
    assert all(row.condition == condition for row in rows)


def test_a_function_that_is_given_the_library_and_was_not_read() -> None:
    source = (
        HEAD
        + 'TORCH_LIBRARY(demo, m) { add(m, "f", missing<n>(1, 2)::f(3)::g); check(m); }\n'
        + "void check(torch::Library& m) {}\n"
    )
    (row,) = read(source).unresolved
    assert (row.what, row.reason, row.namespace) == ("unit", "what add registers could not be read", "demo")


def test_a_macro_of_which_nothing_was_read() -> None:
    macros = "#define BROKEN(n) m.impl(missing<n>(1, 2)::f(3)::g, &f)\n#define FINE(n) m.impl(#n, &f)\n"
    source = f"{HEAD}Tensor f(Tensor x);\n{macros}TORCH_LIBRARY(demo, m) {{ BROKEN(a); FINE(b); }}\n"
    facts = read(source)
    assert registered(facts) == ["impl demo::b at CompositeImplicitAutograd"]
    assert [(row.what, row.reason) for row in facts.unresolved] == [
        ("unit", "what the macro registers could not be read")
    ]


@pytest.mark.parametrize(
    ("use", "reason"),
    [
        ('MY_TORCH_LIBRARY(demo, m) { m.def("a() -> ()"); }', "the macro MY_TORCH_LIBRARY is defined in no"),
        ('TORCH_LIBRARY(demo, m) { OTHER_OPS(CPU, "a", f) }', "the macro OTHER_OPS is defined in no"),
        ("MY_REGISTER_OPS(demo, CUDA)", "the macro MY_REGISTER_OPS is defined in no"),
        ('namespace x { MY_KERNEL("demo::a", &f); }', "the macro MY_KERNEL is defined in no"),
        ("TORCH_LIBRARY(demo, m) { OTHER_OPS; }", "the macro OTHER_OPS is defined in no"),
        ("TORCH_LIBRARY(demo, m) {\n  OTHER_OPS\n}", "the macro OTHER_OPS is defined in no"),
        ("TORCH_LIBRARY_EXPAND(NAME, m) {}", "the macro TORCH_LIBRARY_EXPAND is defined in no"),
        ("namespace x { extern \"C\" { BLOCK(demo }}", "what the macro registers could not be"),
    ],
)  # fmt: skip
def test_macros_that_hide_registrations(use: str, reason: str) -> None:
    block = '#define BLOCK(ns) TORCH_LIBRARY(ns, m) { m.def("a() -> ()"); }\n'
    facts = read(f'#include "missing.h"\n{HEAD}{block}{use}\n')
    assert registered(facts) == []
    row, *calls = facts.unresolved
    assert row.what == "unit"
    assert row.reason.startswith(reason)
    assert [call.what for call in calls] == ["def"] * ("MY_TORCH" in use)


def test_a_block_of_a_macro_that_is_nowhere_defined() -> None:
    block = 'MY_BLOCK(demo, m) {\n  m.def("a() -> ()");\n  n.def("b");\n  m.impl("a", &f);\n}'
    facts = read(f'#include "missing.h"\n{HEAD}{block}\n')
    reason = "the macro MY_BLOCK is defined in no file that was found"
    first = HEAD.count("\n") + 2
    assert [(row.what, row.place.line, row.reason) for row in facts.unresolved] == [
        ("unit", first, reason),
        ("def", first + 1, reason),
        ("impl", first + 3, reason),
    ]


@pytest.mark.parametrize(
    "source",
    [
        'MY_TEST(demo, m) { m.def("a() -> ()"); }',
        "C10_REGISTER_GUARD_IMPL(CUDA, Guard);",
        'MY_REGISTER_OPS("plain", Class);',
        "void f() { MY_REGISTER_OPS(demo, CUDA); }",
        'void f() { if (x) FOR_EACH(m) { m.def("a"); } }',
        "TORCH_LIBRARY(demo, m) { f(a)\n + THAT; auto x = {\n  ONE,\n  TWO\n}; }",
        "TORCH_LIBRARY(demo, m) { TORCH_CHECK(1, 2); MY_CUDA_CHECK(f()); }",
        "#define EACH(x) x(a) x(b)\nTORCH_LIBRARY(demo, m) { EACH(IGNORED) }\n#define IGNORED(x)",
        'void f() { BLOCK("a") }',
        "PYBIND11_MODULE(demo, m) { m.def(1); }",
        'EXECUTORCH_LIBRARY(demo, "a.out", f);',
    ],
)
def test_macros_that_hide_none(source: str) -> None:
    header = '#define BLOCK(ns) TORCH_LIBRARY(ns, m) { m.def("a() -> ()"); }\n'
    assert read(f"{HEAD}{header}{source}\n").unresolved == ()
