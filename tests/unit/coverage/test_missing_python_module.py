"""OPL308."""

from __future__ import annotations

import pytest

from tests.unit.builders import findings
from tests.unit.sources import HEAD, define, implement, quoted

FAKE = """
import torch

@torch.library.register_fake("demo::a")
def _(x): return torch.empty_like(x)
"""


def library(*calls: str) -> str:
    return HEAD + f"TORCH_LIBRARY(demo, m) {{ {' '.join(calls)} }}\n" + implement("CPU", "a")


DEFINE = f"m.def({quoted('a(Tensor x) -> Tensor')});"


def test_the_module_is_not_named() -> None:
    (finding,) = findings("OPL308", {"ops.cpp": library(DEFINE), "demo/fakes.py": FAKE})
    assert (finding.place.path, finding.place.line) == ("ops.cpp", 5)
    assert finding.message == (
        "the fake of `demo::a` is in the Python module `demo.fakes` (demo/fakes.py:4), and nothing here says so: write "
        '`m.set_python_module("demo.fakes");` before the definition'
    )
    assert [(related.place.path, related.place.line) for related in finding.related] == [("demo/fakes.py", 4)]


@pytest.mark.parametrize("call", ["set_python_module", "impl_abstract_pystub"])
def test_the_module_is_named(call: str) -> None:
    source = library(f"m.{call}({quoted('demo.fakes')});", DEFINE)
    assert findings("OPL308", {"ops.cpp": source, "demo/fakes.py": FAKE}) == []


def test_named_only_after_the_definition() -> None:
    """Torch keeps the module that is set when the operator is defined."""
    source = library(DEFINE, f"m.set_python_module({quoted('demo.fakes')});")
    assert len(findings("OPL308", {"ops.cpp": source, "demo/fakes.py": FAKE})) == 1


@pytest.mark.parametrize(
    "python",
    [
        "",
        FAKE.replace("demo::a", "other::a"),
        'import torch\n\nlib = torch.library.Library("demo", "IMPL")\nlib.impl("a", lambda x: x, "Meta")\n',
        FAKE.replace('"demo::a"', "name()"),
    ],
)
def test_no_fake_in_python_or_none_that_is_known(python: str) -> None:
    assert findings("OPL308", {"ops.cpp": library(DEFINE), "demo/fakes.py": python}) == []


def test_defined_in_python() -> None:
    source = 'import torch\n\ntorch.library.define("demo::a", "(Tensor x) -> Tensor")\n' + FAKE
    assert findings("OPL308", {"demo/fakes.py": source}) == []


def test_a_kernel_in_cpp_at_meta() -> None:
    source = HEAD + define("a(Tensor x) -> Tensor") + implement("Meta", "a")
    assert findings("OPL308", {"ops.cpp": source}) == []
