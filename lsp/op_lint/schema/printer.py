"""Schemas as torch prints them, byte for byte (torch 2.13, `ATen/core/function_schema.h`, `ATen/core/ivalue.cpp`).

Torch's text is not always a schema that torch can read back: a device prints without quotes, a string of an argument
that is no `str` too, and the annotation of a nested list stands where the parser wants none.
"""

from __future__ import annotations

import math

from op_lint.schema.model import NUMERIC, Alias, Argument, Device, Kind, Schema, Type, Value, holds_number


def format_schema(schema: Schema) -> str:
    """The schema as `str(torch._C.parse_schema(text))` has it.

    Not all of it can be parsed again: `Tensor!` prints as `Tensor($0! -> )`.

    An alias annotation of three or more labels is the exception: torch prints those in the order of a hash table that
    depends on which names the process has seen before; here they come as the last two would, latest first.
    """
    parts = []
    keyword_only = False
    for argument in schema.arguments:
        if argument.keyword_only and not keyword_only:
            keyword_only = True
            parts.append("*")
        parts.append(format_argument(argument))
    if schema.variadic_arguments:
        parts.append("...")
    return f"{schema.name}({', '.join(parts)}) -> {format_returns(schema)}"


def format_returns(schema: Schema) -> str:
    """What follows the arrow: one return, or a parenthesized list."""
    parts = [format_argument(item) for item in schema.returns]
    if schema.variadic_returns:
        parts.append("...")
    # A lone tuple is put in parentheses, or it would read as a list of returns.
    if len(parts) == 1 and not parts[0].startswith("("):
        return parts[0]
    return f"({', '.join(parts)})"


def format_argument(argument: Argument) -> str:
    """One argument or return: type, alias annotation, name and default."""
    type_ = argument.type
    alias = argument.alias
    is_optional = type_.kind is Kind.OPTIONAL
    inner = type_.elements[0] if is_optional else type_
    if inner.kind is Kind.LIST:
        annotation = format_alias(alias.contained[0]) if alias is not None and alias.contained else ""
        size = "" if argument.size is None else str(argument.size)
        text = f"{format_type(inner.elements[0])}{annotation}[{size}]"
    else:
        text = format_type(inner)
    if alias is not None and alias.before:
        text += format_alias(alias)
    if is_optional:
        text += "?"
    if argument.name:
        text += f" {argument.name}"
    if argument.default is not None:
        text += f"={_default_text(argument.default.value, type_, inner)}"
    return text


_SINGLE = {Kind.FUTURE: "Future", Kind.AWAIT: "Await", Kind.RREF: "RRef"}


def format_type(type_: Type) -> str:
    """The type as torch names it in schemas and in its error texts (`Type::str`); list sizes are not part of it."""
    kind = type_.kind
    if kind is Kind.LIST:
        return f"{format_type(type_.elements[0])}[]"
    if kind is Kind.OPTIONAL:
        return f"{format_type(type_.elements[0])}?"
    if kind is Kind.DICT:
        return f"Dict({format_type(type_.elements[0])}, {format_type(type_.elements[1])})"
    if kind is Kind.TUPLE:
        return f"({', '.join(map(format_type, type_.elements))})"
    if kind in _SINGLE:
        return f"{_SINGLE[kind]}({format_type(type_.elements[0])})"
    if kind is Kind.UNION:
        return _union_text(type_)
    if kind is Kind.CLASS or kind is Kind.VARIABLE:
        return type_.name
    return str(kind.value)


def _union_text(type_: Type) -> str:
    """Torch's text of a union, with its slip: after a lone first member no comma precedes `Scalar`."""
    holds = holds_number(type_)
    text = ""
    separated = False
    for index, member in enumerate(type_.elements):
        if holds and member.kind in NUMERIC:
            continue
        if index > 0:
            text += ", "
            separated = True
        text += format_type(member)
    if holds:
        text += ", Scalar" if separated else "Scalar"
    return f"Union({text})"


def format_alias(alias: Alias) -> str:
    """An annotation with its parentheses. Labels come latest first: torch keeps them in a hash table."""
    text = "|".join(reversed(alias.before))
    if alias.write:
        text += "!"
    if set(alias.before) != set(alias.after):
        text += f" -> {'|'.join(reversed(alias.after))}"
    return f"({text})"


def _default_text(value: Value, type_: Type, inner: Type) -> str:
    if isinstance(value, str) and inner.kind is Kind.STRING:
        return quoted(value)
    is_int_list = type_.kind is Kind.LIST and type_.elements[0].kind is Kind.INT
    if is_int_list and isinstance(value, tuple) and len(value) > 1 and all(v == value[0] for v in value):
        return format_value(value[0])
    return format_value(value)


def format_value(value: Value) -> str:
    """A default value as torch's `IValue` prints; strings come without quotes."""
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float_text(value)
    if isinstance(value, complex):
        sign = "+" if value.imag >= 0 else "-"
        return f"{_float_text(value.real)}{sign}{_float_text(abs(value.imag))}j"
    if isinstance(value, Device):
        return value.name
    if isinstance(value, str):
        return value
    return f"[{', '.join(map(format_value, value))}]"


_INT64_LIMIT = 2.0**63


def _float_text(value: float) -> str:
    if value == math.floor(value) and -_INT64_LIMIT <= value < _INT64_LIMIT:
        return f"{int(value)}."
    return f"{value:.17g}"


_ESCAPES = {
    ord(character): f"\\{letter}" for character, letter in zip("\\'\"\a\b\f\n\r\t\v", "\\'\"abfnrtv", strict=True)
}


def quoted(value: str) -> str:
    """A string in double quotes as `c10::printQuotedString` writes it.

    Bytes that are not printable ASCII become three octal digits; for bytes above 0x7f torch computes the digits of a
    negative `char`, which gives other characters than digits.
    """
    parts = []
    for byte in value.encode("utf-8", "surrogateescape"):
        if byte in _ESCAPES:
            parts.append(_ESCAPES[byte])
        elif 0x1F < byte < 0x7F:
            parts.append(chr(byte))
        else:
            parts.append(_octal(byte))
    return f'"{"".join(parts)}"'


def _octal(byte: int) -> str:
    signed = byte - 256 if byte > 0x7F else byte
    digits = []
    for _ in range(2):
        quotient = int(signed / 8)  # towards zero, as C++ divides
        digits.append(signed - 8 * quotient)
        signed = quotient
    digits.append(signed)
    return "\\" + "".join(chr(ord("0") + digit) for digit in reversed(digits))
