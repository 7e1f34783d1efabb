"""The text of a Python file: decoding as Python does it, and exact byte places of syntax tree nodes."""

from __future__ import annotations

import ast
import codecs
import io
import re
import tokenize
from functools import cached_property

from op_lint.facts import Piece, Place
from op_lint.python.literals import Token, constant_parts
from op_lint.text import SourceText

_DEF = re.compile(r"(?:async\s+)?(?:def|class)\s+")

_FIRST_LINES = re.compile(rb"(?:[^\r\n]*(?:\r\n|[\r\n]|\Z)){1,2}")
"""The two lines in which the encoding may be declared."""

_Positioned = ast.expr | ast.stmt | ast.excepthandler | ast.arg | ast.keyword | ast.alias


class SourceFile:
    """A Python file, or a piece of one, and the places of its nodes.

    `data` are the bytes, `text` what they decode to, without a byte order mark. `first_line` (1-based) and
    `first_offset` (bytes) say where `data` starts in the file at `path`. `parsed_lines` is how many lines were put
    before `text` for the parser.
    """

    def __init__(
        self,
        path: str,
        data: bytes,
        text: str,
        encoding: str,
        *,
        first_line: int = 1,
        first_offset: int = 0,
        parsed_lines: int = 0,
    ) -> None:
        self.path = path
        self.data = data
        self.text = text
        self.encoding = encoding
        self._first_line = first_line
        self._first_offset = first_offset
        self._parsed_lines = parsed_lines
        self._mark = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
        self._utf8 = encoding == "utf-8"
        self.postponed = False
        """Whether annotations are strings (`from __future__ import annotations`)."""

    @cached_property
    def layout(self) -> SourceText:
        """The bytes and their lines."""
        return SourceText(self.data)

    def line(self, node_line: int) -> int:
        """The line in the file of a node's line."""
        return node_line - self._parsed_lines - 1 + self._first_line

    def offset(self, node_line: int, column: int) -> int:
        """The byte in the file at a node's line and column, which counts bytes of UTF-8."""
        index = node_line - self._parsed_lines - 1
        start = self.layout.line_starts[index] + (self._mark if index == 0 else 0)
        if not self._utf8:
            column = self._encoded_length(start, column)
        return self._first_offset + start + column

    def _encoded_length(self, start: int, column: int) -> int:
        line = self.data[start:].split(b"\n", 1)[0].decode(self.encoding, "replace")
        return len(line.encode("utf-8")[:column].decode("utf-8", "replace").encode(self.encoding, "replace"))

    def place(self, node: _Positioned) -> Place:
        """The whole of a node."""
        return self.span(node, node)

    def span(self, first: _Positioned, last: _Positioned) -> Place:
        """From the start of one node to the end of another."""
        start = self.offset(first.lineno, first.col_offset)
        end_line = last.end_lineno or last.lineno
        end_column = last.end_col_offset if last.end_col_offset is not None else last.col_offset
        return Place(self.path, self.line(first.lineno), start, self.offset(end_line, end_column))

    def name_place(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda) -> Place:
        """The name of a function or class in its definition; of a lambda, the keyword."""
        start = self.offset(node.lineno, node.col_offset)
        line = self.line(node.lineno)
        if isinstance(node, ast.Lambda):
            return Place(self.path, line, start, start + len("lambda"))
        written = self._bytes(start, start + 200).decode(self.encoding, "replace")
        keyword = _DEF.match(written)
        if keyword is None or "\n" in keyword.group():
            return Place(self.path, line, start, start)
        start += len(keyword.group())
        return Place(self.path, line, start, start + len(node.name.encode(self.encoding, "replace")))

    def attribute_place(self, node: ast.Attribute) -> Place:
        """The name after the dot."""
        place = self.place(node)
        start = place.end - len(node.attr.encode(self.encoding, "replace"))
        return Place(self.path, self.line(node.end_lineno or node.lineno), start, place.end)

    def source(self, node: _Positioned) -> str:
        """A node as it is written."""
        place = self.place(node)
        return self._bytes(place.start, place.end).decode(self.encoding, "replace")

    def lines(self, first: int, last: int) -> tuple[bytes, int]:
        """The bytes of the nodes' lines `first` to `last`, and the byte in the file where they start."""
        index = first - self._parsed_lines - 1
        after = last - self._parsed_lines
        end = self.layout.line_starts[after] if after < len(self.layout.line_starts) else len(self.data)
        start = self.layout.line_starts[index] + (self._mark if index == 0 else 0)
        return self.data[start:end], self._first_offset + start

    def _bytes(self, start: int, end: int) -> bytes:
        return self.data[start - self._first_offset : end - self._first_offset]

    def pieces(self, node: ast.expr, value: str, index: int) -> tuple[Piece, ...]:
        """Where the characters of a constant string were written; empty where that is not clear.

        `node` is the string expression, `value` the text of its constant part number `index` (0-based).
        """
        parts = constant_parts(self.source(node))
        if index >= len(parts) or "".join(token.value for token in parts[index]) != value:
            return ()
        base = self.place(node)
        written = self._bytes(base.start, base.end)
        pieces: list[Piece] = []
        position = 0
        for token in parts[index]:
            if token.value:
                pieces.append(self._piece(token, position, base, written))
            position += len(token.value)
        return tuple(pieces)

    def _piece(self, token: Token, position: int, base: Place, written: bytes) -> Piece:
        offsets = _byte_offsets(written, self.encoding)
        start = base.start + offsets[token.start]
        end = base.start + offsets[token.end]
        line = base.line + _line_breaks(written[: offsets[token.start]])
        steps = tuple(base.start + offsets[at] - start for at in token.starts)
        plain = steps == tuple(range(len(steps)))
        return Piece(position, len(token.value), Place(self.path, line, start, end), () if plain else steps)


def _byte_offsets(written: bytes, encoding: str) -> range | list[int]:
    """The byte offset of each character, and of the end."""
    if written.isascii():
        return range(len(written) + 1)
    offsets = [0]
    for character in written.decode(encoding, "replace"):
        offsets.append(offsets[-1] + len(character.encode(encoding, "replace")))
    return offsets


def _line_breaks(written: bytes) -> int:
    return len(SourceText(written).line_starts) - 1


def decode(path: str, data: bytes) -> SourceFile:
    """Decode a file by its byte order mark or its PEP 263 comment, as Python does.

    Raises SyntaxError where the encoding is unknown and UnicodeDecodeError where the bytes are not in it.
    """
    if data.isascii() and b"coding" not in data[:400]:
        return SourceFile(path, data, data.decode("ascii"), "utf-8")
    lines = _FIRST_LINES.match(data)
    head = (lines.group() if lines else b"").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    encoding = tokenize.detect_encoding(io.BytesIO(head).readline)[0]
    encoding = "utf-8" if encoding == "utf-8-sig" else encoding
    text = data.removeprefix(codecs.BOM_UTF8).decode(encoding)
    return SourceFile(path, data, text, encoding)
