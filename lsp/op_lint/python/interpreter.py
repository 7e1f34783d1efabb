"""The abstract interpreter: a module's statements in order, and its functions as far as their calls are known.

Nothing of the project is run. Both arms of a test that cannot be decided are read, each under its condition. A
function is read once by itself, with parameters that are unknown; where what it registers depends on them, it is read
again for every call that gives them (`direct_register_custom_op("name", f)` and its kin).
"""

from __future__ import annotations

import ast
from bisect import bisect_left

from op_lint.facts import (
    Place,
)
from op_lint.python.signatures import describe
from op_lint.python.statements import Statements


class Interpreter(Statements):
    """Reads a module."""

    def module(self, tree: ast.Module) -> None:
        """Read a module, then its functions."""
        self.block(tree.body)
        self._read_waiting()

    def finish(self) -> None:
        """Close the facts, and describe the functions in which something of them stands.

        Functions that only call operators are many; they are described where importing the module calls them.
        """
        self.recorder.flush()
        registered, used = self.recorder.starts(), self.recorder.use_starts()
        reached = self.recorder.reached()
        for place, known in self.knowledge.items():
            if _holds(registered, place) or (place in reached and _holds(used, place)):
                described = describe(known.function)
                if described is not None:
                    self.recorder.functions.setdefault(place, described)

    def forget(self) -> None:
        """Let go of what was read, so that the syntax tree goes with the last that refers to it.

        Names refer to functions, and those to the scope of the names: left to itself this waits for the garbage
        collector, which then goes through each node of the tree.
        """
        for known in self.knowledge.values():
            known.function.scope.names.clear()
            if known.function.owner is not None:
                known.function.owner.instance = None


def _holds(starts: list[int], place: Place) -> bool:
    """Whether one of some offsets, which are in order, is in a place."""
    index = bisect_left(starts, place.start)
    return index < len(starts) and starts[index] < place.end
