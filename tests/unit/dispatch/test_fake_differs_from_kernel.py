"""OPL411."""

from __future__ import annotations

import pytest

from tests.unit.builders import findings
from tests.unit.sources import HEAD, define, implement

OPERATOR = """
import torch

torch.library.define("demo::a", "(Tensor x) -> {returns}")

@torch.library.impl("demo::a", "cpu")
def kernel(x):
    {kernel}

@torch.library.register_fake("demo::a")
def fake(x):
    {fake}
"""


def python(kernel: str = "return g(x)", fake: str = "return x.new_empty(x.shape)", returns: str = "Tensor") -> str:
    return OPERATOR.format(kernel=kernel, fake=fake, returns=returns)


def test_strides() -> None:
    (finding,) = findings("OPL411", {"ops.py": python("return x.contiguous().transpose(0, 1)")})
    assert finding.place.line == 12
    assert finding.message == (
        "this fake of `demo::a` returns a contiguous tensor, and the kernel `kernel` a transposed one (line 8): the "
        "strides differ; transpose here, too"
    )
    assert [related.place.line for related in finding.related] == [8]


@pytest.mark.parametrize(
    ("fake", "returns", "what"),
    [
        ("return x.new_empty(1), x.new_empty(2)", "Tensor", "returns 2 values, and its schema has 1"),
        ("return x.new_empty(1)", "(Tensor, Tensor)", "returns 1 value, and its schema has 2"),
        ("return None", "Tensor", "returns 0 values, and its schema has 1"),
        ("return x.new_empty(1)", "()", "returns 1 value, and its schema has 0"),
    ],
)
def test_the_number_of_results(fake: str, returns: str, what: str) -> None:
    (finding,) = findings("OPL411", {"ops.py": python(fake=fake, returns=returns)})
    assert what in finding.message
    assert [related.place.line for related in finding.related] == [4]


@pytest.mark.parametrize(
    "source",
    [
        python(),
        python("return x.contiguous().transpose(0, 1)", "return x.new_empty(x.shape).transpose(0, 1)"),
        python("return x.contiguous().transpose(0, 1).contiguous()"),
        python("return x.transpose(0, 1) if x.is_cpu else x.clone()"),
        python(fake="return [x.new_empty(1), x.new_empty(2)]", returns="Tensor[]"),
        python(fake="return results(x)", returns="(Tensor, Tensor)"),
        python(fake="return *results(x), None", returns="(Tensor, Tensor)"),
        python(fake="return None", returns="()"),
        python(fake="raise NotImplementedError"),
    ],
)
def test_they_agree_or_may_agree(source: str) -> None:
    assert findings("OPL411", {"ops.py": source}) == []


FAKE = """
import torch

@torch.library.register_fake("demo::a")
def fake(x):
    return x.new_empty(1), x.new_empty(2)
"""


def test_defined_in_cpp() -> None:
    source = HEAD + define("a(Tensor x) -> Tensor") + implement("CPU", "a")
    (finding,) = findings("OPL411", {"ops.cpp": source, "ops.py": FAKE})
    assert (finding.place.path, finding.place.line) == ("ops.py", 6)
    assert [related.place.path for related in finding.related] == ["ops.cpp"]
    both = source.replace("-> Tensor", "-> (Tensor, Tensor)")
    assert findings("OPL411", {"ops.cpp": both, "ops.py": FAKE}) == []
