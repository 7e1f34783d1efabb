"""OPL601: where it is silent."""

from __future__ import annotations

import pytest

from tests.unit.builders import findings, lines, torch
from tests.unit.sources import HEAD, UNREAD, define, implement, under

CPP = HEAD + define("scale_rows(Tensor x) -> Tensor") + implement("CPU", "scale_rows")
NAMESAKE = 'TORCH_LIBRARY(TORCH_EXTENSION_NAME, m) { m.def("rotate(Tensor x) -> Tensor"); }\n'
USE = "torch.ops.demo.rotate(x)"


def python(body: str) -> dict[str, str]:
    return {"ops.cpp": CPP, "run.py": f"import torch\n\ndef run(x):\n{body}\n"}


def found(files: dict[str, str]) -> list[str]:
    return lines(findings("OPL601", files, torch()))


def test_nothing_defines_it() -> None:
    (finding,) = findings("OPL601", python(f"    return {USE}"), torch())
    assert finding.place.line == 4
    assert "nothing defines `demo::rotate`" in finding.message


@pytest.mark.parametrize(
    "body",
    [
        f'    if hasattr(torch.ops.demo, "rotate"):\n        return {USE}',
        f"    try:\n        return {USE}\n    except AttributeError:\n        return None",
        f"    try:\n        return {USE}\n    except (RuntimeError, AttributeError):\n        return None",
        f"    if torch.version.cuda:\n        return {USE}",
        f"    if torch.cuda.is_available():\n        return {USE}",
        f'    if torch.__version__ >= "2.9":\n        return {USE}',
        '    return getattr(torch.ops.demo, "rotate", None)',
        f'    if getattr(torch.ops.demo, "rotate", None) is not None:\n        return {USE}',
    ],
)
def test_under_a_guard(body: str) -> None:
    assert found(python(body)) == []


@pytest.mark.parametrize("name", ["stranger.rotate", "torchvision.nms", "fbgemm.dense_to_jagged", "_C.rotate"])
def test_of_packages_that_are_not_installed(name: str) -> None:
    """Neither torch nor these sources have anything in the namespace: so it is somebody else's."""
    assert found(python(f"    return torch.ops.{name}(x)")) == []


def test_of_a_namespace_that_others_fill_too() -> None:
    many = ", ".join(f"torch.ops.demo.other{number}(x)" for number in range(4))
    assert found(python(f"    return {many}")) == []


@pytest.mark.parametrize("more", [UNREAD.replace("m.impl(name, &f)", "m.def(name)"), NAMESAKE])
def test_what_could_not_be_read_may_define_it(more: str) -> None:
    files = python(f"    return {USE}")
    assert found({**files, "more.cpp": "#include <torch/library.h>\n" + more}) == []


def test_defined_in_another_language() -> None:
    lib = 'import torch\n\ntorch.library.define("demo::rotate", "(Tensor x) -> Tensor")\n'
    assert found({**python(f"    return {USE}"), "lib.py": lib}) == []


def test_in_the_namespace_of_an_imported_package() -> None:
    lib = 'import torch\n\ntorch.library.define("vendor::scale", "(Tensor x) -> Tensor")\n'
    run = "import torch\n\ndef run(x):\n    return torch.ops.vendor.rotate(x)\n"
    assert found({"plugin/lib.py": lib, "plugin/run.py": run}) == ["plugin/run.py:4"]
    assert found({"plugin/lib.py": "import vendor\n" + lib, "plugin/run.py": run}) == []
    own = {"plugin/lib.py": "import vendor\n" + lib, "plugin/run.py": run, "vendor/__init__.py": ""}
    assert found(own) == ["plugin/run.py:4"]


def test_on_some_platforms_only() -> None:
    cpp = CPP + under("USE_CUDA", 'TORCH_LIBRARY_FRAGMENT(demo, m) { m.def("rotate(Tensor x) -> Tensor"); }\n')
    at_import = "import torch\n\nrotate = torch.ops.demo.rotate\n"
    guarded = 'import torch\n\nif hasattr(torch.ops.demo, "rotate"):\n    rotate = torch.ops.demo.rotate\n'
    assert found({"ops.cpp": cpp, "run.py": at_import}) == ["run.py:3"]
    assert found({"ops.cpp": cpp, "run.py": guarded}) == []
    assert found({"ops.cpp": cpp, "run.py": python(f"    return {USE}")["run.py"]}) == []
