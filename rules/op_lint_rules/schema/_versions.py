"""Schema types that not every torch knows."""

from __future__ import annotations

from op_lint.schema.model import ErrorKind, SchemaError

REFUSED_UNTIL: dict[str, tuple[int, int]] = {
    "PyObject": (2, 14),
    "SymBool": (2, 4),
}
"""The newest torch whose parser was seen to refuse a type; of later ones nothing is said."""


def too_new_type(text: str, error: SchemaError) -> str | None:
    """The type that `error` is about, if some torch may know it."""
    word = text[error.span.start : error.span.end]
    return word if error.kind is ErrorKind.UNKNOWN_TYPE and word in REFUSED_UNTIL else None


def is_too_new(text: str, error: SchemaError) -> bool:
    """Whether an unknown type is one for OPL105."""
    return too_new_type(text, error) is not None
