"""GitHub's workflow commands: annotations in the changed files of a pull request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from op_lint.findings import Finding, Severity
from op_lint.report import Report
from op_lint.sources import Sources

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.HINT: "notice"}


def write(report: Report, stream: TextIO) -> None:
    """Write a command for every finding, with paths from the repository's root (`$GITHUB_WORKSPACE`)."""
    sources = report.seen_from("GITHUB_WORKSPACE").sources
    for finding in report.findings:
        properties = ",".join(f"{name}={_property(value)}" for name, value in _properties(finding, sources))
        message = "\n".join(_message(finding, sources))
        stream.write(f"::{_COMMANDS[finding.severity]} {properties}::{_data(message)}\n")


def _properties(finding: Finding, sources: Sources) -> Iterator[tuple[str, str]]:
    location = sources.location(finding.place)
    yield "title", f"{finding.code} {finding.name}"
    yield "file", location.path
    yield "line", str(location.line)
    yield "endLine", str(location.end_line)
    if location.line == location.end_line:  # columns are refused where an annotation spans lines
        yield "col", str(location.column)
        yield "endColumn", str(location.end_column)


def _message(finding: Finding, sources: Sources) -> Iterator[str]:
    """The lines of the text: it names the place once more, since a job's log shows nothing but this."""
    yield f"{sources.location(finding.place)}: {finding.code} {finding.message}"
    for related in finding.related:
        yield f"{sources.location(related.place)}: {related.message}"
    yield from finding.notes


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
