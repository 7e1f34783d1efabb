"""The precompiled overlay changes nothing but the time."""

from __future__ import annotations

import gc
import os
import resource
from pathlib import Path

import pytest

from op_lint.config import Settings
from op_lint.cpp import CppOptions, CppReader, clang, precompiled
from op_lint.facts import FileFacts
from op_lint.files import find_sources
from tests.check import CASES

CASE_FILES = sorted(path for path in CASES.iterdir() if path.is_dir())


@pytest.fixture(autouse=True)
def _nothing_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precompiled, "_made", {})
    monkeypatch.setattr(precompiled, "_uses", type(precompiled._uses)())


def read_all(folder: Path, options: CppOptions | None = None) -> list[FileFacts]:
    reader = CppReader(folder, find_sources(folder, exclude=Settings().exclude).cpp, options)
    return [reader.read(path) for path in reader.candidates()]


@pytest.mark.skipif(not precompiled._has_descriptors(), reason="files without names are Linux's")
def test_all_cases_have_the_same_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    fast = [read_all(folder) for folder in CASE_FILES]
    assert [path for path in precompiled._made.values() if path]
    monkeypatch.setattr(precompiled, "_has_descriptors", lambda: False)
    assert fast == [read_all(folder) for folder in CASE_FILES]


@pytest.mark.skipif(not precompiled._has_descriptors(), reason="files without names are Linux's")
def test_where_there_is_no_room_the_header_is_parsed_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))  # as on a full disk
    try:
        assert not any(facts.problems for folder in CASE_FILES[:5] for facts in read_all(folder))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list(precompiled._made.values()) == [None]


@pytest.mark.skipif(not precompiled._has_descriptors(), reason="files without names are Linux's")
def test_other_macros_have_a_header_of_their_own_up_to_a_limit() -> None:
    arguments = ["-x", "c++", "-DA=1", "-include", "/0"]
    assert precompiled.with_precompiled(arguments, "/0", b"int a;") == arguments
    first = precompiled.with_precompiled(arguments, "/0", b"int a;")
    assert first[:4] == ["-x", "c++", "-DA=1", "-include-pch"]
    assert os.path.exists(first[4])
    for number in range(20):
        others = ["-x", "c++", f"-DB={number}", "-include", "/0"]
        for _ in range(2):
            given = precompiled.with_precompiled(others, "/0", b"int a;")
        assert (given != others) == (number < precompiled._MOST - 1)


@pytest.mark.skipif(not precompiled._has_descriptors(), reason="files without names are Linux's")
@pytest.mark.parametrize("reused", [False, True])
def test_a_descriptor_that_somebody_closed_is_not_used(tmp_path: Path, reused: bool) -> None:
    arguments = ["-x", "c++", "-include", "/0"]
    paths = [precompiled.with_precompiled(arguments, "/0", b"int a;")[-1] for _ in range(2)]
    descriptor = int(paths[1].rsplit("/", 1)[1])
    os.close(descriptor)
    other = os.open(tmp_path / "other", os.O_RDWR | os.O_CREAT) if reused else None
    assert reused == (other == descriptor)
    given = precompiled.with_precompiled(arguments, "/0", b"int a;")
    unit = clang.parse("/1", {"/0": b"int a;", "/1": b"int b = a;"}, given)
    assert not unit.errors()
    if other is not None:
        os.close(other)


def test_where_it_cannot_be_made_the_header_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("op_lint.cpp.clang.TranslationUnit.save", lambda *_: False)
    arguments = ["-x", "c++", "-include", "/0"]
    assert [precompiled.with_precompiled(arguments, "/0", b"int a;") for _ in range(3)] == [arguments] * 3
    gc.collect()


def test_repairs_of_the_header_come_after_it(tmp_path: Path) -> None:
    for number in range(3):
        source = f'#include <torch/library.h>\nTORCH_LIBRARY_IMPL(demo{number}, Cpu, m) {{ m.impl("f", &f); }}\n'
        (tmp_path / f"ops{number}.cpp").write_text(source)
    keys = [unit.key for facts in read_all(tmp_path) for unit in facts.units]
    assert keys == ["Cpu"] * 3
