"""What several rules know and say."""

from __future__ import annotations

from op_lint.condition import ALWAYS, Condition
from op_lint.facts import Place

MADE_ANEW = frozenset({"torch.library.custom_op", "torch.library.triton_op"})
"""Units that remove their own earlier operator before they define it (`CustomOpDef`, torch/_library/custom_ops.py)."""


def where(place: Place, seen_from: Place) -> str:
    """`line 6`, or `csrc/ops.cpp:6` for a place in another file."""
    return f"line {place.line}" if place.path == seen_from.path else f"{place.path}:{place.line}"


def when(condition: Condition) -> str:
    """` when USE_ROCM`, or nothing for what always is."""
    return "" if condition == ALWAYS else f" when `{condition}`"
