"""What Python files say is kept in one piece: a run finds it there, and says what a run without it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from op_lint import python
from op_lint.analysis import Analysis, Readers, analyse
from op_lint.cache import FactsCache
from op_lint.config import Settings
from op_lint.facts import FileFacts, Language, Place, Problem
from op_lint.files import find_sources

HELPER = """import torch
LIB = torch.library.Library("demo", "FRAGMENT")
def register(name, schema):
    LIB.define(name + schema)
"""
CALLER = """import torch
from pkg.helper import register
register("first", "(Tensor x) -> Tensor")
"""
FILES = {
    "pkg/__init__.py": "",
    "pkg/helper.py": HELPER,
    "pkg/ops.py": CALLER,
    "pkg/plain.py": "import os\nfrom pkg import ops\n",
    "ops.cpp": '#include <torch/library.h>\nTORCH_LIBRARY(other, m) { m.def("f(Tensor x) -> Tensor"); }\n',
}

_DEFAULT = Settings()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def packed(root: Path, settings: Settings = _DEFAULT) -> Analysis:
    cache = root.parent / "cache"
    return analyse(find_sources(root), settings, cache=FactsCache(cache), jobs=0, packs=cache)


def fresh(root: Path, settings: Settings = _DEFAULT) -> Analysis:
    return analyse(find_sources(root), settings, jobs=0)


def defined(analysis: Analysis) -> list[str]:
    return sorted(str(each.operator) for file in analysis.files for each in file.definitions)


def test_where_nothing_has_changed_no_python_file_is_looked_into(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cold = packed(root)
    assert defined(cold) == ["demo::first", "other::f"]

    def never(*_: object) -> None:
        raise AssertionError

    for name in ("is_candidate", "scan_imports", "read_python", "resolve"):
        monkeypatch.setattr(python, name, never)
    warm = packed(root)
    assert (warm.files, warm.candidates, warm.read) == (cold.files, cold.candidates, 0)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pkg/helper.py", HELPER.replace('"demo"', '"changed"')),
        ("pkg/ops.py", CALLER.replace("first", "second")),
        ("pkg/ops.py", "x = 1\n"),
        ("pkg/plain.py", "import torch\nfrom pkg.ops import x\ntorch.ops.demo.first(1)\n"),
        ("pkg/new.py", CALLER.replace("first", "third")),
        ("pkg/helper.py", "def broken(:\n"),
        ("pkg/helper.py", None),
        ("pkg/plain.py", None),
        ("ops.cpp", FILES["ops.cpp"].replace('"f(', '"g(')),
    ],
)
def test_after_an_edit_it_says_what_a_fresh_run_says(root: Path, name: str, text: str | None) -> None:
    packed(root)
    if text is None:
        (root / name).unlink()
    else:
        (root / name).write_text(text)
    for _ in range(2):
        now = packed(root)
        assert (now.files, now.candidates) == (fresh(root).files, fresh(root).candidates)


def test_the_settings_decide_on_what_is_kept(root: Path) -> None:
    (root / "pkg/ops.py").write_text('from elsewhere import make\nmake("ns::made(Tensor x) -> Tensor")\n')
    wrapped = Settings(wrappers=(python.Wrapper("make", parameters=("schema",), operator="schema", schema="schema"),))
    for settings in (Settings(), wrapped, Settings()):
        assert packed(root, settings).files == fresh(root, settings).files


def test_a_pack_that_is_damaged_is_made_again(root: Path) -> None:
    packed(root)
    (file,) = (root.parent / "cache" / "facts" / "python").iterdir()
    for damaged in (b"", file.read_bytes()[:-1], b"\0" * 100):
        file.write_bytes(damaged)
        assert packed(root).files == fresh(root).files
        assert len(file.read_bytes()) > len(damaged)


def test_what_went_wrong_by_accident_is_not_kept(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = Readers.read

    def fail(readers: Readers, path: str, data: bytes | None) -> FileFacts:
        if path != "pkg/helper.py":
            return read(readers, path, data)
        return FileFacts(path, Language.PYTHON, problems=(Problem("timeout", "too slow", Place(path, 1, 0, 0)),))

    with monkeypatch.context() as patched:
        patched.setattr(Readers, "read", fail)
        assert defined(packed(root)) == ["other::f"]
    assert packed(root).files == fresh(root).files
