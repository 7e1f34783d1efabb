from __future__ import annotations

import io
import os
import threading
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from op_lint.analysis import Analysis, analyse
from op_lint.cache import FactsCache
from op_lint.config import Settings
from op_lint.cpp import CppOptions
from op_lint.facts import FileFacts, Include, Language, Place, Unresolved
from op_lint.files import find_sources


class FakeReader:
    """A C++ reader for which a file says what stands in it, and that fails where the text asks for it."""

    def __init__(self, root: Path, sources: tuple[str, ...], options: CppOptions, buffers: Mapping[str, bytes]) -> None:
        self.root = root
        self.sources = sources
        self.options = options
        self.buffers = buffers

    def candidates(self) -> tuple[str, ...]:
        return tuple(path for path in self.sources if b"TORCH_LIBRARY" in (self.load(path) or b""))

    def load(self, path: str) -> bytes | None:
        try:
            return self.buffers[path] if path in self.buffers else (self.root / path).read_bytes()
        except OSError:
            return None

    def key(self, path: str) -> str:
        return sha256((self.load(path) or b"") + repr(self.options).encode()).hexdigest()

    def is_current(self, facts: FileFacts) -> bool:
        return all(sha256(self.load(each.path) or b"").hexdigest() == each.digest for each in facts.includes)

    def read(self, path: str) -> FileFacts:
        data = self.load(path) or b""
        if b"crash" in data:
            os.abort()
        if b"raise" in data:
            raise ValueError("a fault")
        header = self.load("h.h")
        includes = () if header is None else (Include("h.h", sha256(header).hexdigest()),)
        said = Unresolved("def", data.decode(), Place(path, 1, 0, len(data)))
        return FileFacts(path, Language.CPP, unresolved=(said,), includes=includes)


def project(tmp_path: Path, **files: str) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    for name, text in files.items():
        (root / name.replace("_", ".")).write_text(text)
    return root


def read(
    root: Path, jobs: int | None = 0, cache: Path | None = None, buffers: Mapping[str, bytes] = {}, **settings: object
) -> Analysis:
    return analyse(
        find_sources(root),
        Settings(**settings),  # type: ignore[arg-type]
        cache=FactsCache(cache) if cache else None,
        jobs=jobs,
        buffers=buffers,
        make_reader=FakeReader,
    )


def said(analysis: Analysis) -> dict[str, str]:
    return {file.path: file.unresolved[0].reason for file in analysis.files if file.unresolved}


def problems(analysis: Analysis) -> dict[str, list[str]]:
    return {file.path: [problem.code for problem in file.problems] for file in analysis.files if file.problems}


@pytest.mark.parametrize("jobs", [None, 0, 1, 2])
def test_candidates_are_read_in_any_number_of_processes(tmp_path: Path, jobs: int | None) -> None:
    root = project(tmp_path, b_cpp="TORCH_LIBRARY b", a_cpp="TORCH_LIBRARY a", c_cpp="nothing")
    analysis = read(root, jobs)
    assert said(analysis) == {"a.cpp": "TORCH_LIBRARY a", "b.cpp": "TORCH_LIBRARY b"}
    assert [file.path for file in analysis.files] == ["a.cpp", "b.cpp"]
    assert (analysis.read, analysis.candidates) == (2, ("a.cpp", "b.cpp"))


def test_a_reader_that_fails_costs_one_file(tmp_path: Path) -> None:
    root = project(tmp_path, a_cpp="TORCH_LIBRARY a", b_cpp="TORCH_LIBRARY raise", c_cpp="TORCH_LIBRARY crash")
    analysis = read(root, 2)
    assert said(analysis) == {"a.cpp": "TORCH_LIBRARY a"}
    assert problems(analysis) == {"b.cpp": ["internal-error"], "c.cpp": ["crash"]}


def test_what_is_kept_is_not_read_again(tmp_path: Path) -> None:
    root = project(tmp_path, a_cpp="TORCH_LIBRARY a", b_cpp="TORCH_LIBRARY b", x_py="import torch.library\n")
    cold = read(root, cache=tmp_path / "cache")
    warm = read(root, cache=tmp_path / "cache")
    assert (cold.read, warm.read) == (3, 0)
    assert warm.files == cold.files == read(root).files
    (root / "a.cpp").write_text("TORCH_LIBRARY changed")
    third = read(root, cache=tmp_path / "cache")
    assert third.read == 1
    assert said(third)["a.cpp"] == "TORCH_LIBRARY changed"


def test_settings_and_headers_are_part_of_what_is_kept(tmp_path: Path) -> None:
    root = project(tmp_path, a_cpp="TORCH_LIBRARY a", h_h="one")
    read(root, cache=tmp_path / "cache")
    assert read(root, cache=tmp_path / "cache").read == 0
    assert read(root, cache=tmp_path / "cache", defines=("A",)).read == 1
    (root / "h.h").write_text("two")
    assert read(root, cache=tmp_path / "cache").read == 1
    assert read(root, cache=tmp_path / "cache").read == 0


def test_a_failure_is_not_kept(tmp_path: Path) -> None:
    root = project(tmp_path, a_cpp="TORCH_LIBRARY raise")
    for _ in range(2):
        assert read(root, cache=tmp_path / "cache").read == 1


def test_with_the_real_reader_beside_other_threads(tmp_path: Path) -> None:
    source = '#include <torch/library.h>\nTORCH_LIBRARY({}, m) {{ m.def("a(Tensor x) -> Tensor"); }}\n'
    root = project(tmp_path, a_cpp=source.format("one"), b_cpp=source.format("two"))
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    try:
        spawned = analyse(find_sources(root), Settings(), jobs=2)
    finally:
        stop.set()
        thread.join()
    assert [str(each.operator) for file in spawned.files for each in file.definitions] == ["one::a", "two::a"]
    assert spawned == analyse(find_sources(root), Settings(), jobs=0)


def test_a_buffer_stands_for_the_file(tmp_path: Path) -> None:
    root = project(tmp_path, a_cpp="TORCH_LIBRARY a")
    comment = b"TORCH_LIBRARY edited // op-lint: ignore"
    analysis = read(root, buffers={"a.cpp": comment})
    assert said(analysis) == {"a.cpp": comment.decode()}
    assert [each.lines for each in analysis.files[0].suppressions] == [(1,)]


def test_a_file_with_nothing_but_a_comment_of_ours_is_looked_at(tmp_path: Path) -> None:
    root = project(tmp_path, a_cpp="int a; // op-lint: ignore", b_py="a = 1  # op-lint: ignore", c_py="b = 2\n")
    analysis = read(root)
    assert analysis.candidates == ("a.cpp", "b.py")
    assert [len(file.suppressions) for file in analysis.files if file.path in analysis.candidates] == [1, 1]


def test_files_that_go_while_they_are_read(tmp_path: Path) -> None:
    root = project(tmp_path, a_cpp="TORCH_LIBRARY a", b_cpp="TORCH_LIBRARY b", c_py="import torch.library")
    tree = find_sources(root)
    (root / "b.cpp").unlink()
    (root / "c.py").unlink()
    analysis = analyse(tree, Settings(), jobs=0, make_reader=FakeReader)
    assert said(analysis) == {"a.cpp": "TORCH_LIBRARY a"}
    assert problems(analysis) == {"b.cpp": ["vanished"], "c.py": ["vanished"]}


def test_files_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = project(tmp_path, a_cpp="TORCH_LIBRARY a", b_py="import torch.library")
    opened = io.open

    def refuse(path: Any, *rest: Any, **options: Any) -> Any:
        if os.path.dirname(path) == str(root):
            raise PermissionError(13, "Permission denied")
        return opened(path, *rest, **options)

    monkeypatch.setattr("builtins.open", refuse)
    monkeypatch.setattr(io, "open", refuse)  # which `pathlib` calls
    assert problems(read(root)) == {"a.cpp": ["unreadable"], "b.py": ["unreadable"]}
