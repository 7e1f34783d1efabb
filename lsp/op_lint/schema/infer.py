"""The schema that the dispatcher infers from a kernel's C++ signature (torch 2.13, `op_registration/infer_schema.h`).

Arguments and returns are named `_0`, `_1`, ...; a returned tuple is several returns; a first parameter that is a
`c10::DispatchKeySet` is no argument.
"""

from __future__ import annotations

from functools import lru_cache

import msgspec

from op_lint.facts import CppType, Parameter, Signature
from op_lint.schema.cpp_meaning import is_named, meaning
from op_lint.schema.cpp_names import KEPT, canonical
from op_lint.schema.model import Argument, Name, Schema, Type
from op_lint.schema.refusals import Refusal, is_several, parameter_refusal, return_refusal, takes_symbols


class Inferred(msgspec.Struct, frozen=True):
    """What is inferred from one parameter or return.

    `type` is what it means, also where it is refused; None where that is not known.
    """

    cpp: CppType
    type: Type | None = None
    refusal: Refusal | None = None


class Inference(msgspec.Struct, frozen=True):
    """What is inferred from a signature.

    `parameters` are those that are arguments, in step with `arguments`; `returns` are the parts of the return type.
    `has_symbols` says that the kernel is registered as one for symbolic integers: then every `SymInt` of the schema has
    to be one in C++, and otherwise none may be (`CppFunction`, `cloneWithRealTypes`).
    """

    parameters: tuple[Parameter, ...]
    arguments: tuple[Inferred, ...]
    returns: tuple[Inferred, ...]
    has_symbols: bool

    @property
    def is_known(self) -> bool:
        """Whether every type is known and taken, so that there is a schema."""
        items = (*self.arguments, *self.returns)
        return all(item.type is not None and item.refusal is None and is_named(item.type) for item in items)


def infer(signature: Signature) -> Inference:
    """What the dispatcher makes of a signature, type by type."""
    parameters = signature.parameters
    if parameters and _is_key_set(parameters[0].type):
        parameters = parameters[1:]
    arguments = tuple(_inferred_parameter(parameter.type) for parameter in parameters)
    has_symbols = any(takes_symbols(parameter.type) for parameter in parameters)
    return Inference(parameters, arguments, _inferred_returns(signature.returns), has_symbols)


def infer_schema(signature: Signature, name: Name | None = None) -> Schema | None:
    """The schema that `def(name, kernel)` registers; None where a type is refused or not known."""
    inference = infer(signature)
    if not inference.is_known:
        return None
    return Schema(name or Name(""), _numbered(inference.arguments), _numbered(inference.returns))


def _is_key_set(cpp: CppType) -> bool:
    cpp = canonical(cpp)
    return cpp.name == "c10::DispatchKeySet" and not cpp.reference


@lru_cache(maxsize=KEPT)
def _inferred_parameter(cpp: CppType) -> Inferred:
    return _inferred(cpp, parameter_refusal(cpp))


def _inferred(cpp: CppType, refusal: Refusal | None) -> Inferred:
    return Inferred(cpp, meaning(cpp), refusal)


@lru_cache(maxsize=KEPT)
def _inferred_returns(cpp: CppType) -> tuple[Inferred, ...]:
    cpp = canonical(cpp)
    if cpp.name == "void":
        return ()
    if is_several(cpp):
        parts = cpp.arguments
        return tuple(_inferred(part, return_refusal(_as_one(part))) for part in parts)
    return (_inferred(cpp, return_refusal(cpp)),)


def _as_one(part: CppType) -> CppType:
    """A part of a returned tuple, as a return of its own: a tuple in a tuple is one value."""
    return CppType("std::tuple", (part,)) if part.name == "std::tuple" else part


def _numbered(items: tuple[Inferred, ...]) -> tuple[Argument, ...]:
    return tuple(Argument(f"_{index}", item.type) for index, item in enumerate(items) if item.type is not None)
