"""Names for findings that stay the same while lines move, so that services can tell old findings from new ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from hashlib import blake2b

from op_lint.findings import Finding
from op_lint.report import Report


def fingerprinted(report: Report) -> Iterator[tuple[Finding, str]]:
    """Every finding with its fingerprint: of the file's path, the rule, the text of the line, and which of equals."""
    seen: Counter[str] = Counter()
    for finding in report.findings:
        line = report.sources.text(finding.place.path).line_text(finding.place.line).strip()
        what = f"{finding.place.path}\0{finding.code}\0{line}"
        seen[what] += 1
        named = f"{what}\0{seen[what]}".encode("utf-8", "surrogateescape")
        yield finding, blake2b(named, digest_size=16).hexdigest()
