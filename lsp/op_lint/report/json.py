"""One JSON array of findings: for programs."""

from __future__ import annotations

from typing import Any, TextIO

import msgspec

from op_lint.findings import Finding, Fix
from op_lint.fixes import fitted
from op_lint.report import Report
from op_lint.sources import Location, Sources


def write(report: Report, stream: TextIO) -> None:
    """Write every finding as an object; see `finding_value`."""
    values = [finding_value(finding, report.sources, report.url(finding)) for finding in report.findings]
    stream.write(msgspec.json.format(msgspec.json.encode(values)).decode() + "\n")


def finding_value(finding: Finding, sources: Sources, url: str | None) -> dict[str, Any]:
    """A finding as JSON has it. Lines and columns are 1-based, columns in characters, ends exclusive."""
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "message": finding.message,
        **_location(sources.location(finding.place)),
        "related": [
            {**_location(sources.location(related.place)), "message": related.message} for related in finding.related
        ],
        "notes": list(finding.notes),
        "fix": _fix(finding.fix, sources) if finding.fix else None,
        "alternatives": [_fix(fix, sources) for fix in finding.alternatives],
        "url": url,
    }


def _location(location: Location) -> dict[str, Any]:
    return msgspec.structs.asdict(location)


def _fix(fix: Fix, sources: Sources) -> dict[str, Any]:
    made = [fitted(sources.text(edit.place.path), edit) for edit in fix.edits]
    edits = [{**_location(sources.location(edit.place)), "text": edit.text} for edit in made]
    return {"title": fix.title, "safe": fix.safe, "edits": edits}
