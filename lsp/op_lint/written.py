"""Findings about what a macro writes: where in the macro's body that stands."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Protocol

import msgspec

from op_lint.facts import FileFacts, Language, Place
from op_lint.findings import Finding, Related

_MOST = 3
"""Places of one use that are named. A use that registers more than this is about its operators, not about its code."""


class _Row(Protocol):
    @property
    def place(self) -> Place: ...
    @property
    def spelled(self) -> Place | None: ...


def with_bodies(findings: Iterable[Finding], files: Iterable[FileFacts]) -> Iterator[Finding]:
    """The findings; those that are about a whole use of a macro name the lines of its body that register, too."""
    bodies = _bodies(files)
    for finding in findings:
        known = {finding.place, *(each.place for each in finding.related)}
        places = [place for place in bodies.get(finding.place, ()) if place not in known]
        if not places or len(places) > _MOST:
            yield finding
            continue
        more = tuple(Related(place, "the macro registers this here") for place in places)
        yield msgspec.structs.replace(finding, related=(*finding.related, *more))


def _bodies(files: Iterable[FileFacts]) -> dict[Place, list[Place]]:
    """Where the code of each use of a macro was written, in order."""
    found: dict[Place, dict[Place, None]] = defaultdict(dict)
    for facts in files:
        if facts.language is not Language.CPP:
            continue
        rows: list[_Row] = [*facts.units, *facts.definitions, *facts.implementations, *facts.fallbacks]
        for row in rows:
            if row.spelled is not None:
                found[row.place][row.spelled] = None
    return {place: sorted(spelled) for place, spelled in found.items()}
