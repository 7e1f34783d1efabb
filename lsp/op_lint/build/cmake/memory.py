"""Variables of scopes, and what becomes of them when the arms of an undecided `if` have all been followed."""

from __future__ import annotations

from collections.abc import Sequence

from op_lint.build.guarded import Item, Items, merged
from op_lint.build.guards import Guard


class Frame:
    """The scope of a folder or of a function call, in which None hides a variable of the scopes around it.

    `macros` are the arguments of the macros that are being expanded in it, the innermost last.
    """

    def __init__(self, parent: Frame | None = None) -> None:
        self.parent = parent
        self.variables: dict[str, Items | None] = {}
        self.macros: list[dict[str, Items]] = []

    def lookup(self, name: str) -> Items | None:
        """The value that `${name}` has here; None where it has none."""
        if self.macros and name in self.macros[-1]:
            return self.macros[-1][name]
        return self.value(name)

    def value(self, name: str) -> Items | None:
        """The value of a variable; None where it is not set."""
        frame: Frame | None = self
        while frame is not None:
            if name in frame.variables:
                return frame.variables[name]
            frame = frame.parent
        return None


Changes = dict[tuple[int, str], tuple[Frame, Items | None]]
"""The values of variables that were written, by scope and name."""

_ABSENT: Items = (Item("absent"),)
"""Not in the scope at all; told from values by identity."""


class Memory:
    """Writes to scopes, kept so that the arms of a branch can be followed one after the other from the same state."""

    def __init__(self) -> None:
        self._logs: list[Changes] = []

    def write(self, frame: Frame, name: str, value: Items | None) -> None:
        """Set a variable of a scope."""
        if self._logs:
            self._logs[-1].setdefault((id(frame), name), (frame, frame.variables.get(name, _ABSENT)))
        frame.variables[name] = value

    def begin(self) -> None:
        """Start to follow an arm."""
        self._logs.append({})

    def undo(self) -> Changes:
        """End an arm: everything is as it was at `begin`. Returns what the arm had changed, with its last values."""
        after: Changes = {}
        for (identity, name), (frame, old) in self._logs.pop().items():
            after[identity, name] = (frame, frame.variables[name])
            if old is _ABSENT:
                del frame.variables[name]
            else:
                frame.variables[name] = old
        return after

    def merge(self, arms: Sequence[tuple[Guard, Changes]]) -> None:
        """Take over what the arms have changed, each value under its arm's condition."""
        written = {key: frame for _, changes in arms for key, (frame, _) in changes.items()}
        for (identity, name), frame in written.items():
            current = (frame, frame.value(name))
            values = [(condition, changes.get((identity, name), current)[1]) for condition, changes in arms]
            if all(value is None for _, value in values):
                self.write(frame, name, None)
            else:
                self.write(frame, name, merged([(condition, value or ()) for condition, value in values]))
