"""Whether a call `torch.ops.ns.op(...)` in Python can be one of an operator, as far as the source shows the arguments.

As torch binds them (`createStackForSchema` and `toIValue` in torch/csrc/jit/python, torch 2.13). What the source does
not show fits anything; the elements of a list are not looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

import msgspec

from op_lint.facts import CallArgument
from op_lint.schema.model import Argument, Kind, Schema, Type

_UNPACKING = frozenset({"*", "**"})

_NUMBERS = frozenset({"bool", "float", "int"})
_INTEGERS = frozenset({"bool", "int"})
_LISTS = frozenset({"list", "tuple"})

_TAKES: dict[Kind, frozenset[str]] = {
    Kind.TENSOR: frozenset({"None"}),
    Kind.INT: _INTEGERS,
    Kind.SYM_INT: _INTEGERS,
    Kind.SCALAR_TYPE: _INTEGERS,
    Kind.LAYOUT: _INTEGERS,
    Kind.MEMORY_FORMAT: _INTEGERS,
    Kind.FLOAT: _NUMBERS,
    Kind.NUMBER: _NUMBERS,
    Kind.COMPLEX: _NUMBERS,
    Kind.BOOL: _NUMBERS | {"None"},
    Kind.STRING: frozenset({"str"}),
    Kind.DEVICE: frozenset({"str"}),
    Kind.GENERATOR: frozenset(),
}
"""The types of Python's literals that each type takes. A type that is not here is not judged."""

_TAKES_EMPTY_DICT = frozenset({Kind.NUMBER, Kind.OPTIONAL, Kind.STRING, Kind.SYM_INT})
"""Lists of these are made of anything that can be gone through."""

_REPEATED = {Kind.INT: _INTEGERS, Kind.FLOAT: frozenset({"float"})}
"""What a list of fixed size takes instead of a list, to repeat it."""

_NUMBERS_AS_TENSORS = frozenset({"aten", "prim", "prims", "_refs"})
"""Namespaces with operators that take a number for a tensor."""


class CallFaultKind(str, Enum):
    """Why torch raises RuntimeError."""

    TOO_MANY = "too-many"
    POSITIONAL = "positional"
    """An argument is given by position that the schema takes by name only."""
    UNKNOWN_NAME = "unknown-name"
    MISSING = "missing"
    TYPE = "type"


class CallFault(msgspec.Struct, frozen=True):
    """The first thing that is wrong with a call.

    `given` is the argument of the call at fault, None where one is missing; `argument` the schema's, if there is one.
    """

    kind: CallFaultKind
    given: CallArgument | None = None
    argument: Argument | None = None


def call_fault(schema: Schema, given: Sequence[CallArgument], namespace: str = "") -> CallFault | None:
    """What is certainly wrong with a call of an operator with `schema` and the arguments `given`; None if nothing."""
    if schema.variadic_arguments:
        return None
    arguments = schema.arguments
    open_ended = any(argument.kind in _UNPACKING for argument in given)
    shown = [argument for argument in given if argument.kind not in _UNPACKING]
    if len(shown) > len(arguments):
        return CallFault(CallFaultKind.TOO_MANY, shown[len(arguments)])
    positional = [argument for argument in shown if argument.name is None]
    if any(argument.kind == "*" for argument in given):
        positional = []  # nobody knows which argument each of them is
    for argument, passed in zip(arguments, positional, strict=False):
        if argument.keyword_only:
            return CallFault(CallFaultKind.POSITIONAL, passed, argument)
        if not _takes(argument, passed.kind, namespace):
            return CallFault(CallFaultKind.TYPE, passed, argument)
    named = {argument.name: argument for argument in arguments}
    for passed in shown:
        if passed.name is None:
            continue
        known = named.get(passed.name)
        if known is None or known in arguments[: len(positional)]:
            return CallFault(CallFaultKind.UNKNOWN_NAME, passed)
        if not _takes(known, passed.kind, namespace):
            return CallFault(CallFaultKind.TYPE, passed, known)
    if open_ended:
        return None
    names = {argument.name for argument in shown}
    missing = (each for each in arguments[len(positional) :] if each.default is None and each.name not in names)
    lacking = next(missing, None)
    return None if lacking is None else CallFault(CallFaultKind.MISSING, None, lacking)


def _takes(argument: Argument, kind: str, namespace: str) -> bool:
    """Whether an argument takes a value of a Python type; `kind` is empty where that is not known."""
    if not kind:
        return True
    type_ = argument.type
    if type_.kind is Kind.OPTIONAL:
        return kind == "None" or _fits(type_.elements[0], kind, argument.size, namespace)
    return _fits(type_, kind, argument.size, namespace)


def _fits(type_: Type, kind: str, size: int | None, namespace: str) -> bool:
    if type_.kind is Kind.LIST:
        element = type_.elements[0].kind
        if kind == "dict":
            return element in _TAKES_EMPTY_DICT or element is Kind.LIST or element not in _TAKES
        if kind == "str" and element is Kind.STRING:
            return True
        return kind in _LISTS or (size is not None and kind in _REPEATED.get(element, frozenset()))
    if type_.kind is Kind.TENSOR and kind in _NUMBERS and namespace in _NUMBERS_AS_TENSORS:
        return True
    takes = _TAKES.get(type_.kind)
    return takes is None or kind in takes
