"""Inputs that no parser should be given: what is not C++ text at all, and what would end it or never end."""

from __future__ import annotations

import re

from op_lint.cpp.scan import Directive, blank_comments_and_literals

_TEMPLATE = re.compile(
    rb"\{%-?\+?\s*(?:if|elif|else|endif|for|endfor|set|macro|endmacro|include|import|block|raw)\b"
    rb"|\{\{-?\s*[A-Za-z_][\w.]*\s*(?:\|\s*\w+[^}\n]*)?\}\}\w"
    rb"|\{\{-?\s*[A-Za-z_][\w.]*\s*\|\s*(?:join|indent|replace|lower|upper)\b"
)
"""A statement or an expression of Jinja; braces in C++ are not followed by the rest of a word."""

_MOST_IN_A_ROW = 1000
_PREFIXES = re.compile(
    rb"(?:(?:[!~*&+\-]|\b(?:sizeof|alignof|noexcept|throw|new|delete|return|co_\w+|__\w+__)\b)\s*){%d}" % _MOST_IN_A_ROW
)
_SPLICES = re.compile(rb"(?:\\\r?\n){%d}" % _MOST_IN_A_ROW)
_INNER_STATEMENT = re.compile(rb"(?:\)|\belse|\bdo)\s*\b(?:for|while|if|do|switch|try)\b")
_ELSE = re.compile(rb"\belse\b")
_STATEMENT_WORDS = (b"for", b"while", b"if", b"do", b"switch", b"try", b"else")
_TOKEN = re.compile(rb"\w+|[^\w\s]")
_END_OF_RUN = re.compile(rb"[;{},]|\)\s*(?=[A-Za-z_.])")
_LINK = re.compile(rb"\)\s*\.\s*\w+\s*\(")
_MOST_RUN = 3500
_MOST_LINKS = 5000
_MOST_STATEMENTS = 3000
_MOST_COMMAS = 10_000
"""libclang 18 recurses for each token of an expression or declarator, for each statement in another one without braces
and for each comma operator, with 8 MiB of stack: it dies at about 1,300 operators `sizeof` in a row, 4,000 tokens of
casts, 4,500 statements, 7,000 calls on what a call gave, 17,000 commas. (Its own limit of 256 takes care of brackets
inside each other.)"""


def why_not_text(data: bytes, largest: int) -> tuple[str, str] | None:
    """A problem code and message where `data` cannot be C++ source text; None where it may be."""
    if len(data) > largest:
        return too_large(len(data), largest)
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "not-text", "the file is UTF-16; compilers expect UTF-8"
    if b"\0" in data[:8192]:
        return "not-text", "the file is binary"
    # C++ may well hold the text of a template, in a literal.
    if _TEMPLATE.search(data) and _TEMPLATE.search(blank_comments_and_literals(data)):
        return "template-text", "the file is a template that generates C++, not C++"
    return None


def too_large(size: int, largest: int) -> tuple[str, str]:
    """The problem of a file of `size` bytes, where `largest` is the limit."""
    return "too-large", f"the file has {size} bytes, more than the {largest} that are read"


def why_too_deep(data: bytes, code: bytes, directives: list[Directive]) -> str | None:
    """What in a file libclang would not survive, None for any sane one. `code` is `data` with blanks for comments, the
    contents of literals, and directives.
    """
    if data.count(b"\\") >= _MOST_IN_A_ROW and _SPLICES.search(data):
        return "a line goes on over a thousand lines"
    # No operator that stands before its operand ends a run, so that a thousand of them are in one.
    long = [run for run in _END_OF_RUN.split(code) if len(run) >= _MOST_IN_A_ROW]
    if any(_PREFIXES.search(run) for run in long):
        return "an expression has a thousand operators in a row"
    runs = [*long, *(each.argument for each in directives)]
    if any(len(run) > _MOST_RUN and len(_TOKEN.findall(run)) > _MOST_RUN for run in runs):
        return f"an expression has more than {_MOST_RUN} tokens"
    if sum(map(code.count, _STATEMENT_WORDS)) > _MOST_STATEMENTS and (
        len(_INNER_STATEMENT.findall(code)) > _MOST_STATEMENTS or len(_ELSE.findall(code)) > _MOST_STATEMENTS
    ):
        return f"more than {_MOST_STATEMENTS} statements are inside each other"
    if code.count(b",") <= _MOST_COMMAS and code.count(b".") <= _MOST_LINKS:
        return None
    for statement in code.split(b";")[:-1]:
        if len(statement) > _MOST_LINKS and len(_LINK.findall(statement)) > _MOST_LINKS:
            return f"a statement calls more than {_MOST_LINKS} methods in a row"
        if statement.rsplit(b"}", 1)[-1].rsplit(b"{", 1)[-1].count(b",") > _MOST_COMMAS:
            return f"a statement has more than {_MOST_COMMAS} commas"
    return None
