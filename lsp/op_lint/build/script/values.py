"""What expressions of a build script can be, as far as the script says."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from op_lint.build.guards import ALWAYS, NEVER, Guard, any_of, atom, both
from op_lint.build.memory import Scope
from op_lint.facts import Place

_MOST_OPTIONS = 16

MOST_ITEMS = 20_000
"""Items of a list that is still followed."""

LONGEST = 100_000
"""Characters of a text that is still followed."""


class Value:
    """Anything that an expression can be."""

    __slots__ = ()


@dataclass(frozen=True)
class Text(Value):
    """A string that is known, and where it is written."""

    text: str
    place: Place | None = None


@dataclass(frozen=True)
class FilePath(Value):
    """A `pathlib.Path`."""

    text: str
    place: Place | None = None


@dataclass(frozen=True)
class Number(Value):
    """A number."""

    value: int | float


@dataclass(frozen=True)
class Truth(Value):
    """A truth value: a condition."""

    condition: Guard


class Nothing(Value):
    """`None`."""


@dataclass(frozen=True)
class Unknown(Value):
    """What the script does not tell; `words` is how conditions name it."""

    words: str


@dataclass(frozen=True)
class Variable(Value):
    """A variable of the environment: `os.getenv(name, default)`."""

    name: str
    default: Value
    place: Place | None = None

    @property
    def words(self) -> str:
        """How conditions name it."""
        return f"${self.name}"


@dataclass(frozen=True)
class Choice(Value):
    """One of several values, each under a condition; the conditions exclude each other."""

    options: tuple[tuple[Guard, Value], ...]


class Entry(NamedTuple):
    """An item of a list, and when it is there."""

    value: Value
    condition: Guard = ALWAYS


@dataclass(eq=False)
class Items(Value):
    """A list, tuple or set. `open` says that it may have items that are not known."""

    entries: list[Entry] = field(default_factory=list)
    kind: str = "list"
    open: bool = False


@dataclass(eq=False)
class Table(Value):
    """A dictionary. Keys that are no strings are left out; `open` says that there may be others."""

    entries: dict[str, Value] = field(default_factory=dict)
    open: bool = False


UNPACKED = "**"
"""The keyword of a call that stands for others: those of a `**` that is not known, or not to its end."""


@dataclass(frozen=True)
class Named(Value):
    """A module, or something in one: a dotted name."""

    dotted: str

    @property
    def words(self) -> str:
        """How conditions name it."""
        return self.dotted.removeprefix("torch.utils.cpp_extension.").removeprefix("builtins.")


@dataclass(eq=False)
class Function(Value):
    """A function or lambda of a script. `receiver` is what its first parameter is bound to."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: Scope[Value]
    path: str
    defaults: dict[str, Value]
    receiver: Value | None = None


@dataclass(eq=False)
class Class(Value):
    """A class of a script."""

    name: str
    scope: Scope[Value]
    bases: tuple[Value, ...]


@dataclass(eq=False)
class Instance(Value):
    """An object of such a class."""

    cls: Class
    scope: Scope[Value]


@dataclass(frozen=True)
class Method(Value):
    """An attribute of a value that is understood when it is called."""

    owner: Value
    name: str


@dataclass(frozen=True)
class Builtin(Value):
    """A function that the reader of a kind of script provides."""

    name: str


@dataclass(eq=False)
class Module(Value):
    """A script of the project that another imports."""

    scope: Scope[Value]


class Made(Value):
    """Something that a build script makes, such as an extension; readers derive their own."""


Arguments = tuple[list[Value], dict[str, Value]]
Call = Callable[[list[Value], dict[str, Value]], Value]

NOTHING = Nothing()
TRUE = Truth(ALWAYS)
FALSE = Truth(NEVER)


def choice(options: Iterable[tuple[Guard, Value]]) -> Value:
    """One value for several under conditions; choices among them are taken apart."""
    flat: list[tuple[Guard, Value]] = []
    for condition, value in options:
        inner = value.options if isinstance(value, Choice) else ((ALWAYS, value),)
        for given, option in inner:
            together = both(condition, given)
            if together is NEVER:
                continue
            known = next((at for at, (_, other) in enumerate(flat) if other is option or other == option), None)
            if known is None:
                flat.append((together, option))
            else:
                flat[known] = (any_of((flat[known][0], together)), option)
    if all(isinstance(value, Truth) for _, value in flat):
        truths = ((given, value.condition) for given, value in flat if isinstance(value, Truth))
        return Truth(any_of(both(given, condition) for given, condition in truths))
    if len(flat) == 1:
        return flat[0][1]
    return Choice(tuple(flat)) if len(flat) <= _MOST_OPTIONS else Unknown("...")


def options_of(value: Value) -> Iterator[tuple[Guard, Value]]:
    """The values that a value can be, and when."""
    if isinstance(value, Choice):
        yield from value.options
    else:
        yield ALWAYS, value


def mapped(value: Value, change: Callable[[Value], Value]) -> Value:
    """`change` of each value that a value can be."""
    if not isinstance(value, Choice):
        return change(value)
    return choice((condition, change(option)) for condition, option in value.options)


def entries_of(value: Value) -> tuple[list[Entry], bool]:
    """The items of whatever can be iterated over, and whether that is all of them."""
    found: list[Entry] = []
    complete = True
    for given, option in options_of(value):
        if isinstance(option, Items):
            found += (Entry(entry.value, both(given, entry.condition)) for entry in option.entries)
            complete &= not option.open
        elif isinstance(option, Table):
            found += (Entry(Text(key), given) for key in option.entries)
            complete &= not option.open
        elif isinstance(option, Text):
            found += (Entry(Text(character, option.place), given) for character in option.text[:200])
        elif not isinstance(option, Nothing):
            complete = False
    return [entry for entry in found if entry.condition is not NEVER], complete


def truth(value: Value) -> Guard:
    """When a value counts as true."""
    if isinstance(value, Truth):
        return value.condition
    if isinstance(value, Choice):
        return any_of(both(condition, truth(option)) for condition, option in value.options)
    if isinstance(value, Text | FilePath):
        return ALWAYS if value.text or isinstance(value, FilePath) else NEVER
    if isinstance(value, Number):
        return ALWAYS if value.value else NEVER
    if isinstance(value, Items):
        return atom("a list") if value.open else any_of(entry.condition for entry in value.entries)
    if isinstance(value, Table):
        return atom("a dictionary") if value.open else (ALWAYS if value.entries else NEVER)
    if isinstance(value, Unknown | Variable):
        return atom(value.words)
    if isinstance(value, Named):
        return atom(value.words)
    return NEVER if isinstance(value, Nothing) else ALWAYS


def words_of(value: Value) -> str:
    """How a condition names a value."""
    if isinstance(value, Unknown | Variable):
        return value.words
    if isinstance(value, Named):
        return value.words
    if isinstance(value, Text):
        return f'"{value.text}"'
    if isinstance(value, FilePath):
        return value.text
    if isinstance(value, Number):
        return str(value.value)
    if isinstance(value, Truth):
        return str(value.condition) or "True"
    return "None" if isinstance(value, Nothing) else "..."


def merged(_name: str, values: Iterable[tuple[Guard, Value | None]]) -> Value | None:
    """What a name stands for after a branch; what some arm does not set is None there, as if it were never used."""
    arms = list(values)
    if all(value is None for _, value in arms):
        return None
    return choice((condition, value) for condition, value in arms if value is not None)
