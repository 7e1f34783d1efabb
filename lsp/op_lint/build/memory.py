"""Variables of scopes, and what becomes of them when the arms of an undecided `if` have all been followed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from op_lint.build.guards import Guard

Value = TypeVar("Value")


class Scope(Generic[Value]):
    """The names of a folder, a module or a function call. None hides a name of the scopes around."""

    def __init__(self, parent: Scope[Value] | None = None) -> None:
        self.parent = parent
        self.names: dict[str, Value | None] = {}

    def value(self, name: str) -> Value | None:
        """What a name stands for here; None where nothing has set it."""
        scope: Scope[Value] | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.parent
        return None

    def is_set(self, name: str) -> bool:
        """Whether this scope or one around it has set or hidden a name."""
        scope: Scope[Value] | None = self
        while scope is not None:
            if name in scope.names:
                return True
            scope = scope.parent
        return False


Changes = dict[tuple[int, str], tuple[Scope[Value], "Value | None"]]
"""The values of names that were written, by scope and name."""

Merge = Callable[[Sequence[tuple[Guard, "Value | None"]]], "Value | None"]
"""What a name stands for after a branch, from its value in each arm (None: not set) and the arm's condition."""


class Memory(Generic[Value]):
    """Writes to scopes, kept so that the arms of a branch can be followed one after the other from the same state."""

    def __init__(self, merge: Merge[Value]) -> None:
        self._merge = merge
        self._logs: list[dict[tuple[int, str], tuple[Scope[Value], Value | None, bool]]] = []

    def write(self, scope: Scope[Value], name: str, value: Value | None) -> None:
        """Set a name of a scope."""
        if self._logs:
            self._logs[-1].setdefault((id(scope), name), (scope, scope.names.get(name), name in scope.names))
        scope.names[name] = value

    def begin(self) -> None:
        """Start to follow an arm."""
        self._logs.append({})

    def undo(self) -> Changes[Value]:
        """End an arm: everything is as it was at `begin`. Returns what the arm had changed, with its last values."""
        after: Changes[Value] = {}
        for (identity, name), (scope, old, was_there) in self._logs.pop().items():
            after[identity, name] = (scope, scope.names[name])
            if was_there:
                scope.names[name] = old
            else:
                del scope.names[name]
        return after

    def merge(self, arms: Sequence[tuple[Guard, Changes[Value]]]) -> None:
        """Take over what the arms have changed, each value under its arm's condition."""
        written = {key: scope for _, changes in arms for key, (scope, _) in changes.items()}
        for (identity, name), scope in written.items():
            current = (scope, scope.value(name))
            values = [(condition, changes.get((identity, name), current)[1]) for condition, changes in arms]
            self.write(scope, name, self._merge(values))
