"""Functions for `infer_schema`: written by hand for every rule and every error, and made for every annotation."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

HEADER = """
import collections.abc
import datetime
import enum
import math
import numbers
import typing
from collections.abc import Iterable
from typing import Annotated, Any, Callable, Dict, List, Literal, NewType, Optional, Sequence, Tuple, TypeVar, Union

import numpy as np
import torch
import torch as th
from torch import Tensor, device, dtype
from torch import Tensor as T
from torch.types import Number

Tensors = List[Tensor]
MaybeTensor = Optional[Tensor]
Chained = MaybeTensor
Text = "Tensor"
Length = int
Id = NewType("Id", int)
Var = TypeVar("Var")
LIMIT = 7
SCALE = 0.5
NAME = "name"
DTYPE = torch.bfloat16


class Config:
    pass


class Nested:
    class Inner:
        pass


class Color(enum.Enum):
    RED = 1


class Size(enum.IntEnum):
    SMALL = 1


class Derived(Config):
    pass


class Module(torch.nn.Module):
    pass
"""

BASES = ("Tensor", "int", "float", "bool", "str", "Number", "dtype", "device")

FORMS = (
    "{0}",
    "Optional[{0}]",
    "Union[{0}, None]",
    "{0} | None",
    "None | {0}",
    "List[{0}]",
    "list[{0}]",
    "Sequence[{0}]",
    "collections.abc.Sequence[{0}]",
    "Optional[List[{0}]]",
    "Optional[list[{0}]]",
    "Optional[Sequence[{0}]]",
    "list[{0}] | None",
    "Optional[collections.abc.Sequence[{0}]]",
    "List[Optional[{0}]]",
    "list[{0} | None]",
    "Sequence[Optional[{0}]]",
    "collections.abc.Sequence[Optional[{0}]]",
    "Tuple[{0}, ...]",
    "tuple[{0}, {0}]",
    "tuple[{0}]",
    "Tuple[{0}, int]",
    "'{0}'",
    "'Optional[{0}]'",
    "list['{0}']",
    "List['{0}']",
    "Optional['{0}']",
    "list[list[{0}]]",
    "Dict[str, {0}]",
    "set[{0}]",
    "Iterable[{0}]",
    "Annotated[{0}, 1]",
    "Union[{0}, str]",
)

ODD = (
    "torch.Tensor",
    "th.Tensor",
    "T",
    "Tensors",
    "MaybeTensor",
    "Chained",
    "Text",
    "Length",
    "Id",
    "Var",
    "Any",
    "object",
    "None",
    "list",
    "tuple",
    "List",
    "Tuple",
    "dict",
    "Callable[[int], int]",
    "Literal['a', 'b']",
    "Union[int, float]",
    "Union[int, float, bool]",
    "int | float | bool",
    "bool | float | int",
    "int | float | bool | None",
    "Optional[Number]",
    "List[Number]",
    "complex",
    "bytes",
    "numbers.Number",
    "datetime.timedelta",
    "torch.SymInt",
    "torch.Size",
    "torch.Generator",
    "torch.ScriptObject",
    "torch.layout",
    "torch.memory_format",
    "torch.nn.Module",
    "torch.types.Number",
    "Config",
    "Optional[Config]",
    "Color",
    "Size",
    "Optional[Color]",
    "Derived",
    "Module",
    "enum.Enum",
    "List[Config]",
    "'Config'",
    "'Missing'",
    "'torch.Tensor | None'",
    "'not a type'",
    "'[int]'",
    "'int[3]'",
    "'Optional[Tensor, int]'",
    "list['Missing']",
    "[int]",
    "3",
    "()",
    "tuple['Tensor', int]",
    "torch.distributed.distributed_c10d.GroupName",
    "np.ndarray",
    "np.float32",
    "np.float64",
    "list[np.int64]",
    "Optional[np.ndarray]",
    "np.float64 | None",
    "np.ndarray[int]",
    "np.dtype",
)

RETURNS = (
    "Tensor",
    "torch.Tensor",
    "'Tensor'",
    "None",
    "'None'",
    "List[Tensor]",
    "list[Tensor]",
    "list['Tensor']",
    "Tensors",
    "Sequence[Tensor]",
    "int",
    "float",
    "bool",
    "Number",
    "int | float | bool",
    "str",
    "device",
    "Optional[Tensor]",
    "Tensor | None",
    "List[int]",
    "Tuple[Tensor, Tensor]",
    "tuple[Tensor, Tensor]",
    "tuple[Tensor, int, float, bool]",
    "tuple[Tensor]",
    "Tuple[Tensor]",
    "tuple[()]",
    "tuple[Tensor, ...]",
    "tuple[Tensor, List[Tensor]]",
    "tuple[Tensor, None]",
    "tuple['Tensor', 'Tensor']",
    "Tuple['Tensor', int]",
    "tuple",
    "Tuple",
    "Any",
    "Config",
    "Color",
    "torch.Generator",
    "tuple[Tensor, torch.Generator]",
    "dict[str, Tensor]",
    "type(None)",
)

DEFAULTS = (
    ("Optional[Tensor]", "None"),
    ("int", "0"),
    ("int", "-1"),
    ("int", "+3"),
    ("int", "1_000"),
    ("int", "0x10"),
    ("int", "LIMIT"),
    ("int", "LIMIT * 2"),
    ("int", "2 * 3 - 1"),
    ("int", "True"),
    ("int", "None"),
    ("int", "2.5"),
    ("int", "-(1)"),
    ("int", "10 ** 2"),
    ("int", "len('abc')"),
    ("int", "7 // 2"),
    ("float", "1.0"),
    ("float", "1e-6"),
    ("float", "1e-05"),
    ("float", "-0.0"),
    ("float", "1e20"),
    ("float", "0.1 + 0.2"),
    ("float", "SCALE"),
    ("float", "3"),
    ("float", "float('inf')"),
    ("float", "-float('inf')"),
    ("float", "float('-inf')"),
    ("float", "math.pi"),
    ("float", "math.inf"),
    ("float", "1 / 3"),
    ("bool", "False"),
    ("bool", "not True"),
    ("str", "'text'"),
    ("str", "''"),
    ("str", "'it\\'s \"q\"'"),
    ("str", "NAME"),
    ("str", "'a' 'b'"),
    ("str", "f'{NAME}s'"),
    ("str", "NAME + '!'"),
    ("str", "NAME.upper()"),
    ("dtype", "torch.float32"),
    ("dtype", "torch.float"),
    ("dtype", "torch.half"),
    ("dtype", "torch.long"),
    ("dtype", "th.bool"),
    ("dtype", "DTYPE"),
    ("Optional[dtype]", "torch.float8_e4m3fn"),
    ("device", "torch.device('cpu')"),
    ("device", "torch.device('cuda', 1)"),
    ("device", "device('cuda:0')"),
    ("Optional[device]", "None"),
    ("device", "'cpu'"),
    ("Number", "1"),
    ("Number", "1.5"),
    ("List[int]", "[]"),
    ("List[int]", "[1, 2]"),
    ("List[int]", "()"),
    ("List[int]", "(1, 2)"),
    ("Optional[List[int]]", "None"),
    ("int", "{}"),
    ("int", "{'a': 1}"),
    ("int", "{1}"),
    ("int", "b'x'"),
    ("int", "1j"),
    ("int", "..."),
    ("int", "torch.strided"),
    ("int", "torch.contiguous_format"),
    ("int", "Tensor"),
    ("int", "Config"),
)

SIGNATURES = (
    "() -> Tensor",
    "() -> None",
    "(x: Tensor)",
    "(x) -> Tensor",
    "(x: Tensor, y) -> Tensor",
    "(x: Tensor, /) -> Tensor",
    "(x: Tensor, /, y: int) -> Tensor",
    "(*args: Tensor) -> Tensor",
    "(**kwargs: Tensor) -> Tensor",
    "(x: Tensor, *args: int) -> Tensor",
    "(x: Tensor, *, y: int) -> Tensor",
    "(*, x: Tensor) -> Tensor",
    "(x: Tensor, *, y: int = 1, z: float = 2.0) -> Tensor",
    "(x: Tensor, *, y: int, **kwargs: int) -> Tensor",
    "(self, x: Tensor) -> Tensor",
    "(x: Tensor = None, y: int = 3) -> Tensor",
)

MUTATIONS = (
    ("(x: Tensor, y: Tensor) -> None", "['x']"),
    ("(x: Tensor, y: Tensor) -> None", "('x', 'y')"),
    ("(x: Tensor, y: Tensor) -> None", "{'y'}"),
    ("(x: Tensor, y: Tensor) -> None", "{'y': 1}"),
    ("(x: Tensor, y: Tensor) -> None", "'unknown'"),
    ("(x: Tensor, y: int, z: List[Tensor]) -> None", "'unknown'"),
    ("(x: Tensor, y: Tensor) -> None", "'x'"),
    ("() -> None", "'x'"),
    ("() -> None", "'unknown'"),
    ("(x: Tensor) -> None", "''"),
    ("() -> None", "''"),
    ("(x: Tensor) -> None", "['z']"),
    ("(x: int) -> None", "['x']"),
    ("(x: Optional[int]) -> None", "['x']"),
    ("(x: str) -> None", "['x']"),
    ("(x: Optional[Tensor]) -> None", "['x']"),
    ("(x: List[Tensor]) -> None", "['x']"),
    ("(x: List[Optional[Tensor]]) -> None", "['x']"),
    ("(x: Tensor, y: Tensor = None) -> None", "['y']"),
    ("(x: Tensor, *, y: Tensor) -> None", "['y']"),
    ("(x: Tensor) -> None", "[]"),
    ("(x: Tensor) -> None", "()"),
    ("(x: Tensor) -> None", "{}"),
    ("(x: Tensor) -> None", "None"),
    ("(x: Tensor) -> None", "3"),
    ("(x: Tensor) -> None", "set()"),
    ("(x: Tensor) -> None", "list(('x',))"),
    ("(x: Tensor) -> None", "[NAME]"),
)

TAGGED = (
    ("(x: Tensor) -> Tensor", "['x']", "torch.Tag.inplace"),
    ("(x: Tensor, y: Tensor) -> Tensor", "['x']", "(torch.Tag.inplace,)"),
    ("(x: Tensor, y: Tensor) -> Tensor", "['x', 'y']", "[torch.Tag.inplace]"),
    ("(x: Tensor, y: Tensor) -> Tensor", "['y']", "torch.Tag.inplace"),
    ("(x: Tensor) -> Tensor", "[]", "torch.Tag.inplace"),
    ("(x: Tensor) -> Tensor", "'unknown'", "torch.Tag.inplace"),
    ("(x: Tensor) -> None", "['x']", "torch.Tag.inplace"),
    ("(x: List[Tensor]) -> Tensor", "['x']", "torch.Tag.inplace"),
    ("(*, x: Tensor) -> Tensor", "['x']", "torch.Tag.inplace"),
    ("() -> Tensor", "[]", "torch.Tag.inplace"),
    ("(x: int, y: Tensor) -> Tensor", "['y']", "torch.Tag.inplace"),
    ("(x: Tensor, *, out: Tensor) -> Tensor", "['out']", "torch.Tag.out"),
    ("(x: Tensor, *, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]", "['a', 'b']", "torch.Tag.out"),
    ("(x: Tensor, *, a: Tensor, b: Tensor) -> Tuple[Tensor, Tensor]", "['a', 'b']", "torch.Tag.out"),
    ("(x: Tensor, *, a: Tensor, b: Tensor) -> Tensor", "['a', 'b']", "torch.Tag.out"),
    ("(x: Tensor, *, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]", "['a', 'b']", "torch.Tag.out"),
    ("(x: Tensor, *, out: Tensor) -> None", "['out']", "torch.Tag.out"),
    ("(x: Tensor, *, out: Tensor) -> tuple[Tensor]", "['out']", "torch.Tag.out"),
    ("(x: Tensor, *, out: Optional[Tensor]) -> Tensor", "['out']", "torch.Tag.out"),
    ("(x: Tensor, out: Tensor) -> Tensor", "['out']", "torch.Tag.out"),
    ("(x: Tensor, *, out: Tensor) -> Tensor", "[]", "torch.Tag.out"),
    ("(x: Tensor, *, out: Tensor) -> Tensor", "'unknown'", "torch.Tag.out"),
    ("(*, out: Tensor) -> Tensor", "'unknown'", "torch.Tag.out"),
    ("(x: Tensor, *, out: Tensor) -> Tensor", "['out']", "(torch.Tag.out, torch.Tag.inplace)"),
    ("(x: Tensor, *, out: Tensor) -> Tensor", "['out']", "(torch.Tag.pt2_compliant_tag, torch.Tag.out)"),
    ("(x: Tensor) -> Tensor", "[]", "torch.Tag.pt2_compliant_tag"),
    ("(x: Tensor) -> Tensor", "[]", "None"),
    ("(x: Tensor) -> Tensor", "[]", "()"),
)

SPECIAL = """
def outer():
    class Local:
        pass

    Alias = Tensor

    def local_string(x: "Local") -> Tensor: ...
    def local_alias(x: Alias) -> "Alias": ...
    def local_class(x: Local) -> Tensor: ...
    return local_string, local_alias, local_class


local_string, local_alias, local_class = outer()


class Methods:
    def method(self, x: Tensor) -> Tensor: ...

    @staticmethod
    def static(x: Tensor, n: int = 2) -> Tensor: ...

    @classmethod
    def of_class(cls, x: Tensor) -> Tensor: ...


later_type_is_missing = None


def nested_class(x: Nested.Inner) -> Tensor: ...


async def asynchronous(x: Tensor) -> Tensor: ...


unannotated = lambda x: x
empty_lambda = lambda: 1
"""

SPECIAL_NAMES = (
    "local_string",
    "local_alias",
    "local_class",
    "Methods.method",
    "Methods.static",
    "Methods.of_class",
    "Methods().method",
    "nested_class",
    "asynchronous",
    "unannotated",
    "empty_lambda",
)


@dataclass(frozen=True)
class Case:
    """A function expression, the source that defines it (if it needs one), and how its schema is asked for."""

    function: str
    source: str = ""
    mutates: str = "()"
    tags: str = "()"

    @property
    def call(self) -> str:
        return f"torch.library.infer_schema({self.function}, mutates_args={self.mutates}, tags={self.tags})"


def cases() -> list[Case]:
    """All of them; the functions are called f0, f1, and so on."""
    numbered = (
        Case(f"f{index}", f"def f{index}{signature}: ...\n", *rest) for index, (signature, *rest) in _numbered()
    )
    return [*numbered, *(Case(name) for name in SPECIAL_NAMES)]


def _numbered() -> Iterator[tuple[int, tuple[str, ...]]]:
    annotations = itertools.chain((form.format(base) for base in BASES for form in FORMS), ODD)
    everything: Iterator[tuple[str, ...]] = itertools.chain(
        ((f"(x: {annotation}) -> Tensor",) for annotation in annotations),
        ((f"(x: Tensor) -> {annotation}",) for annotation in RETURNS),
        ((f"(x: Tensor, y: {annotation} = {default}) -> Tensor",) for annotation, default in DEFAULTS),
        ((signature,) for signature in SIGNATURES),
        MUTATIONS,
        TAGGED,
    )
    return enumerate(everything)


def module(all_cases: list[Case], *, postponed: bool) -> str:
    """The source of a module that defines all functions."""
    first = "from __future__ import annotations\n" if postponed else ""
    return first + HEADER + "\n\n" + "".join(case.source for case in all_cases) + SPECIAL
