"""What a rule says: findings, the other places involved, and fixes. Rendering is elsewhere."""

from __future__ import annotations

from enum import Enum

import msgspec

from op_lint.facts import Place


class Severity(str, Enum):
    """How sure the harm is: an error fails at compile, load or call time; a warning for some user; a hint informs."""

    ERROR = "error"
    WARNING = "warning"
    HINT = "hint"


class Related(msgspec.Struct, frozen=True):
    """Another place that a finding is about, and what is there.

    `marked` says that the fault is as much there as at the finding's own place: an editor marks that place, too.
    """

    place: Place
    message: str
    marked: bool = False


class Edit(msgspec.Struct, frozen=True):
    """Replace the bytes of `place` by `text`."""

    place: Place
    text: str


class Fix(msgspec.Struct, frozen=True):
    """A change that makes the finding go away; `safe` means that no working program changes its meaning."""

    title: str
    safe: bool
    edits: tuple[Edit, ...]


class Finding(msgspec.Struct, frozen=True):
    """One thing that is wrong, at one place.

    `message` is one lower-case line that says what is wrong and what to do. `notes` are further lines for a
    reader who has room: the error text at run time, the line to write instead. `alternatives` are other ways than `fix`
    to make the finding go away, of which a person may choose one.
    """

    code: str
    name: str
    severity: Severity
    message: str
    place: Place
    related: tuple[Related, ...] = ()
    notes: tuple[str, ...] = ()
    fix: Fix | None = None
    alternatives: tuple[Fix, ...] = ()
