from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType

import pytest

from op_lint.findings import Finding, Severity
from op_lint.packs import GROUP
from op_lint.program import Program
from op_lint.rule import Rule
from op_lint.version import VERSION
from tests.check import Outcome, run, run_process, write_project

WRONG = '#include <torch/library.h>\nTORCH_LIBRARY(demo, m) { m.def("other::a(Tensor x) -> Tensor", &f); }\n'
RIGHT = '#include <torch/library.h>\nTORCH_LIBRARY(demo, m) { m.def("a(Tensor x) -> Tensor", &f); }\n'
FINE = RIGHT.replace("demo", "fine")
FAST = ("--no-torch", "--jobs", "0", "--no-cache")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_project(tmp_path / "project", {"wrong.cpp": WRONG, "sub/right.cpp": FINE})


def check(folder: Path, *arguments: str) -> Outcome:
    return run(folder, "check", *FAST, *arguments)


def codes(outcome: Outcome) -> list[str]:
    return [finding["code"] for finding in json.loads(outcome.out)]


def test_version_and_help(tmp_path: Path) -> None:
    assert run(tmp_path, "--version") == (0, f"op-lint {VERSION}\n", "")
    assert "doctor" in run(tmp_path, "--help").out
    assert run(tmp_path, "-h").status == run(tmp_path, "check", "-h").status == 0


def test_check_is_what_is_meant_without_a_command(project: Path) -> None:
    outcome = run(project, *FAST)
    assert outcome.status == 1
    assert outcome == check(project) == check(project, ".") == run(project, "wrong.cpp", "sub", *FAST)


def test_findings_are_for_the_paths_that_are_named(project: Path) -> None:
    assert check(project, "wrong.cpp").status == 1
    assert check(project, "sub").status == 0
    assert check(project / "sub").status == 0
    assert check(project / "sub", "..").status == 1


def test_exit_status(project: Path) -> None:
    assert check(project).status == 1
    assert check(project, "--exit-zero").status == 0
    assert check(project, "--ignore", "OPL206").status == 0
    assert check(project, "nowhere.cpp").status == 2
    assert check(project, "--no-such-option").status == 2
    assert check(project, "--jobs", "-1").status == 2
    assert "nowhere.cpp" in check(project, "nowhere.cpp").err


def test_no_file_is_success(tmp_path: Path) -> None:
    write_project(tmp_path, {"README.md": "nothing"})
    assert check(tmp_path) == (0, "no C++ or Python files here\n", "")
    assert check(tmp_path, "README.md").status == 0
    assert check(tmp_path, "--output-format", "json") == (0, "[]\n", "no C++ or Python files here\n")


def test_selection(project: Path) -> None:
    json_of = ("--output-format", "json")
    assert codes(check(project, *json_of)) == ["OPL206"]
    assert codes(check(project, *json_of, "--select", "namespace-mismatch,OPL9")) == ["OPL206"]
    assert codes(check(project, *json_of, "--select", "OPL9")) == []
    assert codes(check(project, *json_of, "--select", "OPL9", "--extend-select", "OPL206")) == ["OPL206"]
    (project / "op-lint.toml").write_text('ignore = ["OPL2"]\n')
    assert codes(check(project, *json_of)) == []
    assert codes(check(project, *json_of, "--select", "OPL206")) == ["OPL206"]
    assert codes(check(project, *json_of, "--isolated")) == ["OPL206"]


def test_a_selector_that_means_nothing(project: Path) -> None:
    outcome = check(project, "--select", "namespace-mismatched")
    assert outcome.status == 2
    assert "did you mean `namespace-mismatch`?" in outcome.err


def test_all_selectors_that_mean_nothing(project: Path) -> None:
    outcome = check(project, "--select", "OPL999,OPL206", "--ignore", "nothing")
    assert outcome.status == 2
    assert "`OPL999`" in outcome.err
    assert "`nothing`" in outcome.err


def test_formats_and_files(project: Path, tmp_path: Path) -> None:
    concise = check(project, "--output-format", "concise").out
    assert concise.startswith("wrong.cpp:2:33: error OPL206 ")
    target = tmp_path / "report.json"
    outcome = check(project, "--output-format", "json", "--output-file", str(target), "--quiet")
    assert outcome == (1, "", "")
    assert json.loads(target.read_text())[0]["code"] == "OPL206"
    assert check(project, "--output-file", str(tmp_path / "no" / "folder")).status == 2


def test_paths_are_shown_from_where_one_stands(project: Path) -> None:
    assert check(project.parent, "project", "--output-format", "concise").out.startswith("project/wrong.cpp:2:33:")
    elsewhere = project.parent / "elsewhere"
    elsewhere.mkdir()
    assert check(elsewhere, str(project), "--output-format", "concise").out.startswith(f"{project}/wrong.cpp:2:33:")


def test_what_people_ask_for_besides(project: Path) -> None:
    assert "     1  OPL206  namespace-mismatch\n" in check(project, "--statistics").out
    timings = check(project, "--timings").out
    assert all(phase in timings for phase in ("find files", "read files", "ask torch", "run rules", "OPL206"))
    assert check(project, "--show-files") == (0, "sub/right.cpp\nwrong.cpp\n", "")
    assert check(project, "--show-files", "sub") == (0, "sub/right.cpp\n", "")
    assert "1 error in 2 files" in check(project).out
    assert "1 error" not in check(project, "--quiet").out
    assert f"project      {project}" in check(project, "--verbose").err


def test_stdin_stands_for_a_file(project: Path) -> None:
    arguments = ("check", "--no-torch", "--output-format", "json", "--stdin-filename")
    wrong = run_process(project, *arguments, "sub/new.cpp", "-", stdin=WRONG.replace("demo", "more").encode())
    assert [(each["code"], each["path"]) for each in json.loads(wrong.out)] == [("OPL206", "sub/new.cpp")]
    right = run_process(project, *arguments, "wrong.cpp", "-", stdin=RIGHT.encode())
    assert (right.status, json.loads(right.out)) == (0, [])
    assert check(project, "-").status == check(project, "--stdin-filename", "x.cpp").status == 2
    assert run_process(project, *arguments, "x.cpp", "-", "wrong.cpp").status == 2


def test_configuration(project: Path) -> None:
    (project / "op-lint.toml").write_text('ignroe = ["OPL206"]\nextend-select = ["OPL99"]\n')
    outcome = check(project, "--output-format", "concise")
    assert outcome.status == check(project, "--exit-zero").status == 2
    assert "op-lint.toml:1:1: error OPL904 there is no setting `ignroe`; did you mean `ignore`?" in outcome.out
    assert "op-lint.toml:2:1: error OPL904 `extend-select`: no rule has the code, prefix or name `OPL99`" in outcome.out
    not_selected = check(project, "--select", "OPL206")
    assert "OPL904" not in not_selected.out
    assert "op-lint.toml:1:1: there is no setting `ignroe`; did you mean `ignore`?" in not_selected.err
    assert "OPL904" in check(project, "sub", "--output-format", "concise").out, "it concerns every file"
    (project / "other.toml").write_text('exclude = ["wrong.cpp"]\n')
    assert check(project, "--config", "other.toml").status == 0
    assert check(project, "--config", "other.toml", "--isolated").status == 2
    assert check(project, "--config", "missing.toml").status == 2


def test_a_named_file_is_read_though_excluded(project: Path) -> None:
    (project / "op-lint.toml").write_text('extend-exclude = ["wrong.cpp"]\n')
    assert check(project).status == 0
    assert check(project, "wrong.cpp").status == 1
    assert check(project, "wrong.cpp", "--force-exclude").status == 0
    (project / "op-lint.toml").write_text('extend-exclude = ["wrong.cpp"]\nforce-exclude = true\n')
    assert check(project, "wrong.cpp").status == 0


class Fails(Rule):
    """A rule with a fault."""

    code = "AAA1"
    name = "fails"
    severity = Severity.ERROR

    def check(self, program: Program) -> Iterator[Finding]:
        raise KeyError("nothing here")


@pytest.fixture
def other_pack(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = ModuleType("another_pack")
    module.rules = lambda: [Fails]  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "another_pack", module)
    points = [*entry_points(group=GROUP), EntryPoint("another", "another_pack", GROUP)]
    monkeypatch.setattr("op_lint.packs.entry_points", lambda group: points)
    return module


def test_a_rule_that_fails_is_an_internal_error_and_the_others_speak(project: Path, other_pack: ModuleType) -> None:
    outcome = check(project)
    assert outcome.status == 2
    assert "OPL206" in outcome.out
    assert "internal error, please report: rule AAA1 fails failed at " in outcome.err
    assert "KeyError: 'nothing here'" in outcome.err
    assert "Traceback" not in outcome.err
    assert "Traceback" in check(project, "--verbose").err


def test_a_broken_pack_is_a_message(project: Path, other_pack: ModuleType) -> None:
    del other_pack.rules
    outcome = check(project)
    assert outcome.status == 1
    assert "rule pack `another` (another_pack): AttributeError" in outcome.err


def test_packs_that_clash_are_an_error(project: Path, other_pack: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Fails, "code", "OPL206")
    outcome = check(project)
    assert outcome.status == 2
    assert "`OPL206` is claimed by " in outcome.err


def test_a_fault_of_our_own_is_told_in_one_line(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("op_lint.cli.check.load_packs", lambda: 1 / 0)
    outcome = check(project)
    assert (outcome.status, outcome.err.count("\n")) == (2, 1)
    assert "please report this: ZeroDivisionError: division by zero" in outcome.err


def test_a_reader_who_goes_away_changes_nothing(tmp_path: Path) -> None:
    definitions = "".join(f'  m.def("other::a{number}(Tensor x) -> Tensor", &f);\n' for number in range(2000))
    write_project(tmp_path, {"ops.cpp": f"#include <torch/library.h>\nTORCH_LIBRARY(demo, m) {{\n{definitions}}}\n"})
    command = [sys.executable, "-m", "op_lint", "--no-torch", "--no-cache"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        error = process.stderr.read()
    assert (process.returncode, error) == (1, b"")


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("--help",), 0),
        (("--version",), 0),
        (("check", "--help"), 0),
        (("rule", "--help"), 0),
        (("rule", "--all"), 0),
        (("rule", "OPL206"), 0),
        (("config",), 0),
        (("config", "--schema"), 0),
        (("config", "--verify"), 0),
        (("ops",), 0),
        (("doctor",), 0),
        (("check", "--show-files"), 0),
        (("check",), 1),
        (("check", "--verbose", "--timings", "--statistics"), 1),
        (("check", "--exit-zero"), 0),
        (("check", "--output-format", "json"), 1),
        (("check", "--diff"), 1),
        (("table", "fine::a"), 0),
        (("why", "fine::a", "--device", "cpu"), 0),
        (("report", "--html", "-"), 0),
        (("check", "--no-such-option"), 2),
        (("check", "--baseline", "none.json"), 2),
        (("rule", "OPL9999"), 2),
    ],
)
def test_nobody_who_reads_changes_no_exit_status(tmp_path: Path, arguments: tuple[str, ...], status: int) -> None:
    write_project(tmp_path, {"ops.cpp": WRONG, "fine.cpp": FINE, "op-lint.toml": 'torch-version = "2.13"\n'})
    gone, ours = os.pipe()
    os.close(gone)
    command = [sys.executable, "-m", "op_lint", *arguments]
    try:
        assert subprocess.run(command, cwd=tmp_path, stdout=ours, stderr=ours).returncode == status
    finally:
        os.close(ours)


def test_an_interrupt_ends_the_run_and_its_workers(tmp_path: Path) -> None:
    write_project(tmp_path, {f"ops{number}.cpp": WRONG.replace("demo", f"demo{number}") for number in range(400)})
    command = [sys.executable, "-m", "op_lint", "--no-torch", "--cache-dir", "cache", "--jobs", "2"]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        # A test run in the background has its interrupts ignored, and its children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    while not (tmp_path / "cache").exists():  # the first facts are kept: the run is under way
        assert process.poll() is None
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    out, error = process.communicate()
    assert (process.returncode, out, error.strip()) == (130, b"", b"interrupted")
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


def test_ops(project: Path) -> None:
    found = json.loads(run(project, "ops", "--output-format", "json").out)
    assert [(each["namespace"], each["name"], each["schema"]) for each in found["ops"]] == [
        ("fine", "a", "a(Tensor x) -> Tensor"),
        ("other", "a", "other::a(Tensor x) -> Tensor"),
    ]
    (definition,) = found["ops"][0]["definitions"]
    assert definition == {
        "path": "sub/right.cpp",
        "line": 2,
        "column": 26,
        "condition": "",
        "language": "c++",
        "spelled": None,
        "calls": [],
        "implies": [],
    }
    assert [unit["namespace"] for unit in found["units"]] == ["fine", "demo"]
    assert found["files"] == {"scanned": 2, "parsed": 2, "problems": 0}
    assert (found["fallbacks"], found["unresolved"], found["problems"]) == ([], [], [])
    scoped = json.loads(run(project, "ops", "sub", "--output-format", "json").out)
    assert [each["namespace"] for each in scoped["ops"]] == ["fine"]


def test_ops_for_people(project: Path) -> None:
    outcome = run(project, "ops")
    assert outcome.status == 0
    lines = [" ".join(line.split()) for line in outcome.out.splitlines()]
    start = lines.index("fine::a a(Tensor x) -> Tensor")
    assert lines[start + 1 : start + 3] == ["def sub/right.cpp:2", "CompositeImplicitAutograd f sub/right.cpp:2"]


PLATFORM = """
import torch
from torch.library import Library
from .platforms import current
from .types import Name

lib = Library("demo", "DEF")
READY = False

def register(name, schema, fake):
    lib.define(name + schema)
    lib.impl(name, lambda x: x.clone(), current.dispatch_key)
    lib._register_fake(name, fake)

def register_all():
    global READY
    if not READY:
        register("a", "(Tensor x) -> Tensor", lambda x: torch.empty_like(x))
        READY = True

register_all()

@torch.library.custom_op("demo::b", mutates_args=())
def b(x: torch.Tensor, name: Name) -> torch.Tensor: ...

lib.define(current.name)
"""


def test_ops_whose_key_depends_on_the_platform(tmp_path: Path) -> None:
    """What is not known of an operator stands with it; no rule takes the kernel for missing."""
    folder = write_project(tmp_path, {"demo/__init__.py": "", "demo/ops.py": PLATFORM})
    found = json.loads(run(folder, "ops", "--output-format", "json").out)
    by_name = {each["operator"]: each for each in found["unresolved"]}
    reason = "the key is `demo.platforms.current.dispatch_key`"
    assert by_name["demo::a"].items() >= {"what": "impl", "reason": reason, "condition": "!READY", "line": 18}.items()
    lines = [" ".join(line.split()).partition(" (written at")[0] for line in run(folder, "ops").out.splitlines()]
    assert lines == [
        "demo::a a(Tensor x) -> Tensor",
        "def demo/ops.py:18 if !READY",
        "Meta register_all.<locals>.<lambda> demo/ops.py:18 if !READY",
        f"? {reason} demo/ops.py:18 if !READY",
        "demo::b (a schema that only the running program knows)",
        "def demo/ops.py:23",
        "CompositeExplicitAutograd b demo/ops.py:23",
        "unresolved",
        "def the schema is `demo.platforms.current.name` demo/ops.py:26",
        "2 operators, 2 kernels, 2 registration units and 2 unresolved registrations in 1 of 2 files",
    ]
    rules = ("--select", "OPL301,OPL302,OPL303,OPL304,OPL412", "--output-format", "json")
    assert codes(run(folder, "check", "--torch-version", "2.13.0", *rules)) == []


def test_rule(tmp_path: Path) -> None:
    by_code = run(tmp_path, "rule", "OPL901")
    assert by_code == run(tmp_path, "rule", "unused-suppression")
    assert by_code.out.startswith("# unused-suppression (OPL901)\n\nwarning · on by default · ")
    assert "## Use instead" in by_code.out
    listed = run(tmp_path, "rule").out
    assert "OPL901  unused-suppression " in listed
    assert by_code.out in run(tmp_path, "rule", "--all").out
    assert run(tmp_path, "rule", "OPL901", "--all").status == 2
    wrong = run(tmp_path, "rule", "unused-supression")
    assert wrong.status == 2
    assert "did you mean `unused-suppression`?" in wrong.err


@pytest.mark.skipif(os.name == "nt", reason="the interpreter is a shell script")
def test_doctor_shows_what_the_interpreter_said(project: Path) -> None:
    """The message says how it ended, and what it wrote before that says why."""
    python = project / "python"
    python.write_text("#!/bin/sh\necho 'version GLIBC_2.38 not found' >&2\nkill -SEGV $$\n", encoding="utf-8")
    python.chmod(0o755)
    rows = run(project, "doctor", "--python", str(python), "--no-cache").out.splitlines()
    (number,) = (number for number, row in enumerate(rows) if "it ended with SIGSEGV" in row)
    assert rows[number + 1].strip() == "version GLIBC_2.38 not found"


def test_doctor(project: Path) -> None:
    outcome = run(project, "doctor", "--cache-dir", str(project / "cache"))
    assert outcome.status == 0, outcome
    found = dict(line.split(maxsplit=1) for line in outcome.out.splitlines())
    assert found["project"] == str(project)
    assert found["configuration"] == "op-lint.toml"
    assert found["files"] == "2 C++, 0 Python"
    assert found["libclang"].startswith("18.")
    assert found["torch"].startswith("held against ")
    (project / "op-lint.toml").write_text("zzz = 1\n")
    assert run(project, "doctor").status == 2


def test_a_folder_outside_the_root_is_not_searched(project: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    outcome = run(elsewhere, "check", *FAST, "--root", str(project), ".")
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err.endswith(f"Error: '.' is not in the root of the project, '{project}'\n")
    around = run(tmp_path, "check", *FAST, "--root", "project", "--output-format", "concise", ".")
    assert (around.status, around.out.partition(":")[0]) == (1, "project/wrong.cpp"), "the root is in it: all of it"
    named = run(elsewhere, "check", *FAST, "--root", str(project), "../project/sub", "--output-format", "json")
    assert (named.status, named.out) == (0, "[]\n")


def test_a_torch_version_that_no_snapshot_is_of(project: Path) -> None:
    outcome = run(project, "check", "--torch-version", "1.0")
    assert outcome.status == 2
    assert "--torch-version 1.0: no snapshot of torch is that old; there are 2.4.0, 2.5.1, " in outcome.err
    near = run(project, "check", *FAST[1:], "--torch-version", "2.99")
    assert "torch: there is no snapshot of torch 2.99, the nearest serves; there are 2.4.0, 2.5.1, " in near.out
    assert "there is no snapshot" not in run(project, "check", *FAST[1:], "--torch-version", "2.13.7").out
    (project / "op-lint.toml").write_text('torch-version = "1.0"\n')
    configured = run(project, "check", *FAST[1:])
    assert "torch: there is no snapshot of torch 1.0, the nearest serves; there are 2.4.0, 2.5.1, " in configured.out
