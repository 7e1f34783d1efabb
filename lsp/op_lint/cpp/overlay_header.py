"""The overlay: the header that every source is read with, in the place of PyTorch's and the system's."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

OVERLAY = "/_o"
"""The overlay's name in every parse."""

_FILE = Path(__file__).parent / "overlay" / "op_lint_overlay.h"


@cache
def overlay() -> bytes:
    """The text of the overlay."""
    return _FILE.read_bytes()


@cache
def overlay_macros() -> frozenset[bytes]:
    """The macros that the overlay defines."""
    return frozenset(re.findall(rb"^\s*#\s*define\s+(\w+)", overlay(), re.MULTILINE))
