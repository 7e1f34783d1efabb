"""What an expression may be, as far as the source says: the values of the abstract interpreter."""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import EllipsisType
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from op_lint.condition import ALWAYS, Condition
from op_lint.facts import Piece, Place, PythonFunction
from op_lint.python.vocabulary import FOREIGN

if TYPE_CHECKING:
    from op_lint.python.context import Context
    from op_lint.python.source import SourceFile

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Value:
    """Anything that an expression can be. (Structs are made in a fraction of the time that dataclasses take.)"""

    __slots__ = ()


class Constant(Value, msgspec.Struct, frozen=True):
    """A literal that is no string."""

    value: bool | int | float | complex | bytes | EllipsisType | None


NONE = Constant(None)


class Run(msgspec.Struct, frozen=True):
    """Characters that are known, and the literal they came from: `offset` characters into its part `index`.

    `pieces` is where that literal is written, if it is not at hand itself.
    """

    text: str
    source: SourceFile | None = None
    node: ast.expr | None = None
    index: int = 0
    offset: int = 0
    pieces: tuple[Piece, ...] = ()


class String(Value, msgspec.Struct, frozen=True):
    """A string: known characters, and values that are not known between them."""

    parts: tuple[Run | Value, ...]

    @property
    def text(self) -> str | None:
        """The string, where all of it is known."""
        runs = [part.text for part in self.parts if isinstance(part, Run)]
        return "".join(runs) if len(runs) == len(self.parts) else None

    @property
    def prefix(self) -> str:
        """The characters before the first that are not known."""
        known: list[str] = []
        for part in self.parts:
            if not isinstance(part, Run):
                break
            known.append(part.text)
        return "".join(known)

    def slice(self, start: int, end: int) -> String:
        """Characters `start` to `end` of a string that is known throughout."""
        kept: list[Run] = []
        position = 0
        for part in self.parts:
            if isinstance(part, Run):
                low, high = max(start - position, 0), min(end - position, len(part.text))
                if low < high:
                    kept.append(replace(part, text=part.text[low:high], offset=part.offset + low))
                position += len(part.text)
        return String(tuple(kept))


def plain(text: str) -> String:
    """A string whose origin is not known."""
    return String((Run(text),))


class Unknown(Value, msgspec.Struct, frozen=True):
    """A value that the source does not tell. `parameters` are the parameters of functions that it depends on.

    `node` is the expression in `scope` that it is, for its text and for type annotations; `condition` is set where it
    is a truth value with a structure.
    """

    node: ast.expr | None = None
    source: SourceFile | None = None
    scope: Scope | None = None
    parameters: frozenset[str] = frozenset()
    condition: Condition | None = None
    words: str = ""


class Sequence(Value, msgspec.Struct, frozen=True):
    """A list, tuple or set whose items are known one by one."""

    items: tuple[Value, ...]
    kind: str = "list"


class Mapping(Value, msgspec.Struct, frozen=True):
    """A dictionary whose items are known one by one."""

    items: tuple[tuple[Value, Value], ...]

    def get(self, key: str) -> Value | None:
        """The value of a string key, the last one given."""
        for name, value in reversed(self.items):
            if isinstance(name, String) and name.text == key:
                return value
        return None


class Imported(Value, msgspec.Struct, frozen=True):
    """What an import gives: a module, or something in it. A relative `module` is counted from the project's root."""

    module: str
    attributes: tuple[str, ...] = ()
    relative: bool = False

    @property
    def dotted(self) -> str:
        """The full dotted name."""
        return ".".join((self.module, *self.attributes))

    def attribute(self, name: str) -> Imported:
        """Something in it."""
        return Imported(self.module, (*self.attributes, name), self.relative)


class Operator(Value, msgspec.Struct, frozen=True):
    """`torch.ops` and what is under it: up to namespace, name and overload."""

    parts: tuple[str, ...] = ()


class LibraryState(msgspec.Struct, eq=False):
    """A `torch.library.Library` object while its file is read. `home` is the recorder that has its unit."""

    place: Place
    macro: str
    namespace: str | None
    kind: str | None
    key: str | None
    parameters: frozenset[str] = frozenset()
    condition: Condition = ALWAYS
    function: Place | None = None
    scoped: bool = False
    home: object = None
    unit: int | None = None
    kept: bool = False
    names: set[tuple[Scope, str]] = set()
    name: str | None = None
    end: Place | None = None


class Library(Value, msgspec.Struct, frozen=True):
    """A reference to a `torch.library.Library` object."""

    state: LibraryState


class CustomOp(Value, msgspec.Struct, frozen=True):
    """What `custom_op` returns. `name` is `namespace::name`, which may be known in part only.

    `macro` and `place` are those of its unit.
    """

    name: String
    macro: str
    place: Place


class Function(Value, msgspec.Struct, eq=False):
    """A function or lambda of a file that can be read.

    `defaults` has the value of each parameter that has a default. `receiver` is what its first parameter is bound to.
    `described` is set instead of `node` for a function of another file of which only the signature is at hand.
    `binding` is `static`, `class` or `property` where such a decorator is on it, `owner` the class it is in, `outer`
    the function it is in. `decorated` says that some decorator may have replaced it.
    """

    name: str
    node: FunctionNode | None
    source: SourceFile
    scope: Scope
    place: Place
    defaults: dict[str, Value] = {}
    condition: Condition = ALWAYS
    receiver: Value | None = None
    described: PythonFunction | None = None
    decorated: bool = False
    binding: str = ""
    owner: Class | None = None
    outer: Function | None = None

    def bound(self, receiver: Value) -> Function:
        """The function as a method of `receiver`."""
        return replace(self, receiver=receiver)


class Class(Value, msgspec.Struct, eq=False):
    """A class of a file that can be read."""

    name: str
    node: ast.ClassDef
    source: SourceFile
    scope: Scope
    bases: tuple[Value, ...] = ()
    instance: Instance | None = None


class Instance(Value, msgspec.Struct, eq=False):
    """An object of such a class. `library` is set where the class derives from `torch.library.Library`.

    `generic` marks the one that stands for any object of the class: what its methods may have changed is not known.
    """

    cls: Class
    attributes: dict[str, Value] = {}
    library: Library | None = None
    generic: bool = False


class Record(Value, msgspec.Struct, frozen=True):
    """An object of which some attributes are known."""

    attributes: tuple[tuple[str, Value], ...]


class Super(Value, msgspec.Struct, frozen=True):
    """`super()` in a method of `instance`."""

    instance: Instance
    cls: Class


class Method(Value, msgspec.Struct, frozen=True):
    """An attribute of a value that is understood when it is called."""

    owner: Value
    name: str


class Argument(msgspec.Struct, frozen=True):
    """An argument of a call, and where it is written."""

    value: Value
    node: ast.expr | None = None
    source: SourceFile | None = None
    written: Place | None = None

    @property
    def place(self) -> Place | None:
        """Where the argument is written, if it is."""
        if self.written is None and self.node is not None and self.source is not None:
            return self.source.place(self.node)
        return self.written


class Arguments(msgspec.Struct, frozen=True):
    """The arguments of a call; `open` where some are unpacked from what is not known."""

    positional: tuple[Argument, ...] = ()
    keywords: tuple[tuple[str, Argument], ...] = ()
    open: bool = False

    def extended(self, other: Arguments) -> Arguments:
        """These, then others; later keywords win, as with `functools.partial`."""
        keywords = {**dict(self.keywords), **dict(other.keywords)}
        return Arguments(self.positional + other.positional, tuple(keywords.items()), self.open or other.open)

    def values(self) -> list[Value]:
        """The values of all arguments."""
        return [argument.value for argument in self.positional] + [argument.value for _, argument in self.keywords]


class Partial(Value, msgspec.Struct, frozen=True):
    """A callable with some of its arguments given."""

    callee: Value
    arguments: Arguments


class Decorator(Value, msgspec.Struct, frozen=True):
    """A torch API call that still waits for its function, and for the circumstances in which it is given one."""

    apply: Callable[[Argument, Context], Value]
    parameters: frozenset[str] = frozenset()


class Choice(Value, msgspec.Struct, frozen=True):
    """One of several values, each under a condition."""

    options: tuple[tuple[Condition, Value], ...]


class Result(Value, msgspec.Struct, frozen=True):
    """What a call that can only be understood with other files returns, or an attribute of that.

    `path` is the file of the call, empty for the file at hand. `instead` is what it is taken for as long as nothing
    better is known: the function that is decorated.
    """

    index: int
    attributes: tuple[str, ...] = ()
    path: str = ""
    instead: Value | None = None


class Derived(Value, msgspec.Struct, frozen=True):
    """What is taken out of a value that only other files tell.

    `how` is `each` (of the loop at `loop`), `item` (number or name `key`), or the method `items`, `keys` or `values`.
    """

    owner: Value
    how: str
    key: int | str | None = None
    loop: Place | None = None


class Scope:
    """The names of a module, class or function body."""

    __slots__ = ("globals", "kind", "names", "opaque", "parent")

    def __init__(self, kind: str, parent: Scope | None = None) -> None:
        self.kind = kind
        self.parent = parent
        self.names: dict[str, Value] = {}
        self.globals: dict[str, Scope] = {}
        self.opaque = False

    def lookup(self, name: str) -> Value | None:
        """The value of a name as code in this scope sees it; None where nothing binds it."""
        scope: Scope | None = self.globals.get(name, self)
        while scope is not None:
            found = scope.names.get(name)
            if found is not None:
                return found
            scope = scope.parent
            while scope is not None and scope.kind == "class":
                scope = scope.parent
        return None

    def module(self) -> Scope:
        """The module's scope."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope


def parameters_of(value: Value, depth: int = 0) -> frozenset[str]:
    """The parameters of functions that a value depends on."""
    if type(value) in _WITHOUT_PARTS:
        return _NO_PARAMETERS
    if isinstance(value, Unknown):
        return value.parameters
    if isinstance(value, Decorator):
        return value.parameters
    if isinstance(value, Library):
        return value.state.parameters
    if isinstance(value, CustomOp):
        return parameters_of(value.name)
    if depth > _DEEP:
        return _NO_PARAMETERS
    return _NO_PARAMETERS.union(*[parameters_of(part, depth + 1) for part in _parts(value)])


_NO_PARAMETERS: frozenset[str] = frozenset()

_WITHOUT_PARTS = frozenset({Class, Constant, Derived, Function, Imported, Operator, Record, Result, Super})
"""Values that depend on no parameters, by what they are."""


def linkable(value: Value, depth: int = 0) -> bool:
    """Whether another file of the project may tell more about a value."""
    if isinstance(value, Result):
        return True
    if isinstance(value, Imported):
        return is_project(value)
    if isinstance(value, CustomOp):
        return linkable(value.name)
    if isinstance(value, Derived):
        return linkable(value.owner)
    return depth <= _DEEP and any(linkable(part, depth + 1) for part in _parts(value))


_DEEP = 8


def _parts(value: Value) -> list[Value]:
    if isinstance(value, String):
        return [part for part in value.parts if isinstance(part, Value)]
    if isinstance(value, Sequence):
        return list(value.items)
    if isinstance(value, Mapping):
        return [part for item in value.items for part in item]
    if isinstance(value, Choice):
        return [option for _, option in value.options]
    if isinstance(value, Instance):
        return list(value.attributes.values())
    if isinstance(value, Partial):
        return [value.callee, *value.arguments.values()]
    return [value.owner] if isinstance(value, Method) else []


def is_project(value: Imported) -> bool:
    """Whether what is imported may come from a file of the project: not from torch, not from Python."""
    return value.relative or (value.module.partition(".")[0] not in FOREIGN and value.module != BUILTINS)


BUILTINS = "builtins"


def imported(module: str, attributes: tuple[str, ...] = (), *, relative: bool = False) -> Value:
    """What an import gives, `torch.ops` recognised."""
    value = Imported(module, attributes, relative)
    if not relative and module.partition(".")[0] == "torch" and value.dotted in _OPS:
        return Operator()
    return value


_OPS = frozenset({"torch.ops", "torch._ops.ops"})
