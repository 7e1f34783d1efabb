"""The documentation is what the program does."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from op_lint.packs import load_packs
from tests.check import copy_of, run, write_project

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
BUILD = (sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "dirhtml")


def test_it_builds_without_a_warning_and_has_a_page_for_every_rule(tmp_path: Path) -> None:
    site = tmp_path / "site"
    done = subprocess.run([*BUILD, "-d", tmp_path / "trees", DOCS, site], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    for rule in load_packs().rules:
        page = (site / "rules" / rule.name / "index.html").read_text("utf-8")
        assert rule.code in page
        assert "What it does" in page
    for file in site.rglob("*.html"):
        text = file.read_text("utf-8")
        assert not re.search(r"[\u2013\u2014][a-z]", text), (file, "an option outside of code has lost its dashes")
        assert "<strong>init</strong>" not in text, file


def pages() -> list[str]:
    """The pages with commands whose output is shown."""
    return sorted(page.name for page in DOCS.glob("*.md") if "```console\n" in page.read_text("utf-8"))


def project_of(page: str, folder: Path) -> Path:
    """What the commands of a page are run on: the files that it shows, or else the example, with those beside it."""
    text = (DOCS / page).read_text("utf-8")
    shown = dict(re.findall(r"^```\{code-block\} \w+\n:caption: (\S+)\n\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    if not any(name.endswith(".cpp") for name in shown):
        return copy_of(ROOT / "examples" / "myops", folder)
    return write_project(folder, shown)


@pytest.mark.parametrize("page", pages())
def test_the_commands_of_a_page_print_what_it_shows(page: str, tmp_path: Path) -> None:
    project = project_of(page, tmp_path)
    for block in re.findall(r"^```console\n(.*?)^```$", (DOCS / page).read_text("utf-8"), re.MULTILINE | re.DOTALL):
        commands = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
        seen = [
            command.partition("\n")[0] + "\n" + printed(project, command.partition("\n")[0]) for command in commands
        ]
        assert re.fullmatch(pattern("".join(commands)), "".join(seen)), "".join(seen)


def printed(project: Path, command: str) -> str:
    """What a command line prints on a terminal: op-lint in this process, another program as its own."""
    program, *arguments = shlex.split(command)
    if program == "op-lint":
        outcome = run(project, *arguments)
        assert outcome.status in (0, 1), outcome
        return outcome.out + outcome.err
    interpreter = {"python": sys.executable}
    done = subprocess.run(
        [interpreter.get(program, program), *arguments], cwd=project, capture_output=True, text=True, check=True
    )
    return done.stdout + done.stderr


def pattern(shown: str) -> str:
    """What output is as a page shows it, where a line `…` stands for any lines."""
    return "(?:.*\n)*?".join(re.escape(part) for part in re.split(r"^…\n", shown, flags=re.MULTILINE))


_SHORT = {"CompositeImplicit": "CompositeImplicitAutograd", "CompositeExplicit": "CompositeExplicitAutograd"}
_REASONS = {"math": "math kernel", "default": "default backend kernel", "fallback": "backend fallback"}


def alias_rows() -> list[list[str]]:
    """The rows of the table of alias keys: what is registered, and what stands at each key."""
    text = (DOCS / "dispatch.md").read_text("utf-8")
    table = text[text.index("| registered |") :].partition("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table if not line.startswith("|-")]


def test_the_table_of_alias_keys_is_what_the_dispatcher_computes(tmp_path: Path) -> None:
    heads, *rows = alias_rows()
    assert len(rows) == 7
    for registered, *cells in rows:
        blocks = "".join(
            f'TORCH_LIBRARY_IMPL(demo, {_SHORT.get(key, key)}, m) {{ m.impl("f", &f); }}\n'
            for key in registered.split(", ")
        )
        source = f'#include <torch/library.h>\nTORCH_LIBRARY(demo, m) {{ m.def("f(Tensor x) -> Tensor"); }}\n{blocks}'
        write_project(tmp_path, {"ops.cpp": source})
        outcome = run(tmp_path, "table", "demo::f", "--all", "--output-format", "json", "--torch-version", "2.13.0")
        reasons = {each["key"]: each["reason"] for each in json.loads(outcome.out)["keys"]}
        words = [re.sub(r"\*\*(\w+)\*\*.*", r"\1", cell) for cell in cells]
        assert [_REASONS.get(word, word) for word in words] == [reasons[head.strip("`")] for head in heads[1:]], (
            registered
        )
