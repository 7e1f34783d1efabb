"""A log as lines: encodings, sizes, and what terminals and CI services put into it."""

from __future__ import annotations

import codecs
import io

import pytest

from op_lint.errors.log import lines


def texts(data: bytes) -> list[str]:
    return [line.text for line in lines(io.BytesIO(data))]


@pytest.mark.parametrize(
    "data",
    [
        "one\ntwö\n".encode(),
        codecs.BOM_UTF8 + "one\ntwö\n".encode(),
        "one\ntwö\n".encode("utf-16"),
        codecs.BOM_UTF16_BE + "one\ntwö\n".encode("utf-16-be"),
        "one\ntwö\n".encode("utf-16-le"),
        "one\ntwö\n".encode("utf-16-be"),
        "one\ntwö\n".encode("utf-32"),
        b"one\r\ntw\xc3\xb6\r\n",
        b"one\rtw\xc3\xb6",
        b"\x1b[31mone\x1b[0m\n\x1b]8;;https://x\x1b\\tw\xc3\xb6\x1b]8;;\x07\n",
        b"^[[1;31mone^[[0m\ntw\xc3\xb6\n",
    ],
)
def test_encodings_ends_and_colours(data: bytes) -> None:
    assert texts(data) == ["one", "twö"]


def test_what_is_not_text_is_replaced() -> None:
    assert texts(b"a\xff\xfe\x80b\n\x00c") == ["a\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}"
                                               "\N{REPLACEMENT CHARACTER}b", "c"]  # fmt: skip
    assert texts(b"") == []


@pytest.mark.parametrize(
    "prefix",
    [
        "2026-03-01T02:14:07.1180000Z ",
        "[2026-03-01 02:14:07,118] ",
        "[02:14:07] ",
        "[   12.345678] ",
        "Mar  1 02:14:07 host python[123]: ",
        "E0301 02:14:07.118000 4504 torch/_subclasses/fake_tensor.py:1608] [0/0] ",
        "ERROR 03-01 02:14:07 [core.py:123] ",
        "[rank0]: ",
        "(EngineCore pid=123) ",
        "(EngineCore_DP0 pid=3977) ERROR 11-17 01:32:30 [core.py:854] ",
        "(worker rank=0 pid=123, ip=10.0.0.1) ",
        "2026-03-01T02:14:07.1180000Z stderr F ",
        "web-1  | ",
        "##[error]",
        "::error file=a.py,line=1::",
        "E   ",
        "2026-03-01T02:14:07Z [rank0]: E   ",
        "",
    ],
)
def test_prefixes(prefix: str) -> None:
    (line,) = lines(io.BytesIO(f"{prefix}RuntimeError: operator demo::f does not exist".encode()))
    assert line.text.strip() == "RuntimeError: operator demo::f does not exist"
    assert line.prefix.strip() == prefix.strip()


def test_what_only_looks_like_a_prefix() -> None:
    for text in (
        "CUDA: registered at ops.cpp:2 [kernel]",
        "  operator: demo::f(Tensor x) -> Tensor",
        "E.g. this",
        ">= 2",
    ):
        assert texts(text.encode()) == [text]


def test_numbers_are_those_of_lines() -> None:
    found = [(line.number, line.text) for line in lines(io.BytesIO(b"a\n10%\r20%\r\n\nb"))]
    assert found == [(1, "a"), (2, "10%"), (2, "20%"), (3, ""), (4, "b")]


def test_a_line_without_end_is_cut() -> None:
    found = list(lines(io.BytesIO(b"x" * 3_000_000)))
    assert sum(len(line.text) for line in found) == 3_000_000
    assert max(len(line.text) for line in found) < 10_000
    assert {line.number for line in found} == {1}


def test_a_record_in_json() -> None:
    (line,) = lines(io.BytesIO(rb'{"log": "Could not run \"x\"\n  next"}'))
    assert line.text.split() == ['{"log":', '"Could', "not", "run", '"x"', 'next"}']
