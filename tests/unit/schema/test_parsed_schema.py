"""What a schema string becomes, and where each part of it stands."""

from __future__ import annotations

import pytest

from op_lint.schema import (
    Alias,
    Argument,
    Default,
    Device,
    Kind,
    Name,
    Schema,
    SchemaError,
    Span,
    Type,
    parse_declaration,
    parse_name,
    parse_schema,
)

TEXT = "demo::mix.out(Tensor x, int[2] n=1, *, float? eps=None, Tensor(a!)[] out) -> (Tensor(a!)[] y, SymInt)"


def parsed(text: str) -> Schema:
    schema = parse_schema(text)
    assert isinstance(schema, Schema)
    return schema


def at(span: Span, text: str = TEXT) -> str:
    return text[span.start : span.end]


def only_argument(type_text: str) -> Argument:
    (argument,) = parsed(f"f({type_text} x) -> ()").arguments
    return argument


def default(argument_text: str) -> object:
    (argument,) = parsed(f"f({argument_text}) -> ()").arguments
    assert argument.default is not None
    return argument.default.value


def test_name() -> None:
    name = parsed(TEXT).name
    assert (name.namespace, name.name, name.overload) == ("demo", "mix", "out")
    assert [at(span) for span in (name.span, name.namespace_span, name.name_span, name.overload_span)] == [
        "demo::mix.out",
        "demo",
        "mix",
        "out",
    ]


def test_arguments() -> None:
    schema = parsed(TEXT)
    assert [argument.name for argument in schema.arguments] == ["x", "n", "eps", "out"]
    assert [argument.keyword_only for argument in schema.arguments] == [False, False, True, True]
    assert [argument.size for argument in schema.arguments] == [None, 2, None, None]
    assert [argument.default for argument in schema.arguments] == [None, Default((1, 1)), Default(None), None]
    assert [argument.name for argument in schema.returns] == ["y", ""]


def test_places_of_arguments() -> None:
    schema = parsed(TEXT)
    assert [at(argument.span) for argument in schema.arguments] == [
        "Tensor x",
        "int[2] n=1",
        "float? eps=None",
        "Tensor(a!)[] out",
    ]
    assert [at(argument.name_span) for argument in schema.arguments] == ["x", "n", "eps", "out"]
    assert [at(argument.type.span) for argument in schema.arguments] == ["Tensor", "int[2]", "float?", "Tensor(a!)[]"]
    assert [at(argument.default.span) for argument in schema.arguments if argument.default] == ["1", "None"]
    assert [at(argument.span) for argument in schema.returns] == ["Tensor(a!)[] y", "SymInt"]
    assert at(schema.returns_span) == "(Tensor(a!)[] y, SymInt)"


def test_places_do_not_count_for_equality() -> None:
    assert parsed("f(Tensor x, int n) -> Tensor") == parsed("f( Tensor   x ,int n)->Tensor")
    assert hash(parsed("f(Tensor x) -> Tensor")) == hash(parsed("f(Tensor  x) -> Tensor"))
    assert parsed("f(Tensor x) -> Tensor") != parsed("f(Tensor y) -> Tensor")


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("Tensor?", Type(Kind.OPTIONAL, (Type(Kind.TENSOR),))),
        ("int[][]", Type(Kind.LIST, (Type(Kind.LIST, (Type(Kind.INT),)),))),
        ("Tensor?[]", Type(Kind.LIST, (Type(Kind.OPTIONAL, (Type(Kind.TENSOR),)),))),
        ("int[3]?", Type(Kind.OPTIONAL, (Type(Kind.LIST, (Type(Kind.INT),)),))),
        ("Dict(str, Tensor[])", Type(Kind.DICT, (Type(Kind.STRING), Type(Kind.LIST, (Type(Kind.TENSOR),))))),
        ("(int, Tensor)", Type(Kind.TUPLE, (Type(Kind.INT), Type(Kind.TENSOR)))),
        ("Future(Tensor)", Type(Kind.FUTURE, (Type(Kind.TENSOR),))),
        ("Await(int)", Type(Kind.AWAIT, (Type(Kind.INT),))),
        ("__torch__.torch.classes.demo.Box", Type(Kind.CLASS, (), "__torch__.torch.classes.demo.Box")),
        ("Union(complex, int, float)", Type(Kind.NUMBER)),
        ("Dict(str, SymInt)", Type(Kind.DICT, (Type(Kind.STRING), Type(Kind.INT)))),
    ],
)
def test_types(text: str, type_: Type) -> None:
    assert only_argument(text).type == type_


def test_optional_of_optional_is_one() -> None:
    assert only_argument("Tensor??").type == only_argument("Tensor?").type


@pytest.mark.parametrize(
    ("text", "alias"),
    [
        ("Tensor(a)", Alias(("a",), ("a",), write=False)),
        ("Tensor(a!)", Alias(("a",), ("a",), write=True)),
        ("Tensor(a|b!)", Alias(("a", "b"), ("a", "b"), write=True)),
        ("Tensor(storage! -> *)", Alias(("storage",), ("*",), write=True)),
        ("Tensor!", Alias(("$0",), (), write=True)),
        ("Tensor(a!)[]", Alias((), (), write=True, contained=(Alias(("a",), ("a",), write=True),))),
    ],
)
def test_aliases(text: str, alias: Alias) -> None:
    assert only_argument(text).alias == alias


def test_anonymous_sets_are_numbered() -> None:
    aliases = [argument.alias for argument in parsed("f(Tensor! x, Tensor y, Tensor! z) -> ()").arguments]
    assert [alias.before[0] for alias in aliases if alias is not None] == ["$0", "$1"]
    assert all(alias is None or alias.is_anonymous for alias in aliases)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("int n=-3", -3),
        ("float e=1e-05", 1e-05),
        ("bool b=False", False),
        ("str s='a\\'b'", "a'b"),
        ("int[] n=[1, 2]", (1, 2)),
        ("int[2] n=0", (0, 0)),
        ("Device d='cuda:1'", Device("cuda:1")),
        ("Tensor? x=None", None),
        ("int reduction=Mean", 1),
        ("ScalarType t=float", 6),
        ("MemoryFormat m=contiguous_format", 0),
        ("complex c=2j", 2j),
    ],
)
def test_defaults(text: str, value: object) -> None:
    found = default(text)
    assert found == value
    assert type(found) is type(value)


def test_defaults_of_different_types_differ() -> None:
    assert len({Default(1), Default(1.0), Default(True)}) == 3


def test_variadic() -> None:
    schema = parsed("f(Tensor x, ...) -> ...")
    assert (schema.variadic_arguments, schema.variadic_returns) == (True, True)
    assert schema.returns == ()


def test_name_alone() -> None:
    name = parse_declaration("demo::f.out")
    assert isinstance(name, Name)
    assert (name.namespace, name.name, name.overload) == ("demo", "f", "out")
    assert isinstance(parse_schema("demo::f.out"), SchemaError)


def test_parse_name() -> None:
    name = parse_name("demo::f")
    assert isinstance(name, Name)
    assert str(name) == "demo::f"
    error = parse_name("f(Tensor x) -> Tensor")
    assert isinstance(error, SchemaError)
    assert error.message == "only the operator's name belongs here: write `f`"
    assert error.suggestion is not None
    assert at(error.suggestion.span, "f(Tensor x) -> Tensor") == "(Tensor x) -> Tensor"


def test_type_variables_are_for_torch_s_own() -> None:
    assert isinstance(parse_schema("f(t[] x) -> t"), SchemaError)
    assert isinstance(parse_schema("f(t[] x) -> t", typevars=True), Schema)
    assert isinstance(parse_schema("aten::f(t[] x) -> t"), Schema)


def test_registered_classes() -> None:
    text = "f(__torch__.torch.classes.demo.Box x, my.module.Mode m) -> ()"
    assert isinstance(parse_schema(text), Schema)
    registered = {"__torch__.torch.classes.demo.Box", "my.module.Mode"}
    assert isinstance(parse_schema(text, registered=registered), Schema)
    for one in registered:
        error = parse_schema(text, registered=registered - {one})
        assert isinstance(error, SchemaError)
