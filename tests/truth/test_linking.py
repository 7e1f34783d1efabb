"""What the linker keeps: little projects, built, loaded, and held against the build files alone and the binary alone.

The truth is the dispatcher of a process that loaded the library. The prediction sees the CMake files and the sources
only; the reading of the binary sees the finished file only, once as it is and once stripped.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from op_lint.build import BuildGraph, Questions, read_build
from op_lint.build.binary import BinaryFile, holds_unit, read_binary
from op_lint.build.configured import read_configured
from op_lint.build.files import BuildFiles
from op_lint.build.model import BuildSystem, Target, TargetKind
from op_lint.build.symbols import local_headers, read_symbols
from tests.check import check
from tests.check import run as run_op_lint
from tests.truth.linking_cases import CASES, OTHERS, REGISTERS, Case

HERE = Path(__file__).parent / "linking"
TOOLS = ("cmake", "ninja", "g++", "strip")


def tool(name: str) -> str | None:
    """A program, also where it was installed beside this interpreter."""
    return shutil.which(name, path=os.pathsep.join((os.environ.get("PATH", ""), str(Path(sys.executable).parent))))


missing = [name for name in TOOLS if tool(name) is None]
if importlib.util.find_spec("torch") is None:
    missing.append("torch")
pytestmark = pytest.mark.skipif(bool(missing), reason=f"not here: {', '.join(missing)}")

OPERATORS = {"a.cpp": "a", "a_anchored.cpp": "a", "a_needs_b.cpp": "a", "b.cpp": "b", "b_anchored.cpp": "b"}


class Built(NamedTuple):
    """All cases, built as one project: the folders of sources and binaries, and what each loaded library registers."""

    sources: Path
    binaries: Path
    registered: dict[str, list[str] | None]

    def binary(self, case: str, target: str = "main") -> Path:
        found = [path for path in (self.binaries / case).glob(f"*{target}{case}*") if path.suffix in (".so", "")]
        files = [path for path in found if path.is_file()]
        assert len(files) == 1, files
        return files[0]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("linking")
    sources, binaries, objects = (folder / name for name in ("sources", "binaries", "objects"))
    objects.mkdir()
    query = binaries / ".cmake" / "api" / "v1" / "query"
    query.mkdir(parents=True)
    (query / "codemodel-v2").touch()
    for case in CASES:
        write(case, sources / case.name)
    lines = ["cmake_minimum_required(VERSION 3.24)", "project(linking CXX)", "set(CMAKE_POSITION_INDEPENDENT_CODE ON)"]
    lines += [f"add_subdirectory({case.name})" for case in CASES]
    (sources / "CMakeLists.txt").write_text("\n".join(lines) + "\n")
    environment = {**os.environ, "COMPILE_ONCE_FOLDER": str(objects)}
    prefix = subprocess.check_output(
        [sys.executable, "-c", "import torch; print(torch.utils.cmake_prefix_path)"], text=True
    )
    options = {
        "CMAKE_MAKE_PROGRAM": tool("ninja"),
        "CMAKE_PREFIX_PATH": prefix.strip(),
        "CMAKE_CXX_STANDARD": "20",
        "CMAKE_BUILD_TYPE": "None",
        "CMAKE_CXX_COMPILER_LAUNCHER": f"{sys.executable};{HERE / 'compile_once.py'}",
    }
    configure = [tool("cmake") or "", "-G", "Ninja", "-S", str(sources), "-B", str(binaries)]
    run([*configure, *(f"-D{name}={value}" for name, value in options.items())], environment)
    run([tool("ninja") or "", "-C", str(binaries), "-j", "2"], environment)
    made = Built(sources, binaries, {})
    libraries = {case.name: str(made.binary(case.name)) for case in CASES if not case.is_program}
    answers = subprocess.run(
        [sys.executable, "-W", "ignore", str(HERE / "load.py")],
        input=json.dumps(libraries),
        capture_output=True,
        text=True,
    )
    assert answers.returncode == 0, answers.stderr
    made.registered.update(json.loads(answers.stdout))
    for case in CASES:
        if case.is_program:
            made.registered[case.name] = json.loads(subprocess.check_output([str(made.binary(case.name))]))
    return made


def write(case: Case, folder: Path) -> None:
    folder.mkdir(parents=True)
    cmake = case.cmake.replace("@", case.name)
    if "old_cmake" in case.name:
        cmake = cmake.replace("VERSION 3.24", "VERSION 3.18")
    for name, text in {**REGISTERS, **OTHERS}.items():
        if not case.only or name in case.only:
            (folder / name).write_text(text)
    (folder / "CMakeLists.txt").write_text(cmake)
    if case.fixed:
        (folder / "op-lint.toml").write_text("")
        options = ("--no-torch", "--no-cache", "--select", case.fixed, "--fix", "--unsafe-fixes")
        done = run_op_lint(folder, "check", *options)
        assert (folder / "CMakeLists.txt").read_text() != cmake, done
    if case.name == "anchor_as_offered":
        (folder / "op-lint.toml").write_text("")
        (finding,) = check(folder, "--no-torch", "--select", "OPL502")
        for edit in finding["alternatives"][0]["edits"]:
            source = folder / edit["path"]
            source.write_text(edit["text"] + source.read_text())


def run(command: list[str], environment: dict[str, str]) -> None:
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"


def graph_of(folder: Path) -> BuildGraph:
    return read_build(folder, ["CMakeLists.txt"], sorted({*REGISTERS, *OTHERS}), registering=sorted(REGISTERS))


def predicted(graph: BuildGraph, name: str, folder: str = "") -> dict[str, bool | str | None]:
    """For each registering source whether loading `name` registers it: `twice` where two binaries do.

    `folder` is where the graph has the sources of the case.
    """
    questions = Questions(graph)
    (target,) = (each for each in graph.targets if each.name == name)
    binaries: list[tuple[Target, bool | None]] = [(target, True), *questions.loaded_with(target)]
    found: dict[str, bool | str | None] = {}
    for source in REGISTERS:
        answers = [_in(questions, folder + source, binary, loaded) for binary, loaded in binaries]
        found[source] = "twice" if answers.count(True) > 1 else _any(answers)
    return found


def _in(questions: Questions, source: str, binary: Target, loaded: bool | None) -> bool | None:
    survival = questions.unit_survives_link(source, binary)
    if survival is None or survival.survives is False or loaded is False:
        return False
    if questions.holds_by_default(survival.member.condition) is False:
        return False
    return True if survival.survives and loaded else None


def _any(answers: list[bool | None]) -> bool | None:
    if True in answers:
        return True
    return None if None in answers else False


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_prediction_from_the_build_files_alone(case: Case, built: Built) -> None:
    agrees(predicted(graph_of(built.sources / case.name), f"main{case.name}"), built.registered[case.name])


def agrees(prediction: dict[str, bool | str | None], registered: list[str] | None) -> None:
    if registered is None:  # loading ended the process: something is defined twice
        assert "twice" in prediction.values()
        return
    assert None not in prediction.values(), "a prediction that says nothing"
    assert sorted(OPERATORS[source] for source, there in prediction.items() if there) == registered


@pytest.fixture(scope="module", params=["File API", "Ninja"])
def configured(request: pytest.FixtureRequest, built: Built) -> BuildGraph:
    """The graph of all cases as the configured build has it, and nothing else."""
    names = [f"sources/{case.name}/{name}" for case in CASES for name in (*REGISTERS, *OTHERS)]
    replies, aside = built.binaries / ".cmake", built.binaries / ".aside"
    if request.param == "Ninja":
        replies.rename(aside)
    try:
        (build,) = read_configured(BuildFiles(built.sources.parent))
    finally:
        if request.param == "Ninja":
            aside.rename(replies)
    assert {target.system for target in build.targets} == {BuildSystem(request.param.replace("File", "CMake File"))}
    files = BuildFiles(built.sources.parent)
    symbols = read_symbols(files, [name for name in names if name.endswith(".cpp")], local_headers(names))
    return BuildGraph(targets=build.targets, symbols=tuple(symbols))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_prediction_from_the_configured_build_alone(case: Case, configured: BuildGraph, built: Built) -> None:
    agrees(predicted(configured, f"main{case.name}", f"sources/{case.name}/"), built.registered[case.name])


@pytest.mark.parametrize("name", [case.name for case in CASES if case.fixed])
def test_what_op_lint_has_fixed_is_loaded(name: str, built: Built) -> None:
    assert built.registered[name] == ["a"]


def test_the_matrix_is_one() -> None:
    assert len(CASES) == len({case.name for case in CASES}) >= 24


@pytest.mark.parametrize("stripped", [False, True], ids=["as built", "stripped"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_reading_of_the_finished_binary(case: Case, stripped: bool, built: Built, tmp_path: Path) -> None:
    loaded = list(_loaded(built, case.name, tmp_path if stripped else None))
    holders = {source: [holds_unit(binary, source) for binary in loaded] for source in REGISTERS}
    assert all(None not in answers for answers in holders.values())
    if built.registered[case.name] is None:
        assert any(answers.count(True) > 1 for answers in holders.values())
        return
    assert (
        sorted(OPERATORS[each] for each, answers in holders.items() if True in answers) == built.registered[case.name]
    )


def _loaded(built: Built, case: str, strip_into: Path | None) -> list[BinaryFile]:
    """The binary of a case and those of this build that loading it loads."""
    found: list[BinaryFile] = []
    pending = [built.binary(case)]
    seen = set(pending)
    while pending:
        path = pending.pop()
        if strip_into is not None:
            run([tool("strip") or "", "-o", str(strip_into / path.name), str(path)], dict(os.environ))
        binary = read_binary(path if strip_into is None else strip_into / path.name)
        assert binary is not None
        assert binary.stripped == (strip_into is not None)
        found.append(binary)
        inner = [built.binaries / case / name for name in binary.needed if (built.binaries / case / name).exists()]
        pending += [each for each in inner if each not in seen]
        seen.update(inner)
    return found


@pytest.mark.parametrize(
    "case", [case for case in CASES if " STATIC " in case.cmake and "lto" not in case.name], ids=lambda case: case.name
)
def test_reading_of_archives(case: Case, built: Built) -> None:
    graph = graph_of(built.sources / case.name)
    libraries = [target for target in graph.targets if target.kind is TargetKind.STATIC]
    assert libraries
    for library in libraries:
        archive = read_binary(built.binaries / case.name / f"lib{library.name}.a")
        assert archive is not None
        members = Questions(graph).direct_members(library)
        assert {source: holds_unit(archive, source) for source in REGISTERS} == {
            source: source in members for source in REGISTERS
        }
