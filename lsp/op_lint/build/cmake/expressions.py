"""The conditions of `if`, `elseif` and `while`, as formulas over what the build files do not tell."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Protocol

from op_lint.build.cmake.template import as_pattern, is_known
from op_lint.build.guarded import Item, Items, under, worlds
from op_lint.build.guards import ALWAYS, NEVER, Guard, all_of, any_of, atom, opposite
from op_lint.build.patterns import UnsafeError, may_be_equal, safe_pattern

_TRUE = frozenset({"1", "ON", "YES", "TRUE", "Y"})
_FALSE = frozenset({"0", "OFF", "NO", "FALSE", "N", "IGNORE", "NOTFOUND", ""})
_NUMBER = re.compile(r"-?\d+(\.\d+)?\Z")


class Operand:
    """An argument of a condition: its value, how it is written, and whether it is quoted (then it is no name)."""

    __slots__ = ("items", "quoted", "text", "written")

    def __init__(self, items: Items, quoted: bool, written: str = "") -> None:
        self.items = items
        self.quoted = quoted
        self.written = written
        self.text = ";".join(item.text for item in items)

    @property
    def literal(self) -> bool:
        """Whether it is written as it is, without references."""
        return "$" not in self.written

    @property
    def variable(self) -> str:
        """The variable whose value this is; empty for anything else."""
        return (_inside(self.written) or "") if self.quoted or not self.literal else self.text


class Surroundings(Protocol):
    """What a condition may ask."""

    def variable(self, name: str) -> Items | None:
        """The value of a variable; None where it is not set."""
        ...

    def defined(self, name: str) -> Guard:
        """When a variable is set."""
        ...

    def chosen(self, name: str, words: str, default: bool) -> Guard | None:
        """The condition that a test of a text which the user may choose holds; None for any other variable."""
        ...

    def target(self, name: str) -> Guard:
        """When a target exists."""
        ...

    def exists(self, path: str) -> bool | None:
        """Whether a file or folder exists; None where that cannot be known."""
        ...

    def command(self, name: str) -> bool:
        """Whether a function, macro or command of this name is known."""
        ...


def constant(text: str) -> bool | None:
    """The truth of a value that is a constant; None for any other text, which is the name of a variable."""
    upper = text.upper()
    if upper in _TRUE or (_NUMBER.match(text) and float(text) != 0):
        return True
    if upper in _FALSE or upper.endswith("-NOTFOUND") or _NUMBER.match(text):
        return False
    return None


def truth(items: Items, name: str) -> Guard:
    """When the value of the variable `name` counts as true."""
    ways = worlds(item.condition for item in items)
    if ways is None:
        return atom(name)
    parts: list[Guard] = []
    for world in ways:
        text = ";".join(item.text for item in under(items, world))
        if not is_known(text):
            parts.append(all_of((world, atom(_inside(text) or name))))
        elif constant(text) is not False:  # any value that is not a false constant is true for a variable
            parts.append(world)
    return any_of(parts)


def _inside(text: str) -> str | None:
    """The name in a value that is nothing but `${name}`."""
    found = re.fullmatch(r"\$\{([^${}]+)\}", text)
    return found[1] if found else None


def evaluate(operands: Sequence[Operand], around: Surroundings) -> Guard:
    """The condition that `operands`, the arguments of an `if`, state. What is no condition at all is an atom."""
    parser = _Parser(operands, around)
    result = parser.disjunction()
    return result if parser.at_end else atom(" ".join(operand.text for operand in operands))


class _Parser:
    """NOT binds closer than AND, which binds closer than OR (cmake-commands(7), `if`)."""

    def __init__(self, operands: Sequence[Operand], around: Surroundings) -> None:
        self._operands = operands
        self._around = around
        self._position = 0
        self._depth = 0

    @property
    def at_end(self) -> bool:
        return self._position >= len(self._operands)

    def disjunction(self) -> Guard:
        parts = [self._conjunction()]
        while self._take("OR"):
            parts.append(self._conjunction())
        return any_of(parts)

    def _conjunction(self) -> Guard:
        parts = [self._negation()]
        while self._take("AND"):
            parts.append(self._negation())
        return all_of(parts)

    def _negation(self) -> Guard:
        inverted = False
        while self._take("NOT"):
            inverted = not inverted
        found = self._primary()
        return opposite(found) if inverted else found

    def _primary(self) -> Guard:
        if self.at_end:
            return NEVER
        if self._take("(") and self._depth < 64:
            self._depth += 1
            inner = self.disjunction()
            self._take(")")
            self._depth -= 1
            return inner
        operand = self._next()
        unary = None if operand.quoted else _UNARY.get(operand.text)
        if unary is not None and not self.at_end and not self._is_binary(self._position):
            return unary(self._around, self._next())
        if self._is_binary(self._position):
            operator = self._next().text
            right = self._next() if not self.at_end else Operand((), True)
            return _compared(self._around, operand, operator, right)
        return _truth(self._around, operand)

    def _is_binary(self, position: int) -> bool:
        return (
            position < len(self._operands)
            and not self._operands[position].quoted
            and self._operands[position].text in _BINARY
        )

    def _take(self, word: str) -> bool:
        if self.at_end or self._operands[self._position].quoted or self._operands[self._position].text != word:
            return False
        self._position += 1
        return True

    def _next(self) -> Operand:
        operand = self._operands[self._position]
        self._position += 1
        return operand


def _truth(around: Surroundings, operand: Operand) -> Guard:
    if any(item.condition is not ALWAYS for item in operand.items):
        return truth(operand.items, operand.text)
    known = constant(operand.text)
    if known is not None:
        return ALWAYS if known else NEVER
    if not is_known(operand.text):
        return atom(_inside(operand.text) or operand.text)
    if operand.quoted:
        return NEVER  # CMP0054: a quoted text is no variable, and only the constants are true
    value = around.variable(operand.text)
    return atom(operand.text) if value is None else truth(value, operand.text)


def _exists(around: Surroundings, operand: Operand) -> Guard:
    known = around.exists(operand.text)
    return atom(f"EXISTS {operand.text}") if known is None else (ALWAYS if known else NEVER)


_UNARY: dict[str, Callable[[Surroundings, Operand], Guard]] = {
    "COMMAND": lambda around, operand: ALWAYS if around.command(operand.text) else atom(f"COMMAND {operand.text}"),
    "DEFINED": lambda around, operand: around.defined(operand.text),
    "EXISTS": _exists,
    "IS_ABSOLUTE": lambda _, operand: ALWAYS if operand.text.startswith(("/", "${CMAKE_BINARY_DIR}")) else NEVER,
    "IS_DIRECTORY": _exists,
    "IS_SYMLINK": lambda *_: NEVER,
    "POLICY": lambda *_: ALWAYS,
    "TARGET": lambda around, operand: around.target(operand.text),
    "TEST": lambda _, operand: atom(f"TEST {operand.text}"),
}


def _compared(around: Surroundings, left: Operand, operator: str, right: Operand) -> Guard:
    first = _value(around, left, may_be_unset=True)
    second = around.variable(right.text) if operator == "IN_LIST" else _value(around, right)
    words = f"{left.text} {operator} {right.text}"
    if second is None:
        return atom(words)
    ways = worlds(item.condition for item in (*first, *second))
    if ways is None:
        return atom(words)
    parts: list[Guard] = []
    for world in ways:
        one, other = ([item.text for item in under(value, world)] for value in (first, second))
        holds = _holds(operator, one, other)
        if holds is None:
            parts.append(all_of((world, atom(_readable(words)))))
        elif holds:
            parts.append(world)
    result = any_of(parts)
    if result is not ALWAYS and result is not NEVER:
        return result
    readable = f"{left.variable} {operator} {right.text}"
    return around.chosen(left.variable, readable, result is ALWAYS) or result


def _holds(operator: str, one: list[str], other: list[str]) -> bool | None:
    """Whether a comparison of two lists holds; None where that depends on what is not known of them."""
    if all(map(is_known, (*one, *other))):
        return _BINARY[operator](";".join(one), other)
    in_part = _IN_PART.get(operator)
    return in_part(";".join(one), ";".join(other)) if in_part else None


def _readable(words: str) -> str:
    return re.sub(r"\$\{([^${}]+)\}", r"\1", words)


def _value(around: Surroundings, operand: Operand, *, may_be_unset: bool = False) -> Items:
    """An operand of a comparison: the value of the variable that it names, else itself.

    With `may_be_unset`, a word as written that names no known variable is one that the user or something unseen sets.
    """
    if operand.quoted or not is_known(operand.text):
        return operand.items
    value = around.variable(operand.text)
    if value is None and may_be_unset and operand.literal and _NAME.match(operand.text):
        return (Item(f"${{{operand.text}}}"),)
    return operand.items if value is None else value


_NAME = re.compile(r"[A-Za-z_]\w*\Z")


def _number(text: str) -> float | None:
    return float(text) if _NUMBER.match(text) else None


def _numeric(compare: Callable[[float, float], bool]) -> Callable[[str, list[str]], bool]:
    def check(one: str, other: list[str]) -> bool:
        left, right = _number(one), _number(";".join(other))
        return left is not None and right is not None and compare(left, right)

    return check


def _textual(compare: Callable[[str, str], bool]) -> Callable[[str, list[str]], bool]:
    return lambda one, other: compare(one, ";".join(other))


def _version(text: str) -> tuple[int, ...]:
    parts = [int(part) for part in re.findall(r"\d+", text)[:8]]
    while parts and parts[-1] == 0:
        parts.pop()
    return tuple(parts)


def _versions(compare: Callable[[tuple[int, ...], tuple[int, ...]], bool]) -> Callable[[str, list[str]], bool]:
    return lambda one, other: compare(_version(one), _version(";".join(other)))


def _matches(one: str, other: list[str]) -> bool:
    try:
        return safe_pattern(cmake_regex(";".join(other)), one).search(one) is not None
    except UnsafeError:
        return False


def cmake_regex(pattern: str) -> str:
    """A regular expression of CMake's in the syntax of Python's `re`: in brackets a backslash stands for itself."""
    return re.sub(r"\[(\^?\]?[^\]]*)\]", lambda found: "[" + found[1].replace("\\", "\\\\") + "]", pattern)


def _equal_in_part(one: str, other: str) -> bool | None:
    """Whether texts are equal that have parts which are not known: False where what is known of them differs."""
    return None if may_be_equal(as_pattern(one), as_pattern(other)) else False


_ENDING = re.compile(r"((?:[\w/ -]|\\\.)+)\$")


def _ends_in_part(text: str, pattern: str) -> bool | None:
    """Whether a text with parts that are not known matches: decided for a pattern that is the end of a name."""
    literal = _ENDING.fullmatch(pattern)
    if literal is None:
        return None
    known, ending = as_pattern(text).rpartition("*")[2], literal[1].replace("\\.", ".")
    return True if known.endswith(ending) else None if ending.endswith(known) else False


_IN_PART = {"STREQUAL": _equal_in_part, "PATH_EQUAL": _equal_in_part, "MATCHES": _ends_in_part}
"""What comparisons say of texts that are not known in full."""

_BINARY: dict[str, Callable[[str, list[str]], bool]] = {
    "EQUAL": _numeric(lambda a, b: a == b),
    "LESS": _numeric(lambda a, b: a < b),
    "GREATER": _numeric(lambda a, b: a > b),
    "LESS_EQUAL": _numeric(lambda a, b: a <= b),
    "GREATER_EQUAL": _numeric(lambda a, b: a >= b),
    "STREQUAL": _textual(lambda a, b: a == b),
    "STRLESS": _textual(lambda a, b: a < b),
    "STRGREATER": _textual(lambda a, b: a > b),
    "STRLESS_EQUAL": _textual(lambda a, b: a <= b),
    "STRGREATER_EQUAL": _textual(lambda a, b: a >= b),
    "PATH_EQUAL": _textual(lambda a, b: a.rstrip("/") == b.rstrip("/")),
    "VERSION_EQUAL": _versions(lambda a, b: a == b),
    "VERSION_LESS": _versions(lambda a, b: a < b),
    "VERSION_GREATER": _versions(lambda a, b: a > b),
    "VERSION_LESS_EQUAL": _versions(lambda a, b: a <= b),
    "VERSION_GREATER_EQUAL": _versions(lambda a, b: a >= b),
    "MATCHES": _matches,
    "IN_LIST": lambda one, other: one in other,
}
