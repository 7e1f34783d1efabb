"""Out variants: the overloads that write their result into an argument given by the caller."""

from __future__ import annotations

from collections.abc import Sequence

from op_lint.schema.model import Argument, Kind, Schema

_SCRATCH = "_scratch_"
"""How keyword-only arguments are called that are written to but no result (`FunctionSchema` in torchgen/model.py)."""


def is_out_overload(overload: str) -> bool:
    """Whether an overload is called as an out variant is (`out`, `dim_out`)."""
    return overload == "out" or overload.endswith("_out")


def misplaced_out(schema: Schema) -> tuple[Argument, str] | None:
    """The first argument of an out variant that PyTorch's tools do not see as its out argument, and the cure."""
    written = [argument for argument in schema.arguments if argument.is_written]
    outs = [argument for argument in written if argument.keyword_only]
    if written and not outs:
        return written[-1], "make it keyword-only, with a `*` as an argument of its own before it (`*, Tensor(a!) out`)"
    tail = schema.arguments[len(schema.arguments) - len(outs) :]
    early = next((argument for argument in outs if argument not in tail), None)
    if early is not None:
        return early, "move it behind all other arguments"
    return _misreturned(schema, outs) if schema.returns else None


def _misreturned(schema: Schema, outs: Sequence[Argument]) -> tuple[Argument, str] | None:
    """The first out argument whose return is not its own, of an operator that returns something."""
    several = next((argument for argument in outs if argument.type.kind is not Kind.TENSOR), None)
    if several is not None:
        return several, "let the operator return nothing (`-> ()`), since only a plain `Tensor` can be returned"
    results = [argument for argument in outs if not argument.name.startswith(_SCRATCH)]
    for index, argument in enumerate(results):
        at = next((at for at, returned in enumerate(schema.returns) if _is(returned, argument)), None)
        if at is None:
            return argument, "return it, with the same alias annotation"
        if at != index:
            return argument, "return the out arguments in the order in which they are declared"
    return None


def _is(returned: Argument, argument: Argument) -> bool:
    if returned.alias is None or argument.alias is None or not returned.is_written:
        return False
    return bool(set(argument.alias.before) & set(returned.alias.before))
