"""SARIF 2.1.0, the standard form of static analysis results: GitHub code scanning and many viewers read it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import quote

import msgspec

from op_lint.documentation import RulePage
from op_lint.facts import Place
from op_lint.findings import Edit, Finding, Fix, Severity
from op_lint.fixes import fitted, fixes_of
from op_lint.report import Report
from op_lint.report.fingerprint import fingerprinted
from op_lint.sources import Location, Sources
from op_lint.version import VERSION

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_BASE = "SRCROOT"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.HINT: "note"}
_IN_LINKS = {ord(character): f"\\{character}" for character in "\\[]"}
"""What means something inside the text of a link."""
_GITHUB_SEVERITIES = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.HINT: "recommendation"}


def write(report: Report, stream: TextIO) -> None:
    """Write a log of one run, with paths from the repository's root (`$GITHUB_WORKSPACE`) or the current folder."""
    report = report.seen_from("GITHUB_WORKSPACE")
    pages = [report.rules[code] for code in sorted({finding.code for finding in report.findings} & report.rules.keys())]
    run = {
        "tool": {
            "driver": {
                "name": "op-lint",
                "version": VERSION,
                "semanticVersion": VERSION,
                "rules": [_rule(page) for page in pages],
            }
        },
        "invocations": [
            {
                "executionSuccessful": not report.failures,
                "toolExecutionNotifications": [
                    {"level": "error", "message": {"text": failure}} for failure in report.failures
                ],
            }
        ],
        "originalUriBaseIds": {_BASE: {"uri": f"{report.sources.base.absolute().as_uri().rstrip('/')}/"}},
        "columnKind": "unicodeCodePoints",
        "results": list(_results(report, [page.code for page in pages])),
    }
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    stream.write(msgspec.json.format(msgspec.json.encode(log)).decode() + "\n")


def _rule(page: RulePage) -> dict[str, Any]:
    return {
        "id": page.code,
        "name": page.name,
        "shortDescription": {"text": page.summary},
        "fullDescription": {"text": page.summary},
        "help": {"text": page.text, "markdown": page.text},
        **({"helpUri": page.url} if page.url else {}),
        "defaultConfiguration": {"level": _LEVELS[page.severity]},
        "properties": {"tags": ["pytorch"], "problem.severity": _GITHUB_SEVERITIES[page.severity]},
    }


def _results(report: Report, codes: Sequence[str]) -> Iterator[dict[str, Any]]:
    sources = report.sources
    for finding, fingerprint in fingerprinted(report):
        yield {
            "ruleId": finding.code,
            **({"ruleIndex": codes.index(finding.code)} if finding.code in codes else {}),
            "level": _LEVELS[finding.severity],
            "message": {"text": "\n\n".join((finding.message, *finding.notes, *_links(finding, sources)))},
            "locations": [{"physicalLocation": _physical(finding.place, sources)}],
            **_related(finding, sources),
            "partialFingerprints": {"opLint/v1": fingerprint},
            **({"fixes": [_fix(fix, sources) for fix in fixes]} if (fixes := fixes_of(finding)) else {}),
        }


def _links(finding: Finding, sources: Sources) -> Iterator[str]:
    """The related locations by their numbers: code scanning shows only those that the message links to."""
    for number, related in enumerate(finding.related, 1):
        location = sources.location(related.place)
        shown = f"{location.path}:{location.line}".translate(_IN_LINKS)
        yield f"[{shown}]({number}): {related.message}"


def _related(finding: Finding, sources: Sources) -> dict[str, Any]:
    if not finding.related:
        return {}
    return {
        "relatedLocations": [
            {
                "id": number,
                "physicalLocation": _physical(related.place, sources),
                "message": {"text": related.message},
            }
            for number, related in enumerate(finding.related, 1)
        ]
    }


def _fix(fix: Fix, sources: Sources) -> dict[str, Any]:
    made = (fitted(sources.text(edit.place.path), edit) for edit in fix.edits)
    edits = sorted(made, key=lambda edit: edit.place)
    return {
        "description": {"text": fix.title if fix.safe else f"{fix.title} (changes what the program does)"},
        "artifactChanges": [
            {
                "artifactLocation": _artifact(sources.shown(path)),
                "replacements": [_replacement(edit, sources) for edit in changes],
            }
            for path, changes in groupby(edits, lambda edit: edit.place.path)
        ],
    }


def _replacement(edit: Edit, sources: Sources) -> dict[str, Any]:
    return {
        "deletedRegion": _region(sources.location(edit.place)),
        "insertedContent": {"text": edit.text},
    }


def _physical(place: Place, sources: Sources) -> dict[str, Any]:
    location = sources.location(place)
    return {"artifactLocation": _artifact(location.path), "region": _region(location)}


def _region(location: Location) -> dict[str, int]:
    return {
        "startLine": location.line,
        "startColumn": location.column,
        "endLine": location.end_line,
        "endColumn": location.end_column,
    }


def _artifact(path: str) -> dict[str, str]:
    if Path(path).is_absolute():
        return {"uri": Path(path).as_uri()}
    return {"uri": quote(path, errors="surrogateescape"), "uriBaseId": _BASE}
