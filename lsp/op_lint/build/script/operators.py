"""What operators give: sums of lists and texts, paths, and comparisons as conditions."""

from __future__ import annotations

import ast
import posixpath

from op_lint.build.guards import ALWAYS, NEVER, Guard, any_of, atom, both, opposite
from op_lint.build.script.values import (
    LONGEST,
    MOST_ITEMS,
    FilePath,
    Items,
    Named,
    Nothing,
    Number,
    Table,
    Text,
    Truth,
    Unknown,
    Value,
    Variable,
    choice,
    entries_of,
    options_of,
    truth,
    words_of,
)


def operate(operator: ast.operator, left: Value, right: Value) -> Value:
    """`left operator right`, for each of the values that both can be."""
    if isinstance(operator, ast.Add) and all(
        isinstance(each, Items) for side in (left, right) for _, each in options_of(side)
    ):
        return _joined(left, right)
    return choice(
        (both(one_given, other_given), _operate(operator, one, other))
        for one_given, one in options_of(left)
        for other_given, other in options_of(right)
        if both(one_given, other_given) is not NEVER
    )


def _operate(operator: ast.operator, left: Value, right: Value) -> Value:
    if isinstance(operator, ast.Add):
        return _sum(left, right)
    if isinstance(operator, ast.Div) and isinstance(left, FilePath | Text) and isinstance(right, FilePath | Text):
        return FilePath(posixpath.join(left.text, right.text), right.place)
    if isinstance(operator, ast.Mod) and isinstance(left, Text):
        return _formatted(left, right)
    if isinstance(operator, ast.Mult) and isinstance(left, Items) and isinstance(right, Number):
        times = int(right.value) if 0 <= right.value <= 16 and len(left.entries) <= MOST_ITEMS // 16 else 0
        return Items(left.entries * times, left.kind, left.open or not times)
    if isinstance(operator, ast.BitOr | ast.BitAnd) and isinstance(left, Truth) and isinstance(right, Truth):
        either = any_of((left.condition, right.condition))
        return Truth(either if isinstance(operator, ast.BitOr) else both(left.condition, right.condition))
    if isinstance(operator, ast.BitOr) and isinstance(left, Table) and isinstance(right, Table):
        return Table({**left.entries, **right.entries}, left.open or right.open)
    if isinstance(operator, ast.Sub) and isinstance(left, Items) and isinstance(right, Items):
        gone = {words_of(entry.value) for entry in right.entries}
        return Items([entry for entry in left.entries if words_of(entry.value) not in gone], left.kind, left.open)
    if isinstance(left, Number) and isinstance(right, Number) and isinstance(operator, ast.Sub):
        return Number(left.value - right.value)
    return Unknown(f"{words_of(left)} ... {words_of(right)}"[:100])


def _joined(left: Value, right: Value) -> Value:
    """One list after the other; the items of a list that is one of several keep the condition of that one."""
    one, one_complete = entries_of(left)
    other, other_complete = entries_of(right)
    kind = left.kind if isinstance(left, Items) else "list"
    too_many = len(one) + len(other) > MOST_ITEMS
    return Items([*one, *other][:MOST_ITEMS], kind, too_many or not (one_complete and other_complete))


def _sum(left: Value, right: Value) -> Value:
    if isinstance(left, Text) and isinstance(right, Text) and len(left.text) + len(right.text) <= LONGEST:
        return Text(left.text + right.text, right.place or left.place)
    if isinstance(left, Items) or isinstance(right, Items):
        return _joined(left, right)
    if isinstance(left, Number) and isinstance(right, Number):
        return Number(left.value + right.value)
    return Unknown(f"{words_of(left)} + {words_of(right)}"[:100])


def _formatted(template: Text, value: Value) -> Value:
    values = [entry.value for entry in value.entries] if isinstance(value, Items) else [value]
    pieces = template.text.split("%s")
    if len(pieces) != len(values) + 1 or "%" in "".join(pieces):
        return Unknown(f"{words_of(template)} % ...")
    texts = [each.text if isinstance(each, Text | FilePath) else None for each in values]
    known = [text for text in texts if text is not None]
    if len(known) != len(texts) or sum(map(len, known)) > LONGEST:
        return Unknown(f"{words_of(template)} % ...")
    return Text("".join(part for pair in zip(pieces, [*known, ""], strict=True) for part in pair), template.place)


def compare(operator: ast.cmpop, left: Value, right: Value) -> Guard:
    """When `left operator right` holds."""
    return any_of(
        both(both(one_given, other_given), _compare(operator, one, other))
        for one_given, one in options_of(left)
        for other_given, other in options_of(right)
        if both(one_given, other_given) is not NEVER
    )


def _compare(operator: ast.cmpop, left: Value, right: Value) -> Guard:
    if isinstance(operator, ast.NotEq | ast.IsNot | ast.NotIn):
        positive = {ast.NotEq: ast.Eq, ast.IsNot: ast.Is, ast.NotIn: ast.In}[type(operator)]
        return opposite(_compare(positive(), left, right))
    if isinstance(operator, ast.Is | ast.Eq):
        return _equal(left, right)
    if isinstance(operator, ast.In):
        return _contains(right, left)
    known = _ordered(operator, left, right)
    symbol = _SYMBOLS.get(type(operator), "?")
    return atom(f"{words_of(left)} {symbol} {words_of(right)}"[:120]) if known is None else known


_SYMBOLS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}


def _ordered(operator: ast.cmpop, left: Value, right: Value) -> Guard | None:
    if not isinstance(left, Number) or not isinstance(right, Number):
        return None
    one, other = left.value, right.value
    results = {ast.Lt: one < other, ast.LtE: one <= other, ast.Gt: one > other, ast.GtE: one >= other}
    return ALWAYS if results[type(operator)] else NEVER


def _equal(left: Value, right: Value) -> Guard:
    for one, other in ((left, right), (right, left)):
        if isinstance(other, Nothing):
            return _is_none(one)
        if isinstance(other, Truth) and isinstance(one, Truth | Unknown | Named):
            same = both(truth(one), other.condition)
            return any_of((same, both(opposite(truth(one)), opposite(other.condition))))
    if isinstance(left, Text | FilePath) and isinstance(right, Text | FilePath):
        return ALWAYS if left.text == right.text else NEVER
    if isinstance(left, Number) and isinstance(right, Number):
        return ALWAYS if left.value == right.value else NEVER
    if isinstance(left, Unknown | Variable | Named) or isinstance(right, Unknown | Variable | Named):
        first, second = (left, right) if isinstance(left, Unknown | Variable | Named) else (right, left)
        return atom(f"{words_of(first)} == {words_of(second)}"[:120])
    if isinstance(left, Items) and isinstance(right, Items) and not left.open and not right.open:
        return ALWAYS if list(map(_key, left.entries)) == list(map(_key, right.entries)) else NEVER
    return NEVER


def _key(entry: tuple[Value, Guard]) -> str:
    return words_of(entry[0])


def _is_none(value: Value) -> Guard:
    """When a value is None. What is not known is taken to be None just where it counts as false."""
    if isinstance(value, Nothing):
        return ALWAYS
    if isinstance(value, Variable):
        return opposite(atom(value.words)) if isinstance(value.default, Nothing) else NEVER
    return opposite(truth(value)) if isinstance(value, Unknown | Named) else NEVER


def _contains(container: Value, item: Value) -> Guard:
    if isinstance(item, Text | FilePath):
        if isinstance(container, Text | FilePath):
            return ALWAYS if item.text in container.text else NEVER
        if isinstance(container, Items) and not container.open:
            return any_of(
                entry.condition
                for entry in container.entries
                if isinstance(entry.value, Text | FilePath) and entry.value.text == item.text
            )
        if isinstance(container, Table) and not container.open:
            return ALWAYS if item.text in container.entries else NEVER
    if isinstance(item, Unknown | Variable | Named) and isinstance(container, Items):
        return any_of(both(entry.condition, _equal(item, entry.value)) for entry in container.entries)
    return atom(f"{words_of(item)} in {words_of(container)}"[:120])
