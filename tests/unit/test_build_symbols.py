"""What sources define and need, conditions as diagrams, and binaries that are none."""

from __future__ import annotations

import mmap
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from op_lint.build import guards
from op_lint.build.binary import BinaryFile, BinaryKind, holds_unit, read_binary
from op_lint.build.files import BuildFiles
from op_lint.build.guarded import Item, merged, under
from op_lint.build.model import SourceSymbols
from op_lint.build.symbols import KnownUnits, SymbolReader, _read_text, local_headers, read_symbols
from op_lint.condition import evaluate

_READ_TEXT = _read_text


def symbols(folder: Path, source: str, **headers: str) -> SourceSymbols:
    """The symbols of a source; `headers` are by their names without `.h`."""
    (folder / "a.cpp").write_text(source)
    for name, text in headers.items():
        (folder / f"{name}.h").write_text(text)
    find = local_headers(["a.cpp", *(f"{name}.h" for name in headers)])
    return SymbolReader(BuildFiles(folder), find).read("a.cpp")


@pytest.mark.parametrize(
    ("source", "defines"),
    [
        ("int f() { return 0; }", {"f"}),
        ('extern "C" int f() { return 0; }', {"f"}),
        ('extern "C" { int f() { return 0; } }', {"f"}),
        ("namespace a::b { int f() { return 0; } }", {"f"}),
        ("namespace { int f() { return 0; } }", set()),
        ("static int f() { return 0; }", set()),
        ("inline int f() { return 0; }", set()),
        ("template <class T> int f() { return 0; }", set()),
        ("int f();", set()),
        ("int x = 1; static int y = 2; extern int z;", {"x"}),
        ("struct S { int f() { return 0; } }; int g(S s) { return s.f(); }", {"g"}),
        ("int S::f() const noexcept { return 0; }", {"f"}),
        ('__attribute__((visibility("default"))) int f() { return 0; }', {"f"}),
        ("[[nodiscard]] int f() { return 0; }", {"f"}),
        ("// int f() { return 0; }\nint g() { return 0; }", {"g"}),
        ('const char* g() { return "int f() {}"; }', {"g"}),
        ('const char* g() { return R"(} int f() {})"; }', {"g"}),
        ("#if X\nint f() { return 0; }\n#endif\nint g() { return 0; }", {"g"}),
        ("MADE(g)\nint f() { return 0; }", {"f"}),
        ("namespace a {\nMADE(g)\n}\nint f() { return 0; }", {"f"}),
        ("TORCH_LIBRARY(demo, m) { m.def(h); }\nint f() { return 0; }", {"f"}),
        ("main() { return 0; }\nint f() { return 0; }", {"f"}),
    ],
)
def test_what_a_source_defines(source: str, defines: set[str], tmp_path: Path) -> None:
    assert symbols(tmp_path, source).defines == defines


@pytest.mark.parametrize("call", ["MADE(g)", "MADE(g);", "MADE(g)\nint f() { return 0; }", "namespace a { MADE(g) }"])
def test_what_a_macro_may_define(call: str, tmp_path: Path) -> None:
    assert "g" in symbols(tmp_path, f"{call}\n").weak


NEEDED = "anchor"


@pytest.mark.parametrize(
    "source",
    [
        "int f() { return anchor(); }",
        "static int g() { return anchor(); } int f() { return g(); }",
        "inline int g() { return anchor(); } int f() { return g(); }",
        "static int kept = anchor();",
        "inline int kept = anchor();",
        "namespace { int kept = anchor(); }",
        "int (*p)() = &anchor;",
        "int (*p)() = anchor;",
        'TORCH_LIBRARY(demo, m) { m.def("f", &anchor); }',
        "static Registrar r(&anchor);",
        "int f(int (*)()); int g() { return f(&anchor); }",
        "int f() { extern int anchor(); return anchor(); }",
    ],
)
def test_what_certainly_needs(source: str, tmp_path: Path) -> None:
    assert NEEDED in symbols(tmp_path, f"int anchor();\n{source}\n").needs


@pytest.mark.parametrize(
    "source",
    [
        "int f() { return 0; }",
        "inline int g() { return anchor(); }",
        "template <class T> int g() { return anchor(); }",
        "struct S { int g() { return anchor(); } };",
        "// anchor()",
        'const char* f() { return "anchor()"; }',
    ],
)
def test_what_does_not_need(source: str, tmp_path: Path) -> None:
    found = symbols(tmp_path, f"int anchor();\n{source}\n")
    assert NEEDED not in found.needs | found.mentions


@pytest.mark.parametrize(
    "source",
    [
        "static int g() { return anchor(); }",  # GCC keeps it at -O0
        "static int (*p)() = &anchor;",
        "#ifdef X\nint f() { return anchor(); }\n#endif",
        "REGISTER(anchor);",
        "#define KEEP anchor()\nint f() { return KEEP; }",
        "int f(S s) { return s.anchor(); }",
    ],
)
def test_what_may_need(source: str, tmp_path: Path) -> None:
    found = symbols(tmp_path, f"int anchor();\n{source}\n")
    assert NEEDED in found.mentions - found.needs


def test_headers_of_the_project(tmp_path: Path) -> None:
    found = symbols(
        tmp_path, '#include "outer.h"\nint f() { return lazy(); }\n',
        outer='#pragma once\n#include "inner.h"\ninline int lazy() { return anchor(); }\n', inner="int anchor();\n",
    )  # fmt: skip
    assert found.needs == {"anchor"}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {}", True),
        ("PyMODINIT_FUNC PyInit_x(void) { return nullptr; }", True),
        ("NB_MODULE(x, m) {}", True),
        ('#include "own.h"\nREGISTER_EXTENSION(x)', True),
        ("SOME_MODULE(x)\n", None),
        ("int f() { return 0; }", False),
        ("// PYBIND11_MODULE(x, m) {}", False),
    ],
)
def test_python_modules(source: str, expected: bool | None, tmp_path: Path) -> None:
    own = "#define REGISTER_EXTENSION(n) PyMODINIT_FUNC CONCAT(PyInit_, n)() { return PyModule_Create(&d); }\n"
    assert symbols(tmp_path, source, own=own).module_init is expected


@pytest.mark.parametrize(
    "source", ["{" * 3000, "}" * 3000, "int f(" * 500, '"', "/*", 'R"x(', "#if\n" * 500, "\x00" * 100]
)
def test_sources_that_are_no_cpp(source: str, tmp_path: Path) -> None:
    assert symbols(tmp_path, source).path == "a.cpp"


def test_a_type_after_a_macro_without_a_semicolon(tmp_path: Path) -> None:
    assert "f" in symbols(tmp_path, "MARK(x)\nstruct S { int y; };\nvoid f() {}\n").defines


def test_a_source_that_is_gone_may_need_everything(tmp_path: Path) -> None:
    assert SymbolReader(BuildFiles(tmp_path), local_headers([])).read("gone.cpp").opaque


# Conditions.

_ATOMS = ("a", "b", "c", "d")
_guards = st.recursive(
    st.sampled_from([guards.ALWAYS, guards.NEVER, *map(guards.atom, _ATOMS)]),
    lambda inner: st.one_of(
        inner.map(guards.opposite),
        st.tuples(inner, inner).map(guards.all_of),
        st.tuples(inner, inner).map(guards.any_of),
    ),
    max_leaves=12,
)


def worlds() -> list[dict[str, bool]]:
    return [{name: bool(bits >> at & 1) for at, name in enumerate(_ATOMS)} for bits in range(1 << len(_ATOMS))]


def table(guard: guards.Guard) -> list[bool | None]:
    """The truth of a condition in every world, as its formula has it."""
    return [evaluate(guards.formula(guard), world) for world in worlds()]


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(_guards, _guards)
def test_guards_are_their_truth_tables(one: guards.Guard, other: guards.Guard) -> None:
    assert (one is other) == (table(one) == table(other))
    assert table(guards.both(one, other)) == [bool(a and b) for a, b in zip(table(one), table(other), strict=True)]
    assert table(guards.opposite(one)) == [not a for a in table(one)]


@given(_guards, _guards)
def test_a_relative_condition_agrees_where_the_other_holds(one: guards.Guard, given_: guards.Guard) -> None:
    found = guards.relative(one, given_)
    assert guards.both(found, given_) is guards.both(one, given_)
    assert guards.atoms_of(found) <= guards.atoms_of(one)


@given(st.lists(st.sampled_from("pqr"), max_size=4), st.lists(st.sampled_from("pqr"), max_size=4))
def test_merged_lists_are_each_list_under_its_condition(one: list[str], other: list[str]) -> None:
    a = guards.atom("a")
    both = merged([(a, tuple(map(Item, one))), (guards.opposite(a), tuple(map(Item, other)))])
    assert sorted(item.text for item in under(both, a)) == sorted(one)
    assert sorted(item.text for item in under(both, guards.opposite(a))) == sorted(other)


# Binaries.


@pytest.mark.parametrize(
    "data",
    [b"", b"\x7fELF", b"\x7fELF" + b"\xff" * 200, b"!<arch>\n", b"!<arch>\nx" * 50, b"!<thin>\n" + b"/" * 60,
     b"MZ" * 50, b"!<arch>\n" + b"a.o/".ljust(16) + b" " * 32 + b"-5".ljust(10) + b"`\n"],
)  # fmt: skip
def test_files_that_are_no_binaries(data: bytes, tmp_path: Path) -> None:
    file = tmp_path / "lib.so"
    file.write_bytes(data)
    found = read_binary(file)
    assert found is None or not found.members
    assert read_binary(tmp_path / "none") is None
    assert read_binary(tmp_path) is None


@pytest.mark.parametrize(
    ("binary", "expected"),
    [
        (BinaryFile("x", BinaryKind.SHARED, False, sources=frozenset({"/build/csrc/ops.cpp"})), True),
        (BinaryFile("x", BinaryKind.SHARED, True, sources=frozenset({"../csrc/ops.cpp"})), True),
        (BinaryFile("x", BinaryKind.SHARED, True, sources=frozenset({"csrc/other_ops.cpp"})), False),
        (BinaryFile("x", BinaryKind.SHARED, True), False),
        (BinaryFile("x", BinaryKind.SHARED, True, undefined=frozenset({"_ZN5torch7LibraryC1E"})), None),
    ],
)
def test_whether_a_binary_holds_a_unit(binary: BinaryFile, expected: bool | None) -> None:
    assert holds_unit(binary, "csrc/ops.cpp") is expected


def test_a_block_is_known_by_its_variable() -> None:
    binary = BinaryFile("x", BinaryKind.SHARED, False, initialisers=frozenset({"TORCH_LIBRARY_static_init_demo"}))
    assert holds_unit(binary, "ops.cpp", "TORCH_LIBRARY_static_init_demo") is True
    assert holds_unit(binary, "ops.cpp", "TORCH_LIBRARY_static_init_other") is False


def test_many_sources_are_read_in_processes_as_in_this_one(tmp_path: Path) -> None:
    names = [f"ops{number}.cpp" for number in range(120)]
    for number, name in enumerate(names):
        (tmp_path / name).write_text(
            f"[[nodiscard]] int f{number}(int a[2]);\n"
            f"int g{number}() {{ extern int h{number}; return f{number}(0); }}\n"
            "#ifdef WITH_CUDA\nstruct S { void run(); };\n"
            f"TORCH_LIBRARY(ns{number}, m) {{ m.def(g{number}); }}\n#endif\n"
        )
    files, find = BuildFiles(tmp_path), local_headers(names)
    known: KnownUnits = {}
    here = list(read_symbols(files, names, find))
    assert list(read_symbols(files, names, find, known, jobs=2)) == here
    assert set(known) == set(names)  # so that they are kept
    assert {f"g{number}" for number in range(120)} == {name for each in here for name in each.defines}


def test_a_large_parent_is_no_burden(tmp_path: Path) -> None:
    """The limit of a worker is beyond what its parent has: no worker of a program of many gigabytes would start."""
    names = [f"ops{number}.cpp" for number in range(120)]
    for name in names:
        (tmp_path / name).write_text("int f() { return 0; }\n")
    with mmap.mmap(-1, 6 * 1024**3):  # address space, of which no page is ever touched
        found = list(read_symbols(BuildFiles(tmp_path), names, local_headers(names), jobs=2))
    assert not [each.path for each in found if each.opaque]


def dies_at_one(path: str, data: bytes | None) -> object:
    if path == "ops7.cpp":
        os.abort()
    return _READ_TEXT(path, data)


def test_a_source_that_ends_its_reader_costs_itself_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"ops{number}.cpp" for number in range(120)]
    for name in names:
        (tmp_path / name).write_text("int f() { return 0; }\n")
    monkeypatch.setattr("op_lint.build.symbols._read_text", dies_at_one)
    found = list(read_symbols(BuildFiles(tmp_path), names, local_headers(names), jobs=2))
    assert [each.path for each in found if each.opaque] == ["ops7.cpp"]
