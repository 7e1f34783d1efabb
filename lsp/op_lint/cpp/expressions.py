"""The expression of an `#if` as a `Condition`.

What is known (constants, macros that the file itself defines) is computed; what is not becomes an atom, spelled the
same wherever it occurs: `defined(X)` and a bare `X` are both the atom `X`, a comparison is turned so that its negation
has the same atom (`A < 3` is `!(A >= 3)`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Protocol

from op_lint.condition import ALWAYS, NEVER, Atom, Condition, conjunction, disjunction, negation

_TOKEN = re.compile(
    rb"\s*(?:(?P<number>(?:0[xX][0-9a-fA-F]+|0[bB][01]+|\d[\d']*)[uUlLzZ]*)"
    rb"|(?P<word>[A-Za-z_$]\w*)"
    rb"|(?P<char>'(?:[^'\\]|\\.)+')"
    rb"|(?P<text><[^<>\s()=&|]+>|\"[^\"]*\")"
    rb"|(?P<op>\|\||&&|==|!=|<=|>=|<<|>>|[-+*/%<>!~()?:,^&|]))"
)


class Macros(Protocol):
    """What is known of macros where an expression stands."""

    def defined(self, name: str) -> Condition:
        """When `name` is defined."""

    def value(self, name: str) -> int | None:
        """The integer that `name` expands to, where that is certain."""

    def truth(self, name: str) -> Condition:
        """When `name`, as a whole expression, is not zero."""


@dataclass(frozen=True)
class _Opaque:
    """An operand whose value is not known: when it is not zero, and its text where that is not simply this."""

    truth: Condition
    written: str = ""

    @property
    def text(self) -> str:
        return self.written or f"({self.truth})"


_Value = int | _Opaque


def parse_condition(expression: bytes, macros: Macros) -> Condition:
    """The condition of `#if expression`; an expression that cannot be read is one atom, its own text."""
    text = " ".join(expression.decode("utf-8", "replace").split()) or "<empty>"
    if len(text) > _LONGEST:
        return Atom(f"{text[:_SHOWN]}... {sha256(expression).hexdigest()[:8]}")
    try:
        parser = _Parser(expression, macros)
        value = parser.ternary()
        if parser.peek() is not None:
            raise _UnreadableError
    except (_UnreadableError, RecursionError):
        return Atom(text)
    return _truth(value)


class _UnreadableError(Exception):
    pass


def _truth(value: _Value) -> Condition:
    if isinstance(value, int):
        return ALWAYS if value else NEVER
    return value.truth


def _text(value: _Value) -> str:
    return str(value) if isinstance(value, int) else value.text


def _boolean(condition: Condition) -> _Value:
    if condition == ALWAYS:
        return 1
    if condition == NEVER:
        return 0
    return _Opaque(condition)


_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a // b if b else 0,
    "%": lambda a, b: a % b if b else 0,
    "<<": lambda a, b: a << min(b, 64) if b >= 0 else 0,
    ">>": lambda a, b: a >> b if b >= 0 else 0,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
}
_COMPARISON: dict[str, Callable[[int, int], bool]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
_PRECEDENCE = {
    "|": 1, "^": 2, "&": 3, "==": 4, "!=": 4, "<": 5, "<=": 5, ">": 5, ">=": 5, "<<": 6, ">>": 6, "+": 7, "-": 7,
    "*": 8, "/": 8, "%": 8,
}  # fmt: skip
_INVERSE = {"<": ">=", "<=": ">", "!=": "=="}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}

_LONGEST = 2000
_SHOWN = 60
"""Characters of an expression above which it is not taken apart, and of those how many its atom shows."""

_BITS = 0xFFFF_FFFF_FFFF_FFFF
_MOST_DIGITS = 80


class _Parser:
    def __init__(self, expression: bytes, macros: Macros) -> None:
        self.macros = macros
        self.tokens: list[tuple[str, str]] = []
        self.position = 0
        start = 0
        stripped = expression.rstrip()
        while start < len(stripped):
            match = _TOKEN.match(stripped, start)
            if not match or not match.lastgroup:
                raise _UnreadableError
            self.tokens.append((match.lastgroup, match.group(match.lastgroup).decode("utf-8", "replace")))
            start = match.end()

    def peek(self) -> str | None:
        return self.tokens[self.position][1] if self.position < len(self.tokens) else None

    def next(self) -> tuple[str, str]:
        if self.position >= len(self.tokens):
            raise _UnreadableError
        self.position += 1
        return self.tokens[self.position - 1]

    def accept(self, text: str) -> bool:
        if self.peek() == text:
            self.position += 1
            return True
        return False

    def expect(self, text: str) -> None:
        if not self.accept(text):
            raise _UnreadableError

    def ternary(self) -> _Value:
        test = self.either()
        if not self.accept("?"):
            return test
        first = self.ternary()
        self.expect(":")
        second = self.ternary()
        if isinstance(test, int):
            return first if test else second
        chosen = disjunction(
            (conjunction((test.truth, _truth(first))), conjunction((negation(test.truth), _truth(second))))
        )
        return _boolean(chosen)

    def either(self) -> _Value:
        value = self.both()
        while self.accept("||"):
            value = _boolean(disjunction((_truth(value), _truth(self.both()))))
        return value

    def both(self) -> _Value:
        value = self.binary(1)
        while self.accept("&&"):
            value = _boolean(conjunction((_truth(value), _truth(self.binary(1)))))
        return value

    def binary(self, level: int) -> _Value:
        left = self.unary()
        while True:
            operator = self.peek()
            precedence = _PRECEDENCE.get(operator or "", 0)
            if operator is None or precedence < level:
                return left
            self.position += 1
            left = _combine(operator, left, self.binary(precedence + 1))

    def unary(self) -> _Value:
        if self.accept("!"):
            return _boolean(negation(_truth(self.unary())))
        for operator, apply in (("-", int.__neg__), ("+", int.__pos__), ("~", int.__invert__)):
            if self.accept(operator):
                value = self.unary()
                return apply(value) if isinstance(value, int) else _atom(f"{operator}{value.text}")
        return self.primary()

    def primary(self) -> _Value:
        kind, text = self.next()
        if kind == "number":
            return _integer(text)
        if text == "(":
            value = self.ternary()
            self.expect(")")
            return value
        if kind != "word":
            raise _UnreadableError
        if text == "defined":
            parenthesis = self.accept("(")
            _, name = self.next()
            if parenthesis:
                self.expect(")")
            return _boolean(self.macros.defined(name))
        if text in ("true", "false"):
            return int(text == "true")
        if self.peek() == "(":
            return _atom(text + self.call())
        known = self.macros.value(text)
        return known if known is not None else _Opaque(self.macros.truth(text), text)

    def call(self) -> str:
        """The argument list of a function-like macro, as text."""
        depth = 0
        parts: list[str] = []
        while True:
            _, text = self.next()
            parts.append(text)
            depth += (text == "(") - (text == ")")
            if depth == 0:
                return "".join(part + " " if part == "," else part for part in parts)


def _combine(operator: str, left: _Value, right: _Value) -> _Value:
    if isinstance(left, int) and isinstance(right, int):
        if operator in _COMPARISON:
            return int(_COMPARISON[operator](left, right))
        result = _ARITHMETIC[operator](left, right)
        return result if abs(result) <= _BITS else result & _BITS
    if isinstance(left, int) and operator in _COMPARISON:
        left, operator, right = right, _MIRRORED.get(operator, operator), left
    if operator not in _COMPARISON:
        return _atom(f"({_text(left)} {operator} {_text(right)})")
    if operator in _INVERSE:
        return _boolean(negation(Atom(f"{_text(left)} {_INVERSE[operator]} {_text(right)}")))
    return _atom(f"{_text(left)} {operator} {_text(right)}")


def _atom(text: str) -> _Opaque:
    return _Opaque(Atom(text), text)


def constant(text: bytes) -> int | None:
    """The value of a macro's body that is one integer, in parentheses perhaps; None for any other."""
    stripped = text.strip(b" ()\t")
    match = _TOKEN.fullmatch(stripped)
    return _integer(match["number"].decode()) if match and match["number"] and len(stripped) <= _MOST_DIGITS else None


def _integer(text: str) -> int:
    digits = text.rstrip("uUlLzZ").replace("'", "")
    if len(digits) > _MOST_DIGITS:
        raise _UnreadableError
    if digits[:1] == "0" and digits[1:].isdigit():
        return int(digits, 8 if digits.strip("01234567") == "" else 10)
    return int(digits, 0)
