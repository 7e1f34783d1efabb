"""Out variants: the overloads that write their result into an argument given by the caller."""

from __future__ import annotations

from op_lint.schema.model import Argument, Schema


def is_out_overload(overload: str) -> bool:
    """Whether an overload is called as an out variant is (`out`, `dim_out`)."""
    return overload == "out" or overload.endswith("_out")


def misplaced_out(schema: Schema) -> tuple[Argument, str] | None:
    """The first argument of an out variant that PyTorch's tools do not see as its out argument, and the cure."""
    written = [argument for argument in schema.arguments if argument.is_written]
    outs = [argument for argument in written if argument.keyword_only]
    if written and not outs:
        return written[-1], "make it keyword-only, with a `*` as an argument of its own before it (`*, Tensor(a!) out`)"
    written = outs
    tail = schema.arguments[len(schema.arguments) - len(written) :]
    early = next((argument for argument in written if argument not in tail), None)
    if early is not None:
        return early, "move it behind all other arguments"
    unreturned = next((argument for argument in written if not _is_returned(argument, schema)), None)
    if unreturned is not None and schema.returns:
        return unreturned, "return it, with the same alias annotation"
    return None


def _is_returned(argument: Argument, schema: Schema) -> bool:
    labels = set(argument.alias.before) if argument.alias else set()
    return any(returned.alias is not None and labels & set(returned.alias.before) for returned in schema.returns)
