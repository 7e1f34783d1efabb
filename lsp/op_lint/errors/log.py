"""A log as lines: any encoding, any size, without what terminals and CI services put into it.

Every line is cut to pieces of bounded length, so that reading takes memory for a few of them, whatever the log is.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import BinaryIO

import msgspec

_CHUNK = 1 << 20
_LONGEST = 4096
"""Characters of a piece of a line."""

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it starts with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, the cursor
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # titles, links
    r"|\x1b[@-Z\\^_]"
    r"|\^\[\[[\d;]*m"  # as `cat -v` writes them
    r"|[\x00-\x08\x0e-\x1f\x7f]"
)
_PREFIX = re.compile(
    r"""(?:[ \t]*(?:
        \[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|\ ?[+-]\d\d:?\d\d)?\]?     # a time stamp
      | \[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]?
      | \[\s*\d+\.\d+\]                                                               # seconds since the start
      | [A-Z][a-z]{2}\ [ \d]\d\ \d\d:\d\d:\d\d\ \S+\ [\w.-]+(?:\[\d+\])?:                # syslog
      | [VIWEF]\d{4}\ \d\d:\d\d:\d\d\.\d+\ +\d+\ \S+\](?:\ \[[\d/_]+\])*                  # torch's own logging
      | (?:TRACE|DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL)\ +\d\d-\d\d\ \d\d:\d\d:\d\d(?:\ \[[^\]]*\])?
      | \[?(?:TRACE|DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL)\]?[ :](?=\ ?\S)
      | \[(?:rank|Rank)\ ?\d+\]:?
      | \([\w.-]+(?:\ [\w.-]+=[\w.-]+)*\ ?pid=\d+[^)]*\)                                  # processes of ray
      | std(?:out|err)\ [FP](?=\ )                                                    # containers
      | [\w.-]+\ +\|(?=\ )
      | \#\#\[\w+\] | ::(?:error|warning|notice|debug)[^:]*::                          # CI services
      | E(?=\ {3}|$)                                                                   # pytest
      | >(?=\ )                                                                       # quoted
    ))+[ \t]?""",
    re.VERBOSE,
)
_ESCAPED = re.compile(r"\\[nrt]|\\(?=[\"'])")
_ENDS = re.compile(r"\r\n|[\n\r\x0b\x0c\x85\u2028\u2029]")


class Line(msgspec.Struct, frozen=True, gc=False):
    """A piece of a line of a log. `number` is the 1-based line; `text` is what is left, `prefix` what was before it."""

    number: int
    text: str
    prefix: str = ""


def lines(stream: BinaryIO) -> Iterator[Line]:
    """The lines of a log. A part that is written over again (a progress bar) is a line of its own."""
    number = 1
    rest = ""
    for text in _decoded(stream):
        rest += text
        # A `\r` at the end may be half of an end of line.
        whole = len(rest) - (rest.endswith("\r"))
        start = 0
        for end in _ENDS.finditer(rest, 0, whole):
            yield from _pieces(number, rest[start : end.start()])
            start = end.end()
            number += "\n" in end[0]
        rest = rest[start:]
        while len(rest) > 2 * _LONGEST:
            yield from _pieces(number, rest[:_LONGEST])
            rest = rest[_LONGEST:]
    if rest:
        yield from _pieces(number, rest)


def _decoded(stream: BinaryIO) -> Iterator[str]:
    data = stream.read(_CHUNK)
    decoder = codecs.getincrementaldecoder(_encoding(data))(errors="replace")
    while data:
        yield decoder.decode(data)
        data = stream.read(_CHUNK)
    yield decoder.decode(b"", final=True)


def _encoding(start: bytes) -> str:
    """The encoding of a text that starts so; UTF-16 without a mark is told by the zeros of its Latin letters."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if start.startswith(mark):
            return encoding
    sample = start[:1000]
    if sample[1::2].count(0) > len(sample) // 3:
        return "utf-16-le"
    if sample[0::2].count(0) > len(sample) // 3:
        return "utf-16-be"
    return "utf-8"


def _pieces(number: int, text: str) -> Iterator[Line]:
    if text.startswith('{"'):
        # A record in JSON: line ends and quotes inside are escaped.
        text = _ESCAPED.sub(lambda found: " " if found[0][1:] else "", text)
    text = _ESCAPES.sub("", text)
    found = _PREFIX.match(text)
    prefix = found[0] if found else ""
    for start in range(len(prefix), max(len(text), len(prefix) + 1), _LONGEST):
        yield Line(number, text[start : start + _LONGEST], prefix)
