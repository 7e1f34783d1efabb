"""Reading and judging apart: `op-lint facts`, and `--facts` of the commands that judge."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from op_lint import facts_file
from op_lint.config import Settings
from tests.check import copy_of, run, write_project

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "myops"
NATIVE = ("csrc/ops.cpp", "csrc/cpu/kernels.cpp")
REST = ("csrc/cuda/kernels.cu", "csrc/reduce.cpp", "setup.py", "myops/__init__.py", "myops/ops.py")

HEADER = '#pragma once\n#define REGISTER(name) m.def(#name "(Tensor x) -> Tensor")\n'
SOURCE = '#include <torch/library.h>\n#include "macros.h"\nTORCH_LIBRARY(demo, m) { REGISTER(first); }\n'


def facts(folder: Path, *arguments: str) -> None:
    outcome = run(folder, "facts", *arguments)
    assert outcome == (0, "", ""), outcome


def refused(folder: Path, *arguments: str) -> str:
    """What a command that cannot do what was asked says."""
    outcome = run(folder, *arguments)
    assert (outcome.status, outcome.out) == (2, ""), outcome
    return outcome.err


@pytest.fixture
def example(tmp_path: Path) -> Path:
    project = copy_of(EXAMPLE, tmp_path)
    facts(project, *NATIVE, "-o", "native.facts")
    facts(project, *REST, "-o", "rest.facts")
    return project


@pytest.mark.parametrize(
    "command",
    [
        ("check", "--output-format", "json"),
        ("check", "csrc/cpu", "--output-format", "json"),
        ("check", "--select", "ALL"),
        ("ops", "--output-format", "json"),
        ("table", "myops::scale"),
        ("why", "myops::normalize", "--device", "cuda"),
    ],
)
def test_what_is_said_is_what_a_direct_run_says(example: Path, command: Sequence[str]) -> None:
    torch = () if command[0] == "ops" else ("--torch-version", "2.13.0")
    direct = run(example, *command, *torch, "--no-cache", "--jobs", "0")
    assert direct.out
    assert run(example, *command, *torch, "--facts", "rest.facts", "--facts", "native.facts") == direct
    assert run(example, *command, *torch, "--facts", "native.facts", "rest.facts") == direct
    assert run(example, *command, *torch, "--facts", ".") == direct


def test_no_source_is_read_again(example: Path) -> None:
    for name in (*NATIVE, *REST):
        (example / name).unlink()
    outcome = run(example, "ops", "--facts", ".", "--output-format", "json")
    assert {each["name"] for each in json.loads(outcome.out)["ops"]} >= {"muladd", "scale", "soften"}


def test_the_bytes_do_not_depend_on_folder_order_hash_seed_or_processes(example: Path, tmp_path: Path) -> None:
    elsewhere = copy_of(EXAMPLE, tmp_path / "at" / "another" / "place")
    command = [sys.executable, "-m", "op_lint", "facts", "--jobs", "2", "--root", str(elsewhere), "-o", "out/x.facts"]
    files = [str(elsewhere / name) for name in reversed(REST)]
    subprocess.run([*command, *files], cwd=tmp_path, check=True, env={**os.environ, "PYTHONHASHSEED": "7"})
    assert (tmp_path / "out" / "x.facts").read_bytes() == (example / "rest.facts").read_bytes()


def test_a_file_may_list_the_files(example: Path) -> None:
    (example / "list").write_text("\n".join(NATIVE) + "\n")
    facts(example, "@list", "-o", "listed.facts")
    assert (example / "listed.facts").read_bytes() == (example / "native.facts").read_bytes()
    assert "none" in refused(example, "facts", "@none", "-o", "x.facts")


def test_another_version_is_refused(example: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = example / "rest.facts"
    content = file.read_bytes()
    file.write_bytes(content.replace(b"op-lint facts 0.1.0 ", b"op-lint facts 0.0.9 ", 1))
    assert "rest.facts was made by op-lint 0.0.9, this is 0.1.0: make it again" in refused(
        example, "check", "--facts", "."
    )
    file.write_bytes(re.sub(rb"(0\.1\.0) \w+", rb"\1 0123456789abcdef", content, count=1))
    assert "rest.facts was made by another build of op-lint 0.1.0" in refused(example, "check", "--facts", ".")


@pytest.mark.parametrize("damage", [slice(0, 300), slice(0, -1), slice(0, 20)])
def test_a_damaged_file_is_refused(example: Path, damage: slice) -> None:
    file = example / "rest.facts"
    file.write_bytes(file.read_bytes()[damage])
    assert re.search("rest.facts is (damaged|not a file of facts)", refused(example, "check", "--facts", "."))


def test_what_is_no_file_of_facts_is_refused(example: Path) -> None:
    assert "ops.cpp is not a file of facts" in refused(example, "check", "--facts", "csrc/ops.cpp")


def test_other_settings_are_refused(example: Path) -> None:
    (example / "op-lint.toml").write_text('defines = ["USE_CUDA"]\n')
    said = refused(example, "check", "--facts", ".")
    assert 'native.facts was made with other settings (defines: none, now ["USE_CUDA"])' in said


def test_a_changed_source_is_refused(example: Path) -> None:
    (example / NATIVE[0]).write_text("// nothing\n")
    assert "csrc/ops.cpp changed since the facts were read: make them again" in refused(
        example, "check", "--facts", "."
    )


def test_contradictions_are_refused(tmp_path: Path) -> None:
    write_project(tmp_path, {"macros.h": HEADER, "ops.cpp": SOURCE})
    facts(tmp_path, "ops.cpp", "-o", "whole.facts")
    facts(tmp_path, "ops.cpp", "--alone", "-o", "alone.facts")
    said = refused(tmp_path, "ops", "--facts", ".")
    assert "alone.facts and whole.facts say different things of ops.cpp" in said.replace(f"{tmp_path}/", "")


def test_alone_sees_only_what_it_is_given(tmp_path: Path) -> None:
    write_project(tmp_path, {"macros.h": HEADER, "ops.cpp": SOURCE})

    def found(*arguments: str) -> list[str]:
        facts(tmp_path, "ops.cpp", *arguments, "-o", "x.facts")
        told = json.loads(run(tmp_path, "ops", "--facts", "x.facts", "--output-format", "json").out)
        return [each["name"] for each in told["ops"]]

    assert found() == ["first"]
    assert found("--alone") == []
    assert found("--alone", "--context", "macros.h") == ["first"]


def test_dependencies_are_written_for_ninja_and_make(tmp_path: Path) -> None:
    write_project(
        tmp_path, {"in clude/macros.h": HEADER, "ops.cpp": SOURCE, "op-lint.toml": 'include-dirs = ["in clude"]'}
    )
    facts(tmp_path, "ops.cpp", "-o", "x.facts", "--depfile", "x.d")
    assert (tmp_path / "x.d").read_text() == "x.facts: in\\ clude/macros.h op-lint.toml\n"


def test_accidents_are_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_project(tmp_path, {"ops.cpp": SOURCE})
    monkeypatch.setattr("op_lint.analysis.find_suppressions", lambda *_: 1 / 0)
    said = refused(tmp_path, "facts", "ops.cpp", "--jobs", "0", "-o", "x.facts")
    assert "ops.cpp: op-lint failed on this file" in said
    assert not (tmp_path / "x.facts").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("none.cpp", "-o", "x"), "none.cpp"),
        (("op-lint.toml", "-o", "x"), "op-lint.toml is neither C++ nor Python"),
        (("ops.cpp",), "--output"),
        (("ops.cpp", "-o", "ops.cpp/x"), "ops.cpp/x"),
        (("ops.cpp", "--root", "sub", "-o", "x"), "is not in the project"),
    ],
)
def test_what_cannot_be_done_is_said(tmp_path: Path, arguments: Sequence[str], said: str) -> None:
    write_project(tmp_path, {"ops.cpp": SOURCE, "sub/a.py": ""})
    assert said in refused(tmp_path, "facts", *arguments)


def test_a_wrong_configuration_ends_it(tmp_path: Path) -> None:
    write_project(tmp_path, {"ops.cpp": SOURCE, "op-lint.toml": "a = 1\ndefins = []\n"})
    assert "op-lint.toml:1: there is no setting `a`" in refused(tmp_path, "facts", "ops.cpp", "-o", "x")


def test_a_facts_file_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(facts_file.FactsFileError, match=r"x\.facts cannot be read"):
        facts_file.load([tmp_path / "x.facts"], Settings())


# -- the examples of docs/large.md

NINJA = re.search(r":caption: make_ninja.py\n\n(.*?)```", (ROOT / "docs" / "large.md").read_text("utf-8"), re.DOTALL)


def test_ninja_reads_what_changed_and_finds_what_a_direct_run_finds(tmp_path: Path) -> None:
    assert NINJA is not None
    project = copy_of(EXAMPLE, tmp_path)
    (project / "csrc" / "macros.h").write_text(HEADER)
    (project / "csrc" / "extra.cpp").write_text(SOURCE)
    (project / "make_ninja.py").write_text(NINJA[1])
    # The interpreter's folder has the op-lint and the ninja of this environment.
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}

    def shell(*command: str) -> str:
        done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def findings() -> bytes:
        return (project / "findings.json").read_bytes()

    def direct() -> bytes:
        command = (
            "op-lint",
            "check",
            "--root",
            ".",
            "--exit-zero",
            "--output-format",
            "json",
            "--output-file",
            "direct",
        )
        shell(*command)
        return (project / "direct").read_bytes()

    shell(sys.executable, "make_ninja.py")
    first = shell("ninja", "findings.json")
    assert {f"facts facts/{name}.facts" for name in ("root", "csrc", "csrc.cpu", "csrc.cuda", "myops")} <= set(
        re.findall(r"facts facts/\S+", first)
    )
    assert findings() == direct() != b"[]\n"
    assert "no work to do" in shell("ninja", "findings.json")

    (project / "csrc" / "macros.h").write_text(HEADER.replace("Tensor x", "Tensr x"))
    again = shell("ninja", "findings.json")
    assert re.findall(r"facts facts/\S+", again) == ["facts facts/csrc.facts"]
    assert findings() == direct()
    assert any(each["path"] == "csrc/extra.cpp" for each in json.loads(findings()))


def test_the_bazel_rules_use_options_that_there_are() -> None:
    text = (ROOT / "docs" / "op_lint.bzl").read_text("utf-8")
    compile(text, "op_lint.bzl", "exec")  # Starlark is a subset of Python's syntax
    options = set(re.findall(r'"(--[a-z-]+)"', text))
    assert options >= {"--root", "--alone", "--context", "--facts"}
    help_texts = run(ROOT, "facts", "--help").out + run(ROOT, "check", "--help").out
    assert {option for option in options if option not in help_texts} == set()
