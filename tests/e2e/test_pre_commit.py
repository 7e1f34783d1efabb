"""The real pre-commit with the hooks of this repository, installed from a clone of it as its users do."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from op_lint.files import CONFIGURATION_NAMES, CPP_SUFFIXES, PYTHON_SUFFIXES, is_build_file
from tests.e2e.services import (
    DEFINES,
    KERNEL,
    MISSPELT,
    ROOT,
    SCRIPTS,
    WRONG,
    clone_of_op_lint,
    environment,
    git,
    repository,
    snippet,
)


class PreCommit(NamedTuple):
    """A way to run pre-commit with its environments in a folder of the tests."""

    home: Path
    clone: Path
    revision: str

    def run(self, project: Path, hook: str) -> tuple[int, str]:
        """Run a hook on what is staged."""
        config = yaml.safe_load(snippet("ci.md", "pre-commit", "yaml"))
        (repo,) = config["repos"]
        repo.update(repo=str(self.clone), rev=self.revision)
        (repo["hooks"][0],) = [{"id": hook}]
        (project / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
        done = subprocess.run(
            [SCRIPTS / "pre-commit", "run", "--color", "never", hook],
            cwd=project,
            env=environment(PRE_COMMIT_HOME=str(self.home), XDG_CACHE_HOME=str(self.home / "cache")),
            capture_output=True,
            text=True,
        )
        return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def pre_commit(tmp_path_factory: pytest.TempPathFactory) -> PreCommit:
    clone = tmp_path_factory.mktemp("op-lint")
    return PreCommit(tmp_path_factory.mktemp("pre-commit"), clone, clone_of_op_lint(clone))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    files = {"ops.cpp": DEFINES, "cpu.cpp": KERNEL, "old.cpp": WRONG, "op-lint.toml": "", "README.md": "text\n"}
    return repository(tmp_path / "project", files)


def change(project: Path, name: str, content: str) -> None:
    (project / name).write_text(content)
    git(project, "add", name)


def test_findings_are_for_what_changed_and_know_the_rest(pre_commit: PreCommit, project: Path) -> None:
    change(project, "cpu.cpp", KERNEL + "// fine\n")
    status, out = pre_commit.run(project, "op-lint")
    assert (status, "Passed" in out) == (0, True), out
    change(project, "cpu.cpp", MISSPELT)
    status, out = pre_commit.run(project, "op-lint")
    assert status == 1
    assert "cpu.cpp:2:" in out
    assert "OPL201 impl-without-def" in out
    assert "old.cpp" not in out

    status, out = pre_commit.run(project, "op-lint-full")
    assert status == 1
    assert "OPL201 impl-without-def" in out
    assert "old.cpp:2:" in out

    git(project, "checkout", "-q", "HEAD", "cpu.cpp")
    change(project, "README.md", "other text\n")
    for hook in ("op-lint", "op-lint-full"):
        status, out = pre_commit.run(project, hook)
        assert (status, "no files to check" in out) == (0, True), out


def test_hooks_are_for_the_files_that_op_lint_reads() -> None:
    hooks = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))}
    assert set(hooks) == {"op-lint", "op-lint-full"}
    sources = [f"a/b{suffix}" for suffix in CPP_SUFFIXES | PYTHON_SUFFIXES] + ["B.CU"]
    others = [
        "CMakeLists.txt",
        "a/setup.py",
        "a/pyproject.toml",
        "BUILD.bazel",
        "x.cmake",
        "x.bzl",
        *CONFIGURATION_NAMES,
    ]
    assert all(is_build_file(name) or name in CONFIGURATION_NAMES for name in others)
    for hook in hooks.values():
        assert all(re.search(hook["files"], name) for name in sources)
        assert not any(re.search(hook["files"], name) for name in ("README.md", "a.pyc", "cpp", "x.c.txt", "a.json"))
    assert all(re.search(hooks["op-lint-full"]["files"], name) for name in others)
    assert not re.search(hooks["op-lint"]["files"], "CMakeLists.txt")
