"""The dispatcher's model on the bundled snapshots: what must hold without any torch."""

from __future__ import annotations

from functools import lru_cache

import msgspec
import pytest

from op_lint.dispatch.call import Argument, Call, Layout, Mode, Transform, UnknownDeviceError
from op_lint.dispatch.convert import of_definition, of_fallback, of_implementation
from op_lint.dispatch.keys import DispatchKeys, KeyKind
from op_lint.dispatch.path import Outcome, Path, call_path
from op_lint.dispatch.registration import Operator, Registration, Source
from op_lint.dispatch.table import LiveTable, Reason, Table
from op_lint.facts import (
    Definition,
    Fallback,
    Implementation,
    Kernel,
    KernelKind,
    Language,
    OperatorName,
    Place,
    Text,
    Unit,
    UnitKind,
)
from op_lint.installed.bundled import DEFAULT, bundled_versions, load_snapshot
from op_lint.installed.model import InstalledTorch


@lru_cache
def torch() -> InstalledTorch:
    return load_snapshot(DEFAULT)


@lru_cache
def keys() -> DispatchKeys:
    return DispatchKeys(torch().keys)


def table_of(*at: str, schema: str = "my::op(Tensor x) -> Tensor", kind: type[Table] = Table) -> Table:
    """The table of an operator with a kernel at each of these keys; `!KEY` for a fallthrough."""
    registrations = tuple(
        Registration(
            key.lstrip("!"),
            f"registered at ops.cpp:{line}",
            KernelKind.FALLTHROUGH if key.startswith("!") else KernelKind.KERNEL,
            Source.WORKSPACE,
        )
        for line, key in enumerate(at, 1)
    )
    return kind(keys(), Operator("my::op", schema, registrations), torch().fallback_registrations())


def path_of(*at: str, schema: str = "my::op(Tensor x) -> Tensor", **call: object) -> Path:
    return call_path(table_of(*at, schema=schema), msgspec.convert(call, Call))


IMPLICIT, EXPLICIT = "CompositeImplicitAutograd", "CompositeExplicitAutograd"
SEEN = ("CPU", "CUDA", "SparseCPU", "AutogradOther", "AutogradCPU", "AutogradCUDA")
SHORT = {
    "-": Reason.MISSING,
    "kernel": Reason.KERNEL,
    "math": Reason.MATH,
    "default": Reason.DEFAULT_BACKEND,
    "fallback": Reason.FALLBACK,
    "autograd": Reason.AUTOGRAD,
    "ambiguous": Reason.AMBIGUOUS,
}


@pytest.mark.parametrize(
    ("registered", "expected"),
    [
        ((), "- - - fallback fallback fallback"),
        (("CPU",), "kernel - - fallback fallback fallback"),
        (("CPU", "Autograd"), "kernel - - autograd autograd autograd"),
        ((IMPLICIT,), "math math math math math math"),
        ((IMPLICIT, "CPU"), "kernel math math math fallback math"),
        ((IMPLICIT, "CPU", "Autograd"), "kernel math math math autograd math"),
        ((IMPLICIT, "Autograd"), "math math math math math math"),
        ((IMPLICIT, "SparseCPU"), "math math kernel ambiguous math math"),
        ((IMPLICIT, "MkldnnCPU"), "math math math ambiguous math math"),
        ((EXPLICIT,), "default default default fallback fallback fallback"),
        ((EXPLICIT, IMPLICIT), "default default default fallback fallback fallback"),
        ((EXPLICIT, "CPU"), "kernel default default fallback fallback fallback"),
        ((EXPLICIT, "Autograd"), "default default default autograd autograd autograd"),
    ],
)
def test_alias_keys(registered: tuple[str, ...], expected: str) -> None:
    table = table_of(*registered)
    assert [table[key].reason for key in SEEN] == [SHORT[word] for word in expected.split()]


class TestTable:
    def test_it_has_every_runtime_key_in_order(self) -> None:
        entries = table_of("CPU").entries
        assert tuple(entry.key for entry in entries) == keys().runtime
        assert entries[0].key == "Undefined"

    def test_the_later_kernel_of_a_key_is_active(self) -> None:
        entry = table_of("CPU", "CPU")["CPU"]
        assert entry.registration is not None
        assert entry.registration.origin == "registered at ops.cpp:2"

    def test_a_key_that_this_torch_does_not_have_changes_nothing(self) -> None:
        assert table_of("CPU", "MLC").dump() == table_of("CPU").dump()
        assert table_of("CPU", "MLC", kind=LiveTable).dump() == table_of("CPU").dump()

    @pytest.mark.parametrize("kind", [Table, LiveTable])
    def test_a_key_by_another_name(self, kind: type[Table]) -> None:
        table = table_of("Autocast", "DefaultBackend", kind=kind)
        assert (table["AutocastCUDA"].reason, table["CPU"].reason) == (Reason.KERNEL, Reason.DEFAULT_BACKEND)

    def test_the_dump(self) -> None:
        lines = table_of("!CPU", "CUDA").dump().splitlines()
        assert lines[:2] == [
            "CPU: fallthrough registered at ops.cpp:1 [kernel]",
            "CUDA: registered at ops.cpp:2 [kernel]",
        ]
        ambiguous = "AutogradOther: ambiguous_autogradother [ambiguous autogradother]"
        assert ambiguous in table_of(IMPLICIT, "SparseCPU").dump().splitlines()

    def test_a_fallthrough_is_for_its_own_backend(self) -> None:
        table = table_of("!AutogradCPU", "CPU")
        cpu, cuda = (keys().facts.backends.index(backend) for backend in ("CPU", "CUDA"))
        autograd = keys().bits("AutogradFunctionality")
        assert table.fallthroughs(cpu).bits & autograd
        assert not table.fallthroughs(cuda).bits & autograd

    def test_the_order_of_registration_may_matter(self) -> None:
        first, last = table_of(IMPLICIT, "SparseCPU", kind=LiveTable), table_of("SparseCPU", IMPLICIT, kind=LiveTable)
        assert (first["AutogradOther"].reason, last["AutogradOther"].reason) == (Reason.MATH, Reason.AMBIGUOUS)
        assert (first.stale, last.stale) == (("AutogradOther",), ())
        assert table_of(IMPLICIT, "SparseCPU").stale == ()


class TestWorkspaceOverInstalled:
    workspace = Operator("aten::relu", None, (Registration("CPU", "registered at ops.cpp:1", source=Source.WORKSPACE),))

    def test_both_together(self) -> None:
        installed = torch().operators["aten::relu"].operator()
        both = self.workspace.over(installed)
        assert both.schema == installed.schema
        table = Table(keys(), both, torch().fallback_registrations())
        sources = [entry.registration and entry.registration.source for entry in (table["CPU"], table["CUDA"])]
        assert sources == [Source.WORKSPACE, Source.INSTALLED]

    def test_an_operator_of_its_own(self) -> None:
        assert self.workspace.over(None) is self.workspace


class TestKeys:
    def test_other_names(self) -> None:
        assert keys().canonical("Autocast") == "AutocastCUDA"
        assert keys().canonical("CatchAll") == IMPLICIT
        assert keys().canonical("CPU") == "CPU"
        assert keys().canonical("MLC") is None

    def test_kinds(self) -> None:
        expected = {
            "Undefined": KeyKind.UNDEFINED,
            "CUDA": KeyKind.BACKEND,
            "NestedTensorCPU": KeyKind.BACKEND,
            "MkldnnCPU": KeyKind.BACKEND,
            "FPGA": KeyKind.BACKEND,
            "Sparse": KeyKind.PER_BACKEND,
            "AutogradCUDA": KeyKind.AUTOGRAD,
            "AutogradNestedTensor": KeyKind.AUTOGRAD,
            "AutocastCPU": KeyKind.AUTOCAST,
            "Functionalize": KeyKind.FUNCTIONALITY,
            "Autograd": KeyKind.ALIAS,
        }
        assert {key: keys().kind(key) for key in expected} == expected

    def test_taking_a_key_away_leaves_its_backend(self) -> None:
        both = keys().set("CPU", "AutogradCPU")
        assert list(both - keys().set("AutogradCPU")) == ["CPU"]
        assert (both - keys().set("CPU")).highest == "AutogradCPU"
        assert "CUDA" not in both

    def test_by_version(self) -> None:
        old = DispatchKeys(load_snapshot("2.4.0+cu121").keys)
        assert old.canonical("AutogradMAIA") is None
        assert old.kind("MAIA") is KeyKind.BACKEND
        assert "Functionalize" in old.included(IMPLICIT)
        assert "Functionalize" not in keys().included(IMPLICIT)


class TestPath:
    def test_to_a_kernel(self) -> None:
        path = path_of("CUDA", arguments=[{"device": "cuda"}], requires_grad=True)
        assert path.key_set == ("AutogradCUDA", "ADInplaceOrView", "BackendSelect", "CUDA")
        assert path.excluded == ("AutocastCUDA",)
        assert [(step.key, step.outcome) for step in path.steps] == [
            ("AutogradCUDA", Outcome.CALLS_ON),
            ("ADInplaceOrView", Outcome.SKIPPED),
            ("BackendSelect", Outcome.SKIPPED),
            ("CUDA", Outcome.RUNS),
        ]
        assert "backward() warns" in path.steps[0].note
        assert path.error is None

    def test_to_a_missing_kernel(self) -> None:
        path = path_of("CPU", arguments=[{"device": "cuda"}])
        assert path.error is not None
        assert path.error.type == "NotImplementedError"
        assert path.error.text.startswith("Could not run 'my::op' with arguments from the 'CUDA' backend.")
        assert path.cures == ("CUDA", EXPLICIT, IMPLICIT)
        assert path.steps[-1].outcome is Outcome.RAISES

    def test_tracing_calls_anew(self) -> None:
        path = path_of("CPU", "AutocastCPU", tracing=True, autocast=["cpu"])
        assert path.hits == ("AutocastCPU", "Tracer", "AutocastCPU", "AutogradCPU", "CPU")
        assert path_of("CPU", "Tracer", tracing=True).hits == ("Tracer", "AutogradCPU", "CPU")

    def test_a_jagged_tensor_takes_the_call(self) -> None:
        jagged = [{"layout": "jagged"}]
        path = path_of("Autograd", "CPU", arguments=jagged)
        assert path.error is not None
        assert (path.error.type, path.error.text) == ("NotImplementedError", "my.op.default")
        assert path.steps[-1].key == "Python"
        assert path.cures == ("CompositeImplicitAutogradNestedTensor", IMPLICIT)
        composite = path_of("CPU", IMPLICIT, arguments=[{"layout": "jagged", "inference": True}])
        assert composite.error is None
        assert composite.hits[-1] == IMPLICIT

    def test_the_dispatcher_in_python(self) -> None:
        path = path_of("CPU", python_dispatcher=True)
        assert path.hits == ("PythonDispatcher", "AutogradCPU", "CPU")
        missing = path_of("CPU", arguments=[{"device": "cuda"}], python_dispatcher=True)
        assert missing.error is not None
        assert missing.error.text == "could not find kernel for my.op.default at dispatch key DispatchKey.CUDA"

    def test_a_composite_kernel_ends_at_autograd(self) -> None:
        path = path_of(IMPLICIT)
        assert path.hits == ("AutogradCPU",)
        assert path.steps[-1].reason is Reason.MATH

    def test_an_ambiguous_entry(self) -> None:
        path = path_of(IMPLICIT, "SparseCPU", arguments=[{"layout": "mkldnn"}])
        assert path.error is not None
        assert "registered to both CompositeImplicitAutograd and a backend" in path.error.text
        assert path.cures == ("AutogradOther",)
        assert path_of(IMPLICIT, "SparseCPU", arguments=[{"layout": "mkldnn"}], inference_mode=True).error is None

    def test_no_tensors(self) -> None:
        path = path_of("CPU", arguments=[])
        assert path.steps[-1].key == "Undefined"
        assert path.error is not None
        assert path.error.text.startswith("There were no tensor arguments to this function")
        assert path.cures == (EXPLICIT, IMPLICIT)

    def test_a_factory_function(self) -> None:
        schema = "my::op(int n, *, Device? device=None) -> Tensor"
        path = path_of("CUDA", "BackendSelect", schema=schema, arguments=[], device="cuda")
        assert path.hits == ("BackendSelect", "CUDA")
        empty = torch().operators["aten::empty.memory_format"].operator()
        table = Table(keys(), empty, torch().fallback_registrations())
        assert call_path(table, Call(arguments=())).hits == ("BackendSelect", "CPU")
        assert call_path(table, Call(arguments=(), device="cuda")).hits == ("BackendSelect", "CUDA")

    def test_autocast(self) -> None:
        cuda = [{"device": "cuda"}]
        assert path_of("CUDA", "AutocastCUDA", arguments=cuda).hits == ("AutogradCUDA", "CUDA")
        with_autocast = path_of("CUDA", "AutocastCUDA", arguments=cuda, autocast=["cuda"])
        assert with_autocast.hits == ("AutocastCUDA", "AutogradCUDA", "CUDA")

    def test_inference_mode(self) -> None:
        assert path_of("CPU", "Autograd", inference_mode=True).hits == ("CPU",)
        assert path_of("CPU", "Autograd", arguments=[{"inference": True}]).hits == ("CPU",)

    def test_two_devices(self) -> None:
        assert path_of("CPU", "CUDA", arguments=[{"device": "cpu"}, {"device": "cuda"}]).hits[-1] == "CUDA"

    def test_vmap(self) -> None:
        path = path_of("CPU", transforms=["vmap"])
        assert path.hits == (
            "FuncTorchDynamicLayerFrontMode",
            "FuncTorchBatched",
            "FuncTorchDynamicLayerBackMode",
            "AutogradCPU",
            "CPU",
        )
        assert [step.note for step in path.steps if step.key == "FuncTorchBatched"] == [
            "no batching rule: calls the operator for each slice"
        ]

    def test_functionalization_of_what_mutates(self) -> None:
        path = path_of("CPU", schema="my::op(Tensor(a!) x) -> ()", functionalize=True)
        assert path.error is not None
        assert path.error.text.startswith(
            "Found a custom (non-ATen) operator whose output has alias annotations: my::op("
        )
        assert path.cures == ("Functionalize",)

    def test_fake_tensors(self) -> None:
        path = path_of("CPU", mode="fake")
        assert path.error is not None
        assert path.error.type.endswith("UnsupportedOperatorException")
        assert path.cures == ("Meta", EXPLICIT, IMPLICIT)
        assert path_of("CPU", "Meta", mode="fake").hits[-1] == "Meta"
        assert path_of("CPU", schema="my::op(Tensor(a!) x) -> ()", mode="fake").error is None

    def test_meta_tensors(self) -> None:
        path = path_of("CPU", arguments=[{"device": "meta"}])
        assert path.error is not None
        assert "there was no fake impl or Meta kernel registered" in path.error.text

    def test_a_kernel_that_refuses(self) -> None:
        refusing = Registration("CPU", "registered at ops.cpp:1", KernelKind.NOT_SUPPORTED)
        table = Table(keys(), Operator("my::op", None, (refusing,)), torch().fallback_registrations())
        assert call_path(table, Call()).error is not None

    def test_torchs_own_wrappers_have_names(self) -> None:
        add = torch().operators["aten::add_.Tensor"].operator()
        path = call_path(Table(keys(), add, torch().fallback_registrations()), Call(inference_mode=False))
        assert [(step.key, step.note) for step in path.steps if step.outcome is Outcome.CALLS_ON] == [
            ("AutogradCPU", "PyTorch's autograd: records the operation, calls on"),
            ("ADInplaceOrView", "PyTorch's view and version bookkeeping: calls on"),
        ]

    def test_what_is_no_device(self) -> None:
        with pytest.raises(UnknownDeviceError, match="no device type `gpu`: use one of cpu, cuda"):
            path_of("CPU", arguments=[{"device": "gpu"}])
        with pytest.raises(UnknownDeviceError, match="no dispatch key for mkldnn tensors on `cuda`"):
            path_of("CPU", arguments=[{"device": "cuda", "layout": "mkldnn"}])
        with pytest.raises(UnknownDeviceError, match="no device type `gpu`"):
            path_of("CPU", autocast=["gpu"])
        with pytest.raises(UnknownDeviceError, match=r"torch\.autocast has no dispatch key for `(meta|fpga)`"):
            path_of("CPU", autocast=["meta"])

    @pytest.mark.parametrize("version", bundled_versions())
    def test_every_version_walks(self, version: str) -> None:
        """Every kind of call, through an operator of each bundled torch."""
        of_version = load_snapshot(version)
        operator = of_version.operators["aten::add.Tensor"].operator()
        table = Table(DispatchKeys(of_version.keys), operator, of_version.fallback_registrations())
        calls = [
            *(Call((Argument(device),)) for device in of_version.keys.devices),
            *(Call((Argument("cpu", layout),)) for layout in Layout),
            *(Call(transforms=(transform,)) for transform in Transform),
            *(Call(mode=mode) for mode in Mode),
            Call(autocast=("cpu",)),
            Call(functionalize=True),
        ]
        for call in calls:
            path = call_path(table, call)
            assert path.steps[-1].outcome in (Outcome.RUNS, Outcome.RAISES)
            assert (path.error is None) == (path.steps[-1].outcome is Outcome.RUNS)


def place(line: int) -> Place:
    return Place("csrc/ops.cpp", line, 0, 1)


class TestFacts:
    unit = Unit(0, UnitKind.IMPL, "TORCH_LIBRARY_IMPL", place(10), "my", "CUDA")
    kernel = Kernel(KernelKind.KERNEL, "my::op_cuda", place(12))
    name = OperatorName("my", "op")
    text = Text("op", place(12))

    def test_an_implementation(self) -> None:
        fact = Implementation(0, self.name, "CUDA", self.kernel, place(12), place(12), self.text, place(10))
        assert of_implementation(fact, self.unit) == Registration(
            "CUDA",
            "registered at csrc/ops.cpp:10",
            KernelKind.KERNEL,
            Source.WORKSPACE,
            "my::op_cuda",
            "csrc/ops.cpp",
            12,
        )

    def test_an_implementation_without_a_key(self) -> None:
        fact = Implementation(0, self.name, IMPLICIT, self.kernel, place(12), place(12), self.text)
        assert of_implementation(fact, self.unit).keyless
        in_python = msgspec.structs.replace(fact, language=Language.PYTHON)
        assert not of_implementation(in_python, self.unit).keyless
        named = msgspec.structs.replace(fact, key_place=place(12), call_key=IMPLICIT)
        assert not of_implementation(named, self.unit).keyless

    def test_a_definition(self) -> None:
        bare = Definition(0, self.name, place(12), place(12), self.text)
        assert of_definition(bare, self.unit) is None
        composite = of_definition(msgspec.structs.replace(bare, kernel=self.kernel), self.unit)
        assert composite is not None
        assert (composite.key, composite.keyless) == (IMPLICIT, True)
        keyed = of_definition(msgspec.structs.replace(bare, kernel=self.kernel, key="CPU"), self.unit)
        assert keyed is not None
        assert (keyed.key, keyed.keyless) == ("CPU", False)

    def test_a_fallback(self) -> None:
        fallthrough = msgspec.structs.replace(self.kernel, kind=KernelKind.FALLTHROUGH)
        made = of_fallback(Fallback(0, "AutogradPrivateUse1", fallthrough, place(12)), self.unit)
        assert made is not None
        assert (made.key, made.fallthrough) == ("AutogradPrivateUse1", True)
        assert of_fallback(Fallback(0, None, fallthrough, place(12)), self.unit) is None
