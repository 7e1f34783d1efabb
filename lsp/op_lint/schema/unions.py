"""Optionals and unions as torch builds them: flattened, unified, sorted (torch 2.13, `ATen/core/union_type.cpp`).

Torch treats an optional as a union with None. Building either merges members of which one is a subtype of the other,
and may fail: an optional None, or a union of one type, is refused. Printing depends on the result.
"""

from __future__ import annotations

from op_lint.schema.model import NO_SPAN, NUMERIC, Kind, Span, Type, holds_number, is_number
from op_lint.schema.printer import format_type

_KIND_ORDER = {kind: index for index, kind in enumerate(Kind)}
_NONE = Type(Kind.NONE)
_NUMBER = Type(Kind.NUMBER)
_NUMERIC_MEMBERS = (Type(Kind.INT), Type(Kind.FLOAT), Type(Kind.COMPLEX))


class TypeRefusedError(ValueError):
    """Torch refuses to build this type; the text says why."""


def optional(contained: Type, span: Span = NO_SPAN) -> Type:
    """`contained?`. An optional of an optional is one optional.

    Raises:
        TypeRefusedError: `contained` is None.

    """
    if contained.kind not in _UNITING:
        return Type(Kind.OPTIONAL, (contained,), "", span)
    members = _standardized((contained, _NONE))
    if len(members) == 1:
        raise TypeRefusedError("an optional None")
    if len(members) == 2:
        return Type(Kind.OPTIONAL, tuple(m for m in members if m.kind is not Kind.NONE), "", span)
    if is_number(contained):
        return Type(Kind.OPTIONAL, (_NUMBER,), "", span)
    rest = tuple(member for member in members if member.kind is not Kind.NONE)
    return Type(Kind.OPTIONAL, (Type(Kind.UNION, _standardized(rest)),), "", span)


_UNITING = frozenset((Kind.OPTIONAL, Kind.UNION, Kind.NONE, Kind.NUMBER))
"""The kinds whose optional is more than the kind with a `?`."""


def union(members: tuple[Type, ...], span: Span = NO_SPAN) -> Type:
    """`Union(members)`; one of two members of which one is None is an optional.

    Raises:
        TypeRefusedError: all members are one type.

    """
    types = _standardized(members)
    if len(types) == 1:
        raise TypeRefusedError("a union of a single type")
    kinds = {type_.kind for type_ in types}
    if Kind.NONE in kinds:
        if len(types) == 4 and kinds > NUMERIC:
            return Type(Kind.OPTIONAL, (_NUMBER,), "", span)
        if len(types) == 2:
            return optional(next(type_ for type_ in types if type_.kind is not Kind.NONE), span)
    return Type(Kind.UNION, types, "", span)


def _standardized(members: tuple[Type, ...]) -> tuple[Type, ...]:
    types = [flat for member in members for flat in _flattened(member)]
    _merge(types)
    return tuple(sorted(types, key=lambda type_: (_KIND_ORDER[type_.kind], format_type(type_))))


def _flattened(type_: Type) -> list[Type]:
    if type_.kind is Kind.UNION:
        return [flat for member in type_.elements for flat in _flattened(member)]
    if type_.kind is Kind.OPTIONAL:
        return [*_flattened(type_.elements[0]), _NONE]
    if type_.kind is Kind.NUMBER:
        return list(_NUMERIC_MEMBERS)
    return [type_]


def _merge(types: list[Type]) -> None:
    """Drop members that unify with another, from right to left, in torch's order (which decides what remains)."""
    last = len(types) - 1
    for right in range(len(types) - 1, 0, -1):
        for left in range(min(right - 1, last), -1, -1):
            unified = _unified_members(types[right], types[left])
            if unified is not None:
                types[left] = unified
                types[right] = types[last]
                last -= 1
                break
    del types[last + 1 :]


def _unified_members(first: Type, second: Type) -> Type | None:
    if (first.kind is Kind.NONE) != (second.kind is Kind.NONE):
        return None
    return _unified(first, second)


def _unified(first: Type, second: Type) -> Type | None:
    """The type that both are, None where torch finds none (`unifyTypes` in `ATen/core/type.cpp`)."""
    if _is_subtype(first, second):
        return second
    if _is_subtype(second, first):
        return first
    if first.kind is Kind.NONE:
        return optional(second)
    if second.kind is Kind.NONE:
        return optional(first)
    if first.kind is Kind.OPTIONAL or second.kind is Kind.OPTIONAL:
        inner, other = (first, second) if first.kind is Kind.OPTIONAL else (second, first)
        element = _unified(inner.elements[0], other)
        return optional(element) if element is not None else None
    if first.kind is second.kind and first.kind in (Kind.TUPLE, Kind.FUTURE):
        if len(first.elements) != len(second.elements):
            return None
        elements = [_unified(a, b) for a, b in zip(first.elements, second.elements, strict=True)]
        found = tuple(element for element in elements if element is not None)
        return Type(first.kind, found) if len(found) == len(elements) else None
    return None


def _is_subtype(type_: Type, other: Type) -> bool:
    """`type.isSubtypeOf(other)` (`ATen/core/type.cpp`)."""
    if type_.kind is Kind.UNION:
        return all(any(_is_subtype(member, accepted) for accepted in _accepted(other)) for member in type_.elements)
    if type_.kind is Kind.OPTIONAL:
        if other.kind is Kind.OPTIONAL:
            return _is_subtype(type_.elements[0], other.elements[0])
        if other.kind is Kind.UNION:
            return _holds(other, _NONE) and _holds(other, type_.elements[0])
        return _is_plain_subtype(type_, other)
    if type_.kind is Kind.NUMBER and other.kind is Kind.UNION:
        return holds_number(other)
    if type_.kind in NUMERIC and other.kind is Kind.NUMBER:
        return True
    if type_.kind is Kind.NONE and other.kind is Kind.OPTIONAL:
        return True
    if type_.kind is Kind.CLASS and other.kind is Kind.ANY_CLASS:
        return True
    if _is_plain_subtype(type_, other):
        return True
    if type_.kind is other.kind and type_.kind in (Kind.TUPLE, Kind.FUTURE, Kind.AWAIT):
        return len(type_.elements) == len(other.elements) and all(
            _is_subtype(a, b) for a, b in zip(type_.elements, other.elements, strict=True)
        )
    return False


def _is_plain_subtype(type_: Type, other: Type) -> bool:
    if other.kind is Kind.ANY or type_ == other:
        return True
    if other.kind is Kind.OPTIONAL:
        return _is_subtype(type_, other.elements[0])
    return other.kind is Kind.UNION and any(_is_subtype(type_, member) for member in other.elements)


def _holds(union: Type, type_: Type) -> bool:
    return any(_is_subtype(type_, member) for member in union.elements)


def _accepted(other: Type) -> tuple[Type, ...]:
    if other.kind is Kind.UNION:
        return other.elements
    if other.kind is Kind.OPTIONAL:
        contained = other.elements[0]
        return (_NONE, *(_NUMERIC_MEMBERS if contained.kind is Kind.NUMBER else (contained,)))
    return _NUMERIC_MEMBERS if other.kind is Kind.NUMBER else (other,)
