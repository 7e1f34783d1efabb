"""The path of a call, against real calls of kernels that record themselves."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest

from op_lint.dispatch.call import Argument, Call, Layout, Mode, Transform
from op_lint.dispatch.errors import META
from op_lint.dispatch.path import Path, call_path
from op_lint.dispatch.registration import Operator, Registration, Source
from op_lint.dispatch.table import LiveTable, Table
from op_lint.facts import KernelKind
from tests.truth.torch_process import installed, installed_keys, needs_torch, run_script

pytestmark = needs_torch

PROCESSES = 4
CASES_EACH = 400

BACKENDS = ["CPU", "Meta", "SparseCPU", "SparseCsrCPU", "QuantizedCPU", "NestedTensorCPU", "MkldnnCPU", "CUDA"]
AUTOGRAD = ["Autograd", "AutogradCPU", "AutogradOther", "AutogradMeta", "AutogradNestedTensor", "AutogradCUDA"]
COMPOSITE = ["CompositeImplicitAutograd", "CompositeExplicitAutograd", "CompositeImplicitAutogradNestedTensor"]
WRAPPERS = [
    *(
        "ADInplaceOrView",
        "BackendSelect",
        "Tracer",
        "AutocastCPU",
        "AutocastCUDA",
        "Conjugate",
        "Negative",
        "ZeroTensor",
    ),
    *("FuncTorchBatched", "FuncTorchVmapMode", "FuncTorchGradWrapper", "FuncTorchBatchedDecomposition"),
]
FAKE_MODE = "FakeTensorMode"
# With a user's kernel there, torch's own state of the mode is not set up: such calls fail in torch's assertions.
WITHOUT_MODE = ["PythonTLSSnapshot", "Python", "Functionalize"]

# Torch itself refuses to functionalize what is functionalized.
TRANSFORMS = [
    *((transform,) for transform in Transform),
    *((outer, inner) for outer in Transform for inner in Transform if (outer, inner) != (Transform.FUNCTIONALIZE,) * 2),
]


# `torch._C.DispatchKey` has no name for the others.
PYTHON_KEYS = [
    *(key for key in BACKENDS if key != "MkldnnCPU"),
    *AUTOGRAD,
    *COMPOSITE,
    *("ADInplaceOrView", "AutocastCPU", "Conjugate", "Negative", "ZeroTensor"),
]


class Case(msgspec.Struct, frozen=True):
    name: str
    registrations: tuple[tuple[str, str], ...]
    call: Call
    python: tuple[str, ...] = ()

    def with_kernel(self, key: str) -> Case:
        # In Python torch has one kernel at each key.
        others = tuple(row for row in self.registrations if row[0] != key)
        return msgspec.structs.replace(self, registrations=(*others, (key, KernelKind.KERNEL.value)))

    def path(self) -> Path:
        keys = installed_keys()
        registrations = tuple(
            Registration(key, f"test:{index}", KernelKind(kind), Source.WORKSPACE)
            for index, (key, kind) in enumerate(self.registrations)
        )
        schema = f"op_lint_recorded::{self.name}(Tensor? x=None, Tensor? y=None) -> Tensor"
        python = tuple(
            Registration(
                META if key == FAKE_MODE else key,
                "test:py_impl",
                KernelKind.FAKE if key == FAKE_MODE else KernelKind.KERNEL,
                Source.WORKSPACE,
                kernel=f"python {key}",
            )
            for key in self.python
        )
        operator = Operator(f"op_lint_recorded::{self.name}", schema, registrations, python)
        return call_path(LiveTable(keys, operator, installed().torch.fallback_registrations()), self.call)


def random_argument(choice: random.Random) -> Argument:
    layout = choice.choice([Layout.STRIDED, Layout.STRIDED, *Layout])
    if layout is not Layout.STRIDED:
        return Argument("cpu", layout, inference=choice.random() < 0.3)
    device = choice.choice(["cpu", "cpu", "meta"])
    lazy = choice.choice(["", "", "conjugate", "negative", "zero"]) if device == "cpu" else ""
    plain = Argument(device, inference=choice.random() < 0.2, subclass=not lazy and choice.random() < 0.2)
    return msgspec.structs.replace(plain, **{lazy: True}) if lazy else plain


def random_call(choice: random.Random) -> Call:
    around = choice.choice(
        ["", "", "transforms", "functionalize", "python", "fake", "python+transforms", "trace", "python dispatcher"]
    )
    autocast = tuple(device for device in ("cpu", "cuda") if choice.random() < 0.25)
    inference = choice.random() < 0.2
    if around == "fake":
        devices = choice.sample(["cpu", "cuda", "meta"], 1) * choice.randint(1, 2)
        arguments = tuple(map(Argument, devices))
        in_python = choice.random() < 0.4
        return Call(arguments, None, False, autocast, inference, mode=Mode.FAKE, python_dispatcher=in_python)
    if "transforms" in around:
        transforms = choice.choice(TRANSFORMS)
        arguments = (Argument(),) * choice.randint(1, 2)
        mode = Mode.PYTHON if "python" in around else None
        return Call(arguments, None, False, autocast, False, transforms=transforms, mode=mode)
    if around == "functionalize":
        return Call((Argument(choice.choice(["cpu", "meta"])),), None, False, autocast, inference, functionalize=True)
    arguments = tuple(random_argument(choice) for _ in range(choice.choice([0, 1, 1, 1, 2, 2])))
    requires_grad = choice.random() < 0.4
    if any(argument.layout is Layout.JAGGED for argument in arguments):
        # Which of two classes takes a call is a matter of Python.
        arguments = tuple(msgspec.structs.replace(argument, subclass=False) for argument in arguments)
    if around in ("trace", "python dispatcher"):
        # Tracing wants tensors that it can name: plain ones, and not under inference mode.
        plain = tuple(Argument() for _ in arguments) if around == "trace" else arguments
        tracing = around == "trace" and len(plain) > 0
        return Call(plain, None, requires_grad, autocast, tracing=tracing, python_dispatcher=not tracing)
    return Call(arguments, None, requires_grad, autocast, inference, mode=Mode.PYTHON if around else None)


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
    python = [key for key in PYTHON_KEYS if choice.random() < 0.1] if call.python_dispatcher or call.mode else []
    if call.mode is Mode.FAKE and choice.random() < 0.2:
        python.append(FAKE_MODE)
    return Case(name, tuple(registrations), call, tuple(python))


def recorded_hits(path: Path) -> list[str]:
    """The keys that the test's own kernels on the path were registered to."""
    hits = set(path.hits)
    return [
        step.registration.kernel or step.registration.key
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
    """One more kernel where the path says so, really registered: the call goes on from that key."""
    choice = random.Random(99)
    cases = [random_case(choice, f"f{number}") for number in range(300)]
    # `torch.library` cannot name some keys, such as QuantizedMeta.
    known = {*BACKENDS, *AUTOGRAD, *COMPOSITE, *WRAPPERS, *WITHOUT_MODE}
    cures = [(case, key) for case in cases for key in case.path().cures if key in known]
    named = [
        msgspec.structs.replace(case.with_kernel(key), name=f"cured{number}")
        for number, (case, key) in enumerate(cures)
    ]
    answers = run_script("recorded_calls.py", msgspec.to_builtins(named))
    assert len(cures) > 100
    for (case, key), after, answer in zip(cures, named, answers, strict=True):
        assert agrees(after.path(), answer), (after, answer)
        # The call may raise again, but further on.
        assert answer["error"] is None or len(after.path().hits) > len(case.path().hits), (case, key, answer)


def test_every_kind_of_call_is_among_them() -> None:
    choice = random.Random(0)
    cases = [random_case(choice, "f") for _ in range(PROCESSES * CASES_EACH)]
    calls = [case.call for case in cases]
    assert {key for case in cases for key in case.python} == {*PYTHON_KEYS, FAKE_MODE}
    assert sum(name.startswith("python ") for case in cases for name in recorded_hits(case.path())) > 40
    arguments = [argument for call in calls for argument in call.arguments]
    assert {argument.layout for argument in arguments} == set(Layout)
    assert {argument.device for argument in arguments} == {"cpu", "meta", "cuda"}
    assert {call.mode for call in calls} == {None, *Mode}
    assert {transform for call in calls for transform in call.transforms} == set(Transform)
    for flag in ("requires_grad", "autocast", "inference_mode", "functionalize", "tracing", "python_dispatcher"):
        assert sum(bool(getattr(call, flag)) for call in calls) >= 10, flag
    for flag in ("inference", "conjugate", "negative", "zero", "subclass"):
        assert sum(bool(getattr(argument, flag)) for argument in arguments) >= 10, flag


# What torch's fallback for vmap can call for each slice, and what not.
BATCHED_SCHEMAS = [
    *("(Tensor x) -> Tensor", "(Tensor x) -> int", "(Tensor x) -> ()", "(Tensor(a!) x) -> ()", "(Tensor! x) -> ()"),
    *("(Tensor(a!) x) -> Tensor(a!)", "(Tensor(a) x) -> Tensor(a)", "(Tensor x, *, Tensor(a!) out) -> Tensor(a!)"),
    *("(Tensor[] xs) -> Tensor", "(Tensor[] xs) -> Tensor[]", "(Tensor x) -> Tensor[]", "(Tensor?[] xs) -> Tensor"),
    *("(Tensor x) -> (Tensor, Tensor)", "(Tensor x) -> (Tensor, int)", "(Tensor x, Tensor(a!) y) -> ()"),
    *("(Tensor x, Tensor? y=None) -> Tensor", "(Tensor(a!) x, Tensor y) -> Tensor(a!)", "(Tensor(a!)[] xs) -> ()"),
    *("(Tensor x, Tensor(a!) y) -> Tensor(a!)", "(Tensor(a!) x) -> (Tensor(a!), Tensor)", "(Tensor(a) x) -> int"),
    *("(Tensor x) -> Tensor?", "(Tensor x, int[] n) -> int[]", "(Tensor[] xs) -> ()", "(Tensor(a!) x) -> Tensor"),
]


def test_what_cannot_be_batched() -> None:
    fallbacks = installed().torch.fallback_registrations()
    answers = run_script("batched_calls.py", BATCHED_SCHEMAS)
    assert len({answer for answer in answers if answer}) > 10
    for number, (schema, answer) in enumerate(zip(BATCHED_SCHEMAS, answers, strict=True)):
        name = f"op_lint_batched::f{number}"
        operator = Operator(name, name + schema, (Registration("CPU", "test:1", source=Source.WORKSPACE),))
        error = call_path(Table(installed_keys(), operator, fallbacks), Call(transforms=(Transform.VMAP,))).error
        assert (None if error is None else error.text) == answer, schema
