"""Which bodies of functions libclang is not given."""

from __future__ import annotations

from pathlib import Path

import pytest

from op_lint.cpp import CppReader, clang
from op_lint.cpp.cut import Cut
from op_lint.cpp.expansion import macros_of
from op_lint.cpp.index import mention
from op_lint.cpp.scanned import ScannedFile

BLOCK = "TORCH_LIBRARY(demo, m) { m.def(SCHEMA); helper(m); }\n"


def bodies(text: str) -> list[str]:
    """What the holes for bodies hold."""
    data = text.encode()
    file = ScannedFile(data)
    cut = Cut(data, file.blanked, file.directives, mention(frozenset({b"REGISTERS"})), macros_of(file.directives))
    return [data[start:end].decode() for start, end in cut.bodies]


@pytest.mark.parametrize(
    "head",
    [
        "at::Tensor f(const at::Tensor& x)",
        "static std::tuple<at::Tensor, at::Tensor> f(at::Tensor x, int n = g(2))",
        "inline void A::f() const noexcept",
        'extern "C" int f(int n)',
    ],
)
def test_a_body_that_says_nothing(head: str) -> None:
    text = f"namespace demo {{\n{head} {{ if (x) {{ return g(); }} }}\n{BLOCK}}}\n"
    assert bodies(text) == [" if (x) { return g(); } "]


@pytest.mark.parametrize(
    "text",
    [
        "auto f(int n) { return n; }",
        "decltype(auto) f(int n) { return n; }",
        "constexpr int f(int n) { return n; }",
        "template <class T> T f(T n) { return n; }",
        "struct A { int f(int n) { return n; } };",
        "A::A(int n) : n_(n) { g(); }",
        "void f(torch::Library& m) { g(); }",
        "void f() { m.def(SCHEMA); }",
        "void f() { static torch::RegisterOperators r; }",
        "void f() { REGISTERS(x); }",
        "int helper(int n) { return n; }",
        "int f(int n) {\n#ifdef A\n  return 1;\n#endif\n}",
        "int f(int n) { return g(; }",
        "int f(int n) { return 'a; }",
        "#define FUNCTION auto f(int n)\nFUNCTION { return n; }",
        "#define RESULT auto\nRESULT f(int n) { return n; }",
        "#define OPEN {\nint f(int n) { OPEN } }",
        "int f(int n) { return n;",
        "const int table[] = { 1 };",
        "#define BLOCK TORCH_LIBRARY\n#define DEF m.def\nBLOCK(demo, m) { DEF(SCHEMA); }",
        "#define DEF m.def\n#define SAY DEF\nvoid f(Registry& m) { SAY(SCHEMA); }",
        "_TORCH_LIBRARY_IMPL(demo, CPU, m, 1) { g(m); }",
    ],
)
def test_a_body_that_may_say_something(text: str) -> None:
    assert bodies(f"{text}\n{BLOCK}") == []


def test_a_wrong_body_does_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[bytes] = []
    parse = clang.parse

    def listening(path: str, files: dict[str, bytes], arguments: list[str]) -> clang.TranslationUnit:
        if path == "a.cpp":  # and not the overlay, to be precompiled
            given.append(files[path])
        return parse(path, files, arguments)

    monkeypatch.setattr(clang, "parse", listening)
    source = (
        "#include <torch/library.h>\n"
        "at::Tensor f(const at::Tensor& x) {{ {} }}\n"
        'TORCH_LIBRARY(demo, m) {{ m.def("f(Tensor x) -> Tensor", f); }}\n'
    )
    wrong = source.format("return no_such(x) + [ + ];")
    right = source.format("return x;".ljust(len("return no_such(x) + [ + ];")))
    facts = [CppReader(tmp_path, ("a.cpp",), buffers={"a.cpp": text.encode()}).read("a.cpp") for text in (wrong, right)]
    assert facts[0] == facts[1]
    assert given[0] == given[1]
    assert b"no_such" not in given[0]
    (definition,) = facts[0].definitions
    assert definition.kernel is not None
    assert definition.kernel.defined is not None
    assert wrong[definition.kernel.defined.start : definition.kernel.defined.end].endswith("}")
