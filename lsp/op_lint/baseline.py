"""The baseline: how many findings of each rule a project lives with in each file, so that only new ones are told.

It is a JSON file that is committed: `{"version": 1, "findings": {PATH: {CODE: COUNT}}}`, with paths relative to the
project's root. Lines are not in it, since they move. Where a file has more findings of a rule than the baseline says,
all of them are told: which one is new cannot be known. Where it has fewer, the entry is stale and must be lowered, so
that no new finding slips in unseen.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from op_lint.config import Settings
from op_lint.findings import Finding
from op_lint.whole import write_whole

_VERSION = 1

Counts = Mapping[tuple[str, str], int]
"""How many findings, by path and code."""


class BaselineError(Exception):
    """A baseline that cannot be read; the text says which, where and why."""


class _Form(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    version: int
    findings: dict[str, dict[str, int]]


class Stale(msgspec.Struct, frozen=True):
    """An entry that allows more findings than there are. `line` is where it stands in the baseline's file."""

    path: str
    code: str
    allowed: int
    found: int
    line: int


class Compared(msgspec.Struct, frozen=True):
    """Findings held against a baseline: those to be told, how many it covers, and what it covers no more.

    `exceeded` are the entries with too small a count, as (path, code): (allowed, found).
    """

    findings: tuple[Finding, ...]
    covered: int = 0
    stale: tuple[Stale, ...] = ()
    exceeded: Mapping[tuple[str, str], tuple[int, int]] = {}


class Judged(msgspec.Struct, frozen=True):
    """What a run can judge: the paths that it was asked about, and the codes of the rules that ran to their end."""

    is_named: Callable[[str], bool]
    codes: Collection[str]

    def covers(self, entry: tuple[str, str]) -> bool:
        """Whether the absence of findings of this path and code means something."""
        path, code = entry
        return self.is_named(path) and code in self.codes


class Baseline(msgspec.Struct, frozen=True):
    """A baseline as read from `file`, whose text was `text`."""

    file: Path
    counts: Counts = {}
    text: str = ""

    def compare(self, findings: Iterable[Finding], judged: Judged) -> Compared:
        """Take out what the baseline covers."""
        findings = tuple(findings)
        found = count(findings)
        told = self.uncovered(findings)
        stale = (
            Stale(*entry, allowed, found[entry], self._line(*entry))
            for entry, allowed in sorted(self.counts.items())
            if found[entry] < allowed and judged.covers(entry)
        )
        exceeded = {
            entry: (allowed, found[entry]) for entry, allowed in self.counts.items() if found[entry] > allowed > 0
        }
        return Compared(told, len(findings) - len(told), tuple(stale), exceeded)

    def uncovered(self, findings: Sequence[Finding]) -> tuple[Finding, ...]:
        """The findings that the baseline does not cover."""
        found = count(findings)
        return tuple(each for each in findings if found[_entry(each)] > self.counts.get(_entry(each), 0))

    def renewed(self, findings: Iterable[Finding], judged: Judged) -> Counts:
        """The counts as they are now; what this run cannot judge stays."""
        kept = {entry: allowed for entry, allowed in self.counts.items() if not judged.covers(entry)}
        return {**kept, **count(findings)}

    def pruned(self, stale: Iterable[Stale]) -> Counts:
        """The counts without what is stale."""
        lowered = {(each.path, each.code): each.found for each in stale}
        return {entry: allowed for entry, allowed in {**self.counts, **lowered}.items() if allowed}

    def _line(self, path: str, code: str) -> int:
        quoted_path, quoted_code = (re.escape(msgspec.json.encode(word).decode()) for word in (path, code))
        found = re.search(rf"{quoted_path}\s*:\s*\{{[^}}]*?({quoted_code})", self.text)
        return 1 + self.text.count("\n", 0, found.start(1)) if found else 1


def configured_baseline(root: Path, settings: Settings) -> Path | None:
    """The baseline that the configuration names."""
    return root / settings.baseline if settings.baseline else None


def count(findings: Iterable[Finding]) -> Counter[tuple[str, str]]:
    """How many findings of each rule are in each file."""
    return Counter(map(_entry, findings))


def _entry(finding: Finding) -> tuple[str, str]:
    return finding.place.path, finding.code


def read_baseline(file: Path) -> Baseline:
    """The baseline in `file`. Raises BaselineError; FileNotFoundError where there is no such file."""
    try:
        text = file.read_text("utf-8")
        form = msgspec.json.decode(text, type=_Form)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise BaselineError(f"{file}: {error.strerror or error}") from error
    except (UnicodeDecodeError, msgspec.DecodeError) as error:
        raise BaselineError(f"{file}{_place(error, file)}: this is no baseline of op-lint: {error}") from error
    if form.version != _VERSION:
        raise BaselineError(f"{file}: a baseline of version {form.version}; this op-lint reads version {_VERSION}")
    counts = {(path, code): number for path, codes in form.findings.items() for code, number in codes.items()}
    return Baseline(file, counts, text)


def _place(error: Exception, file: Path) -> str:
    """`:LINE` where the error's words name a byte."""
    found = re.search(r"\(byte (\d+)\)", str(error))
    return f":{1 + file.read_bytes().count(10, 0, int(found[1]))}" if found else ""


def write_baseline(file: Path, counts: Counts) -> None:
    """Write a baseline: sorted, so that two of them can be compared and merged. Raises OSError."""
    findings: dict[str, dict[str, int]] = {}
    for (path, code), number in sorted(counts.items()):
        findings.setdefault(path, {})[code] = number
    written = msgspec.json.format(msgspec.json.encode(_Form(_VERSION, findings)))
    write_whole(file, written + b"\n")


def described(stale: Iterable[Stale], file: Path) -> Iterator[str]:
    """A line on each stale entry, with its place in the baseline's file."""
    for each in stale:
        yield (
            f"{file}:{each.line}: {each.path} has {each.found or 'no'} finding{'' if each.found == 1 else 's'} of"
            f" {each.code}, the baseline allows {each.allowed}: run with --prune-baseline, and commit the file"
        )
