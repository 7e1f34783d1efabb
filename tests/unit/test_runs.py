"""Runs beside each other, on damaged caches, interrupted, without readers, with lists of files, on terminals."""

from __future__ import annotations

import json
import os
import pty
import random
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.check import Outcome, run, write_project

WRONG = '#include <torch/library.h>\nTORCH_LIBRARY(NAME, m) { m.def("other::NAME(Tensor x) -> Tensor", &f); }\n'
COMMAND = [sys.executable, "-m", "op_lint", "check", "--torch-version", "2.13.0+cpu"]
JSON = ("--output-format", "json", "--cache-dir", "cache")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    files: dict[str, str | bytes] = {f"ops{number}.cpp": WRONG.replace("NAME", f"n{number}") for number in range(12)}
    files["more.py"] = 'import torch\nlib = torch.library.Library("n1", "FRAGMENT")\n'
    return write_project(tmp_path / "project", files)


def entries(project: Path) -> list[Path]:
    found = [file for file in (project / "cache").rglob("*") if file.is_file()]
    return [file for file in found if file.name not in ("CACHEDIR.TAG", ".gitignore", "pruned")]


def once(project: Path, *arguments: str) -> Outcome:
    done = subprocess.run([*COMMAND, *JSON, *arguments], cwd=project, capture_output=True, text=True)
    return Outcome(done.returncode, done.stdout, done.stderr)


def test_ten_runs_on_one_cache_agree(project: Path) -> None:
    runs = [
        subprocess.Popen([*COMMAND, *JSON, "--jobs", "1"], cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(10)
    ]
    answers = {(process.communicate(), process.returncode) for process in runs}
    assert len(answers) == 1
    (((out, _), status),) = answers
    assert status == 1
    assert len(json.loads(out)) == 12
    assert not [file for file in entries(project) if file.suffix == ".tmp"]
    warm = once(project, "--verbose")
    assert (warm.status, warm.out) == (1, out.decode())
    assert re.search(r"of these +0 read, 13 known", warm.err), "every entry that was left is whole"


def test_a_damaged_cache_is_thrown_away_without_a_word(project: Path) -> None:
    good = once(project)
    luck = random.Random(9)
    for file in entries(project):
        data = bytearray(file.read_bytes())
        damage = luck.randrange(4)
        if damage == 0:
            data = data[: luck.randrange(len(data))]
        elif damage == 1:
            data[luck.randrange(len(data))] ^= 1 << luck.randrange(8)
        elif damage == 2:
            data = bytearray(luck.randbytes(len(data)))
        else:
            data = bytearray()
        file.write_bytes(data)
    assert once(project) == good
    assert once(project, "--verbose").err.splitlines()[:4] != []
    assert re.search(r"of these +0 read, 13 known", once(project, "--verbose").err), "and made anew"


def test_a_cache_of_another_version_is_not_used(project: Path) -> None:
    good = once(project)
    other = (
        "import sys, op_lint.version; op_lint.version.VERSION = '0.0.9';"
        "from op_lint.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", other, *COMMAND[3:], *JSON, "--verbose"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (good.status, good.out)
    assert re.search(r"of these +13 read, 0 known", done.stderr)


def test_a_cache_that_cannot_be_written_costs_time_only(project: Path) -> None:
    good = once(project)
    (project / "file").write_text("not a folder")
    done = subprocess.run([*COMMAND, *JSON[:2], "--cache-dir", "file/x"], cwd=project, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (good.status, good.out)


def test_an_interrupt_leaves_the_cache_whole(tmp_path: Path) -> None:
    files = {f"ops{number}.cpp": WRONG.replace("NAME", f"n{number}") for number in range(300)}
    project = write_project(tmp_path / "project", dict(files))
    process = subprocess.Popen(
        [*COMMAND, *JSON, "--jobs", "2"],
        cwd=project,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    while len(entries(project)) < 5:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert (process.returncode, out, err.strip()) == (130, b"", b"interrupted")
    left = len([file for file in entries(project) if file.suffix != ".tmp"])
    again = once(project, "--verbose")
    assert (again.status, len(json.loads(again.out))) == (1, 300)
    found = re.search(r"of these +(\d+) read, (\d+) known", again.err)
    assert found
    assert int(found[2]) >= left - 1, "what was read before the interrupt is known"


@pytest.mark.parametrize(
    "phase",
    ["find files", "look for a kept run", "read files", "read build files", "ask torch", "run rules", "keep the run"],
)
def test_an_interrupt_in_any_phase(project: Path, phase: str) -> None:
    (project / "CMakeLists.txt").write_text("add_library(demo MODULE ops0.cpp ops1.cpp)\n")
    good = once(project, "--no-cache")
    interrupt = f"""
import os, signal, sys, threading
from op_lint.cli import main
from op_lint.stopwatch import Stopwatch

phase = Stopwatch.phase

def noted(self, name):
    if name == {phase!r}:  # a little later, by a thread: in the midst of it
        threading.Timer(0.002, os.kill, (os.getpid(), signal.SIGINT)).start()
    return phase(self, name)

Stopwatch.phase = noted
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(main(sys.argv[1:]))
"""
    command = [sys.executable, "-c", interrupt, *COMMAND[3:], *JSON]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr.splitlines()[-1]) in (
        (130, "", "interrupted"),
        (130, good.out, "interrupted"),  # as late as that
        (good.status, good.out, good.err.splitlines()[-1]),  # or even later
    )
    assert "Traceback" not in done.stderr
    assert not [file for file in entries(project) if file.suffix == ".tmp"]
    assert once(project) == good


def test_a_reader_of_stderr_or_of_json_who_goes_away(project: Path) -> None:
    for arguments in (("--output-format", "json"), ("--output-format", "sarif"), ("--diff",)):
        process = subprocess.Popen(
            [*COMMAND, "--no-cache", *arguments], cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read().decode()
        process.stderr.close()
        assert process.wait() == 1


def test_an_unreadable_file_is_a_finding(project: Path) -> None:
    (project / "ops0.cpp").unlink()
    (project / "ops0.cpp").symlink_to("/proc/self/mem")  # opens, and fails when it is read, also for root
    (finding,) = json.loads(once(project, "ops0.cpp").out)
    assert (finding["code"], finding["message"]) == ("OPL902", "the file cannot be read: Input/output error")
    everything = once(project)
    assert (everything.status, len(json.loads(everything.out))) == (1, 12), "the other files are read all the same"
    assert once(project, "ops0.cpp", "--ignore", "OPL902").status == 0


@pytest.mark.parametrize("named", ["", "ops1.cpp\nmore.py\n", "sub\n"])
def test_paths_from_a_list(project: Path, named: str) -> None:
    (project / "list.txt").write_text(named)
    (project / "sub").mkdir()
    outcome = run(project, "check", "--no-torch", "--jobs", "0", "--no-cache", "--output-format", "json", "@list.txt")
    if not named:
        assert outcome == (0, "", ""), "nothing is asked for, and not everything"
    else:
        found = [each["path"] for each in json.loads(outcome.out)]
        assert found == (["ops1.cpp"] if "ops1" in named else [])
    assert run(project, "check", "@none.txt").status == 2
    (project / "list.txt").write_text("nowhere.cpp\n")
    assert "nowhere.cpp" in run(project, "check", "@list.txt").err


@contextmanager
def on_a_terminal(command: list[str], folder: Path, **variables: str) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """Run a command whose stderr is a terminal; the other end of that."""
    ours, theirs = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name not in ("CI", "NO_COLOR", "TERM")}
    environment |= {"TERM": "xterm", **variables}
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=theirs, env=environment)
    os.close(theirs)
    try:
        yield ours, process
    finally:
        process.kill()
        process.communicate()
        os.close(ours)


def all_of(terminal: int) -> str:
    parts = []
    while select.select([terminal], [], [], 60)[0]:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        parts.append(part)
    return b"".join(parts).decode()


SLOW = (
    "import sys, time, op_lint.cli.progress as p, op_lint.analysis as a;"
    "p._PATIENCE = 0; p._BETWEEN = 0; from op_lint.cli import main; sys.exit(main(sys.argv[1:]))"
)


@pytest.mark.parametrize(("variables", "shown"), [({}, True), ({"CI": "true"}, False), ({"TERM": "dumb"}, False)])
def test_progress_is_for_terminals(project: Path, variables: dict[str, str], shown: bool) -> None:
    command = [sys.executable, "-c", SLOW, *COMMAND[3:], *JSON, "--jobs", "0", "--no-cache"]
    with on_a_terminal(command, project, **variables) as (terminal, process):
        seen = all_of(terminal)
        assert process.stdout is not None
        assert len(json.loads(process.stdout.read())) == 12
    assert ("read files" in seen and "13/13" in seen) is shown, seen
    assert "12 errors in 13 files" in seen


def test_no_progress_where_nobody_looks(project: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SLOW, *COMMAND[3:], *JSON], cwd=project, capture_output=True, text=True
    )
    assert "read files" not in done.stderr
    quiet = [sys.executable, "-c", SLOW, *COMMAND[3:], *JSON, "--quiet"]
    with on_a_terminal(quiet, project) as (terminal, _):
        assert all_of(terminal) == ""


def test_watch_looks_again_when_a_source_changes(project: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, "--output-format", "concise", "--cache-dir", "cache", "--watch"],
        cwd=project,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stdout is not None

    def until(end: str) -> list[str]:
        lines = [process.stdout.readline()]  # type: ignore[union-attr]
        while not lines[-1].startswith(end):
            assert lines[-1], lines
            lines.append(process.stdout.readline())  # type: ignore[union-attr]
        return lines

    try:
        assert sum("OPL206" in line for line in until("held against")) == 12
        (project / "notes.txt").write_text("of no interest")
        (project / "ops3.cpp").write_text("// nothing\n")
        second = until("held against")
        assert any(line.startswith("changed: ops3.cpp") for line in second), second
        assert sum("OPL206" in line for line in second) == 11
        (project / "ops4.cpp").unlink()
        assert sum("OPL206" in line for line in until("held against")) == 10
        (project / "ops5.cpp").rename(project / "moved.cpp")
        third = until("held against")
        assert any(line.startswith("changed: moved.cpp, ops5.cpp") for line in third), third
        assert {line.partition(":")[0] for line in third if "OPL206" in line} >= {"moved.cpp"}
        (project / "op-lint.toml").write_text("ignore = [")
        assert any("OPL904" in line for line in until("held against")), "and the watch goes on"
        (project / "op-lint.toml").write_text('ignore = ["OPL2"]\n')
        assert not any("OPL" in line for line in until("held against"))
        (project / "op-lint.toml").write_text('extend-exclude = ["ops6.cpp"]\n')
        assert sum("OPL206" in line for line in until("held against")) == 9
        (project / "ops6.cpp").write_text("// of no interest now\n")
        (project / "ops7.cpp").write_text("// nothing\n")
        last = until("held against")
        assert any(line.startswith("changed: ops7.cpp\n") for line in last), last
        os.killpg(process.pid, signal.SIGINT)
        assert "interrupted" in process.stdout.read()
        assert process.wait() == 130
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_watch_says_what_it_needs(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    outcome = run(project, "check", "--watch")
    assert outcome.status == 2
    assert "pip install 'op-lint[watch]'" in outcome.err


def test_shells_complete(tmp_path: Path) -> None:
    program = "import sys; from op_lint.cli import main; sys.argv[0] = 'op-lint'; sys.exit(main())"

    def complete(words: str, **variables: str) -> list[str]:
        environment = {**os.environ, "_OP_LINT_COMPLETE": "bash_complete", "COMP_WORDS": words, **variables}
        environment.setdefault("COMP_CWORD", str(len(words.split(" ")) - 1))
        done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
        return [line.partition(",")[2] for line in done.stdout.splitlines()]

    assert complete("op-lint do") == ["doctor"]
    assert complete("op-lint check --stat") == ["--statistics"]
    assert complete("op-lint check --output-format sa") == ["sarif"]
    assert complete("op-lint --stat") == ["--statistics"], "`check` may be left out"
    assert complete("op-lint --select OPL1 --stat") == ["--statistics"]
    assert complete("op-lint check --select OPL101,OPL20") == [f"OPL101,OPL20{number}" for number in range(1, 10)]
    assert complete("op-lint rule missing-f") == ["missing-fake-kernel"]
    environment = {**os.environ, "_OP_LINT_COMPLETE": "zsh_source"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.stdout.startswith("#compdef op-lint")
