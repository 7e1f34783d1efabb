"""Every character of a string literal is traced to the bytes that it is written with."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from op_lint.facts import Text
from op_lint.python import read_python
from op_lint.python.literals import constant_parts
from tests.unit.python_facts import at


@pytest.mark.parametrize(
    "source",
    [
        '"plain"',
        "'single'",
        'r"raw \\n \\" text"',
        'R"""x\\y\\\\"""',
        '"""triple "quoted" text"""',
        "'''it's'''",
        '"escaped \\n \\t \\\\ \\" \\x41 \\101 \\0 \\u00e9 \\U0001F600 \\N{BULLET} \\q"',
        '"line \\\ncontinued"',
        '"one" "two"',
        "('one'  # comment with 'quotes'\n   'two')",
        '"one" \\\n "two"',
        'u"unicode" "größe 名前 😀"',
        '""',
        '"" "x" ""',
        '"""a\r\nb\rc"""',
    ],
)
@pytest.mark.filterwarnings("ignore:invalid escape sequence")
def test_values_are_those_of_python(source: str) -> None:
    value = ast.literal_eval(source)
    parts = constant_parts(source)
    assert "".join(token.value for part in parts for token in part) == value
    for part in parts:
        for token in part:
            assert len(token.starts) == len(token.value)
            assert token.starts == sorted(token.starts)
            assert all(token.start <= start < token.end for start in token.starts)


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        ('f"a{x}b"', ["a", "b"]),
        ('f"{x}"', []),
        ('f"{{a}}{x}"', ["{a}"]),
        ('"a" f"b{x!r:>{w}}c" "d"', ["ab", "cd"]),
        ('f\'{d["k"]}{f(")")}end\'', ["end"]),
        ('rf"\\d{x}"', ["\\d"]),
        ('f"""a\n{x\n}b"""', ["a\n", "b"]),
    ],
)
def test_parts_of_f_strings(source: str, parts: list[str]) -> None:
    assert ["".join(token.value for token in part) for part in constant_parts(source)] == parts
    node = ast.parse(source, mode="eval").body
    assert isinstance(node, ast.JoinedStr)
    assert [value.value for value in node.values if isinstance(value, ast.Constant)] == parts


LETTERS = st.text(
    st.characters(codec="utf-8", exclude_characters="\\\"'{}\r\n\0()", exclude_categories=["Cs", "Cc"]), max_size=8
)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.tuples(LETTERS, st.sampled_from(["'{}'", '"{}"', "'''{}'''", '"""{}"""', "r'{}'", "f'{}'"])),
        min_size=1,
        max_size=4,
    )
)
def test_schemas_made_of_any_literals_are_traced(pieces: list[tuple[str, str]]) -> None:
    schema = " ".join(quotes.format(text) for text, quotes in pieces)
    text = f'import torch\nlib = torch.library.Library("ns", "DEF")\nlib.define("f(Tensor x) -> Tensor" {schema})\n'
    data = text.encode()
    (definition,) = read_python("ops.py", data).definitions
    assert definition.schema is not None
    assert definition.schema.value == "f(Tensor x) -> Tensor" + "".join(text for text, _ in pieces)
    assert traced(definition.schema, data) == definition.schema.value


def traced(text: Text, data: bytes) -> str:
    """The characters of a text, each fetched from where it is said to be written."""
    characters = list(text.value)
    for piece in text.pieces:
        for offset in range(piece.length):
            steps = piece.steps or tuple(range(piece.length))
            start = piece.place.start + steps[offset]
            end = piece.place.start + steps[offset + 1] if offset + 1 < piece.length else piece.place.end
            characters[piece.start + offset] = data[start:end].decode()
    return "".join(characters)


def test_the_places_of_pieces_are_between_the_quotes() -> None:
    text = (
        'import torch\nlib = torch.library.Library("ns", "DEF")\nlib.define("f(Te\\x6esor x)" \' -> \'\n   "Tensor")\n'
    )
    data = text.encode()
    (definition,) = read_python("ops.py", data).definitions
    schema = definition.schema
    assert schema is not None
    assert [at(data, piece.place) for piece in schema.pieces] == ["f(Te\\x6esor x)", " -> ", "Tensor"]
    assert [piece.place.line for piece in schema.pieces] == [3, 3, 4]
    assert at(data, schema.place_of(2, 8)) == "Te\\x6esor"
    start = schema.value.index("-> Tensor") + 3
    assert at(data, schema.place_of(start, start + 6)) == "Tensor"


def test_a_name_cut_out_of_a_string_keeps_its_place() -> None:
    text = (
        "import torch\nlib = torch.library.Library('ns', 'DEF')\nSCHEMA = ' f.out(Tensor x) -> Tensor '\n"
        "lib.define(SCHEMA.strip())\nlib.impl(SCHEMA.strip().split('(')[0], lambda x: x, 'CPU')\n"
        "lib.impl(SCHEMA[1:6], lambda x: x, 'CUDA')\n"
    )
    data = text.encode()
    facts = read_python("ops.py", data)
    places = [facts.definitions[0].name_place, *(fact.name_place for fact in facts.implementations)]
    assert [at(data, place) for place in places] == ["f.out"] * 3
    assert {place.line for place in places} == {3}
