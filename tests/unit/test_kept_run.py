"""A run of which nothing has changed is not done again, and says the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import op_lint.macros
from op_lint import kept_run
from tests.check import Outcome, copy_of, run, write_project

EXAMPLE = Path(__file__).parents[2] / "examples" / "myops"

OPS = """#include <torch/library.h>
#include "names.h"
#ifdef SWITCH
#define NAME "second"
#else
#define NAME "first"
#endif
at::Tensor kernel(const at::Tensor& x);
TORCH_LIBRARY(demo, m) { m.def(NAME "(Tensor x) -> Tensor"); m.def(OTHER "(Tensr x) -> Tensor"); }
TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl("first", &kernel); m.impl("thrid", &kernel); }
TORCH_LIBRARY(MACRO_NAME, m) { m.def("f(Tensor x) -> Tensor"); }
"""
KERNEL = "#include <ATen/ATen.h>\nat::Tensor kernel(const at::Tensor& x) { return x.clone(); }\n"
PROJECT: dict[str, str | bytes] = {
    "ops.cpp": OPS,
    "names.h": '#pragma once\n#define OTHER "third"\n',
    "kernel.cpp": KERNEL,
    "demo/__init__.py": "import torch\n\n\ndef f(x):\n    return torch.ops.demo.nothing(x)\n",
    "CMakeLists.txt": "project(demo)\ninclude(build/list.cmake)\nadd_library(demo SHARED ops.cpp ${MORE})\n",
    "build/list.cmake": "set(MORE kernel.cpp)\n",
    "configure.sh": "echo\n",
}


def check(project: Path, *arguments: str) -> Outcome:
    given = ("--torch-version", "2.13.0", *arguments)
    return run(project, "check", "--jobs", "0", "--select", "ALL", "--output-format", "json", *given)


def fresh(project: Path, *arguments: str) -> Outcome:
    return check(project, "--no-cache", *arguments)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_project(tmp_path / "project", PROJECT)


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A word for each run that asked the rules."""
    said: list[str] = []
    original = kept_run.RunKeeper.keep

    def keep(*arguments: object) -> None:
        said.append("judged")
        original(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(kept_run.RunKeeper, "keep", keep)
    return said


def test_the_second_run_does_not_judge_and_says_the_same(project: Path, judged: list[str]) -> None:
    first = check(project)
    assert len(json.loads(first.out)) >= 4
    assert check(project) == first == fresh(project)
    assert judged == ["judged"]


def test_paths_may_be_others(project: Path, judged: list[str]) -> None:
    check(project)
    kept = check(project, "demo")
    assert kept == fresh(project, "demo")
    assert {each["path"] for each in json.loads(kept.out)} == {"demo/__init__.py"}
    assert judged == ["judged"]


def write(name: str, text: str) -> Callable[[Path], None]:
    def change(project: Path) -> None:
        (project / name).write_text(text)

    return change


CHANGES: dict[str, Callable[[Path], None]] = {
    "a source": write("ops.cpp", OPS.replace("Tensr", "Tensor")),
    "a header": write("names.h", '#pragma once\n#define OTHER "fourth"\n'),
    "a source that only the linker sees": write("kernel.cpp", KERNEL.replace("kernel(", "kernal(")),
    "a new source": write("more.cpp", '#include <torch/library.h>\nTORCH_LIBRARY(demo, m) { m.def("g() -> ()"); }\n'),
    "a source is gone": lambda project: (project / "ops.cpp").unlink(),
    "Python": write("demo/__init__.py", "import torch\n\n\ndef f(x):\n    return torch.ops.demo.first(x)\n"),
    "a suppression": write("ops.cpp", OPS.replace("m) { m.def(NAME", "m) { // op-lint: ignore-file\nm.def(NAME")),
    "a build file": write("CMakeLists.txt", "project(demo)\nadd_library(demo SHARED kernel.cpp)\n"),
    "a file that a build file includes, in a folder that is not searched": write("build/list.cmake", "set(MORE)\n"),
    "a compile database": write(
        "compile_commands.json",
        json.dumps([{"directory": ".", "file": "ops.cpp", "arguments": ["c++", "-DSWITCH", "-c", "ops.cpp"]}]),
    ),
    "what defines a macro": write("configure.sh", "c++ -DMACRO_NAME=demo2\n"),
    "settings": write("op-lint.toml", 'ignore = ["OPL1"]\n'),
    "wrong settings": write("op-lint.toml", "ignor = 1\n"),
    "what is left out": write(".gitignore", "ops.cpp\n"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_a_run_depends_on_is_looked_at_again(project: Path, change: str, judged: list[str]) -> None:
    check(project)
    CHANGES[change](project)
    assert check(project) == fresh(project)
    assert len(judged) == 2


def test_so_is_what_is_asked(project: Path, judged: list[str]) -> None:
    for arguments in ((), ("--torch-version", "2.4.0"), ("--ignore", "OPL1"), ("--ignore", "OPL2"), ("--isolated",)):
        assert check(project, *arguments) == fresh(project, *arguments)
    assert len(judged) == 5


def test_everything_that_the_first_run_opens_the_second_looks_at(tmp_path: Path) -> None:
    """Whatever a later reader of build files does: what it opens is looked at again, or this fails."""
    project = copy_of(EXAMPLE, tmp_path)
    for name, content in PROJECT.items():
        if name != "op-lint.toml":
            file = project / "more" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(str(content))
    script = (
        "import os, sys\n"
        "seen = set()\n"
        "def hook(event, arguments):\n"
        "    if event in ('open', 'os.scandir', 'os.listdir') and isinstance(arguments[0], (str, os.PathLike)):\n"
        "        seen.add(os.path.abspath(arguments[0]))\n"
        "from op_lint.cli import main\n"
        "sys.addaudithook(hook)\n"
        "main(sys.argv[1:])\n"
        "print(*sorted(each for each in seen if each.startswith(os.getcwd())), sep='\\n')\n"
    )
    command = [
        sys.executable,
        "-c",
        script,
        "check",
        "--jobs",
        "0",
        "--torch-version",
        "2.13.0",
        "--output-file",
        os.devnull,
    ]
    opened = [
        set(subprocess.run(command, cwd=project, capture_output=True, text=True, check=True).stdout.splitlines())
        for _ in range(2)
    ]
    assert str(project / "more" / "build" / "list.cmake") in opened[0]
    assert opened[0] - opened[1] == set()


def test_another_op_lint_finds_nothing_kept(project: Path, judged: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    check(project)
    monkeypatch.setattr(kept_run, "_sources_of", lambda packages: b"another")
    check(project)
    assert len(judged) == 2


def test_a_damaged_run_is_thrown_away(project: Path, tmp_path: Path, judged: list[str]) -> None:
    cache = ("--cache-dir", str(tmp_path / "cache"))
    first = check(project, *cache)
    (kept,) = (tmp_path / "cache" / "facts" / "runs").iterdir()
    kept.write_bytes(kept.read_bytes()[:-9])
    assert check(project, *cache) == first
    assert len(judged) == 2


def test_a_run_with_a_failing_rule_is_not_kept(
    project: Path, judged: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import op_lint_rules.registration.impl_without_def as module

    monkeypatch.setattr(module.ImplWithoutDef, "check", lambda *_: 1 / 0)
    assert [check(project).status, check(project).status] == [2, 2]
    monkeypatch.undo()
    assert check(project).status == 1


def test_a_run_during_which_a_source_changes_is_not_kept(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = op_lint.macros.search_macros

    def search(root: Path, files: object) -> object:
        (project / "ops.cpp").write_text(OPS.replace("Tensr", "Tensor"))
        return original(root, files)  # type: ignore[arg-type]

    monkeypatch.setattr("op_lint.examine.search_macros", search)
    check(project)
    monkeypatch.undo()
    assert check(project).out == fresh(project).out


def test_a_pack_may_be_one_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "lonely_pack.py"
    file.write_text("x = 1\n")
    module = type(sys)("lonely_pack")
    module.__file__ = str(file)
    monkeypatch.setitem(sys.modules, "lonely_pack", module)
    assert list(kept_run._files_of("lonely_pack")) == [file]


def test_the_torch_of_the_first_run_is_that_of_the_second(
    judged: list[str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read by a process at first, from the cache then: a report says the same of both."""
    for variable in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(variable, str(project.parent / "cache"))
    given = ("check", "--jobs", "0", "--python", sys.executable)
    first = run(project, *given)
    assert (first.status, judged) == (1, ["judged"])
    assert run(project, *given).out == first.out
    assert judged == ["judged"]
