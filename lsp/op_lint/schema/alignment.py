"""Which parameter of a kernel belongs to which argument of a schema, where their numbers differ."""

from __future__ import annotations

from op_lint.schema.infer import Inference, Inferred
from op_lint.schema.model import Argument, fake_type

_ALONE = 3
"""The cost of leaving a parameter or an argument without a partner; a pair of strangers costs more than both."""


def align(arguments: tuple[Argument, ...], inference: Inference) -> list[tuple[int, int]]:
    """The pairs (argument, parameter), 0-based and in order, that fit best by type and by name."""
    rows, columns = len(arguments), len(inference.arguments)
    costs = [[_ALONE * (row + column) for column in range(columns + 1)] for row in range(rows + 1)]
    for row in range(1, rows + 1):
        for column in range(1, columns + 1):
            costs[row][column] = min(
                costs[row - 1][column - 1] + _distance(arguments, inference, row - 1, column - 1),
                costs[row - 1][column] + _ALONE,
                costs[row][column - 1] + _ALONE,
            )
    return _pairs(arguments, inference, costs)


def _pairs(arguments: tuple[Argument, ...], inference: Inference, costs: list[list[int]]) -> list[tuple[int, int]]:
    pairs = []
    row, column = len(costs) - 1, len(costs[0]) - 1
    while row and column:
        distance = _distance(arguments, inference, row - 1, column - 1)
        if costs[row][column] == costs[row - 1][column - 1] + distance:
            row, column = row - 1, column - 1
            pairs.append((row, column))
        elif costs[row][column] == costs[row - 1][column] + _ALONE:
            row -= 1
        else:
            column -= 1
    return pairs[::-1]


def _distance(arguments: tuple[Argument, ...], inference: Inference, row: int, column: int) -> int:
    argument, parameter = arguments[row], inference.parameters[column]
    same_name = bool(parameter.name) and parameter.name.rstrip("_") == argument.name.rstrip("_")
    if _same_type(argument, inference.arguments[column]):
        return 0 if same_name else 1
    return 2 if same_name else 2 * _ALONE + 1


def _same_type(argument: Argument, item: Inferred) -> bool:
    return item.type is None or fake_type(argument.type) == fake_type(item.type)
