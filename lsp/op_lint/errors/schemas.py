"""Errors of the schema parser: what torch says of a schema string that it cannot read."""

from __future__ import annotations

from op_lint.errors.kind import Kind, Stage
from op_lint.message import Message

INVALID_SCHEMA = Kind(
    "invalid-schema",
    Stage.LOAD,
    (
        Message("unknown type specifier. Common valid schema types include {text}README.md#func :\n{marked} <--- HERE",
                "unknown type specifier."),
        Message("unknown type specifier:\n{marked} <--- HERE", "unknown type specifier:"),
        Message("Use {text} instead of {text2} in an operator's schema string.{text3} in C++.:\n{marked} <--- HERE",
                "in an operator's schema string."),
        Message("expected {wanted} but found 'eof' here:\n{line}", " but found '"),
        Message("expected {wanted} but found '{found}' here:\n{marked} <--- HERE", " but found '"),
    ),
    "the parser of torch does not understand a schema string. Types are those of the schema language (Tensor, int,"
    " float, SymInt, bool, str, Scalar, Device, ...), and not those of C++ or Python.",
    ("write the schema as in native_functions.yaml: `name(Tensor x, int n=1) -> Tensor`",),
    ("OPL101", "OPL105", "OPL211"),
)  # fmt: skip

KINDS = (INVALID_SCHEMA,)
