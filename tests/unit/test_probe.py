"""Whatever an interpreter and its torch do, reading them gives one clear message and the snapshot serves."""

from __future__ import annotations

import ast
import os
import sys
import time
from pathlib import Path

import pytest

from op_lint.installed import child
from op_lint.installed.bundled import DEFAULT
from op_lint.installed.child import PROBE
from op_lint.installed.interpreter import InterpreterSearch
from op_lint.installed.model import Origin, ProblemCode
from op_lint.installed.reader import Reading, ReadRequest, read_installed

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the interpreters are shell scripts")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def script(folder: Path, text: str) -> str:
    """An interpreter that is a shell script."""
    path = folder / "python"
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def with_torch(folder: Path, code: str) -> str:
    """An interpreter whose torch is a package of this code."""
    package = folder / "site" / "torch"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(code, encoding="utf-8")
    return script(folder, f'PYTHONPATH="{package.parent}" exec "{sys.executable}" "$@"')


def read(interpreter: str, timeout: float = 60.0) -> Reading:
    return read_installed(ReadRequest(InterpreterSearch(option=interpreter), timeout=timeout))


def problem(reading: Reading) -> tuple[ProblemCode, str]:
    """The one problem of a reading that the snapshot served for."""
    assert (reading.origin, reading.torch.version) == (Origin.SNAPSHOT, DEFAULT)
    assert reading.package is None
    (only,) = reading.problems
    assert "\n" not in only.message
    return only.code, only.message


def test_torch_is_absent(folder: Path) -> None:
    python = with_torch(folder, "raise ModuleNotFoundError(\"No module named 'torch'\", name='torch')")
    assert problem(read(python)) == (ProblemCode.ABSENT, f"{python}: torch is not installed")


def test_torch_is_broken(folder: Path) -> None:
    python = with_torch(folder, "raise ImportError('libcudart.so.12: cannot open shared object file\\nmore')")
    assert problem(read(python)) == (
        ProblemCode.BROKEN,
        f"{python}: import torch fails: ImportError: libcudart.so.12: cannot open shared object file",
    )


def test_torch_lacks_a_module(folder: Path) -> None:
    python = with_torch(folder, "import typing_extensions_of_old")
    assert problem(read(python)) == (
        ProblemCode.BROKEN,
        f"{python}: import torch fails: No module named 'typing_extensions_of_old'",
    )


def test_torch_is_no_python(folder: Path) -> None:
    python = with_torch(folder, "def broken(:")
    code, message = problem(read(python))
    assert code is ProblemCode.BROKEN
    assert message.startswith(f"{python}: import torch fails: SyntaxError: invalid syntax (__init__.py, line 1)")


def test_an_error_that_is_no_text(folder: Path) -> None:
    """A lone surrogate is how Python has a file's name that is not UTF-8."""
    python = with_torch(folder, "raise ImportError('/lib/\\udcff.so: \u2713')")
    message = f"{python}: import torch fails: ImportError: /lib/?.so: \u2713"
    assert problem(read(python)) == (ProblemCode.BROKEN, message)


def test_what_is_to_be_loaded_is_no_text(folder: Path) -> None:
    python = with_torch(folder, "raise ModuleNotFoundError('', name='torch')")
    reading = read_installed(ReadRequest(InterpreterSearch(option=python, root=folder / "\udcff"), load=("\udcff.so",)))
    assert problem(reading)[0] is ProblemCode.ABSENT


def test_torch_is_something_else(folder: Path) -> None:
    python = with_torch(folder, "")
    code, message = problem(read(python))
    assert code is ProblemCode.BROKEN
    assert message.startswith(f"{python}: what `import torch` finds is not torch: {folder}")


def test_torch_is_too_old(folder: Path) -> None:
    python = with_torch(folder, "import types\n__version__ = '1.2.0'\n_C = types.ModuleType('_C')")
    code, message = problem(read(python))
    assert code is ProblemCode.TOO_OLD
    assert message.startswith(f"{python}: torch 1.2.0 is too old to be read: ")


@pytest.mark.parametrize("name", ["SIGSEGV", "SIGABRT", "SIGILL"])
def test_torch_crashes(folder: Path, name: str) -> None:
    python = with_torch(folder, f"import os, signal\nos.kill(os.getpid(), signal.{name})")
    message = f"{python}: importing torch ended the process with {name}"
    assert problem(read(python)) == (ProblemCode.CRASHED, message)


def test_torch_ends_the_process(folder: Path) -> None:
    python = with_torch(folder, "import os, sys\nsys.stderr.write('out of luck\\n')\nsys.stderr.flush()\nos._exit(3)")
    reading = read(python)
    assert problem(reading) == (
        ProblemCode.CRASHED,
        f"{python}: importing torch ended the process with exit code 3",
    )
    assert reading.problems[0].detail == "out of luck\n"


def test_torch_hangs(folder: Path) -> None:
    python = with_torch(folder, "import time\ntime.sleep(1000)")
    message = f"{python}: importing torch took more than 1 s and was stopped"
    assert problem(read(python, 1.0)) == (ProblemCode.TIMEOUT, message)


def test_the_interpreter_prints_rubbish(folder: Path) -> None:
    python = script(folder, "echo '{\"torch\": 1}'; echo rubbish >&2; exit 0")
    reading = read(python)
    assert problem(reading) == (
        ProblemCode.RUBBISH,
        f"{python} is no Python 3.8 or later: it ended with exit code 0 and without an answer",
    )
    assert reading.problems[0].detail == "rubbish\n"


def test_rubbish_around_the_answer_does_no_harm(folder: Path) -> None:
    python = with_torch(folder, "print('@@op-lint-0 torch {}', end='')\nraise ModuleNotFoundError('', name='torch')")
    wrapper = folder / "wrapper"
    wrapper.mkdir()
    rubbish = script(wrapper, f'printf "\\377\\000 no newline"; "{python}" "$@"; printf "%s" "{{}}"')
    assert problem(read(rubbish))[0] is ProblemCode.ABSENT


def test_the_interpreter_prints_without_end(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "_MOST_OUTPUT", 1 << 20)
    python = script(folder, "exec yes")
    message = f"{python} printed without end and was stopped"
    assert problem(read(python)) == (ProblemCode.RUBBISH, message)


def test_the_interpreter_hangs(folder: Path) -> None:
    python = script(folder, "exec sleep 1000")
    assert problem(read(python, 0.2)) == (
        ProblemCode.TIMEOUT,
        f"{python}: importing torch took more than 0.2 s and was stopped",
    )


def test_the_interpreter_is_no_file_that_can_be_run(folder: Path) -> None:
    (folder / "python").write_text("text", encoding="utf-8")
    python = f"--python {folder / 'python'}"
    assert (
        problem(read(str(folder / "python")))[1] == f"{python}: is not executable: name an interpreter that has torch"
    )
    (folder / "empty").mkdir()
    message = f"--python {folder / 'empty'}: has no bin/python: name an interpreter that has torch"
    assert problem(read(str(folder / "empty")))[1] == message


def test_the_interpreter_is_no_program(folder: Path) -> None:
    python = folder / "python"
    python.write_bytes(b"\x7fELF rubbish")
    python.chmod(0o755)
    code, message = problem(read(str(python)))
    assert code is ProblemCode.RUBBISH
    assert message == f"{python} cannot be started: Exec format error"


def test_what_the_interpreter_starts_is_ended_with_it(folder: Path) -> None:
    pid = folder / "pid"
    python = script(folder, f'sleep 1000 & echo $! > "{pid}"')
    assert problem(read(python))[0] is ProblemCode.RUBBISH
    process = int(pid.read_text(encoding="utf-8"))
    for _ in range(100):
        if not is_running(process):
            return
        time.sleep(0.05)
    pytest.fail("the grandchild lives on")


def is_running(process: int) -> bool:
    """Whether it is there and no zombie."""
    status = Path(f"/proc/{process}/stat")
    if status.parent.parent.joinpath("self").exists():
        return status.exists() and status.read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_no_interpreter() -> None:
    code, message = problem(read_installed(ReadRequest(InterpreterSearch(own=""))))
    assert code is ProblemCode.NO_INTERPRETER
    assert message == "no Python interpreter to read torch with: name one with --python"
    assert problem(read("/nowhere/python")) == (
        ProblemCode.NO_INTERPRETER,
        "--python /nowhere/python: does not exist: name an interpreter that has torch",
    )


def test_nothing_of_an_untrusted_workspace_is_run(folder: Path) -> None:
    ran = folder / "ran"
    project = folder / "project"
    for place in (project / ".venv/bin", project / "configured", project / "editor"):
        place.mkdir(parents=True)
        script(place, f'touch "{ran}"')
    (project / "torch.py").write_text(f"open({str(ran)!r}, 'w')", encoding="utf-8")
    search = InterpreterSearch(
        configured=str(project / "configured/python"),
        editor=str(project / "editor/python"),
        root=project,
        environment={"VIRTUAL_ENV": str(project / ".venv")},
        own=with_torch(folder, "raise ModuleNotFoundError('', name='torch')"),
        trusted=False,
    )
    reading = read_installed(ReadRequest(search, load=("lib.so",), imports=("torch",)))
    assert reading.problems[0].code is ProblemCode.UNTRUSTED
    assert reading.problems[0].message == "not loaded, as this workspace is not trusted: lib.so, torch"
    assert not ran.exists()


def test_an_untrusted_workspace_is_not_on_the_path(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not by PYTHONPATH, not as the current folder."""
    ran = folder / "ran"
    (folder / "torch.py").write_text(f"open({str(ran)!r}, 'w')", encoding="utf-8")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PYTHONPATH", f":.:{folder}")
    read_installed(ReadRequest(InterpreterSearch(root=folder, trusted=False)))
    assert not ran.exists()


def test_the_probe_runs_under_old_pythons() -> None:
    tree = ast.parse(PROBE.read_text(encoding="utf-8"), feature_version=(3, 8))
    assert "from __future__ import annotations" in ast.unparse(tree)
    # Annotations are not evaluated, but what is written outside them is.
    for node in ast.walk(tree):
        assert not isinstance(node, ast.Call) or ast.unparse(node.func) not in ("zip", "dataclass")


def test_the_probe_needs_nothing_of_ours() -> None:
    modules = {
        alias.name if isinstance(node, ast.Import) else str(node.module)
        for node in ast.walk(ast.parse(PROBE.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert {module.partition(".")[0] for module in modules} <= {*sys.stdlib_module_names, "torch"}
