"""Findings with the code they are about: for people."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import TextIO
from unicodedata import combining, east_asian_width

from op_lint.facts import Place
from op_lint.findings import Finding, Related
from op_lint.report import Report
from op_lint.sources import Sources

_TAB = 4
_WIDEST = 160
"""Columns of source that a frame shows; of a longer line, those around the marked part."""


class Style(Enum):
    """What a piece of text is; its value is how a terminal shows it, in rich's words."""

    PLAIN = ""
    PATH = "bold"
    ERROR = "bold red"
    WARNING = "bold yellow"
    HINT = "bold cyan"
    FRAME = "dim"


Line = tuple[tuple[str, Style], ...]


def write(report: Report, stream: TextIO) -> None:
    """Write every finding with its frame, then the summary; in colours where `stream` shows them."""
    write_lines(_lines(report), stream, plain=report.plain)


def write_lines(lines: Iterable[Line], stream: TextIO, *, plain: bool = False) -> None:
    """Write lines, in colours where `stream` shows them; `plain` is without, whatever it does."""
    if not plain and _shows_colours(stream):
        _write_coloured(lines, stream)
    else:
        stream.writelines("".join(text for text, _ in line) + "\n" for line in lines)


def _shows_colours(stream: TextIO) -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (stream.isatty() and os.environ.get("TERM") != "dumb")


def _write_coloured(lines: Iterable[Line], stream: TextIO) -> None:
    from rich.console import Console  # costs more than a whole run over a small project
    from rich.text import Text

    console = Console(file=stream, force_terminal=True, highlight=False, soft_wrap=True)
    for line in lines:
        console.print(Text.assemble(*((text, style.value) for text, style in line)))


def _lines(report: Report) -> Iterator[Line]:
    for finding in report.findings:
        yield from _finding_lines(finding, report.sources)
        yield ()
    for line in report.summary:
        yield ((line, Style.PLAIN),)


def _finding_lines(finding: Finding, sources: Sources) -> Iterator[Line]:
    style = Style[finding.severity.name]
    yield (
        (f"{sources.location(finding.place)}: ", Style.PATH),
        (finding.severity.value, style),
        (f" {finding.code} {finding.name}", Style.PLAIN),
    )
    notes = (*finding.notes, f"op-lint rule {finding.code}")
    yield from frame(finding.place, finding.message, finding.related, notes, style, sources)


def frame(
    place: Place, message: str, related: Iterable[Related], notes: Iterable[str], style: Style, sources: Sources
) -> Iterator[Line]:
    """The line of a place with what is said of it, the other places below, and notes."""
    location = sources.location(place)
    source = sources.text(place.path).line_text(location.line)
    gutter = " " * len(str(location.line))
    if source.strip():
        end = location.end_column if location.end_line == location.line else len(source) + 1
        before, marked, after = _clip(source, location.column - 1, end - 1)
        bar = (f"{gutter} |", Style.FRAME)
        yield (bar,)
        yield (f"{location.line} | ", Style.FRAME), (before + marked + after, Style.PLAIN)
        mark = " " * _width(before) + "^" * max(1, _width(marked))
        yield bar, (f" {mark} {message}", style)
        yield (bar,)
    else:
        yield (f"{gutter} = ", Style.FRAME), (message, style)
    for other in related:
        yield (
            (f"{gutter}::: ", Style.FRAME),
            (f"{sources.location(other.place)}", Style.PATH),
            (f"   {other.message}", Style.PLAIN),
        )
    for note in notes:
        yield (f"{gutter} = ", Style.FRAME), (note, Style.FRAME)


def _clip(source: str, start: int, end: int) -> tuple[str, str, str]:
    """The line before, at and after characters `start` to `end`, shortened to what a frame shows."""
    end = max(start, min(end, len(source)))
    before, marked, after = (_printable(part) for part in (source[:start], source[start:end], source[end:]))
    if len(marked) > _WIDEST // 2:
        marked = marked[: _WIDEST // 2] + "…"
        after = ""
    if len(before) > _WIDEST // 2:
        before = "…" + before[-_WIDEST // 2 :]
    room = _WIDEST - len(before) - len(marked)
    return before, marked, after if len(after) <= room else after[:room] + "…"


def _printable(text: str) -> str:
    """Tabs as spaces; what would not show, or would move the cursor, as a replacement character."""
    return "".join(
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}"
        for character in text.replace("\t", " " * _TAB)
    )


def _width(text: str) -> int:
    return sum(0 if combining(character) else 2 if east_asian_width(character) in "WF" else 1 for character in text)
