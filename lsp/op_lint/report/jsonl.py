"""lintrunner's JSON lines: one message a line. The linter's code there is OPLINT.

lintrunner applies one replacement of a file's whole content and refuses a second one for the same file, and after
`lintrunner -a` it takes a message with a replacement for settled. So all findings of a file that a safe fix mends are
one message, and every other finding is one of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, TextIO

import msgspec

from op_lint.findings import Finding, Severity
from op_lint.fixes import edited, edits_of, fixable_at_once
from op_lint.report import Report

_CODE = "OPLINT"
_SEVERITIES = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.HINT: "advice"}


def write(report: Report, stream: TextIO) -> None:
    """Write a message for every finding, or for the findings of a file that are mended together."""
    for path, findings in groupby(report.findings, lambda finding: finding.place.path):
        for message in _messages(path, list(findings), report):
            stream.write(msgspec.json.encode(message).decode() + "\n")
    for failure in report.failures:
        stream.write(msgspec.json.encode(_message(None, "internal-error", "error", failure)).decode() + "\n")


def _messages(path: str, findings: list[Finding], report: Report) -> Iterator[dict[str, Any]]:
    mended = fixable_at_once(_mendable(path, findings, report))
    among_mended = frozenset(mended)
    for finding in findings:
        if finding not in among_mended:
            yield _about((finding,), report)
        elif finding is mended[0]:
            data = report.sources.text(path).data
            yield {
                **_about(mended, report),
                "original": data.decode(),
                "replacement": edited(data, edits_of(mended)).decode(),
            }


def _mendable(path: str, findings: Iterable[Finding], report: Report) -> Iterator[Finding]:
    """Those whose fix is for their own file. It is written as UTF-8, so it has to be in that before."""
    if not report.sources.text(path).is_utf8:
        return
    for finding in findings:
        if finding.fix is not None and all(edit.place.path == path for edit in finding.fix.edits):
            yield finding


def _about(findings: tuple[Finding, ...], report: Report) -> dict[str, Any]:
    """One message about one finding, or about several of one file."""
    first = findings[0]
    location = report.sources.location(first.place)
    worst = min((finding.severity for finding in findings), key=list(Severity).index)
    names = sorted({f"{finding.code} {finding.name}" for finding in findings})
    message = _message(
        location.path,
        ", ".join(names),
        _SEVERITIES[worst],
        "\n\n".join(_description(each, report) for each in findings),
    )
    return {**message, "line": location.line, "char": location.column}


def _description(finding: Finding, report: Report) -> str:
    related = (f"{report.sources.location(each.place)}: {each.message}" for each in finding.related)
    return "\n".join((finding.message, *related, *finding.notes))


def _message(path: str | None, name: str, severity: str, description: str) -> dict[str, Any]:
    return {
        "path": path,
        "line": None,
        "char": None,
        "code": _CODE,
        "severity": severity,
        "name": name,
        "original": None,
        "replacement": None,
        "description": description,
    }
