"""The path of a call, against real calls of kernels that record themselves."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest

from op_lint.dispatch.call import Argument, Call, Layout, Mode, Transform
from op_lint.dispatch.path import Path, call_path
from op_lint.dispatch.registration import Operator, Registration, Source
from op_lint.dispatch.table import LiveTable
from op_lint.facts import KernelKind
from tests.truth.torch_process import installed, installed_keys, needs_torch, run_script

pytestmark = needs_torch

PROCESSES = 4
CASES_EACH = 400

BACKENDS = ["CPU", "Meta", "SparseCPU", "SparseCsrCPU", "QuantizedCPU", "NestedTensorCPU", "MkldnnCPU", "CUDA"]
AUTOGRAD = ["Autograd", "AutogradCPU", "AutogradOther", "AutogradMeta", "AutogradNestedTensor", "AutogradCUDA"]
COMPOSITE = ["CompositeImplicitAutograd", "CompositeExplicitAutograd", "CompositeImplicitAutogradNestedTensor"]
WRAPPERS = [
    *("ADInplaceOrView", "BackendSelect", "AutocastCPU", "AutocastCUDA", "Conjugate", "Negative", "ZeroTensor"),
    *("FuncTorchBatched", "FuncTorchVmapMode", "FuncTorchGradWrapper", "FuncTorchBatchedDecomposition"),
]
# With a user's kernel there, torch's own state of the mode is not set up: such calls fail in torch's assertions.
WITHOUT_MODE = ["PythonTLSSnapshot", "Python", "Functionalize"]

# Torch itself refuses to functionalize what is functionalized.
TRANSFORMS = [
    *((transform,) for transform in Transform),
    *((outer, inner) for outer in Transform for inner in Transform if (outer, inner) != (Transform.FUNCTIONALIZE,) * 2),
]


class Case(msgspec.Struct, frozen=True):
    name: str
    registrations: tuple[tuple[str, str], ...]
    call: Call

    def with_kernel(self, key: str) -> Case:
        return msgspec.structs.replace(self, registrations=(*self.registrations, (key, KernelKind.KERNEL.value)))

    def path(self) -> Path:
        keys = installed_keys()
        registrations = tuple(
            Registration(key, f"test:{index}", KernelKind(kind), Source.WORKSPACE)
            for index, (key, kind) in enumerate(self.registrations)
        )
        schema = f"op_lint_recorded::{self.name}(Tensor? x=None, Tensor? y=None) -> Tensor"
        operator = Operator(f"op_lint_recorded::{self.name}", schema, registrations)
        return call_path(LiveTable(keys, operator, installed().torch.fallback_registrations()), self.call)


def random_argument(choice: random.Random) -> Argument:
    layout = choice.choice([Layout.STRIDED, Layout.STRIDED, *Layout])
    if layout is not Layout.STRIDED:
        return Argument("cpu", layout, inference=choice.random() < 0.3)
    device = choice.choice(["cpu", "cpu", "meta"])
    lazy = choice.choice(["", "", "conjugate", "negative", "zero"]) if device == "cpu" else ""
    plain = Argument(device, inference=choice.random() < 0.2)
    return msgspec.structs.replace(plain, **{lazy: True}) if lazy else plain


def random_call(choice: random.Random) -> Call:
    around = choice.choice(["", "", "transforms", "functionalize", "python", "fake", "python+transforms"])
    autocast = tuple(device for device in ("cpu", "cuda") if choice.random() < 0.25)
    inference = choice.random() < 0.2
    if around == "fake":
        devices = choice.sample(["cpu", "cuda", "meta"], 1) * choice.randint(1, 2)
        return Call(tuple(map(Argument, devices)), None, False, autocast, inference, mode=Mode.FAKE)
    if "transforms" in around:
        transforms = choice.choice(TRANSFORMS)
        arguments = (Argument(),) * choice.randint(1, 2)
        mode = Mode.PYTHON if "python" in around else None
        return Call(arguments, None, False, autocast, False, transforms=transforms, mode=mode)
    if around == "functionalize":
        return Call((Argument(choice.choice(["cpu", "meta"])),), None, False, autocast, inference, functionalize=True)
    arguments = tuple(random_argument(choice) for _ in range(choice.choice([0, 1, 1, 1, 2, 2])))
    return Call(arguments, None, False, autocast, inference, mode=Mode.PYTHON if around else None)


def random_case(choice: random.Random, name: str) -> Case:
    call = random_call(choice)
    keys = [
        *(key for key in BACKENDS if choice.random() < 0.5),
        *(key for key in AUTOGRAD if choice.random() < 0.25),
        *(key for key in COMPOSITE if choice.random() < 0.2),
        *(key for key in WRAPPERS if choice.random() < 0.3),
    ]
    if call.mode is None and not call.transforms:
        keys += [key for key in WITHOUT_MODE if choice.random() < 0.2]
    if choice.random() < 0.5 and "CPU" not in keys:
        keys.append("CPU")
    kinds = [KernelKind.FALLTHROUGH if choice.random() < 0.2 else KernelKind.KERNEL for _ in keys]
    registrations = [(key, kind.value) for key, kind in zip(keys, kinds, strict=True)]
    if call.transforms and choice.random() < 0.2:
        registrations.append(("Functionalize", KernelKind.FALLTHROUGH.value))
    choice.shuffle(registrations)
    return Case(name, tuple(registrations), call)


def recorded_hits(path: Path) -> list[str]:
    """The keys that the test's own kernels on the path were registered to."""
    hits = set(path.hits)
    return [
        step.registration.key
        for step in path.steps
        if step.key in hits
        and step.registration is not None
        and step.registration.source is Source.WORKSPACE
        and not step.registration.fallthrough
    ]


def agrees(path: Path, answer: dict[str, Any]) -> bool:
    """Whether the same kernels were hit, and the same error raised (or none)."""
    if recorded_hits(path) != answer["hits"] or (path.error is None) != (answer["error"] is None):
        return False
    if path.error is None:
        return True
    kind, text = answer["error"]
    return path.error.type == kind and path.error.text in text


@pytest.mark.parametrize("seed", range(PROCESSES))
def test_real_calls_hit_the_kernels_of_the_path(seed: int) -> None:
    choice = random.Random(seed)
    cases = [random_case(choice, f"f{number}") for number in range(CASES_EACH)]
    answers = run_script("recorded_calls.py", msgspec.to_builtins(cases))
    paths = [case.path() for case in cases]
    wrong = [
        (case, recorded_hits(path), path.error, answer)
        for case, path, answer in zip(cases, paths, answers, strict=True)
        if not agrees(path, answer)
    ]
    assert not wrong, f"{len(wrong)} of {len(cases)}: {wrong[0]}"
    raising = sum(path.error is not None for path in paths)
    assert CASES_EACH // 8 < raising < CASES_EACH - CASES_EACH // 8


def test_the_cures_are_cures() -> None:
    """One more kernel where the path says so, and the call goes on from that key."""
    choice = random.Random(99)
    cured = 0
    for number in range(300):
        case = random_case(choice, f"f{number}")
        path = case.path()
        for key in path.cures:
            after = case.with_kernel(key).path()
            # The call may raise again, but further on.
            assert after.error is None or len(after.hits) > len(path.hits), (case, key)
            cured += 1
    assert cured > 100
