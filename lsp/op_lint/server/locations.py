"""Places as JSON for clients: a URI and a range that they can open, or nothing for what is not in the workspace."""

from __future__ import annotations

from typing import Any, Protocol

from op_lint.facts import Place


class Locate(Protocol):
    """Makes locations of the protocol's form (`{uri, range}`)."""

    def __call__(self, place: Place) -> dict[str, Any]:
        """A place of the workspace."""
        ...

    def line(self, path: str, line: int) -> dict[str, Any] | None:
        """A 1-based line of a file; None for a file that is not there (torch names its sources as it was built)."""
        ...
