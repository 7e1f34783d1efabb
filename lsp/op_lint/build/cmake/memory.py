"""The scopes of CMake: a variable is a list, and in a macro the arguments stand before all variables."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from op_lint.build.guarded import Items, merged
from op_lint.build.guards import Guard
from op_lint.build.memory import Changes, Memory, Scope

_WEIGHED = 64
"""Items at the end of a merged list that are taken for those whose conditions had to be joined."""


class Frame(Scope[Items]):
    """The scope of a folder or of a function call.

    `macros` are the arguments of the macros that are being expanded in it, the innermost last.
    """

    def __init__(self, parent: Frame | None = None) -> None:
        super().__init__(parent)
        self.outer = parent
        self.macros: list[dict[str, Items]] = []

    def lookup(self, name: str) -> Items | None:
        """The value that `${name}` has here; None where it has none."""
        if self.macros and name in self.macros[-1]:
            return self.macros[-1][name]
        return self.value(name)


ItemChanges = Changes[Items]


def item_memory(unset: Callable[[str], Items], spend: Callable[[int], None]) -> Memory[Items]:
    """A memory for lists of items. `unset` is what a name that nothing has set stands for.

    `spend` is told what a merge costs, as `Budget.spend` counts it.
    """

    def merge(name: str, values: Sequence[tuple[Guard, Items | None]]) -> Items | None:
        if all(value is None for _, value in values):
            return None
        result = merged([(condition, unset(name) if value is None else value) for condition, value in values])
        weights = sum(item.condition.weight for item in result[-_WEIGHED:])
        spend(4 + sum(len(value or ()) for _, value in values) // 64 + weights // 16)
        return result

    return Memory(merge)
