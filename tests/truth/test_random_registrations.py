"""The computed table, against sets of kernels registered for real."""

from __future__ import annotations

import random

import pytest

from op_lint.dispatch.keys import IMPLICIT
from op_lint.dispatch.registration import Operator, Registration
from op_lint.dispatch.table import LiveTable, Table
from op_lint.facts import KernelKind
from op_lint.installed.dump import parse_fallbacks, parse_operator, relative_to_torch
from tests.truth.torch_process import installed, installed_keys, needs_torch, run_script

pytestmark = needs_torch

PROCESSES = 8
SETS_EACH = 270
ALIASES = [
    *("Autograd", IMPLICIT, "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional"),
    *("CompositeImplicitAutogradNestedTensor", "FuncTorchBatchedDecomposition"),
]
# Keys of which torch 2.13 registers no fallback, so that the test can.
FALLBACK_KEYS = [
    "CPU",
    "CUDA",
    "HPU",
    "SparseCUDA",
    "QuantizedCPU",
    "AutogradNestedTensor",
    "AutocastHPU",
    "AutogradPrivateUse2",
]

Steps = list[list[str]]


def random_steps(choice: random.Random) -> Steps:
    runtime = [key for key in installed_keys().runtime if key != "Undefined"]
    favoured = ["CPU", "CUDA", "Meta", "SparseCPU", "MkldnnCPU", "NestedTensorCPU", "AutogradCPU", "AutogradOther"]
    steps: Steps = []
    for _ in range(choice.randint(0, 7)):
        if choice.random() < 0.3:
            steps.append([choice.choice(["python", "fallthrough"]), choice.choice(runtime)])
        else:
            key = choice.choice(choice.choice([ALIASES, favoured]))
            steps.append([choice.choice(["cpp", "python", "python", "fallthrough"]), key])
    definition = choice.choice([["define"], ["define"], ["def", ""], ["def", choice.choice(ALIASES[:4])], None])
    if definition is not None:
        steps.insert(choice.randint(0, len(steps)), definition)
    elif choice.random() < 0.3:
        steps.append(["cpp", ""])
    return steps or [["define"]]


def registrations_of(steps: Steps) -> tuple[Registration, ...]:
    kinds = {"fallthrough": KernelKind.FALLTHROUGH, "python": KernelKind.BOXED}
    return tuple(
        Registration(
            step[1] or IMPLICIT,
            f"step {number}" if step[0] in ("def", "cpp") else f"registered at /step:{number}",
            kinds.get(step[0], KernelKind.KERNEL),
            keyless=not step[1],
        )
        for number, step in enumerate(steps)
        if step[0] != "define"
    )


@pytest.mark.parametrize("seed", range(PROCESSES))
def test_tables_of_random_registrations(seed: int) -> None:
    choice = random.Random(seed)
    sets = [random_steps(choice) for _ in range(SETS_EACH)]
    fallbacks = [[key, choice.choice(["kernel", "fallthrough"])] for key in choice.sample(FALLBACK_KEYS, 4)]
    answer = run_script("register_sets.py", {"sets": sets, "fallbacks": fallbacks})
    relative = relative_to_torch(installed().package or "")
    known = {kernel.key: kernel.registration() for kernel in parse_fallbacks(answer["fallbacks"], relative)}
    assert {key for key, _ in fallbacks} <= set(known)
    for number, (steps, said) in enumerate(zip(sets, answer["sets"], strict=True)):
        registrations = registrations_of(steps)
        operator = Operator(f"op_lint_sets::f{number}", None, registrations)
        theirs = "".join(f"{relative(line)}\n" for line in said["table"].splitlines())
        assert Table(installed_keys(), operator, known).dump() == theirs, steps
        live = LiveTable(installed_keys(), operator, known)
        assert [key for key in answer["askable"] if not live[key].missing] == said["live"], steps
        read = parse_operator(operator.name, said["dump"], (), relative)
        found = sorted((kernel.key, kernel.origin, kernel.kind.value) for kernel in read.kernels)
        assert found == sorted((made.key, made.origin, made.kind.value) for made in registrations), steps
        active = {kernel.key: kernel.origin for kernel in read.kernels if kernel.active}
        assert active == {key: made.origin for key, made in operator.active().items()}, steps
        assert (read.schema is None) == (not any(step[0] in ("define", "def") for step in steps)), steps
