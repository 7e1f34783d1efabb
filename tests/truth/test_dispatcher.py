"""The model of the dispatcher against the installed torch: every operator, every key."""

from __future__ import annotations

import sys

import pytest

from op_lint.installed.reader import Reading
from tests.truth.compare_dispatcher import Comparison, compare
from tests.truth.torch_process import needs_torch

pytestmark = needs_torch


@pytest.fixture(scope="module")
def compared() -> tuple[Reading, dict[str, Comparison]]:
    reading, comparisons = compare(sys.executable)
    return reading, {comparison.what: comparison for comparison in comparisons}


def test_nothing_differs(compared: tuple[Reading, dict[str, Comparison]]) -> None:
    _, comparisons = compared
    assert {what: comparison.differences for what, comparison in comparisons.items() if comparison.differences} == {}


def test_enough_was_compared(compared: tuple[Reading, dict[str, Comparison]]) -> None:
    reading, comparisons = compared
    counts = {what: comparison.number for what, comparison in comparisons.items()}
    assert counts[f"table entries of {len(reading.torch.operators)} operators"] >= 400_000
    assert counts["kernels, fallthrough or not"] >= 10_000
    assert counts["keys included in alias keys"] >= 200
    assert counts["random key sets, highest key and members"] == 20_000
