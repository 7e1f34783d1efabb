"""The GitHub action, the GitLab job and the linter for lintrunner, run as those services run them."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e.services import DEFINES, MISSPELT, ROOT, SCRIPTS, WRONG, environment, repository, snippet

TWICE = "#include <torch/library.h>\nTORCH_LIBRARY(twice, m) {}\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return repository(tmp_path / "project", {"ops.cpp": DEFINES, "csrc/cpu.cpp": MISSPELT, "op-lint.toml": ""})


class Action:
    """`action.yml`, with inputs as a workflow gives them."""

    def __init__(self, temp: Path, workspace: Path, **inputs: str) -> None:
        self.value: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
        defaults = {name: each["default"] for name, each in self.value["inputs"].items()}
        assert set(inputs) <= set(defaults)
        self.inputs = {**defaults, **inputs}
        self._workspace = workspace
        self._outputs = temp / "outputs"
        self._variables = {"RUNNER_TEMP": str(temp), "GITHUB_WORKSPACE": str(workspace), "CI": "true"}
        self._variables["GITHUB_OUTPUT"] = str(self._outputs)

    def step(self, name: str) -> subprocess.CompletedProcess[str]:
        (step,) = [each for each in self.value["runs"]["steps"] if each["name"] == name]
        assert step["shell"] == "bash"
        assert "${{" not in step["run"], "an input in a script is a way to run anything"
        variables = {key: self._evaluated(each) for key, each in step["env"].items()}
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=self._workspace,
            env=environment(**self._variables, **variables),
            capture_output=True,
            text=True,
        )

    def _evaluated(self, text: str) -> str:
        expression = re.fullmatch(r"\$\{\{ (.*) \}\}", text)
        assert expression, text
        plain = re.fullmatch(r"inputs\.([\w-]+)", expression[1])
        if plain:
            return str(self.inputs[plain[1]])
        output = re.fullmatch(r"steps\.install\.outputs\.(\w+)", expression[1])
        if output:
            return dict(line.split("=", 1) for line in self._outputs.read_text().splitlines())[output[1]]
        assert expression[1] == "inputs.version && format('op-lint=={0}', inputs.version) || github.action_path"
        return f"op-lint=={self.inputs['version']}" if self.inputs["version"] else str(ROOT)


def test_github_action(project: Path, tmp_path: Path) -> None:
    action = Action(tmp_path, project, **{"sarif-file": "op-lint.sarif", "args": "--no-torch --ignore OPL304"})
    installed = action.step("Install op-lint")
    assert installed.returncode == 0, installed
    ran = action.step("Run op-lint")
    assert ran.returncode == 1
    assert ran.stdout.startswith("::error title=OPL201 impl-without-def,file=csrc/cpu.cpp,line=2,")
    results = json.loads((project / "op-lint.sarif").read_text())["runs"][0]["results"]
    assert [result["ruleId"] for result in results] == ["OPL201"]
    clean = Action(tmp_path, project, paths="ops.cpp op-lint.toml", args="--ignore OPL304").step("Run op-lint")
    assert (clean.returncode, clean.stdout) == (0, "")
    lines = Action(tmp_path, project, paths="ops.cpp\ncsrc/cpu.cpp\n", args="--ignore\nOPL304").step("Run op-lint")
    assert lines.stdout.count("::error") == 1
    odd = Action(tmp_path, project, paths="$(touch run) `touch run` *.cpp;touch${IFS}run").step("Run op-lint")
    assert (odd.returncode, (project / "run").exists()) == (2, False)
    assert "'$(touch' does not exist" in odd.stderr


def test_gitlab_job(project: Path) -> None:
    job = yaml.safe_load(snippet("ci.md", "GitLab", "yaml"))["op-lint"]
    install, check = job["script"]
    assert install == "pip install op-lint"
    variables = environment(CI_PROJECT_DIR=str(project), CI="true")
    done = subprocess.run(["bash", "-ec", check], cwd=project, env=variables, capture_output=True, text=True)
    assert done.returncode == 1
    assert "OPL201" in done.stdout
    reports = job["artifacts"]["reports"]
    quality = json.loads((project / reports["codequality"]).read_text())
    assert {each["location"]["path"] for each in quality} == {"csrc/cpu.cpp", "ops.cpp"}
    assert (project / reports["junit"]).read_text().startswith("<?xml")


def lintrunner(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    data = project.parent / "lintrunner"
    return subprocess.run(
        [SCRIPTS / "lintrunner", *arguments],
        cwd=project,
        env=environment(XDG_DATA_HOME=str(data), HOME=str(project.parent)),
        capture_output=True,
        text=True,
    )


def test_lintrunner(tmp_path: Path) -> None:
    config = snippet("ci.md", "lintrunner", "toml")
    files = {
        "a.cpp": TWICE,
        "b.cpp": TWICE,
        "c.cpp": WRONG,
        ".lintrunner.toml": config,
        "op-lint.toml": "torch = false\n",
    }
    project = repository(tmp_path / "project", files)
    done = lintrunner(project, "--output", "json", "b.cpp", "c.cpp")
    assert done.returncode == 1, done
    messages = sorted((json.loads(line) for line in done.stdout.splitlines()), key=lambda each: each["path"])
    assert [(Path(each["path"]).name, each["code"], each["name"]) for each in messages] == [
        ("b.cpp", "OPLINT", "OPL203 duplicate-library"),
        ("c.cpp", "OPLINT", "OPL206 namespace-mismatch"),
    ]
    applied = lintrunner(project, "-a", "b.cpp", "c.cpp")
    assert "Successfully applied all patches" in applied.stdout, applied
    assert "OPL206" in applied.stdout
    assert "OPL203" not in applied.stdout
    assert (project / "b.cpp").read_text() == TWICE.replace("LIBRARY", "LIBRARY_FRAGMENT")
    assert lintrunner(project, "b.cpp").returncode == 0
