"""OPL603."""

from __future__ import annotations

import pytest

from tests.unit.builders import findings, lines
from tests.unit.sources import HEAD, define

CPP = {"ops.cpp": HEAD + define("a(Tensor x) -> Tensor")}
LOAD = 'torch.ops.load_library("libdemo.so")\n'
FAKE = '@torch.library.register_fake("demo::a")\ndef _(x): return torch.empty_like(x)\n'


def python(*parts: str) -> dict[str, str]:
    return {**CPP, "demo/__init__.py": "import torch\n" + "".join(parts)}


def test_a_fake_above_the_load() -> None:
    (finding,) = findings("OPL603", python(FAKE, LOAD))
    assert (finding.place.path, finding.place.line) == ("demo/__init__.py", 2)
    assert finding.message == (
        "the fake of `demo::a` is registered before the library that defines it is loaded (line 4): move the load "
        "before it"
    )
    assert [related.place.line for related in finding.related] == [4]


def test_an_error_that_nobody_is_told() -> None:
    source = python("try:\n    ", LOAD, "except OSError:\n    pass\n", FAKE)
    (finding,) = findings("OPL603", source)
    assert finding.place.line == 3
    assert finding.message == (
        "where this library cannot be loaded, nobody is told (line 4), and `demo::a` is needed in line 6: let the "
        "error pass, or warn with its text"
    )


@pytest.mark.parametrize(
    "parts",
    [
        (LOAD, FAKE),
        (FAKE,),
        ("import demo_library\n", FAKE, LOAD),
        ("if torch.cuda.is_available():\n    ", LOAD, FAKE),
        ("def register():\n    ", FAKE.replace("\n", "\n    ", 1), LOAD),
        ("def load():\n    ", LOAD, FAKE),
        ("try:\n    ", LOAD, "except OSError as error:\n    raise ImportError('demo') from error\n", FAKE),
        ("try:\n    ", LOAD, "except OSError as error:\n    warnings.warn(str(error))\n", FAKE),
        ("try:\n    ", LOAD, "except OSError:\n    pass\n", 'if hasattr(torch.ops.demo, "a"):\n    torch.ops.demo.a\n'),
    ],
)
def test_in_order_or_not_known(parts: tuple[str, ...]) -> None:
    assert findings("OPL603", python(*parts)) == []


def test_an_operator_of_python_needs_no_load() -> None:
    define_it = 'torch.library.define("demo::a", "(Tensor x) -> Tensor")\n'
    assert findings("OPL603", {"demo.py": "import torch\n" + define_it + FAKE + LOAD}) == []
    assert lines(findings("OPL603", {**CPP, "demo.py": "import torch\n" + FAKE + LOAD})) == ["demo.py:2"]
