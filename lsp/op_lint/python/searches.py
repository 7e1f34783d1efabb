"""Values that are one of the files which a search has found: `glob.glob("_C*.so")[0]`."""

from __future__ import annotations

import ast
from typing import NamedTuple

from op_lint.python.source import SourceFile
from op_lint.python.values import Scope, Unknown

_DEEP = 6
"""How many variables are followed, one into the other."""

_SEARCHES = frozenset({"glob", "iglob", "rglob"})
_AS_THEY_COME = frozenset({"list", "tuple", "iter", "str", "fspath", "abspath", "realpath", "resolve", "as_posix"})
"""Calls that keep the order of what they are given, and spellings of one path: as functions or as methods."""


class Search(NamedTuple):
    """The call that searches, and the file and the scope in which it stands."""

    call: ast.Call
    source: SourceFile
    scope: Scope | None


def picked_search(value: Unknown) -> Search | None:
    """The search with a wildcard of whose results a value is the one at a fixed place, in the order that they come in.

    None where an order is made (`sorted`, `max`): that is somebody's choice.
    """
    return _Picked(value).search(value)


class _Picked:
    """Follows a value through variables to the search. `picked` turns true where one of the results is taken."""

    def __init__(self, value: Unknown) -> None:
        self.source, self.scope = value.source, value.scope
        self.picked = False
        self.followed = 0

    def search(self, value: Unknown) -> Search | None:
        """The search that a value comes from, once one result is picked."""
        if value.node is None or value.source is None or self.followed > _DEEP:
            return None
        self.source, self.scope = value.source, value.scope
        return self._in(value.node)

    def _in(self, node: ast.expr) -> Search | None:
        if isinstance(node, ast.Name):
            return self._followed(node, self.scope)
        if isinstance(node, ast.Subscript):
            self.picked = self.picked or isinstance(node.slice, ast.Constant) or _is_negative(node.slice)
            return self._in(node.value)
        return self._in_call(node) if isinstance(node, ast.Call) else None

    def _in_call(self, node: ast.Call) -> Search | None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in _SEARCHES:
            is_one = self.picked and _has_wildcard(node)
            return Search(node, self.source, self.scope) if is_one and self.source is not None else None
        if name == "next":
            self.picked = True
        elif name not in _AS_THEY_COME:
            return None
        if node.args:
            return self._in(node.args[0])
        return self._in(node.func.value) if isinstance(node.func, ast.Attribute) else None

    def _followed(self, name: ast.Name, scope: Scope | None) -> Search | None:
        self.followed += 1
        value = scope.lookup(name.id) if scope is not None else None
        return self.search(value) if isinstance(value, Unknown) and value.node is not name else None


def _is_negative(node: ast.expr) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant)


def _has_wildcard(call: ast.Call) -> bool:
    """Whether the pattern is known to match several names."""
    texts = (leaf.value for leaf in ast.walk(call) if isinstance(leaf, ast.Constant))
    return any(isinstance(text, str) and "*" in text for text in texts)
