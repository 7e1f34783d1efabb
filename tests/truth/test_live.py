"""`op-lint check --load` against small extensions that g++ compiled: exactly what is absent, stale or elsewhere.

Each case has the sources of today and what was built: the same sources or older ones, all of them or some.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import msgspec
import pytest

from op_lint.dispatch.keys import DispatchKeys, key_numbers
from op_lint.installed.bundled import bundled_key_numbers
from op_lint.installed.child import ProbeOutput
from op_lint.installed.child import run_probe as run_the_probe
from tests.check import Outcome, run, write_project
from tests.e2e.raw import RawClient
from tests.truth.registration_sources import PREFIX, link_flags, run_compiler, why_nothing_compiles
from tests.truth.torch_process import installed

REASON = why_nothing_compiles()
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))

KERNEL = "static at::Tensor same(const at::Tensor& x) { return x; }\n"
HEAD = PREFIX + KERNEL

DEFINE = (
    PREFIX + 'TORCH_LIBRARY(demo, m) {\n  m.def("one(Tensor x) -> Tensor");\n  m.def("two(Tensor x) -> Tensor");\n}\n'
)
KERNELS = HEAD + 'TORCH_LIBRARY_IMPL(demo, CPU, m) {\n  m.impl("one", &same);\n  m.impl("two", &same);\n}\n'
MORE = HEAD + 'TORCH_LIBRARY_FRAGMENT(demo, m) {\n  m.def("three(Tensor x) -> Tensor", &same);\n}\n'
TWO_FILES = {"def.cpp": DEFINE, "csrc/cpu.cpp": KERNELS}

LONG = HEAD + 'TORCH_LIBRARY(\n    demo,\n    m\n) {\n  m.def("one(Tensor x) -> Tensor", &same);\n}\n'
WRAPPED = (
    f"{HEAD}#define REGISTER_ALL(KEY) \\\n  TORCH_LIBRARY_IMPL(demo, KEY, m) {{ m.impl(\"one\", &same); }} \\\n"
    "  TORCH_LIBRARY_IMPL(demo, Autograd##KEY, m) { m.impl(\"one\", torch::CppFunction::makeFallthrough()); }\n"
    "REGISTER_ALL(CPU)\n"
    "REGISTER_ALL(\n  CUDA\n)\n"
)  # fmt: skip
EXPANDED = HEAD + (
    "TORCH_LIBRARY(TORCH_EXTENSION_NAME, m) {\n"
    '  m.def("one(Tensor x) -> Tensor");\n  m.def("two(Tensor x) -> Tensor", &same);\n}\n'
    "TORCH_LIBRARY_IMPL(TORCH_EXTENSION_NAME, CPU, m) {\n"
    '  m.impl("one", &same);\n}\n'
)
CONDITIONAL = HEAD + (
    '#ifdef WITH_EXTRA\nTORCH_LIBRARY_FRAGMENT(demo, m) {\n  m.def("extra(Tensor x) -> Tensor", &same);\n}\n#endif\n'
    'TORCH_LIBRARY_FRAGMENT(demo, m) {\n  m.def("always(Tensor x) -> Tensor", &same);\n}\n'
)
FALLBACKS = PREFIX + (
    "static void boxed(const c10::OperatorHandle& op, torch::jit::Stack* stack) {}\n"
    "TORCH_LIBRARY_IMPL(_, PrivateUse2, m) {\n"
    "  m.fallback(torch::CppFunction::makeFromBoxedFunction<&boxed>());\n}\n"
    "TORCH_LIBRARY_IMPL(_, AutogradPrivateUse2, m) {\n  m.fallback(torch::CppFunction::makeFallthrough());\n}\n"
    'TORCH_LIBRARY_IMPL(aten, PrivateUse2, m) {\n  m.impl("relu", [](const at::Tensor& x) { return x; });\n}\n'
)
LEGACY = HEAD + 'static auto old = torch::RegisterOperators().op("demo::legacy(Tensor x) -> Tensor", &same);\n'
CUDA = HEAD + 'TORCH_LIBRARY_IMPL(demo, CUDA, m) {\n  m.impl("one", &same);\n}\n'

OLD_DEFINE = DEFINE.replace("two(Tensor x)", "two(Tensor x, int n=1)").replace("one(", "first(")
OLD_KERNELS = HEAD + (
    "static at::Tensor many(const at::Tensor& x, int64_t n) { return x; }\n"
    'TORCH_LIBRARY_IMPL(demo, CPU, m) {\n  m.impl("first", &same);\n  m.impl("two", &many);\n}\n'
)
KEYS = HEAD + (
    'TORCH_LIBRARY(demo, m) {\n  m.def("one(Tensor x) -> Tensor");\n}\n'
    'TORCH_LIBRARY_IMPL(demo, CPU, m) {\n  m.impl("one", &same);\n}\n'
    'TORCH_LIBRARY_IMPL(demo, CUDA, m) {\n  m.impl("one", &same);\n}\n'
    'TORCH_LIBRARY_IMPL(demo, BackendSelect, m) {\n  m.impl("one", &same);\n}\n'
)
LINES = {"CPU": 7, "CUDA": 10, "BackendSelect": 13}
"""Where the blocks of these keys are in KEYS."""

PYTHON = """import torch

lib = torch.library.Library("demo", "FRAGMENT")
lib.define("py(Tensor x) -> Tensor")


@torch.library.impl(lib, "py", "CPU")
def py(x):
    return x.clone()


lib.impl("one", py, "CUDA")


@torch.library.custom_op("demo::custom", mutates_args=())
def custom(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


@custom.register_fake
def _(x):
    return torch.empty_like(x)
"""


class Case(NamedTuple):
    """Sources, what was built of which, and the findings: `CODE path:line`.

    `built` are older sources that were built in place of today's; `units` the files that were compiled and linked (all
    C++ of the build if empty), each as the compiler was given it in `folder`.
    """

    sources: Mapping[str, str]
    expected: Sequence[str] = ()
    built: Mapping[str, str] = {}
    units: Sequence[str] = ()
    folder: str = "."
    flags: Sequence[str] = ()
    modules: Sequence[str] = ()


CASES = {
    "two units": Case(TWO_FILES),
    "a unit left out of the link": Case(TWO_FILES, ["OPL505 csrc/cpu.cpp:4"], units=["def.cpp"]),
    "only kernels": Case(TWO_FILES, ["OPL505 def.cpp:3"], units=["csrc/cpu.cpp"]),
    "a fragment": Case({**TWO_FILES, "more.cpp": MORE}),
    "a fragment left out": Case(
        {**TWO_FILES, "more.cpp": MORE}, ["OPL505 more.cpp:4"], units=["def.cpp", "csrc/cpu.cpp"]
    ),
    "a stale build": Case(
        TWO_FILES,
        ["OPL505 csrc/cpu.cpp:5", "OPL505 def.cpp:4", "OPL507 csrc/cpu.cpp:4", "OPL507 def.cpp:3", "OPL507 def.cpp:5"],
        built={"def.cpp": OLD_DEFINE, "csrc/cpu.cpp": OLD_KERNELS},
    ),
    "lines that moved": Case({**TWO_FILES, "csrc/cpu.cpp": f"// a comment\n\n{KERNELS}"}, built=TWO_FILES),
    "kernels that moved to another file": Case(
        {"def.cpp": HEAD + DEFINE[len(PREFIX):], "csrc/cpu.cpp": KERNELS},
        ["OPL507 def.cpp:4", "OPL507 def.cpp:4"],
        built={"def.cpp": HEAD + DEFINE[len(PREFIX):] + KERNELS[len(HEAD):], "csrc/cpu.cpp": "int empty;"},
    ),
    "paths from a folder": Case(TWO_FILES, units=["../def.cpp", "cpu.cpp"], folder="csrc"),
    "a folder's paths, one left out": Case(TWO_FILES, ["OPL505 csrc/cpu.cpp:4"], units=["../def.cpp"], folder="csrc"),
    "a block over several lines": Case({"ops.cpp": LONG}),
    "a project's own macro": Case({"def.cpp": DEFINE.replace('  m.def("two(Tensor x) -> Tensor");\n', ""),
                                   "ops.cpp": WRAPPED}),
    "a namespace of the build": Case({"ops.cpp": EXPANDED}, flags=["-DTORCH_EXTENSION_NAME=demo"]),
    "what the build leaves out": Case({"ops.cpp": CONDITIONAL}),
    "device sources": Case({**TWO_FILES, "csrc/gpu.cu": CUDA}),
    "fallbacks": Case({"ops.cpp": FALLBACKS}),
    "fallbacks left out": Case(
        {**TWO_FILES, "ops.cpp": FALLBACKS},
        [],
        units=["def.cpp", "csrc/cpu.cpp"],
    ),
    "fallbacks of an older build": Case(
        {"ops.cpp": FALLBACKS},
        ["OPL505 ops.cpp:4", "OPL505 ops.cpp:7"],
        built={"ops.cpp": PREFIX + FALLBACKS[FALLBACKS.index("TORCH_LIBRARY_IMPL(aten") :]},
    ),
    "legacy": Case({"ops.cpp": LEGACY, "more.cpp": MORE}),
    "Python beside C++": Case({**TWO_FILES, "ops.py": PYTHON}, modules=["ops"]),
    "Python that was not imported": Case({**TWO_FILES, "ops.py": PYTHON}),
    "Python that lost a kernel": Case(
        {**TWO_FILES, "ops.py": PYTHON}, ["OPL505 csrc/cpu.cpp:4"], units=["def.cpp"], modules=["ops"]
    ),
    "nothing was linked": Case(TWO_FILES, ["OPL505 csrc/cpu.cpp:4", "OPL505 def.cpp:3"], units=["empty.cpp"],
                               built={"empty.cpp": "int nothing;\n"}),
}  # fmt: skip


class Builds:
    """Makes shared libraries. Objects that many cases have in common are compiled once."""

    def __init__(self, folder: Path) -> None:
        self._objects = folder
        self._prefix = folder / "prefix.h"
        self._prefix.write_text(PREFIX)
        run_compiler(folder, "-x", "c++-header", str(self._prefix), "-o", f"{self._prefix}.gch")

    def library(self, folder: Path, units: Sequence[str], flags: Sequence[str], target: Path) -> None:
        """Compile and link the units, named as they are in `folder`."""
        objects = [self._object(folder, unit, flags) for unit in units]
        run_compiler(folder, "-shared", *objects, "-o", str(target), *link_flags())

    def _object(self, folder: Path, unit: str, flags: Sequence[str]) -> str:
        words = "\0".join([unit, *flags, (folder / unit).read_text()])
        made = self._objects / f"{sha256(words.encode()).hexdigest()[:16]}.o"
        if not made.exists():
            run_compiler(folder, "-include", str(self._prefix), *flags, "-c", "-x", "c++", unit, "-o", str(made))
        return str(made)


@pytest.fixture(scope="module")
def builds(tmp_path_factory: pytest.TempPathFactory) -> Builds:
    return Builds(tmp_path_factory.mktemp("objects"))


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def checked(project: Path, cache: Path, *arguments: str) -> Outcome:
    """The live rules with the library loaded."""
    chosen = ["--select", "OPL505,OPL506,OPL507", "--python", sys.executable, "--cache-dir", str(cache)]
    return run(project, "check", "--output-format", "json", "--jobs", "0", *chosen, *arguments)


def said(outcome: Outcome) -> list[str]:
    findings: list[dict[str, Any]] = json.loads(outcome.out)
    return sorted(f"{finding['code']} {finding['path']}:{finding['line']}" for finding in findings)


def built(case: Case, builds: Builds, folder: Path) -> tuple[Path, Path]:
    """The project as it is today, and the library that was built of the one it was."""
    old = write_project(folder / "old", {**case.sources, **case.built})
    units = case.units or [name for name in {**case.sources, **case.built} if name.endswith(".cpp")]
    library = folder / "demo.so"
    builds.library(old / case.folder, units, case.flags, library)
    return write_project(folder / "project", dict(case.sources)), library


@pytest.mark.parametrize("name", CASES)
def test_what_is_absent_or_stale(name: str, builds: Builds, cache: Path, tmp_path: Path) -> None:
    case = CASES[name]
    project, library = built(case, builds, tmp_path)
    imports = [word for module in case.modules for word in ("--import", module)]
    outcome = checked(project, cache, "--load", str(library), *imports)
    assert said(outcome) == sorted(case.expected), outcome
    assert outcome.status == (1 if case.expected else 0)


def test_a_second_copy_of_kernels_hides_the_first(builds: Builds, cache: Path, tmp_path: Path) -> None:
    project, library = built(CASES["only kernels"], builds, tmp_path)
    copy = tmp_path / "copy.so"
    shutil.copy(library, copy)
    both = checked(project, cache, "--load", str(library), "--load", str(copy))
    assert said(both) == ["OPL505 def.cpp:3", "OPL507 csrc/cpu.cpp:5", "OPL507 csrc/cpu.cpp:6"]


def test_a_second_copy_of_definitions_does_not_load(builds: Builds, cache: Path, tmp_path: Path) -> None:
    project, library = built(CASES["two units"], builds, tmp_path)
    copy = tmp_path / "copy.so"
    shutil.copy(library, copy)
    both = checked(project, cache, "--load", str(library), "--load", str(copy))
    assert (both.status, json.loads(both.out)) == (2, [])
    assert f"loading {copy} ended the process: Only a single TORCH_LIBRARY can be used" in both.err


def shifted(version: str) -> Mapping[str, str]:
    """Where the kernels of a build against another torch end up in this one: the key that has the same number here."""
    here = {number: key for key, number in key_numbers(installed().torch.keys).items()}
    there = bundled_key_numbers()[version]
    return {key: here[number] for key, number in there.items() if number in here}


@pytest.mark.parametrize("version", ["2.5.1+cu124", "2.6.0+cu124", "2.7.1+cu126", "2.12.0+cu130", "2.13.0+cu130"])
def test_keys_of_another_torch(version: str, builds: Builds, cache: Path, tmp_path: Path) -> None:
    project, library = built(Case({"ops.cpp": KEYS}), builds, tmp_path)
    keys = shifted(version)

    def moved(text: str) -> str:
        lines = [line.partition(": ") for line in text.splitlines()]
        return "".join(f"{keys.get(key, key)}{colon}{rest}\n" for key, colon, rest in lines)

    def probe(*arguments: Any, **options: Any) -> ProbeOutput:
        output = run_the_probe(*arguments, **options)
        extension = output.said["extension"]
        operators = [[name, moved(dump), *rest] for name, dump, *rest in extension["operators"]]
        return msgspec.structs.replace(output, said={**output.said, "extension": {**extension, "operators": operators}})

    with mock.patch("op_lint.installed.reader.run_probe", probe):
        outcome = checked(project, cache, "--load", str(library))
    assert said(outcome) == sorted(f"OPL506 ops.cpp:{line}" for key, line in LINES.items() if keys[key] != key)
    minor = ".".join(version.split(".")[:2])
    assert all(minor in finding["message"].partition("was built against")[2] for finding in json.loads(outcome.out))


def test_numbers_of_keys_are_torchs() -> None:
    import torch

    numbers = key_numbers(installed().torch.keys)
    theirs = {name: int(getattr(torch._C.DispatchKey, name)) for name in numbers if hasattr(torch._C.DispatchKey, name)}
    assert len(theirs) > 100
    assert {name: numbers[name] for name in theirs} == theirs
    assert set(DispatchKeys(installed().torch.keys).runtime) <= numbers.keys()


STRINGS = HEAD + ('TORCH_LIBRARY(demo, m) {\n  m.def("one(Tensor x) -> Tensor", &same);\n}\n')
OTHER_PARAMETERS = HEAD + (
    "namespace c10 { Allocator* GetCPUAllocator(int, const char*); }\n"
    'TORCH_LIBRARY(demo, m) {\n  m.def("one(Tensor x) -> Tensor", &same);\n'
    '  if (c10::GetCPUAllocator(1, "x") == nullptr) return;\n}\n'
)
NOT_LINKED = HEAD + (
    "namespace at::native { Tensor of_this_project(const Tensor& x); }\n"
    'TORCH_LIBRARY(demo, m) {\n  m.def("one(Tensor x) -> Tensor", &at::native::of_this_project);\n}\n'
)


@pytest.mark.parametrize(
    ("source", "flags", "message"),
    [
        (OTHER_PARAMETERS, [], "was built against another torch and does not load into torch"),
        (STRINGS, ["-D_GLIBCXX_USE_CXX11_ABI=0"], "was built with _GLIBCXX_USE_CXX11_ABI=0 and does not load"),
        (NOT_LINKED, [], None),
    ],
    ids=["other parameters", "other strings", "a function of one's own"],
)
def test_what_a_library_asks_torch_for(
    source: str, flags: list[str], message: str | None, builds: Builds, cache: Path, tmp_path: Path
) -> None:
    """Libraries that do not load: which of them were built against another torch."""
    project, library = built(
        Case({"other.cpp": MORE, "ops.cpp": source}, units=["ops.cpp"], flags=flags), builds, tmp_path
    )
    outcome = checked(project, cache, "--load", str(library))
    assert outcome.status == 2
    assert "undefined symbol" in outcome.err
    found = json.loads(outcome.out)
    assert [(each["code"], each["path"]) for each in found] == ([("OPL506", "ops.cpp")] if message else [])
    assert all(str(message) in each["message"] for each in found)


def test_doctor_says_what_is_loaded(builds: Builds, cache: Path, tmp_path: Path) -> None:
    project, library = built(CASES["two units"], builds, tmp_path)
    loads = ["--load", str(library), "--load", "nothere.so", "--python", sys.executable, "--cache-dir", str(cache)]
    output = run(project, "doctor", *loads).out
    assert f"\nloaded        {library}\n" in output
    assert "\nwith that     2 operators defined, 2 kernels registered\n" in output
    assert f"loading {project / 'nothere.so'} failed: OSError: " in output


def test_settings_name_libraries_from_the_root(builds: Builds, cache: Path, tmp_path: Path) -> None:
    project, library = built(CASES["a unit left out of the link"], builds, tmp_path)
    library.rename(project / "demo.so")
    (project / "op-lint.toml").write_text('load = ["demo.so"]\n')
    assert said(checked(project / "csrc", cache)) == ["OPL505 cpu.cpp:4"]
    (project / "op-lint.toml").write_text('load = ["gone.so"]\n')
    failed = checked(project, cache)
    assert (failed.status, json.loads(failed.out)) == (2, [])


def test_the_server_loads_what_the_settings_name(builds: Builds, cache: Path, tmp_path: Path) -> None:
    """Where the workspace is trusted; and a new build is loaded anew."""
    project, library = built(CASES["a unit left out of the link"], builds, tmp_path)
    library.rename(project / "demo.so")
    text = f'load = ["demo.so"]\npython = "{sys.executable}"\ncache-dir = "{cache}"\n'
    (project / "op-lint.toml").write_text(text)
    client = RawClient(cwd=project)
    client.start([project], trusted=False, settings={"torchVersion": None})
    client.settle()
    kernels = (project / "csrc/cpu.cpp").as_uri()
    assert [each["code"] for each in client.diagnostics.get(kernels, [])] == []
    client.notify("op-lint/trust", {"trusted": True})
    client.wait(lambda: [each["code"] for each in client.diagnostics.get(kernels, [])] == ["OPL505"])
    builds.library(project, ["def.cpp", "csrc/cpu.cpp"], [], project / "demo.so")
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": kernels, "type": 2}]})
    client.wait(lambda: client.diagnostics.get(kernels) == [])
    assert client.stop() == 0
