"""The operator schema as a value: types, alias sets, defaults, arguments and what a parse error is.

The model holds what torch's own `FunctionSchema` holds (torch 2.13, `ATen/core/function_schema.h`), and where each
part stands in the string. Two values are equal when they mean the same; where they stand is not compared.

Units: a span counts characters of the schema string, 0-based, end exclusive.
"""

from __future__ import annotations

from enum import Enum
from typing import TypeAlias

import msgspec


class Span(msgspec.Struct, frozen=True, gc=False):
    """Characters `start` to `end` (exclusive) of a schema string; empty at 0 where there is no string."""

    start: int
    end: int


NO_SPAN = Span(0, 0)
"""The span of a value that no string was parsed for (an inferred schema)."""


class Node(msgspec.Struct, frozen=True, eq=False, gc=False):
    """A part of a schema: equal to another of its class that means the same, wherever either was written."""

    def _meaning(self) -> object:
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return self._meaning() == other._meaning() if isinstance(other, type(self)) else NotImplemented

    def __ne__(self, other: object) -> bool:
        return not self == other  # a Struct has its own, which with eq=False compares identity

    def __hash__(self) -> int:
        return hash(self._meaning())


class Kind(str, Enum):
    """What a schema type is; the value is how torch prints it, where it prints as a word.

    The order is that of `c10::TypeKind` (`ATen/core/jit_type_base.h`): torch sorts the members of a `Union` by it.
    """

    ANY = "Any"
    ANY_ENUM = "AnyEnumType"
    TENSOR = "Tensor"
    STORAGE = "Storage"
    TUPLE = "Tuple"
    LIST = "List"
    DICT = "Dict"
    NUMBER = "Scalar"
    FLOAT = "float"
    COMPLEX = "complex"
    FUTURE = "Future"
    AWAIT = "Await"
    RREF = "RRef"
    INT = "int"
    NONE = "NoneType"
    STRING = "str"
    GENERATOR = "Generator"
    QUANTIZER = "Quantizer"
    BOOL = "bool"
    OPTIONAL = "Optional"
    VARIABLE = "variable"
    DEVICE = "Device"
    STREAM = "Stream"
    CLASS = "class"
    OPAQUE = "PyObject"
    CAPSULE = "Capsule"
    QSCHEME = "QScheme"
    SCALAR_TYPE = "ScalarType"
    LAYOUT = "Layout"
    MEMORY_FORMAT = "MemoryFormat"
    ANY_CLASS = "AnyClassType"
    SYM_INT = "SymInt"
    SYM_FLOAT = "SymFloat"
    SYM_BOOL = "SymBool"
    UNION = "Union"


class Type(Node, frozen=True, eq=False, gc=False):
    """A schema type as a tree.

    `elements` are the contained types: one for a list, an optional, a `Future`, `Await` or `RRef`, key and value for a
    `Dict`, the members of a tuple or a `Union`. `name` is the full name of a class (`__torch__.torch.classes.ns.T`), of
    an opaque Python type (`module.Class`) or of a type variable. `span` covers everything that is written for the
    type, alias annotations included. Equality is torch's own: type variables are all equal, opaque types are all
    equal, and `Union(int, float, complex)` is `Scalar`.
    """

    kind: Kind
    elements: tuple[Type, ...] = ()
    name: str = ""
    span: Span = NO_SPAN

    def _meaning(self) -> object:
        if is_number(self):
            return Kind.NUMBER
        return (self.kind, self.name if self.kind is Kind.CLASS else self.elements)


NUMERIC = frozenset((Kind.INT, Kind.FLOAT, Kind.COMPLEX))
"""The types that a `Scalar` may hold."""


def holds_number(union: Type) -> bool:
    """Whether every number fits a member of `union`."""
    return {member.kind for member in union.elements} >= NUMERIC


def is_number(type_: Type) -> bool:
    """Whether `type` is `Scalar`, also where it is spelled as a union of the three numeric types."""
    return type_.kind is Kind.NUMBER or (type_.kind is Kind.UNION and len(type_.elements) == 3 and holds_number(type_))


FAKE_KINDS = {Kind.SYM_INT: Kind.INT, Kind.SCALAR_TYPE: Kind.INT, Kind.LAYOUT: Kind.INT, Kind.MEMORY_FORMAT: Kind.INT}
"""The types that torch stores as another, its "fake" type (`parseFakeAndRealType`)."""


def fake_type(type_: Type) -> Type:
    """`type` with `int` for SymInt, ScalarType, Layout and MemoryFormat, also in lists and optionals."""
    kind = FAKE_KINDS.get(type_.kind)
    if kind is not None:
        return Type(kind, (), "", type_.span)
    if type_.kind is Kind.LIST or type_.kind is Kind.OPTIONAL:
        return Type(type_.kind, (fake_type(type_.elements[0]),), "", type_.span)
    return type_


class Alias(Node, frozen=True, eq=False, gc=False):
    """An alias annotation: the sets a value is in before the call, after it, and whether the operator writes to it.

    Labels are in the order in which they were written, once each; `*` is the wildcard. `Tensor!` has the one label
    `$0` (`$1`, ... for the next ones in the string), writes, and has no set after the call. `contained` is the
    annotation of a list's elements (`Tensor(a!)[]`); the list's own sets are then empty unless it has its own.
    """

    before: tuple[str, ...]
    after: tuple[str, ...]
    write: bool
    contained: tuple[Alias, ...] = ()
    span: Span = NO_SPAN

    @property
    def is_anonymous(self) -> bool:
        """Whether this is a `!` without a set."""
        return bool(self.before) and self.before[0].startswith("$")

    def _meaning(self) -> object:
        return (self.write, frozenset(self.before), frozenset(self.after), self.contained)


class Device(msgspec.Struct, frozen=True, gc=False):
    """A device as a default value; `name` is as torch prints it (`cuda:1`)."""

    name: str


Value: TypeAlias = "bool | int | float | complex | str | Device | tuple[Value, ...] | None"
"""What an argument may default to. A string holds bytes that are not UTF-8 as surrogate escapes."""


class Default(Node, frozen=True, eq=False, gc=False):
    """A default value, with enumerators (`Mean`, `strided`, `float`) already the integers that torch stores.

    Equality is of type and value: `1`, `1.0` and `True` are three defaults.
    """

    value: Value
    span: Span = NO_SPAN

    def _meaning(self) -> object:
        return _typed(self.value)


def _typed(value: Value) -> object:
    if isinstance(value, tuple):
        return tuple(_typed(element) for element in value)
    return (type(value), value)


class Argument(Node, frozen=True, eq=False, gc=False):
    """An argument, or a return (where `name` may be empty, and there is no default).

    `size` is the N of a fixed-size list (`int[2]`), None for any other type. `span` is the whole argument.
    """

    name: str
    type: Type
    size: int | None = None
    default: Default | None = None
    keyword_only: bool = False
    alias: Alias | None = None
    span: Span = NO_SPAN
    name_span: Span = NO_SPAN

    def _meaning(self) -> object:
        return (self.name, self.type, self.size, self.default, self.keyword_only, self.alias)

    @property
    def is_written(self) -> bool:
        """Whether the operator says that it writes to this argument."""
        return self.alias is not None and self.alias.write


class Name(Node, frozen=True, eq=False, gc=False):
    """An operator's name as written: `namespace::name.overload`; namespace and overload are empty where absent."""

    name: str
    namespace: str = ""
    overload: str = ""
    span: Span = NO_SPAN
    namespace_span: Span = NO_SPAN
    name_span: Span = NO_SPAN
    overload_span: Span = NO_SPAN

    def _meaning(self) -> object:
        return (self.namespace, self.name, self.overload)

    def __str__(self) -> str:
        qualified = f"{self.namespace}::{self.name}" if self.namespace else self.name
        return f"{qualified}.{self.overload}" if self.overload else qualified


class Schema(Node, frozen=True, eq=False, gc=False):
    """An operator's schema. `variadic_arguments` and `variadic_returns` are the `...` of a list."""

    name: Name
    arguments: tuple[Argument, ...] = ()
    returns: tuple[Argument, ...] = ()
    variadic_arguments: bool = False
    variadic_returns: bool = False
    returns_span: Span = NO_SPAN

    def _meaning(self) -> object:
        return (self.name, self.arguments, self.returns, self.variadic_arguments, self.variadic_returns)


class ErrorKind(str, Enum):
    """What is wrong with a schema string, as a stable word."""

    TOKEN = "token"
    """A character that starts no token."""
    SYNTAX = "syntax"
    """Something else was expected here."""
    UNKNOWN_TYPE = "unknown-type"
    """A name that torch does not know as a type."""
    TYPE = "type"
    """A type that torch refuses to build (`Dict` with such a key, an optional None)."""
    DEFAULT = "default"
    """A default value that does not fit its argument, or no value at all."""
    ORDER = "order"
    """An argument without a default after one with, or something after `...`."""
    NAME = "name"
    """A name that torch reserves."""
    DEPTH = "depth"
    """Types nested more deeply than op-lint reads."""


class Suggestion(msgspec.Struct, frozen=True):
    """Replace the characters of `span` by `text`: what was most likely meant."""

    span: Span
    text: str


class SchemaError(msgspec.Struct, frozen=True):
    """Why a string is not a schema.

    `span` is what is wrong, `expected` what may stand there instead, and `message` one lower-case line that says both.
    """

    kind: ErrorKind
    span: Span
    expected: str
    message: str
    suggestion: Suggestion | None = None
