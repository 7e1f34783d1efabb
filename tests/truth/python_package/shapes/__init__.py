"""Pure Python registrations in every shape: imported for real, and read by op-lint, by the tests."""

from . import (
    by_name,
    classes,
    constants,
    conversions,
    custom_ops,
    guarded,
    legacy,
    libraries,
    loops,
    uses_wrappers,
    wrappers,
)
from .deep import module

__all__ = [
    "by_name",
    "classes",
    "constants",
    "conversions",
    "custom_ops",
    "guarded",
    "legacy",
    "libraries",
    "loops",
    "module",
    "uses_wrappers",
    "wrappers",
]
