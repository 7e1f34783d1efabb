"""The arguments of registrations: what they name, as far as it is known."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from op_lint.condition import Condition
from op_lint.facts import Place
from op_lint.python.context import Context
from op_lint.python.recorder import Chain
from op_lint.python.render import render_value
from op_lint.python.values import (
    NONE,
    Argument,
    Arguments,
    Constant,
    CustomOp,
    Derived,
    Function,
    Imported,
    Operator,
    Run,
    Sequence,
    String,
    Unknown,
    Value,
    parameters_of,
    plain,
)

_NAME = re.compile(r"\s*(?:(?P<namespace>[^\s:(]*)::)?(?P<local>(?P<name>[^\s.(]*)(?:\.(?P<overload>[^\s(]*))?)")


@dataclass(frozen=True, slots=True)
class Site:
    """Where something is registered. `spelled` is the place in a function's body, if `place` is a call of that."""

    place: Place
    spelled: Place | None
    chain: Chain
    context: Context

    @property
    def condition(self) -> Condition:
        """The condition under which the site is reached."""
        return self.context.condition

    @property
    def guard(self) -> str | None:
        """The same as text; None where it is always reached."""
        return str(self.context.condition) or None

    def here(self, written: Place | None) -> Place:
        """Where an argument is written, unless that is in a function's body: then the call of the function."""
        return self.place if written is None or self.spelled is not None else written


class Bound:
    """The arguments of a call, by the names of the function's parameters."""

    def __init__(self, arguments: Arguments, positional: Iterable[str], keyword: Iterable[str] = ()) -> None:
        names = tuple(positional)
        self.given: dict[str, Argument] = dict(zip(names, arguments.positional, strict=False))
        self.given.update((name, value) for name, value in arguments.keywords if name in (*names, *keyword))
        self.open = arguments.open

    def get(self, name: str) -> Argument | None:
        """An argument, None where it is not given or given as None."""
        argument = self.given.get(name)
        return None if argument is None or argument.value == NONE else argument

    def value(self, name: str) -> Value:
        """The value of an argument, None where it is not given."""
        argument = self.given.get(name)
        if argument is not None:
            return argument.value
        return Unknown(words=f"an unpacked argument `{name}`") if self.open else NONE

    def place(self, name: str) -> Place | None:
        """Where an argument is written."""
        argument = self.given.get(name)
        return None if argument is None else argument.place

    def resolve(self, resolved: Callable[[Value], Value]) -> None:
        """See through values of other files."""
        self.given = {name: replace(given, value=resolved(given.value)) for name, given in self.given.items()}


@dataclass(frozen=True, slots=True)
class Named:
    """The name of an operator in a string: characters `start` to `end` of it are `name.overload`."""

    namespace: str | None
    name: str
    overload: str
    start: int
    end: int


def parse_name(text: str) -> Named:
    """The operator's name at the start of a schema."""
    match = _NAME.match(text)
    assert match is not None  # it matches the empty string
    return Named(match["namespace"], match["name"], match["overload"] or "", *match.span("local"))


class BlockedError(Exception):
    """Something that must be known for a fact is not."""

    def __init__(self, what: str, value: Value, **known: Any) -> None:
        super().__init__(what)
        self.what = what
        self.value = value
        self.known = known


def text_or_empty(value: Value) -> str | None:
    """A string that is known; empty for None."""
    if value == NONE:
        return ""
    return value.text if isinstance(value, String) else None


def as_string(value: Value) -> String:
    """A value as a string, of which nothing may be known."""
    return value if isinstance(value, String) else String((value,))


def operator_string(value: Value) -> String:
    """The name of an operator that is given as a string, as `torch.ops.ns.op.overload` or as a custom operator."""
    if isinstance(value, CustomOp):
        return value.name
    if not isinstance(value, Operator) or len(value.parts) < 2:
        return as_string(value)
    overload = "".join(f".{part}" for part in value.parts[2:] if part != "default")
    return plain(f"{value.parts[0]}::{value.parts[1]}{overload}")


def named_in(schema: String) -> tuple[str, Named]:
    """A schema as far as it is known, and the operator's name in it."""
    text = schema.text
    if text is None:
        if "(" not in schema.prefix:
            raise BlockedError("the schema", schema)
        text = schema.prefix
    return text, parse_name(text)


def name_in(schema: Value) -> Value:
    """The name at the start of a schema."""
    text = text_or_empty(schema)
    if text is None or not isinstance(schema, String):
        return String((Unknown(words="a name in a schema", parameters=parameters_of(schema)),))
    named = parse_name(text)
    return schema.slice(named.start, named.end)


def tags_of(value: Value) -> tuple[str, ...]:
    """The names of tags."""
    tags = value.items if isinstance(value, Sequence) else (value,)
    return tuple(tag.attributes[-1] for tag in tags if isinstance(tag, Imported) and tag.attributes)


def namespace_of(value: Value) -> str | None:
    """The namespace that a string of which only the start is known names."""
    prefix = value.prefix if isinstance(value, String) else ""
    return parse_name(prefix).namespace or None


def words_of(value: Value) -> str:
    """A value that is not known, for a message."""
    if isinstance(value, String) and len(value.parts) == 1 and isinstance(value.parts[0], Value):
        value = value.parts[0]
    if isinstance(value, Unknown) and value.node is None:
        return value.words
    return f"`{_spelled(value)}`"


def _spelled(value: Value) -> str:
    if isinstance(value, Unknown):
        return value.words if value.node is None else render_value(value)
    if isinstance(value, String):
        return "".join(part.text if isinstance(part, Run) else f"{{{_spelled(part)}}}" for part in value.parts)
    if isinstance(value, Imported):
        return value.dotted
    if isinstance(value, Derived):
        return f"an item of {_spelled(value.owner)}"
    if isinstance(value, Operator):
        return ".".join(("torch.ops", *value.parts))
    if isinstance(value, CustomOp):
        return _spelled(value.name)
    if isinstance(value, Function):
        return value.name
    return repr(value.value) if isinstance(value, Constant) else f"a {type(value).__name__.lower()}"
