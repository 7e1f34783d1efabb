"""Extensions that torch's build helpers make: built, loaded, and held against what the scripts alone say."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from op_lint.build import Questions, read_build
from op_lint.build.model import BuildSystem
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
    answer = subprocess.run(
        [sys.executable, "-W", "ignore", str(LOAD)],
        input=json.dumps({"demo": str(library)}),
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(answer.stdout) == {"demo": predicted} == {"demo": ["a"]}
