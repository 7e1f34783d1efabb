"""What a function returns, as far as it can be said without running it: an argument, a view, a fresh tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from op_lint.facts import PythonResult, ResultKind
from op_lint.python.signatures import slots
from op_lint.python.source import SourceFile
from op_lint.python.values import FunctionNode

_VIEWS = frozenset({
    "as_strided", "detach", "diagonal", "expand", "expand_as", "movedim", "narrow", "permute", "select", "squeeze",
    "swapaxes", "swapdims", "t", "transpose", "unflatten", "unsqueeze", "view", "view_as",
})  # fmt: skip
"""Methods of a dense tensor whose result is always a view of it."""

_VIEW_ATTRIBUTES = frozenset({"H", "T", "mH", "mT"})

_TRANSPOSING = frozenset({"movedim", "permute", "swapaxes", "swapdims", "t", "transpose"})

_FACTORIES = frozenset(
    {"empty", "full", "new_empty", "new_full", "new_ones", "new_zeros", "ones", "rand", "randn", "zeros"}
)
"""Functions of torch and methods of tensors that make a contiguous tensor, unless they are told another layout."""

_LAYOUT = frozenset({"layout", "memory_format", "stride", "strides"})

_DEEPEST = 20
"""Calls in a chain that are followed."""

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def results_of(node: FunctionNode, source: SourceFile) -> tuple[PythonResult, ...]:
    """What each `return` of a function gives, in source order; nothing of a generator."""
    if isinstance(node, ast.Lambda):
        return (_result(node.body, _Names(node, ()), source),)
    own = tuple(_own(node.body))
    if any(isinstance(each, ast.Yield | ast.YieldFrom) for each in own):
        return ()
    names = _Names(node, own)
    found = [
        _result(each.value, names, source) for each in own if isinstance(each, ast.Return) and each.value is not None
    ]
    return tuple(sorted(found, key=lambda result: result.place))


def _own(nodes: list[ast.stmt]) -> Iterator[ast.AST]:
    """The nodes of a body without those of functions and classes in it."""
    waiting: list[ast.AST] = list(nodes)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _SCOPES):
            waiting.extend(ast.iter_child_nodes(node))


class _Names:
    """What names stand for: parameters that keep their value, and variables that get one, once."""

    def __init__(self, node: FunctionNode, own: tuple[ast.AST, ...]) -> None:
        stored: dict[str, int] = {}
        for each in own:
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store | ast.Del):
                stored[each.id] = stored.get(each.id, 0) + 1
        parameters = [slot.arg.arg for slot in slots(node) if slot.kind not in ("args", "kwargs")]
        self.parameters = frozenset(name for name in parameters if name not in stored)
        self.values = {
            each.targets[0].id: each.value
            for each in own
            if isinstance(each, ast.Assign) and len(each.targets) == 1 and isinstance(each.targets[0], ast.Name)
            if stored.get(each.targets[0].id) == 1 and each.targets[0].id not in parameters
        }


def _result(node: ast.expr, names: _Names, source: SourceFile) -> PythonResult:
    place = source.place(node)
    count = len(node.elts) if isinstance(node, ast.Tuple | ast.List) and not _starred(node) else None
    kind, parameter = _kind(node, names, 0)
    elements: tuple[PythonResult, ...] = ()
    if count is not None and isinstance(node, ast.Tuple | ast.List):
        elements = tuple(_result(element, names, source) for element in node.elts)
    return PythonResult(place, kind, parameter, count, elements)


def _starred(node: ast.Tuple | ast.List) -> bool:
    return any(isinstance(element, ast.Starred) for element in node.elts)


def _kind(node: ast.expr, names: _Names, depth: int) -> tuple[ResultKind, str | None]:
    unknown = (ResultKind.OTHER, None)
    if depth > _DEEPEST:
        return unknown
    if isinstance(node, ast.Constant) and node.value is None:
        return ResultKind.NONE, None
    if isinstance(node, ast.Name):
        if node.id in names.parameters:
            return ResultKind.ARGUMENT, node.id
        value = names.values.get(node.id)
        return _kind(value, names, depth + 1) if value is not None else unknown
    if isinstance(node, ast.Attribute) and node.attr in _VIEW_ATTRIBUTES:
        return _viewed(node.value, names, depth, transposed=True)
    if isinstance(node, ast.Subscript) and _is_basic(node.slice):
        return _viewed(node.value, names, depth, transposed=False)
    if isinstance(node, ast.Call):
        return _called(node, names, depth)
    return unknown


def _called(node: ast.Call, names: _Names, depth: int) -> tuple[ResultKind, str | None]:
    if not isinstance(node.func, ast.Attribute):
        return ResultKind.OTHER, None
    name, owner = node.func.attr, node.func.value
    if isinstance(owner, ast.Name) and owner.id == "torch":
        plain = name in _FACTORIES and not any(keyword.arg in _LAYOUT for keyword in node.keywords)
        return (ResultKind.CONTIGUOUS if plain else ResultKind.OTHER), None
    if name in _FACTORIES and name.startswith("new_"):
        plain = not any(keyword.arg in _LAYOUT for keyword in node.keywords)
        return (ResultKind.CONTIGUOUS if plain else ResultKind.OTHER), None
    if name == "contiguous" and not node.args and not node.keywords:
        return ResultKind.CONTIGUOUS_OR_SAME, None
    if name in _VIEWS:
        return _viewed(owner, names, depth, transposed=name in _TRANSPOSING)
    if name.endswith("_") and not name.startswith("_") and not name.endswith("__"):
        return _kind(owner, names, depth + 1)
    return ResultKind.OTHER, None


def _viewed(owner: ast.expr, names: _Names, depth: int, *, transposed: bool) -> tuple[ResultKind, str | None]:
    """A view of something: of an argument, or of what was laid out contiguously before."""
    kind, parameter = _kind(owner, names, depth + 1)
    if kind in (ResultKind.ARGUMENT, ResultKind.VIEW):
        return ResultKind.VIEW, parameter
    made = kind in (ResultKind.CONTIGUOUS, ResultKind.CONTIGUOUS_OR_SAME)
    return (ResultKind.TRANSPOSED if made and transposed else ResultKind.OTHER), None


def _is_basic(index: ast.expr) -> bool:
    """Whether an index is one that gives a view: of numbers, slices, `None` and `...`."""
    if isinstance(index, ast.Tuple):
        return all(map(_is_basic, index.elts))
    if isinstance(index, ast.UnaryOp):
        return _is_basic(index.operand)
    if isinstance(index, ast.Constant):
        return index.value is None or index.value is Ellipsis or type(index.value) is int
    return isinstance(index, ast.Slice)
