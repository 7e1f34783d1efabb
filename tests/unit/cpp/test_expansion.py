"""How many tokens macros expand to, before anything expands them."""

from __future__ import annotations

import pytest

from op_lint.cpp.expansion import explosive_macro, macros_of
from op_lint.cpp.scanned import ScannedFile
from tests.unit.cpp_reading import HEAD, read, registered

_DOUBLING = "".join(f"#define B{number} B{number - 1} B{number - 1}\n" for number in range(1, 41))
_WITH_ARGUMENT = "#define D(x) x x\n"
_REST = "#define R(...) __VA_ARGS__ __VA_ARGS__\n"


def _explosive(text: str) -> str | None:
    file = ScannedFile(text.encode())
    return explosive_macro(file.macros, [file.blanked])


def _nested(name: str, depth: int) -> str:
    return f"{name}(" * depth + "a" + ")" * depth


def test_macros() -> None:
    source = b"#define A\n#define B 1\n#define C(x, y) x + y\n#define D(x, ...) f(x, __VA_ARGS__, x)\n#undef A\n"
    found = macros_of(ScannedFile(source).directives)
    assert {name: (macro.parameters, macro.repeats) for name, macro in found.items()} == {
        b"A": (None, False),
        b"B": (None, False),
        b"C": ((b"x", b"y"), False),
        b"D": ((b"x", b"__VA_ARGS__"), True),
    }


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (_DOUBLING + "int x = B40;", "B40"),
        (_WITH_ARGUMENT + f"int x = {_nested('D', 30)};", "D"),
        (_REST + f"int x = {_nested('R', 30)};", "R"),
        (_WITH_ARGUMENT + _DOUBLING + "int x = D(B40);", "D"),
        ("#define D(x) x x\n#define Q(x) D(D(D(D(x))))\n" + f"int x = {_nested('Q', 8)};", "Q"),
    ],
)
def test_bombs(text: str, name: str) -> None:
    assert _explosive(text) == name


@pytest.mark.parametrize(
    "text",
    [
        _DOUBLING,
        _DOUBLING + "// B40\n/* B40 */\n",
        _DOUBLING + 'const char* text = "B40";',
        _DOUBLING + "#define LAST B40\n",
        _DOUBLING + "int x = B5; int B40_not;",
        _WITH_ARGUMENT + f"int x = {_nested('D', 10)};",
        "#define X X X\nint x = X;",
        "#define X Y Y\n#define Y X X\nint x = X;",
        "#define LIST(f) f(a) f(b) f(c)\n#define ONE(x) int x;\nLIST(ONE)\n" * 50,
    ],
)
def test_no_bombs(text: str) -> None:
    assert _explosive(text) is None


@pytest.mark.parametrize("mention", ["// B40\n", "/* B40 */\n", 'const char* text = "B40";\n'])
def test_a_source_that_only_speaks_of_one_is_read(mention: str) -> None:
    facts = read(f'{HEAD}{_DOUBLING}{mention}TORCH_LIBRARY(demo, m) {{ m.def("a() -> ()"); }}\n')
    assert facts.problems == ()
    assert registered(facts) == ["def demo::a"]
