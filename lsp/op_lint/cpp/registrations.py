"""What a reading of a source found. Apart from the readers, so that facts from the cache need no libclang."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from op_lint.facts import Definition, Delegation, Fallback, Implementation, Unit, Unresolved

Row = Definition | Implementation | Fallback | Unresolved | Delegation


@dataclass
class Registrations:
    """What one parse found. Unit ids count from 0 in this parse."""

    units: list[Unit] = field(default_factory=list)
    definitions: list[Definition] = field(default_factory=list)
    implementations: list[Implementation] = field(default_factory=list)
    fallbacks: list[Fallback] = field(default_factory=list)
    unresolved: list[Unresolved] = field(default_factory=list)
    delegations: list[Delegation] = field(default_factory=list)

    def rows(self) -> Iterator[Row]:
        """Everything but the units."""
        yield from self.definitions
        yield from self.implementations
        yield from self.fallbacks
        yield from self.unresolved
        yield from self.delegations
