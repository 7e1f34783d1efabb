"""What is said about a string that is no schema, where, and what is offered instead."""

from __future__ import annotations

import pytest

from op_lint.schema import ErrorKind, Schema, SchemaError, apply, parse_schema


def error_of(text: str) -> SchemaError:
    error = parse_schema(text)
    assert isinstance(error, SchemaError)
    return error


@pytest.mark.parametrize(
    ("text", "kind", "place", "message"),
    [
        ("f(Tensor x) Tensor", ErrorKind.SYNTAX, "Tensor", "expected `->` and the returns, found `Tensor`"),
        ("f(Tensor x", ErrorKind.SYNTAX, "", "expected `,` or `)`, found the end of the schema"),
        ("f() -> Tensor\ng", ErrorKind.TOKEN, "\n", "expected the end of the schema, found a line end"),
        ("f(Tensor) -> ()", ErrorKind.SYNTAX, ")", "expected a name for this argument of type `Tensor`, found `)`"),
        ("f(int if) -> ()", ErrorKind.SYNTAX, "if", "found the reserved word `if`"),
        ("f() -> Tensor;", ErrorKind.TOKEN, ";", "`;` cannot stand in a schema: expected the end of the schema"),
        ("f(str s='a) -> ()", ErrorKind.TOKEN, "'", "the string that begins here does not end: a ' is missing"),
        ("f(Foo x) -> ()", ErrorKind.UNKNOWN_TYPE, "Foo", "unknown type `Foo`"),
        ("f(Dict(float?, int) d) -> ()", ErrorKind.TYPE, "float?", "`float?` cannot be the key of a `Dict`"),
        ("f(None? n) -> ()", ErrorKind.TYPE, "None?", "torch has no type for an optional None"),
        ("f(int n=x) -> ()", ErrorKind.DEFAULT, "x", ""),
        ("f(int n=99999999999999999999) -> ()", ErrorKind.DEFAULT, "9" * 20, "expected an integer of 64 bits"),
        ("f(int[] n=None) -> ()", ErrorKind.DEFAULT, "None", "`None` is no value of type `int[]`"),
        ("f(Device d=None) -> ()", ErrorKind.DEFAULT, "None", "may be `None` write `Device?`"),
        ("f(int n=0, int m) -> ()", ErrorKind.ORDER, "int m", "`m` has no default but follows `n`, which has one"),
        ("f(..., int n) -> ()", ErrorKind.ORDER, "int", "`...` must be the last argument"),
        ("f(int n=1, ...) -> ()", ErrorKind.ORDER, "1", "`n` has a default"),
        ("f.default() -> ()", ErrorKind.NAME, "default", "`default` cannot be an overload's name"),
        ("f.__x() -> ()", ErrorKind.NAME, "__x", "`__x` cannot be an overload's name"),
        ("", ErrorKind.SYNTAX, "", "expected the operator's name, found the end of the schema"),
    ],
)
def test_errors(text: str, kind: ErrorKind, place: str, message: str) -> None:
    error = error_of(text)
    assert error.kind is kind
    assert text[error.span.start : error.span.end] == place
    assert message in error.message


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("f(int64_t n) -> ()", "f(int n) -> ()"),
        ("f(Tensor[] x=None) -> ()", "f(Tensor[]? x=None) -> ()"),
        ("f(int[2] x=None) -> ()", "f(int[2]? x=None) -> ()"),
        ("f(Dict(str, int) x=None) -> ()", "f(Dict(str, int)? x=None) -> ()"),
        ("f(long n) -> ()", "f(int n) -> ()"),
        ("f(double d) -> ()", "f(float d) -> ()"),
        ("f(std::string s) -> ()", "f(str s) -> ()"),
        ("f(string s) -> ()", "f(str s) -> ()"),
        ("f(Tensor& x) -> ()", "f(Tensor! x) -> ()"),
        ("f(const Tensor& x) -> ()", "f(Tensor x) -> ()"),
        ("f(const at::Tensor& x) -> ()", "f(Tensor x) -> ()"),
        ("f(torch::Tensor x) -> ()", "f(Tensor x) -> ()"),
        ("f(tensor x) -> ()", "f(Tensor x) -> ()"),
        ("f(Tensro x) -> ()", "f(Tensor x) -> ()"),
        ("f(std::optional<int64_t> n) -> ()", "f(int? n) -> ()"),
        ("f(std::vector<at::Tensor> x) -> ()", "f(Tensor[] x) -> ()"),
        ("f(const std::vector<double>& x) -> ()", "f(float[] x) -> ()"),
        ("f(at::IntArrayRef n) -> ()", "f(int[] n) -> ()"),
        ("f(Optional[Tensor] x) -> ()", "f(Tensor? x) -> ()"),
        ("f(List[int] x) -> ()", "f(int[] x) -> ()"),
        ("f(torch.Tensor x) -> ()", "f(Tensor x) -> ()"),
        ("f(torch.dtype t) -> ()", "f(ScalarType t) -> ()"),
        ("f(c10::SymInt n) -> ()", "f(SymInt n) -> ()"),
        ("f(Tensor x) -> void", "f(Tensor x) -> ()"),
        ("f(Tensor x) -> std::tuple<at::Tensor, int64_t>", "f(Tensor x) -> (Tensor, int)"),
        ("f(bool b=true) -> ()", "f(bool b=True) -> ()"),
        ("f(Tensor? x=nullptr) -> ()", "f(Tensor? x=None) -> ()"),
        ("f(Tensor? x=c10::nullopt) -> ()", "f(Tensor? x=None) -> ()"),
        ("f(float e=1e-5f) -> ()", "f(float e=1e-5) -> ()"),
        ("f(Tensor x,) -> ()", "f(Tensor x) -> ()"),
    ],
)
def test_what_was_meant(wrong: str, right: str) -> None:
    error = error_of(wrong)
    assert error.suggestion is not None
    assert apply(wrong, (error.suggestion,)) == right
    assert isinstance(parse_schema(right), Schema)


def test_errors_one_after_the_other() -> None:
    text = "f(const at::Tensor& x, std::optional<int64_t> n, double d=1.0f, bool b=true) -> void"
    made = 0
    while isinstance(error := parse_schema(text), SchemaError):
        assert error.suggestion is not None
        text = apply(text, (error.suggestion,))
        made += 1
    assert text == "f(Tensor x, int? n, float d=1.0, bool b=True) -> ()"
    assert made == 6


def test_places_are_characters() -> None:
    text = "f(str s='äöü€', Foo x) -> ()"
    error = error_of(text)
    assert text[error.span.start : error.span.end] == "Foo"
