"""Which functions of a script can be left out where they are called for nothing but their effects.

A script often writes files (generates kernels, prints, checks) in loops that are long and say nothing about what is
built. Such a function changes no list, no name and no object outside itself, and makes no extension.
"""

from __future__ import annotations

import ast

_MAKES = ("Extension", "setup", "load", "load_inline", "load_extension")
"""What the name of a call ends with that may make an extension."""

_COPIES = frozenset({"copy", "copy2", "copyfile", "link", "move", "rename", "symlink"})
"""Functions that make a file from another, which may then be compiled."""

_CHANGES = frozenset({
    "add", "append", "clear", "discard", "extend", "insert", "pop", "popitem", "remove", "reverse", "setdefault",
    "sort", "update", "__setitem__",
})  # fmt: skip
"""Methods that change the object that they are called on."""

_BUILTINS = frozenset({
    "abs", "all", "any", "bool", "dict", "enumerate", "float", "format", "int", "isinstance", "len", "list", "max",
    "min", "open", "print", "range", "repr", "reversed", "set", "sorted", "str", "sum", "tuple", "zip",
})  # fmt: skip
"""Functions of Python's own that change nothing that they are given."""

_SCOPES = (ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom, ast.Yield, ast.YieldFrom, ast.Await, ast.ClassDef)


def is_idle(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether calling a function can change nothing but files.

    It must be given texts and numbers only: of anything else it may change what is inside.
    """
    own = _assigned(node)
    return all(_is_harmless(each, own) for statement in node.body for each in ast.walk(statement))


def _assigned(node: ast.AST) -> frozenset[str]:
    """The names that a function binds: what they stand for it has made itself."""
    names = (each for each in ast.walk(node) if isinstance(each, ast.Name))
    return frozenset(name.id for name in names if isinstance(name.ctx, ast.Store))


def _is_harmless(node: ast.AST, own: frozenset[str]) -> bool:
    if isinstance(node, _SCOPES) or (isinstance(node, ast.Return) and node.value is not None):
        return False
    if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
        return _root(node) in own
    if not isinstance(node, ast.Call):
        return True
    called = node.func
    if isinstance(called, ast.Name):
        return called.id in _BUILTINS or called.id.endswith(("Error", "Exception", "Warning"))
    if isinstance(called, ast.Attribute):
        if called.attr in _CHANGES:
            return _root(called) in own
        return not called.attr.endswith(_MAKES) and called.attr not in _COPIES | {"exit"}
    return False


def _root(node: ast.expr) -> str | None:
    """The name that a chain of attributes and subscripts starts with."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None
