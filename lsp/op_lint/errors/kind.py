"""A kind of error: the texts that torch has for it, what it means, and which rules speak of its causes."""

from __future__ import annotations

from enum import Enum

import msgspec

from op_lint.message import Message


class Stage(str, Enum):
    """When torch says it."""

    COMPILE = "compile"
    LOAD = "load"
    CALL = "call"
    CHECK = "check"


class Kind(msgspec.Struct, frozen=True):
    """One kind. `name` is a stable word, `meaning` and `change` are for people; both may name the fields of the texts.

    `codes` are the rules that find causes of it, the likeliest first. `warning` says that torch only warns.
    """

    name: str
    stage: Stage
    messages: tuple[Message, ...]
    meaning: str
    change: tuple[str, ...]
    codes: tuple[str, ...] = ()
    warning: bool = False
