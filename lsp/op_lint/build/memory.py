"""Variables of scopes, and what becomes of them when the arms of an undecided `if` have all been followed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar, cast

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


Changes = dict[int, tuple[Scope[Value], dict[str, "Value | None"]]]
"""The values of names that were written, by the identity of the scope."""

Merge = Callable[[str, Sequence[tuple[Guard, "Value | None"]]], "Value | None"]
"""What a name stands for after a branch, from its value in each arm (None: not set) and the arm's condition."""

_ABSENT = object()


class Memory(Generic[Value]):
    """Writes to scopes, kept so that the arms of a branch can be followed one after the other from the same state."""

    def __init__(self, merge: Merge[Value]) -> None:
        self._merge = merge
        self._logs: list[dict[int, tuple[Scope[Value], dict[str, object]]]] = []
        """For each arm that is being followed, what the names that it has written stood for before it."""

    def write(self, scope: Scope[Value], name: str, value: Value | None) -> None:
        """Set a name of a scope."""
        if self._logs:
            log = self._logs[-1]
            known = log.get(id(scope))
            if known is None:
                known = log[id(scope)] = (scope, {})
            known[1].setdefault(name, scope.names.get(name, _ABSENT))
        scope.names[name] = value

    def begin(self) -> None:
        """Start to follow an arm."""
        self._logs.append({})

    def undo(self) -> Changes[Value]:
        """End an arm: everything is as it was at `begin`. Returns what the arm had changed, with its last values."""
        after: Changes[Value] = {}
        for identity, (scope, before) in self._logs.pop().items():
            names = scope.names
            after[identity] = (scope, {name: names[name] for name in before})
            for name, old in before.items():
                if old is _ABSENT:
                    del names[name]
                else:
                    names[name] = cast("Value | None", old)
        return after

    def leave(self, scope: Scope[Value]) -> None:
        """Forget what was written to a scope that the present arm has made and nobody uses after it."""
        if self._logs:
            self._logs[-1].pop(id(scope), None)

    def merge(self, arms: Sequence[tuple[Guard, Changes[Value]]]) -> None:
        """Take over what the arms have changed, each value under its arm's condition."""
        scopes = {identity: scope for _, changes in arms for identity, (scope, _) in changes.items()}
        for identity, scope in scopes.items():
            found = [(condition, changes[identity][1] if identity in changes else {}) for condition, changes in arms]
            for name in dict.fromkeys(name for _, written in found for name in written):
                current = scope.value(name)
                values = [(condition, written.get(name, current)) for condition, written in found]
                self.write(scope, name, self._merge(name, values))
