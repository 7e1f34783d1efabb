"""What was meant where a schema has a type, or a default value, of another language."""

from __future__ import annotations

import re

from op_lint.schema.cpp_meaning import meaning
from op_lint.schema.cpp_text import read_type
from op_lint.schema.model import Kind, Span, Suggestion, Type
from op_lint.schema.printer import format_type

_WORDS = {
    "boolean": "bool",
    "Boolean": "bool",
    "Bool": "bool",
    "Int": "int",
    "integer": "int",
    "Float": "float",
    "number": "Scalar",
    "Number": "Scalar",
    "String": "str",
    "symint": "SymInt",
    "tensor": "Tensor",
}
"""Single words that are no type of C++ or Python, but are written for one."""

_DEFAULTS = {
    "true": "True",
    "false": "False",
    "none": "None",
    "null": "None",
    "NULL": "None",
    "nil": "None",
    "nullptr": "None",
    "nullopt": "None",
    "c10::nullopt": "None",
    "std::nullopt": "None",
    "at::nullopt": "None",
    "{}": "[]",
}
_DEFAULT = re.compile(r"[A-Za-z_][\w:]*|\{\s*\}")
_FLOAT_SUFFIX = re.compile(r"(-?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+)(?:[eE][+-]?[0-9]+)?)[fFlL]\b")
_FARTHEST = 2
"""How many letters a mistyped name may differ from the right one."""


def spelled_type(text: str, start: int, *, is_return: bool) -> Suggestion | None:
    """What a type of C++ or Python that begins at character `start` is in the schema language; None if there is none.

    A parameter that is a reference and not const is an argument that is written to (`Tensor&` is `Tensor!`).
    """
    read = read_type(text, start)
    if read is None:
        return None
    cpp, end = read
    if cpp.name == "void" and not cpp.reference:
        return Suggestion(Span(start, end), "()") if is_return else None
    word = _WORDS.get(text[start:end])
    type_ = meaning(cpp)
    if word is None and type_ is None:
        return None
    meant = word or _written(
        type_ or Type(Kind.NONE), is_written=cpp.reference == "&" and not cpp.const and not is_return
    )
    return Suggestion(Span(start, end), meant) if meant != text[start:end] else None


def _written(type_: Type, *, is_written: bool) -> str:
    text = format_type(type_)
    return f"{text}!" if is_written and type_.kind is Kind.TENSOR else text


def spelled_default(text: str, start: int) -> Suggestion | None:
    """What a default value of C++ or Python that begins at character `start` is in the schema language."""
    number = _FLOAT_SUFFIX.match(text, start)
    if number is not None:
        return Suggestion(Span(start, number.end()), number[1])
    word = _DEFAULT.match(text, start)
    meant = _DEFAULTS.get(word[0].replace(" ", "")) if word is not None else None
    return Suggestion(Span(start, word.end()), meant) if word is not None and meant is not None else None


def nearest_type(name: str, names: tuple[str, ...]) -> str | None:
    """The one of `names` that `name` is most likely a slip of the pen for."""
    from rapidfuzz.distance import OSA  # only a mistake pays for the import

    distances = [(OSA.distance(name.lower(), known.lower()), known) for known in names]
    distance, nearest = min(distances, default=(_FARTHEST + 1, ""))
    return nearest if distance <= min(_FARTHEST, len(name) // 2) else None
