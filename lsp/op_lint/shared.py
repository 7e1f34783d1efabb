"""Equal parts of facts made one object: facts that were decoded have a string of their own for every mention of it.

A project of thousands of files has each path some hundred times and `const at::Tensor&` once for each parameter, which
is more than half of the memory of its facts.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import force_setattr

from op_lint.condition import All, Any, Atom, Not
from op_lint.facts import CppType, FileFacts

_WHOLE = frozenset({CppType, All, Any, Atom, Not})
"""Values of which a whole project has only some hundred."""


class Sharer:
    """Makes equal strings of a file one, and equal types and conditions of all files that it is given."""

    def __init__(self) -> None:
        self._whole: dict[msgspec.Struct, msgspec.Struct] = {}

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
        for name in value.__struct_fields__:
            part = getattr(value, name)
            kind = type(part)
            if kind is str:
                one: object = self._strings.setdefault(part, part)
            elif kind in _WHOLE:
                one = self._whole.setdefault(part, part)
            elif kind is tuple:
                for each in part:
                    if isinstance(each, msgspec.Struct) and type(each) not in _WHOLE:
                        self.visit(each)
                continue
            elif isinstance(part, msgspec.Struct):
                self.visit(part)
                continue
            else:
                continue
            if one is not part:
                force_setattr(value, name, one)
