"""The function given to `def`, `impl` or `fallback`: which one it is, its signature, and how it is wrapped."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec.structs import replace

from op_lint.cpp.clang import qualified_name
from op_lint.cpp.cursors import is_defaulted, parameters_of
from op_lint.cpp.libclang import Cursor, CursorKind, Type, TypeKind
from op_lint.cpp.literals import Lookup
from op_lint.cpp.repair import UNKNOWN
from op_lint.cpp.sources import SourceMap
from op_lint.cpp.types import convert
from op_lint.facts import CppType, Kernel, KernelKind, Parameter, Place, Signature

_CASTS = {
    CursorKind.CXX_STATIC_CAST_EXPR,
    CursorKind.CSTYLE_CAST_EXPR,
    CursorKind.CXX_REINTERPRET_CAST_EXPR,
    CursorKind.CXX_FUNCTIONAL_CAST_EXPR,
}
_FUNCTION_KINDS = {CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD, CursorKind.FUNCTION_TEMPLATE}
_BOXED = {"makeFromBoxedFunction", "makeFromBoxedFunctor", "makeFromBoxedKernel"}
_FALLBACK_MAKERS = {
    "autogradNotImplementedFallback",
    "autogradNotImplementedInplaceOrViewFallback",
    "basicAutogradNotImplementedFallback",
}
"""torch::autograd functions that return a boxed kernel (torch/csrc/autograd/autograd_not_implemented_fallback.h)."""
_NOT_SUPPORTED = {"makeNamedNotSupported", "makeNamedNotSupportedKernel", "makeAmbiguousAutogradOther"}
_CONSTRUCTORS = {"CppFunction", "makeFromUnboxedFunction", "makeFromUnboxedRuntimeFunction", "move", "forward", "debug"}
_COMPILE_TIME = "CompileTimeFunctionPointer"
_BOXER = "boxed_fn"
_AUTO = re.compile(r"^(?:(?:static|inline|constexpr|\[\[\w+\]\]) )*auto\b")
_SHOWN = 60
_DEEPEST = 24

FindFunction = Callable[[str], Cursor | None]
"""Name as written -> the cursor of a function of this source, or None."""


class KernelReader:
    """Reads kernel expressions of one translation unit."""

    def __init__(self, sources: SourceMap, find_function: FindFunction) -> None:
        self.sources = sources
        self.find_function = find_function
        self._signatures: dict[int, Signature | None] = {}
        self._types: dict[int, CppType] = {}

    def kernel(self, cursor: Cursor, place: Place, lookup: Lookup) -> Kernel:
        """The kernel that the expression at `cursor` gives; `place` is where to point for it."""
        own = self.sources.place(cursor)
        found = self._read(cursor, own if own and own.path == place.path else place, lookup, 0)
        return found or Kernel(KernelKind.KERNEL, self._source_name(cursor, place), place)

    def _read(self, cursor: Cursor, place: Place, lookup: Lookup, depth: int) -> Kernel | None:
        if depth > _DEEPEST:
            return None
        kind = cursor.kind
        children = [child for child in cursor.children() if child.is_expression]
        if kind == CursorKind.LAMBDA_EXPR:
            return self._lambda(cursor, place)
        if kind == CursorKind.DECL_REF_EXPR:
            return self._reference(cursor, place, lookup, depth)
        if kind in _CASTS:
            inner = self._read(children[-1], place, lookup, depth + 1) if children else None
            signature = _signature_of_type(cursor.type)
            if inner is None or signature is None:
                return inner
            if self._is_doubtful_alias(cursor.type):
                return _with_signature(inner, None)
            return _with_signature(inner, _with_names(signature, inner.signature))
        if kind == CursorKind.CALL_EXPR:
            return self._call(cursor, children, place, lookup, depth)
        if len(children) == 1:
            return self._read(children[0], place, lookup, depth + 1)
        if not children and cursor.type.kind in (TypeKind.DEPENDENT, TypeKind.INVALID):
            return self._lost(cursor, place)
        return None

    def template_argument(self, call: Cursor, place: Place, lookup: Lookup) -> Kernel:
        """The kernel of `.kernel<decltype(f), &f>(key)` or `.kernel<Functor>(key)` of the legacy API."""
        member = next((child for child in call.children() if child.kind == CursorKind.MEMBER_REF_EXPR), call)
        arguments = member.children()[1:]  # behind the object that `kernel` is called on
        for argument in reversed(arguments):
            found = self._last_function(argument, place, lookup, 0)
            if found is not None:
                return found
        for child in arguments:
            if child.kind == CursorKind.TYPE_REF and child.referenced is not None:
                type_ = child.referenced.type
                signature = self._callable(type_)
                if signature is not None:
                    return Kernel(KernelKind.KERNEL, qualified_name(child.referenced), place, signature)
        return Kernel(KernelKind.KERNEL, self._source_name(call, place), place)

    # -- calls

    def _call(self, cursor: Cursor, children: list[Cursor], place: Place, lookup: Lookup, depth: int) -> Kernel | None:
        name = cursor.spelling or _callee_name(children)
        if name.startswith("operator ") and len(children) == 1:
            return self._read(children[0], place, lookup, depth + 1)  # a lambda turned into a pointer
        if name == "makeFallthrough":
            return Kernel(KernelKind.FALLTHROUGH, "torch::CppFunction::makeFallthrough", place)
        if name in _NOT_SUPPORTED:
            return Kernel(KernelKind.NOT_SUPPORTED, f"torch::CppFunction::{name}", place)
        if name in _BOXED:
            return self._boxed(cursor, place, lookup, depth)
        if name in _FALLBACK_MAKERS:
            return Kernel(KernelKind.BOXED, f"torch::autograd::{name}", place)
        if name == _COMPILE_TIME:
            return self._last_function(cursor, place, lookup, depth)
        arguments = _arguments(children, name)
        if name == "dispatch" or name in _CONSTRUCTORS:
            return self._read(arguments[-1], place, lookup, depth + 1) if arguments else None
        if cursor.type.canonical.spelling == "torch::CppFunction" and len(arguments) == 1:
            return self._read(arguments[0], place, lookup, depth + 1)
        return self._wrapper(cursor, name, place)

    def _boxed(self, cursor: Cursor, place: Place, lookup: Lookup, depth: int) -> Kernel:
        inner = self._last_function(cursor, place, lookup, depth)
        if inner is None:
            return Kernel(KernelKind.BOXED, self._source_name(cursor, place), place)
        return Kernel(KernelKind.BOXED, inner.name, place, None, inner.declared, inner.defined)

    def _last_function(self, cursor: Cursor, place: Place, lookup: Lookup, depth: int) -> Kernel | None:
        """The function that a template argument names: the last reference to one below `cursor`."""
        found = None
        for child in cursor.walk():
            if child.kind == CursorKind.DECL_REF_EXPR and (child != cursor or child.spelling != _BOXER):
                referenced = child.referenced
                if referenced is not None and _refers_to_function(referenced):
                    kernel = self._reference(child, place, lookup, depth + 1)
                    if kernel is not None and kernel.name.rpartition("::")[2] not in _BOXED:
                        found = kernel
        return found

    def _wrapper(self, cursor: Cursor, name: str, place: Place) -> Kernel | None:
        """A call of the project's own that returns the kernel: what counts is what it returns."""
        signature = self._callable(cursor.type)
        if signature is None:
            return None
        if self._names_doubtful(cursor):
            signature = None
        referenced = cursor.referenced
        qualified = qualified_name(referenced) if referenced is not None else name
        return Kernel(KernelKind.KERNEL, qualified or name, place, signature, wrapped=True)

    # -- names

    def _reference(self, cursor: Cursor, place: Place, lookup: Lookup, depth: int) -> Kernel | None:
        referenced = cursor.referenced
        if referenced is None:
            return self._overloaded(cursor, place)
        if cursor.spelling == _BOXER:
            inner = self._last_function(cursor, place, lookup, depth)
            if inner is None:
                return Kernel(KernelKind.KERNEL, self._source_name(cursor, place), place, stable=True)
            return replace(inner, place=place, stable=True)
        if referenced.kind in _FUNCTION_KINDS:
            return self._function(referenced, cursor, place)
        if referenced.kind in (CursorKind.VAR_DECL, CursorKind.PARM_DECL, CursorKind.UNEXPOSED_DECL):
            bound = lookup(referenced)
            if isinstance(bound, Kernel):
                return replace(bound, place=place)
            return self._variable(referenced, cursor, place, lookup, depth)
        return self._overloaded(cursor, place)

    def _function(
        self, function: Cursor, reference: Cursor, place: Place, signature: Signature | None = None
    ) -> Kernel:
        definition = function.definition
        declared = self.sources.place(function)
        defined = self.sources.place(definition) if definition is not None else None
        if reference.type.kind != TypeKind.DEPENDENT and function.result_type.spelling != UNKNOWN:
            signature = self.signature(function)
        name = self._written_name(function, reference)
        if "<" in name and self._names_doubtful(reference):
            signature = None
        if signature is not None and _is_boxed(signature):
            return Kernel(KernelKind.BOXED, name, place, None, declared, defined)
        return Kernel(KernelKind.KERNEL, name, place, signature, declared, defined)

    def _written_name(self, function: Cursor, reference: Cursor) -> str:
        """The qualified name, with the template arguments that the source writes in and after it."""
        qualified = qualified_name(function).split("::")
        if not self.sources.in_macro(reference):
            own = self.sources.place(reference)
            written = split_name(self.sources.text(own).replace(" ", "")) if own else []
            if written and [part.partition("<")[0] for part in written] == qualified[-len(written) :]:
                qualified[-len(written) :] = written
        return "::".join(qualified)

    def _template_arguments(self, reference: Cursor) -> str:
        """`<float>` as written after the function's name; empty in a macro, where that cannot be told."""
        if self.sources.in_macro(reference):
            return ""
        own = self.sources.place(reference)
        text = self.sources.text(own) if own else ""
        start = text.find("<")
        return text[start:].replace(" ", "") if start >= 0 and text.endswith(">") else ""

    def _variable(self, variable: Cursor, cursor: Cursor, place: Place, lookup: Lookup, depth: int) -> Kernel | None:
        """A variable that holds the kernel: a lambda, a pointer, a variable template that adapts a function."""
        name = qualified_name(variable) + self._template_arguments(cursor)
        signature = None
        if not variable.is_invalid and not self._names_doubtful(cursor):
            signature = self._callable(cursor.type)
        for child in variable.children():
            if child.is_expression:
                inner = self._read(child, place, lookup, depth + 1)
                if inner is not None and inner.name != "<lambda>" and not inner.wrapped:
                    return _with_signature(inner, inner.signature or signature)
                if inner is not None and signature is None:
                    signature = inner.signature
        if signature is None and cursor.type.kind not in (TypeKind.DEPENDENT, TypeKind.INVALID):
            return None
        wrapped = bool(self._template_arguments(cursor))
        return Kernel(KernelKind.KERNEL, name, place, signature, self.sources.place(variable), wrapped=wrapped)

    def _overloaded(self, cursor: Cursor, place: Place) -> Kernel | None:
        """A name that libclang has not settled: an overload set, or a function template in a template."""
        for child in cursor.children():
            if child.kind == CursorKind.OVERLOADED_DECL_REF:
                return Kernel(KernelKind.KERNEL, self._source_name(cursor, place), place)
        return self._lost(cursor, place)

    def _lost(self, cursor: Cursor, place: Place) -> Kernel | None:
        """An expression that libclang gave up (its function's declaration has errors): found by its name."""
        name = self._source_name(cursor, place)
        function = self.find_function(name)
        return self._function(function, cursor, place, self.signature(function)) if function is not None else None

    def _source_name(self, cursor: Cursor, place: Place) -> str:
        """The kernel as the source spells it, without `&` and the usual wrappers."""
        own = self.sources.place(cursor) or place
        text = self.sources.text(own).strip()
        for wrapper in ("TORCH_FN", "TORCH_BOX", "TORCH_FN_TYPE"):
            if text.startswith(wrapper + "(") and text.endswith(")"):
                text = text[len(wrapper) + 1 : -1].strip()
        return text.lstrip("&( ").rstrip(") ").removeprefix("::") if not text.endswith("()") else text.lstrip("&( ")

    def _lambda(self, cursor: Cursor, place: Place) -> Kernel:
        return Kernel(KernelKind.KERNEL, "<lambda>", place, self._callable(cursor.type), place, place)

    # -- signatures

    def _callable(self, type_: Type) -> Signature | None:
        """The signature of a function pointer, or of the call operator of a lambda or functor."""
        found = _signature_of_type(type_)
        if found is not None:
            return None if self._is_doubtful_alias(type_) else found
        operator = _call_operator(type_)
        return self.signature(operator) if operator is not None else None

    def _is_doubtful_alias(self, type_: Type) -> bool:
        """Whether a type is an alias, or a pointer to one, in whose declaration libclang found errors."""
        while True:
            if type_.kind == TypeKind.ELABORATED:
                type_ = type_.named_type
            elif type_.kind == TypeKind.POINTER:
                type_ = type_.pointee
            elif type_.kind == TypeKind.TYPEDEF:
                place = self.sources.place(type_.declaration)
                if place is not None and self.sources.has_error(place):
                    return True
                type_ = type_.declaration.underlying_type
            else:
                return False

    def signature(self, function: Cursor) -> Signature | None:
        """The signature of a function as declared; a type in whose spelling libclang found errors is `?`.

        libclang takes an unknown type for `int`, and reads on after an unknown word in a parameter list as if the list
        ended there: what it says of a declaration with errors is not to be believed. None where not even the number of
        parameters is known.
        """
        identity = function.identity
        if identity not in self._signatures:
            self._signatures[identity] = self._signature(function)
        return self._signatures[identity]

    def _signature(self, function: Cursor) -> Signature | None:
        place = self.sources.place(function)
        arguments = parameters_of(function)
        parameters = tuple(self._parameter(argument) for argument in arguments)
        if place is None:
            return Signature(self._type(function.result_type), parameters, function.type.is_noexcept, place)
        if any(parameter.place is None for parameter in parameters):
            return None
        if not self.sources.has_errors:
            return Signature(self._type(function.result_type), parameters, function.type.is_noexcept, place)
        gaps, body = self._gaps(place, arguments)
        errors = [self.sources.has_error(gap) and not self._is_default(gap) for gap in gaps]
        after = self.sources.text(gaps[-1])
        if any(errors[1:-1]) or (arguments and errors[-1] and "->" not in after):
            return None
        returns = self._type(function.result_type)
        is_wrong = self._is_deduced(function, place, after) and self.sources.has_error(body)
        if errors[0] or errors[-1] or is_wrong:
            written = after.partition("->")[2] or self.sources.text(gaps[0]).rpartition(function.spelling)[0]
            returns = CppType("?", spelling=written.strip(" {"))
        return Signature(returns, parameters, function.type.is_noexcept, place)

    def _gaps(self, place: Place, arguments: list[Cursor]) -> tuple[list[Place], Place]:
        """What of a function's declaration is before, between and behind its parameters, and its body.

        The body is looked for in the text: a specialization of a template has none in the syntax tree.
        """
        owns = [own for own in map(self.sources.place, arguments) if own is not None and own.path == place.path]
        edges = [min([place.start, *(own.start for own in owns)])]  # a lambda's own place is behind its parameters
        for own in owns:
            if own.start >= edges[-1]:
                edges += [own.start, own.end]
        stop = max(place.end, edges[-1])
        brace = self.sources.view_of(place).data.find(b"{", edges[-1], stop)
        edges.append(brace if brace >= 0 else stop)
        starts, ends = edges[::2], edges[1::2]
        gaps = [Place(place.path, place.line, start, end) for start, end in zip(starts, ends, strict=True)]
        return gaps, Place(place.path, place.line, edges[-1], stop)

    def _is_default(self, gap: Place) -> bool:
        """Whether a default value is behind a parameter: libclang leaves one with errors out of it."""
        before = self.sources.view_of(gap).data[max(0, gap.start - _SHOWN) : gap.start].rstrip()
        return before.endswith(b"=") or self.sources.text(gap).startswith("=")

    def _is_deduced(self, function: Cursor, place: Place, after: str) -> bool:
        """Whether the body says what the function returns."""
        return "->" not in after and (function.spelling == "operator()" or self._starts_with_auto(place))

    def _starts_with_auto(self, place: Place) -> bool:
        return (
            _AUTO.search(self.sources.text(Place(place.path, place.line, place.start, place.start + _SHOWN)))
            is not None
        )

    def _parameter(self, argument: Cursor) -> Parameter:
        place = self.sources.place(argument)
        if place is not None and self.sources.has_error(place):
            text = self.sources.text(place).partition("=")[0].rstrip()
            name = argument.spelling
            written = text[: -len(name)].strip() if name and text.endswith(name) else text
            return Parameter(name, CppType("?", spelling=written), place)
        return Parameter(argument.spelling, self._type(argument.type), place)

    def _type(self, type_: Type) -> CppType:
        """The tree of a type, made once: a file has hundreds of parameters and a dozen types."""
        identity = type_.identity
        found = self._types.get(identity)
        if found is None:
            found = self._types[identity] = convert(type_)
        return found

    def _names_doubtful(self, cursor: Cursor, depth: int = 0) -> bool:
        """Whether an expression names a function of whose types not all are known.

        What a template makes of such a function shows `int` for them.
        """
        for inner in cursor.walk():
            named = inner.referenced if inner.kind == CursorKind.DECL_REF_EXPR and inner != cursor else None
            if named is None:
                continue
            if named.kind in _FUNCTION_KINDS:
                signature = self.signature(named)
                if signature is None or _is_doubtful(signature):
                    return True
            elif named.kind == CursorKind.VAR_DECL and depth < _DEEPEST:
                found = (self._names_doubtful(child, depth + 1) for child in named.children())
                if any(found):
                    return True
        return False


def _is_lambda(cursor: Cursor) -> bool:
    return bool(cursor.kind == CursorKind.LAMBDA_EXPR)


def _refers_to_function(declaration: Cursor) -> bool:
    if declaration.kind in _FUNCTION_KINDS:
        return True
    return declaration.kind == CursorKind.VAR_DECL and _is_callable(declaration.type)


def _callee_name(children: list[Cursor]) -> str:
    """The name of a call that libclang did not settle."""
    for child in children[:1]:
        for inner in child.walk():
            if inner.kind == CursorKind.OVERLOADED_DECL_REF:
                return inner.spelling
    return ""


def _arguments(children: list[Cursor], name: str) -> list[Cursor]:
    """The arguments of a call: its children without the callee and without defaulted ones (they are nowhere)."""
    found: list[Cursor] = []
    for index, child in enumerate(children):
        if index == 0 and child.type.kind == TypeKind.POINTER and child.spelling == name:
            continue
        if index == 0 and child.kind == CursorKind.DECL_REF_EXPR and child.referenced is None:
            continue
        if is_defaulted(child):
            continue
        found.append(child)
    return found


def _signature_of_type(type_: Type) -> Signature | None:
    """The signature of a function (pointer) type; its parameters have no names."""
    canonical = type_.canonical
    function = type_
    if canonical.kind in (TypeKind.POINTER, TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE):
        function = (type_ if type_.kind == canonical.kind else canonical).pointee
    if function.canonical.kind != TypeKind.FUNCTIONPROTO:
        return None
    if function.kind != TypeKind.FUNCTIONPROTO:
        # Parentheses and aliases around the function type hide its parts; the canonical type shows them.
        function = function.canonical
    parameters = tuple(Parameter("", convert(part)) for part in function.parameters())
    return Signature(convert(function.result), parameters, function.is_noexcept)


def _is_callable(type_: Type) -> bool:
    return _signature_of_type(type_) is not None or _call_operator(type_) is not None


def _call_operator(type_: Type) -> Cursor | None:
    """The call operator of a lambda or functor; None where there are several, or a template."""
    canonical = type_.canonical
    if canonical.kind in (TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE):
        canonical = canonical.pointee.canonical
    if canonical.kind != TypeKind.RECORD:
        return None
    operators = [
        child
        for child in canonical.declaration.children()
        if child.kind in (CursorKind.CXX_METHOD, CursorKind.FUNCTION_TEMPLATE) and child.spelling == "operator()"
    ]
    return operators[0] if len(operators) == 1 and operators[0].kind == CursorKind.CXX_METHOD else None


def _is_doubtful(signature: Signature) -> bool:
    """Whether a type is unknown, or a part of one."""
    waiting = [signature.returns, *(parameter.type for parameter in signature.parameters)]
    while waiting:
        type_ = waiting.pop()
        if type_.name == "?":
            return True
        waiting.extend(type_.arguments)
    return False


def _is_boxed(signature: Signature) -> bool:
    """Whether a function takes the operator and the stack, as boxed kernels do (`BoxedKernel.h`, torch 2.13).

    Those of the stable ABI take the stack as `StableIValue*` and two numbers (`torch/csrc/stable/library.h`).
    """
    types = [parameter.type for parameter in signature.parameters]
    if [str(type_) for type_ in types] == ["uint64_t*", "uint64_t", "uint64_t"]:
        return True
    return bool(types) and types[0].name == "c10::OperatorHandle"


def _with_signature(kernel: Kernel, signature: Signature | None) -> Kernel:
    return replace(kernel, signature=signature)


def _with_names(signature: Signature, other: Signature | None) -> Signature:
    """`signature` with the parameter names of the function that a cast picks."""
    if other is None or len(other.parameters) != len(signature.parameters):
        return signature
    named = tuple(
        Parameter(o.name, p.type, o.place) for p, o in zip(signature.parameters, other.parameters, strict=True)
    )
    return Signature(signature.returns, named, signature.noexcept, other.place)


def split_name(text: str) -> list[str]:
    """The parts of a qualified name, template arguments kept: `A<x::y>::f` -> `A<x::y>`, `f`."""
    if "<" not in text and ">" not in text:
        parts = text.split("::")
        return _without_keyword(parts)
    parts = []
    depth = start = 0
    for index, character in enumerate(text):
        depth += (character == "<") - (character == ">")
        if depth == 0 and text.startswith("::", index):
            parts.append(text[start:index])
            start = index + 2
    parts.append(text[start:])
    return _without_keyword(parts)


def _without_keyword(parts: list[str]) -> list[str]:
    return [part.removeprefix("template") if part.startswith("template") else part for part in parts if part]
