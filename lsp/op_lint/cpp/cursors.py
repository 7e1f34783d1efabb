"""What a cursor is: small questions about libclang's syntax tree that the reading of registrations asks."""

from __future__ import annotations

import re

from op_lint.cpp.clang import FUNCTIONS
from op_lint.cpp.libclang import Cursor, CursorKind, Type, TypeKind

_TAGS = re.compile(r"(?:^|\bvector<)(?:\w+::)*Tag\b")
"""`at::Tag` or a vector of it; torch has moved the enumeration between namespaces."""


def type_name(type_: Type) -> str:
    """The canonical name of a type, seen through references and one pointer, without `const`."""
    canonical = type_.canonical
    if canonical.kind in (TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE, TypeKind.POINTER):
        canonical = canonical.pointee
    spelling = canonical.spelling
    return spelling.removeprefix("const ")


def is_defaulted(cursor: Cursor) -> bool:
    """Whether an argument is a default one: it is nowhere in the source."""
    return cursor.is_nowhere


def is_enum(cursor: Cursor, name: str) -> bool:
    """Whether an expression is of the enumeration `name`."""
    return type_name(cursor.type).endswith(name)


def constructor_arguments(variable: Cursor) -> list[Cursor]:
    """The arguments of the constructor call that initialises a variable."""
    for child in variable.children():
        cursor = child
        while cursor.kind == CursorKind.UNEXPOSED_EXPR:
            inner = cursor.children()
            if len(inner) != 1:
                break
            cursor = inner[0]
        if cursor.kind in (CursorKind.CALL_EXPR, CursorKind.CXX_FUNCTIONAL_CAST_EXPR):
            arguments = [argument for argument in cursor.children() if argument.is_expression]
            if len(arguments) == 1 and arguments[0].kind in (CursorKind.CALL_EXPR, CursorKind.UNEXPOSED_EXPR):
                return constructor_arguments(cursor)
            return arguments
    return []


def enumerator(cursor: Cursor) -> str | None:
    """The name of the enumerator that an expression is."""
    for inner in cursor.walk():
        if inner.kind == CursorKind.DECL_REF_EXPR:
            referenced = inner.referenced
            if referenced is not None and referenced.kind == CursorKind.ENUM_CONSTANT_DECL:
                return referenced.spelling
    return None


def function_of(cursor: Cursor) -> Cursor | None:
    """The function with a body, or the lambda, that an initialiser's argument names first."""
    for inner in cursor.walk():
        if inner.kind == CursorKind.LAMBDA_EXPR:
            return inner
        if inner.kind == CursorKind.DECL_REF_EXPR:
            referenced = inner.referenced
            if referenced is not None and referenced.kind in FUNCTIONS:
                return referenced.definition or referenced
            if referenced is not None and referenced.kind == CursorKind.VAR_DECL:
                function = lambda_in(referenced)
                if function is not None:
                    return function
    return None


def callee(cursor: Cursor) -> Cursor | None:
    """The function that a call calls, as its definition or its template's pattern; None where that is unknown."""
    referenced = cursor.referenced
    if referenced is None or referenced.kind not in FUNCTIONS:
        for child in cursor.children()[:1]:
            for inner in child.walk():
                if inner.kind == CursorKind.OVERLOADED_DECL_REF:
                    return inner.only_overload
        return None
    pattern = referenced.template
    if pattern is None or pattern.kind not in FUNCTIONS:
        pattern = referenced
    return pattern.definition or pattern


def parameters_of(function: Cursor) -> list[Cursor]:
    """The parameters of a function, function template or lambda."""
    return function.arguments() or [child for child in function.children() if child.kind == CursorKind.PARM_DECL]


def body_of(function: Cursor) -> Cursor | None:
    """The body of a function or lambda."""
    blocks = [child for child in function.children() if child.kind == CursorKind.COMPOUND_STMT]
    return blocks[-1] if blocks else None


def lambda_of(cursor: Cursor) -> Cursor | None:
    """The lambda that an initialiser is, if it is one."""
    current = cursor
    while current.kind in (CursorKind.UNEXPOSED_EXPR, CursorKind.CALL_EXPR, CursorKind.PAREN_EXPR):
        children = current.children()
        if len(children) != 1:
            return None
        current = children[0]
    return current if current.kind == CursorKind.LAMBDA_EXPR else None


def lambda_in(variable: Cursor) -> Cursor | None:
    """The lambda that a variable is initialised with, or None."""
    return next((found for found in map(lambda_of, variable.children()) if found is not None), None)


def method_name(member: Cursor) -> str:
    """The name of the method that a member reference names, settled or not."""
    name = member.spelling
    if name:
        return name
    for child in member.children():
        if child.kind == CursorKind.OVERLOADED_DECL_REF:
            return child.spelling
    return ""


def is_tags(cursor: Cursor) -> bool:
    """Whether an argument of `def` is its tags: a vector of at::Tag, or the braces that make one."""
    if cursor.kind == CursorKind.INIT_LIST_EXPR:
        return True
    return _TAGS.search(type_name(cursor.type)) is not None


def tag_names(cursor: Cursor) -> tuple[str, ...]:
    """The names of the tags in an expression, those of a variable that it names included."""
    names: list[str] = []
    for inner in cursor.walk():
        if inner.kind != CursorKind.DECL_REF_EXPR or inner.referenced is None:
            continue
        referenced = inner.referenced
        if referenced.kind == CursorKind.ENUM_CONSTANT_DECL:
            names.append(referenced.spelling)
        elif referenced.kind == CursorKind.VAR_DECL:
            for child in referenced.children():
                names.extend(tag_names(child))
    return tuple(dict.fromkeys(names))


def alias_analysis(cursor: Cursor) -> str | None:
    """The alias analysis kind of `torch::schema("...", kind)`."""
    name = enumerator(cursor)
    return name if name in ("CONSERVATIVE", "FROM_SCHEMA", "PURE_FUNCTION", "INTERNAL_SPECIAL_CASE") else None


def call_chain(cursor: Cursor) -> list[tuple[str, list[Cursor], Cursor]]:
    """The method calls of a chain such as `options().schema(...).kernel<...>(...)`, first call first."""
    calls: list[tuple[str, list[Cursor], Cursor]] = []
    current: Cursor | None = cursor
    while current is not None:
        children = current.children()
        member = next((child for child in children if child.kind == CursorKind.MEMBER_REF_EXPR), None)
        if member is None:
            inner = [child for child in children if child.is_expression]
            current = inner[0] if len(inner) == 1 else None
            continue
        arguments = [child for child in children if child is not member and child.is_expression]
        calls.append((method_name(member), [a for a in arguments if not is_defaulted(a)], current))
        objects = [child for child in member.children() if child.is_expression]
        current = objects[0] if objects else None
    return list(reversed(calls))
