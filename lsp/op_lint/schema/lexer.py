"""The tokens of a schema string, as torch cuts them (torch 2.13, `torch/csrc/jit/frontend/lexer.h`).

Torch reads schemas with the lexer of TorchScript, a language of lines and indentation. So words like `in` and `def`
are reserved, `==` and `!=` are one token each, a comment starts at `#`, and a line end counts only outside brackets.
"""

from __future__ import annotations

import re

IDENTIFIER = "identifier"
NUMBER = "number"
STRING = "string"
END = "end"
NEWLINE = "newline"
"""A line end, outside brackets, after which nothing but space and comments follows."""
INVALID = "invalid"
"""A character that starts no token, or a line end outside brackets after which something follows."""

NUMBER_PATTERN = (
    r"0[xX](?:[0-9a-fA-F]+(?:\.[0-9a-fA-F]*)?|\.[0-9a-fA-F]+)(?:[pP][+-]?[0-9]+)?"
    r"|(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
)
"""What `strtod` reads in the C locale, but for `inf` and `nan`, which are words here."""

_RESERVED = {
    "def", "if", "else", "elif", "while", "return", "is", "True", "False", "None", "and", "or", "not", "global", "for",
    "in", "raise", "assert", "break", "continue", "del", "pass", "class", "import", "with", "as", "Ellipsis",
    "NoneType",
}  # fmt: skip
_OPERATOR_PATTERN = (
    r"<=>|\*\*=|<<=|>>=|\.\.\.|->|!=|==|<=|>=|//|<<|>>|\+=|-=|\*=|/=|%=|\|=|&=|\^=|\*\*|[-+*/%@()\[\]:,={}><.?!&^|~]"
)
_STRING_PATTERN = "|".join(
    (
        r"'''(?:(?!''')(?:[^\\]|\\[\s\S]))*'''",
        r'"""(?:(?!""")(?:[^\\]|\\[\s\S]))*"""',
        r"(?!''')'(?:[^'\\\n]|\\[\s\S])*'",
        r'(?!""")"(?:[^"\\\n]|\\[\s\S])*"',
    )
)
_BLANK = r"[ \t\r\f\v]"
_COMMENT = r"#(?! type:)[^\n]*"

_TOKEN = re.compile(
    rf"(?:{_BLANK}|\\\n|{_COMMENT})*"
    rf"(?:([A-Za-z_][A-Za-z0-9_]*)|((?:{NUMBER_PATTERN})j?)|({_OPERATOR_PATTERN})|({_STRING_PATTERN})|(\n)|(\Z)|([\s\S]))"
)
_IDENTIFIER, _NUMBER, _OPERATOR, _STRING, _NEWLINE = range(1, 6)
_KIND_OF_GROUP = ("", IDENTIFIER, NUMBER, "", STRING, NEWLINE, END, INVALID)
_FIRST_LINES = re.compile(rf"(?:{_BLANK}*(?:{_COMMENT})?\n)*({_BLANK}*)")
_LAST_LINES = re.compile(
    rf"(?:{_BLANK}*(?:{_COMMENT})?\n)*"
    rf"(?:{_BLANK}*(?:{_COMMENT})?\Z|({_BLANK}*)\\\n(?:{_BLANK}|\\\n|{_COMMENT})*\Z)"
)


class Tokens:
    """The tokens of `text`: for each its kind and its first and last+1 character, in three lists of one length.

    The kind of an operator and of a reserved word is its own text. The last token is `END` or `INVALID`; nothing is
    read after an `INVALID` one. The kind of the token after the last is `END` too, so that one may look ahead.
    """

    __slots__ = ("ends", "kinds", "starts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.kinds: list[str] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        self._read()
        self.kinds.append(END)

    def _read(self) -> None:
        text = self.text
        add_kind, add_start, add_end = self.kinds.append, self.starts.append, self.ends.append
        depth = 0
        first = _FIRST_LINES.match(text)
        position, indent = (first.start(1), len(first[1])) if first else (0, 0)
        for match in _TOKEN.finditer(text, position):
            group = match.lastindex or 0
            start, end = match.span(group)
            kind = _KIND_OF_GROUP[group]
            if group == _OPERATOR:
                kind = match[group]
                if kind in "([{":
                    depth += 1
                elif kind in ")]}":
                    depth -= 1
            elif group == _IDENTIFIER:
                word = match[group]
                if word in _RESERVED:
                    kind = word
            elif group == _NEWLINE:
                if depth:
                    continue
                last = _LAST_LINES.match(text, end)
                if last is None or (last[1] is not None and len(last[1]) != indent):
                    kind = INVALID
                else:
                    add_kind(NEWLINE)
                    add_start(start)
                    add_end(end)
                    kind, start, end = END, len(text), len(text)
            add_kind(kind)
            add_start(start)
            add_end(end)
            if kind is END or kind is INVALID:
                return
