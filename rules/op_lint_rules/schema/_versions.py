"""Schema types that not every torch knows."""

from __future__ import annotations

import re

from op_lint.condition import Condition, atoms
from op_lint.schema.model import ErrorKind, SchemaError

REFUSED_UNTIL: dict[str, tuple[int, int]] = {
    "PyObject": (2, 14),
    "SymBool": (2, 4),
}
"""The newest torch whose parser was seen to refuse a type; of later ones nothing is said."""


_ASKS_FOR_TORCH = re.compile(r"version|hasattr|torch_?\d|^no ", re.IGNORECASE)
"""What conditions say that ask for a version of torch, or for what it has; and those of a `try`."""


def is_of_some_torch(condition: Condition) -> bool:
    """Whether code may be there for other versions of torch only than the one at hand, or expects to fail."""
    return any(_ASKS_FOR_TORCH.search(text) for text in atoms(condition))


def too_new_type(text: str, error: SchemaError) -> str | None:
    """The type that `error` is about, if some torch may know it."""
    word = text[error.span.start : error.span.end]
    return word if error.kind is ErrorKind.UNKNOWN_TYPE and word in REFUSED_UNTIL else None


def is_too_new(text: str, error: SchemaError) -> bool:
    """Whether an unknown type is one for OPL105."""
    return too_new_type(text, error) is not None
