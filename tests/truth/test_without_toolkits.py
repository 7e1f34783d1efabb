"""Sources whose headers or language this machine lacks: CUDA, HIP, Metal, keys of another torch, templates."""

from __future__ import annotations

import pytest

from op_lint.cpp import CppReader
from op_lint.facts import FileFacts
from tests.truth.registration_sources import SOURCES, project_files, registration_sources

EXPECTED = {
    "36_cuda_headers_missing.cu": [
        "33 def cuda_only::add(Tensor x, int n) -> Tensor",
        "37 impl cuda_only::add CUDA at::Tensor(const at::Tensor&, int64_t)",
        "38 impl cuda_only::add_lambda CUDA at::Tensor(const at::Tensor&)",
    ],
    "37_hip_source.hip": ["15 impl hipped::fill CUDA void(at::Tensor&, double)"],
    "38_metal_source.mm": [
        "27 def metal::apply(Tensor x, int rounds) -> Tensor",
        "31 impl metal::apply MPS at::Tensor(const at::Tensor&, int64_t)",
    ],
    "64_unknown_key.cpp": [
        "9 def unknown_key::relu(Tensor x) -> Tensor",
        "10 impl unknown_key::relu NPU at::Tensor(const at::Tensor&)",
        "14 impl unknown_key::relu NPU at::Tensor(const at::Tensor&)",
        "18 impl unknown_key::relu Cuda at::Tensor(const at::Tensor&)",
    ],
    "72_jinja_template.cpp": [],
    "86_device_header.cuh": ["27 impl device::reduce CUDA at::Tensor(at::Tensor, double)"],
}


def rows(facts: FileFacts) -> list[str]:
    """What is registered, by line."""
    found = [
        (row.place.line, f"def {row.operator.namespace}::{row.schema.value if row.schema else row.operator.name}")
        for row in facts.definitions
    ]
    found += [
        (row.place.line, f"impl {row.operator} {row.key} {row.kernel.signature}") for row in facts.implementations
    ]
    return [f"{line} {text}" for line, text in sorted(found)]


def test_every_such_source_is_expected_here() -> None:
    assert [source.name for source in registration_sources("text")] == sorted(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_registrations_are_read_all_the_same(name: str) -> None:
    facts = CppReader(SOURCES, project_files()).read(name)
    assert rows(facts) == EXPECTED[name]
    assert facts.unresolved == ()
    assert [problem.code for problem in facts.problems] == (["template-text"] if "jinja" in name else [])
