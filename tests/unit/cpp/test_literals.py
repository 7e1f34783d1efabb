"""Strings that the source fixes, and the way back from a character to the byte that it was written with."""

from __future__ import annotations

import pytest

from op_lint.facts import Text
from tests.unit.cpp_reading import HEAD, read

_SCHEMA = "op(Tensor x) -> Tensor"


def _source(expression: str, before: str = "") -> str:
    return f"{HEAD}{before}\nTORCH_LIBRARY(demo, m) {{ m.def({expression}); }}\n"


def _text(expression: str, before: str = "") -> Text:
    (row,) = read(_source(expression, before)).definitions
    return row.text


@pytest.mark.parametrize(
    ("expression", "before"),
    [
        (f'"{_SCHEMA}"', ""),
        ('"op(Tensor x)" " -> " "Tensor"', ""),
        ('"op(Tensor x)"\n  // a comment between\n  " -> Tensor"', ""),
        (f'R"({_SCHEMA})"', ""),
        (f'R"x({_SCHEMA})x"', ""),
        (f'("{_SCHEMA}")', ""),
        (f'std::string("{_SCHEMA}")', ""),
        ('std::string("op(Tensor x)") + " -> Tensor"', ""),
        (f'torch::schema("{_SCHEMA}")', ""),
        (f'TORCH_SELECTIVE_SCHEMA("{_SCHEMA}")', ""),
        ("kSchema", f'constexpr auto kSchema = "{_SCHEMA}";'),
        ("kSchema", f'static const char kSchema[] = "{_SCHEMA}";'),
        ("kSchema.c_str()", f'const std::string kSchema = "{_SCHEMA}";'),
        ('NAME "(Tensor x) -> Tensor"', '#define NAME "op"'),
        ('STRING(op) "(Tensor x) -> Tensor"', "#define STRING(x) #x"),
        (r'"\x6fp(Tensor\40x) -> Tensor"', ""),
    ],
)
def test_values(expression: str, before: str) -> None:
    assert _text(expression, before).value == _SCHEMA


@pytest.mark.parametrize(
    ("expression", "before"),
    [
        ("kSchema", f'const char* kSchema = "{_SCHEMA}";'),
        ("make()", "std::string make();"),
        ('std::string("op") + make()', "std::string make();"),
        (f'b ? "{_SCHEMA}" : "other() -> ()"', "extern bool b;"),
    ],
)
def test_what_may_be_another_string_is_not_known(expression: str, before: str) -> None:
    facts = read(_source(expression, before))
    assert facts.definitions == ()
    assert [row.reason for row in facts.unresolved] == ["the schema is not a constant"]


@pytest.mark.parametrize(
    "expression",
    [
        f'"{_SCHEMA}"',
        '"op(Ten" "sor x) -> Tensor"',
        '"op(\\\n" "Tensor x) -> Tensor"',
        r'"\x6fp(" "Tensor x) -> Tensor"',
        f'R"({_SCHEMA})"',
        'std::string("op(") + "Tensor x) -> Tensor"',
    ],
)
@pytest.mark.parametrize("word", ["p", "x)", "-> Tensor"])
def test_a_character_is_where_it_was_written(expression: str, word: str) -> None:
    source = _source(expression)
    (row,) = read(source).definitions
    start = row.text.value.index(word)
    place = row.text.place_of(start, start + len(word))
    assert source[place.start : place.end] == word


def test_offsets_are_bytes() -> None:
    source = _source("/* \u00e9\u00e9 */ \"op(Tensor x, str s='\u00fc') -> Tensor\"")
    (row,) = read(source).definitions
    assert "\u00fc" in row.text.value
    start = row.text.value.index("-> Tensor")
    place = row.text.place_of(start, start + len("-> Tensor"))
    assert source.encode()[place.start : place.end] == b"-> Tensor"
