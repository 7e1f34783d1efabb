"""OPL505, OPL506 and OPL507 on what a dispatcher may say with an extension loaded."""

from __future__ import annotations

from typing import ClassVar

import msgspec
import pytest

from op_lint.build.model import BuildGraph, BuildSystem, Source, Target, TargetKind
from op_lint.condition import Atom
from op_lint.facts import Place
from op_lint.findings import Finding, Severity
from op_lint.installed.bundled import bundled_key_numbers
from op_lint.program import Program
from tests.loading import extension
from tests.unit.builders import findings, read, torch
from tests.unit.sources import HEAD, UNREAD, define, fallback, implement, under

SOURCE = HEAD + define("a(Tensor x) -> Tensor") + implement("CPU", "a") + implement("Autograd", "a")
"""The definition is in line 5, the kernels are in lines 6 and 7."""

PLACE = Place("CMakeLists.txt", 1, 0, 1)

RULES = ("OPL505", "OPL506", "OPL507")


def operator(name: str, origin: str | None, *kernels: str, schema: str = "(Tensor x) -> Tensor") -> str:
    """A dump. `kernels` are `KEY PLACE`, `KEY PLACE inactive`, or `KEY` for one without a place."""
    lines = [f"name: {name}", f"schema: {name}{schema}" if origin else "schema: (none)"]
    lines += [f"debug: registered at {origin}", "alias analysis kind: FROM_SCHEMA"] if origin else []
    for kernel in kernels:
        key, *rest = kernel.split(" ")
        at = f"registered at {rest[0]}" if rest else "registered by RegisterOperators"
        lines.append(f"{key}{' (inactive)' if rest[1:] else ''}: {at} :: (Tensor _0) -> Tensor _0 [ boxed unboxed ]")
    return "\n".join([*lines, ""])


def live(files: dict[str, str], *dumps: str, version: str = "2.13.0+cpu", loads: tuple[str, ...] = ()) -> list[Finding]:
    installed = torch(version)
    loaded = extension("".join(dumps), installed, *loads)
    program = Program(read(files), installed, extension=loaded, key_numbers=bundled_key_numbers())
    return [finding for code in RULES for finding in findings(code, program)]


def said(files: dict[str, str], *dumps: str, version: str = "2.13.0+cpu") -> list[str]:
    return [f"{each.code} {each.place.path}:{each.place.line}" for each in live(files, *dumps, version=version)]


WHOLE = operator("demo::a", "ops.cpp:5", "CPU ops.cpp:6", "Autograd[alias] ops.cpp:7")


class TestAbsent:
    @pytest.mark.parametrize("path", ["ops.cpp", "./ops.cpp", "/build/tmp/ops.cpp", "../../ops.cpp", "C:\\b\\ops.cpp"])
    def test_all_is_there(self, path: str) -> None:
        assert said({"ops.cpp": SOURCE}, WHOLE.replace("ops.cpp", path)) == []

    @pytest.mark.parametrize("path", ["csrc/ops.cpp", "/b/csrc/ops.cpp", "../csrc/ops.cpp", "ops.cpp", "x/../ops.cpp"])
    def test_a_file_in_a_folder(self, path: str) -> None:
        assert said({"csrc/ops.cpp": SOURCE}, WHOLE.replace("ops.cpp", path)) == []

    def test_a_block(self) -> None:
        (finding,) = live({"ops.cpp": SOURCE}, operator("demo::a", "ops.cpp:5", "Autograd[alias] ops.cpp:7"))
        assert (finding.code, finding.place.line) == ("OPL505", 6)
        assert finding.message == (
            "nothing that this TORCH_LIBRARY_IMPL registers is there with demo.so loaded (the CPU kernel of "
            "`demo::a`): link this file into it, or rebuild"
        )
        assert finding.severity is Severity.ERROR

    def test_a_file_that_nobody_says_is_compiled(self) -> None:
        (finding,) = live({"def.cpp": HEAD + define("a(Tensor x) -> Tensor"), "ops.cpp": HEAD + implement("CPU", "a")},
                          operator("demo::a", "def.cpp:5"))  # fmt: skip
        assert (finding.place.path, finding.severity) == ("ops.cpp", Severity.HINT)
        assert finding.message.endswith(
            "(the CPU kernel of `demo::a`): if this file belongs to it, compile and link it"
        )

    def test_a_file_whose_alternative_is_loaded(self) -> None:
        files = {"def.cpp": HEAD + define("a(Tensor x) -> Tensor"), "ops.cpp": HEAD + implement("CPU", "a"),
                 "stub.cpp": HEAD + implement("CPU", "a", kernel="&g") + implement("Meta", "a")}  # fmt: skip
        assert said(files, operator("demo::a", "def.cpp:5", "CPU ops.cpp:5")) == ["OPL505 stub.cpp:6"]

    def test_one_registration_of_a_block(self) -> None:
        source = HEAD + define("a(Tensor x) -> Tensor", "b(Tensor x) -> Tensor")
        (finding,) = live({"ops.cpp": source}, operator("demo::a", "ops.cpp:5"))
        assert finding.message == "`demo::b` is not there with demo.so loaded: the library is older, rebuild it"

    def test_the_same_from_an_unknown_file_is_there(self) -> None:
        assert said({"ops.hip.cpp": SOURCE}, WHOLE.replace("ops.cpp", "generated.cpp")) == []
        assert said({"ops.cpp": SOURCE}, operator("demo::a", "ops.cpp:5", "CPU", "Autograd[alias]")) == []

    def test_two_blocks_of_one_kernel_are_told_apart(self) -> None:
        files = {"ops.cpp": SOURCE, "more.cpp": HEAD + implement("CPU", "a") + implement("Meta", "a")}
        meta = "Meta: registered at more.cpp:6 :: (Tensor _0) -> Tensor _0 [ boxed unboxed ]\n"
        assert said(files, WHOLE + meta) == ["OPL505 more.cpp:5"]

    @pytest.mark.parametrize(
        "more",
        [
            under("USE_IT", implement("CUDA", "a")),
            "void more(torch::Library& m) { m.impl(\"a\", c10::DispatchKey::CUDA, &f); }\n",
            "TORCH_LIBRARY_IMPL(demo, CUDA, m) { if (has_cuda()) m.impl(\"a\", &f); }\n",
            UNREAD,
        ],
    )  # fmt: skip
    def test_what_need_not_be_there(self, more: str) -> None:
        assert said({"ops.cpp": SOURCE + more}, WHOLE) == []

    @pytest.mark.parametrize(
        ("path", "version", "expected"),
        [
            ("gpu.cu", "2.13.0+cpu", 0),
            ("gpu.cu", "2.13.0+cu130", 1),
            ("gpu.hip", "2.13.0+cu130", 0),
            ("m.mm", "2.13.0", 0),
        ],
    )
    def test_sources_of_a_device(self, path: str, version: str, expected: int) -> None:
        files = {"ops.cpp": SOURCE, path: HEAD + implement("CUDA", "a")}
        assert said(files, WHOLE, version=version) == [f"OPL505 {path}:5"] * expected

    def test_another_namespace_may_be_another_library(self) -> None:
        other = HEAD + define("b(Tensor x) -> Tensor", namespace="other")
        assert said({"ops.cpp": SOURCE, "other.cpp": other}, WHOLE) == []
        assert said({"ops.cpp": SOURCE + other}, WHOLE) == ["OPL505 ops.cpp:12"]

    def test_nothing_was_registered(self) -> None:
        assert said({"ops.cpp": SOURCE}) == ["OPL505 ops.cpp:5", "OPL505 ops.cpp:6", "OPL505 ops.cpp:7"]

    def test_what_torch_has_does_not_show(self) -> None:
        source = SOURCE + 'TORCH_LIBRARY_FRAGMENT(aten, m) { m.def("relu(Tensor self) -> Tensor"); }\n'
        assert said({"ops.cpp": source}, WHOLE) == []

    def test_a_namespace_of_the_build(self) -> None:
        source = SOURCE.replace("(demo,", "(TORCH_EXTENSION_NAME,")
        assert said({"ops.cpp": source}, WHOLE) == []
        assert said({"ops.cpp": source}, operator("demo::a", "ops.cpp:5", "CPU ops.cpp:6")) == ["OPL505 ops.cpp:7"]

    def test_fallbacks(self) -> None:
        source = SOURCE + fallback("PrivateUse2") + fallback("AutogradPrivateUse1")
        there = "PrivateUse2: registered at ops.cpp:8 [backend fallback]\n"
        assert said({"ops.cpp": source}, WHOLE, there) == []
        assert said({"ops.cpp": source}, WHOLE) == ["OPL505 ops.cpp:8"]

    def test_python_that_did_not_run(self) -> None:
        python = 'import torch\nlib = torch.library.Library("demo", "FRAGMENT")\nlib.define("b(Tensor x) -> Tensor")\n'
        files = {"ops.cpp": SOURCE, "pkg/ops.py": python}
        assert said(files, WHOLE) == []
        assert [each.place.line for each in live(files, WHOLE, loads=("pkg.ops",))] == [2]
        assert said(files, WHOLE, operator("demo::b", "/site/pkg/ops.py:2")) == []


class TestWithBuildFiles:
    """Two targets, of which `demo` is loaded, and more sources than that has registered."""

    FILES: ClassVar = {"ops.cpp": SOURCE, "more.cpp": HEAD + define("b(Tensor x) -> Tensor", namespace="other")}

    def said(self, *targets: Target) -> list[str]:
        program = Program(read(self.FILES), torch(), extension=extension(WHOLE, torch()), build=BuildGraph(targets))
        return [f"{each.code} {each.place.path}:{each.place.line}" for each in findings("OPL505", program)]

    def target(self, name: str, *sources: Source, unknown: tuple[str, ...] = ()) -> Target:
        return Target(name, TargetKind.SHARED, BuildSystem.CMAKE, PLACE, sources=sources, unknown=unknown)

    OPS: ClassVar = Source("ops.cpp", PLACE)
    MORE: ClassVar = Source("more.cpp", PLACE)

    def test_it_is_linked(self) -> None:
        assert self.said(self.target("demo", self.OPS, self.MORE)) == ["OPL505 more.cpp:5"]

    def test_it_is_linked_under_a_condition(self) -> None:
        more = msgspec.structs.replace(self.MORE, condition=Atom("WITH_MORE"))
        assert self.said(self.target("demo", self.OPS, more)) == []

    def test_it_is_in_another_library(self) -> None:
        assert self.said(self.target("demo", self.OPS), self.target("more", self.MORE)) == []

    def test_the_build_files_do_not_tell(self) -> None:
        assert self.said(self.target("demo", self.OPS, unknown=("*",))) == []
        assert self.said(self.target("renamed", self.OPS, self.MORE)) == []


class TestStale:
    def test_an_operator_that_is_gone(self) -> None:
        (finding,) = live({"ops.cpp": SOURCE}, WHOLE, operator("demo::old", "ops.cpp:5", "CPU ops.cpp:6"))
        assert (finding.code, finding.place.line) == ("OPL507", 5)
        assert finding.message == (
            "demo.so has `demo::old` (CPU) from this file, which no longer registers it: rebuild, or find out which "
            "copy is loaded"
        )
        assert finding.notes == (
            "the dispatcher has it as registered at ops.cpp:5",
            "the dispatcher has it as registered at ops.cpp:6",
        )

    def test_another_schema(self) -> None:
        dump = WHOLE.replace("(Tensor x) -> Tensor\n", "(Tensor x, int n=1) -> Tensor\n", 1)
        (finding,) = live({"ops.cpp": SOURCE}, dump)
        assert (finding.code, finding.place.line) == ("OPL507", 5)
        assert finding.notes == ("the loaded schema: demo::a(Tensor x, int n=1) -> Tensor",)

    def test_lines_that_moved(self) -> None:
        assert said({"ops.cpp": f"\n\n{SOURCE}"}, WHOLE) == []

    @pytest.mark.parametrize("more", [UNREAD, under("USE_IT", implement("CUDA", "a"))])
    def test_it_may_be_there_all_the_same(self, more: str) -> None:
        dump = WHOLE + "CUDA: registered at ops.cpp:8 :: (Tensor _0) -> Tensor _0 [ boxed unboxed ]\n"
        assert said({"ops.cpp": SOURCE + more}, dump) == []
        assert said({"ops.cpp": SOURCE}, dump) == ["OPL507 ops.cpp:7"]

    def test_a_function_of_another_file_that_is_given_the_library(self) -> None:
        """The dump names the block that calls it."""
        block = (
            HEAD
            + 'void more(torch::Library& m);\nTORCH_LIBRARY(demo, m) { m.def("a(Tensor x) -> Tensor"); more(m); }\n'
        )
        helper = (
            'void more(torch::Library& m) { m.def("b(Tensor x) -> Tensor"); m.impl("b", c10::DispatchKey::CPU, &f); }\n'
        )
        dumps = operator("demo::a", "ops.cpp:6"), operator("demo::b", "ops.cpp:6", "CPU ops.cpp:6")
        assert said({"ops.cpp": block, "more.cpp": HEAD + helper}, *dumps) == []
        assert said({"ops.cpp": block, "more.cpp": HEAD}, *dumps) == []

    def test_a_file_that_is_not_of_the_project(self) -> None:
        assert (
            said({"ops.cpp": SOURCE}, WHOLE, operator("other::b", "/deps/other.cpp:5", "CPU /deps/other.cpp:6")) == []
        )

    def test_two_copies(self) -> None:
        dump = WHOLE + "CPU (inactive): registered at ops.cpp:6 :: (Tensor _0) -> Tensor _0 [ boxed unboxed ]\n"
        (finding,) = live({"ops.cpp": SOURCE}, dump)
        assert (finding.code, finding.place.line) == ("OPL507", 6)
        assert finding.message.startswith("the CPU kernel of `demo::a` is registered twice from this place: two copies")

    def test_a_kernel_over_another_is_no_copy(self) -> None:
        source = SOURCE + implement("CPU", "a")
        dump = WHOLE + "CPU (inactive): registered at ops.cpp:8 :: (Tensor _0) -> Tensor _0 [ boxed unboxed ]\n"
        assert said({"ops.cpp": source}, dump) == []


class TestSkew:
    BOTH = HEAD + define("a(Tensor x) -> Tensor") + implement("CPU", "a") + implement("CUDA", "a")

    def test_the_keys_of_another_torch(self) -> None:
        dump = operator("demo::a", "ops.cpp:5", "CUDA ops.cpp:6", "HIP ops.cpp:7")
        found = live({"ops.cpp": self.BOTH}, dump)
        assert [(each.code, each.place.line) for each in found] == [("OPL506", 6), ("OPL506", 7)]
        assert found[0].message == (
            "the CPU kernel of `demo::a` sits at CUDA: the extension was built against torch 2.7, 2.8, 2.9, 2.10, 2.11 "
            "or 2.12 and runs with 2.13.0+cpu; rebuild it against the torch that runs"
        )

    def test_a_key_that_was_changed_in_the_source(self) -> None:
        """Torch 2.7 has CPU where 2.13 has CUDA; but then this library's Autograd kernels would be elsewhere, too."""
        source = self.BOTH.replace("IMPL(demo, CUDA", "IMPL(demo, XPU")
        dump = operator("demo::a", "ops.cpp:5", "CPU ops.cpp:6", "CUDA ops.cpp:7")
        assert said({"ops.cpp": source}, dump) == ["OPL505 ops.cpp:7", "OPL507 ops.cpp:7"]

    def test_lines_that_moved_by_a_block(self) -> None:
        source = self.BOTH.replace(implement("CPU", "a"), "\n" + implement("CPU", "a"))
        dump = operator("demo::a", "ops.cpp:5", "CPU ops.cpp:6", "CUDA ops.cpp:7")
        assert said({"ops.cpp": source}, dump) == []

    def test_none_fits(self) -> None:
        dump = operator("demo::a", "ops.cpp:5", "MPS ops.cpp:6", "CUDA ops.cpp:7")
        assert said({"ops.cpp": self.BOTH}, dump) == ["OPL505 ops.cpp:6", "OPL507 ops.cpp:6"]


def test_nothing_follows_where_something_did_not_load() -> None:
    installed = torch()
    loaded = extension("", installed)
    failed = msgspec.structs.replace(loaded, loads=(msgspec.structs.replace(loaded.loads[0], error="no such file"),))
    program = Program(read({"ops.cpp": SOURCE}), installed, extension=failed)
    assert [finding for code in RULES for finding in findings(code, program)] == []


def test_without_an_extension() -> None:
    program = Program(read({"ops.cpp": SOURCE}), torch())
    assert [finding for code in RULES for finding in findings(code, program)] == []
