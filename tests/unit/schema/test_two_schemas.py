"""Whether two schemas are one."""

from __future__ import annotations

import pytest

from op_lint.schema import Aspect, differences, same_schema
from tests.unit.schema.kernels import schema_of


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("f(Tensor x) -> Tensor", "f( Tensor  x)->Tensor"),
        ("f(Tensor x) -> Tensor", "f(Tensor x) -> (Tensor)"),
        ("f(Tensor x) -> Tensor", "f(Tensor x) -> Tensor y"),
        ("f(Tensor(a!) x) -> Tensor(a!)", "f(Tensor(b!) x) -> Tensor(b!)"),
        ("f(Tensor(a!) x, Tensor(b!) y) -> ()", "f(Tensor(b!) x, Tensor(a!) y) -> ()"),
        ("f(Tensor(a!) x) -> ()", "f(Tensor! x) -> ()"),
        ("f(Tensor(a|b) x) -> ()", "f(Tensor(b|a) x) -> ()"),
        ("f(float e=1.) -> ()", "f(float e=1.0) -> ()"),
        ("f(int[2] n=1) -> ()", "f(int[2] n=[1, 1]) -> ()"),
        ("f(int n=Mean) -> ()", "f(int n=1) -> ()"),
        ("f(Tensor?? x) -> ()", "f(Tensor? x) -> ()"),
    ],
)
def test_the_same(first: str, second: str) -> None:
    assert same_schema(schema_of(first), schema_of(second))


@pytest.mark.parametrize(
    ("first", "second", "aspect"),
    [
        ("f(Tensor x) -> ()", "g(Tensor x) -> ()", Aspect.NAME),
        ("f(Tensor x) -> ()", "f.out(Tensor x) -> ()", Aspect.NAME),
        ("f(Tensor x) -> ()", "f(Tensor x, int n) -> ()", Aspect.ARGUMENT_COUNT),
        ("f(Tensor x) -> ()", "f(Tensor x) -> Tensor", Aspect.RETURN_COUNT),
        ("f(Tensor x) -> ()", "f(Tensor y) -> ()", Aspect.ARGUMENT_NAME),
        ("f(SymInt n) -> ()", "f(int n) -> ()", Aspect.TYPE),
        ("f(int[2] n) -> ()", "f(int[3] n) -> ()", Aspect.SIZE),
        ("f(int n=1) -> ()", "f(int n=2) -> ()", Aspect.DEFAULT),
        ("f(int n=1) -> ()", "f(int n) -> ()", Aspect.DEFAULT),
        ("f(int n) -> ()", "f(*, int n) -> ()", Aspect.KEYWORD_ONLY),
        ("f(Tensor(a!) x) -> ()", "f(Tensor(a) x) -> ()", Aspect.ALIAS),
        ("f(Tensor(a) x, Tensor(a) y) -> ()", "f(Tensor(a) x, Tensor(b) y) -> ()", Aspect.ALIAS),
        ("f(Tensor(a) x) -> Tensor(a)", "f(Tensor(a) x) -> Tensor(b)", Aspect.ALIAS),
        ("f(Tensor x) -> ()", "f(Tensor x, ...) -> ()", Aspect.VARIADIC),
    ],
)
def test_one_difference(first: str, second: str, aspect: Aspect) -> None:
    (difference,) = differences(schema_of(first), schema_of(second))
    assert difference.aspect is aspect
    assert not same_schema(schema_of(second), schema_of(first))


def test_where_they_differ() -> None:
    first, second = "f(Tensor x, int n=1) -> Tensor", "f(Tensor x, int n=2) -> Tensor"
    (difference,) = differences(schema_of(first), schema_of(second))
    assert (difference.first, difference.second, difference.index) == ("int n=1", "int n=2", 1)
    assert first[difference.first_span.start : difference.first_span.end] == "int n=1"
    assert second[difference.second_span.start : difference.second_span.end] == "int n=2"
