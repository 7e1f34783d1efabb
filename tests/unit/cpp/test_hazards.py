"""What libclang must not be given, and that ordinary code, however long, is not taken for it."""

from __future__ import annotations

import pytest

from op_lint.cpp.hazards import why_not_text
from op_lint.cpp.scanned import ScannedFile

_LARGEST = 10_000


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"\xff\xfei\0n\0t\0", "not-text"),
        (b"\x7fELF\0\0\0", "not-text"),
        (b"{% if cuda %}\nint x;\n{% endif %}\n", "template-text"),
        (b"int f_{{ name }}_cpu();\n", "template-text"),
        (b"{{ args | join(', ') }}\n", "template-text"),
        (b" " * (_LARGEST + 1), "too-large"),
    ],
)
def test_not_text(data: bytes, code: str) -> None:
    problem = why_not_text(data, _LARGEST)
    assert problem is not None
    assert problem[0] == code


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"int x;\n",
        "int \u00e9;\n".encode("latin-1"),
        b"std::vector<std::vector<int>> v = {{1, 2}, {3}};\n",
        b"auto x = {{a}};\n",
        b'const char* text = "{% if cuda %}{{ name }}_cpu{% endif %}";\n',
        b"// {% if cuda %}\n",
        b"int x = a {%b%};\n".replace(b"{%b%}", b"% b"),
    ],
)
def test_text(data: bytes) -> None:
    assert why_not_text(data, _LARGEST) is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("int x = " + "!" * 1500 + "a;", "operators in a row"),
        ("int x = " + "sizeof " * 1500 + "a;", "operators in a row"),
        ("int x = " + "- " * 1500 + "a;", "operators in a row"),
        ("int x = " + "(int)" * 4000 + "a;", "more than 3500 tokens"),
        ("int x = " + " + ".join("a" * 4000) + ";", "more than 3500 tokens"),
        ("#define X " + " + ".join("a" * 4000), "more than 3500 tokens"),
        ("void f() { " + "if (a) " * 4000 + "; }", "statements are inside each other"),
        ("void f() { " + "if (a) b(); else " * 4000 + "; }", "statements are inside each other"),
        ("auto x = a" + ".b()" * 6000 + ";", "methods in a row"),
        ("void f() { " + ", ".join(["a"] * 11_000) + "; }", "commas"),
        ("int x\\\n" + "\\\n" * 1500 + ";", "a line goes on"),
    ],
)
def test_too_deep(text: str, problem: str) -> None:
    assert problem in (ScannedFile(text.encode()).problem or "")


@pytest.mark.parametrize(
    "text",
    [
        "int x[] = {" + ", ".join(["1"] * 9000) + "};",
        "\n".join(f"int x{n} = -1;" for n in range(5000)),
        "void f() {\n" + "  if (a) { b(); }\n" * 5000 + "}",
        "TORCH_LIBRARY(demo, m) { m" + '.def("a() -> ()")' * 3000 + "; }",
        "// " + "!" * 5000,
        '"' + "!" * 5000 + '"',
        "/" * 100_000,
    ],
)
def test_long_is_not_deep(text: str) -> None:
    assert ScannedFile(text.encode()).problem is None
