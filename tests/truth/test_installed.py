"""Reading the torch that is installed: what is found, the cache, the user's extension."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from op_lint.dispatch.keys import DispatchKeys
from op_lint.dispatch.table import Reason, Table
from op_lint.facts import KernelKind
from op_lint.installed import reader, snapshot
from op_lint.installed.bundled import SUFFIX, bundled_versions, decode_snapshot, load_snapshot
from op_lint.installed.interpreter import InterpreterSearch
from op_lint.installed.model import Origin, ProblemCode, place_of
from op_lint.installed.reader import Reading, ReadRequest, read_installed
from tests.truth.torch_process import installed, needs_torch

pytestmark = needs_torch


def search(root: Path | None = None) -> InterpreterSearch:
    return InterpreterSearch(option=sys.executable, root=root, environment=dict(os.environ))


def read_with(folder: Path, code: str, timeout: float = 60.0) -> Reading:
    """The reading with a module of this code imported."""
    (folder / "user_extension.py").write_text(code, encoding="utf-8")
    return read_installed(ReadRequest(search(folder), imports=("user_extension",), timeout=timeout))


def test_what_is_read() -> None:
    torch = installed().torch
    assert torch.version == "2.13.0+cpu"
    assert torch.cxx11_abi is True
    assert torch.cuda is None
    assert torch.keys.devices["privateuseone"] == "PrivateUse1"
    add = torch.operators["aten::add.Tensor"]
    assert add.schema == "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
    assert add.tags == ("core", "pointwise", "pt2_compliant_tag")
    assert add.alias_analysis == "FROM_SCHEMA"
    assert place_of(add.origin or "") == ("build/aten/src/ATen/RegisterSchema.cpp", 6)
    at_meta = [kernel for kernel in add.kernels if kernel.key == "Meta"]
    assert [(kernel.active, kernel.kind) for kernel in at_meta] == [
        (False, KernelKind.KERNEL),
        (True, KernelKind.BOXED),
    ]
    assert at_meta[0].signature == "(Tensor _0, Tensor _1, Scalar _2) -> Tensor _0"
    assert (place_of(at_meta[1].origin) or ("", 0))[0] == "torch/_meta_registrations.py"
    fallthroughs = {kernel.key for kernel in torch.fallbacks if kernel.kind is KernelKind.FALLTHROUGH}
    assert {"BackendSelect", "ADInplaceOrView", "AutocastCPU"} <= fallthroughs
    assert not any("op_lint" in name for name in torch.operators)


def test_no_place_is_of_this_machine() -> None:
    torch = installed().torch
    origins = {kernel.origin for operator in torch.operators.values() for kernel in operator.kernels}
    origins |= {operator.origin for operator in torch.operators.values() if operator.origin is not None}
    assert {origin for origin in origins if " /" in origin} == set()


class TestCache:
    def test_the_second_reading_starts_no_process(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        request = ReadRequest(search(), cache=tmp_path)
        first = read_installed(request)
        monkeypatch.delattr(reader, "run_probe")
        second = read_installed(request)
        assert (first.origin, second.origin) == (Origin.PROBE, Origin.CACHE)
        assert (second.torch, second.package) == (first.torch, first.package)

    def test_another_environment_is_another_torch(self, tmp_path: Path) -> None:
        read_installed(ReadRequest(search(), cache=tmp_path))
        elsewhere = {**os.environ, "PYTHONPATH": str(tmp_path)}
        request = ReadRequest(InterpreterSearch(option=sys.executable, environment=elsewhere), cache=tmp_path)
        assert read_installed(request).origin is Origin.PROBE

    def test_a_torch_that_comes_before_this_one_is_another(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """As one that is installed into an environment which so far took that of the system."""
        folder = tmp_path / "site"
        folder.mkdir()
        monkeypatch.setenv("PYTHONPATH", str(folder))
        request = ReadRequest(search(), cache=tmp_path / "cache")
        assert [read_installed(request).origin for _ in range(2)] == [Origin.PROBE, Origin.CACHE]
        (folder / "other.py").write_text("", encoding="utf-8")
        assert read_installed(request).origin is Origin.CACHE
        (folder / "torch.py").write_text("", encoding="utf-8")
        assert read_installed(request).origin is Origin.SNAPSHOT

    def test_an_extension_is_never_cached(self, tmp_path: Path) -> None:
        request = ReadRequest(search(), imports=("textwrap",), cache=tmp_path)
        first, second = read_installed(request), read_installed(request)
        assert (first.origin, second.origin) == (Origin.PROBE, Origin.CACHE)
        assert first.extension == second.extension is not None


def test_rubbish_around_the_report_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('{' * 5000, end='')\nprint('rubbish')\n", encoding="utf-8")
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{tmp_path}" exec "{sys.executable}" "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    reading = read_installed(ReadRequest(InterpreterSearch(option=str(python))))
    assert (reading.origin, reading.problems) == (Origin.PROBE, ())
    assert reading.torch == installed().torch


USER_MODULE = """
import torch
library = torch.library.Library("op_lint_user", "DEF")
library.define("scale(Tensor x, float s) -> Tensor")
library.impl("scale", lambda x, s: x * s, "CPU")
override = torch.library.Library("aten", "IMPL")
override.impl("relu", lambda x: x, "CPU")
fallback = torch.library.Library("_", "IMPL", "HPU")
fallback.fallback(torch.library.fallthrough_kernel, "HPU")
print("rubbish")
"""


class TestImport:
    def test_what_a_module_registers(self, tmp_path: Path) -> None:
        reading = read_with(tmp_path, USER_MODULE)
        extension, file = reading.extension, tmp_path / "user_extension.py"
        assert extension is not None
        assert reading.problems == ()
        assert [(load.what, load.error) for load in extension.loads] == [("user_extension", None)]
        assert extension.defined == ("op_lint_user::scale",)
        assert sorted(extension.operators) == sorted(extension.added) == ["aten::relu", "op_lint_user::scale"]
        (scale,) = extension.added["op_lint_user::scale"]
        assert (scale.key, place_of(scale.origin)) == ("CPU", (str(file), 3))
        (relu,) = extension.added["aten::relu"]
        assert (relu.key, place_of(relu.origin), relu.active) == ("CPU", (str(file), 6), True)
        before = [kernel for kernel in reading.torch.operators["aten::relu"].kernels if kernel.key == "CPU"]
        after = [kernel for kernel in extension.operators["aten::relu"].kernels if kernel.key == "CPU"]
        assert after == [msgspec.structs.replace(before[0], active=False), relu]
        (fallback,) = extension.fallbacks
        assert (fallback.key, fallback.kind) == ("HPU", KernelKind.FALLTHROUGH)

    def test_the_whole_dispatcher(self, tmp_path: Path) -> None:
        whole = read_with(tmp_path, USER_MODULE).whole
        table = Table(
            DispatchKeys(whole.keys), whole.operators["op_lint_user::scale"].operator(), whole.fallback_registrations()
        )
        assert (table["CPU"].reason, table["HPU"].reason, table["CUDA"].reason) == (
            Reason.KERNEL,
            Reason.FALLBACK,
            Reason.MISSING,
        )

    def test_a_module_that_fails(self, tmp_path: Path) -> None:
        reading = read_with(tmp_path, "raise ValueError('no such thing\\nmore')")
        assert reading.torch == installed().torch
        assert [(problem.code, problem.message) for problem in reading.problems] == [
            (ProblemCode.LOAD_FAILED, "loading user_extension failed: ValueError: no such thing")
        ]

    def test_a_module_that_exits(self, tmp_path: Path) -> None:
        (problem,) = read_with(tmp_path, "raise SystemExit(3)").problems
        assert problem.message == "loading user_extension failed: SystemExit: 3"

    def test_a_module_that_crashes(self, tmp_path: Path) -> None:
        reading = read_with(tmp_path, "import os\nos.abort()")
        assert (reading.torch, reading.extension) == (installed().torch, None)
        (problem,) = reading.problems
        assert problem.message == "loading user_extension ended the process with SIGABRT"

    def test_a_module_that_hangs(self, tmp_path: Path) -> None:
        # Long enough for the import of torch before it, on a busy machine too.
        reading = read_with(tmp_path, "import time\ntime.sleep(1000)", timeout=10.0)
        (problem,) = reading.problems
        assert problem.message == "loading user_extension took more than 10 s and was stopped"

    def test_nothing_is_loaded_in_an_untrusted_workspace(self, tmp_path: Path) -> None:
        ran = tmp_path / "ran"
        (tmp_path / "user_extension.py").write_text(f"open({str(ran)!r}, 'w')", encoding="utf-8")
        untrusted = InterpreterSearch(root=tmp_path, environment=dict(os.environ), trusted=False)
        reading = read_installed(ReadRequest(untrusted, imports=("user_extension",)))
        assert reading.problems[0].code is ProblemCode.UNTRUSTED
        assert reading.extension is None
        assert not ran.exists()


LIBRARY = """
#include <torch/library.h>
static at::Tensor same(const at::Tensor& x) { return x; }
TORCH_LIBRARY(op_lint_built, m) {
  m.def("plain(Tensor x) -> Tensor");
  m.def("composite(Tensor x) -> Tensor", &same);
}
TORCH_LIBRARY_IMPL(op_lint_built, CPU, m) { m.impl("plain", &same); }
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of `LIBRARY`."""
    compiler, package = shutil.which("g++"), Path(installed().package or "")
    if compiler is None:
        pytest.skip("g++ is not there")
    folder = tmp_path_factory.mktemp("built")
    (folder / "ops.cpp").write_text(LIBRARY, encoding="utf-8")
    include = package / "include"
    paths = [f"-I{include}", f"-I{include}/torch/csrc/api/include", f"-L{package}/lib"]
    command = [compiler, "-w", "-shared", "-fPIC", "-O0", "-std=c++20", *paths, "ops.cpp", "-o", "ops.so"]
    subprocess.run([*command, "-ltorch_cpu", "-lc10"], cwd=folder, check=True)
    return folder / "ops.so"


class TestLoad:
    def test_what_a_library_registers(self, built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(built.parent)
        reading = read_installed(ReadRequest(search(), load=("ops.so",)))
        extension = reading.extension
        assert extension is not None
        assert (reading.problems, extension.defined) == ((), ("op_lint_built::composite", "op_lint_built::plain"))
        added = {
            (name, kernel.key, place_of(kernel.origin))
            for name, kernels in extension.added.items()
            for kernel in kernels
        }
        assert added == {
            ("op_lint_built::plain", "CPU", ("ops.cpp", 8)),
            ("op_lint_built::composite", "CompositeImplicitAutograd", ("ops.cpp", 4)),
        }

    def test_a_library_that_aborts(self, built: Path) -> None:
        copy = built.with_name("copy.so")
        shutil.copy(built, copy)
        reading = read_installed(ReadRequest(search(), load=(str(built), str(copy))))
        (problem,) = reading.problems
        assert (reading.torch, reading.extension) == (installed().torch, None)
        assert problem.message.startswith(
            f"loading {copy} ended the process: "
            "Only a single TORCH_LIBRARY can be used to register the namespace op_lint_built"
        )

    def test_a_library_that_is_not_there(self, tmp_path: Path) -> None:
        (problem,) = read_installed(ReadRequest(search(), load=(str(tmp_path / "gone.so"),))).problems
        assert problem.code is ProblemCode.LOAD_FAILED
        assert problem.message.startswith(f"loading {tmp_path}/gone.so failed: ")


def test_the_bundled_snapshot_is_this_torch(tmp_path: Path) -> None:
    """The command makes of the installed torch what is bundled."""
    assert snapshot.main(["--python", sys.executable, "--output", str(tmp_path)]) == 0
    (made,) = tmp_path.iterdir()
    version = installed().torch.version
    assert made.name == f"{version}{SUFFIX}"
    if version in bundled_versions():
        assert decode_snapshot(made.read_bytes()) == load_snapshot(version)


def test_no_snapshot_of_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert snapshot.main(["--python", str(tmp_path / "python"), "--output", str(tmp_path)]) == 1
    assert "does not exist" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
