"""One name for each C++ type that kernels use, whichever of its names the source or the headers gave it.

`at::ScalarType`, `c10::ScalarType` and `torch::headeronly::ScalarType` are one type, and which of them a reader reports
depends on the torch version whose headers it saw. All of `op_lint.schema` works on the names given here.
"""

from __future__ import annotations

from functools import lru_cache

from op_lint.facts import CppType

_HOMES = {
    "at": ("Dimname", "Generator", "OptionalTensorRef", "Tensor", "TensorBase"),
    "c10": (
        "ArrayRef",
        "BFloat16",
        "Device",
        "DeviceType",
        "Dict",
        "DispatchKey",
        "DispatchKeySet",
        "Half",
        "IListRef",
        "IValue",
        "Layout",
        "List",
        "MaybeOwned",
        "MemoryFormat",
        "OptionalArrayRef",
        "QScheme",
        "Scalar",
        "ScalarType",
        "Storage",
        "Stream",
        "SymBool",
        "SymFloat",
        "SymInt",
        "TensorOptions",
        "complex",
        "intrusive_ptr",
    ),
    "torch::headeronly": ("HeaderOnlyArrayRef",),
    "std": ("array", "map", "optional", "pair", "string", "string_view", "tuple", "unordered_map", "vector"),
}
QUALIFIED = {name: f"{namespace}::{name}" for namespace, names in _HOMES.items() for name in names}
"""The name of each known type with the namespace it is known by here."""

_TORCH_NAMESPACES = frozenset(("at", "c10", "caffe2", "torch", "torch::headeronly"))
_BASIC_STRINGS = {"basic_string": "std::string", "basic_string_view": "std::string_view"}
_INLINE_NAMESPACES = ("__cxx11::", "__1::")

INT64 = CppType("int64_t")
TENSOR = CppType("at::Tensor")
_SYM_INT = CppType("c10::SymInt")
ALIASES = {
    "TensorList": CppType("c10::ArrayRef", (TENSOR,)),
    "ITensorListRef": CppType("c10::IListRef", (TENSOR,)),
    "IOptTensorListRef": CppType("c10::IListRef", (CppType("at::OptionalTensorRef"),)),
    "IntArrayRef": CppType("c10::ArrayRef", (INT64,)),
    "SymIntArrayRef": CppType("c10::ArrayRef", (_SYM_INT,)),
    "OptionalIntArrayRef": CppType("c10::OptionalArrayRef", (INT64,)),
    "OptionalSymIntArrayRef": CppType("c10::OptionalArrayRef", (_SYM_INT,)),
    "DeviceIndex": CppType("int8_t"),
    "IntHeaderOnlyArrayRef": CppType("torch::headeronly::HeaderOnlyArrayRef", (INT64,)),
}
"""Torch's own type aliases, for a reader that did not see through them."""

KEPT = 65_536
"""C++ types of which one process keeps what was found out; a library has hundreds."""


@lru_cache(maxsize=KEPT)
def canonical(cpp: CppType) -> CppType:
    """`cpp` with the names used here, all the way down, and without spellings: two that are equal are one type."""
    name = cpp.name
    for inline in _INLINE_NAMESPACES:
        name = name.replace(inline, "")
    namespace, _, last = name.rpartition("::")
    arguments = tuple(canonical(argument) for argument in cpp.arguments)
    if namespace in _TORCH_NAMESPACES:
        alias = ALIASES.get(last)
        if alias is not None and not arguments:
            name, arguments = alias.name, alias.arguments
        elif last in QUALIFIED:
            name = QUALIFIED[last]
    if last in _BASIC_STRINGS and namespace in ("std", "c10") and _is_of_char(arguments):
        name, arguments = _BASIC_STRINGS[last], ()
    elif namespace == "std" and last.endswith("_t"):
        name = last
    return CppType(name, arguments, cpp.const, cpp.reference, cpp.spelling if name == "?" else "")


def _is_of_char(arguments: tuple[CppType, ...]) -> bool:
    return not arguments or arguments[0].name == "char"
