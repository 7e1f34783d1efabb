"""Distances between the rows of two matrices: `torch.ops.pairwise` once this is imported."""

# The library first: its loading defines the operators that the others speak of.
from . import _C, gradients, operators  # noqa: F401
