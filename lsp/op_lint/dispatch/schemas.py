"""What an operator's schema decides about its calls: whether there is a tensor to dispatch on, and what torch's own
fallbacks can do with it.
"""

from __future__ import annotations

from functools import lru_cache

from op_lint.dispatch.registration import Operator
from op_lint.schema.fakes import has_known_result
from op_lint.schema.model import Alias, Argument, Kind, Schema, Type
from op_lint.schema.parser import parse_declaration

_KEPT = 4096
"""Schemas whose parse is kept in one process."""

_POINTWISE = "pointwise"
_MOST_POINTWISE = 2
"""Tensors that a pointwise operator may take for the jagged layout to do without an implementation of its own."""


@lru_cache(maxsize=_KEPT)
def _parsed(text: str) -> Schema | None:
    schema = parse_declaration(text)
    return schema if isinstance(schema, Schema) else None


def schema_of(operator: Operator) -> Schema | None:
    """The operator's schema; None where nothing defines it, or the text is none."""
    return None if operator.schema is None else _parsed(operator.schema)


def is_dispatched_on(type_: Type) -> bool:
    """Whether the dispatcher looks for tensors in an argument of this type.

    In `Tensor`, `Tensor?`, `Tensor[]` and `Tensor?[]` (`isDispatchType` in `DispatchKeyExtractor.h`, torch 2.13).
    """
    if type_.kind is Kind.LIST:
        type_ = type_.elements[0]
    if type_.kind is Kind.OPTIONAL:
        type_ = type_.elements[0]
    return type_.kind is Kind.TENSOR


def dispatches(schema: Schema) -> bool:
    """Whether an argument can hold a tensor that the dispatcher looks at."""
    return any(is_dispatched_on(argument.type) for argument in schema.arguments)


def may_dispatch(operator: Operator) -> bool:
    """The same for an operator, True where its schema is not known."""
    schema = schema_of(operator)
    return schema is None or dispatches(schema)


def has_alias_annotation(operator: Operator) -> bool:
    """Whether an argument or a return of the operator has an alias annotation."""
    schema = schema_of(operator)
    return schema is not None and any(each.alias is not None for each in (*schema.arguments, *schema.returns))


def has_trivial_fake(operator: Operator) -> bool:
    """Whether torch knows what the operator returns, so that nobody has to register a fake of it."""
    schema = schema_of(operator)
    return schema is not None and has_known_result(schema, operator.tags)


def batching_refusal(operator: Operator) -> str | None:
    """What torch's fallback for vmap says of an operator that it cannot call for each slice; None where it can.

    In the order of its checks (`batchedTensorForLoopFallback`, aten/src/ATen/functorch/BatchedFallback.cpp).
    """
    schema = schema_of(operator)
    if schema is None or _is_in_place(schema):
        return None
    returns_tensors = all(each.type.kind is Kind.TENSOR for each in schema.returns)
    if not returns_tensors or any(_is_tensor_list(argument.type) for argument in schema.arguments):
        reason = ". We could not generate a fallback."
    elif has_alias_annotation(operator):
        reason = "; the fallback path doesn't work on out= or view ops."
    elif not schema.returns:
        reason = ". The fallback path does not support operations with no returns."
    else:
        return None
    return f"Batching rule not implemented for {operator.name}{reason}"


def is_jagged_pointwise(operator: Operator) -> bool:
    """Whether the jagged layout does the operator as one that works on each number by itself (`lookup_jagged`)."""
    schema = schema_of(operator)
    if schema is None or _POINTWISE not in operator.tags:
        return False
    return 1 <= sum(argument.type.kind is Kind.TENSOR for argument in schema.arguments) <= _MOST_POINTWISE


def _is_tensor_list(type_: Type) -> bool:
    return type_.kind is Kind.LIST and is_dispatched_on(type_)


def _is_in_place(schema: Schema) -> bool:
    """`isInplaceOp`, aten/src/ATen/functorch/PlumbingHelper.cpp: writes to its first argument only, and returns it."""
    if not schema.arguments or len(schema.returns) != 1:
        return False
    first, *others = schema.arguments
    return _writes(first) and _writes(schema.returns[0]) and all(other.alias is None for other in others)


def _writes(argument: Argument) -> bool:
    alias: Alias | None = argument.alias
    return alias is not None and alias.write
