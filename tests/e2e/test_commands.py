"""Every command line in the README and the documentation works.

Blocks of `sh` are run here, in order, line by line, each page in a copy of the example. What needs
more than the example is named below with what it needs. Blocks of `console`, which show output, too, are run by
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
from op_lint.version import VERSION
from tests.e2e.services import DEFINES, ROOT, clone_of_op_lint, environment

INSTALLS = {
    "README.md": "python3 -m venv .venv && .venv/bin/pip install . && .venv/bin/op-lint examples/myops",
    "docs/getting-started.md": "pipx install .",
}
"""Command lines, by page, that install op-lint out of a checkout: they are run in a clean one."""

LOADS = {
    "op-lint doctor --load build/libdemo.so",
    "op-lint check --select OPL505,OPL506,OPL507 --load build/libdemo.so",
}
"""Command lines for a library that the reader has built: they are run beside one."""

EXTENSION = {"cd vscode-extension", "npm ci", "npm run package"}
"""Command lines that the script of the extension's integration takes out of the README and runs."""

EVERYTHING = ".ci/run"
"""The command line that runs these tests, too."""

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
            if command in {*INSTALLS.values(), *LOADS, *EXTENSION, EVERYTHING}:
                continue
            done = subprocess.run(["bash", "-c", command], cwd=project, env=variables, capture_output=True, text=True)
            assert done.returncode in STATUS, (f"{block.page}:{block.line}: {command}", done)
            assert "Traceback" not in done.stderr


def test_the_exceptions_are_command_lines_of_the_documentation() -> None:
    said = {(block.page, command) for block in RUNNABLE for command in block.commands}
    assert set(INSTALLS.items()) <= said
    assert {*LOADS, *EXTENSION, EVERYTHING} <= {command for _, command in said}, "an exception is needed no more"


@pytest.mark.parametrize("page", INSTALLS)
def test_command_lines_that_install_work_in_a_clean_checkout(page: str, tmp_path: Path) -> None:
    clone_of_op_lint(tmp_path / "op-lint")
    folders = {"PIPX_HOME": "home", "PIPX_BIN_DIR": "bin", "PIPX_MAN_DIR": "man", "XDG_CACHE_HOME": "cache"}
    variables = environment(**{name: str(tmp_path / folder) for name, folder in folders.items()})
    done = subprocess.run(
        ["bash", "-c", INSTALLS[page]], cwd=tmp_path / "op-lint", env=variables, capture_output=True, text=True
    )
    assert done.returncode in STATUS, done
    installed = [*tmp_path.glob("op-lint/.venv/bin/op-lint"), *tmp_path.glob("bin/op-lint")]
    assert len(installed) == 1, done
    version = subprocess.run([installed[0], "--version"], cwd=tmp_path, env=variables, capture_output=True, text=True)
    assert version.stdout == f"op-lint {VERSION}\n"


@pytest.mark.skipif(shutil.which("c++") is None, reason="no compiler makes the library that is loaded")
@pytest.mark.parametrize("command", sorted(LOADS))
def test_command_lines_for_a_built_library_work_beside_one(command: str, tmp_path: Path) -> None:
    (tmp_path / "build").mkdir()
    (tmp_path / "demo.cpp").write_text(DEFINES, "utf-8")
    build = ["c++", "-shared", "-x", "c++", "/dev/null", "-o", "build/libdemo.so"]  # an old one, without the operator
    subprocess.run(build, cwd=tmp_path, check=True)
    variables = environment(XDG_CACHE_HOME=str(tmp_path / "cache"))
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, env=variables, capture_output=True, text=True)
    assert done.returncode in STATUS, done
    wanted = "0 operators defined" if " doctor " in command else "demo.cpp:2:"
    assert wanted in done.stdout, done


def test_the_integration_runs_the_command_lines_of_the_extension() -> None:
    script = (ROOT / "vscode-extension/scripts/ci.sh").read_text("utf-8")
    (reads,) = re.findall(r"^commands=\$\(awk .*\)$", script, re.MULTILINE)
    assert '(cd .. && npm_config_loglevel=error bash -ec "$commands") || exit 1' in script
    line = f'{reads}; echo "$commands"'
    done = subprocess.run(["bash", "-c", line], cwd=ROOT / "vscode-extension", capture_output=True, text=True)
    assert set(done.stdout.splitlines()) == EXTENSION
    assert "vscode-extension/scripts/ci.sh" in (ROOT / EVERYTHING).read_text("utf-8")


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
