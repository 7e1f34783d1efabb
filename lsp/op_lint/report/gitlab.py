"""GitLab's code quality report: findings in the diff of a merge request."""

from __future__ import annotations

from typing import TextIO

import msgspec

from op_lint.findings import Severity
from op_lint.report import Report
from op_lint.report.fingerprint import fingerprinted

_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "major", Severity.HINT: "info"}


def write(report: Report, stream: TextIO) -> None:
    """Write an array of findings, with paths from the repository's root (`$CI_PROJECT_DIR`)."""
    report = report.seen_from("CI_PROJECT_DIR")
    values = []
    for finding, fingerprint in fingerprinted(report):
        location = report.sources.location(finding.place)
        begin = {"line": location.line, "column": location.column}
        end = {"line": location.end_line, "column": location.end_column}
        values.append(
            {
                "description": f"{finding.code} {finding.name}: {finding.message}",
                "check_name": finding.code,
                "fingerprint": fingerprint,
                "severity": _SEVERITIES[finding.severity],
                "location": {"path": location.path, "positions": {"begin": begin, "end": end}},
            }
        )
    stream.write(msgspec.json.format(msgspec.json.encode(values)).decode() + "\n")
