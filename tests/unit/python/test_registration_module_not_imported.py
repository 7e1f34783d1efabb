"""OPL607."""

from __future__ import annotations

import pytest

from tests.unit.builders import findings
from tests.unit.sources import HEAD, define

OPS = 'import torch\n\ntorch.library.define("demo::a", "(Tensor x) -> Tensor")\n'
LOAD = 'import torch\n\ntorch.ops.load_library("libdemo.so")\n'
USE = "import torch\n\n\ndef run(x):\n    return torch.ops.demo.a(x)\n"


@pytest.mark.parametrize("module", [OPS, LOAD])
def test_what_it_brings_is_used(module: str) -> None:
    (finding,) = findings("OPL607", {"shapes/ops.py": module, "shapes/run.py": USE, "shapes/__init__.py": ""})
    assert (finding.place.path, finding.place.line) == ("shapes/ops.py", 3)
    assert finding.message == (
        "nothing imports the module `shapes.ops`, so this does not run, and `demo::a` does not exist where it is used "
        "(shapes/run.py:5): import `shapes.ops` there, or in the `__init__.py` of the package"
    )
    assert [(related.place.path, related.place.line) for related in finding.related] == [("shapes/run.py", 5)]


@pytest.mark.parametrize(
    "more",
    [
        {"shapes/__init__.py": "from . import ops\n"},
        {"shapes/run.py": "import shapes.ops\n" + USE},
        {"shapes/run.py": USE.replace("    return", "    from shapes import ops\n    return")},
        {"shapes/run.py": ""},
        {"shapes/run.py": USE.replace("demo.a(", "other.a(")},
        {"shapes/plugins.py": "import importlib\n"},
        {"shapes/more.py": OPS.replace("demo::a", "demo::a")},
        {"shapes/run.py": 'import torch\ntorch.ops.load_library("libmore.so")\n' + USE},
    ],
)
def test_imported_or_perhaps_imported_or_not_missed(more: dict[str, str]) -> None:
    assert findings("OPL607", {"shapes/__init__.py": "", "shapes/ops.py": OPS, "shapes/run.py": USE, **more}) == []


@pytest.mark.parametrize("path", ["tests/ops.py", "examples/ops.py", "setup.py", "shapes/test_ops.py", "conftest.py"])
def test_what_no_import_runs(path: str) -> None:
    assert findings("OPL607", {path: OPS, "shapes/run.py": USE}) == []


def test_the_definition_in_cpp_names_it() -> None:
    cpp = HEAD + 'TORCH_LIBRARY(demo, m) { m.set_python_module("shapes.ops"); m.def("b(Tensor x) -> Tensor"); }\n'
    assert findings("OPL607", {"shapes/ops.py": OPS, "shapes/run.py": USE, "ops.cpp": cpp}) == []
    plain = HEAD + define("b(Tensor x) -> Tensor")
    assert len(findings("OPL607", {"shapes/ops.py": OPS, "shapes/run.py": USE, "ops.cpp": plain})) == 1
