"""Dispatch keys as registrations name them."""

from __future__ import annotations

from op_lint.cpp.clang import qualified_name
from op_lint.cpp.libclang import Cursor, CursorKind, Type
from op_lint.cpp.literals import Lookup

DEFAULT_KEY = "CompositeImplicitAutograd"
"""The key of a kernel that is registered without one (library.cpp, torch 2.13)."""

_NO_KEY = "Undefined"

_OWN_NAMES = {
    "CatchAll": _NO_KEY,
    "CPUTensorId": "CPU",
    "CUDATensorId": "CUDA",
    "DefaultBackend": "CompositeExplicitAutograd",
    "PrivateUse1_PreAutograd": "AutogradPrivateUse1",
    "PrivateUse2_PreAutograd": "AutogradPrivateUse2",
    "PrivateUse3_PreAutograd": "AutogradPrivateUse3",
    "Autocast": "AutocastCUDA",
}
"""Enumerators of c10::DispatchKey with the value of another one (c10/core/DispatchKey.h, torch 2.13)."""

_WRAPPERS = ("make_optional", "optional", "DispatchKey", "DeviceType")
"""Calls that give the key that they are given."""

_KEY_ENUM = "c10::DispatchKey"
_DEVICE_ENUMS = ("torch::headeronly::DeviceType", "c10::DeviceType")
_DEVICES = frozenset({
    "CPU", "CUDA", "HIP", "HPU", "IPU", "Lazy", "MAIA", "MPS", "MTIA", "Meta", "PrivateUse1", "XLA", "XPU",
})  # fmt: skip
"""The devices that `torch::dispatch(DeviceType, f)` has a key for, of the same name (torch/library.h, torch 2.13)."""


def own_name(key: str) -> str:
    """The name that the dispatcher prints for a key that the source may call by another one."""
    return _OWN_NAMES.get(key, key)


def given_key(key: str | None) -> str | None:
    """`key` as a block or a call gives it: `CatchAll` and `Undefined` give none (torch/library.h, torch 2.13)."""
    return None if key == _NO_KEY else key


def key_of(cursor: Cursor, lookup: Lookup, depth: int = 0) -> str | None:
    """The dispatch key that an expression is (`c10::DispatchKey::CPU`, `torch::kCPU`, a constant); None if unknown.

    A device without a key is `DeviceType::NAME`, a key that no torch has: `torch::dispatch` refuses it at load time.
    """
    if depth > 16:
        return None
    if cursor.kind == CursorKind.DECL_REF_EXPR:
        return _referenced_key(cursor.referenced, lookup, depth)
    if cursor.kind == CursorKind.CONDITIONAL_OPERATOR:
        return None  # chosen at run time
    if cursor.kind == CursorKind.CALL_EXPR and cursor.spelling not in _WRAPPERS:
        return None  # worked out at run time
    for child in cursor.children():
        if child.is_expression:
            key = key_of(child, lookup, depth + 1)
            if key is not None:
                return key
    return None


def _referenced_key(declaration: Cursor | None, lookup: Lookup, depth: int) -> str | None:
    if declaration is None:
        return None
    if declaration.kind == CursorKind.ENUM_CONSTANT_DECL:
        parent = declaration.semantic_parent
        enum = qualified_name(parent) if parent is not None else ""
        if enum == _KEY_ENUM:
            return own_name(declaration.spelling)
        device = declaration.spelling
        return (device if device in _DEVICES else f"DeviceType::{device}") if enum in _DEVICE_ENUMS else None
    bound = lookup(declaration)
    if isinstance(bound, str):
        return bound
    if declaration.kind == CursorKind.VAR_DECL and declaration.type.is_const:
        for child in declaration.children():
            if child.is_expression:
                return key_of(child, lookup, depth + 1)
    return None


def is_key(type_: Type) -> bool:
    """Whether a type is a dispatch key or a device, so that an argument of it chooses the key."""
    name = type_.canonical.spelling.removeprefix("const ").removeprefix("enum ").removesuffix(" &")
    return name == _KEY_ENUM or name in _DEVICE_ENUMS
