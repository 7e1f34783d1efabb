"""Strings that the source fixes: literals, their concatenation, constants, and what wraps them."""

from __future__ import annotations

from collections.abc import Callable

from op_lint.cpp.clang import Point
from op_lint.cpp.libclang import Cursor, CursorKind, TypeKind
from op_lint.cpp.scan import Literal, decode_literal, literal_tokens
from op_lint.cpp.sources import SourceMap
from op_lint.facts import Piece, Place, Text

_WRAPPERS = {
    "basic_string", "string", "basic_string_view", "string_view", "SelectiveStr", "schema", "parseSchema", "parseName",
    "c_str", "data", "str", "move", "operator const char *",
}  # fmt: skip
"""Calls whose value is that of their string argument (or object)."""

_EXPRESSIONS = {
    CursorKind.UNEXPOSED_EXPR,
    CursorKind.PAREN_EXPR,
    CursorKind.CXX_STATIC_CAST_EXPR,
    CursorKind.CSTYLE_CAST_EXPR,
    CursorKind.INIT_LIST_EXPR,
}

Lookup = Callable[[Cursor], object | None]
"""What a declaration stands for in the body being read (a parameter's argument), None where that is not known."""


class LiteralReader:
    """Evaluates the expressions that name and describe operators."""

    def __init__(self, sources: SourceMap) -> None:
        self.sources = sources

    def text(self, cursor: Cursor, lookup: Lookup) -> Text | None:
        """The string that `cursor` is, or None where it is not known statically."""
        place = self.sources.place(cursor)
        value = self._value(cursor, lookup, 0)
        if value is None:
            return None
        return Text(value.value, place, value.pieces) if place else value

    def _value(self, cursor: Cursor, lookup: Lookup, depth: int) -> Text | None:
        if depth > 32:
            return None
        kind = cursor.kind
        if kind == CursorKind.STRING_LITERAL:
            return self._literal(cursor)
        if kind == CursorKind.DECL_REF_EXPR:
            return self._constant(cursor.referenced, lookup, depth)
        children = [child for child in cursor.children() if child.is_expression]
        if kind == CursorKind.CXX_FUNCTIONAL_CAST_EXPR and children:
            return self._value(children[-1], lookup, depth + 1)
        if kind in _EXPRESSIONS:
            return self._value(children[-1], lookup, depth + 1) if len(children) == 1 else None
        if kind == CursorKind.CALL_EXPR:
            return self._call(cursor, children, lookup, depth)
        if kind == CursorKind.MEMBER_REF_EXPR and cursor.spelling in _WRAPPERS and children:
            return self._value(children[0], lookup, depth + 1)
        if kind == CursorKind.BINARY_OPERATOR:
            return self._sum(children, lookup, depth)
        return None

    def _call(self, cursor: Cursor, children: list[Cursor], lookup: Lookup, depth: int) -> Text | None:
        name = cursor.spelling
        if name == "operator+":
            operands = [child for child in children if "operator+" not in child.spelling]
            return self._sum(operands, lookup, depth)
        if name not in _WRAPPERS:
            return None
        for child in children:
            is_callee = child.spelling == name and child.type.kind == TypeKind.POINTER
            if is_callee and child.kind == CursorKind.UNEXPOSED_EXPR:
                continue
            value = self._value(child, lookup, depth + 1)
            if value is not None:
                return value
        return None

    def _sum(self, operands: list[Cursor], lookup: Lookup, depth: int) -> Text | None:
        if len(operands) != 2:
            return None
        left = self._value(operands[0], lookup, depth + 1)
        right = self._value(operands[1], lookup, depth + 1)
        if left is None or right is None:
            return None
        shift = len(left.value)
        moved = tuple(Piece(p.start + shift, p.length, p.place, p.steps) for p in right.pieces)
        return Text(left.value + right.value, left.place, left.pieces + moved)

    def _constant(self, declaration: Cursor | None, lookup: Lookup, depth: int) -> Text | None:
        """A name: a parameter bound by the call, or a variable that cannot change."""
        if declaration is None:
            return None
        bound = lookup(declaration)
        if isinstance(bound, Text):
            return bound
        if declaration.kind != CursorKind.VAR_DECL or not is_constant(declaration):
            return None
        initialisers = [child for child in declaration.children() if child.is_expression]
        return self._value(initialisers[-1], lookup, depth + 1) if initialisers else None

    def _literal(self, cursor: Cursor) -> Text | None:
        spelling = cursor.spelling
        first = spelling.find('"')
        if first < 0:
            return None
        value, _ = decode_literal(spelling[first + 1 : spelling.rfind('"')].encode("utf-8", "surrogateescape"))
        value = _joined_bytes(value)
        place, pieces = self._pieces(cursor, value)
        return Text(value, place, pieces)

    def _pieces(self, cursor: Cursor, value: str) -> tuple[Place, tuple[Piece, ...]]:
        start = cursor.extent.start
        points = (self.sources.tu.file_point(start), self.sources.tu.spelling(start))
        whole = self.sources.place(cursor)
        for point in dict.fromkeys(points):
            pieces = self._pieces_from(point, value)
            if pieces:
                return whole or pieces[0].place, pieces
        if whole is None:
            whole = Place(self.sources.main.path, 1, 0, 0)
        return whole, ()

    def _pieces_from(self, point: Point, value: str) -> tuple[Piece, ...]:
        view = self.sources.view(point)
        if view is None:
            return ()
        literals, others, _ = literal_tokens(view.data, point.offset, len(view.data))
        if not literals or (not others and literals[0].start != point.offset):
            return ()
        pieces: list[Piece] = []
        position = 0
        for literal in literals:
            inner = view.data[literal.inner_start : literal.inner_end]
            content, steps = decode_literal(inner, literal.raw)
            between = any(_is_between(other, pieces, literal, point.offset) for other in others)
            found = value.find(content, position) if between else position
            if found < 0 or value[found : found + len(content)] != content:
                return tuple(pieces) if others else ()
            place = self.sources.at(view, literal.inner_start, literal.inner_end)
            if content:
                pieces.append(Piece(found, len(content), place, steps))
            position = found + len(content)
            if position == len(value):
                break
        return tuple(pieces)


def _is_between(other: tuple[int, int], pieces: list[Piece], literal: Literal, start: int) -> bool:
    """Whether a macro's name stands right before `literal`, so that its text is in the value before it."""
    before = pieces[-1].place.end if pieces else start
    return before <= other[0] < literal.start


def _joined_bytes(value: str) -> str:
    """The compiler prints what is not ASCII byte by byte; put the bytes together again."""
    if value.isascii():
        return value
    try:
        return value.encode("latin-1").decode("utf-8")
    except (UnicodeEncodeError, UnicodeDecodeError):
        return value


def is_constant(variable: Cursor) -> bool:
    """Whether a variable's value is its initialiser: `const`, `constexpr`, an array, or a `static` of one file."""
    type_ = variable.type
    if type_.is_const:
        return True
    return bool(type_.kind == TypeKind.CONSTANTARRAY and type_.element_type.is_const)
