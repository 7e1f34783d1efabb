"""Bytes to directives, words and literals."""

from __future__ import annotations

import pytest

from op_lint.cpp.scan import blank_comments_and_literals, decode_literal, directives, literal_tokens


@pytest.mark.parametrize(
    ("source", "code"),
    [
        (b"a // b\nc", b"a     \nc"),
        (b"a /* b\n */ c", b"a     \n    c"),
        (b"a // b \\\n c\nd", b"a       \n  \nd"),
        (b'f("m.def(")', b'f("      ")'),
        (b"f('\"')", b"f(' ')"),
        (b'R"x(")")x" y', b'R"       " y'),
        (b"1'000 + 'a'", b"1'000 + ' '"),
        (b'"not closed\nnext', b'"          \nnext'),
        (b"/* not closed", b"             "),
    ],
)
def test_blanks_keep_every_offset(source: bytes, code: bytes) -> None:
    assert blank_comments_and_literals(source) == code
    assert len(code) == len(source)


def test_directives() -> None:
    source = b'#if A /* x */ && \\\n  B // y\n  #  define F(x) x\n"\\\n#not one"\n/*\n#nor this\n*/\n%:endif\r\n#\n'
    assert [(each.word, each.argument) for each in directives(source)] == [
        ("if", b"A         &&   B"),
        ("define", b"F(x) x"),
        ("endif", b""),
        ("", b""),
    ]


def test_line_ends_do_not_matter() -> None:
    source = b"#if A\n#define B \n#endif\n#\nint x;\n#else\n#define C \\\n  1\n#endif\n"
    crlf = source.replace(b"\n", b"\r\n")
    assert [each[:2] for each in directives(crlf)] == [each[:2] for each in directives(source)]
    assert len(directives(crlf)) == 7


def test_literals_side_by_side() -> None:
    source = b'"a" /* c */ MACRO R"(b)" u8"c")'
    literals, others, end = literal_tokens(source, 0, len(source))
    assert [source[each.inner_start : each.inner_end] for each in literals] == [b"a", b"b", b"c"]
    assert [source[start:stop] for start, stop in others] == [b"MACRO"]
    assert source[end:] == b")"


@pytest.mark.parametrize(
    ("contents", "raw", "text", "offsets"),
    [
        (b"plain", False, "plain", ()),
        (rb"a\nb", False, "a\nb", (0, 1, 3)),
        (rb"\x41\101\u0042", False, "AAB", (0, 4, 8)),
        (rb"a\nb", True, r"a\nb", ()),
        ("é!".encode(), False, "é!", (0, 2)),
        (b"\xe9!", False, "é!", (0, 1)),
        (b"a\r\nb", True, "a\nb", (0, 1, 3)),
        (b"a\\\nb", False, "ab", (0, 3)),
        (rb"\ud800", False, "\ufffd", (0,)),
    ],
)
def test_characters_and_where_they_stand(contents: bytes, raw: bool, text: str, offsets: tuple[int, ...]) -> None:
    assert decode_literal(contents, raw) == (text, offsets)
