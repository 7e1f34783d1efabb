"""libclang's types as `op_lint.facts.CppType`: the same tree from the overlay and from the real headers."""

from __future__ import annotations

from op_lint.cpp.clang import qualified_name
from op_lint.cpp.libclang import Cursor, CursorKind, Type, TypeKind
from op_lint.cpp.repair import UNKNOWN
from op_lint.facts import CppType

_KEPT = {
    "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "size_t", "ssize_t",
    "ptrdiff_t", "intptr_t", "uintptr_t",
}  # fmt: skip
"""Type aliases that stay as they are written: what they stand for differs from platform to platform."""

_BUILTIN_LAYERS = {f"__{name}" for name in _KEPT}
"""glibc's inner names of the same types (`__int64_t`)."""

_PARAMETERS = {
    "std::vector": 1, "std::list": 1, "std::deque": 1, "std::set": 1, "std::unordered_set": 1, "std::map": 2,
    "std::unordered_map": 2, "std::unique_ptr": 1, "c10::intrusive_ptr": 1,
}  # fmt: skip
"""How many template parameters of a standard container have no default."""

_INT64 = {"long": "int64_t", "unsigned long": "uint64_t"}

_STRINGS = {"std::basic_string": "std::string", "std::basic_string_view": "std::string_view"}

_DEEPEST = 24


def convert(type_: Type, depth: int = 0) -> CppType:
    """The tree of a libclang type. A type that libclang could not make out is `?`.

    `long` is only said where the source says it: in the arguments of a specialization, in what `auto` or a template
    parameter stands for, libclang shows this platform's 64-bit integer whatever was written, and that is `int64_t`.
    """
    spelling = type_.spelling
    if UNKNOWN in spelling:
        spelling = ""
    if depth > _DEEPEST:
        return CppType("?", spelling=spelling)
    kind = type_.kind
    if kind in (TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE):
        inner = convert(type_.pointee, depth + 1)
        reference = "&" if kind == TypeKind.LVALUEREFERENCE else "&&"
        if inner.name == "?":
            return CppType("?", spelling=spelling)  # the spelling says that it is a reference
        return CppType(inner.name, inner.arguments, inner.const, reference, spelling)
    const = bool(type_.is_const)
    name, arguments = _core(type_, depth)
    return CppType(name, arguments, const, "", spelling)


def _core(type_: Type, depth: int) -> tuple[str, tuple[CppType, ...]]:
    """The name and template arguments of a type without its qualifiers."""
    kind = type_.kind
    if kind == TypeKind.POINTER:
        return "*", (convert(type_.pointee, depth + 1),)
    if kind in (TypeKind.CONSTANTARRAY, TypeKind.INCOMPLETEARRAY, TypeKind.VARIABLEARRAY):
        return "[]", (convert(type_.element_type, depth + 1),)
    if kind == TypeKind.FUNCTIONPROTO:
        parts = [type_.result, *type_.parameters()]
        return "()", tuple(convert(part, depth + 1) for part in parts)
    if kind == TypeKind.TYPEDEF:
        alias = type_.declaration
        if alias.spelling in _KEPT:
            return str(alias.spelling), ()
        if alias.is_invalid:
            return "?", ()  # an alias of something that libclang does not know, and takes for `int`
        return _core(alias.underlying_type, depth + 1)
    if kind == TypeKind.ELABORATED:
        return _core(type_.named_type, depth + 1)
    if kind in (TypeKind.RECORD, TypeKind.ENUM, TypeKind.UNEXPOSED):
        return _named(type_, depth)
    if kind == TypeKind.AUTO:
        canonical = type_.canonical
        return _unwritten(canonical, depth) if canonical.kind != TypeKind.AUTO else ("?", ())
    if kind in (TypeKind.INVALID, TypeKind.DEPENDENT):
        return "?", ()
    canonical = type_.canonical
    if canonical.kind != kind and canonical.kind in (TypeKind.RECORD, TypeKind.ENUM):
        return _named(canonical, depth)
    words = [word for word in canonical.spelling.split() if word not in ("const", "volatile")]
    return " ".join(words), ()


def _named(type_: Type, depth: int) -> tuple[str, tuple[CppType, ...]]:
    canonical = type_.canonical
    if canonical.kind not in (TypeKind.RECORD, TypeKind.ENUM, TypeKind.UNEXPOSED):
        # Sugar over something else: decltype, a substituted template parameter, an alias template.
        return ("?", ()) if canonical.kind == type_.kind else _unwritten(canonical, depth)
    declaration = canonical.declaration
    if declaration.kind == CursorKind.NO_DECL_FOUND:
        declaration = type_.declaration
        if declaration.kind == CursorKind.NO_DECL_FOUND:
            return "?", ()
    name = qualified_name(declaration)
    if name == UNKNOWN:
        return "?", ()
    if name in _STRINGS and (characters := canonical.template_arguments()):
        element = characters[0].spelling
        return (_STRINGS[name], ()) if element == "char" else (name, (CppType(element),))
    return name, _arguments(type_, canonical, declaration, _PARAMETERS.get(name), depth)


def _arguments(type_: Type, canonical: Type, declaration: Cursor, most: int | None, depth: int) -> tuple[CppType, ...]:
    """The template arguments of a class, the first `most` of them."""
    meant = canonical.template_arguments()
    written = type_.template_arguments()
    is_written = len(written) == len(meant) and _is_sugar_of(written, meant)
    is_sugar = is_written and type_ != type_.canonical
    found: list[CppType] = []
    for index, argument in enumerate((written if is_written else meant)[:most]):
        if argument.kind == TypeKind.INVALID:
            found.append(CppType(_value_argument(declaration, type_, index)))
        elif is_sugar:
            found.append(convert(argument, depth + 1))
        else:
            found.append(_as_int64(convert(argument, depth + 1)))
    return tuple(found)


def _unwritten(type_: Type, depth: int) -> tuple[str, tuple[CppType, ...]]:
    name, arguments = _core(type_, depth + 1)
    return _INT64.get(name, name), arguments


def _as_int64(type_: CppType) -> CppType:
    """A type whose spelling in the source is lost, its 64-bit integers under their portable names."""
    arguments = tuple(_as_int64(argument) for argument in type_.arguments)
    return CppType(_INT64.get(type_.name, type_.name), arguments, type_.const, type_.reference, type_.spelling)


def _is_sugar_of(written: list[Type], meant: list[Type]) -> bool:
    """Whether the arguments as written are those of the class (and not those of an alias template)."""
    return all(
        first.kind == second.kind
        if TypeKind.INVALID in (first.kind, second.kind)
        else first.canonical == second.canonical
        for first, second in zip(written, meant, strict=True)
    )


def _value_argument(declaration: Cursor, type_: Type, index: int) -> str:
    """A non-type template argument (`2` of `std::array<bool, 2>`), from the class or from the spelling."""
    value = declaration.template_value(index)
    if value is not None:
        return str(value)
    text = type_.canonical.spelling
    inside = text[text.find("<") + 1 : text.rfind(">")]
    parts = inside.split(",")
    return parts[index].strip() if index < len(parts) else "?"
