"""`check()`: a small project in, what op-lint reports out, through any of its fronts; and what a case expects.

A case is a folder. `expected.json` lists what must be reported (`expect`: code, path and line, as the finding's own
place or as one of its related places) and the codes that must not appear (`silent`); other findings are fine. Markers
in comments are exact: with `// expect: OPL206` at the end of a line, or `//   ^^^^ OPL206` under the text, the findings
of all codes that the case marks are just the marked ones. Python has `#` for `//`.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

from op_lint.cli import main
from tests.e2e.raw import server_front

LOADED = "loaded.txt"
"""The file of a case that says what the dispatcher has with its extension loaded (`tests.loading`)."""

CASES = Path(__file__).parent / "cases"

Findings = list[dict[str, Any]]
Front = Callable[[Path, Sequence[str]], Findings]


class Outcome(NamedTuple):
    """What a run of the command line left behind."""

    status: int
    out: str
    err: str


def run(folder: Path, *arguments: str) -> Outcome:
    """Run the command line in this process, in `folder`."""
    out, err = io.StringIO(), io.StringIO()
    with _inside(folder), redirect_stdout(out), redirect_stderr(err):
        status = main(arguments)
    return Outcome(status, out.getvalue(), err.getvalue())


def run_process(folder: Path, *arguments: str, stdin: bytes = b"") -> Outcome:
    """Run the command line as a process of its own, in `folder`."""
    done = subprocess.run([sys.executable, "-m", "op_lint", *arguments], cwd=folder, input=stdin, capture_output=True)
    return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())


def command_line(folder: Path, arguments: Sequence[str]) -> Findings:
    return _findings(run(folder, "check", "--output-format", "json", "--jobs", "0", "--no-cache", *arguments))


def process(folder: Path, arguments: Sequence[str]) -> Findings:
    return _findings(run_process(folder, "check", "--output-format", "json", *arguments))


FRONTS: dict[str, Front] = {"command line": command_line, "process": process, "server": server_front}
"""Every way to the findings; all must give the same ones."""


def check(folder: Path, *arguments: str, front: str = "command line") -> Findings:
    """The findings in the project at `folder`, as the JSON report has them."""
    return FRONTS[front](folder, arguments)


def copy_of(case: Path, target: Path) -> Path:
    """The case as a project of its own, outside this repository."""
    project = target / case.name
    shutil.copytree(case, project, ignore=shutil.ignore_patterns("expected.json", LOADED))
    if not any((project / name).exists() for name in ("op-lint.toml", "pyproject.toml")):
        (project / "op-lint.toml").touch()
    return project


def write_project(folder: Path, files: dict[str, str | bytes]) -> Path:
    """A project with these files; an empty configuration makes `folder` its root."""
    for name, content in {"op-lint.toml": "", **files}.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


class Expected(NamedTuple):
    """What `expected.json` says."""

    needs: str
    torch: str
    expect: list[dict[str, Any]]
    silent: list[str]


def expected(case: Path) -> Expected:
    file = case / "expected.json"
    said = json.loads(file.read_text("utf-8")) if file.exists() else {}
    return Expected(said.get("needs", ""), said.get("torch", "2.13.0"), said.get("expect", []), said.get("silent", []))


def missing(findings: Findings, expect: list[dict[str, Any]]) -> list[str]:
    """The expectations that no finding meets."""
    seen = {
        (finding["code"], place["path"], place["line"])
        for finding in findings
        for place in (finding, *finding["related"])
    }
    return [
        f"{each['code']} at {each['path']}:{each['line']}: {each['means']}"
        for each in expect
        if (each["code"], each["path"], each["line"]) not in seen
    ]


class Mark(NamedTuple):
    """A finding that a comment announces; without columns anywhere in the line."""

    code: str
    path: str
    line: int
    columns: tuple[int, int] | None = None


_AT_END = re.compile(r"(?://|#)\s*expect:\s*(OPL\d+(?:,\s*OPL\d+)*)")
_UNDER = re.compile(r"^\s*(?://|#)\s*(\^+)\s*(OPL\d+)\s*$")


def marks(folder: Path) -> set[Mark]:
    """The findings that comments in the files of `folder` announce."""
    return {mark for file in sorted(folder.rglob("*")) if file.is_file() for mark in _marks_in(folder, file)}


def meets(finding: dict[str, Any], mark: Mark) -> bool:
    return (finding["code"], finding["path"], finding["line"]) == mark[:3] and (
        mark.columns is None or mark.columns == (finding["column"], finding["end_column"])
    )


def _marks_in(folder: Path, file: Path) -> Iterator[Mark]:
    path = file.relative_to(folder).as_posix()
    subject = 0
    for number, line in enumerate(file.read_text("utf-8", "replace").splitlines(), 1):
        under = _UNDER.match(line)
        if under:
            yield Mark(under[2], path, subject, (under.start(1) + 1, under.end(1) + 1))
            continue
        subject = number
        at_end = _AT_END.search(line)
        for code in re.split(r",\s*", at_end[1]) if at_end else ():
            yield Mark(code, path, number)


def _findings(outcome: Outcome) -> Findings:
    assert outcome.status in (0, 1, 2), outcome
    assert outcome.out, outcome.err
    found: Findings = json.loads(outcome.out)
    return found


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
