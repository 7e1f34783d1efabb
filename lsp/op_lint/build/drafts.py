"""Targets while build files are read: what statements add to them, and what they are in the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

import msgspec

from op_lint.build.guards import NEVER, Guard, any_of, both, formula, relative
from op_lint.build.model import BuildSystem, Define, Link, LinkOption, Source, Target, TargetKind
from op_lint.facts import Place

_Part = TypeVar("_Part", Link, LinkOption, Define)


class Compiled(NamedTuple):
    """A source that a statement has given to a target."""

    path: str
    place: Place
    condition: Guard
    copied: bool = False


@dataclass(eq=False)
class Draft:
    """A target that a statement has declared, under `condition`. Its parts have conditions of their own, in full."""

    name: str
    kind: TargetKind
    system: BuildSystem
    place: Place
    condition: Guard
    sources: list[Compiled] = field(default_factory=list)
    links: list[tuple[Guard, Link]] = field(default_factory=list)
    options: list[tuple[Guard, LinkOption]] = field(default_factory=list)
    defines: list[tuple[Guard, Define]] = field(default_factory=list)
    module: str | None = None
    unknown: list[str] = field(default_factory=list)
    project: str = ""
    minimum: str = ""

    def frozen(self) -> Target:
        """The target as it is in the end; the conditions of its parts are those beside its own."""
        return Target(
            self.name,
            self.kind,
            self.system,
            self.place,
            formula(self.condition),
            tuple(self._sources()),
            tuple(_parts(self.links, self.condition)),
            tuple(_parts(self.options, self.condition)),
            tuple(_parts(self.defines, self.condition)),
            self.module,
            tuple(dict.fromkeys(self.unknown)),
            self.project,
            self.minimum,
        )

    def _sources(self) -> Iterator[Source]:
        """Each source once: the first place that names it, under any of the conditions."""
        found: dict[str, Compiled] = {}
        for source in self.sources:
            known = found.get(source.path)
            if known is not None:
                either = any_of((known.condition, source.condition))
                source = Compiled(source.path, known.place, either, known.copied and source.copied)
            found[source.path] = source
        for source in found.values():
            if both(source.condition, self.condition) is not NEVER:
                beside = relative(source.condition, self.condition)
                yield Source(source.path, source.place, formula(beside), source.copied)

    def absorb(self, other: Draft) -> None:
        """Take over another declaration of the same target, under another condition."""
        self.condition = any_of((self.condition, other.condition))
        self.sources += other.sources
        self.links += other.links
        self.options += other.options
        self.defines += other.defines
        self.module = self.module or other.module
        self.unknown += other.unknown


def _parts(parts: Iterable[tuple[Guard, _Part]], given: Guard) -> Iterator[_Part]:
    found: dict[_Part, Guard] = {}
    for condition, part in parts:
        found[part] = any_of((found[part], condition)) if part in found else condition
    for part, condition in found.items():
        if both(condition, given) is not NEVER:
            yield msgspec.structs.replace(part, condition=formula(relative(condition, given)))


def finished(drafts: Iterable[Draft]) -> Iterator[Target]:
    """The targets, those of one name and kind that several statements declare as one."""
    found: dict[tuple[str, TargetKind, str], Draft] = {}
    for draft in drafts:
        known = found.setdefault((draft.name, draft.kind, draft.project), draft)
        if known is not draft:
            known.absorb(draft)
    yield from (draft.frozen() for draft in found.values())
