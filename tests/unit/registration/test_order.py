"""The findings do not depend on the order in which files are read."""

from __future__ import annotations

from itertools import permutations

from op_lint.packs import load_packs
from op_lint.program import Program
from tests.unit.builders import read, torch

FILES = {
    "a.cpp": (
        '#include <torch/library.h>\nTORCH_LIBRARY(demo, m) { m.def("f(Tensor x) -> Tensor"); }\n'
        "TORCH_LIBRARY_IMPL(_, PrivateUse1, m) { m.fallback(torch::CppFunction::makeFallthrough()); }\n"
    ),
    "b.cpp": (
        "#include <torch/library.h>\nat::Tensor f(const at::Tensor& x);\n"
        'TORCH_LIBRARY(demo, m) { m.def("f(Tensor x) -> Tensor", &f); m.def("old::g(Tensor x) -> Tensor"); }\n'
        "TORCH_LIBRARY_IMPL(_, PrivateUse1, m) { m.fallback(torch::CppFunction::makeFallthrough()); }\n"
        'TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl("f", &f); m.impl("ff", &f); }\n'
    ),
    "c.cpp": (
        "#include <torch/library.h>\nat::Tensor f(const at::Tensor& x);\n"
        'TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl("f", &f); m.impl("ff", &f); }\n'
        'TORCH_LIBRARY_IMPL(demo, Sparse, m) { m.impl("f", &f); }\n'
    ),
}


def test_of_the_files() -> None:
    facts = read(FILES)
    rules = [rule() for rule in load_packs().rules if rule.code.startswith("OPL2")]
    orders = [Program(order, torch()) for order in permutations(facts)]
    found = [[finding for rule in rules for finding in rule.check(program)] for program in orders]
    assert {finding.code for finding in found[0]} >= {
        "OPL201",
        "OPL202",
        "OPL203",
        "OPL204",
        "OPL205",
        "OPL206",
        "OPL210",
    }
    assert all(findings == found[0] for findings in found)
    assert len(set(found[0])) == len(found[0])
