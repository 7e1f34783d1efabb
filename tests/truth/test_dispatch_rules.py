"""OPL305, 409, 412 and 413 on random registrations of one operator, against what torch makes of the same ones."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from op_lint.dispatch.keys import AUTOGRAD_OTHER, IMPLICIT, autograd_key
from op_lint.findings import Finding, Severity
from op_lint.program import Program
from tests.truth.test_random_registrations import Steps, random_steps
from tests.truth.torch_process import installed, installed_keys, needs_torch, run_script
from tests.unit.builders import findings, read

pytestmark = needs_torch

SETS = 300
HEAD = "#include <torch/library.h>\nat::Tensor f(const at::Tensor& x);\nint64_t make(int64_t n);\n"
FIRST = HEAD.count("\n") + 1
"""The line of a set's first registration."""

STEP = re.compile(r"(?:registered at /step:|step )(\d+)")


def block(step: Sequence[str]) -> str:
    """The step as a line of C++."""
    kind, *keys = step
    key = keys[0] if keys else ""
    name, schema = '"op"', '"op(Tensor self) -> Tensor"'
    if kind == "define":
        call = f"m.def({schema})"
    elif kind == "def":
        call = f"m.def({schema}, {f'torch::dispatch(c10::DispatchKey::{key}, &f)' if key else '&f'})"
    else:
        kernel = "torch::CppFunction::makeFallthrough()" if kind == "fallthrough" else "&f"
        call = f"m.impl({name}, {kernel})"
    where = "TORCH_LIBRARY_FRAGMENT(demo, m)"
    if kind in ("cpp", "python", "fallthrough") and key:
        where = f"TORCH_LIBRARY_IMPL(demo, {key}, m)"
    return f"{where} {{ {call}; }}\n"


def program_of(steps: Steps) -> Program:
    return Program(read({"ops.cpp": HEAD + "".join(map(block, steps))}), installed().torch)


def numbers(found: Sequence[Finding]) -> list[int]:
    """The steps that findings are about."""
    return sorted(finding.place.line - FIRST for finding in found)


def entries(table: str) -> dict[str, tuple[int, bool]]:
    """The step at each key of torch's table, where it is one of ours, and whether it is a fallthrough."""
    found: dict[str, tuple[int, bool]] = {}
    for line in table.splitlines():
        key, _, rest = line.partition(": ")
        step = STEP.search(rest)
        if step is not None:
            found[key] = (int(step[1]), rest.startswith("fallthrough "))
    return found


def active(dump: str) -> set[int]:
    """The steps whose kernels are in effect at their own key."""
    return {
        int(step[1])
        for line in dump.splitlines()
        if line.endswith("]") and " (inactive): " not in line and (step := STEP.search(line)) is not None
    }


def key_of(step: Sequence[str]) -> str:
    return (step[1] if len(step) > 1 else "") or IMPLICIT


@pytest.fixture(scope="module")
def sets() -> list[Steps]:
    choice = random.Random(305)
    return [random_steps(choice) for _ in range(SETS)]


@pytest.fixture(scope="module")
def said(sets: list[Steps]) -> list[Mapping[str, Any]]:
    answer = run_script("register_sets.py", {"sets": sets, "fallbacks": []})
    return list(answer["sets"])


def test_kernels_that_no_entry_shows(sets: list[Steps], said: list[Mapping[str, Any]]) -> None:
    reported = 0
    for steps, answer in zip(sets, said, strict=True):
        shown = {number for number, _ in entries(answer["table"]).values()}
        ambiguous = "ambiguous_autogradother" in answer["table"]
        expected = [] if ambiguous else sorted(active(answer["dump"]) - shown)
        assert numbers(findings("OPL412", program_of(steps))) == expected, steps
        reported += len(expected)
    assert reported > 20


def test_ambiguous_autograd_other(sets: list[Steps], said: list[Mapping[str, Any]]) -> None:
    seen = {Severity.ERROR: 0, Severity.WARNING: 0}
    for steps, answer in zip(sets, said, strict=True):
        found = findings("OPL413", program_of(steps))
        assert bool(found) == ("ambiguous_autogradother" in answer["table"]), steps
        for finding in found:
            key = key_of(steps[finding.place.line - FIRST])
            is_own = autograd_key(installed_keys(), installed_keys().split(key)[1]) == AUTOGRAD_OTHER
            assert is_own == (finding.severity is Severity.ERROR), steps
            seen[finding.severity] += 1
    assert min(seen.values()) > 3


def test_fallthroughs_that_hide_a_kernel(sets: list[Steps], said: list[Mapping[str, Any]]) -> None:
    """The truth is the same set without the fallthrough: whether a kernel of an alias key is there then."""
    cases = [
        (number, at) for number, steps in enumerate(sets) for at, step in enumerate(steps) if step[0] == "fallthrough"
    ]
    without = [sets[number][:at] + sets[number][at + 1 :] for number, at in cases]
    answers = run_script("register_sets.py", {"sets": [steps or [["define"]] for steps in without], "fallbacks": []})
    expected: dict[int, list[int]] = {number: [] for number in range(len(sets))}
    for (number, at), rest, answer in zip(cases, without, answers["sets"], strict=True):
        before, after = entries(said[number]["table"]), entries(answer["table"])
        for key, (step, _) in before.items():
            instead = after.get(key)
            if step == at and instead is not None and not instead[1] and key_of(rest[instead[0]]) != key:
                expected[number].append(at)
                break
    for number, steps in enumerate(sets):
        assert numbers(findings("OPL409", program_of(steps))) == expected[number], steps
    assert sum(map(len, expected.values())) > 20


def test_calls_without_tensors() -> None:
    choice = random.Random(306)
    backends = ["CPU", "CUDA", "SparseCPU", "Meta", "PrivateUse1"]
    others = [IMPLICIT, "CompositeExplicitAutograd", "Autograd", "AutogradCPU", "AutocastCPU", "BackendSelect"]
    sets = []
    for _ in range(200):
        keys = choice.sample(backends, choice.randint(0, 3)) + choice.sample(others, choice.choice([0, 0, 1, 2]))
        sets.append([[choice.choice(["kernel"] * 5 + ["fallthrough"]), key] for key in keys])
    reported = 0
    for steps, error in zip(sets, run_script("called_without_tensors.py", sets), strict=True):
        text = HEAD + 'TORCH_LIBRARY(demo, m) { m.def("make(int n) -> int"); }\n'
        for kind, key in steps:
            kernel = "&make" if kind == "kernel" else "torch::CppFunction::makeFallthrough()"
            text += f'TORCH_LIBRARY_IMPL(demo, {key}, m) {{ m.impl("make", {kernel}); }}\n'
        found = bool(findings("OPL305", Program(read({"ops.cpp": text}), installed().torch)))
        raises = error is not None and "There were no tensor arguments to this function" in error
        assert raises or not found, (steps, error)
        kernels = {key for kind, key in steps if kind == "kernel"}
        if raises and kernels & set(backends) and len(kernels) == len(steps):
            assert found, steps
            reported += 1
    assert reported > 20
