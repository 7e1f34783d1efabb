"""Signatures of kernels, from the text of their types."""

from __future__ import annotations

from op_lint.facts import CppType, Parameter, Signature
from op_lint.schema import Schema, parse_schema
from op_lint.schema.cpp_text import read_type


def cpp(text: str) -> CppType:
    """The C++ type that a text is the whole of."""
    read = read_type(text)
    assert read is not None
    assert read[1] == len(text)
    return read[0]


def kernel(returns: str, *parameters: str, noexcept: bool = False) -> Signature:
    """A kernel; each parameter is `type name`."""
    split = (parameter.rpartition(" ") for parameter in parameters)
    return Signature(cpp(returns), tuple(Parameter(name, cpp(type_)) for type_, _, name in split), noexcept=noexcept)


def schema_of(text: str) -> Schema:
    """The schema that a text is."""
    schema = parse_schema(text)
    assert isinstance(schema, Schema)
    return schema
