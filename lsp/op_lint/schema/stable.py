"""Whether a `TORCH_BOX` kernel of the stable ABI fits a schema (torch 2.13, `torch/csrc/stable/library.h`).

Nothing is compared when such a kernel is registered. Each argument travels as 64 bits: the value itself, or a handle to
it. Torch writes the bits by the schema's type and the kernel reads them by its own, so that a wrong type arrives as
garbage, without a word. Counts are compared at each call; types that torch cannot put into 64 bits fail at each call.
What fits was found by passing every C++ type for every schema type.
"""

from __future__ import annotations

from enum import Enum

import msgspec

from op_lint.facts import CppType, Parameter, Signature
from op_lint.schema.cpp_meaning import FLOATS, INTEGERS
from op_lint.schema.cpp_names import canonical
from op_lint.schema.match import Part, Verdict
from op_lint.schema.model import Argument, Kind, Schema, Type, fake_type
from op_lint.schema.printer import format_type
from op_lint.schema.refusals import is_several


class StableFaultKind(str, Enum):
    """What becomes of a fault."""

    COMPILE = "compile"
    """The kernel does not compile."""
    GARBAGE = "garbage"
    """The value arrives as something else, or the process crashes."""
    CALL = "call"
    """Each call raises: torch has no 64 bits for the schema's type, or the number of arguments or returns differs."""
    NARROW = "narrow"
    """Small values arrive; as an argument others are cut off, as a return negative ones arrive as large ones."""


class StableFault(msgspec.Struct, frozen=True):
    """One thing that is wrong with a `TORCH_BOX` kernel.

    `index` is the 0-based argument or return; `expected` the schema's type (or count), `actual` the C++ type (or
    count); `cpp` what to write in C++ instead, empty where nothing would do.
    """

    kind: StableFaultKind
    part: Part
    index: int
    reason: str
    expected: str
    actual: str
    cpp: str = ""
    parameter: Parameter | None = None
    argument: Argument | None = None


class StableComparison(msgspec.Struct, frozen=True):
    """The verdict on a `TORCH_BOX` kernel; `fits` also where the only faults are narrow integers."""

    verdict: Verdict
    faults: tuple[StableFault, ...] = ()


_LEAVES = {
    "torch::stable::Tensor": Kind.TENSOR,
    "torch::stable::Device": Kind.DEVICE,
    "torch::stable::Generator": Kind.GENERATOR,
    "bool": Kind.BOOL,
    "double": Kind.FLOAT,
    "std::string": Kind.STRING,
    "c10::ScalarType": Kind.SCALAR_TYPE,
    "c10::Layout": Kind.LAYOUT,
    "c10::MemoryFormat": Kind.MEMORY_FORMAT,
}
_WRITTEN = {
    Kind.TENSOR: "torch::stable::Tensor",
    Kind.DEVICE: "torch::stable::Device",
    Kind.GENERATOR: "torch::stable::Generator",
    Kind.BOOL: "bool",
    Kind.FLOAT: "double",
    Kind.INT: "int64_t",
    Kind.STRING: "std::string",
    Kind.SCALAR_TYPE: "torch::headeronly::ScalarType",
    Kind.LAYOUT: "torch::headeronly::Layout",
    Kind.MEMORY_FORMAT: "torch::headeronly::MemoryFormat",
}
_LISTS = ("std::vector", "torch::headeronly::HeaderOnlyArrayRef")
_NUMBERED = frozenset((Kind.BOOL, Kind.SCALAR_TYPE, Kind.LAYOUT, Kind.MEMORY_FORMAT))
"""What arrives as its number where a kernel takes an integer."""

_SMALL = _NUMBERED | {Kind.INT, Kind.FLOAT}
"""What is a number of at most 64 bits."""

_WIDE = frozenset(
    (
        "int64_t",
        "uint64_t",
        "long",
        "unsigned long",
        "long long",
        "unsigned long long",
        "size_t",
        "ptrdiff_t",
        "ssize_t",
    )
)
_UNSIGNED = frozenset(("uint8_t", "uint16_t", "uint32_t", "unsigned char", "unsigned short", "unsigned int"))
_REFUSED = {
    "at::Tensor", "at::TensorBase", "at::Generator", "c10::SymInt", "c10::SymFloat", "c10::SymBool", "c10::Scalar",
    "c10::Storage", "c10::IValue", "c10::List", "c10::Dict", "c10::intrusive_ptr", "std::pair", "std::tuple",
    "std::map", "std::unordered_map", "std::set", "std::list", "std::deque", "std::function", "std::shared_ptr",
    "std::unique_ptr",
}  # fmt: skip
"""Types that do not compile anywhere in a signature: they are not trivially copyable, and have no conversion."""

_LARGE = {
    "long double", "std::string_view", "c10::ArrayRef", "c10::OptionalArrayRef", "c10::Stream", "std::initializer_list",
    "std::variant",
}  # fmt: skip
"""Types that do not compile as a return, nor in one: they are larger than 64 bits."""

_BITS = (
    FLOATS
    | {"c10::complex", "std::complex", "std::array", "*", "std::string_view", "c10::Device", "nullptr_t"}
    | _LARGE
)
"""Types that compile, and read the 64 bits of something else as themselves."""


def compare_stable(signature: Signature, schema: Schema) -> StableComparison:
    """The verdict on a `TORCH_BOX` kernel with `signature` for an operator with `schema`."""
    parameters = signature.parameters
    returns = _returns(signature.returns)
    faults: list[StableFault] = []
    if signature.noexcept:
        reason = "TORCH_BOX does not take a function that is noexcept"
        faults.append(StableFault(StableFaultKind.COMPILE, Part.SIGNATURE, 0, reason, "", "noexcept"))
    faults += _count_faults(schema, len(parameters), len(returns))
    is_known = True
    for index, parameter in enumerate(parameters):
        argument = schema.arguments[index] if len(parameters) == len(schema.arguments) else None
        fault, known = _parameter_fault(index, parameter, argument)
        is_known = is_known and known
        faults += [fault] if fault is not None else []
    for index, cpp in enumerate(returns):
        returned = schema.returns[index] if len(returns) == len(schema.returns) else None
        fault, known = _return_fault(index, cpp, returned)
        is_known = is_known and known
        faults += [fault] if fault is not None else []
    return StableComparison(_verdict(faults, is_known), tuple(faults))


def _verdict(faults: list[StableFault], is_known: bool) -> Verdict:
    kinds = {fault.kind for fault in faults}
    if StableFaultKind.COMPILE in kinds:
        return Verdict.REFUSED
    if kinds - {StableFaultKind.NARROW}:
        return Verdict.MISMATCH
    return Verdict.FITS if is_known else Verdict.UNKNOWN


def _returns(cpp: CppType) -> tuple[CppType, ...]:
    cpp = canonical(cpp)
    if cpp.name == "void":
        return ()
    return cpp.arguments if is_several(cpp) else (cpp,)


def _count_faults(schema: Schema, parameters: int, returns: int) -> list[StableFault]:
    counts = (
        (Part.ARGUMENT_COUNT, "args", len(schema.arguments), parameters),
        (Part.RETURN_COUNT, "outputs", len(schema.returns), returns),
    )
    faults = []
    for part, what, expected, actual in counts:
        if expected != actual:
            reason = f"Registered schema has {expected} {what}, but the kernel to box has {actual}"
            faults.append(StableFault(StableFaultKind.CALL, part, 0, reason, str(expected), str(actual)))
    return faults


def _parameter_fault(index: int, parameter: Parameter, argument: Argument | None) -> tuple[StableFault | None, bool]:
    """What is wrong with a parameter, and whether all of its type is known."""
    cpp = canonical(parameter.type)
    reason = _refusal(cpp, is_return=False)
    if reason:
        return _fault(StableFaultKind.COMPILE, Part.ARGUMENT, index, reason, cpp, argument, parameter), True
    # A view of a string or of a list is made of an owner that torch unpacks first; deeper inside it is not.
    value = _renamed(cpp, "std::string") if cpp.name == "std::string_view" else cpp
    return _type_fault(Part.ARGUMENT, index, value, argument, parameter)


def _return_fault(index: int, cpp: CppType, returned: Argument | None) -> tuple[StableFault | None, bool]:
    reason = _refusal(cpp, is_return=True)
    if reason:
        return _fault(StableFaultKind.COMPILE, Part.RETURN, index, reason, cpp, returned, None), True
    return _type_fault(Part.RETURN, index, cpp, returned, None)


def _type_fault(
    part: Part, index: int, cpp: CppType, argument: Argument | None, parameter: Parameter | None
) -> tuple[StableFault | None, bool]:
    if argument is None:
        return None, _is_known(cpp)
    expected = _carried(argument.type)
    if expected is None:
        reason = f"the stable ABI cannot pass a value of type `{format_type(argument.type)}`"
        return _fault(StableFaultKind.CALL, part, index, reason, cpp, argument, parameter), True
    if not _is_known(cpp):
        return None, False
    if part is Part.ARGUMENT and _points_to(expected, cpp):
        return None, True
    if not _reads(expected, _read(cpp)):
        reason = _GARBAGE_REASONS[part].format(format_type(argument.type), _written(expected), _value(cpp))
        return _fault(StableFaultKind.GARBAGE, part, index, reason, cpp, argument, parameter), True
    narrow = _narrow(cpp, part)
    if narrow:
        reason = _NARROW_REASONS[part].format(narrow)
        return _fault(StableFaultKind.NARROW, part, index, reason, cpp, argument, parameter), True
    return None, True


_GARBAGE_REASONS = {
    Part.ARGUMENT: "torch passes `{}` as the bits of `{}`; read as `{}` they are garbage",
    Part.RETURN: "torch reads `{}` from the bits of `{}`; from those of `{}` it reads garbage",
}
_NARROW_REASONS = {
    Part.ARGUMENT: "values that do not fit in `{}` are cut off without a word",
    Part.RETURN: "a negative `{}` arrives as a large positive number",
}


def _fault(
    kind: StableFaultKind,
    part: Part,
    index: int,
    reason: str,
    cpp: CppType,
    argument: Argument | None,
    parameter: Parameter | None,
) -> StableFault:
    expected = format_type(argument.type) if argument is not None else ""
    carried = _carried(argument.type) if argument is not None else None
    write = _written(carried) if carried is not None else ""
    return StableFault(kind, part, index, reason, expected, str(cpp), write, parameter, argument)


def _carried(type_: Type) -> Type | None:
    """The schema type whose bits torch writes; None where it writes none (`from_ivalue`, `to_ivalue`)."""
    if type_.kind is Kind.SYM_INT:
        return fake_type(type_)
    if type_.kind in _WRITTEN:
        return type_
    if type_.kind in (Kind.OPTIONAL, Kind.LIST):
        element = _carried(type_.elements[0])
        return Type(type_.kind, (element,)) if element is not None else None
    return None


def _written(type_: Type) -> str:
    """The C++ value type that reads a carried type."""
    if type_.kind in _WRITTEN:
        return _WRITTEN[type_.kind]
    container = "std::optional" if type_.kind is Kind.OPTIONAL else "std::vector"
    return f"{container}<{_written(type_.elements[0])}>"


def stable_type(type_: Type) -> str | None:
    """The C++ type of a stable kernel's parameter or return of a schema type; None where no such kernel can have it."""
    carried = _carried(type_)
    return _written(carried) if carried is not None else None


def _read(cpp: CppType) -> Type | None:
    """The carried type that a C++ type reads; None where it reads the raw bits."""
    if cpp.name in _LEAVES:
        return Type(_LEAVES[cpp.name])
    if cpp.name in INTEGERS:
        return Type(Kind.INT)
    if cpp.name == "std::optional" or cpp.name in _LISTS:
        element = _read(cpp.arguments[0])
        kind = Kind.OPTIONAL if cpp.name == "std::optional" else Kind.LIST
        return Type(kind, (element,)) if element is not None else None
    return None


def _reads(expected: Type, read: Type | None) -> bool:
    if read is None:
        return False
    if read.kind is Kind.INT and expected.kind in _NUMBERED:
        return True
    if expected.kind is not read.kind:
        return False
    return not expected.elements or _reads(expected.elements[0], read.elements[0])


def _points_to(expected: Type, cpp: CppType) -> bool:
    """Whether a type is a pointer that a value of an optional type arrives through.

    Torch passes an optional as a pointer to the 64 bits of its value, null for none: `ToImpl<std::optional<T>>` in
    torch/csrc/stable/stableivalue_conversions.h. The C functions that inductor calls take such pointers, too. (What is
    pointed to is freed by `std::optional` alone.)
    """
    if cpp.name != "*" or expected.kind is not Kind.OPTIONAL:
        return False
    pointee = cpp.arguments[0]
    is_number = expected.elements[0].kind in _SMALL and pointee.name != "char"
    return is_number and _reads(expected.elements[0], _read(pointee))


def _is_known(cpp: CppType) -> bool:
    """Whether it is known how a type reads its bits. The project's own types are not: an enumeration may be meant."""
    if cpp.name == "std::optional" or cpp.name in _LISTS:
        return bool(cpp.arguments) and _is_known(cpp.arguments[0])
    return cpp.name in _LEAVES or cpp.name in INTEGERS or cpp.name in _BITS


def _narrow(cpp: CppType, part: Part) -> str:
    """The integer in a type that loses something on the way, empty where there is none."""
    if cpp.name in INTEGERS:
        loses = cpp.name not in _WIDE and not (part is Part.RETURN and cpp.name in _UNSIGNED)
        return cpp.name if loses else ""
    return next(filter(None, (_narrow(argument, part) for argument in cpp.arguments)), "")


def _refusal(cpp: CppType, *, is_return: bool) -> str:
    """Why a type does not compile, empty where it does or where that is not known."""
    if cpp.reference and is_return:
        return "TORCH_BOX returns values, not references"
    if cpp.reference == "&&" and not _is_converted(cpp):
        return "an argument cannot be bound to `&&`"
    if cpp.reference == "&" and not cpp.const and _is_converted(cpp):
        return "a view cannot be bound to a reference that is not const"
    if cpp.const and is_return and (cpp.arguments or cpp.name in ("torch::stable::Tensor", "std::string")):
        return "a return cannot be const"
    return _inner_refusal(cpp, is_return=is_return)


def _is_converted(cpp: CppType) -> bool:
    return cpp.name in ("std::string_view", "torch::headeronly::HeaderOnlyArrayRef")


def _inner_refusal(cpp: CppType, *, is_return: bool) -> str:
    name = cpp.name
    if name in _REFUSED:
        return f"`{_value(cpp)}` cannot be passed through the stable ABI"
    if is_return and (name in _LARGE or _is_large(cpp)):
        return f"`{_value(cpp)}` is larger than the 64 bits of a return"
    if cpp.arguments[:1] == (CppType("bool"),) and name == (_LISTS[0] if is_return else _LISTS[1]):
        return f"a list of bool is `{_LISTS[1] if is_return else _LISTS[0]}<bool>`"
    if name == "std::optional" or name in _LISTS:
        reasons = (_inner_refusal(argument, is_return=is_return) for argument in cpp.arguments)
        return next(filter(None, reasons), "")
    return ""


def _is_large(cpp: CppType) -> bool:
    if cpp.name in ("c10::complex", "std::complex"):
        return cpp.arguments[:1] == (CppType("double"),)
    is_of_words = cpp.arguments[:1] != () and cpp.arguments[0].name in (*_WIDE, "double")
    return cpp.name == "std::array" and is_of_words and cpp.arguments[-1].name not in ("0", "1")


def _value(cpp: CppType) -> str:
    return str(CppType(cpp.name, cpp.arguments))


def _renamed(cpp: CppType, name: str) -> CppType:
    return CppType(name, (), cpp.const, cpp.reference)
