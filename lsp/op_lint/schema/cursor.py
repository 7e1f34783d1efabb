"""What every part of the schema parser needs: the current token, and the ways to fail at it."""

from __future__ import annotations

from op_lint.schema.lexer import END, IDENTIFIER, INVALID, NEWLINE, Tokens
from op_lint.schema.model import ErrorKind, SchemaError, Span


class ParseFailure(Exception):  # noqa: N818 - not an error of the program: it never leaves the parser
    """Carries the error out of the recursive descent."""

    def __init__(self, error: SchemaError) -> None:
        self.error = error


def syntax_error(span: Span, expected: str, found: str) -> SchemaError:
    """Something else was expected at `span`."""
    return SchemaError(ErrorKind.SYNTAX, span, expected, f"expected {expected}, found {found}")


class Cursor:
    """The tokens of a string, of which `at` is the index of the current one."""

    __slots__ = ("at", "ends", "kinds", "starts", "text")

    def __init__(self, text: str) -> None:
        tokens = Tokens(text)
        self.text = text
        self.kinds = tokens.kinds
        self.starts = tokens.starts
        self.ends = tokens.ends
        self.at = 0

    def _fail(self, kind: ErrorKind, span: Span, expected: str, message: str) -> ParseFailure:
        return ParseFailure(SchemaError(kind, span, expected, message))

    def _token_span(self) -> Span:
        return Span(self.starts[self.at], self.ends[self.at])

    def _span_from(self, start: int) -> Span:
        """From character `start` to the end of the token before the current one."""
        return Span(start, self.ends[self.at - 1])

    def _unexpected(self, expected: str) -> ParseFailure:
        """The failure at the current token."""
        kind = self.kinds[self.at]
        span = self._token_span()
        token = self.text[span.start : span.end]
        if kind == INVALID:
            return self._fail(ErrorKind.TOKEN, span, expected, _invalid_token(token, expected))
        found = f"`{token}`"
        if kind == END:
            found = "the end of the schema"
        elif kind == NEWLINE:
            found = "a line end"
        elif kind == token and token.isalpha():
            found = f"the reserved word `{token}`"
        return ParseFailure(syntax_error(span, expected, found))

    def _peek(self, expected: str) -> str:
        """The kind of the token after the current one, which must be a token."""
        kind = self.kinds[self.at + 1]
        if kind == INVALID:
            self.at += 1
            raise self._unexpected(expected)
        return kind

    def _expect(self, kind: str, expected: str) -> None:
        if self.kinds[self.at] != kind:
            raise self._unexpected(expected)
        self.at += 1

    def _word(self, expected: str) -> str:
        """The text of an identifier, which is consumed."""
        at = self.at
        if self.kinds[at] != IDENTIFIER:
            raise self._unexpected(expected)
        self.at = at + 1
        return self.text[self.starts[at] : self.ends[at]]

    def _finish(self, expected: str) -> None:
        if self.kinds[self.at] == NEWLINE:
            self.at += 1
        if self.kinds[self.at] != END:
            raise self._unexpected(expected)


def _invalid_token(token: str, expected: str) -> str:
    if token == "\n":
        return f"expected {expected}, found a line end: only one schema may stand in the string"
    if token in ("'", '"'):
        return f"the string that begins here does not end: a {token} is missing"
    return f"`{token}` cannot stand in a schema: expected {expected}"
