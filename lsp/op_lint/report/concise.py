"""One line a finding, as compilers write it: for editors and people who search."""

from __future__ import annotations

from typing import TextIO

from op_lint.report import Report


def write(report: Report, stream: TextIO) -> None:
    """Write `path:line:column: severity CODE message` for every finding, then the summary."""
    for finding in report.findings:
        place = report.sources.location(finding.place)
        stream.write(f"{place}: {finding.severity.value} {finding.code} {finding.message}\n")
    stream.writelines(f"{line}\n" for line in report.summary)
