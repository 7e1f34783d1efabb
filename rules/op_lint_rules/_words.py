"""What several rules know and say."""

from __future__ import annotations

import re
from typing import NamedTuple

from op_lint.condition import ALWAYS, Condition
from op_lint.dispatch.convert import CUSTOM_OPS
from op_lint.dispatch.keys import DispatchKeys
from op_lint.facts import Definition, Fallback, Implementation, Place
from op_lint.findings import Related

MADE_ANEW = CUSTOM_OPS
"""Units that remove their own earlier operator before they define it (`CustomOpDef`, torch/_library/custom_ops.py)."""


def where(place: Place, seen_from: Place) -> str:
    """`line 6`, or `csrc/ops.cpp:6` for a place in another file."""
    return f"line {place.line}" if place.path == seen_from.path else f"{place.path}:{place.line}"


def when(condition: Condition) -> str:
    """` when USE_ROCM`, or nothing for what always is."""
    return "" if condition == ALWAYS else f" when `{condition}`"


def apart(later: Definition | Implementation | Fallback, earlier: Definition | Implementation | Fallback) -> Twice:
    """Where two registrations differ: where they are written, or else in the calls that lead to one piece of code."""
    mine, other = _written(later), _written(earlier)
    if mine != other:
        return Twice(mine, other)
    for call, before in zip(later.calls, earlier.calls, strict=False):
        if call != before:
            return Twice(call, before, code=mine)
    return Twice(mine, earlier.spelled or other)


class Twice(NamedTuple):
    """Two registrations of one thing: where the later and the earlier one are.

    `code` is set where both are one piece of code, in a function that is called twice: then these are the calls.
    """

    place: Place
    other: Place
    code: Place | None = None

    @property
    def already(self) -> str:
        """`at line 3`, or `through the call at line 3`."""
        return f"{'through the call ' if self.code else ''}at {where(self.other, self.place)}"

    def related(self, message: str, code: str) -> tuple[Related, ...]:
        """The earlier one, of which `message` speaks, and the piece of code, of which `code` does."""
        first = Related(self.other, message)
        return (first,) if self.code is None else (first, Related(self.code, code))


def _written(fact: Definition | Implementation | Fallback) -> Place:
    return fact.place if isinstance(fact, Fallback) else fact.name_place


_WITH_AN = ("AD", "Autocast", "Autograd", "FPGA", "HPU", "IPU", "MPS", "MTIA", "XLA", "XPU")


def an(key: str) -> str:
    """A dispatch key with its article, as it is read aloud: `a CPU`, `an AutogradCPU`, `an XPU`."""
    return f"{'an' if key.startswith(_WITH_AN) else 'a'} {key}"


_MACRO = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
"""What is written where a key should be, and is more likely a macro of the build than a misspelt key."""


def is_unknown_key(keys: DispatchKeys | None, key: str) -> bool:
    """Whether the torch at hand has no dispatch key of this name; False where no torch is at hand."""
    return keys is not None and keys.canonical(key) is None and not _MACRO.fullmatch(key)


_SHORTEST = 4
"""Letters. Shorter words that differ in one or two letters are as likely two words."""


def is_misspelt(written: str, right: str, most_slips: int = 2) -> bool:
    """Whether one word of a name is spelt wrong, and is not another word (`fwd`, `bwd`) or number (`int4`, `int8`).

    `most_slips` are letters that are wrong, missing, too much or swapped.
    """
    ours, theirs = (re.split("[_.]", name) for name in (written, right))
    wrong = [word for word in ours if word not in theirs]
    missed = [word for word in theirs if word not in ours]
    if len(wrong) != 1 or len(missed) != 1:
        return False
    (one,), (other,) = wrong, missed
    if max(len(one), len(other)) < _SHORTEST or re.findall(r"\d", one) != re.findall(r"\d", other):
        return False
    from rapidfuzz.distance import OSA  # only a mistake pays for the import

    return OSA.distance(one, other) <= most_slips
