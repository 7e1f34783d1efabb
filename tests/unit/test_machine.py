"""What the machine does to a run: no folder, no room, no streams, no permission, the end."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from op_lint.installed.interpreter import InterpreterSearch, find_interpreter
from op_lint.nearest import nearest
from tests.check import Outcome, run, write_project

OP_LINT = f"{shlex.quote(sys.executable)} -m op_lint"
WRONG = '#include <torch/library.h>\nTORCH_LIBRARY(demo, m) { m.def("x::a(Tensor x) -> Tensor", &f); }\n'


def shell(folder: Path, line: str) -> Outcome:
    done = subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True)
    return Outcome(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_project(tmp_path, {"op-lint.toml": "torch = false\n", "ops.cpp": WRONG})


@pytest.mark.parametrize("command", ["check", "ops", "doctor", "config"])
def test_a_current_folder_that_was_removed(tmp_path: Path, command: str) -> None:
    outcome = shell(tmp_path, f"mkdir gone && cd gone && rmdir ../gone && {OP_LINT} {command}")
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err.startswith("Error: the current folder cannot be used: ")


def test_what_needs_no_folder_works_without_one(tmp_path: Path) -> None:
    assert shell(tmp_path, f"mkdir gone && cd gone && rmdir ../gone && {OP_LINT} rule OPL101").status == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a device that is always full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", ["check", "ops", "rule", "config --schema", "report --html -"])
def test_no_room_for_what_is_written(project: Path, command: str, unbuffered: str) -> None:
    outcome = shell(project, f"PYTHONUNBUFFERED={unbuffered} {OP_LINT} {command} >/dev/full")
    assert outcome.status == 2
    assert "No space left on device" in outcome.err
    assert "please report" not in outcome.err


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", ["check --output-format sarif", "rule --all", "report --html -", "config --schema"])
def test_room_for_a_part_of_what_is_written(project: Path, command: str, unbuffered: str) -> None:
    limit = "ulimit -f 1"  # a file may have 1024 bytes
    outcome = shell(project, f"{limit}; PYTHONUNBUFFERED={unbuffered} {OP_LINT} {command} >out")
    assert outcome.status == 2
    assert outcome.err == "Error: what was to be written: File too large\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a device that is always full")
def test_of_several_reports_those_are_written_that_can_be(project: Path) -> None:
    files = "--output-format json --output-file /dev/full --output-format sarif --output-file good.sarif"
    outcome = shell(project, f"{OP_LINT} {files}")
    assert outcome.status == 2
    assert "Could not open file '/dev/full': No space left on device" in outcome.err
    assert json.loads((project / "good.sarif").read_text())["version"] == "2.1.0"


@pytest.mark.parametrize("command", ["check --quiet", "table demo::a", "why demo::a", "report --html page.html"])
def test_a_python_that_is_asked_for_and_not_there(tmp_path: Path, command: str) -> None:
    write_project(tmp_path, {"op-lint.toml": 'torch-version = "2.13"\n', "ops.cpp": WRONG.replace("x::a", "a")})
    outcome = shell(tmp_path, f"{OP_LINT} {command} --python nowhere/python")
    assert outcome.status == 2
    assert "--python nowhere/python: does not exist: name an interpreter that has torch" in outcome.err


@pytest.mark.parametrize(("closed", "status"), [(">&-", 1), ("2>&-", 1), ("<&-", 1), (">&- 2>&- <&-", 1)])
def test_streams_that_are_closed(project: Path, closed: str, status: int) -> None:
    assert shell(project, f"{OP_LINT} {closed}").status == status


def test_a_reader_who_goes_away_from_a_schema(project: Path) -> None:
    outcome = shell(project, f"{OP_LINT} config --schema | true; echo ${{PIPESTATUS[0]}}")
    assert outcome == (0, "0\n", "")


def test_sigterm_ends_the_run_and_its_workers(tmp_path: Path) -> None:
    write_project(tmp_path, {f"ops{number}.cpp": WRONG.replace("demo", f"demo{number}") for number in range(400)})
    process = subprocess.Popen(
        [sys.executable, "-m", "op_lint", "--no-torch", "--cache-dir", "cache", "--jobs", "2"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    while not (tmp_path / "cache").exists():  # the first facts are kept: the run is under way
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    out, error = process.communicate(timeout=60)
    assert (process.returncode, out, error.strip()) == (143, b"", b"terminated")
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
    assert not list((tmp_path / "cache").rglob("*.tmp"))


def test_an_interpreter_that_may_not_be_looked_at_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a folder without the permission to enter it, which the tests may have all the same."""
    real = os.stat

    def stat(path: str | Path, **options: bool) -> os.stat_result:
        if "locked" in os.fspath(path):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, **options)

    monkeypatch.setattr(os, "stat", stat)
    found = find_interpreter(InterpreterSearch(option=str(tmp_path / "locked" / "python")))
    assert found.path is None
    assert found.candidates[0].verdict == "does not exist"


def test_a_list_of_paths_that_is_no_text(project: Path) -> None:
    (project / "list").write_bytes(b"\xd0\x00")
    outcome = run(project, "@list")
    assert outcome.status == 2
    assert "a list of paths in UTF-8" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("chek", "."), "did you mean `op-lint check`?"),
        (("--select", ","), "it names no rule"),
        (
            ("--output-format", "json", "--output-file", "x", "--output-format", "sarif", "--output-file", "./x"),
            "two formats would go to ",
        ),
        (("--torch-version", "abc"), "is no version: write for example"),
        (("--facts", "."), "there is no *.facts in this folder"),
        (("facts", ".", "-o", "out.facts"), "it is a folder: name files"),
    ],
)
def test_what_makes_no_sense_is_said_with_what_would(project: Path, arguments: tuple[str, ...], said: str) -> None:
    outcome = run(project, *arguments)
    assert (outcome.status, outcome.out) == (2, "")
    assert said in outcome.err


@pytest.mark.parametrize(
    "name", ["demo::a", "torch.ops.demo.a", "torch.ops.demo.a.default", "demo::a(Tensor x) -> Tensor"]
)
def test_an_operator_as_people_paste_it(tmp_path: Path, name: str) -> None:
    write_project(tmp_path, {"ops.cpp": WRONG.replace("x::a", "a")})
    outcome = run(tmp_path, "why", name, "--torch-version", "2.13", "--no-cache")
    assert outcome.status == 0, outcome
    assert "AutogradCPU" in outcome.out


def test_no_subcommand_is_near_a_word_of_another_kind() -> None:
    from op_lint.cli import COMMANDS

    assert [nearest(word, COMMANDS) for word in ("csrc", "src", "lib", "tests", "build", "kernels")] == [None] * 6
