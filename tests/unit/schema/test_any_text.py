"""No text makes the schema language raise, and what it prints it reads back as the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from op_lint.schema import ErrorKind, Schema, SchemaError, format_schema, parse_name, parse_schema, same_schema
from op_lint.schema.cpp_text import read_type

PIECES = st.sampled_from(
    (
        *("f", "ns", "::", ":", ".", "(", ")", "[", "]", "->", ",", "*", "...", "!", "|", "=", "?", " ", "\n", "\t"),
        *("Tensor", "int", "float", "SymInt", "str", "Dict", "Union", "Future", "None", "a", "x", "__torch__", "-"),
        *("1", "2.5", "1e-3", "'a'", '"', "\\", "True", "[1, 2]", "cuda", "\udce9", "\u0664", "\0", "#", "<", ">", "&"),
    )
)


@given(st.one_of(st.text(), st.lists(PIECES).map("".join)))
def test_parsing_is_total(text: str) -> None:
    for result in (parse_schema(text), parse_name(text)):
        if isinstance(result, SchemaError):
            assert 0 <= result.span.start <= result.span.end <= len(text)
            assert result.message
            assert "\n" not in result.message
        elif isinstance(result, Schema):
            assert format_schema(result).startswith(str(result.name))


@given(st.one_of(st.text(), st.lists(PIECES).map("".join)))
def test_reading_a_cpp_type_is_total(text: str) -> None:
    read = read_type(text)
    assert read is None or 0 < read[1] <= len(text)


def schemas() -> st.SearchStrategy[str]:
    """Schemas without what torch prints in a way that it does not read: `Scalar??`, `Tensor(a)?[]` and `Tensor!`."""
    simple = st.sampled_from(("Tensor", "int", "SymInt", "float", "bool", "str", "Scalar", "Device", "t"))
    types = st.recursive(
        simple,
        lambda inner: st.one_of(
            inner.map("{}[]".format),
            inner.filter(lambda type_: not type_.endswith("?")).map("{}?".format),
            inner.map("Dict(str, {})".format),
            inner.map("Future({})".format),
            st.lists(inner, min_size=1, max_size=3).map(lambda members: f"({', '.join(members)})"),
        ),
        max_leaves=6,
    )
    types = st.one_of(types, st.sampled_from(("Tensor(a!)", "Tensor(b)[]", "Tensor(c -> *)")))
    arguments = st.lists(types, max_size=4).map(lambda all_: ", ".join(f"{t} a{i}" for i, t in enumerate(all_)))
    returns = st.lists(types, max_size=3).map(", ".join)
    return st.tuples(arguments, returns).map(lambda both: f"f({both[0]}) -> ({both[1]})")


@given(schemas())
def test_what_is_printed_is_read_back(text: str) -> None:
    schema = parse_schema(text, typevars=True)
    assert isinstance(schema, Schema)
    printed = format_schema(schema)
    again = parse_schema(printed, typevars=True)
    assert isinstance(again, Schema)
    assert format_schema(again) == printed
    assert same_schema(schema, again)


@pytest.mark.parametrize("nest", ["{}[]", "({},)", "Future({})", "Dict(str, {})", "Union({}, str)", "({})", "{}?"])
def test_depth_has_a_limit(nest: str) -> None:
    before, after = nest.split("{}")
    assert isinstance(parse_schema(f"f({before * 20}int{after * 20} x) -> ()"), Schema | SchemaError)
    deep = parse_schema(f"f({before * 5_000}int{after * 5_000} x) -> ()")
    assert isinstance(deep, SchemaError)
    assert deep.kind in (ErrorKind.DEPTH, ErrorKind.SYNTAX)


def test_deep_defaults() -> None:
    assert isinstance(parse_schema(f"f(int[] x={'[' * 5_000}1{']' * 5_000}) -> ()"), SchemaError)


@pytest.mark.parametrize("nest", ["std::vector<{}>", "List[{}]", "{}*", "std::vector<{}*>", "const {}&"])
def test_deep_cpp(nest: str) -> None:
    before, after = nest.split("{}")
    text = f"{before * 5_000}int{after * 5_000}"
    read_type(text)
    assert isinstance(parse_schema(f"f({text} x) -> ()"), SchemaError)
