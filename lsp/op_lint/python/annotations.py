"""Type annotations and default values as Python objects, made from the source without running it.

`torch.library.infer_schema` compares annotations as objects (`int | None` equals `Optional[int]`) and prints them in
its errors. So they are made of the real `typing`; only what comes from torch, numpy or the project has a stand-in that
prints alike.
"""

from __future__ import annotations

import ast
import builtins
import enum
import importlib
import math
import types
import typing
from collections.abc import Callable
from typing import NewType

from op_lint.python.modules import module_name
from op_lint.python.values import (
    BUILTINS,
    Choice,
    Class,
    Constant,
    Function,
    Imported,
    Mapping,
    Scope,
    Sequence,
    String,
    Unknown,
    Value,
)
from op_lint.python.vocabulary import DTYPES

_DEEP = 20


class NotKnownError(Exception):
    """The source does not tell what object this is."""


def _stand_in(module: str, name: str) -> type:
    return type(name, (), {"__module__": module, "__qualname__": name})


def _numpy_class(name: str) -> type:
    """A stand-in for a class of numpy; they can be given parameters."""
    fields = {"__module__": "numpy", "__qualname__": name, "__class_getitem__": classmethod(types.GenericAlias)}
    return type(name, (), fields)


class _Printed:
    """An object of torch that prints as `text`."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


_TENSOR_META = type("_TensorMeta", (type,), {"__module__": "torch._C"})
TENSOR: type = _TENSOR_META("Tensor", (), {"__module__": "torch", "__qualname__": "Tensor"})
GENERATOR = _stand_in("torch._C", "Generator")
DTYPE = type("dtype", (_Printed,), {"__module__": "torch", "__qualname__": "dtype"})
SCRIPT_OBJECT = _stand_in("torch", "ScriptObject")
NUMBER = int | float | bool
_LAYOUT = type("layout", (_Printed,), {"__module__": "torch", "__qualname__": "layout"})
_MEMORY_FORMAT = type("memory_format", (_Printed,), {"__module__": "torch", "__qualname__": "memory_format"})


class DEVICE(_Printed):
    """Stands for `torch.device`: `str` gives `cuda:0`, `repr` what torch prints."""

    def __init__(self, kind: str, index: int | None = None) -> None:
        where = "" if index is None else f", index={index}"
        super().__init__(f"device(type={kind!r}{where})")
        self._short = kind if index is None else f"{kind}:{index}"

    def __str__(self) -> str:
        return self._short


DEVICE.__module__ = "torch"
DEVICE.__name__ = DEVICE.__qualname__ = "device"

GroupName = NewType("GroupName", str)
GroupName.__module__ = "torch.distributed.distributed_c10d"

_CLASSES = """
    BoolTensor ByteTensor CharTensor DispatchKey DispatchKeySet DoubleTensor Event FloatTensor FunctionSchema HalfTensor
    IntTensor LongTensor ScriptObject ShortTensor Size Stream SymBool SymFloat SymInt Tag finfo iinfo layout
    memory_format qscheme
"""

_TORCH: dict[str, object] = {
    **{f"torch.{name}": _stand_in("torch", name) for name in _CLASSES.split()},
    **{f"torch.{name}": DTYPE(f"torch.{printed}") for name, printed in DTYPES.items()},
    **{f"torch.{name}": _MEMORY_FORMAT(f"torch.{name}") for name in ("channels_last", "contiguous_format")},
    "torch.Generator": GENERATOR,
    "torch.ScriptObject": SCRIPT_OBJECT,
    "torch.Tensor": TENSOR,
    "torch._C.ScriptObject": SCRIPT_OBJECT,
    "torch.channels_last_3d": _MEMORY_FORMAT("torch.channels_last_3d"),
    "torch.device": DEVICE,
    "torch.distributed.distributed_c10d.GroupName": GroupName,
    "torch.dtype": DTYPE,
    "torch.layout": _LAYOUT,
    "torch.memory_format": _MEMORY_FORMAT,
    "torch.nn.Module": _stand_in("torch.nn.modules.module", "Module"),
    "torch.nn.Parameter": _stand_in("torch.nn.parameter", "Parameter"),
    "torch.preserve_format": _MEMORY_FORMAT("torch.preserve_format"),
    "torch.sparse_coo": _LAYOUT("torch.sparse_coo"),
    "torch.strided": _LAYOUT("torch.strided"),
    "torch.types.Number": NUMBER,
    "torch.types._bool": bool,
    "torch.types._device": DEVICE,
    "torch.types._dtype": DTYPE,
    "torch.types._float": float,
    "torch.types._int": int,
}
"""The objects of torch that are seen in signatures, under the names they are known by (torch 2.13)."""

_NUMPY: dict[str, object] = {
    f"numpy.{name}": _numpy_class(name)
    for name in (
        "ndarray", "generic", "dtype", "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8",
        "uint16", "uint32", "uint64", "complex64", "complex128",
    )
}  # fmt: skip
"""The classes of numpy that are seen in annotations, and that print as they are called (numpy 1 and 2)."""

_MODULES = frozenset({"collections", "collections.abc", "datetime", "decimal", "enum", "fractions", "numbers", "types"})
"""Modules of Python whose classes are seen in annotations; they are safe to import."""


class Objects:
    """Makes objects of expressions in the file at `path`.

    `exact` turns False when one may print otherwise than what it stands for: classes print with the name of their
    module, of which the path is only a guess.
    """

    def __init__(self, path: str) -> None:
        self.exact = True
        self._module = module_name(path)
        self._stand_ins: dict[int, type] = {}

    def annotation(self, node: ast.expr, scope: Scope, depth: int = 0) -> object:
        """The object that an annotation is; a str where it is a string.

        Raises NotKnownError where the source does not tell, and what Python raises where the expression is wrong:
        NameError only for names that nothing binds.
        """
        if depth > _DEEP:
            raise NotKnownError
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name | ast.Attribute):
            return self._named(node, scope, depth)
        if isinstance(node, ast.Subscript):
            generic: typing.Any = self.annotation(node.value, scope, depth + 1)
            return generic[self.annotation(node.slice, scope, depth + 1)]
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            left: typing.Any = self.annotation(node.left, scope, depth + 1)
            right: typing.Any = self.annotation(node.right, scope, depth + 1)
            return left | right
        if isinstance(node, ast.Tuple):
            return tuple(self.annotation(item, scope, depth + 1) for item in node.elts)
        if isinstance(node, ast.List):
            return [self.annotation(item, scope, depth + 1) for item in node.elts]
        if isinstance(node, ast.Call):
            return self._called(node, scope, depth)
        raise NotKnownError

    def evaluated(self, text: str, scope: Scope) -> object:
        """The object that a string annotation is in a module's scope. Raises as `annotation`, and SyntaxError."""
        return self.annotation(ast.parse(text, "<string>", "eval").body, scope)

    def _named(self, node: ast.Name | ast.Attribute, scope: Scope, depth: int) -> object:
        value = value_of(node, scope)
        if value is not None:
            return self.object_of(value, depth + 1)
        if isinstance(node, ast.Name):
            if hasattr(builtins, node.id):
                return getattr(builtins, node.id)
            if not scope.module().opaque:
                raise NameError(f"name '{node.id}' is not defined")
        raise NotKnownError

    def _called(self, node: ast.Call, scope: Scope, depth: int) -> object:
        callee = value_of(node.func, scope)
        arguments = [self.annotation(argument, scope, depth + 1) for argument in node.args]
        make = _CONSTRUCTORS.get(callee.dotted) if isinstance(callee, Imported) else None
        if make is None or node.keywords:
            raise NotKnownError
        made = make(*arguments)
        if isinstance(made, NewType):
            made.__module__ = self._module
            self.exact = False
        return made

    def object_of(self, value: Value, depth: int = 0) -> object:
        """The object that a value is, as an annotation or as a default. Raises NotKnownError."""
        if depth > _DEEP:
            raise NotKnownError
        if isinstance(value, Imported):
            return _imported_object(value)
        if isinstance(value, Constant):
            return value.value
        if isinstance(value, String) and value.text is not None:
            return value.text
        if isinstance(value, Class):
            return self._class(value)
        if isinstance(value, Unknown) and value.node is not None and value.scope is not None:
            return self._aliased(value.node, value.scope, depth)
        if isinstance(value, Choice):
            return self._agreed(value, depth)
        if isinstance(value, Function):
            self.exact = False
            return _a_function
        return self._container(value, depth)

    def _aliased(self, node: ast.expr, scope: Scope, depth: int) -> object:
        """The object that a variable was given."""
        try:
            return self.annotation(node, scope, depth + 1)
        except NameError as error:  # the variable has a value; what that is made of is not known here
            raise NotKnownError from error

    def _container(self, value: Value, depth: int) -> object:
        if isinstance(value, Sequence):
            items = [self.object_of(item, depth + 1) for item in value.items]
            return {"list": list, "tuple": tuple, "set": set}[value.kind](items)
        if isinstance(value, Mapping):
            return {self.object_of(key, depth + 1): self.object_of(item, depth + 1) for key, item in value.items}
        raise NotKnownError

    def _agreed(self, value: Choice, depth: int) -> object:
        objects = [self.object_of(option, depth + 1) for _, option in value.options]
        if any(found != objects[0] for found in objects):
            raise NotKnownError
        return objects[0]

    def _class(self, cls: Class) -> type:
        """A stand-in for a class of the project. (It may be registered as opaque type: then nothing is known.)"""
        if "register_opaque_type" in cls.source.text:
            raise NotKnownError
        self.exact = False
        if id(cls) not in self._stand_ins:
            self._stand_ins[id(cls)] = self._new_class(cls)
        return self._stand_ins[id(cls)]

    def _new_class(self, cls: Class) -> type:
        module = self._module
        bases = tuple(self.object_of(base, 1) for base in cls.bases)
        kinds: tuple[typing.Any, ...] = (enum.Enum, enum.IntEnum, enum.Flag, enum.IntFlag)
        for kind in kinds:
            if kind in bases:
                made: type = kind(cls.name.rpartition(".")[2], {}, module=module, qualname=cls.name)
                return made
        return type(cls.name, _classes(bases), {"__module__": module, "__qualname__": cls.name})


def _classes(bases: tuple[object, ...]) -> tuple[type, ...]:
    """Bases that are plain classes; what a class with others is, is not known."""
    classes = tuple(base for base in bases if isinstance(base, type) and base is not type)
    if len(classes) != len(bases):
        raise NotKnownError
    return classes


def _a_function() -> None:
    """Stands for functions of the project."""


def _device(kind: object, index: object = None) -> DEVICE:
    if not isinstance(kind, str) or not (index is None or isinstance(index, int)):
        raise NotKnownError
    name, _, number = kind.partition(":")
    return DEVICE(name, int(number) if number.isdigit() else index)


_CONSTRUCTORS: dict[str, Callable[..., object]] = {
    "builtins.float": float,
    "builtins.int": int,
    "builtins.type": type,
    "torch.device": _device,
    "typing.NewType": NewType,
    "typing.TypeVar": typing.TypeVar,
}
"""What may be called in an annotation or a default: nothing else is run."""


def _imported_object(value: Imported) -> object:
    if value.module == BUILTINS:
        return getattr(builtins, value.attributes[0])
    dotted = value.dotted
    known = _TORCH.get(dotted, _NUMPY.get(dotted))
    if known is not None:
        return known
    module, _, name = dotted.rpartition(".")
    if module in ("typing", "typing_extensions") and hasattr(typing, name):
        return getattr(typing, name)
    if module == "math" and isinstance(getattr(math, name, None), float):
        return getattr(math, name)
    if module in _MODULES:
        found = getattr(importlib.import_module(module), name, None)
        if isinstance(found, type | types.GenericAlias):
            return found
    raise NotKnownError


def value_of(node: ast.expr, scope: Scope) -> Value | None:
    """The value of a name, or of an attribute of something imported or of a class."""
    if isinstance(node, ast.Name):
        found = scope.lookup(node.id)
        if found is None and hasattr(builtins, node.id):
            return Imported(BUILTINS, (node.id,))
        return found
    if not isinstance(node, ast.Attribute):
        return None
    owner = value_of(node.value, scope)
    if isinstance(owner, Imported):
        return owner.attribute(node.attr)
    return owner.scope.names.get(node.attr) if isinstance(owner, Class) and not owner.bases else None
