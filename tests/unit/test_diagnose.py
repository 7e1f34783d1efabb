"""`op-lint diagnose`, through the command line, on a bundled snapshot."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from op_lint.dispatch import errors
from op_lint.errors.recognise import KINDS
from tests.check import Outcome, run, run_process, write_project
from tests.loading import loaded

SOURCES = {
    "csrc/ops.cpp": (
        "#include <torch/library.h>\n"
        "TORCH_LIBRARY(myops, m) {\n"
        '  m.def("scale(Tensor x, float s) -> Tensor");\n'
        '  m.def("shift(Tensor x) -> Tensor");  // op-lint: ignore[OPL302] not for torch.compile\n'
        "}\n"
    ),
    "csrc/cpu.cpp": (
        "#include <ATen/ATen.h>\n"
        "#include <torch/library.h>\n"
        "at::Tensor scale(const at::Tensor& x, int64_t s) { return x; }\n"
        "at::Tensor shift(const at::Tensor& x) { return x; }\n"
        "TORCH_LIBRARY_IMPL(myops, CPU, m) {\n"
        '  m.impl("scale", &scale);\n'
        '  m.impl("shift", &shift);\n'
        "}\n"
    ),
    "csrc/cuda.cu": (
        "#include <torch/library.h>\n"
        "at::Tensor shift_cuda(const at::Tensor& x);\n"
        'TORCH_LIBRARY_IMPL(myops, CUDA, m) { m.impl("shift", &shift_cuda); }\n'
    ),
    "setup.py": (
        "import os\n"
        "from setuptools import setup\n"
        "from torch.utils.cpp_extension import CppExtension\n"
        'sources = ["csrc/ops.cpp", "csrc/cpu.cpp"]\n'
        'if os.environ.get("CUDA_HOME"):\n'
        '    sources.append("csrc/cuda.cu")\n'
        'setup(name="myops", ext_modules=[CppExtension("myops._C", sources)])\n'
    ),
    "myops/__init__.py": (
        'import torch\ntorch.ops.load_library("_C.so")\n\n\ndef scale(x, s):\n    return torch.ops.myops.scael(x, s)\n'
    ),
}
CUDA = errors.COULD_NOT_RUN.write(operator="myops::shift", key="CUDA")
DUMP = f"""NotImplementedError: {CUDA} This could be because

CPU: registered at csrc/cpu.cpp:5 [kernel]
Meta: registered at /pytorch/aten/src/ATen/core/MetaFallbackKernel.cpp:23 [backend fallback]
"""
MISMATCH = """terminate called after throwing an instance of 'c10::Error'
  what():  Inferred operator schema for a C++ kernel function doesn't match the expected function schema.
  operator: myops::scale
  expected schema: myops::scale(Tensor x, float s) -> Tensor
    registered at /build/myops/csrc/ops.cpp:2
  inferred schema: (Tensor _0, int _1) -> Tensor _0
    registered at /build/myops/csrc/cpu.cpp:5
  reason: Type mismatch in argument 2: float vs int.
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_project(tmp_path / "project", dict(SOURCES))


def ask(project: Path, log: str | bytes, *arguments: str) -> Outcome:
    (project / "log.txt").write_bytes(log if isinstance(log, bytes) else log.encode())
    given = ("--from", "log.txt", "--torch-version", "2.13.0+cpu", "--jobs", "0", "--no-cache")
    return run(project, "diagnose", *given, *arguments)


def value(project: Path, log: str, *arguments: str) -> list[dict[str, Any]]:
    outcome = ask(project, log, "--output-format", "json", *arguments)
    assert outcome.status in (0, 1), outcome
    found: list[dict[str, Any]] = json.loads(outcome.out)["errors"]
    return found


def one(project: Path, log: str, *arguments: str) -> dict[str, Any]:
    (error,) = value(project, log, *arguments)
    return error


def places(error: dict[str, Any]) -> list[str]:
    return [f"{cause['path']}:{cause['line']}" for cause in error["causes"]]


def test_text(project: Path, golden: Callable[[str, str], None]) -> None:
    log = f"{DUMP}\n{DUMP}\n{MISMATCH}\nAttributeError: '_OpNamespace' 'myops' object has no attribute 'scael'\n"
    outcome = ask(project, log)
    assert outcome.status == 1
    golden("diagnose.text", outcome.out)


def test_json(project: Path) -> None:
    outcome = ask(project, DUMP, "--output-format", "json")
    said = json.loads(outcome.out)
    assert (outcome.status, said["torch"], said["lines"]) == (1, "2.13.0+cpu", 4)
    (error,) = said["errors"]
    assert (error["kind"], error["stage"], error["type"]) == ("missing-kernel", "call", "NotImplementedError")
    assert (error["operator"], error["key"], error["line"], error["count"]) == ("myops::shift", "CUDA", 1, 1)
    assert error["text"] == CUDA
    assert [each["key"] for each in error["listed"]] == ["CPU", "Meta"]
    cause = error["causes"][0]
    assert {"certainty", "message", "path", "line", "column", "end_line", "end_column", "related", "codes"} == set(
        cause
    )
    assert (cause["certainty"], cause["path"], cause["line"]) == ("certain", "csrc/cuda.cu", 3)


class TestMissingKernel:
    def test_a_file_that_only_some_builds_compile(self, project: Path) -> None:
        error = one(project, DUMP)
        assert "CUDA_HOME" in error["causes"][0]["message"]
        assert "setup.py" in {each["path"] for each in error["causes"][0]["related"]}
        assert "csrc/cpu.cpp:5" in error["evidence"][0]

    def test_no_kernel_in_the_sources(self, project: Path) -> None:
        error = one(project, errors.COULD_NOT_RUN.write(operator="myops::scale", key="CUDA"))
        assert places(error) == ["csrc/ops.cpp:3"]
        assert error["causes"][0]["certainty"] == "certain"
        assert "CPU kernel" in error["causes"][0]["related"][0]["message"]

    @pytest.mark.parametrize(
        ("key", "options"),
        [("CUDA", ["--device", "cuda"]), ("XPU", ["--device", "xpu"]), ("SparseCPU", ["--layout", "sparse"])],
    )
    def test_the_cures_are_those_of_why(self, key: str, options: list[str], project: Path) -> None:
        error = one(project, errors.COULD_NOT_RUN.write(operator="myops::scale", key=key))
        why = run(project, "why", "myops::scale", *options, "--output-format", "json", "--torch-version", "2.13.0+cpu")
        cures = json.loads(why.out)["cures"]
        assert error["change"][0] == f"register a kernel at {' or '.join(cures)}"

    def test_an_operator_of_torch(self, project: Path) -> None:
        error = one(project, errors.COULD_NOT_RUN.write(operator="aten::mkldnn_linear", key="CUDA"))
        message = error["causes"][0]["message"]
        assert "is an operator of torch 2.13.0+cpu and not of these sources" in message
        assert "and none at CUDA" in message

    def test_an_operator_of_another_package(self, project: Path) -> None:
        error = one(project, errors.COULD_NOT_RUN.write(operator="torchvision::nms", key="CUDA"))
        assert "another package defines them" in error["causes"][0]["message"]
        assert places(error) == ["None:None"]

    def test_what_is_suppressed_is_a_cause_all_the_same(self, project: Path) -> None:
        error = one(project, errors.NO_META.write(operator="myops::shift"))
        assert places(error) == ["csrc/ops.cpp:4"]
        assert "OPL302" in {finding["code"] for finding in error["findings"]}

    def test_with_the_built_library(self, project: Path) -> None:
        dump = (
            "name: myops::shift\nschema: myops::shift(Tensor x) -> Tensor\n"
            "debug: registered at csrc/ops.cpp:2\nalias analysis kind: FROM_SCHEMA\n"
            "CPU: registered at csrc/cpu.cpp:5 :: (Tensor _0) -> Tensor _0 [ boxed unboxed ]\n"
        )
        (project / "log.txt").write_text(DUMP)
        with loaded(dump, "2.13.0+cpu"):
            outcome = run(project, "diagnose", "--from", "log.txt", "--load", "x.so", "--jobs", "0")
        assert "csrc/cuda.cu:3" in outcome.out


class TestPlaces:
    def test_paths_of_another_machine(self, project: Path) -> None:
        error = one(project, MISMATCH)
        assert places(error) == ["csrc/cpu.cpp:3"]
        assert error["causes"][0]["column"] == 39
        assert "OPL102" in {finding["code"] for finding in error["findings"]}

    def test_paths_of_windows(self, project: Path) -> None:
        log = DUMP.replace("csrc/cpu.cpp", "D:\\a\\myops\\csrc\\cpu.cpp")
        error = one(project, log)
        assert places(error) == ["csrc/cuda.cu:3"]
        assert "no file of this project" not in "".join(error["evidence"])

    def test_the_argument_is_marked(self, project: Path) -> None:
        outcome = ask(project, MISMATCH)
        assert "at::Tensor scale(const at::Tensor& x, int64_t s)" in outcome.out

    def test_a_use_in_python(self, project: Path) -> None:
        error = one(project, "AttributeError: '_OpNamespace' 'myops' object has no attribute 'scael'\n")
        assert places(error) == ["myops/__init__.py:6"]
        assert "did you mean `myops::scale`?" in error["causes"][0]["message"]

    def test_a_kernel_without_a_definition(self, project: Path) -> None:
        with (project / "csrc/cpu.cpp").open("a") as file:
            file.write('TORCH_LIBRARY_IMPL(myops, Meta, m) { m.impl("shfit", &shift); }\n')
        error = one(project, "AttributeError: '_OpNamespace' 'myops' object has no attribute 'shfit'\n")
        assert places(error) == ["csrc/cpu.cpp:9"]
        assert error["change"] == [
            "where `myops::shift` is meant, write that",
            "define the operator: a kernel alone makes none",
        ]

    def test_a_definition_that_was_not_loaded(self, project: Path) -> None:
        error = one(project, "RuntimeError: operator myops::shift does not exist")
        assert places(error) == ["csrc/ops.cpp:4"]
        assert error["causes"][0]["certainty"] == "likely"

    def test_twice_from_one_place(self, project: Path) -> None:
        text = (
            "Tried to register an operator (myops::scale(Tensor x, float s) -> Tensor) with the same name and overload"
            " name multiple times. Each overload's schema should only be registered with a single call to def()."
            " Duplicate registration: registered at /b/csrc/ops.cpp:2. Original registration: registered at"
            " /b/csrc/ops.cpp:2\n"
        )
        error = one(project, text)
        assert places(error) == ["csrc/ops.cpp:3"]
        assert "loaded from a copy" in error["causes"][0]["message"]

    def test_one_place_elsewhere(self, project: Path) -> None:
        text = (
            "Only a single TORCH_LIBRARY can be used to register the namespace myops; please put all of your"
            " definitions in a single TORCH_LIBRARY block.  If you were trying to specify implementations, consider"
            " using TORCH_LIBRARY_IMPL (which can be duplicated).  If you really intended to define operators for a"
            " single namespace in a distributed way, you can use TORCH_LIBRARY_FRAGMENT to explicitly indicate this."
            "  Previous registration of TORCH_LIBRARY was registered at /other/thing.cpp:9; latest registration was"
            " registered at /x/csrc/ops.cpp:2\n"
        )
        error = one(project, text)
        assert places(error) == ["csrc/ops.cpp:2"]
        assert "/other/thing.cpp:9" in error["causes"][0]["message"]
        assert "is no file of this project" in error["evidence"][0]

    def test_a_symbol_of_the_project(self, project: Path) -> None:
        error = one(project, "OSError: /b/_C.so: undefined symbol: _Z10shift_cudaRKN2at6TensorE")
        assert places(error) == ["csrc/cuda.cu:3"]

    def test_a_symbol_of_torch(self, project: Path) -> None:
        error = one(project, "OSError: /b/_C.so: undefined symbol: _ZN2at4_ops5zeros4callEv")
        assert "built against another torch" in error["causes"][0]["message"]

    def test_a_library_that_is_not_found(self, project: Path) -> None:
        text = "OSError: /b/_C.so: cannot open shared object file: No such file or directory"
        assert places(one(project, text)) == ["myops/__init__.py:2"]


class TestOneProjectForEveryKind:
    """Whatever the text names, there is an answer, and it is about this text."""

    @pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])
    def test_a_kind(self, kind: Any, project: Path) -> None:
        from tests.unit.errors.test_recognise import sample

        message = kind.messages[0]
        error = one(project, f"RuntimeError: {sample(message)}{message.ahead}\n")
        assert error["kind"] == kind.name
        assert "{" not in "".join((error["meaning"], *error["change"]))


class TestExits:
    def test_nothing_known(self, project: Path) -> None:
        outcome = ask(project, "ValueError: no\n")
        assert (outcome.status, outcome.err) == (0, "")
        assert outcome.out == (
            "nothing in here is an error of torch's registration or dispatch that op-lint knows (1 line read)\n"
        )

    def test_nothing_at_all(self, project: Path) -> None:
        assert ask(project, "").status == 0
        outcome = ask(project, "", "--output-format", "json")
        assert (outcome.status, json.loads(outcome.out)["errors"]) == (0, [])

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--from", "absent.txt"], "'absent.txt' does not exist"),
            (["--from", "."], "is a directory"),
            (["-", "--stdin-filename", "ops.cpp"], "stdin is the log"),
            (["nowhere"], "Path 'nowhere' does not exist"),
            (["--output-format", "xml"], "'xml' is not one of"),
        ],
    )
    def test_usage(self, arguments: list[str], message: str, project: Path) -> None:
        outcome = run(project, "diagnose", *arguments)
        assert (outcome.status, message in outcome.err) == (2, True), outcome

    def test_a_bad_configuration(self, project: Path) -> None:
        (project / "op-lint.toml").write_text("no-such-key = 1\n")
        assert ask(project, DUMP).status == 2

    def test_without_torch(self, project: Path) -> None:
        (project / "log.txt").write_text(DUMP)
        outcome = run(project, "diagnose", "--from", "log.txt", "--no-torch", "--jobs", "0")
        assert (outcome.status, "csrc/cuda.cu:3" in outcome.out) == (1, True), outcome

    def test_from_stdin(self, project: Path) -> None:
        arguments = ("diagnose", "--torch-version", "2.13.0+cpu", "--jobs", "0", "--no-cache")
        outcome = run_process(project, *arguments, stdin=b"\xff\xfe" + DUMP.encode("utf-16-le"))
        assert (outcome.status, "csrc/cuda.cu:3" in outcome.out) == (1, True), outcome

    def test_from_a_folder_inside(self, project: Path) -> None:
        (project / "log.txt").write_text(DUMP)
        arguments = ("--from", "../log.txt", "--torch-version", "2.13.0+cpu", "--jobs", "0", "--output-format", "json")
        outcome = run(project / "csrc", "diagnose", *arguments)
        assert places(json.loads(outcome.out)["errors"][0]) == ["cuda.cu:3"]
