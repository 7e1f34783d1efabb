"""From a schema string to a `Schema`: exactly what torch 2.13 accepts, and where it is wrong otherwise.

The grammar is that of `function_schema_parser.cpp` and `schema_type_parser.cpp` in `torch/csrc/jit/frontend`, with the
checks of `FunctionSchema` itself. Two things depend on the process that torch runs in and are parameters here: whether
type variables are allowed, and which custom classes and opaque Python types are registered.
"""

from __future__ import annotations

from collections.abc import Collection

from op_lint.schema.cursor import ParseFailure, syntax_error
from op_lint.schema.default_parser import DefaultParser
from op_lint.schema.lexer import IDENTIFIER
from op_lint.schema.model import Argument, ErrorKind, Kind, Name, Schema, SchemaError, Span, Suggestion
from op_lint.schema.spelling import spelled_default, spelled_type

_EXPLAINABLE = frozenset((ErrorKind.SYNTAX, ErrorKind.TOKEN, ErrorKind.DEFAULT))


def parse_declaration(
    text: str, *, typevars: bool = False, registered: Collection[str] | None = None
) -> Schema | Name | SchemaError:
    """What a string given to `def` means: a schema, or only an operator's name.

    `typevars` allows unknown lower-case words as type variables, as TorchScript's own operators have them; C++
    `m.def` and `torch::schema` do not, except in the namespaces `aten` and `prim`. `registered` are the full names of
    the custom classes (`__torch__.torch.classes.ns.T`) and opaque types (`module.T`) that exist; None where that is not
    known, and then any such name is taken for one. Never raises.
    """
    typevars = typevars or text.startswith(("aten::", "prim::"))
    parser = _Parser(text, typevars, registered)
    try:
        return parser.declaration()
    except ParseFailure as failure:
        return parser.explained(failure.error)


def parse_schema(
    text: str, *, typevars: bool = False, registered: Collection[str] | None = None
) -> Schema | SchemaError:
    """As `parse_declaration`, but a name alone is an error (`torch._C.parse_schema`). Never raises."""
    result = parse_declaration(text, typevars=typevars, registered=registered)
    if isinstance(result, Name):
        end = len(text)
        return syntax_error(Span(result.span.end, end), "`(` and the arguments", "the end of the schema")
    return result


def parse_name(text: str) -> Name | SchemaError:
    """The name given to `impl`; a whole schema is an error, as it is for torch's `parseName`. Never raises."""
    result = parse_declaration(text, typevars=True)
    if isinstance(result, Schema):
        span = Span(result.name.span.end, len(text))
        message = f"only the operator's name belongs here: write `{result.name}`"
        return SchemaError(ErrorKind.SYNTAX, span, "the end of the name", message, Suggestion(span, ""))
    return result


class _Parser(DefaultParser):
    """Reads a whole schema string."""

    __slots__ = ()

    def declaration(self) -> Schema | Name:
        """The whole string."""
        name = self._name()
        if self.kinds[self.at] != "(":
            self._finish("`(` and the arguments, or the end of the name")
            return name
        arguments, variadic_arguments = self._arguments()
        self._expect("->", "`->` and the returns")
        start = self.starts[self.at]
        returns, variadic_returns = self._returns()
        returns_span = Span(start, self.ends[self.at - 1])
        self._finish("the end of the schema")
        return Schema(name, arguments, returns, variadic_arguments, variadic_returns, returns_span)

    def explained(self, error: SchemaError) -> SchemaError:
        """`error`, with what was meant if a type or a default of C++ or Python stands there."""
        if error.suggestion is not None or error.kind not in _EXPLAINABLE:
            return error
        at = error.span.start
        spelled = spelled_default(self.text, self.default_start) if self.default_start >= 0 else None
        if spelled is not None and spelled.span.start <= at < spelled.span.end:
            source = self.text[spelled.span.start : spelled.span.end]
            message = f"`{source}` is not a default that torch knows: write `{spelled.text}`"
            return SchemaError(ErrorKind.DEFAULT, error.span, f"`{spelled.text}`", message, spelled)
        if self.type_start < 0:
            return error
        spelled = spelled_type(self.text, self.type_start, is_return=self.in_returns)
        if spelled is not None and spelled.span.start <= at < spelled.span.end:
            return self._spelled_error(error.span, spelled)
        return error

    def _name(self) -> Name:
        first_at = self.at
        namespace, namespace_span = "", Span(self.starts[first_at], self.starts[first_at])
        name = self._word("the operator's name")
        name_span = self._span_from(self.starts[first_at])
        if self.kinds[self.at] == ":":
            self.at += 1
            self._expect(":", "`::`")
            namespace, namespace_span = name, name_span
            start = self.starts[self.at]
            name = self._word("the operator's name after `::`")
            name_span = self._span_from(start)
        overload, overload_span = "", Span(name_span.end, name_span.end)
        if self.kinds[self.at] == ".":
            self.at += 1
            start = self.starts[self.at]
            overload = self._word("the overload's name after `.`")
            overload_span = self._span_from(start)
            if overload == "default" or overload.startswith("__"):
                message = f"`{overload}` cannot be an overload's name: torch keeps `default` and `__...` for itself"
                raise self._fail(ErrorKind.NAME, overload_span, "another overload name", message)
        span = self._span_from(self.starts[first_at])
        return Name(name, namespace, overload, span, namespace_span, name_span, overload_span)

    def _arguments(self) -> tuple[tuple[Argument, ...], bool]:
        kinds = self.kinds
        arguments: list[Argument] = []
        keyword_only = variadic = False
        self.at += 1
        if kinds[self.at] != ")":
            while True:
                if variadic:
                    raise self._fail(ErrorKind.ORDER, self._token_span(), "`)`", "`...` must be the last argument")
                if kinds[self.at] == "*":
                    keyword_only = True
                    self.at += 1
                elif kinds[self.at] == "...":
                    variadic = True
                    self.at += 1
                else:
                    arguments.append(self._argument(keyword_only))
                if not self._comma("an argument"):
                    break
        self._expect(")", "`,` or `)`")
        self._check_defaults(arguments, variadic)
        return tuple(arguments), variadic

    def _check_defaults(self, arguments: list[Argument], variadic: bool) -> None:
        with_default: Argument | None = None
        for argument in arguments:
            if argument.default is not None:
                with_default = argument
                if variadic:
                    message = f"`{argument.name}` has a default, which a schema with `...` does not allow"
                    raise self._fail(ErrorKind.ORDER, argument.default.span, "an argument without a default", message)
            # Torch lets lists follow, for schemas that were saved when fixed-size lists had no defaults.
            elif with_default is not None and not argument.keyword_only and argument.type.kind is not Kind.LIST:
                message = (
                    f"`{argument.name}` has no default but follows `{with_default.name}`, which has one: "
                    f"give it one, or put `*, ` before it"
                )
                raise self._fail(ErrorKind.ORDER, argument.span, "an argument with a default", message)

    def _returns(self) -> tuple[tuple[Argument, ...], bool]:
        kinds = self.kinds
        self.in_returns = True
        if kinds[self.at] == "...":
            self.at += 1
            return (), True
        if kinds[self.at] != "(":
            return (self._return(),), False
        returns: list[Argument] = []
        variadic = False
        self.at += 1
        if kinds[self.at] != ")":
            while True:
                if variadic:
                    raise self._fail(ErrorKind.ORDER, self._token_span(), "`)`", "`...` must be the last return")
                if kinds[self.at] == "...":
                    variadic = True
                    self.at += 1
                else:
                    returns.append(self._return())
                if not self._comma("a return"):
                    break
        self._expect(")", "`,` or `)`")
        return tuple(returns), variadic

    def _comma(self, what: str) -> bool:
        """Whether the list goes on; the comma is consumed."""
        if self.kinds[self.at] != ",":
            return False
        comma = self._token_span()
        self.at += 1
        if self.kinds[self.at] == ")":
            message = f"expected {what} after `,`, found `)`"
            error = SchemaError(ErrorKind.SYNTAX, self._token_span(), what, message, Suggestion(comma, ""))
            raise ParseFailure(error)
        return True

    def _argument(self, keyword_only: bool) -> Argument:
        start = self.starts[self.at]
        type_, alias, size = self._sized_type()
        name_start = self.starts[self.at]
        name = self._word(f"a name for this argument of type `{self.text[start : self.ends[self.at - 1]]}`")
        name_span = self._span_from(name_start)
        default = None
        if self.kinds[self.at] == "=":
            self.at += 1
            default = self._default(type_, size)
        return Argument(name, type_, size, default, keyword_only, alias, self._span_from(start), name_span)

    def _return(self) -> Argument:
        start = self.starts[self.at]
        type_, alias, size = self._sized_type()
        end = self.ends[self.at - 1]
        name, name_span = "", Span(end, end)
        if self.kinds[self.at] == IDENTIFIER:
            name_start = self.starts[self.at]
            name = self._word("a name")
            name_span = self._span_from(name_start)
        return Argument(name, type_, size, None, False, alias, self._span_from(start), name_span)
