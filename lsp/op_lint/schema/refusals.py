"""The C++ types that the dispatcher does not take in a kernel, and what to write instead.

Some do not compile (static assertions in `make_boxed_from_unboxed_functor.h` and `infer_schema.h`, conversions that
`IValue` lacks); some compile and abort when the library is loaded (`getTypePtr` throws). What is refused, and when, was
found by compiling and loading each with torch 2.13 and g++ on Linux, where `int64_t` is `long`. A type that is not
known here is not refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

import msgspec

from op_lint.facts import CppType
from op_lint.schema.cpp_meaning import FLOATS, INTEGERS, meaning
from op_lint.schema.cpp_names import canonical


class Stage(str, Enum):
    """When a refusal shows itself."""

    COMPILE = "compile"
    LOAD = "load"


class Refusal(msgspec.Struct, frozen=True):
    """A type that the dispatcher does not take.

    `type` is the part at fault (`int` of `std::optional<int>`), `reason` what is wrong with it in a few lower-case
    words, and `write` the whole type to write instead; empty where there is none.
    """

    stage: Stage
    type: str
    reason: str
    write: str = ""


NOT_PORTABLE = frozenset(("long", "ptrdiff_t", "ssize_t", "intptr_t"))
"""Integers that are `int64_t` on Linux only: elsewhere they are another type, which the dispatcher refuses."""

_INT64_NAMES = NOT_PORTABLE | {"int64_t"}
_REFUSED_INTEGERS = INTEGERS - _INT64_NAMES - {"int8_t", "signed char"}
_REFUSED_NUMBERS = _REFUSED_INTEGERS | FLOATS
_UNBOXABLE = frozenset(
    (
        *("int", "short", "unsigned char", "unsigned short", "unsigned int", "unsigned long", "size_t", "float"),
        *("uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "uint64_t", "uintptr_t"),
    )
)
"""Refused numbers that an `IValue` converts to: a vector of them compiles as a parameter."""

_NOT_BOXABLE = frozenset(("unsigned int", "uint32_t", "long long", "unsigned long long")) | FLOATS - {"float"}
"""Refused numbers that no `IValue` can be made of: not even a view of them compiles as a return."""

_BOXED_AS_ANOTHER = frozenset(("at::TensorBase", "at::OptionalTensorRef", "c10::complex", "*"))
"""Refused types of which an `IValue` of some other type can be made: they compile as a return."""

_CHECKED = frozenset(("std::optional", "c10::List", "std::array", "c10::Dict", "std::tuple"))
"""Containers through which the static assertions for parameters reach; through a vector or a view they do not."""

_VIEWS = frozenset(("c10::ArrayRef", "c10::IListRef", "c10::OptionalArrayRef"))
_VIEW_HOLDERS = frozenset(("std::optional", "c10::List", "c10::Dict"))
_DICT_KEYS = _INT64_NAMES | {"double", "bool", "std::string", "c10::complex", "at::Tensor"}
_LISTS_OF_UNKNOWN = frozenset(("std::vector", "c10::ArrayRef", "std::array", "c10::OptionalArrayRef"))

_REASONS = {
    "at::TensorBase": "a kernel takes and returns `at::Tensor`",
    "at::OptionalTensorRef": "an optional tensor is `std::optional<at::Tensor>`",
    "c10::DispatchKey": "a dispatch key cannot be passed",
    "c10::MaybeOwned": "a kernel takes the value itself",
    "c10::TensorOptions": "dtype, layout, device and pin_memory are passed one by one",
    "c10::DeviceType": "a device is passed as `at::Device`",
    "std::complex": "a complex number is `c10::complex<double>`",
    "std::map": "a map is `c10::Dict`",
    "std::unordered_map": "a map is `c10::Dict`",
    "std::pair": "a pair is `std::tuple`",
}
_REFUSED_STD = {
    "std::any", "std::bitset", "std::deque", "std::forward_list", "std::function", "std::initializer_list", "std::list",
    "std::monostate", "std::multimap", "std::multiset", "std::set", "std::shared_ptr", "std::span", "std::type_index",
    "std::unique_ptr", "std::unordered_multimap", "std::unordered_set", "std::variant", "std::weak_ptr",
}  # fmt: skip
_ATOMS = frozenset(("*", "[]", "()", "?", "c10::intrusive_ptr", "c10::complex", *_REASONS, *_REFUSED_STD))
"""What is taken or refused as a whole, whatever it is made of."""

_OTHERS_NAMESPACES = frozenset(("at", "c10", "caffe2", "std", "torch"))
_BUILTINS = INTEGERS | FLOATS | {"bool", "double", "void", "auto", "nullptr_t"}
_RENAMED = {
    "at::TensorBase": "at::Tensor",
    "c10::DeviceType": "c10::Device",
    "c10::IListRef": "c10::List",
    "std::deque": "std::vector",
    "std::initializer_list": "std::vector",
    "std::list": "std::vector",
    "std::map": "c10::Dict",
    "std::pair": "std::tuple",
    "std::set": "std::vector",
    "std::span": "std::vector",
    "std::unordered_map": "c10::Dict",
    "std::unordered_set": "std::vector",
}


def parameter_refusal(cpp: CppType) -> Refusal | None:
    """Why a kernel cannot have a parameter of this type; None where it can, or where that is not known."""
    cpp = canonical(cpp)
    refusal = _refusal(cpp, is_return=False)
    if refusal is None:
        is_bound = cpp.reference != "&" or cpp.const or cpp.name == "at::Tensor"
        if is_bound or meaning(cpp) is None:
            return None
        reason = "an argument cannot be bound to a reference that is not const"
        refusal = Refusal(Stage.COMPILE, str(cpp), reason)
    return msgspec.structs.replace(refusal, write=_advice(cpp, is_return=False))


def return_refusal(cpp: CppType) -> Refusal | None:
    """Why a kernel cannot return this type; None where it can, or where that is not known.

    A `std::tuple` is several returns.
    """
    cpp = canonical(cpp)
    parts = cpp.arguments if is_several(cpp) else (cpp,)
    for part in parts:
        refusal = _refusal(part, is_return=True) or _const_refusal(part)
        if refusal is not None:
            return msgspec.structs.replace(refusal, write=_advice(cpp, is_return=True))
    return None


def is_several(cpp: CppType) -> bool:
    """Whether a return type is a tuple that the dispatcher takes apart (a reference to one, or a const one, is not)."""
    return cpp.name == "std::tuple" and not cpp.const and not cpp.reference


def _const_refusal(cpp: CppType) -> Refusal | None:
    is_integer = cpp.name in INTEGERS or cpp.name == "bool"
    if not (cpp.const and is_integer and not cpp.reference):
        return None
    return Refusal(Stage.COMPILE, str(cpp), "a const integer is not recognised as a return")


def _refusal(cpp: CppType, *, is_return: bool) -> Refusal | None:
    for path, node in _walk(cpp, ()):
        reason = _reason(node, path, is_return)
        if reason:
            return Refusal(_stage(node, path, is_return), _unqualified(node), reason)
    return None


def _walk(cpp: CppType, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], CppType]]:
    """All that a type is made of, then the type, each with the names of the containers it is in, outermost first."""
    if cpp.name not in _ATOMS:
        elements = cpp.arguments[:1] if cpp.name == "std::array" else cpp.arguments
        for element in elements:
            yield from _walk(element, (*path, cpp.name))
    yield path, cpp


def _reason(node: CppType, path: tuple[str, ...], is_return: bool) -> str:
    """What is wrong with this part of a type; empty where nothing is, or where that is not known."""
    name = node.name
    if name in _REFUSED_INTEGERS:
        return "an integer is `int64_t`"
    if name in FLOATS:
        return "a floating-point number is `double`"
    if name in ("*", "[]"):
        return "a C string cannot be passed" if _is_c_string(node) else "a pointer cannot be passed"
    if name in _REASONS:
        return _REASONS[name]
    if name in _REFUSED_STD:
        return f"`{name}` cannot be passed"
    if name == "c10::complex" and node.arguments[:1] != (CppType("double"),):
        return _REASONS["std::complex"]
    if name == "bool" and path and path[-1] in _bool_refusing(is_return):
        return "a list of bool is `c10::List<bool>`"
    if node.arguments:
        return _container_reason(node, path, is_return)
    return "torch has no schema type for it" if _is_projects_own(name) else ""


def _is_projects_own(name: str) -> bool:
    """Whether this is a class or enumeration of the project: none of torch's, none of the language's, not unknown."""
    is_name = name.replace("::", "").isidentifier()
    return is_name and name not in _BUILTINS and name.split("::")[0] not in _OTHERS_NAMESPACES


def _is_c_string(node: CppType) -> bool:
    return node.name == "*" and node.arguments[0].name == "char"


def _bool_refusing(is_return: bool) -> tuple[str, ...]:
    return ("std::vector",) if is_return else ("std::vector", "c10::ArrayRef", "c10::OptionalArrayRef")


def _container_reason(node: CppType, path: tuple[str, ...], is_return: bool) -> str:
    name = node.name
    element = node.arguments[0].name
    if name == "c10::Dict" and element not in _DICT_KEYS:
        keys = "`std::string`, `int64_t`, `double`, `bool`, `c10::complex<double>` or `at::Tensor`"
        return f"the key of a dictionary is {keys}" if meaning(node.arguments[0]) is not None else ""
    if name == "c10::OptionalArrayRef" and element not in (*_INT64_NAMES, "c10::SymInt"):
        return "`c10::OptionalArrayRef` is for `int64_t` and `c10::SymInt` only"
    if element == "c10::Scalar" and name in ("c10::List", "std::array"):
        return "a list of `at::Scalar` cannot be passed"
    if is_return:
        return _returned_container_reason(node)
    if name in _VIEWS and path and (path[-1] not in _VIEW_HOLDERS):
        return "a view inside another container cannot be passed"
    if name == "std::tuple" and any(argument.reference for argument in node.arguments):
        return "a tuple of references cannot be passed"
    return ""


def _returned_container_reason(node: CppType) -> str:
    name = node.name
    element = node.arguments[-1].name if name == "c10::Dict" else node.arguments[0].name
    if element == "c10::Scalar" and name in ("std::vector", "c10::Dict"):
        return "a list or dictionary of `at::Scalar` cannot be returned"
    if element == "c10::SymInt" and name in ("c10::List", "std::array"):
        return "a list of `c10::SymInt` is `std::vector<c10::SymInt>`"
    if element == "c10::IValue" and name in _LISTS_OF_UNKNOWN:
        return "a list of `c10::IValue` is `c10::List<c10::IValue>`"
    return ""


def _stage(node: CppType, path: tuple[str, ...], is_return: bool) -> Stage:
    if node.name == "c10::OptionalArrayRef":
        return Stage.COMPILE if node.arguments[0].name == "c10::IValue" else Stage.LOAD
    at_load = _returns_at_load(node, path) if is_return else _is_taken_at_compile_time(node, path)
    return Stage.LOAD if at_load else Stage.COMPILE


def _returns_at_load(node: CppType, path: tuple[str, ...]) -> bool:
    name = node.name
    if _is_const_string(node) or name in _REFUSED_NUMBERS:
        return "c10::ArrayRef" in path and name not in _NOT_BOXABLE
    if name == "c10::DeviceType":
        return not _LISTS_OF_UNKNOWN.intersection(path)
    return name in _BOXED_AS_ANOTHER and "c10::IListRef" not in path


def _is_taken_at_compile_time(node: CppType, path: tuple[str, ...]) -> bool:
    name = node.name
    if path[-1:] == ("c10::List",) and name not in _REFUSED_INTEGERS | {"float", "bool"} | _VIEWS:
        return not _is_const_string(node)
    return name in _UNBOXABLE and not _CHECKED.issuperset(path)


def _is_const_string(node: CppType) -> bool:
    return _is_c_string(node) and node.arguments[0].const


def _unqualified(cpp: CppType) -> str:
    return str(CppType(cpp.name, cpp.arguments))


def _advice(cpp: CppType, *, is_return: bool) -> str:
    """The nearest type that is taken, empty where none is."""
    mended = _mended(cpp, is_return)
    if mended is None:
        return ""
    value = CppType(mended.name, mended.arguments)
    refused = return_refusal if is_return else parameter_refusal
    if value == CppType(cpp.name, cpp.arguments, cpp.const, cpp.reference) or refused(value) is not None:
        return ""
    by_reference = cpp.const and cpp.reference == "&" and not is_return and value.arguments
    return f"const {value}&" if by_reference else str(value)


def _mended(cpp: CppType, is_return: bool) -> CppType | None:
    name = cpp.name
    if name in _REFUSED_INTEGERS:
        return CppType("int64_t")
    if name in FLOATS:
        return CppType("double")
    if name in ("*", "[]"):
        return CppType("std::string" if is_return else "std::string_view") if _is_c_string(cpp) else None
    if name in ("std::complex", "c10::complex"):
        return CppType("c10::complex", (CppType("double"),))
    if name == "at::OptionalTensorRef":
        return CppType("std::optional", (CppType("at::Tensor"),))
    elements = [_mended(argument, is_return) for argument in cpp.arguments]
    known = tuple(element for element in elements if element is not None)
    if len(known) != len(elements):
        return None
    if name == "std::vector" and known[:1] == (CppType("bool"),):
        return CppType("c10::List", known)
    if name == "c10::OptionalArrayRef" and known[0].name not in (*_INT64_NAMES, "c10::SymInt"):
        return CppType("std::optional", (CppType("std::vector", known),))
    return CppType(_RENAMED.get(name, name), known)


def takes_symbols(cpp: CppType) -> bool:
    """Whether a parameter makes its kernel one for symbolic integers (`has_symint` in `KernelFunction.h`).

    Only the types themselves do, given by value; a reference to one, or a vector of `SymInt`, does not.
    """
    cpp = canonical(cpp)
    if cpp.reference:
        return False
    element = cpp.arguments[0].name if cpp.arguments else ""
    return cpp.name == "c10::SymInt" or (
        element == "c10::SymInt" and cpp.name in ("std::optional", "c10::ArrayRef", "c10::OptionalArrayRef")
    )
