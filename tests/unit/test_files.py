from __future__ import annotations

import os
from pathlib import Path

import pytest

from op_lint.facts import Language
from op_lint.files import SourceTree, find_root, find_sources, language_of, relative_path


def make(root: Path, *paths: str, **contents: str) -> Path:
    for path in paths:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    return root


def write(root: Path, path: str, content: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(content)


def files(tree: SourceTree) -> list[str]:
    return sorted((*tree.cpp, *tree.python))


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("a.cpp", Language.CPP),
        ("a/b.CU", Language.CPP),
        ("x.c++", Language.CPP),
        ("x.mm", Language.CPP),
        ("x.inl", Language.CPP),
        ("x.py", Language.PYTHON),
        ("x.pyi", None),
        ("x.txt", None),
        ("cpp", None),
        (".cpp", None),
    ],
)
def test_language_is_told_by_the_suffix(path: str, language: Language | None) -> None:
    assert language_of(path) is language


@pytest.mark.parametrize("marker", ["op-lint.toml", "pyproject.toml", ".git"])
def test_root_is_the_nearest_marked_folder(tmp_path: Path, marker: str) -> None:
    make(tmp_path, "pyproject.toml", f"inner/{marker}", "inner/csrc/ops.cpp", "inner/py/ops.py")
    assert find_root([tmp_path / "inner/csrc"]) == tmp_path / "inner"
    assert find_root([tmp_path / "inner/csrc/ops.cpp"]) == tmp_path / "inner"
    assert find_root([tmp_path / "inner/csrc/ops.cpp", tmp_path / "inner/py/ops.py"]) == tmp_path / "inner"


def test_root_of_paths_in_two_projects_holds_both(tmp_path: Path) -> None:
    make(tmp_path, ".git/HEAD", "a/pyproject.toml", "b/pyproject.toml")
    assert find_root([tmp_path / "a", tmp_path / "b"]) == tmp_path


def test_paths_are_relative_to_the_root_or_absolute(tmp_path: Path) -> None:
    root = tmp_path / "project"
    assert relative_path(root / "a/b.cpp", root) == "a/b.cpp"
    assert relative_path(root, root) == "."
    assert relative_path(tmp_path / "other.cpp", root) == (tmp_path / "other.cpp").as_posix()
    assert relative_path(root / "..odd.cpp", root) == "..odd.cpp"


def test_walk_lists_both_languages_sorted(tmp_path: Path) -> None:
    make(tmp_path, "b.cpp", "a.cu", "sub/c.h", "z.py", "sub/a.py", "notes.txt", "no_suffix")
    tree = find_sources(tmp_path)
    assert tree == SourceTree(str(tmp_path), ("a.cu", "b.cpp", "sub/c.h"), ("sub/a.py", "z.py"))


def test_default_exclude_and_environments_by_any_name(tmp_path: Path) -> None:
    make(tmp_path, "a.cpp", "build/a.cpp", "sub/node_modules/x.py", ".venv/x.py", "my-env/pyvenv.cfg", "my-env/x.py")
    assert files(find_sources(tmp_path)) == ["a.cpp"]


def test_exclude_patterns_are_relative_to_the_root(tmp_path: Path) -> None:
    make(tmp_path, "a.cpp", "third_party/a.cpp", "sub/third_party/b.cpp", "gen/x_generated.cpp")
    tree = find_sources(tmp_path, exclude=["/third_party", "*_generated.cpp"])
    assert files(tree) == ["a.cpp", "sub/third_party/b.cpp"]


def test_gitignore_files_nest_and_take_back(tmp_path: Path) -> None:
    make(tmp_path, "a.cpp", "gen/b.cpp", "gen/keep.cpp", "sub/c.cpp", "sub/deep/d.cpp", "sub/deep/e.cpp")
    write(tmp_path, ".gitignore", "gen/*\n!gen/keep.cpp\nd.cpp\n")
    write(tmp_path, "sub/.gitignore", "/c.cpp\n")
    write(tmp_path, "sub/deep/.gitignore", "!d.cpp\n/e.cpp\n")
    assert files(find_sources(tmp_path)) == ["a.cpp", "gen/keep.cpp", "sub/deep/d.cpp"]
    assert len(files(find_sources(tmp_path, respect_gitignore=False))) == 6


def test_gitignore_of_the_repository_around_the_project(tmp_path: Path) -> None:
    make(tmp_path, ".git/HEAD", "pkg/a.cpp", "pkg/out/b.cpp", "pkg/c_gen.cpp")
    write(tmp_path, ".gitignore", "/pkg/out\n*_gen.cpp\n")
    assert files(find_sources(tmp_path / "pkg")) == ["a.cpp"]


def test_a_project_that_its_repository_ignores_is_still_read(tmp_path: Path) -> None:
    make(tmp_path, ".git/HEAD", "scratch/a.cpp")
    write(tmp_path, ".gitignore", "scratch/\n")
    assert files(find_sources(tmp_path / "scratch")) == ["a.cpp"]


def test_what_is_named_is_taken_unless_exclusion_is_forced(tmp_path: Path) -> None:
    make(tmp_path, "a.cpp", "build/gen/b.cpp", "build/gen/c.py", "build/other.cpp", "ignored/d.cpp")
    write(tmp_path, ".gitignore", "ignored\n")
    named = [tmp_path / "build/gen", tmp_path / "ignored/d.cpp"]
    assert files(find_sources(tmp_path, named=named)) == ["a.cpp", "build/gen/b.cpp", "build/gen/c.py", "ignored/d.cpp"]
    assert files(find_sources(tmp_path, named=named, force_exclude=True)) == ["a.cpp"]


def test_links_make_no_loop_and_no_file_twice(tmp_path: Path) -> None:
    root = make(tmp_path / "project", "sub/a.cpp")
    make(tmp_path, "outside/b.cpp")
    (root / "sub/loop").symlink_to(root, target_is_directory=True)
    (root / "again.cpp").symlink_to(root / "sub/a.cpp")
    (root / "b.cpp").symlink_to(tmp_path / "outside/b.cpp")
    (root / "circle.cpp").symlink_to(root / "circle.cpp")
    (root / "gone.cpp").symlink_to(root / "nowhere.cpp")
    assert files(find_sources(root)) == ["b.cpp", "sub/a.cpp"]


def test_a_pipe_called_like_a_source_is_not_opened(tmp_path: Path) -> None:
    make(tmp_path, "a.cpp")
    os.mkfifo(tmp_path / "pipe.cpp")
    assert files(find_sources(tmp_path)) == ["a.cpp"]


def test_a_folder_that_cannot_be_listed_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "a.cpp", "secret/b.cpp")
    scandir = os.scandir

    def refuse(path: str) -> object:
        if os.path.basename(path) == "secret":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    tree = find_sources(tmp_path)
    assert files(tree) == ["a.cpp"]
    assert [(each.code, each.place.path, each.message) for each in tree.problems] == [
        ("unreadable", "secret", "the folder cannot be listed: Permission denied")
    ]


def test_a_name_that_is_not_text_is_a_problem(tmp_path: Path) -> None:
    make(tmp_path, "a.cpp")
    with open(os.fsencode(tmp_path) + b"/caf\xe9.cpp", "w"):
        pass
    tree = find_sources(tmp_path)
    assert files(tree) == ["a.cpp"]
    assert [(each.code, each.place.path) for each in tree.problems] == [("file-name", "caf\\udce9.cpp")]


def test_build_files_count_whatever_gitignore_says_of_their_names(tmp_path: Path) -> None:
    write(tmp_path, ".gitignore", "*.txt\nBUILD\nsetup.py\nmade/\n")
    for name in ("CMakeLists.txt", "csrc/CMakeLists.txt", "csrc/BUILD", "made/CMakeLists.txt", "setup.py"):
        write(tmp_path, name, "")
    assert find_sources(tmp_path).build == ("CMakeLists.txt", "csrc/BUILD", "csrc/CMakeLists.txt")
    assert find_sources(tmp_path, exclude=["csrc"]).build == ("CMakeLists.txt",)
