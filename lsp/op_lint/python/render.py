"""Expressions in canonical form: the same text for the same meaning, whatever a file calls its imports."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import MappingProxyType

from op_lint.python.values import Constant, Function, Imported, Operator, Scope, String, Unknown

_DEEP = 6
"""How many variables are followed, one into the other."""


def render(node: ast.expr, scope: Scope | None, texts: Mapping[ast.expr, str] = MappingProxyType({})) -> str:
    """The text of an expression, with imported names written out and known values put in.

    `texts` are the strings that some of the expressions in it are known to be.
    """
    canonical = node if scope is None else _Canonical(scope, frozenset(), texts).canonical(node)
    if isinstance(canonical, ast.Name):
        return canonical.id
    try:
        return ast.unparse(canonical)
    except ValueError:  # a known value that older Pythons cannot write inside an f-string
        return ast.unparse(node)


def render_value(value: Unknown) -> str:
    """The text of a value that is not known."""
    return value.words or (render(value.node, value.scope) if value.node is not None else "?")


class _Canonical:
    """Puts values in the place of names. Nodes in which something changes are copied: the tree that is read stays."""

    def __init__(self, scope: Scope, followed: frozenset[int], texts: Mapping[ast.expr, str]) -> None:
        self.scope = scope
        self.followed = followed
        self.texts = texts

    def canonical(self, node: ast.expr) -> ast.expr:
        changed = self._changed(node)
        assert isinstance(changed, ast.expr)
        return changed

    def _changed(self, node: ast.AST) -> ast.AST:
        known = self.texts.get(node) if isinstance(node, ast.expr) else None
        if known is not None:
            return ast.Constant(known)
        if isinstance(node, ast.Name):
            return self._named(node)
        before = [getattr(node, name) for name in node._fields]
        after = [self._part(value) for value in before]
        same = all(old is new for old, new in zip(before, after, strict=True))
        return node if same else type(node)(*after)

    def _part(self, value: object) -> object:
        if isinstance(value, list):
            items = [self._part(item) for item in value]
            return value if all(old is new for old, new in zip(value, items, strict=True)) else items
        return self._changed(value) if isinstance(value, ast.AST) and value._fields else value

    def _named(self, node: ast.Name) -> ast.expr:
        value = self.scope.lookup(node.id)
        if isinstance(value, Imported):
            return ast.Name(value.dotted.removeprefix("builtins."))
        if isinstance(value, Operator):
            return ast.Name(".".join(("torch.ops", *value.parts)))
        if isinstance(value, String) and value.text is not None:
            return ast.Constant(value.text)
        if isinstance(value, Constant) and not isinstance(value.value, bool):  # a flag is told by its name
            return ast.Constant(value.value)
        if isinstance(value, Function) and not isinstance(value.node, ast.Lambda):
            return ast.Name(value.name)
        return self._followed(node, value) if isinstance(value, Unknown) else node

    def _followed(self, name: ast.Name, value: Unknown) -> ast.expr:
        node, scope = value.node, value.scope
        known = node is None or scope is None or id(node) in self.followed or len(self.followed) >= _DEEP
        if known or node is name or isinstance(node, ast.Name):
            return name
        assert node is not None
        assert scope is not None
        return _Canonical(scope, self.followed | {id(node)}, self.texts).canonical(node)
