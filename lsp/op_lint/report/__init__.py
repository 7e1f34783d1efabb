"""Reports: what findings look like. One file a format; each offers `write(report, stream)`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Protocol, TextIO, cast

import msgspec

from op_lint.documentation import RulePage
from op_lint.findings import Finding
from op_lint.sources import Sources

FORMATS = ("text", "concise", "json", "jsonl", "sarif", "github", "gitlab", "junit", "rdjson")


class Report(msgspec.Struct, frozen=True):
    """What a run found, in order, and how to name its places.

    `summary` are closing lines for a person: how many of what, and against which torch. `rules` are the pages of the
    rules that spoke, by code. `failures` say what op-lint could not do. `plain` is without colours, whatever the
    environment says: for files.
    """

    findings: tuple[Finding, ...]
    sources: Sources
    summary: tuple[str, ...] = ()
    rules: Mapping[str, RulePage] = {}
    failures: tuple[str, ...] = ()
    plain: bool = False

    def url(self, finding: Finding) -> str | None:
        """The page about a finding's rule."""
        page = self.rules.get(finding.code)
        return page.url if page else None

    def seen_from(self, variable: str) -> Report:
        """The same with paths relative to the folder that an environment variable names, where it is set.

        A CI service says so where the repository is; its reports name files from there, wherever op-lint is run.
        """
        folder = os.environ.get(variable)
        if not folder:
            return self
        return msgspec.structs.replace(self, sources=self.sources.seen_from(Path(folder)))


class _Format(Protocol):
    def write(self, report: Report, stream: TextIO) -> None: ...


def write(format_name: str, report: Report, stream: TextIO) -> None:
    """Write `report` in one of FORMATS."""
    cast(_Format, import_module(f"op_lint.report.{format_name}")).write(report, stream)
