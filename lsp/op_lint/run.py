"""What a run went through itself: the material of the rules about op-lint."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from op_lint.facts import Problem
from op_lint.findings import Finding
from op_lint.rule import Rule
from op_lint.suppress import IdleSuppression

if TYPE_CHECKING:
    from op_lint.program import Program


class Run(msgspec.Struct, frozen=True):
    """A run, when all other rules have spoken.

    `problems` are those of the project and not of one source file: its configuration, folders that cannot be
    listed. `idle` are the suppression comments that did nothing, `rules` all rules that are installed.
    """

    problems: tuple[Problem, ...] = ()
    idle: tuple[IdleSuppression, ...] = ()
    rules: tuple[type[Rule], ...] = ()


class RunRule(Rule):
    """A rule about op-lint itself: besides `check` it is asked about the run, when the comments were applied.

    What `check_run` finds is not subject to suppression comments: none can excuse itself.
    """

    def check(self, program: Program) -> Iterator[Finding]:  # noqa: ARG002 -- most of these rules ask the run only
        """Yield what the program alone tells; by default nothing."""
        yield from ()

    @abstractmethod
    def check_run(self, run: Run) -> Iterator[Finding]:
        """Yield the findings about `run`, in any order."""
