"""Who imports whom: the invariants of ARCHITECTURE.md."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import op_lint
import op_lint_rules
from tests.check import write_project

CORE = Path(op_lint.__file__).parent
RULES = Path(op_lint_rules.__file__).parent
PROBE = CORE / "installed" / "probe.py"


def imports(file: Path, *, at_start: bool = False) -> Iterator[str]:
    """The modules that a file imports anywhere, or `at_start` when it is imported; `from a import b` is `a.b`."""
    for node in _nodes(ast.parse(file.read_bytes()), at_start):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _nodes(tree: ast.AST, at_start: bool) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        yield node
        is_later = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or (
            isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        )
        if not (at_start and is_later):
            yield from _nodes(node, at_start)


def importers(pattern: str, folder: Path = CORE, *, at_start: bool = False) -> set[str]:
    """The files under `folder` that import a module whose dotted name matches."""
    return {
        file.relative_to(folder).as_posix()
        for file in folder.rglob("*.py")
        if any(re.match(rf"(?:{pattern})(?:\.|$)", name) for name in imports(file, at_start=at_start))
    }


def test_only_the_probe_imports_torch() -> None:
    assert importers("torch") <= {PROBE.relative_to(CORE).as_posix()}
    assert importers("torch", RULES) == set()


def test_only_the_server_knows_the_protocol() -> None:
    assert {file for file in importers("pygls|lsprotocol") if not file.startswith("server/")} == set()


def test_nothing_in_op_lint_imports_the_rules() -> None:
    assert importers("op_lint_rules") == set()


def test_only_the_cpp_reader_and_the_doctor_import_clang() -> None:
    assert {file for file in importers("clang") if not file.startswith("cpp/")} <= {"cli/doctor.py"}


def test_rules_do_no_io() -> None:
    doors = r"os|io|pathlib(?!\.Pure)|shutil|subprocess|socket|tempfile|urllib|http|multiprocessing|asyncio|sqlite3"
    assert importers(doors, RULES) == set()
    for file in RULES.rglob("*.py"):
        names = {node.id for node in ast.walk(ast.parse(file.read_bytes())) if isinstance(node, ast.Name)}
        assert not names & {"open", "exec", "eval", "__import__"}, file


BEHIND = {
    "facts.py": r"op_lint\.(?!condition)",
    "condition.py": "op_lint",
    "findings.py": r"op_lint\.(?!facts)",
    "cpp/": r"op_lint\.(?!cpp|facts|condition|text|on_demand)",
    "schema/": r"op_lint\.(?!schema|facts|text)",
    "program.py": r"op_lint\.(?:rule|run|check|report|cli|server|project|analysis)",
    "rule.py": r"op_lint\.(?:run|check|report|cli|server|project|analysis)",
    "check.py": r"op_lint\.(?:report|cli|server|project|analysis|sources)",
    "report/": r"op_lint\.(?:cli|server|project|analysis|check|program)",
    "project.py": r"op_lint\.(?:cli|server|report)",
}


@pytest.mark.parametrize("part", BEHIND)
def test_data_goes_one_way(part: str) -> None:
    files = [file for file in CORE.rglob("*.py") if file.relative_to(CORE).as_posix().startswith(part)]
    assert files
    wrong = {
        (file.name, name)
        for file in files
        for name in imports(file, at_start=True)
        if re.match(rf"{BEHIND[part]}", name)
    }
    assert wrong == set()


@pytest.mark.parametrize("part", ["report", "cli", "server", "check", "project", "analysis", "workers"])
def test_no_rule_looks_ahead(part: str) -> None:
    assert importers(rf"op_lint\.{part}", RULES) == set()


def imported_by(folder: Path, *arguments: str) -> tuple[set[str], int]:
    """The top-level packages that a run of the command line imports, and its exit status."""
    modules, status = modules_of(folder, *arguments)
    return {name.partition(".")[0] for name in modules}, status


def modules_of(folder: Path, *arguments: str) -> tuple[set[str], int]:
    """The modules that a run of the command line imports, and its exit status."""
    command = [sys.executable, "-X", "importtime", "-m", "op_lint", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert "Traceback" not in done.stderr, done.stderr
    return {name.strip() for name in re.findall(r"\|([^|]*)$", done.stderr, re.MULTILINE)}, done.returncode


HEAVY = {"clang", "lsprotocol", "op_lint_rules", "pygls", "rich", "torch"}


def test_version_imports_next_to_nothing(tmp_path: Path) -> None:
    packages, status = imported_by(tmp_path, "--version")
    assert status == 0
    assert packages & (HEAVY | {"msgspec", "pathspec"}) == set()


def test_a_warm_run_reads_no_cpp_and_shows_no_colours(tmp_path: Path) -> None:
    source = '#include <torch/library.h>\nTORCH_LIBRARY(demo, m) { m.def("other::a(Tensor x) -> Tensor", &f); }\n'
    write_project(tmp_path, {"ops.cpp": source})
    arguments = ("--no-torch", "--jobs", "0", "--cache-dir", str(tmp_path / "cache"))
    cold, status = imported_by(tmp_path, *arguments)
    assert (status, "clang" in cold) == (1, True)
    warm, status = imported_by(tmp_path, *arguments)
    assert (status, warm & (HEAVY - {"op_lint_rules"})) == (1, set())


def test_a_warm_run_imports_no_reader_and_nothing_for_mistakes(tmp_path: Path) -> None:
    source = '#include <torch/library.h>\nTORCH_LIBRARY(demo, m) { m.def("a(Tensor x) -> Tensor", &f); }\n'
    write_project(tmp_path, {"ops.cpp": source})
    arguments = ("--no-torch", "--jobs", "0", "--cache-dir", str(tmp_path / "cache"))
    assert modules_of(tmp_path, *arguments)[1] == 0
    modules, status = modules_of(tmp_path, *arguments)
    assert status == 0
    unwanted = {"op_lint.cpp.reader", "op_lint.python.reader", "op_lint.python.resolve", "rapidfuzz", "difflib"}
    assert modules & unwanted == set()
