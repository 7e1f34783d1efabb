"""One file of a parse, with its `#if` arms and what libclang is given for it under an assignment of atoms."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from op_lint.condition import ALWAYS, All, Atom, Condition, Not, conjunction, disjunction
from op_lint.cpp.scan import Directive

Assignment = Mapping[str, bool]
"""The truth of atoms; those that it does not name are false."""

Kept = dict[tuple[str, tuple[bool, ...], tuple[str | None, ...]], bytes]


def holds(condition: Condition, assignment: Assignment) -> bool:
    """Whether a condition holds under an assignment."""
    if isinstance(condition, Atom):
        return assignment.get(condition.text, False)
    if isinstance(condition, Not):
        return not holds(condition.operand, assignment)
    truths = (holds(operand, assignment) for operand in condition.operands)
    return all(truths) if isinstance(condition, All) else any(truths)


@dataclass(frozen=True)
class Arm:
    """One arm of a conditional: bytes `start` to `end` are its body; `condition` is its whole path in this file."""

    start: int
    end: int
    condition: Condition


@dataclass(frozen=True, eq=False)
class View:
    """One file as the preprocessor reaches it; a file that is included with other macros again is another one.

    `alias` is the name that libclang knows it by. `sites` are the `#include`s that lead to it: the file of each and its
    condition there. `tests` maps an `#if`/`#elif` directive to its own condition (without the arms around it);
    `targets` an `#include` to the alias of its file, None for one that was not found. Arms stand in order of their
    starts, outer ones first.
    """

    path: str
    alias: str
    data: bytes
    sites: list[tuple[View, Condition]] = field(default_factory=list)
    arms: list[Arm] = field(default_factory=list)
    tests: list[tuple[Directive, Condition]] = field(default_factory=list)
    targets: list[tuple[Directive, str | None]] = field(default_factory=list)

    @cached_property
    def reached(self) -> Condition:
        """The condition of the `#include`s that lead here. To be asked when all of them are known."""
        if not self.sites:
            return ALWAYS
        return disjunction(conjunction((includer.reached, condition)) for includer, condition in self.sites)

    def condition_at(self, offset: int) -> Condition:
        """The condition under which the byte at `offset` is compiled."""
        starts, conditions = self._changes
        index = bisect_right(starts, offset) - 1
        return conjunction((self.reached, conditions[index])) if index >= 0 else self.reached

    @cached_property
    def _changes(self) -> tuple[list[int], list[Condition]]:
        """The offsets at which the condition changes, and what it is from each on."""
        starts: list[int] = []
        conditions: list[Condition] = []
        around: list[tuple[int, Condition]] = [(len(self.data) + 1, ALWAYS)]
        for arm in [*self.arms, Arm(len(self.data), len(self.data), ALWAYS)]:
            while around[-1][0] <= arm.start:
                end, _ = around.pop()
                starts.append(end)
                conditions.append(around[-1][1])
            starts.append(arm.start)
            conditions.append(arm.condition)
            around.append((arm.end, arm.condition))
        return starts, conditions

    def rewritten(self, assignment: Assignment, kept: Kept) -> bytes:
        """The bytes for libclang under `assignment`. `kept` remembers answers: many sources include one header."""
        truths = tuple(holds(condition, assignment) for _, condition in self.tests)
        key = (self.path, truths, tuple(alias for _, alias in self.targets))
        if key not in kept:
            kept[key] = self._rewrite(truths)
        return kept[key]

    def _rewrite(self, truths: tuple[bool, ...]) -> bytes:
        edits: list[tuple[Directive, bytes]] = []
        for (directive, _), truth in zip(self.tests, truths, strict=True):
            word = b"#elif " if directive.word.startswith("el") else b"#if "
            edits.append((directive, word + (b"1" if truth else b"0")))
        for directive, alias in self.targets:
            edits.append((directive, b"" if alias is None else b"#include<" + alias.encode() + b">"))
        parts: list[bytes] = []
        position = 0
        for directive, text in sorted(edits, key=lambda edit: edit[0].start):
            room = directive.end - directive.start
            # `#if` alone has no room for its test: it goes, and both of its arms are live.
            parts += (self.data[position : directive.start], (text if len(text) <= room else b"").ljust(room))
            position = directive.end
        parts.append(self.data[position:])
        return b"".join(parts)
