"""Patterns say what pathspec says of them, and only sooner; lines that are no pattern do no harm."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from op_lint.files import DEFAULT_EXCLUDE, find_sources
from op_lint.gitignore import Patterns, is_left_out, read_patterns

PARTS = ("a", "ab", "build", "b.py", ".py", "*", "**", "?", "/", "!", "#", "[ab]", "[!a]", "[a-c]", "\\", " ", "[", "]")

LINES = st.lists(st.lists(st.sampled_from(PARTS), max_size=5).map("".join), max_size=4)
PATHS = st.lists(
    st.sampled_from(("a", "ab", "abc", "b", "build", "b.py", "c.pyc", ".py", "#a", "a b", "[")), min_size=1
)


def said(lines: list[str], path: str) -> bool | None:
    """What pathspec says of a path by the lines that it takes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        taken = []
        for line in lines:
            try:
                GitIgnoreSpec.from_lines([line])
            except ValueError:
                continue
            taken.append(line)
        return GitIgnoreSpec.from_lines(taken).check_file(path).include


@given(LINES, PATHS, st.sampled_from(("", "/")))
def test_they_say_what_pathspec_says(lines: list[str], parts: list[str], end: str) -> None:
    path = "/".join(parts) + end
    assert Patterns(tuple(lines)).verdict(path) == said(lines, path)


@pytest.mark.parametrize(
    "pattern", ["*.py[cod]", "*.so", "/docs/_build/", "[Bb]uild", "foo*/", "!keep.py", *DEFAULT_EXCLUDE]
)
@pytest.mark.parametrize(
    "path",
    [
        "x.pyc",
        "a/x.py",
        "x.sources",
        "docs/_build/",
        "docs/_build/a.py",
        "build/",
        "Build/a.py",
        "a/foobar/",
        "keep.py",
    ],
)
def test_patterns_as_people_write_them(pattern: str, path: str) -> None:
    assert Patterns((pattern,)).verdict(path) == said([pattern], path)


def test_a_path_is_seen_from_where_the_patterns_are() -> None:
    inner = Patterns(("/a.py",), skip=len("pkg/"))
    assert inner.verdict("pkg/a.py") is True
    assert inner.verdict("pkg/sub/a.py") is None
    outer = Patterns(("/project/a.py",), prefix="project/")
    assert outer.verdict("a.py") is True


def test_the_first_to_speak_decides() -> None:
    assert not is_left_out("a.py", (Patterns(("!a.py",)), Patterns(("*.py",))))
    assert is_left_out("b.py", (Patterns(("!a.py",)), Patterns(("*.py",))))


def test_a_line_that_is_no_pattern_does_not_end_the_run(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    (tmp_path / ".gitignore").write_text("!\nname\\\n[[:alpha:]].py\nout.py\n")
    for name in ("out.py", "in.py"):
        (tmp_path / name).touch()
    assert find_sources(tmp_path).python == ("in.py",)
    assert not recwarn.list


def test_there_may_be_no_file(tmp_path: Path) -> None:
    assert read_patterns(tmp_path / ".gitignore", "", 0) == []
