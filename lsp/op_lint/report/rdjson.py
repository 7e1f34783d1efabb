"""reviewdog's diagnostic format: review comments with suggestions, on any code host."""

from __future__ import annotations

from typing import Any, TextIO

import msgspec

from op_lint.facts import Place
from op_lint.findings import Finding, Severity
from op_lint.fixes import merged
from op_lint.report import Report
from op_lint.sources import Sources

_SEVERITIES = {Severity.ERROR: "ERROR", Severity.WARNING: "WARNING", Severity.HINT: "INFO"}


def write(report: Report, stream: TextIO) -> None:
    """Write one object with all findings. Columns count bytes, as the format has it."""
    value = {
        "source": {"name": "op-lint"},
        "diagnostics": [_diagnostic(finding, report) for finding in report.findings],
    }
    stream.write(msgspec.json.format(msgspec.json.encode(value)).decode() + "\n")


def _diagnostic(finding: Finding, report: Report) -> dict[str, Any]:
    url = report.url(finding)
    related = [{"message": each.message, "location": _location(each.place, report.sources)} for each in finding.related]
    return {
        "message": "\n".join((f"{finding.name}: {finding.message}", *finding.notes)),
        "location": _location(finding.place, report.sources),
        "severity": _SEVERITIES[finding.severity],
        "code": {"value": finding.code, **({"url": url} if url else {})},
        **({"suggestions": [_suggestion(finding, report.sources)]} if _is_suggested(finding, report.sources) else {}),
        **({"related_locations": related} if related else {}),
    }


def _is_suggested(finding: Finding, sources: Sources) -> bool:
    """Whether the fix is for the file of the finding: a suggestion names no other. It can be in UTF-8 only."""
    if finding.fix is None or any(edit.place.path != finding.place.path for edit in finding.fix.edits):
        return False
    return sources.text(finding.place.path).is_utf8


def _suggestion(finding: Finding, sources: Sources) -> dict[str, Any]:
    """All edits of a fix as one: several suggestions would be alternatives."""
    edit = merged(sources.text(finding.place.path).data, finding.fix.edits if finding.fix else ())
    return {"range": _range(edit.place, sources), "text": edit.text}


def _location(place: Place, sources: Sources) -> dict[str, Any]:
    return {"path": sources.shown(place.path), "range": _range(place, sources)}


def _range(place: Place, sources: Sources) -> dict[str, Any]:
    text = sources.text(place.path)
    if place.end > len(text.data):
        return {"start": {"line": place.line}}
    start, end = (text.line_units(offset, "utf-8") for offset in (place.start, place.end))
    return {
        "start": {"line": start[0] + 1, "column": start[1] + 1},
        "end": {"line": end[0] + 1, "column": end[1] + 1},
    }
