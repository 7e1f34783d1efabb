"""What a reading of a source found. Apart from the readers, so that facts from the cache need no libclang."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from op_lint.facts import ClassDefinition, Definition, Delegation, Fallback, Implementation, Unit, Unresolved

Row = Definition | Implementation | Fallback | Unresolved | Delegation | ClassDefinition

ROW_LISTS = ("definitions", "implementations", "fallbacks", "unresolved", "delegations", "classes")
"""The fields of `Registrations` that hold rows, each of which is of a unit."""


@dataclass
class Registrations:
    """What one parse found. Unit ids count from 0 in this parse."""

    units: list[Unit] = field(default_factory=list)
    definitions: list[Definition] = field(default_factory=list)
    implementations: list[Implementation] = field(default_factory=list)
    fallbacks: list[Fallback] = field(default_factory=list)
    unresolved: list[Unresolved] = field(default_factory=list)
    delegations: list[Delegation] = field(default_factory=list)
    classes: list[ClassDefinition] = field(default_factory=list)

    def rows(self) -> Iterator[Row]:
        """Everything but the units."""
        for name in ROW_LISTS:
            yield from getattr(self, name)
