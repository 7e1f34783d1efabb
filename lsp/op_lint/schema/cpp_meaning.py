"""What a C++ type means as a schema type, and the C++ to write for a schema type.

A type has a meaning here also where the dispatcher does not take it as it stands: `int` means `int` although it has to
be written `int64_t`, which `op_lint.schema.refusals` says. For the types that it does take, the meaning is what torch
infers (`getTypePtr` in `ATen/core/jit_type.h`, torch 2.13).
"""

from __future__ import annotations

from op_lint.facts import CppType
from op_lint.schema.cpp_names import canonical
from op_lint.schema.model import Argument, Kind, Type
from op_lint.schema.unions import TypeRefusedError, optional

INTEGERS = frozenset(
    (
        *("signed char", "short", "int", "long", "long long", "int8_t", "int16_t", "int32_t", "int64_t"),
        *("unsigned char", "unsigned short", "unsigned int", "unsigned long", "unsigned long long"),
        *("uint8_t", "uint16_t", "uint32_t", "uint64_t", "size_t", "ssize_t", "ptrdiff_t", "intptr_t", "uintptr_t"),
        *("char", "wchar_t", "char8_t", "char16_t", "char32_t", "__int128", "unsigned __int128"),
    )
)
"""The integral types but `bool`."""

FLOATS = frozenset(("float", "long double", "c10::Half", "c10::BFloat16"))
"""The floating-point types but `double`."""

_SIMPLE = {
    "at::Tensor": Kind.TENSOR,
    "at::TensorBase": Kind.TENSOR,
    "torch::stable::Tensor": Kind.TENSOR,
    "bool": Kind.BOOL,
    "double": Kind.FLOAT,
    "std::string": Kind.STRING,
    "std::string_view": Kind.STRING,
    "c10::Device": Kind.DEVICE,
    "torch::stable::Device": Kind.DEVICE,
    "c10::IValue": Kind.ANY,
    "c10::Layout": Kind.LAYOUT,
    "c10::MemoryFormat": Kind.MEMORY_FORMAT,
    "c10::QScheme": Kind.QSCHEME,
    "c10::Scalar": Kind.NUMBER,
    "c10::ScalarType": Kind.SCALAR_TYPE,
    "c10::Storage": Kind.STORAGE,
    "c10::Stream": Kind.STREAM,
    "c10::SymBool": Kind.SYM_BOOL,
    "c10::SymFloat": Kind.SYM_FLOAT,
    "c10::SymInt": Kind.SYM_INT,
    "c10::complex": Kind.COMPLEX,
    "std::complex": Kind.COMPLEX,
}
_LISTS = frozenset(
    (
        *("std::vector", "std::array", "c10::ArrayRef", "c10::List", "c10::IListRef"),
        *("torch::headeronly::HeaderOnlyArrayRef", "std::list", "std::deque", "std::set", "std::span"),
        *("std::initializer_list", "std::unordered_set", "c10::SmallVector"),
    )
)
_DICTS = frozenset(("c10::Dict", "std::unordered_map", "std::map"))
_TUPLES = frozenset(("std::tuple", "std::pair"))
_OPTIONAL_GENERATOR = Type(Kind.OPTIONAL, (Type(Kind.GENERATOR),))

ANY_CLASS_NAME = "__torch__.torch.classes."
"""The name of a class type of which only the C++ name is known."""


def is_named(type_: Type) -> bool:
    """Whether every class in `type` has its name."""
    return type_.name != ANY_CLASS_NAME and all(map(is_named, type_.elements))


def meaning(cpp: CppType) -> Type | None:
    """The schema type that `cpp` means, references and `const` aside; None where it means none or is not known.

    `c10::intrusive_ptr<T>` means a custom class: its name is registered elsewhere, and is `ANY_CLASS_NAME` here.
    """
    return _meaning(canonical(cpp))


def _meaning(cpp: CppType) -> Type | None:
    name = cpp.name
    if name in _SIMPLE:
        return Type(_SIMPLE[name])
    if name in INTEGERS:
        return Type(Kind.INT)
    if name in FLOATS:
        return Type(Kind.FLOAT)
    if name in ("at::Generator", "torch::stable::Generator"):
        # Torch infers an optional, since an undefined Generator is a None.
        return _OPTIONAL_GENERATOR
    if name == "at::OptionalTensorRef":
        return Type(Kind.OPTIONAL, (Type(Kind.TENSOR),))
    if name == "c10::intrusive_ptr":
        return Type(Kind.CLASS, (), ANY_CLASS_NAME)
    if name == "*":
        return Type(Kind.STRING) if cpp.arguments and cpp.arguments[0].name == "char" else None
    return _container_meaning(cpp)


def _container_meaning(cpp: CppType) -> Type | None:
    elements = [_meaning(argument) for argument in cpp.arguments]
    if cpp.name in _TUPLES:
        known = tuple(element for element in elements if element is not None)
        return Type(Kind.TUPLE, known) if len(known) == len(elements) else None
    first = elements[0] if elements else None
    if first is None:
        return None
    if cpp.name in _LISTS:
        return Type(Kind.LIST, (first,))
    if cpp.name == "c10::OptionalArrayRef":
        return Type(Kind.OPTIONAL, (Type(Kind.LIST, (first,)),))
    if cpp.name == "std::optional":
        return _optional(first)
    if cpp.name in _DICTS and len(elements) == 2 and elements[1] is not None:
        return Type(Kind.DICT, (first, elements[1]))
    return None


def _optional(contained: Type) -> Type | None:
    try:
        return optional(contained)
    except TypeRefusedError:
        return None


_WRITTEN = {
    Kind.ANY: "c10::IValue",
    Kind.BOOL: "bool",
    Kind.COMPLEX: "c10::complex<double>",
    Kind.DEVICE: "at::Device",
    Kind.FLOAT: "double",
    Kind.GENERATOR: "at::Generator",
    Kind.INT: "int64_t",
    Kind.LAYOUT: "at::Layout",
    Kind.MEMORY_FORMAT: "at::MemoryFormat",
    Kind.NUMBER: "at::Scalar",
    Kind.QSCHEME: "at::QScheme",
    Kind.SCALAR_TYPE: "at::ScalarType",
    Kind.STORAGE: "c10::Storage",
    Kind.STREAM: "c10::Stream",
    Kind.STRING: "std::string",
    Kind.SYM_BOOL: "c10::SymBool",
    Kind.SYM_FLOAT: "c10::SymFloat",
    Kind.SYM_INT: "c10::SymInt",
    Kind.TENSOR: "at::Tensor",
}


def cpp_parameter(type_: Type) -> str | None:
    """The parameter type to write for an argument of `type`, None where C++ has none that torch would infer so."""
    if type_.kind is Kind.GENERATOR:
        return None  # `at::Generator` means `Generator?`
    if type_.kind is Kind.TENSOR:
        return "const at::Tensor&"
    if type_.kind is Kind.NUMBER:
        return "const at::Scalar&"
    if type_.kind is Kind.LIST:
        special = {Kind.TENSOR: "at::TensorList", Kind.INT: "at::IntArrayRef", Kind.SYM_INT: "c10::SymIntArrayRef"}
        return special.get(type_.elements[0].kind) or cpp_value(type_)
    if type_.kind is Kind.OPTIONAL and type_.elements[0].kind is Kind.LIST:
        special = {Kind.INT: "at::OptionalIntArrayRef", Kind.SYM_INT: "at::OptionalSymIntArrayRef"}
        return special.get(type_.elements[0].elements[0].kind) or cpp_value(type_)
    if type_.kind in (Kind.OPTIONAL, Kind.STRING):
        text = cpp_value(type_)
        return f"const {text}&" if type_ == Type(Kind.OPTIONAL, (Type(Kind.TENSOR),)) else text
    return cpp_value(type_)


def cpp_argument(argument: Argument) -> str | None:
    """The parameter type to write for an argument; a tensor that the operator writes to is not `const`."""
    if argument.is_written and argument.type.kind is Kind.TENSOR:
        return "at::Tensor&"
    return cpp_parameter(argument.type)


def cpp_returned(returned: Argument) -> str | None:
    """The type to write for one return; of a tensor that was written to the reference is passed on."""
    if returned.is_written and returned.type.kind is Kind.TENSOR:
        return "at::Tensor&"
    return cpp_value(returned.type)


def cpp_value(type_: Type) -> str | None:
    """The value type to write for `type`, as a return or inside another type; None where there is none."""
    if type_.kind in _WRITTEN:
        return _WRITTEN[type_.kind]
    elements = [cpp_value(element) for element in type_.elements]
    if not elements or None in elements:
        return None
    inside = ", ".join(element for element in elements if element is not None)
    if type_.kind is Kind.LIST:
        # The dispatcher does not take `std::vector<bool>`.
        return "c10::List<bool>" if inside == "bool" else f"std::vector<{inside}>"
    if type_.kind is Kind.OPTIONAL:
        return f"std::optional<{inside}>"
    if type_.kind is Kind.DICT:
        return f"c10::Dict<{inside}>"
    return f"std::tuple<{inside}>" if type_.kind is Kind.TUPLE else None


def cpp_return(returns: tuple[Type, ...]) -> str | None:
    """The return type to write for a schema that returns `returns`."""
    if not returns:
        return "void"
    values = [cpp_value(type_) for type_ in returns]
    if None in values:
        return None
    if len(values) == 1:
        return values[0]
    return f"std::tuple<{', '.join(value for value in values if value is not None)}>"
