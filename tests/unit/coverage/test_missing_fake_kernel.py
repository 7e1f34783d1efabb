"""OPL302."""

from __future__ import annotations

from tests.unit.builders import findings, fixed, lines
from tests.unit.sources import HEAD, UNREAD, define, implement

ONE = HEAD + define("a(Tensor x) -> Tensor") + implement("CPU", "a")
CUSTOM = """import torch

@torch.library.custom_op("demo::a", mutates_args=())
def a(x: torch.Tensor, s: float = 2.0) -> torch.Tensor:
    return x * s
"""


def test_the_message_says_what_to_write() -> None:
    (finding,) = findings("OPL302", {"ops.cpp": ONE})
    assert '@torch.library.register_fake("demo::a")' in finding.message
    assert "CPU" in finding.notes[0]


def test_one_that_cannot_be_read_may_be_it() -> None:
    assert findings("OPL302", {"ops.cpp": ONE + UNREAD}) == []


def test_no_kernel_is_another_mistake() -> None:
    assert findings("OPL302", {"ops.cpp": HEAD + define("a(Tensor x) -> Tensor")}) == []


def test_a_kernel_above_the_backends_may_be_all_there_is() -> None:
    assert findings("OPL302", {"ops.cpp": HEAD + define("a(Tensor x) -> Tensor") + implement("Autograd", "a")}) == []


def test_the_stub_in_python_is_the_fake_that_is_missing() -> None:
    (finding,) = findings("OPL302", {"ops.py": CUSTOM})
    after = fixed(finding, {"ops.py": CUSTOM})
    assert 'register_fake("demo::a")\ndef _(x, s=2.0):\n    raise NotImplementedError' in after["ops.py"]
    assert findings("OPL302", after) == []
    compile(after["ops.py"], "ops.py", "exec")


def test_a_wrapper_that_defines_what_it_is_given_hides_nothing() -> None:
    wrapper = """import torch

def make(lib, schema, function):
    lib.define(schema)
    lib.impl(schema.split("(")[0], function, "CompositeExplicitAutograd")
"""
    assert lines(findings("OPL302", {"ops.cpp": ONE, "make.py": wrapper})) == ["ops.cpp:5"]


def test_a_fake_for_names_that_are_not_known() -> None:
    loop = """import torch

for name in names():
    torch.library.register_fake(name, lambda x: x)
"""
    assert findings("OPL302", {"ops.cpp": ONE, "loop.py": loop}) == []
