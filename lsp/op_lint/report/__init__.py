"""Reports: what findings look like. One file a format; each offers `write(report, stream)`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Protocol, TextIO, cast

import msgspec

from op_lint.findings import Finding
from op_lint.sources import Sources

FORMATS = ("text", "concise", "json")


class Report(msgspec.Struct, frozen=True):
    """What a run found, in order, and how to name its places.

    `summary` are closing lines for a person: how many of what, and against which torch. `pages` are the URLs of
    rules' documentation by code, where they have one.
    """

    findings: tuple[Finding, ...]
    sources: Sources
    summary: tuple[str, ...] = ()
    pages: Mapping[str, str | None] = {}


class _Format(Protocol):
    def write(self, report: Report, stream: TextIO) -> None: ...


def write(format_name: str, report: Report, stream: TextIO) -> None:
    """Write `report` in one of FORMATS."""
    cast(_Format, import_module(f"op_lint.report.{format_name}")).write(report, stream)
