"""The types of the schema language, and their alias annotations (`schema_type_parser.cpp`, torch 2.13)."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TypeVar

from op_lint.schema.cursor import Cursor, ParseFailure
from op_lint.schema.lexer import IDENTIFIER, NUMBER
from op_lint.schema.model import Alias, ErrorKind, Kind, SchemaError, Span, Suggestion, Type, fake_type
from op_lint.schema.printer import format_type
from op_lint.schema.spelling import nearest_type, spelled_type
from op_lint.schema.unions import TypeRefusedError, optional, union
from op_lint.schema.values import LiteralRefusedError, read_integer

_MOST_TYPES = 100
"""An argument whose type is made of more types is refused. Torch's limit is its stack; real types are made of five."""

_SIMPLE_TYPES = {
    kind.value: kind
    for kind in (
        Kind.ANY,
        Kind.ANY_CLASS,
        Kind.ANY_ENUM,
        Kind.BOOL,
        Kind.CAPSULE,
        Kind.COMPLEX,
        Kind.DEVICE,
        Kind.FLOAT,
        Kind.GENERATOR,
        Kind.INT,
        Kind.LAYOUT,
        Kind.MEMORY_FORMAT,
        Kind.NONE,
        Kind.NUMBER,
        Kind.QSCHEME,
        Kind.QUANTIZER,
        Kind.SCALAR_TYPE,
        Kind.STORAGE,
        Kind.STREAM,
        Kind.STRING,
        Kind.SYM_BOOL,
        Kind.SYM_INT,
    )
}
_SIMPLE_TYPES.update({"None": Kind.NONE, "ConstQuantizerPtr": Kind.INT, "DeviceIndex": Kind.INT})
_SINGLE_TYPES = {"Future": Kind.FUTURE, "Await": Kind.AWAIT, "RRef": Kind.RREF}
_TYPE_NAMES = (*_SIMPLE_TYPES, *_SINGLE_TYPES, "Tensor", "Dict", "Union")
_DICT_KEYS = frozenset((Kind.ANY, Kind.INT, Kind.BOOL, Kind.FLOAT, Kind.COMPLEX, Kind.STRING, Kind.TENSOR, Kind.DEVICE))
_CLASS_PREFIX = ("torch", "classes")


_Parts = TypeVar("_Parts")


class TypeParser(Cursor):
    """Reads types.

    `type_start` is where the latest type begins (-1: there is none yet) and `in_returns` whether it is a return, so
    that an error can be explained by what stands there. `anonymous` counts the `!` without a set, which torch numbers.
    """

    __slots__ = ("anonymous", "in_returns", "registered", "type_start", "types", "typevars")

    def __init__(self, text: str, typevars: bool, registered: Collection[str] | None) -> None:
        super().__init__(text)
        self.typevars = typevars
        self.registered = registered
        self.anonymous = 0
        self.types = 0
        self.type_start = -1
        self.in_returns = False

    def _sized_type(self) -> tuple[Type, Alias | None, int | None]:
        """A type as arguments have it: only there a list may have a size, and only the outermost."""
        start = self.starts[self.at]
        self.types = 0
        self.type_start = start
        type_, alias = self._type()
        if self.kinds[self.at] != "[":
            return type_, alias, None
        self.at += 1
        if self.kinds[self.at] != NUMBER:
            raise self._unexpected("`]`, or the list's size")
        span = self._token_span()
        try:
            size = read_integer(self.text[span.start : span.end])
        except LiteralRefusedError as refused:
            message = f"a list's size must be {refused}"
            raise self._fail(ErrorKind.DEFAULT, span, str(refused), message) from None
        # Torch keeps 32 bits of it.
        size = (size + 2**31) % 2**32 - 2**31
        self.at += 1
        self._expect("]", "`]`")
        alias = _contained(alias, self._alias())
        type_ = Type(Kind.LIST, (type_,), "", self._span_from(start))
        if self.kinds[self.at] == "?":
            self.at += 1
            type_ = Type(Kind.OPTIONAL, (type_,), "", self._span_from(start))
        return type_, alias, size

    def _type(self) -> tuple[Type, Alias | None]:
        kinds = self.kinds
        start = self.starts[self.at]
        type_, alias = self._base_type(start)
        while True:
            kind = kinds[self.at]
            if kind == "[" and self._peek("`]`, or the list's size") == "]":
                self.at += 2
                alias = _contained(alias, self._alias())
                type_ = Type(Kind.LIST, (type_,), "", self._span_from(start))
            elif kind == "?":
                self.at += 1
                type_ = self._built(optional, type_, start)
            else:
                return type_, alias
            self._count_type(start)

    def _count_type(self, start: int) -> None:
        self.types += 1
        if self.types > _MOST_TYPES:
            message = f"this type is made of more than {_MOST_TYPES} types"
            raise self._fail(ErrorKind.DEPTH, Span(start, self.ends[self.at]), "a simpler type", message)

    def _built(self, build: Callable[[_Parts, Span], Type], parts: _Parts, start: int) -> Type:
        """The optional or union of `parts`, which began at character `start`."""
        span = self._span_from(start)
        try:
            return build(parts, span)
        except TypeRefusedError as refused:
            message = f"torch has no type for {refused}"
            raise self._fail(ErrorKind.TYPE, span, "another type", message) from None

    def _base_type(self, start: int) -> tuple[Type, Alias | None]:
        kind = self.kinds[self.at]
        if kind == IDENTIFIER or kind == "None" or kind == "NoneType":
            word = self.text[start : self.ends[self.at]]
            if word == "Tensor":
                self.at += 1
                alias = self._alias()
                return Type(Kind.TENSOR, (), "", self._span_from(start)), alias
            simple = _SIMPLE_TYPES.get(word)
            if simple is not None and self.kinds[self.at + 1] != ".":
                self.at += 1
                alias = self._alias()
                return Type(simple, (), "", self._span_from(start)), alias
            return self._compound_type(word, start)
        if kind == "(":
            return self._tuple(start), None
        raise self._unexpected("a type")

    def _tuple(self, start: int) -> Type:
        self._count_type(start)
        self.at += 1
        members: list[Type] = []
        if self.kinds[self.at] != ")":
            members.append(self._inner_type())
            while self.kinds[self.at] == ",":
                self.at += 1
                members.append(self._inner_type())
        self._expect(")", "`,` or `)`")
        return Type(Kind.TUPLE, tuple(members), "", self._span_from(start))

    def _inner_type(self) -> Type:
        """A type inside another. Its alias annotations are read and dropped, and torch keeps its fake type only."""
        start, outer = self.starts[self.at], self.type_start
        self._count_type(start)
        self.type_start = start
        type_ = fake_type(self._type()[0])
        self.type_start = outer
        return type_

    def _compound_type(self, word: str, start: int) -> tuple[Type, Alias | None]:
        if word in _SINGLE_TYPES:
            self.at += 1
            self._expect("(", f"`(` after `{word}`")
            element = self._inner_type()
            self._expect(")", f"`)` after the type in `{word}`")
            return Type(_SINGLE_TYPES[word], (element,), "", self._span_from(start)), None
        if word == "Dict":
            return self._dict(start)
        if word == "Union":
            return self._union(start)
        if word == "__torch__":
            return self._class(start), None
        return self._named_type(word, start)

    def _dict(self, start: int) -> tuple[Type, Alias | None]:
        self.at += 1
        self._expect("(", "`(` after `Dict`")
        key = self._inner_type()
        self._expect(",", "`,` and the type of the values")
        value = self._inner_type()
        self._expect(")", "`)` after the type of the values")
        if key.kind not in _DICT_KEYS:
            expected = "a key of type `str`, `int`, `float`, `complex`, `bool`, `Tensor` or `Device`"
            raise self._fail(ErrorKind.TYPE, key.span, expected, f"`{format_type(key)}` cannot be the key of a `Dict`")
        alias = self._alias()
        return Type(Kind.DICT, (key, value), "", self._span_from(start)), alias

    def _union(self, start: int) -> tuple[Type, Alias | None]:
        self.at += 1
        self._expect("(", "`(` after `Union`")
        members = [self._inner_type()]
        while self.kinds[self.at] != ")":
            self._expect(",", "`,` or `)`")
            members.append(self._inner_type())
        self.at += 1
        alias = self._alias()
        return self._built(union, tuple(members), start), alias

    def _class(self, start: int) -> Type:
        """`__torch__.torch.classes.namespace.Name`."""
        self.at += 1
        for part in _CLASS_PREFIX:
            self._expect(".", f"`.{part}`")
            span = self._token_span()
            if self._word(f"`{part}`") != part:
                raise self._fail(
                    ErrorKind.UNKNOWN_TYPE, span, f"`{part}`", "a class is `__torch__.torch.classes.ns.Name`"
                )
        self._expect(".", "`.` and the class's namespace")
        namespace = self._word("the class's namespace")
        self._expect(".", "`.` and the class's name")
        name_span = self._token_span()
        name = f"__torch__.torch.classes.{namespace}.{self._word('the name of the class')}"
        if self.registered is not None and name not in self.registered:
            message = f"no custom class `{namespace}::{name.rpartition('.')[2]}` is registered"
            raise self._fail(ErrorKind.UNKNOWN_TYPE, name_span, "the name of a registered class", message)
        return Type(Kind.CLASS, (), name, self._span_from(start))

    def _named_type(self, word: str, start: int) -> tuple[Type, Alias | None]:
        """A dotted name, an opaque Python type or a type variable; a simple type only if nothing is after its dot."""
        first_end = self.ends[self.at]
        self.at += 1
        name = word
        while self.kinds[self.at] == "." and self._peek("a name after `.`") == IDENTIFIER:
            self.at += 1
            name += f".{self._word('a name')}"
        kind = self._kind_of_name(name, word, start)
        if kind is None:
            raise self._unknown_type(name, Span(start, first_end))
        alias = self._alias()
        return Type(kind, (), "" if name in _SIMPLE_TYPES else name, self._span_from(start)), alias

    def _kind_of_name(self, name: str, word: str, start: int) -> Kind | None:
        if self.registered is not None and name in self.registered:
            return Kind.OPAQUE
        if name in _SIMPLE_TYPES:
            return _SIMPLE_TYPES[name]
        if self.typevars and "a" <= word[0] <= "z":
            return Kind.VARIABLE
        # Any class may have been registered as an opaque type, but `torch.Tensor`, `int.x` and their like cannot be.
        may_be_opaque = self.registered is None and name != word and word not in _SIMPLE_TYPES
        if may_be_opaque and spelled_type(self.text, start, is_return=self.in_returns) is None:
            return Kind.OPAQUE
        return None

    def _unknown_type(self, name: str, span: Span) -> ParseFailure:
        spelled = spelled_type(self.text, span.start, is_return=self.in_returns)
        if spelled is not None:
            return ParseFailure(self._spelled_error(span, spelled))
        nearest = nearest_type(name, _TYPE_NAMES)
        if nearest is None:
            return self._fail(ErrorKind.UNKNOWN_TYPE, span, "a type", f"unknown type `{name}`")
        message = f"unknown type `{name}`: did you mean `{nearest}`?"
        suggestion = Suggestion(Span(span.start, span.start + len(name)), nearest)
        return ParseFailure(SchemaError(ErrorKind.UNKNOWN_TYPE, span, f"`{nearest}`", message, suggestion))

    def _spelled_error(self, span: Span, spelled: Suggestion) -> SchemaError:
        source = self.text[spelled.span.start : spelled.span.end]
        message = f"`{source}` is not a schema type: write `{spelled.text}`"
        return SchemaError(ErrorKind.UNKNOWN_TYPE, span, f"`{spelled.text}`", message, spelled)

    def _alias(self) -> Alias | None:
        kind = self.kinds[self.at]
        if kind == "!":
            span = self._token_span()
            self.at += 1
            label = f"${self.anonymous}"
            self.anonymous += 1
            return Alias((label,), (), True, (), span)
        if kind != "(":
            return None
        start = self.starts[self.at]
        self.at += 1
        before = after = self._labels()
        write = self.kinds[self.at] == "!"
        if write:
            self.at += 1
        if self.kinds[self.at] == "->":
            self.at += 1
            after = self._labels()
        self._expect(")", "`)` after the alias set")
        return Alias(before, after, write, (), self._span_from(start))

    def _labels(self) -> tuple[str, ...]:
        """Labels with `|` between them. After the wildcard torch still reads `|`, but no label."""
        labels: list[str] = []
        wildcard = False
        while True:
            if self.kinds[self.at] == "*":
                self.at += 1
                wildcard = True
                labels.append("*")
            elif not wildcard:
                labels.append(self._word("the name of an alias set"))
            if self.kinds[self.at] != "|":
                return tuple(dict.fromkeys(labels))
            self.at += 1


def _contained(alias: Alias | None, container: Alias | None) -> Alias | None:
    """The annotation of a list whose elements have `alias` and which has `container` itself."""
    if alias is None:
        return container
    if container is None:
        return Alias((), (), alias.write, (alias,), alias.span)
    return Alias(container.before, container.after, container.write, (alias,), container.span)
