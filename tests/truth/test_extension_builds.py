"""Extensions that torch's build helpers make: built, loaded, and held against what the scripts alone say."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from op_lint.build import Questions, read_build
from op_lint.build.model import BuildSystem
from tests.check import check
from tests.check import run as run_op_lint
from tests.truth.linking_cases import REGISTERS

LOAD = Path(__file__).parent / "linking" / "load.py"
pytestmark = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="not here: torch")

SETUP = """\
import glob
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension

sources = [path for path in sorted(glob.glob("*.cpp")) if not path.startswith("b")]
setup(
    name="demo",
    ext_modules=[CppExtension("demo_ext", sources)],
    cmdclass={"build_ext": BuildExtension.with_options(use_ninja=False)},
)
"""


def test_what_setuptools_builds_is_what_the_script_says(tmp_path: Path) -> None:
    for name in ("a.cpp", "b.cpp"):
        (tmp_path / name).write_text(REGISTERS[name])
    (tmp_path / "setup.py").write_text(SETUP)
    graph = read_build(tmp_path, ["setup.py"], ["a.cpp", "b.cpp"], registering=["a.cpp", "b.cpp"])
    (target,) = graph.targets
    questions = Questions(graph)
    survivals = {name: questions.unit_survives_link(name, target) for name in ("a.cpp", "b.cpp")}
    predicted = [name.removesuffix(".cpp") for name, found in survivals.items() if found is not None and found.survives]
    assert (target.name, target.system, target.incomplete) == ("demo_ext", BuildSystem.SETUPTOOLS, False)

    done = subprocess.run(
        [sys.executable, "setup.py", "build_ext", "--inplace"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]
    (library,) = tmp_path.glob("demo_ext*.so")
    assert loaded(library) == predicted == ["a"]


JIT = """\
import sys
from torch.utils.cpp_extension import load

module = load(
    name="demo",
    sources=["a.cpp"],
    extra_cflags=["-O0"],
    build_directory=".",
)
"""


def test_what_load_builds_is_what_the_script_says_once_it_is_fixed(tmp_path: Path) -> None:
    """`load` of sources that only register fails to import them; with the fix of OPL508 it loads them."""
    for name in ("a.cpp", "b.cpp"):
        (tmp_path / name).write_text(REGISTERS[name])
    script = tmp_path / "use.py"
    script.write_text(JIT)
    (tmp_path / "op-lint.toml").touch()
    graph = read_build(tmp_path, [], ["a.cpp", "b.cpp"], registering=["a.cpp", "b.cpp"], scripts=["use.py"])
    (target,) = graph.targets
    assert (target.name, target.system, [source.path for source in target.sources]) == (
        "demo", BuildSystem.JIT, ["a.cpp"],
    )  # fmt: skip
    assert [each["path"] for each in check(tmp_path, "--no-torch", "--select", "OPL508")] == ["use.py"]
    failed = run_script(script)
    assert failed.returncode != 0
    assert "PyInit_demo" in failed.stderr

    run_op_lint(tmp_path, "check", "--no-torch", "--no-cache", "--select", "OPL508", "--fix", "--unsafe-fixes")
    assert check(tmp_path, "--no-torch", "--select", "OPL508") == []
    done = run_script(script)
    assert done.returncode == 0, done.stderr[-3000:]
    assert loaded(tmp_path / "demo.so") == ["a"]


def run_script(script: Path) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))  # where ninja may be
    environment = {**os.environ, "PATH": path}
    return subprocess.run(
        [sys.executable, "-W", "ignore", script.name],
        cwd=script.parent,
        capture_output=True,
        text=True,
        env=environment,
    )


def loaded(library: Path) -> list[str] | None:
    """What a library registers, by the dispatcher of a process that loads it."""
    answer = subprocess.run(
        [sys.executable, "-W", "ignore", str(LOAD)],
        input=json.dumps({"demo": str(library)}),
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, list[str] | None] = json.loads(answer.stdout)
    return found["demo"]
