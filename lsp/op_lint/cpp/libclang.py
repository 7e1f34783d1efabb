"""A binding of the part of libclang that is needed: typed, and without work that nobody asked for.

The library itself comes with the `libclang` wheel (version 18). Names and numbers are those of clang-c/Index.h. A
cursor or type is a handle into its translation unit and is only valid as long as that lives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from ctypes import (
    CDLL,
    CFUNCTYPE,
    Structure,
    c_char_p,
    c_int,
    c_longlong,
    c_uint,
    c_ulong,
    c_void_p,
    py_object,
)
from typing import Any, ClassVar, Final

from clang import cindex


class CursorKind:
    """CXCursorKind."""

    STRUCT_DECL: Final = 2
    CLASS_DECL: Final = 4
    FIELD_DECL: Final = 6
    ENUM_CONSTANT_DECL: Final = 7
    FUNCTION_DECL: Final = 8
    VAR_DECL: Final = 9
    PARM_DECL: Final = 10
    CXX_METHOD: Final = 21
    NAMESPACE: Final = 22
    LINKAGE_SPEC: Final = 23
    CONSTRUCTOR: Final = 24
    FUNCTION_TEMPLATE: Final = 30
    CLASS_TEMPLATE: Final = 31
    UNEXPOSED_DECL: Final = 1
    TYPE_REF: Final = 43
    OVERLOADED_DECL_REF: Final = 49
    NO_DECL_FOUND: Final = 71
    UNEXPOSED_EXPR: Final = 100
    DECL_REF_EXPR: Final = 101
    MEMBER_REF_EXPR: Final = 102
    CALL_EXPR: Final = 103
    STRING_LITERAL: Final = 109
    PAREN_EXPR: Final = 111
    BINARY_OPERATOR: Final = 114
    CONDITIONAL_OPERATOR: Final = 116
    CSTYLE_CAST_EXPR: Final = 117
    INIT_LIST_EXPR: Final = 119
    CXX_STATIC_CAST_EXPR: Final = 124
    CXX_REINTERPRET_CAST_EXPR: Final = 126
    CXX_FUNCTIONAL_CAST_EXPR: Final = 128
    CXX_THROW_EXPR: Final = 133
    LAMBDA_EXPR: Final = 144
    COMPOUND_STMT: Final = 202
    IF_STMT: Final = 205
    SWITCH_STMT: Final = 206
    WHILE_STMT: Final = 207
    DO_STMT: Final = 208
    FOR_STMT: Final = 209
    RETURN_STMT: Final = 214
    CXX_FOR_RANGE_STMT: Final = 225
    DECL_STMT: Final = 231
    TRANSLATION_UNIT: Final = 350


class TypeKind:
    """CXTypeKind."""

    INVALID: Final = 0
    UNEXPOSED: Final = 1
    DEPENDENT: Final = 26
    POINTER: Final = 101
    LVALUEREFERENCE: Final = 103
    RVALUEREFERENCE: Final = 104
    RECORD: Final = 105
    ENUM: Final = 106
    TYPEDEF: Final = 107
    FUNCTIONPROTO: Final = 111
    CONSTANTARRAY: Final = 112
    INCOMPLETEARRAY: Final = 114
    VARIABLEARRAY: Final = 115
    AUTO: Final = 118
    ELABORATED: Final = 119


_EXPRESSIONS = range(100, 200)
_STATEMENTS = range(200, 300)
_INVALID = range(70, 74)
_CONTINUE: Final = 1
"""CXChildVisit_Continue."""

_NOEXCEPT = (1, 4)
"""CXCursor_ExceptionSpecificationKind_DynamicNone and _BasicNoexcept."""


class String(Structure):
    """CXString: see `text`."""

    _fields_: ClassVar = [("data", c_void_p), ("private_flags", c_uint)]


class UnsavedFile(Structure):
    """CXUnsavedFile: a file that is handed over as bytes."""

    _fields_: ClassVar = [("name", c_char_p), ("contents", c_char_p), ("length", c_ulong)]


class Location(Structure):
    """CXSourceLocation."""

    ptr_data: Any
    int_data: int
    _fields_: ClassVar = [("ptr_data", c_void_p * 2), ("int_data", c_uint)]


class Range(Structure):
    """CXSourceRange: `begin_int_data` and `end_int_data` are the numbers of its two locations."""

    ptr_data: Any
    begin_int_data: int
    end_int_data: int
    _fields_: ClassVar = [("ptr_data", c_void_p * 2), ("begin_int_data", c_uint), ("end_int_data", c_uint)]

    @property
    def start(self) -> Location:
        """Where it begins."""
        return _get_range_start(self)

    @property
    def end(self) -> Location:
        """Where its last token ends."""
        return _get_range_end(self)


class Type(Structure):
    """CXType."""

    kind: int
    data: Any
    _fields_: ClassVar = [("kind", c_int), ("data", c_void_p * 2)]

    @property
    def spelling(self) -> str:
        """The type as the compiler writes it."""
        return text(_get_type_spelling(self))

    @property
    def canonical(self) -> Type:
        """The type with every alias seen through."""
        return _get_canonical_type(self)

    @property
    def pointee(self) -> Type:
        """What a pointer or reference points to."""
        return _get_pointee_type(self)

    @property
    def element_type(self) -> Type:
        """The type of an array's elements."""
        return _get_element_type(self)

    @property
    def named_type(self) -> Type:
        """The type that an elaborated type (`struct S`, `ns::T`) names."""
        return _get_named_type(self)

    @property
    def result(self) -> Type:
        """What a function of this type returns."""
        return _get_result_type(self)

    @property
    def declaration(self) -> Cursor:
        """The declaration of a named type; of kind NO_DECL_FOUND where there is none."""
        return _get_type_declaration(self)

    @property
    def is_const(self) -> bool:
        """Whether the type is `const` itself, aliases not seen through."""
        return bool(_is_const_qualified(self))

    @property
    def is_noexcept(self) -> bool:
        """Whether a function of this type is `noexcept` (or `throw()`)."""
        return _get_exception_specification(self) in _NOEXCEPT

    def parameters(self) -> list[Type]:
        """The parameter types of a function type."""
        return [_get_arg_type(self, index) for index in range(_get_num_arg_types(self))]

    def template_arguments(self) -> list[Type]:
        """The template arguments as this type writes them; one that is no type is of kind INVALID."""
        count = _get_num_type_arguments(self)
        return [_get_type_argument(self, index) for index in range(count)]

    @property
    def identity(self) -> int:
        """A number that no other type of the translation unit has, as it is written (aliases not seen through)."""
        return self.data[0] or 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Type) and bool(_equal_types(self, other))

    __hash__ = None  # type: ignore[assignment]


class Cursor(Structure):
    """CXCursor: a node of the syntax tree."""

    kind: int
    data: Any
    _fields_: ClassVar = [("kind", c_int), ("xdata", c_int), ("data", c_void_p * 3)]

    @property
    def spelling(self) -> str:
        """The name of what is declared or referred to; of a literal its text."""
        return text(_get_cursor_spelling(self))

    @property
    def type(self) -> Type:
        """The type of an expression or declaration."""
        return _get_cursor_type(self)

    @property
    def result_type(self) -> Type:
        """What a function returns."""
        return _get_cursor_result_type(self)

    @property
    def underlying_type(self) -> Type:
        """What a type alias stands for."""
        return _get_underlying_type(self)

    @property
    def referenced(self) -> Cursor | None:
        """The declaration that a reference or call refers to."""
        return _present(_get_referenced(self))

    @property
    def definition(self) -> Cursor | None:
        """The definition of what is declared, where that is in this translation unit."""
        return _present(_get_definition(self))

    @property
    def semantic_parent(self) -> Cursor | None:
        """The declaration that this one is a member of."""
        return _present(_get_semantic_parent(self))

    @property
    def template(self) -> Cursor | None:
        """The template that a specialization was made from."""
        return _present(_get_template(self))

    @property
    def only_overload(self) -> Cursor | None:
        """The function that an unsettled name stands for, if it stands for one only."""
        if _get_num_overloads(self) != 1:
            return None
        return _present(_get_overload(self, 0))

    @property
    def location(self) -> Location:
        """Where the name is."""
        return _get_location(self)

    @property
    def extent(self) -> Range:
        """Where the whole is."""
        return _get_extent(self)

    @property
    def is_nowhere(self) -> bool:
        """Whether this stands nowhere in the source, as a default argument that a call leaves out."""
        return not _get_extent(self).ptr_data[0]

    @property
    def identity(self) -> int:
        """A number that no other declaration, expression or statement of the translation unit has."""
        return self.data[1 if self.is_expression or self.is_statement else 0] or 0

    @property
    def is_expression(self) -> bool:
        """Whether this is an expression, and no reference to a name or type."""
        return self.kind in _EXPRESSIONS

    @property
    def is_statement(self) -> bool:
        """Whether this is a statement that is no expression."""
        return self.kind in _STATEMENTS

    @property
    def is_invalid(self) -> bool:
        """Whether libclang found errors in this declaration itself, so that its types may be made up."""
        return bool(_is_invalid_declaration(self))

    @property
    def is_inline_namespace(self) -> bool:
        """Whether this is an `inline namespace`."""
        return bool(_is_inline_namespace(self))

    @property
    def is_anonymous(self) -> bool:
        """Whether this is a namespace or class without a name."""
        return bool(_is_anonymous(self))

    @property
    def is_static(self) -> bool:
        """Whether this is declared `static`."""
        return _get_storage_class(self) == _STATIC

    def children(self) -> list[Cursor]:
        """The nodes right below this one, in order."""
        found: list[Cursor] = []
        visit(self, _append, found)
        return found

    def walk(self) -> Iterator[Cursor]:
        """The node itself and all below it, in order of writing."""
        waiting = [self]
        while waiting:
            current = waiting.pop()
            yield current
            waiting.extend(reversed(current.children()))

    def walk_up(self) -> Iterator[Cursor]:
        """As `walk`, but a node after all below it: of a chain of calls the first one first."""
        waiting = [(self, False)]
        while waiting:
            current, is_done = waiting.pop()
            if is_done:
                yield current
                continue
            waiting.append((current, True))
            waiting.extend((child, False) for child in reversed(current.children()))

    def arguments(self) -> list[Cursor]:
        """The arguments of a call, the parameters of a function."""
        count = _get_num_arguments(self)
        return [_get_argument(self, index) for index in range(count)]

    def template_value(self, index: int) -> int | None:
        """The value of a template argument that is no type, where this specialization knows it."""
        if _get_num_values(self) <= index:
            return None
        return _get_value(self, index)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cursor) and bool(_equal_cursors(self, other))

    __hash__ = None  # type: ignore[assignment]


Visitor = CFUNCTYPE(c_int, Cursor, Cursor, py_object)
"""CXCursorVisitor, its client data a Python object."""


def _append_child(cursor: Cursor, _parent: Cursor, found: list[Cursor]) -> int:
    found.append(cursor)
    return _CONTINUE


_append = Visitor(_append_child)


def text(string: String) -> str:
    """The characters of a CXString, which is given back."""
    value = _get_cstring(string) or b""
    _dispose_string(string)
    return value.decode("utf-8", "replace")


def _present(cursor: Cursor) -> Cursor | None:
    return None if cursor.kind in _INVALID else cursor


_library: CDLL = cindex.conf.get_cindex_library()
"""A handle of our own: the function objects of clang.cindex have its types and checks."""


def function(name: str, result: Any, *parameters: Any) -> Any:
    """The function `name` of libclang, which takes and gives C types."""
    found = getattr(_library, name)
    found.restype, found.argtypes = result, parameters
    return found


_get_cstring: Callable[[String], bytes | None] = function("clang_getCString", c_char_p, String)
_dispose_string: Callable[[String], None] = function("clang_disposeString", None, String)

_get_type_spelling: Callable[[Type], String] = function("clang_getTypeSpelling", String, Type)
_get_canonical_type: Callable[[Type], Type] = function("clang_getCanonicalType", Type, Type)
_get_pointee_type: Callable[[Type], Type] = function("clang_getPointeeType", Type, Type)
_get_element_type: Callable[[Type], Type] = function("clang_getElementType", Type, Type)
_get_named_type: Callable[[Type], Type] = function("clang_Type_getNamedType", Type, Type)
_get_result_type: Callable[[Type], Type] = function("clang_getResultType", Type, Type)
_get_type_declaration: Callable[[Type], Cursor] = function("clang_getTypeDeclaration", Cursor, Type)
_is_const_qualified: Callable[[Type], int] = function("clang_isConstQualifiedType", c_uint, Type)
_get_exception_specification: Callable[[Type], int] = function("clang_getExceptionSpecificationType", c_int, Type)
_get_num_arg_types: Callable[[Type], int] = function("clang_getNumArgTypes", c_int, Type)
_get_arg_type: Callable[[Type, int], Type] = function("clang_getArgType", Type, Type, c_uint)
_get_num_type_arguments: Callable[[Type], int] = function("clang_Type_getNumTemplateArguments", c_int, Type)
_get_type_argument: Callable[[Type, int], Type] = function("clang_Type_getTemplateArgumentAsType", Type, Type, c_uint)
_equal_types: Callable[[Type, Type], int] = function("clang_equalTypes", c_uint, Type, Type)

_get_cursor_spelling: Callable[[Cursor], String] = function("clang_getCursorSpelling", String, Cursor)
_get_cursor_type: Callable[[Cursor], Type] = function("clang_getCursorType", Type, Cursor)
_get_cursor_result_type: Callable[[Cursor], Type] = function("clang_getCursorResultType", Type, Cursor)
_get_underlying_type: Callable[[Cursor], Type] = function("clang_getTypedefDeclUnderlyingType", Type, Cursor)
_get_referenced: Callable[[Cursor], Cursor] = function("clang_getCursorReferenced", Cursor, Cursor)
_get_definition: Callable[[Cursor], Cursor] = function("clang_getCursorDefinition", Cursor, Cursor)
_get_semantic_parent: Callable[[Cursor], Cursor] = function("clang_getCursorSemanticParent", Cursor, Cursor)
_get_template: Callable[[Cursor], Cursor] = function("clang_getSpecializedCursorTemplate", Cursor, Cursor)
_get_num_overloads: Callable[[Cursor], int] = function("clang_getNumOverloadedDecls", c_uint, Cursor)
_get_overload: Callable[[Cursor, int], Cursor] = function("clang_getOverloadedDecl", Cursor, Cursor, c_uint)
_get_location: Callable[[Cursor], Location] = function("clang_getCursorLocation", Location, Cursor)
_get_extent: Callable[[Cursor], Range] = function("clang_getCursorExtent", Range, Cursor)
_get_range_start: Callable[[Range], Location] = function("clang_getRangeStart", Location, Range)
_get_range_end: Callable[[Range], Location] = function("clang_getRangeEnd", Location, Range)
_is_invalid_declaration: Callable[[Cursor], int] = function("clang_isInvalidDeclaration", c_uint, Cursor)
_is_inline_namespace: Callable[[Cursor], int] = function("clang_Cursor_isInlineNamespace", c_uint, Cursor)
_is_anonymous: Callable[[Cursor], int] = function("clang_Cursor_isAnonymous", c_uint, Cursor)
_get_storage_class: Callable[[Cursor], int] = function("clang_Cursor_getStorageClass", c_int, Cursor)
_STATIC = 3
"""`CX_SC_Static`"""
_get_num_arguments: Callable[[Cursor], int] = function("clang_Cursor_getNumArguments", c_int, Cursor)
_get_argument: Callable[[Cursor, int], Cursor] = function("clang_Cursor_getArgument", Cursor, Cursor, c_uint)
_get_num_values: Callable[[Cursor], int] = function("clang_Cursor_getNumTemplateArguments", c_int, Cursor)
_get_value: Callable[[Cursor, int], int] = function("clang_Cursor_getTemplateArgumentValue", c_longlong, Cursor, c_uint)
_equal_cursors: Callable[[Cursor, Cursor], int] = function("clang_equalCursors", c_uint, Cursor, Cursor)
visit: Callable[[Cursor, Any, object], int] = function("clang_visitChildren", c_uint, Cursor, Visitor, py_object)
"""Calls a `Visitor` for the nodes right below a cursor, and with CXChildVisit_Recurse for those below them."""
