"""The names that `impl` refuses: `parseName` in torch/csrc/jit/frontend/function_schema_parser.cpp."""

from __future__ import annotations

import re
from typing import NamedTuple

from op_lint.facts import Implementation, Unit, UnitKind
from op_lint.program import local_name

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_NAME = re.compile(r"\s*(?:[A-Za-z_]\w*::)?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?\s*", re.ASCII)
_TAKE_NAMES = frozenset({UnitKind.LIBRARY, UnitKind.FRAGMENT, UnitKind.IMPL, UnitKind.HELPER})
"""The units whose `impl` is given a name; the legacy API repeats the schema, Python may be given the operator."""


class NameFault(NamedTuple):
    """Why a name is refused, what to do about it, and torch's own words."""

    problem: str
    remedy: str
    torch_says: str


def name_fault(fact: Implementation, unit: Unit) -> NameFault | None:
    """What is wrong with the name that an `impl` of `unit` is given; None where it can be an operator's."""
    if not _IDENTIFIER.fullmatch(fact.operator.name):
        return NameFault(
            f"no operator can be called `{fact.operator.name}`",
            "write a name of letters, digits and `_` that does not begin with a digit",
            "expected ident but found ...",
        )
    if unit.kind in _TAKE_NAMES and not _NAME.fullmatch(fact.text.value):
        return NameFault(
            "`m.impl` takes the name of an operator and nothing else",
            f"write `{local_name(fact.operator)}`",
            "Tried to parse an operator name but function schema was given"
            if "(" in fact.text.value
            else "expected eof but found ...",
        )
    overload = fact.operator.overload
    if overload == "default" or overload.startswith("__"):
        return NameFault(
            f"no overload can be called `{overload}`",
            f"the overload without a name is just `{fact.operator.name}`",
            f"{overload} is not a legal overload name for aten operators",
        )
    return None
