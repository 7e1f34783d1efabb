"""Schemas that are a little different from a given one, in each way in which a schema and its kernel drift apart."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.schema import Alias, Argument, Kind, Schema, Type, format_schema

_SCALARS = tuple(map(Type, (Kind.INT, Kind.FLOAT, Kind.BOOL, Kind.STRING, Kind.NUMBER, Kind.SCALAR_TYPE, Kind.DEVICE)))
_TENSOR = Type(Kind.TENSOR)
_ALIAS = Alias(("a",), ("a",), True)


def plain(schema: Schema) -> Schema:
    """`schema` without defaults and annotations, which torch prints in ways that it cannot read."""
    arguments = tuple(_plain(argument) for argument in schema.arguments)
    returns = tuple(_plain(returned) for returned in schema.returns)
    return Schema(schema.name, arguments, returns)


def _plain(argument: Argument) -> Argument:
    return Argument(argument.name, argument.type, argument.size)


def changes(schema: Schema, index: int) -> Iterator[tuple[str, str]]:
    """Pairs of the kind of a change and the changed schema; `index` picks what is changed."""
    arguments, returns = schema.arguments, schema.returns
    for kind, changed in _argument_lists(arguments, index):
        yield kind, format_schema(Schema(schema.name, changed, returns))
    for kind, changed in _return_lists(returns, index):
        yield kind, format_schema(Schema(schema.name, arguments, changed))


def _argument_lists(arguments: tuple[Argument, ...], index: int) -> Iterator[tuple[str, tuple[Argument, ...]]]:
    yield "same", arguments
    yield "add an argument", (*arguments, Argument("added", _SCALARS[index % len(_SCALARS)]))
    if not arguments:
        return
    place = index % len(arguments)
    argument = arguments[place]
    before, after = arguments[:place], arguments[place + 1 :]

    def with_type(type_: Type, size: int | None = None) -> tuple[Argument, ...]:
        return (*before, Argument(argument.name, type_, size), *after)

    yield "drop an argument", before + after
    yield "swap two arguments", (*after, *before, argument)
    yield "rename an argument", (*before, Argument("renamed", argument.type, argument.size), *after)
    yield "make it keyword-only", tuple(Argument(a.name, a.type, a.size, None, True) for a in arguments)
    yield "retype an argument", with_type(_SCALARS[(index // 3) % len(_SCALARS)])
    yield "make it a tensor", with_type(_TENSOR)
    yield "write to it", (*before, Argument(argument.name, argument.type, argument.size, None, False, _ALIAS), *after)
    if argument.type.kind is Kind.OPTIONAL:
        yield "make it not optional", with_type(argument.type.elements[0])
    else:
        yield "make it optional", with_type(Type(Kind.OPTIONAL, (argument.type,)))
    if argument.type.kind is Kind.LIST:
        yield "make it no list", with_type(argument.type.elements[0])
        yield "give the list a size", with_type(argument.type, 3)
    else:
        yield "make it a list", with_type(Type(Kind.LIST, (argument.type,)))
    yield "make it symbolic", tuple(_exchanged(a, Kind.INT, Kind.SYM_INT) for a in arguments)
    yield "make it an int", tuple(_exchanged(a, Kind.SYM_INT, Kind.INT) for a in arguments)
    yield "make one symbolic", (*before, _exchanged(argument, Kind.INT, Kind.SYM_INT), *after)
    yield "make one an int", (*before, _exchanged(argument, Kind.SYM_INT, Kind.INT), *after)


def _exchanged(argument: Argument, kind: Kind, other: Kind) -> Argument:
    return Argument(argument.name, _with_kind(argument.type, kind, other), argument.size)


def _with_kind(type_: Type, kind: Kind, other: Kind) -> Type:
    if type_.kind is kind:
        return Type(other)
    return Type(type_.kind, tuple(_with_kind(element, kind, other) for element in type_.elements), type_.name)


def _return_lists(returns: tuple[Argument, ...], index: int) -> Iterator[tuple[str, tuple[Argument, ...]]]:
    yield "add a return", (*returns, Argument("", _TENSOR))
    yield "return nothing", ()
    if not returns:
        return
    place = index % len(returns)
    before, returned, after = returns[:place], returns[place], returns[place + 1 :]
    yield "drop a return", before + after
    yield "retype a return", (*before, Argument("", _SCALARS[index % len(_SCALARS)]), *after)
    yield "name the returns", tuple(Argument(f"r{n}", item.type) for n, item in enumerate(returns))
    yield "return an optional", (*before, Argument("", Type(Kind.OPTIONAL, (returned.type,))), *after)
    yield "return a list", (*before, Argument("", Type(Kind.LIST, (returned.type,))), *after)
    yield "return a symbol", (*before, Argument("", Type(Kind.SYM_INT)), *after)
    yield "return a tuple", (Argument("", Type(Kind.TUPLE, tuple(item.type for item in returns))),)
