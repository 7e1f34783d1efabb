"""Every command line in the README and the documentation works.

Blocks of `sh` are run here, in order, line by line, each page in a copy of the example. What cannot be run as it stands
is in `ELSEWHERE` with the test that runs it. Blocks of `console`, which show output, too, are run by
`tests/unit/test_docs.py`. Of command lines inside sentences the words are checked: the subcommand and the options
exist.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click
import pytest

from op_lint.cli import COMMANDS, _group
from tests.e2e.services import ROOT, environment

ELSEWHERE = {
    "python3 -m venv .venv && .venv/bin/pip install . && .venv/bin/op-lint examples/myops": "tests/unit/test_readme.py",
    ".ci/run": "tests/unit/test_readme.py",
    "cd vscode-extension": "vscode-extension/tests/ui/run.ts",
    "npm ci": "vscode-extension/tests/ui/run.ts",
    "npm run package": "vscode-extension/tests/ui/run.ts",
    "pipx install .": "tests/e2e/test_release.py",
    "op-lint doctor --load build/libdemo.so": "tests/truth/test_loaded.py",
    "op-lint check --select OPL505,OPL506,OPL507 --load build/libdemo.so": "tests/truth/test_loaded.py",
}
"""Command lines that other tests run."""

LANGUAGES = {"sh", "bash", "shell", "zsh"}
STATUS = {0, 1}
"""Statuses of a command line that works; 1 is a finding."""


class Block(NamedTuple):
    """A code block of a page."""

    page: str
    line: int
    language: str
    text: str

    @property
    def commands(self) -> Iterator[str]:
        """Its command lines, without comments."""
        for line in re.sub(r"\\\n\s*", "", self.text).splitlines():
            command = re.sub(r"(?:^|\s+)# .*$", "", line).strip()
            if command:
                yield command


def pages() -> list[Path]:
    generated = ROOT / "docs" / "rules"
    documents = (page for page in (ROOT / "docs").rglob("*.md") if not page.is_relative_to(generated))
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "examples/myops/README.md", *sorted(documents)]


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text("utf-8")
    for found in re.finditer(r"^ *```(\S*)[^\n]*\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL):
        name = page.relative_to(ROOT).as_posix()
        yield Block(name, text.count("\n", 0, found.start()) + 1, found[1], found[2])


def spans(page: Path) -> Iterator[str]:
    """The command lines in sentences."""
    text = re.sub(r"^ *```.*?^ *```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    for found in re.finditer(r"`([^`]+)`", text):
        words = re.sub(r"\s+", " ", found[1])
        if re.match(r"op-lint (?!:)[a-z@\-\[]", words):
            yield words


RUNNABLE = [block for page in pages() for block in blocks(page) if block.language in LANGUAGES]


def test_there_is_something_to_run() -> None:
    assert {block.page for block in RUNNABLE} >= {"README.md", "docs/ci.md"}
    assert sum(len(list(block.commands)) for block in RUNNABLE) > 10


@pytest.mark.parametrize("page", sorted({block.page for block in RUNNABLE}))
def test_command_lines_work(page: str, tmp_path: Path) -> None:
    project = tmp_path / "myops"
    shutil.copytree(ROOT / "examples" / "myops", project)
    variables = environment(XDG_CACHE_HOME=str(tmp_path / "cache"))
    for block in (block for block in RUNNABLE if block.page == page):
        for command in block.commands:
            if command in ELSEWHERE:
                continue
            done = subprocess.run(["bash", "-c", command], cwd=project, env=variables, capture_output=True, text=True)
            assert done.returncode in STATUS, (f"{block.page}:{block.line}: {command}", done)
            assert "Traceback" not in done.stderr


def test_command_lines_that_run_elsewhere_do() -> None:
    said = {command for block in RUNNABLE for command in block.commands}
    for command, test in ELSEWHERE.items():
        assert command in said, "this exception is needed no more"
        assert (ROOT / test).is_file()


def test_no_command_line_hides_in_a_block_of_another_language() -> None:
    """A synopsis of subcommands is fine, but whoever shows a command line to be typed says that it is one."""
    for page in pages():
        for block in blocks(page):
            if block.language in LANGUAGES | {"console", "yaml", "toml", "json"}:
                continue
            typed = [line for line in block.text.splitlines() if re.match(r"\s*(?:\$ |pip install|op-lint --)", line)]
            assert typed == [], (block.page, block.line)


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_command_lines_in_sentences_name_what_exists(page: Path) -> None:
    for words in spans(page):
        first, *rest = shlex.split(words.partition(" | ")[0])[1:]
        is_path = "/" in first or first.isupper() or (ROOT / "examples" / first).exists()
        assert first in COMMANDS or first.startswith(("-", "@", "[")) or is_path, (page.name, words)
        command = _group.get_command(click.Context(_group), first if first in COMMANDS else "check")
        assert command is not None
        known = {option for each in command.params for option in (*each.opts, *each.secondary_opts)}
        known |= {"--help", "-h", "--version"}
        for word in (first, *rest):
            if word.startswith("--"):
                assert word.partition("=")[0].rstrip("[].,…") in known, (page.name, words)
