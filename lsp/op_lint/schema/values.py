"""Literals of default values: what torch reads from a number, a string or a device in a schema (torch 2.13).

The sources are `function_schema_parser.cpp`, `parse_string_literal.h` and `c10/core/Device.cpp`. Numbers are read with
`std::stod` and `std::stoll`, which stop at the first character they do not know: `int x=0x10` defaults to 0.
"""

from __future__ import annotations

import re
import sys
from decimal import Decimal
from fractions import Fraction

from op_lint.schema.lexer import NUMBER_PATTERN
from op_lint.schema.model import Device, Kind

_INT64 = range(-(2**63), 2**63)
_DIGITS = re.compile(r"-?[0-9]+")
_FLOAT = re.compile(rf"-?(?:{NUMBER_PATTERN})")


class LiteralRefusedError(ValueError):
    """Torch refuses this literal; the text says what it would take."""


def read_number(text: str, kind: Kind) -> int | float | complex:
    """The value of a number token (with its sign) as the default of an argument of `kind`.

    Raises:
        LiteralRefusedError: the number does not fit in 64 bits, or is no number at all once torch has cut it.

    """
    if kind is Kind.COMPLEX or "j" in text:
        # Torch drops the last character without looking at it.
        return complex(0.0, _read_double(text[:-1]))
    if kind is Kind.FLOAT or "." in text or "e" in text:
        return _read_double(text)
    return read_integer(text)


def read_integer(text: str) -> int:
    """What `std::stoll` reads from a number token: its leading decimal digits.

    Raises:
        LiteralRefusedError: there are none, or they do not fit in 64 bits.

    """
    match = _DIGITS.match(text)
    if match is None:
        raise LiteralRefusedError("an integer")
    digits = match[0].lstrip("-0")
    # The length comes first: Python refuses to convert a very long run of digits.
    value = int(digits or "0") if len(digits) < 20 else 2**64
    value = -value if text.startswith("-") else value
    if value not in _INT64:
        raise LiteralRefusedError("an integer of 64 bits")
    return value


def _read_double(text: str) -> float:
    match = _FLOAT.match(text)
    if match is None:
        raise LiteralRefusedError("a number")
    digits = match[0]
    try:
        value = float.fromhex(digits) if "x" in digits.lower() else float(digits)
    except OverflowError:
        raise LiteralRefusedError("a number that a double can hold") from None
    if abs(value) == float("inf") or _underflows(digits, value):
        raise LiteralRefusedError("a number that a double can hold")
    return value


def _underflows(digits: str, value: float) -> bool:
    """Whether `strtod` reports a range error: the value is too small for a normal double and was rounded."""
    if abs(value) >= sys.float_info.min:
        return False
    is_hexadecimal = "x" in digits.lower()
    mantissa, _, exponent = digits.lower().lstrip("-").removeprefix("0x").partition("p" if is_hexadecimal else "e")
    if value == 0.0:
        return mantissa.strip("0.") != ""
    if not is_hexadecimal:
        return Decimal(digits) != Decimal(value)
    whole, _, fraction = mantissa.partition(".")
    power = int(exponent.lstrip("+-0") or "0") * (-1 if exponent.startswith("-") else 1)
    return Fraction(int(whole + fraction, 16)) * Fraction(2) ** (power - 4 * len(fraction)) != abs(Fraction(value))


_ESCAPES = {
    "\\": "\\",
    "'": "'",
    '"': '"',
    "\n": "\n",
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "v": "\v",
    "t": "\t",
}
_OCTAL = re.compile(rb"[0-3][0-7][0-7]")


def read_string(token: str) -> str:
    r"""The value of a string token (with its quotes).

    Raises:
        LiteralRefusedError: an escape that torch does not know; `\r`, `\x` and `\u` are among them.

    """
    quotes = 3 if len(token) >= 6 and token[:3] in ("'''", '"""') else 1
    content = token[quotes:-quotes]
    if "\\" not in content:
        return content
    data = content.encode("utf-8", "surrogateescape")
    parts = []
    position = 0
    while True:
        backslash = data.find(b"\\", position)
        if backslash < 0:
            parts.append(data[position:])
            return b"".join(parts).decode("utf-8", "surrogateescape")
        parts.append(data[position:backslash])
        letter = chr(data[backslash + 1])
        if letter in _ESCAPES:
            parts.append(_ESCAPES[letter].encode())
            position = backslash + 2
            continue
        octal = _OCTAL.match(data, backslash + 1)
        if octal is None:
            raise LiteralRefusedError("one of the escapes \\\\ \\' \\\" \\a \\b \\f \\n \\t \\v and \\ooo")
        parts.append(bytes([int(octal[0], 8)]))
        position = backslash + 4


_DEVICE_TYPES = {
    "cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla", "lazy",
    "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone",
}  # fmt: skip
_DEVICE = re.compile(r"([A-Za-z_]+)(?::(0|[1-9][0-9]*))?")


def read_device(text: str) -> Device:
    """A device from its name, as torch prints it; the index wraps around at 8 bits, as torch's does.

    Raises:
        LiteralRefusedError: it is not a device type that torch itself has, with or without an index.

    """
    match = _DEVICE.fullmatch(text)
    if match is None or match[1] not in _DEVICE_TYPES:
        raise LiteralRefusedError('a device such as "cpu" or "cuda:0"')
    if match[2] is None:
        return Device(match[1])
    if len(match[2]) > 10 or int(match[2]) >= 2**31:
        raise LiteralRefusedError("a device index of 32 bits")
    index = (int(match[2]) + 128) % 256 - 128
    return Device(match[1] if index == -1 else f"{match[1]}:{index}")


_SCALAR_TYPE_NAMES = (
    "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex32", "complex64", "complex128",
    "bool", "qint8", "quint8", "qint32", "bfloat16", "quint4x2", "quint2x4", "bits1x8", "bits2x4", "bits4x2", "bits8",
    "bits16", "float8_e5m2", "float8_e4m3fn", "float8_e5m2fnuz", "float8_e4m3fnuz", "uint16", "uint32", "uint64",
    "uint1", "uint2", "uint3", "uint4", "uint5", "uint6", "uint7", "int1", "int2", "int3", "int4", "int5", "int6",
    "int7", "float8_e8m0fnu", "float4_e2m1fn_x2",
)  # fmt: skip
"""The dtypes that torch names in Python, in the order of `c10::ScalarType`: a default is stored as its number."""

_SCALAR_TYPE_SYNONYMS = {
    "short": "int16",
    "int": "int32",
    "long": "int64",
    "half": "float16",
    "float": "float32",
    "double": "float64",
    "chalf": "complex32",
    "cfloat": "complex64",
    "cdouble": "complex128",
    "bit": "uint1",
}
_SCALAR_TYPES = {name: number for number, name in enumerate(_SCALAR_TYPE_NAMES)}
_SCALAR_TYPES.update({synonym: _SCALAR_TYPES[name] for synonym, name in _SCALAR_TYPE_SYNONYMS.items()})
_ENUMERATORS = {
    "float": _SCALAR_TYPES["float32"],
    "complex": _SCALAR_TYPES["complex64"],
    "long": _SCALAR_TYPES["int64"],
    "strided": 0,
    "Mean": 1,
    "contiguous_format": 0,
}


def read_enumerator(word: str, *, is_scalar_type: bool) -> int:
    """The integer that torch stores for a name as a default; `half`, `int64`, ... only where a `ScalarType` is wanted.

    Raises:
        LiteralRefusedError: torch does not know the name.

    """
    number = _ENUMERATORS.get(word)
    if number is None and is_scalar_type:
        number = _SCALAR_TYPES.get(word)
    if number is None:
        raise LiteralRefusedError("a dtype such as `float32`" if is_scalar_type else "a literal")
    return number
