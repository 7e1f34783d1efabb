"""Where the registrations that macros make were written."""

from __future__ import annotations

import pytest

from op_lint.cpp.clang import Point, TranslationUnit
from op_lint.cpp.libclang import Location
from op_lint.facts import Definition, FileFacts, Implementation, Place
from tests.unit.cpp_reading import read

HEAD = "#include <torch/library.h>\nat::Tensor f(const at::Tensor& x);\n"
DEF = 'm.def(#n "(Tensor x) -> Tensor");'


def block(uses: str, namespace: str = "demo") -> str:
    return f"TORCH_LIBRARY({namespace}, m) {{\n{uses}\n}}\n"


def shown(place: Place | None, texts: dict[str, bytes]) -> str | None:
    """`path:line text` of a place."""
    if place is None:
        return None
    return f"{place.path}:{place.line} {texts[place.path][place.start : place.end].decode()}"


def spelled(text: str | bytes, **headers: str) -> dict[str, str | None]:
    """Where the rows of `ops.cpp` were written, by operator; kernels have their key behind the name."""
    facts = read(text, **headers)
    assert facts.problems == ()
    texts = {"ops.cpp": text if isinstance(text, bytes) else text.encode()}
    texts |= {f"{name}.h": content.encode() for name, content in headers.items()}
    return {_label(row): shown(row.spelled, texts) for row in _rows(facts)}


def _rows(facts: FileFacts) -> list[Definition | Implementation]:
    return [*facts.definitions, *facts.implementations]


def _label(row: Definition | Implementation) -> str:
    return row.operator.name + (f" {row.key}" if isinstance(row, Implementation) else "")


def test_no_macro() -> None:
    assert spelled(HEAD + block('  m.def("a(Tensor x) -> Tensor");\n  m.impl("a", f);')) == {
        "a": None,
        "a CompositeImplicitAutograd": None,
    }


def test_in_the_same_file() -> None:
    text = HEAD + f"#define DEFINE(n) {DEF}\n" + block("  DEFINE(a)\n  DEFINE(b)")
    there = 'ops.cpp:3 m.def(#n "(Tensor x) -> Tensor")'
    assert spelled(text) == {"a": there, "b": there}


def test_in_a_header() -> None:
    text = '#include "reg.h"\n' + HEAD + block("  DEFINE(a)")
    header = f"#pragma once\n\n#define DEFINE(n) {DEF}\n"
    assert spelled(text, reg=header) == {"a": 'reg.h:3 m.def(#n "(Tensor x) -> Tensor")'}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_several_in_one_body_and_lines(end: str) -> None:
    lines = [
        *HEAD.splitlines(),
        "#define REGISTER(n, fn) /* a comment: m.def( */ \\",
        f"  {DEF} \\",
        "  m.impl(#n, c10::DispatchKey::CPU, TORCH_FN(fn)); \\",
        '  m.impl(#n, c10::DispatchKey::CUDA, &fn); m.def(#n "_out(Tensor x) -> ()")',
        *block("  REGISTER(a, f);\n  REGISTER(b, f);").splitlines(),
        "",
    ]
    found = spelled(end.join(lines).encode())
    for name in "ab":
        assert found[name] == 'ops.cpp:4 m.def(#n "(Tensor x) -> Tensor")'
        assert found[f"{name} CPU"] == "ops.cpp:5 m.impl(#n, c10::DispatchKey::CPU, TORCH_FN(fn))"
        assert found[f"{name} CUDA"] == "ops.cpp:6 m.impl(#n, c10::DispatchKey::CUDA, &fn)"
        assert found[f"{name}_out"] == 'ops.cpp:6 m.def(#n "_out(Tensor x) -> ()")'


def test_macros_inside_each_other() -> None:
    text = (
        HEAD
        + f"#define DEFINE(n) {DEF}\n"
        + "#define BOTH(n) DEFINE(n) m.impl(#n, f);\n"
        + "#define ALL BOTH(a) BOTH(b)\n"
        + block("  ALL")
    )
    found = spelled(text)
    assert found["a"] == found["b"] == 'ops.cpp:3 m.def(#n "(Tensor x) -> Tensor")'
    assert found["a CompositeImplicitAutograd"] == "ops.cpp:4 m.impl(#n, f)"


def test_the_name_of_a_macro_is_given_to_another() -> None:
    text = (
        HEAD
        + "#define EACH(DO) DO(a) DO(b) m.def(\"own(Tensor x) -> Tensor\");\n"
        + f"#define DEFINE(n) {DEF}\n"
        + block("  EACH(DEFINE)")
    )  # fmt: skip
    found = spelled(text)
    assert found["a"] == found["b"] == 'ops.cpp:4 m.def(#n "(Tensor x) -> Tensor")'
    assert found["own"] == 'ops.cpp:3 m.def("own(Tensor x) -> Tensor")'


def test_in_an_argument() -> None:
    text = (
        HEAD
        + f"#define DEFINE(n) {DEF}\n"
        + "#define GUARDED(...) do { __VA_ARGS__; } while (0)\n"
        + block('  GUARDED(m.def("a(Tensor x) -> Tensor"));\n  GUARDED(DEFINE(b));')
    )
    assert spelled(text) == {
        "a": 'ops.cpp:6 m.def("a(Tensor x) -> Tensor")',
        "b": 'ops.cpp:3 m.def(#n "(Tensor x) -> Tensor")',
    }


def test_the_last_definition_before_the_use() -> None:
    text = (
        HEAD
        + f"#define DEFINE(n) {DEF}\n"
        + block("  DEFINE(a)")
        + "#undef DEFINE\n"
        + '#define DEFINE(n) m.def("later_" #n "(Tensor x) -> Tensor");\n'
        + block("  DEFINE(b)", "other")
    )
    found = spelled(text)
    assert found["a"] == 'ops.cpp:3 m.def(#n "(Tensor x) -> Tensor")'
    assert found["later_b"] == 'ops.cpp:8 m.def("later_" #n "(Tensor x) -> Tensor")'


def test_each_arm_has_its_own() -> None:
    text = (
        HEAD
        + "#ifdef USE_X\n"
        + '#define MORE m.def("x(Tensor x) -> Tensor");\n'
        + "#else\n"
        + '#define MORE m.def("y(Tensor x) -> Tensor");\n'
        + "#endif\n"
        + block("  MORE")
    )
    assert spelled(text) == {
        "x": 'ops.cpp:4 m.def("x(Tensor x) -> Tensor")',
        "y": 'ops.cpp:6 m.def("y(Tensor x) -> Tensor")',
    }


@pytest.mark.parametrize(
    "macro",
    [
        "TORCH_LIBRARY(ns, m)",
        "TORCH_LIBRARY_FRAGMENT(ns, m)",
        "TORCH_LIBRARY_IMPL(ns, CPU, m)",
        "STABLE_TORCH_LIBRARY(ns, m)",
    ],
)
def test_blocks(macro: str) -> None:
    two = "#define TWO(ns) BLOCK(ns) {} void g(); BLOCK(ns##2) {}\n"
    text = f"{HEAD}#define BLOCK(ns) {macro}\n{two}BLOCK(a) {{}}\nTWO(b)\n"
    facts = read(text)
    places = [shown(unit.spelled, {"ops.cpp": text.encode()}) for unit in facts.units]
    assert [unit.namespace for unit in facts.units] == ["a", "b", "b2"]
    assert places == [f"ops.cpp:3 {macro}"] * 3


def test_a_block_in_the_open_has_one_place() -> None:
    (unit,) = read(HEAD + block('  m.def("a(Tensor x) -> Tensor");')).units
    assert unit.spelled is None


def test_a_use_that_expands_to_too_much_is_not_followed() -> None:
    doubled = "".join(f"#define A{n}(x) A{n - 1}(x) A{n - 1}(x)\n" for n in range(1, 16))
    text = HEAD + "#define A0(x) (void)x;\n" + doubled + f"#define DEFINE(n) A15(1) {DEF}\n" + block("  DEFINE(a)")
    assert spelled(text) == {"a": None}


def test_half_typed_macros_have_no_place() -> None:
    text = HEAD + f"#define DEFINE(n {DEF}\n#define\n" + block("  DEFINE(a")
    assert all(row.spelled is None for row in _rows(read(text)))


def test_names_that_are_defined_anew_are_what_they_are_at_the_use() -> None:
    lines = [
        '#define BODY(n) m.def(#n "(Tensor x) -> Tensor");',
        "#define OUTER(n) BODY(n)",
        "#define EACH OP(c)",
        "TORCH_LIBRARY(demo, m) {",
        "  OUTER(a)",
        "#undef BODY",
        '#define BODY(n) m.def(#n "() -> ()");',
        "  OUTER(b)",
        '#define OP(n) m.def(#n "() -> Tensor");',
        "  EACH",
        "#undef OP",
        "#define OP(n) m.impl(#n, torch::kCPU, f);",
        "  EACH",
        "#undef OP",
        "#define OP(n) m.impl(#n, torch::kCUDA, f);",
        "  EACH",
        "}\n",
    ]
    assert spelled(HEAD + "\n".join(lines)) == {
        "a": 'ops.cpp:3 m.def(#n "(Tensor x) -> Tensor")',
        "b": 'ops.cpp:9 m.def(#n "() -> ()")',
        "c": 'ops.cpp:11 m.def(#n "() -> Tensor")',
        "c CPU": "ops.cpp:14 m.impl(#n, torch::kCPU, f)",
        "c CUDA": "ops.cpp:17 m.impl(#n, torch::kCUDA, f)",
    }


def test_names_that_several_files_define_tell_nothing() -> None:
    text = f'#include "reg.h"\n{HEAD}#undef BODY\n#define BODY(n) {DEF}\n#define OUTER(n) BODY(n)\n' + block("OUTER(a)")
    assert spelled(text, reg='#define BODY(n) m.def(#n "() -> ()");\n') == {"a": None}


def test_the_order_of_writing_counts_and_not_that_of_the_calls() -> None:
    lines = [
        '#define ALL auto later = [&] { m.def("late() -> ()"); }; \\',
        '  m.def("a() -> ()"); later(); m.def("b() -> ()").def("c() -> ()")',
        '#define FILE static void second(torch::Library& m) { m.def("s() -> ()"); } \\',
        '  static void first(torch::Library& m) { m.def("f() -> ()"); } \\',
        '  TORCH_LIBRARY(demo, m) { first(m); second(m); m.def("last() -> ()"); ALL; }',
        "FILE",
    ]
    found = spelled(HEAD + "\n".join(lines) + "\n")
    assert {name: place and place.partition(" ")[2] for name, place in found.items()} == {
        **{name: f'm.def("{name}() -> ()")' for name in ("late", "a", "b", "s", "f", "last")},
        "c": 'def("c() -> ()")',
    }


def test_a_call_that_is_not_understood_leaves_the_others_without_a_place() -> None:
    lines = [
        "#define ALL other.def(1); \\",
        '  m.def("a() -> ()"); m.impl("a", f)',
        block("ALL;"),
    ]
    assert spelled(HEAD + "\n".join(lines)) == {
        "a": None,
        "a CompositeImplicitAutograd": 'ops.cpp:4 m.impl("a", f)',
    }


def test_the_questions_grow_with_the_uses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of libclang, of which most of a reading's time is: twice as many uses of a macro, twice as many questions."""
    asked = 0
    original = TranslationUnit.expansion

    def expansion(unit: TranslationUnit, location: Location) -> Point:
        nonlocal asked
        asked += 1
        return original(unit, location)

    monkeypatch.setattr(TranslationUnit, "expansion", expansion)
    counts = []
    for uses in (50, 100, 200):
        asked = 0
        kernels = "".join(f"at::Tensor f{number}(const at::Tensor& x);\n" for number in range(uses))
        macro = f'#define DEFINE(n) {DEF} m.def(#n "_b(Tensor x) -> Tensor")\n'
        found = spelled(HEAD + kernels + macro + block("".join(f"DEFINE(a{number});\n" for number in range(uses))))
        assert len(found) == 2 * uses
        assert None not in found.values()
        counts.append(asked)
    assert counts[2] - counts[1] < 2.2 * (counts[1] - counts[0])
