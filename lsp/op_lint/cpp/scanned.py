"""A file of the project with what is asked of its text again and again, worked out once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property

from op_lint.cpp.blanked import Blanked
from op_lint.cpp.expansion import Macro, macros_of
from op_lint.cpp.hazards import why_too_deep
from op_lint.cpp.scan import Directive, blank_comments_and_literals, directives

_NAME = re.compile(rb"[A-Za-z_]\w*")


class ScannedFile:
    """The content of a file, taken apart as far as text goes."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    @cached_property
    def bare(self) -> bytes:
        """The text with its comments and the contents of its literals blank."""
        return blank_comments_and_literals(self.data)

    @cached_property
    def directives(self) -> list[Directive]:
        """The preprocessor directives."""
        return directives(self.data, self.bare)

    @cached_property
    def blanked(self) -> Blanked:
        """What is left without comments, literals and directives."""
        return Blanked(self.bare, self.directives)

    @cached_property
    def macros(self) -> Mapping[bytes, Macro]:
        """The macros that the file defines."""
        return macros_of(self.directives)

    @cached_property
    def definitions(self) -> Mapping[bytes, Sequence[Directive]]:
        """The `#define`s of each macro, in order."""
        found: dict[bytes, list[Directive]] = {}
        for directive in self.directives:
            name = _NAME.match(directive.argument) if directive.word == "define" else None
            if name is not None:
                found.setdefault(name.group(), []).append(directive)
        return found

    @cached_property
    def problem(self) -> str | None:
        """What in the file libclang would not survive."""
        return why_too_deep(self.data, self.blanked.code, self.directives)
