"""The base of every rule. A rule is one class in one file; its docstring is its documentation everywhere."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING, ClassVar

from op_lint.facts import Place
from op_lint.findings import Finding, Fix, Related, Severity

if TYPE_CHECKING:
    from op_lint.program import Program


class Need(str, Enum):
    """What a rule must have besides the sources; where it is missing the rule does not run."""

    TORCH = "torch"
    BUILD = "build"
    LIVE = "live"


class Rule(ABC):
    """A pure function over the program: no file is read, no process started, nothing of LSP known.

    The class's docstring has the headings *What it does*, *Why it is bad*, *Example*, *Use instead*, *Fix*
    (where there is one) and *References*; its examples are run by the tests.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity]
    default: ClassVar[bool] = True
    needs: ClassVar[frozenset[Need]] = frozenset()
    since: ClassVar[str] = "0.1.0"
    until: ClassVar[tuple[int, int] | None] = None
    """The last torch (major, minor) that the rule is about; None where no torch has mended it."""

    @abstractmethod
    def check(self, program: Program) -> Iterator[Finding]:
        """Yield the findings of this rule, in any order."""

    def finding(
        self,
        place: Place,
        message: str,
        *,
        related: tuple[Related, ...] = (),
        notes: tuple[str, ...] = (),
        fix: Fix | None = None,
        alternatives: tuple[Fix, ...] = (),
        severity: Severity | None = None,
    ) -> Finding:
        """A finding of this rule; `severity` only to drop below the rule's own."""
        return Finding(
            self.code, self.name, severity or self.severity, message, place, related, notes, fix, alternatives
        )
