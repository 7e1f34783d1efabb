"""What other programs are given to run op-lint: the hooks, the action and the snippets of this repository."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPTS = Path(sys.executable).parent

HEAD = "#include <torch/library.h>\n"
DEFINES = f'{HEAD}TORCH_LIBRARY(demo, m) {{ m.def("a(Tensor x) -> Tensor"); }}\n'
KERNEL = f'{HEAD}TORCH_LIBRARY_IMPL(demo, CPU, m) {{ m.impl("a", &a); }}\n'
MISSPELT = KERNEL.replace('"a"', '"b"')
WRONG = f'{HEAD}TORCH_LIBRARY(other, m) {{ m.def("x::a(Tensor x) -> Tensor", &f); }}\n'


def snippet(page: str, heading: str, language: str) -> str:
    """The first code block of a language under a heading of a page of the documentation."""
    text = (ROOT / "docs" / page).read_text("utf-8")
    section = text.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    found = re.search(rf"^```{language}\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    assert found, (page, heading, language)
    return found[1]


def environment(**variables: str) -> dict[str, str]:
    """The environment with op-lint on the path, and nothing that says that tests run."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "CI_", "GIT_"))}
    path = f"{SCRIPTS}{os.pathsep}{kept.get('PATH', '')}"
    return {**kept, "PATH": path, **variables}


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "init.defaultBranch=main")
    done = subprocess.run(["git", *who, *arguments], cwd=folder, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done
    return done.stdout.strip()


def repository(folder: Path, files: dict[str, str]) -> Path:
    """A repository with these files committed."""
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, "utf-8")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "all")
    return folder


def clone_of_op_lint(folder: Path) -> str:
    """Commit anew what is in the work tree of this repository; the commit."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, check=True)
    for name in listed.stdout.decode().split("\0")[:-1]:
        if (ROOT / name).is_file() and not name.startswith(("tests/", "docs/", "benchmarks/")):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    git(folder, "init", "-q")
    git(folder, "add", "-A", "-f")
    git(folder, "commit", "-q", "-m", "all")
    return git(folder, "rev-parse", "HEAD")
