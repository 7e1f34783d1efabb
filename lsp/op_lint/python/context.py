"""The circumstances of code, and what is known of functions."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Protocol

import msgspec

from op_lint.condition import ALWAYS, NEVER, Condition
from op_lint.facts import (
    Place,
    RunTime,
)
from op_lint.python.values import (
    NONE,
    Function,
    Value,
)


class Context(msgspec.Struct, frozen=True):
    """Under which circumstances the code that is being read runs.

    `loops` are the enclosing loops of the same function, each with its number of iterations. `silenced` as in
    `LibraryLoad`.
    """

    condition: Condition = ALWAYS
    caught: tuple[str, ...] = ()
    swallowed: bool = False
    silenced: tuple[Place, ...] = ()
    run: RunTime = RunTime.IMPORT
    loops: tuple[tuple[Place, int | None], ...] = ()


class Linker(Protocol):
    """What is known of other files."""

    def lookup(self, value: Value, importer: str) -> Value:
        """What an imported value or a deferred result is; the value itself where that is not known."""
        ...


class Interest(Protocol):
    """Where in a file something stands that may be a registration, a use or a load."""

    def within(self, node: ast.stmt | ast.expr) -> bool:
        """Whether something does in a node."""
        ...

    def follow(self, names: Iterable[str]) -> None:
        """These names of the module are of interest, too."""
        ...


class Outcome(msgspec.Struct, frozen=True):
    """What follows a statement: the next one of its block is reached if `goes`, and not at all if it `ends` the block.

    `alive` is the condition under which the function is not left by a `return`.
    """

    ends: bool = False
    goes: Condition = ALWAYS
    alive: Condition = ALWAYS


ON = Outcome()
RETURN = Outcome(True, NEVER, NEVER)
RAISE = Outcome(True)
JUMP = Outcome(True, NEVER)


class Frame(msgspec.Struct, eq=False):
    """A function that is being read; `alone` where its parameters are unknown."""

    function: Function
    alone: bool
    returned: list[tuple[Condition, Value]] = []


class Knowledge(msgspec.Struct, eq=False):
    """What is known of a function: whether it `depends` on its parameters for what it registers, what it returns."""

    function: Function
    read: bool = False
    depends: bool = False
    returned: Value = NONE
