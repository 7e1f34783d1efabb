"""OPL606."""

from __future__ import annotations

import pytest

from tests.unit.builders import findings, lines

HEAD = "import glob\nimport importlib.util\nfrom pathlib import Path\n\nimport torch\n\n"
SPEC = 'spec = importlib.util.find_spec("demo._C")\n'
FILES = 'files = glob.glob("lib/*.so")\n'


@pytest.mark.parametrize(
    ("source", "what"),
    [
        (SPEC + "torch.ops.load_library(spec.origin)\n", "`find_spec` returns None where there is no such module"),
        (FILES + "torch.ops.load_library(files[0])\n", "the search may find no file at all"),
        ('path = next(Path("lib").glob("*.so"))\ntorch.ops.load_library(path)\n', "the search may find no file at all"),
    ],
)
def test_of_what_may_not_have_been_found(source: str, what: str) -> None:
    (finding,) = findings("OPL606", {"demo.py": HEAD + source})
    assert finding.place.line == 8
    assert finding.message == (
        f"{what}, and then this line fails with an error that does not say what is missing: test it first, and raise "
        "an ImportError that does"
    )


@pytest.mark.parametrize(
    "source",
    [
        'torch.ops.load_library("lib/libdemo.so")\n',
        SPEC + "if spec is None:\n    raise ImportError('demo')\ntorch.ops.load_library(spec.origin)\n",
        SPEC + "if spec:\n    torch.ops.load_library(spec.origin)\n",
        SPEC + "assert spec\ntorch.ops.load_library(spec.origin)\n",
        FILES + "if not files:\n    raise ImportError('demo')\ntorch.ops.load_library(files[0])\n",
        FILES + "assert len(files) == 1\ntorch.ops.load_library(files[0])\n",
        FILES + "for file in files:\n    torch.ops.load_library(file)\n",
        FILES
        + "try:\n    torch.ops.load_library(files[0])\nexcept (IndexError, OSError):\n    raise ImportError('demo')\n",
        "from demo import find\ntorch.ops.load_library(find())\n",
        "from demo import PATH\ntorch.ops.load_library(PATH)\n",
    ],
)
def test_checked_or_not_known(source: str) -> None:
    assert findings("OPL606", {"demo.py": HEAD + source}) == []


def test_the_search_is_in_another_file() -> None:
    """What another file gives is not known; the load where the search is, is."""
    here = HEAD + SPEC + "torch.ops.load_library(spec.origin)\n"
    there = "import torch\nfrom demo import spec\ntorch.ops.load_library(spec.origin)\n"
    assert lines(findings("OPL606", {"demo.py": here, "other.py": there})) == ["demo.py:8"]
