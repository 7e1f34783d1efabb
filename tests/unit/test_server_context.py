"""The string around the cursor, in text that need not parse."""

from __future__ import annotations

import pytest

from op_lint.facts import Language, Parameter, Signature
from op_lint.kernels import parsed
from op_lint.schema import infer
from op_lint.schema.cpp_meaning import cpp_argument
from op_lint.schema.cpp_text import read_type
from op_lint.schema.model import Schema
from op_lint.server.completion import TYPES, typed_type
from op_lint.server.context import string_around
from op_lint.text import SourceText


@pytest.mark.parametrize(
    ("written", "before", "content"),
    [
        ('m.def("a(T|ensor x)");', "a(T", "a(Tensor x)"),
        ('m.def("a(T|ensor x);\nm.def("b");', "a(T", "a(Tensor x);"),
        ('m.def("a(Tensor x, "  // why\n  "int| n)");', "a(Tensor x, int", "a(Tensor x, int n)"),
        ('m.def("a(Tensor x, "\n#if X\n  "int| n)"\n#endif\n);', "a(Tensor x, int", "a(Tensor x, int n)"),
        ('m.def(R"x(a(\n  T|ensor x))x");', "a(\n  T", "a(\n  Tensor x)"),
        ("""int a = 1'000; char b = '"'; m.def("c|");""", "c", "c"),
        ('FOOR"x|"', "x", "x"),
        ('// it\'s "not"\nm.def("a|");', "a", "a"),
        ('f("a"); g("b|");', "b", "b"),
        ('f("a", "b|");', "b", "b"),
        ('f("\\"a|");', '\\"a', '\\"a'),
    ],
)
def test_in_cpp(written: str, before: str, content: str) -> None:
    text = SourceText(written.replace("|", "", 1).encode())
    around = string_around(text, written.index("|"), Language.CPP)
    assert around is not None
    assert (around.before.decode(), around.content.decode()) == (before, content)
    assert before.endswith(around.piece.decode())


@pytest.mark.parametrize("written", ['f("a")|', '|f("a")', 'f("a"| , x)', '// "a|"', "x = '\"'; f(|)"])
def test_outside_of_strings(written: str) -> None:
    assert string_around(SourceText(written.replace("|", "").encode()), written.index("|"), Language.CPP) is None


@pytest.mark.parametrize(
    ("written", "before"),
    [
        ("define('a(T|ensor x)')", "a(T"),
        ('define("""a(Tensor x,\n  in|t n)""")', "a(Tensor x,\n  in"),
        ('define("a(Tensor x, "  # it\'s\n  "in|t n)")', "a(Tensor x, in"),
        ("# it's\ndefine('a|')", "a"),
        ("x = 7 // 2; define('a|')", "a"),
    ],
)
def test_in_python(written: str, before: str) -> None:
    around = string_around(SourceText(written.replace("|", "", 1).encode()), written.index("|"), Language.PYTHON)
    assert around is not None
    assert around.before.decode() == before


@pytest.mark.parametrize(
    ("before", "typed"),
    [
        ("a(", ""),
        ("a(Ten", "Ten"),
        ("a(Tensor", "Tensor"),
        ("a(Tensor ", None),
        ("a(Tensor x", None),
        ("a(Tensor x, ", ""),
        ("a(Tensor(a!", "Tensor(a!"),
        ("a(Tensor(a!)[", "Tensor(a!)["),
        ("a(int n=", None),
        ("a(int n=1, *, S", "S"),
        ("a(int[2] n=[1, ", None),
        ("a(Tensor x) -> ", ""),
        ("a(Tensor x) -> (Tensor, T", "T"),
        ("a(Tensor x) -> (Tensor, Tensor)", None),
    ],
)
def test_types_that_are_typed(before: str, typed: str | None) -> None:
    found = typed_type(before.encode())
    assert (found.decode() if found is not None else None) == typed


@pytest.mark.parametrize("name", TYPES)
def test_the_cpp_type_that_is_offered_means_the_schema_type(name: str) -> None:
    schema = parsed(f"f({name} x) -> ()")
    assert isinstance(schema, Schema)
    written = cpp_argument(schema.arguments[0])
    read = read_type(written or "")
    void = read_type("void")
    assert read is not None
    assert void is not None
    inference = infer(Signature(void[0], (Parameter("x", read[0]),)))
    assert [each.type for each in inference.arguments] == [schema.arguments[0].type]
