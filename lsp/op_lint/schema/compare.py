"""Whether two schemas are one and the same operator schema, and what differs if not.

Structure is compared, never text: `Tensor(a!)`, `Tensor(b!)` and `Tensor!` are one thing, `1.` and `1.0` too. What
counts is what a caller, the dispatcher or autograd can tell apart: names of arguments, types, list sizes, defaults,
keyword-only, aliasing, the number and types of returns. Names of returns do not count.
"""

from __future__ import annotations

from enum import Enum

import msgspec

from op_lint.schema.model import Alias, Argument, Schema, Span
from op_lint.schema.printer import format_argument


class Aspect(str, Enum):
    """In what two schemas differ."""

    NAME = "name"
    ARGUMENT_COUNT = "number of arguments"
    RETURN_COUNT = "number of returns"
    VARIADIC = "variadic list"
    ARGUMENT_NAME = "argument name"
    TYPE = "type"
    SIZE = "list size"
    DEFAULT = "default"
    KEYWORD_ONLY = "keyword-only"
    ALIAS = "aliasing"


class Difference(msgspec.Struct, frozen=True):
    """One difference of two schemas, as both print it, and where each stands.

    `index` is the 0-based argument, or return where `is_return`; None for what concerns the whole.
    """

    aspect: Aspect
    first: str
    second: str
    first_span: Span
    second_span: Span
    index: int | None = None
    is_return: bool = False


def same_schema(first: Schema, second: Schema) -> bool:
    """Whether both schemas mean the same operator."""
    return not differences(first, second)


def differences(first: Schema, second: Schema) -> tuple[Difference, ...]:
    """What differs between two schemas, in the order in which it is written; empty where they mean the same."""
    found: list[Difference] = []
    if first.name != second.name:
        found.append(_whole(Aspect.NAME, str(first.name), str(second.name), first, second))
    first_labels, second_labels = _Labels(), _Labels()
    for is_return, ours, theirs in ((False, first.arguments, second.arguments), (True, first.returns, second.returns)):
        if len(ours) != len(theirs):
            aspect = Aspect.RETURN_COUNT if is_return else Aspect.ARGUMENT_COUNT
            found.append(_whole(aspect, str(len(ours)), str(len(theirs)), first, second))
            continue
        for index, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            aliases = (first_labels.canonical(one.alias), second_labels.canonical(other.alias))
            found.extend(_argument_differences(index, is_return, one, other, aliases[0] == aliases[1]))
    for one_has, other_has, what in (
        (first.variadic_arguments, second.variadic_arguments, "arguments"),
        (first.variadic_returns, second.variadic_returns, "returns"),
    ):
        if one_has != other_has:
            texts = (f"{what} ..." if one_has else what, f"{what} ..." if other_has else what)
            found.append(_whole(Aspect.VARIADIC, *texts, first, second))
    return tuple(found)


def _whole(aspect: Aspect, first: str, second: str, one: Schema, other: Schema) -> Difference:
    return Difference(aspect, first, second, one.name.span, other.name.span)


def _argument_differences(
    index: int, is_return: bool, one: Argument, other: Argument, same_alias: bool
) -> list[Difference]:
    aspects = (
        (Aspect.ARGUMENT_NAME, is_return or one.name == other.name),
        (Aspect.TYPE, one.type == other.type),
        (Aspect.SIZE, one.size == other.size),
        (Aspect.DEFAULT, one.default == other.default),
        (Aspect.KEYWORD_ONLY, one.keyword_only == other.keyword_only),
        (Aspect.ALIAS, same_alias),
    )
    texts = (format_argument(one), format_argument(other))
    return [Difference(aspect, *texts, one.span, other.span, index, is_return) for aspect, same in aspects if not same]


class _Labels:
    """The alias sets of one schema, renamed in the order in which they appear."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def canonical(self, alias: Alias | None) -> Alias | None:
        """`alias` with names that two schemas share if they mean the same; `!` alone is a set of its own."""
        if alias is None:
            return None
        after = alias.before if alias.is_anonymous else alias.after
        contained = tuple(inner for inner in map(self.canonical, alias.contained) if inner is not None)
        return Alias(self._renamed(alias.before), self._renamed(after), alias.write, contained)

    def _renamed(self, labels: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(
            label if label == "*" else self._names.setdefault(label, f"set{len(self._names)}")
            for label in sorted(labels)
        )
