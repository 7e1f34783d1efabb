"""Fixes applied: which of them can be made at once, and what a file is when their edits are made."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterable

from op_lint.facts import Place
from op_lint.findings import Edit, Finding, Fix
from op_lint.text import SourceText


def fixable_at_once(findings: Iterable[Finding], *, unsafe: bool = False) -> tuple[Finding, ...]:
    """The findings whose fixes can be made together, in the order given: of two that touch each other the first.

    Only safe fixes count, unless `unsafe`.
    """
    taken: list[Finding] = []
    places: list[Place] = []
    for finding in findings:
        fix = finding.fix
        if fix is None or not (fix.safe or unsafe):
            continue
        if not any(touch(edit.place, place) for edit in fix.edits for place in places):
            taken.append(finding)
            places += (edit.place for edit in fix.edits)
    return tuple(taken)


def fixes_of(finding: Finding) -> tuple[Fix, ...]:
    """Everything that makes a finding go away, the best first."""
    return (*((finding.fix,) if finding.fix else ()), *finding.alternatives)


def edits_of(findings: Iterable[Finding]) -> tuple[Edit, ...]:
    """The edits of all fixes of `findings`."""
    return tuple(edit for finding in findings if finding.fix is not None for edit in finding.fix.edits)


def touch(first: Place, second: Place) -> bool:
    """Whether two places share a byte or have none between them: edits there would depend on their order."""
    return first.path == second.path and first.start <= second.end and second.start <= first.end


def edited(data: bytes, edits: Iterable[Edit]) -> bytes:
    """The file with these edits made, which must not overlap. Line ends that they bring are those of the file."""
    text = SourceText(data)
    parts: list[bytes] = []
    position = 0
    for edit in sorted((fitted(text, each) for each in edits), key=lambda edit: edit.place):
        parts += data[position : edit.place.start], text.bytes_of(edit.text)
        position = edit.place.end
    return b"".join((*parts, data[position:]))


def fitted(text: SourceText, edit: Edit) -> Edit:
    """The edit as it is made in a file with this text: with its line ends, and behind its byte order mark."""
    place = edit.place
    start = max(place.start, len(BOM_UTF8) if text.data.startswith(BOM_UTF8) else 0)
    place = Place(place.path, place.line, start, max(start, place.end))
    return Edit(place, text.bytes_of(edit.text).decode("utf-8", "surrogateescape"))


def merged(data: bytes, edits: Iterable[Edit]) -> Edit:
    """One edit that does the same as these edits of one file, with what is between them."""
    text = SourceText(data)
    ordered = sorted((fitted(text, each) for each in edits), key=lambda edit: edit.place)
    first, last = ordered[0].place, ordered[-1].place
    after = edited(data, ordered)
    written = after[first.start : len(after) - (len(data) - last.end)]
    return Edit(Place(first.path, first.line, first.start, last.end), written.decode("utf-8", "surrogateescape"))
