"""Default values in a schema (`function_schema_parser.cpp`, torch 2.13)."""

from __future__ import annotations

from collections.abc import Callable, Collection

from op_lint.schema.cursor import ParseFailure
from op_lint.schema.lexer import IDENTIFIER, NUMBER, STRING
from op_lint.schema.model import FAKE_KINDS, Default, ErrorKind, Kind, SchemaError, Suggestion, Type, Value
from op_lint.schema.printer import format_type
from op_lint.schema.type_parser import TypeParser
from op_lint.schema.values import LiteralRefusedError, read_device, read_enumerator, read_number, read_string

_MOST_REPEATED = 1 << 16
"""A default that stands for more list elements (`int[100000] x=1`) is refused; torch would build that list."""

_DEFAULTS_TO_NONE = frozenset((Kind.TENSOR, Kind.GENERATOR, Kind.QUANTIZER))
_DEFAULTS_TO_LITERAL = frozenset(
    (Kind.STRING, Kind.OPTIONAL, Kind.NUMBER, Kind.INT, Kind.BOOL, Kind.FLOAT, Kind.COMPLEX)
)
_LIST_DEFAULTS: dict[Kind, type] = {Kind.INT: int, Kind.FLOAT: float, Kind.COMPLEX: complex, Kind.BOOL: bool}


class DefaultParser(TypeParser):
    """Reads default values. `default_start` is where the latest begins (-1: the latest argument has none)."""

    __slots__ = ("default_start",)

    def __init__(self, text: str, typevars: bool, registered: Collection[str] | None) -> None:
        super().__init__(text, typevars, registered)
        self.default_start = -1

    def _default(self, type_: Type, size: int | None) -> Default:
        """The default of an argument of `type_`; the current token is the one after `=`."""
        self.default_start = self.starts[self.at]
        value = self._value(type_, size)
        return Default(value, self._span_from(self.default_start))

    def _value(self, type_: Type, size: int | None) -> Value:
        kind = FAKE_KINDS.get(type_.kind, type_.kind)
        if self.kinds[self.at] == "None" and kind not in _DEFAULTS_TO_LITERAL and kind not in _DEFAULTS_TO_NONE:
            raise self._none_of(type_)
        if kind in _DEFAULTS_TO_LITERAL:
            return self._literal(kind, type_)
        if kind in _DEFAULTS_TO_NONE:
            self._expect("None", f"`None`: a `{format_type(type_)}` has no other default")
            return None
        if kind is Kind.LIST:
            return self._list_default(type_.elements[0], size)
        if kind is Kind.DEVICE:
            if self.kinds[self.at] != STRING:
                raise self._unexpected('a device in quotes, such as "cpu"')
            return self._read(lambda token: read_device(read_string(token)))
        message = f"an argument of type `{format_type(type_)}` cannot have a default"
        raise self._fail(ErrorKind.DEFAULT, self._token_span(), "no default", message)

    def _none_of(self, type_: Type) -> ParseFailure:
        """`int[] x=None`: what was meant is an optional argument."""
        span = type_.span
        written = self.text[span.start : span.end]
        meant = Suggestion(span, f"{written}?")
        message = f"`None` is no value of type `{written}`: for an argument that may be `None` write `{meant.text}`"
        return ParseFailure(SchemaError(ErrorKind.DEFAULT, self._token_span(), f"`{meant.text}`", message, meant))

    def _list_default(self, element: Type, size: int | None) -> Value:
        kind = FAKE_KINDS.get(element.kind, element.kind)
        start = self.starts[self.at]
        if kind not in _LIST_DEFAULTS:
            message = f"a list of `{format_type(element)}` cannot have a default: only int, float, complex and bool can"
            raise self._fail(ErrorKind.DEFAULT, self._token_span(), "no default", message)
        if self.kinds[self.at] == "[":
            return self._literals(kind, element)
        if size is None or self.kinds[self.at] == IDENTIFIER:
            raise self._unexpected("a list in brackets")
        value = self._literal(kind, element)
        if not 0 <= size <= _MOST_REPEATED:
            span = self._span_from(start)
            raise self._fail(
                ErrorKind.DEFAULT, span, "a list in brackets", f"this stands for a list of {size} elements"
            )
        if size:
            self._check_element(value, kind, start)
        return (value,) * size

    def _literals(self, kind: Kind, element: Type) -> Value:
        self.at += 1
        values: list[Value] = []
        if self.kinds[self.at] != "]":
            while True:
                start = self.starts[self.at]
                values.append(self._literal(kind, element))
                self._check_element(values[-1], kind, start)
                if self.kinds[self.at] != ",":
                    break
                self.at += 1
        self._expect("]", "`,` or `]`")
        return tuple(values)

    def _check_element(self, value: Value, kind: Kind, start: int) -> None:
        if type(value) is not _LIST_DEFAULTS[kind]:
            span = self._span_from(start)
            message = f"`{self.text[span.start : span.end]}` is no element of a list of {kind.value}"
            raise self._fail(ErrorKind.DEFAULT, span, f"a value of type {kind.value}", message)

    def _literal(self, kind: Kind, type_: Type) -> Value:
        token = self.kinds[self.at]
        if token == "True" or token == "False":
            self.at += 1
            return token == "True"
        if token == "None":
            self.at += 1
            return None
        if token == STRING:
            return self._read(read_string)
        if token == IDENTIFIER:
            inner = type_.elements[0] if type_.kind is Kind.OPTIONAL else type_
            is_scalar_type = inner.kind is Kind.SCALAR_TYPE
            return self._read(lambda word: read_enumerator(word, is_scalar_type=is_scalar_type))
        sign = ""
        if token == "-":
            self.at += 1
            sign = "-"
        if self.kinds[self.at] != NUMBER:
            raise self._unexpected("a number" if sign else "a default value")
        return self._read(lambda digits: read_number(sign + digits, kind))

    def _read(self, read: Callable[[str], Value]) -> Value:
        """The value of the current token."""
        span = self._token_span()
        token = self.text[span.start : span.end]
        try:
            value = read(token)
        except LiteralRefusedError as refused:
            message = f"expected {refused}, found `{token}`"
            raise self._fail(ErrorKind.DEFAULT, span, str(refused), message) from None
        self.at += 1
        return value
