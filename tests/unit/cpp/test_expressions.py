"""The conditions of `#if`."""

from __future__ import annotations

import pytest

from op_lint.condition import ALWAYS, NEVER, Atom, Condition
from op_lint.cpp.expressions import constant, parse_condition


class _Macros:
    """`ONE` is 1, `ZERO` 0, `EMPTY` defined without a value; nothing is known of others."""

    def defined(self, name: str) -> Condition:
        return ALWAYS if name in ("ONE", "ZERO", "EMPTY") else Atom(name)

    def value(self, name: str) -> int | None:
        return {"ONE": 1, "ZERO": 0}.get(name)

    def truth(self, name: str) -> Condition:
        return {"ONE": ALWAYS, "ZERO": NEVER}.get(name, Atom(name))


@pytest.mark.parametrize(
    ("expression", "condition"),
    [
        ("ONE", ALWAYS),
        ("ZERO || !ONE", NEVER),
        ("defined(EMPTY) && defined ONE", ALWAYS),
        ("1 + 2 * 3 == 7", ALWAYS),
        ("(1 ? 0 : 1)", NEVER),
        ("0x10 == 16 && 010 == 8 && 1'000u == 1000", ALWAYS),
        ("ZERO && UNKNOWN", NEVER),
        ("ONE || UNKNOWN > 3", ALWAYS),
        ("defined(USE_ROCM)", Atom("USE_ROCM")),
    ],
)
def test_what_is_known_is_computed(expression: str, condition: Condition) -> None:
    assert parse_condition(expression.encode(), _Macros()) == condition


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("VERSION >= 12000", "12000 <= VERSION"),
        ("VERSION >= 12000", "!(VERSION < 12000)"),
        ("VERSION != 3", "!(VERSION == 3)"),
    ],
)
def test_two_ways_to_say_one_condition(first: str, second: str) -> None:
    assert parse_condition(first.encode(), _Macros()) == parse_condition(second.encode(), _Macros())


@pytest.mark.parametrize("expression", ["", "A +", "((((", "@", "'a' == 'b' :", "9" * 5000, "!" * 100_000 + "A"])
def test_what_cannot_be_read_is_one_atom(expression: str) -> None:
    assert isinstance(parse_condition(expression.encode(), _Macros()), Atom)


@pytest.mark.parametrize(
    ("body", "value"), [("1", 1), ("(2)", 2), ("0x10", 16), ("", None), ("1 + 1", None), ("x", None)]
)
def test_constants(body: str, value: int | None) -> None:
    assert constant(body.encode()) == value
