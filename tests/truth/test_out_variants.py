"""OPL106 says of an out variant what torchgen does."""

from __future__ import annotations

import pytest

from tests.unit.schema.out_variants import BAD, GOOD

model = pytest.importorskip("torchgen.model")


def is_seen(schema: str) -> bool:
    """Whether torchgen reads a schema, and as that of an out variant."""
    try:
        return bool(model.FunctionSchema.parse(schema).is_out_fn())
    except AssertionError:
        return False


@pytest.mark.parametrize("schema", GOOD)
def test_what_torchgen_takes(schema: str) -> None:
    assert is_seen(schema)


@pytest.mark.parametrize("schema", [schema for schema, _, _ in BAD])
def test_what_torchgen_does_not_take(schema: str) -> None:
    assert not is_seen(schema)
