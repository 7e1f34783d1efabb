"""Equal parts of facts made one object: facts that were decoded have a string of their own for every mention of it.

A project of thousands of files has each path some hundred times and `const at::Tensor&` once for each parameter, which
is more than half of the memory of its facts.
"""

from __future__ import annotations

from functools import cache
from typing import get_args, get_origin, get_type_hints

import msgspec
from msgspec.structs import force_setattr

from op_lint.condition import ALWAYS, All, Any, Atom, Not
from op_lint.facts import CppType, FileFacts, Place

_WHOLE = frozenset({CppType, All, Any, Atom, Not})
"""Values of which a whole project has only some hundred."""


class Sharer:
    """Makes equal strings of a file one, and equal types and conditions of all files that it is given."""

    def __init__(self) -> None:
        self._whole: dict[msgspec.Struct, msgspec.Struct] = {ALWAYS: ALWAYS}  # which is asked for by identity first

    def share(self, facts: FileFacts) -> FileFacts:
        """The same facts. Only for those that nobody else has yet: it works on these very objects."""
        _File(self._whole).visit(facts)
        return facts


class _File:
    def __init__(self, whole: dict[msgspec.Struct, msgspec.Struct]) -> None:
        self._whole = whole
        self._strings: dict[str, str] = {}

    def visit(self, value: msgspec.Struct) -> None:
        """Let `value` and all below it have the strings, types and conditions that were there first."""
        for name in _fields(type(value)):
            part = getattr(value, name)
            kind = type(part)
            if kind is Place:  # two of three
                self._share_path(part)
            elif kind is str:
                one = self._strings.setdefault(part, part)
                if one is not part:
                    force_setattr(value, name, one)
            elif kind in _WHOLE:
                same = self._whole.setdefault(part, part)
                if same is not part:
                    force_setattr(value, name, same)
            elif kind is tuple:
                for each in part:
                    if type(each) is Place:
                        self._share_path(each)
                    elif isinstance(each, msgspec.Struct) and type(each) not in _WHOLE:
                        self.visit(each)
            elif isinstance(part, msgspec.Struct):
                self.visit(part)

    def _share_path(self, place: Place) -> None:
        path = place.path
        one = self._strings.setdefault(path, path)
        if one is not path:
            force_setattr(place, "path", one)


@cache
def _fields(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    """The fields that may hold a string or more values: of numbers and the like there is nothing to share."""
    hints = get_type_hints(kind)
    return tuple(name for name in kind.__struct_fields__ if _may_hold_more(hints[name]))


def _may_hold_more(hint: object) -> bool:
    if isinstance(hint, type) and get_origin(hint) is None:
        return hint is str or issubclass(hint, msgspec.Struct)
    return any(map(_may_hold_more, get_args(hint)))
