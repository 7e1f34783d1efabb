"""Dispatch keys as registrations name them."""

from __future__ import annotations

import pytest

from op_lint.cpp.keys import DEFAULT_KEY, given_key, own_name
from op_lint.facts import Implementation, Unresolved
from tests.unit.cpp_reading import HEAD, read

_PROLOGUE = HEAD + "Tensor f(const Tensor& x);\n"


def _row(arguments: str, before: str = "", block: str = "TORCH_LIBRARY(demo, m)") -> Implementation | Unresolved:
    facts = read(f'{_PROLOGUE}{before}\n{block} {{ m.impl("op", {arguments}); }}\n')
    rows: list[Implementation | Unresolved] = [*facts.implementations, *facts.unresolved]
    assert len(rows) == 1
    return rows[0]


@pytest.mark.parametrize(
    ("arguments", "key"),
    [
        ("&f", DEFAULT_KEY),
        ("torch::kCUDA, &f", "CUDA"),
        ("c10::kCPU, &f", "CPU"),
        ("at::kXPU, &f", "XPU"),
        ("torch::kMeta, &f", "Meta"),
        ("c10::DispatchKey::AutogradCUDA, &f", "AutogradCUDA"),
        ("torch::dispatch(c10::DispatchKey::SparseCPU, &f)", "SparseCPU"),
        ("torch::dispatch(c10::DeviceType::MPS, TORCH_FN(f))", "MPS"),
        ("c10::DispatchKey::Autocast, &f", "AutocastCUDA"),
        ("c10::DispatchKey::DefaultBackend, &f", "CompositeExplicitAutograd"),
        ("c10::DispatchKey::CatchAll, &f", DEFAULT_KEY),
        ("torch::dispatch(c10::DeviceType::VE, &f)", "DeviceType::VE"),
    ],
)
def test_the_key_of_a_call(arguments: str, key: str) -> None:
    row = _row(arguments)
    assert isinstance(row, Implementation)
    assert row.key == key


def test_a_constant_key() -> None:
    row = _row("kKey, &f", "constexpr auto kKey = c10::DispatchKey::HPU;")
    assert isinstance(row, Implementation)
    assert row.key == "HPU"


@pytest.mark.parametrize(
    ("arguments", "before"),
    [
        ("choose(), &f", "c10::DispatchKey choose();"),
        ("kKey, &f", "c10::DispatchKey kKey = c10::DispatchKey::HPU;"),
        ("b ? c10::DispatchKey::CPU : c10::DispatchKey::CUDA, &f", "extern bool b;"),
    ],
)
def test_a_key_of_run_time_is_not_guessed(arguments: str, before: str) -> None:
    row = _row(arguments, before)
    assert isinstance(row, Unresolved)
    assert row.reason == "the dispatch key is not a constant"


def test_the_key_of_the_block_and_that_of_the_call() -> None:
    row = _row("torch::kCUDA, &f", block="TORCH_LIBRARY_IMPL(demo, CPU, m)")
    assert isinstance(row, Implementation)
    assert (row.key, row.call_key) == ("CUDA", "CUDA")
    row = _row("&f", block="TORCH_LIBRARY_IMPL(demo, CPU, m)")
    assert isinstance(row, Implementation)
    assert (row.key, row.call_key) == ("CPU", None)


def test_names() -> None:
    assert own_name("CatchAll") == "Undefined"
    assert own_name("CPU") == "CPU"
    assert given_key("Undefined") is None
    assert given_key("CPU") == "CPU"
