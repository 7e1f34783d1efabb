"""Which operators torch can run with fake tensors although nobody registered a fake (torch 2.13)."""

from __future__ import annotations

from collections.abc import Collection

from op_lint.schema.model import Kind, Schema, Type

_TRIVIAL_TAGS = frozenset({"inplace", "out"})
"""Tags of operators of which torch knows what they return: arguments."""


def needs_fake(schema: Schema, tags: Collection[str] = ()) -> bool:
    """Whether torch.compile and torch.export need a fake of an operator that has no composite kernel.

    One that neither takes nor returns tensors is asked for its fake, too, but no graph of tensors has it.
    """
    has_tensors = any(has_tensor(each.type) for each in (*schema.arguments, *schema.returns))
    return has_tensors and not has_known_result(schema, tags)


def has_known_result(schema: Schema, tags: Collection[str] = ()) -> bool:
    """Whether torch knows what an operator returns: nothing, where it writes to arguments, or some of these."""
    if not schema.returns and any(argument.is_written for argument in schema.arguments):
        return True
    return any(tag.rpartition(".")[2].rpartition("::")[2] in _TRIVIAL_TAGS for tag in tags)


def has_tensor(type_: Type) -> bool:
    """Whether a tensor may be in a value of a type."""
    return type_.kind is Kind.TENSOR or any(map(has_tensor, type_.elements))
