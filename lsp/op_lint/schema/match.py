"""Whether a kernel's C++ signature fits a schema: the dispatcher's verdict, and what to change on which side.

The verdict and its text are torch's own (`findSchemaDifferences` in `infer_schema.cpp`, `checkSchema` in
`OperatorEntry.cpp`, torch 2.13): it compares the schema with the one that it infers from the kernel, numbers and types
of arguments and returns, and nothing else. Names, defaults, `*`, alias annotations and list sizes do not count.
"""

from __future__ import annotations

from enum import Enum

import msgspec

from op_lint.facts import CppType, Parameter, Signature
from op_lint.schema.alignment import align
from op_lint.schema.cpp_meaning import ANY_CLASS_NAME, cpp_parameter, cpp_return, cpp_value, meaning
from op_lint.schema.cpp_names import canonical
from op_lint.schema.cpp_text import read_type
from op_lint.schema.infer import Inference, Inferred, infer
from op_lint.schema.model import Argument, Kind, Schema, Suggestion, Type, fake_type
from op_lint.schema.parser import parse_schema
from op_lint.schema.printer import format_type
from op_lint.schema.refusals import NOT_PORTABLE, Refusal, Stage, takes_symbols
from op_lint.schema.rewrite import apply, replace_arguments, replace_returns, replace_type


class Verdict(str, Enum):
    """What becomes of registering the kernel."""

    FITS = "fits"
    MISMATCH = "mismatch"
    """It compiles, and the registration aborts the process."""
    REFUSED = "refused"
    """A type, or the function itself, is not taken, whatever the schema."""
    UNKNOWN = "unknown"
    """Some type is not known, and nothing else is wrong."""


class Part(str, Enum):
    """The part of a signature that something is said about."""

    SIGNATURE = "signature"
    ARGUMENT_COUNT = "number of arguments"
    RETURN_COUNT = "number of returns"
    ARGUMENT = "argument"
    RETURN = "return"


class Cause(str, Enum):
    """Why the two differ, where there is more to say than that they do."""

    PLAIN = "plain"
    SYMBOL_BY_REFERENCE = "SymInt by reference"
    """The parameter is a reference to a `SymInt` type, or a vector of them: the kernel is not seen as symbolic."""
    SYMBOLS_MIXED = "SymInt mixed with int64_t"
    """Another parameter is symbolic, so this one has to be too."""


class Side(str, Enum):
    """The side that is more likely wrong."""

    KERNEL = "kernel"
    SCHEMA = "schema"
    EITHER = "either"


class Mismatch(msgspec.Struct, frozen=True):
    """One difference between a schema and what its kernel means.

    `reason` is torch's text for it. `expected` is the schema's side and `actual` the kernel's, as in that text. `index`
    is the 0-based argument or return (0 for the counts). `parameter` and `argument` are the two places, where there are
    such. `cpp` is what the kernel would have to write for this schema, `schema_type` what the schema would have to for
    this kernel; empty where there is none. For the counts, `parameters` and `arguments` are the indices of those that
    have no partner.
    """

    part: Part
    index: int
    reason: str
    expected: str
    actual: str
    cause: Cause = Cause.PLAIN
    side: Side = Side.EITHER
    parameter: Parameter | None = None
    argument: Argument | None = None
    cpp: str = ""
    schema_type: str = ""
    parameters: tuple[int, ...] = ()
    arguments: tuple[int, ...] = ()


class Refused(msgspec.Struct, frozen=True):
    """A parameter (with its 0-based index among the arguments), a return, or the whole signature that is not taken."""

    part: Part
    index: int
    refusal: Refusal
    parameter: Parameter | None = None


class NotPortable(msgspec.Struct, frozen=True):
    """An integer type that is `int64_t` on Linux, and refused elsewhere."""

    part: Part
    index: int
    type: str
    parameter: Parameter | None = None


class Comparison(msgspec.Struct, frozen=True):
    """The verdict on a kernel and a schema.

    `mismatches` are all differences; the first is the one that torch reports. `edits` make the schema fit the kernel
    (characters of the schema string; empty where it fits, or where the string is not known).
    """

    verdict: Verdict
    inference: Inference
    mismatches: tuple[Mismatch, ...] = ()
    refused: tuple[Refused, ...] = ()
    not_portable: tuple[NotPortable, ...] = ()
    edits: tuple[Suggestion, ...] = ()

    @property
    def reason(self) -> str:
        """What torch says when it aborts; empty where it does not."""
        return self.mismatches[0].reason if self.verdict is Verdict.MISMATCH else ""


def compare(signature: Signature, schema: Schema, text: str = "") -> Comparison:
    """The dispatcher's verdict on a kernel with `signature` for an operator with `schema`, parsed from `text`."""
    inference = infer(signature)
    matcher = _Matcher(inference, schema)
    mismatches = matcher.mismatches()
    refused = _refused(signature, inference)
    edits = matcher.edits(mismatches, text) if text and mismatches else ()
    if edits and not _fits(inference, apply(text, edits)):
        edits = ()
    return Comparison(
        _verdict(inference, mismatches, refused, matcher.is_certain),
        inference,
        mismatches,
        refused,
        _not_portable(inference),
        edits,
    )


def _fits(inference: Inference, text: str) -> bool:
    schema = parse_schema(text, typevars=True)
    return isinstance(schema, Schema) and not _Matcher(inference, schema).mismatches()


def _verdict(
    inference: Inference, mismatches: tuple[Mismatch, ...], refused: tuple[Refused, ...], is_certain: bool
) -> Verdict:
    if refused:
        return Verdict.REFUSED
    if mismatches:
        return Verdict.MISMATCH
    is_known = all(item.type is not None for item in (*inference.arguments, *inference.returns))
    return Verdict.FITS if is_known and is_certain else Verdict.UNKNOWN


def _refused(signature: Signature, inference: Inference) -> tuple[Refused, ...]:
    found: list[Refused] = []
    if signature.noexcept:
        refusal = Refusal(Stage.COMPILE, "noexcept", "a function that is noexcept is not recognised as a kernel")
        found.append(Refused(Part.SIGNATURE, 0, refusal))
    for index, (parameter, item) in enumerate(zip(inference.parameters, inference.arguments, strict=True)):
        if item.refusal is not None:
            found.append(Refused(Part.ARGUMENT, index, item.refusal, parameter))
    found += [
        Refused(Part.RETURN, index, item.refusal)
        for index, item in enumerate(inference.returns)
        if item.refusal is not None
    ]
    return tuple(found)


def _not_portable(inference: Inference) -> tuple[NotPortable, ...]:
    found: list[NotPortable] = []
    for index, (parameter, item) in enumerate(zip(inference.parameters, inference.arguments, strict=True)):
        found += [NotPortable(Part.ARGUMENT, index, name, parameter) for name in _names_not_portable(item.cpp)]
    for index, item in enumerate(inference.returns):
        found += [NotPortable(Part.RETURN, index, name) for name in _names_not_portable(item.cpp)]
    return tuple(found)


def _names_not_portable(cpp: CppType) -> tuple[str, ...]:
    inside = tuple(name for argument in cpp.arguments for name in _names_not_portable(argument))
    return (cpp.name, *inside) if cpp.name in NOT_PORTABLE else inside


class _Matcher:
    """One comparison. `is_certain` is false once a custom class of unknown name had to be taken for the right one."""

    def __init__(self, inference: Inference, schema: Schema) -> None:
        self.inference = inference
        self.schema = schema
        self.is_certain = True

    def mismatches(self) -> tuple[Mismatch, ...]:
        """All differences, in torch's order: counts, arguments, returns."""
        schema, inference = self.schema, self.inference
        found: list[Mismatch] = []
        same_count = len(schema.arguments) == len(inference.arguments)
        if not same_count:
            found.append(self._argument_count())
        if len(schema.returns) != len(inference.returns) and not self._may_be_several():
            found.append(self._return_count())
        if same_count:
            pairs = zip(schema.arguments, inference.arguments, inference.parameters, strict=True)
            for index, (argument, item, parameter) in enumerate(pairs):
                expected = _registered(argument.type, inference.has_symbols)
                if self._differ(expected, item.type):
                    found.append(self._argument(index, argument, parameter, item, expected))
        if len(schema.returns) == len(inference.returns):
            for index, (returned, item) in enumerate(zip(schema.returns, inference.returns, strict=True)):
                if self._differ(returned.type, item.type):
                    found.append(self._return(index, returned, item))
        return tuple(found)

    def _may_be_several(self) -> bool:
        """Whether the return type is not known at all, so that it may be a tuple."""
        returns = self.inference.returns
        return len(returns) == 1 and returns[0].cpp.name == "?"

    def _differ(self, expected: Type, actual: Type | None) -> bool:
        if actual is None or expected == actual:
            return False
        if _may_be_same(expected, actual):
            self.is_certain = False
            return False
        return True

    def _argument_count(self) -> Mismatch:
        schema, inference = self.schema, self.inference
        expected, actual = len(schema.arguments), len(inference.arguments)
        reason = f"The number of arguments is different. {expected} vs {actual}."
        pairs = align(schema.arguments, inference)
        paired_arguments = {pair[0] for pair in pairs}
        paired_parameters = {pair[1] for pair in pairs}
        return Mismatch(
            Part.ARGUMENT_COUNT,
            0,
            reason,
            str(expected),
            str(actual),
            parameters=tuple(index for index in range(actual) if index not in paired_parameters),
            arguments=tuple(index for index in range(expected) if index not in paired_arguments),
        )

    def _return_count(self) -> Mismatch:
        schema = self.schema
        expected, actual = len(schema.returns), len(self.inference.returns)
        reason = f"The number of returns is different. {expected} vs {actual}."
        cpp = cpp_return(tuple(returned.type for returned in schema.returns)) or ""
        return Mismatch(Part.RETURN_COUNT, 0, reason, str(expected), str(actual), cpp=cpp)

    def _argument(
        self, index: int, argument: Argument, parameter: Parameter, item: Inferred, expected: Type
    ) -> Mismatch:
        actual = item.type or expected
        texts = (format_type(expected), format_type(actual))
        cause = self._cause(argument.type, item.cpp)
        wanted = argument.type if cause is not Cause.PLAIN else expected
        cpp = _checked(cpp_parameter(wanted), wanted)
        return Mismatch(
            Part.ARGUMENT,
            index,
            f"Type mismatch in argument {index + 1}: {texts[0]} vs {texts[1]}.",
            *texts,
            cause,
            _side(argument.type, actual, cause, cpp),
            parameter,
            argument,
            cpp,
            format_type(actual),
        )

    def _cause(self, type_: Type, cpp: CppType) -> Cause:
        if not _is_symbolic(type_):
            return Cause.PLAIN
        if not self.inference.has_symbols and meaning(cpp) == type_:
            return Cause.SYMBOL_BY_REFERENCE
        return Cause.SYMBOLS_MIXED if self.inference.has_symbols and not takes_symbols(cpp) else Cause.PLAIN

    def _return(self, index: int, returned: Argument, item: Inferred) -> Mismatch:
        actual = item.type or returned.type
        texts = (format_type(returned.type), format_type(actual))
        cpp = _checked(cpp_value(returned.type), returned.type)
        return Mismatch(
            Part.RETURN,
            index,
            f"Type mismatch in return {index + 1}: {texts[0]} vs {texts[1]}.",
            *texts,
            side=_side(returned.type, actual, Cause.PLAIN, cpp),
            argument=returned,
            cpp=cpp,
            schema_type=format_type(actual),
        )

    def edits(self, mismatches: tuple[Mismatch, ...], text: str) -> tuple[Suggestion, ...]:
        """What makes the schema string mean what the kernel means; empty where that cannot be said."""
        edits: list[Suggestion | None] = []
        parts = {mismatch.part for mismatch in mismatches}
        if not all(item.type is not None for item in (*self.inference.arguments, *self.inference.returns)):
            return ()
        if Part.ARGUMENT_COUNT in parts:
            edits.append(replace_arguments(text, self.schema, self.inference))
        if Part.RETURN_COUNT in parts:
            edits.append(replace_returns(self.schema, self.inference))
        for mismatch in mismatches:
            if mismatch.argument is not None and mismatch.part in (Part.ARGUMENT, Part.RETURN):
                items = self.inference.arguments if mismatch.part is Part.ARGUMENT else self.inference.returns
                edits.append(replace_type(mismatch.argument, items[mismatch.index].type))
        found = tuple(edit for edit in edits if edit is not None)
        return found if len(found) == len(edits) else ()


def _registered(type_: Type, has_symbols: bool) -> Type:
    """The type that torch compares with: without symbolic parameters it takes `int` for `SymInt`, but only in these."""
    return type_ if has_symbols or not _is_symbolic(type_) else fake_type(type_)


def _is_symbolic(type_: Type) -> bool:
    """`SymInt`, `SymInt?`, `SymInt[]` or `SymInt[]?` (`cloneWithRealTypes`)."""
    if type_.kind is Kind.OPTIONAL:
        type_ = type_.elements[0]
    if type_.kind is Kind.LIST:
        type_ = type_.elements[0]
    return type_.kind is Kind.SYM_INT


def _may_be_same(expected: Type, actual: Type) -> bool:
    """Whether the two are one if a class of unknown name is the right one."""
    if actual.kind is Kind.CLASS and actual.name == ANY_CLASS_NAME:
        return expected.kind is Kind.CLASS
    if expected.kind is not actual.kind or len(expected.elements) != len(actual.elements):
        return False
    pairs = zip(expected.elements, actual.elements, strict=True)
    return bool(expected.elements) and all(one == other or _may_be_same(one, other) for one, other in pairs)


def _side(expected: Type, actual: Type, cause: Cause, cpp: str) -> Side:
    if not cpp:
        return Side.SCHEMA
    if cause is not Cause.PLAIN:
        return Side.KERNEL
    if expected.kind is Kind.OPTIONAL and expected.elements[0] == actual:
        # The schema says that it may be None, which the kernel then has to be ready for.
        return Side.KERNEL
    return Side.EITHER


def _checked(cpp: str | None, type_: Type) -> str:
    """`cpp` if it means just `type`; empty otherwise."""
    read = read_type(cpp) if cpp else None
    return cpp if cpp and read is not None and meaning(read[0]) == type_ else ""


def signatures_agree(first: Signature, second: Signature) -> bool | None:
    """Whether two kernels of one operator can be registered together; None where a type is not known.

    Torch compares the C++ function types (`CppSignature.h`), without a first `DispatchKeySet`; kernels for symbolic
    integers and others are not held against each other.
    """
    one, other = infer(first), infer(second)
    if one.has_symbols != other.has_symbols:
        return True
    if len(one.parameters) != len(other.parameters):
        return False
    pairs = [(first.returns, second.returns)]
    pairs += [(_by_value(a.type), _by_value(b.type)) for a, b in zip(one.parameters, other.parameters, strict=True)]
    answers = [_same_cpp(canonical(a), canonical(b)) for a, b in pairs]
    return False if False in answers else None if None in answers else True


def _by_value(cpp: CppType) -> CppType:
    """A parameter type as it is in the function's type: `const` on a value is dropped."""
    return CppType(cpp.name, cpp.arguments) if not cpp.reference else cpp


_SAME_NAMES = {"long": "int64_t", "ptrdiff_t": "int64_t", "signed char": "int8_t", "unsigned long": "uint64_t"}


def _same_cpp(first: CppType, second: CppType) -> bool | None:
    if "?" in (first.name, second.name):
        return None
    names = [_SAME_NAMES.get(cpp.name, cpp.name) for cpp in (first, second)]
    qualifiers = [(cpp.const, cpp.reference, len(cpp.arguments)) for cpp in (first, second)]
    if names[0] != names[1] or qualifiers[0] != qualifiers[1]:
        return False
    answers = [_same_cpp(a, b) for a, b in zip(first.arguments, second.arguments, strict=True)]
    return False if False in answers else None if None in answers else True
