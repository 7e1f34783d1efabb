"""OPL104."""

from __future__ import annotations

import pytest

from tests.unit.builders import findings, fixed, lines

HEAD = "#include <ATen/ATen.h>\n#include <torch/library.h>\n"


def source(parameter: str, type_: str) -> dict[str, str]:
    """A kernel in line 3, and its registration in line 4."""
    return {
        "ops.cpp": f"{HEAD}at::Tensor shift(const at::Tensor& x, {parameter});\n"
        f'TORCH_LIBRARY(demo, m) {{ m.def("shift(Tensor x, {type_} n) -> Tensor", &shift); }}\n'
    }


@pytest.mark.parametrize(
    ("parameter", "type_", "write"),
    [
        ("const c10::SymInt& n", "SymInt", "c10::SymInt"),
        ("c10::SymInt& n", "SymInt", "c10::SymInt"),
        ("const c10::SymIntArrayRef& n", "SymInt[]", "c10::SymIntArrayRef"),
        ("const std::vector<c10::SymInt>& n", "SymInt[]", "c10::SymIntArrayRef"),
        ("std::vector<c10::SymInt> n", "SymInt[]", "c10::SymIntArrayRef"),
        ("const std::optional<c10::SymInt>& n", "SymInt?", "std::optional<c10::SymInt>"),
        ("const at::OptionalSymIntArrayRef& n", "SymInt[]?", "at::OptionalSymIntArrayRef"),
    ],
)
def test_a_kernel_that_is_not_seen_as_symbolic(parameter: str, type_: str, write: str) -> None:
    files = source(parameter, type_)
    (finding,) = findings("OPL104", files)
    assert finding.place.line == 3
    assert finding.message.startswith("parameter 2 of `shift` is `")
    assert finding.message.endswith(f": write `{write}`")
    assert [related.place.line for related in finding.related] == [4, 4]
    assert finding.related[1].message == f"the schema says `{type_} n`"
    assert finding.fix is not None
    assert not finding.fix.safe
    repaired = fixed(finding, files)
    assert repaired == source(f"{write} n", type_)
    assert findings("OPL104", repaired) == []


def test_what_is_said_of_a_value() -> None:
    (reference,) = findings("OPL104", source("const c10::SymInt& n", "SymInt"))
    assert "a symbolic integer is only seen by value" in reference.message
    assert reference.notes == (
        'loading this aborts: "Type mismatch in argument 2: int vs SymInt.", which blames the wrong side',
    )
    (value,) = findings("OPL104", source("std::vector<c10::SymInt> n", "SymInt[]"))
    assert "torch does not see the symbolic integers in it" in value.message


@pytest.mark.parametrize(
    ("parameter", "type_"),
    [
        ("c10::SymInt n", "SymInt"),
        ("const c10::SymInt n", "SymInt"),
        ("int64_t n", "SymInt"),
        ("at::IntArrayRef n", "SymInt[]"),
        ("at::OptionalSymIntArrayRef n", "SymInt[]?"),
        ("const c10::SymInt& n", "int"),
        ("const c10::SymFloat& n", "SymFloat"),
        ("const c10::SymBool& n", "SymBool"),
        ("const demo::SymInt& n", "SymInt"),
    ],
)
def test_what_fits_or_is_another_fault(parameter: str, type_: str) -> None:
    assert findings("OPL104", source(parameter, type_)) == []


def test_a_reference_beside_a_value() -> None:
    """Once one parameter is symbolic, the kernel is, and references count like values."""
    text = (
        f"{HEAD}at::Tensor shift(const at::Tensor& x, const c10::SymInt& n, c10::SymInt k);\n"
        'TORCH_LIBRARY(demo, m) { m.def("shift(Tensor x, SymInt n, SymInt k) -> Tensor", &shift); }\n'
    )
    assert findings("OPL104", {"ops.cpp": text}) == []
    both = text.replace("c10::SymInt k", "const c10::SymInt& k")
    assert len(findings("OPL104", {"ops.cpp": both})) == 2


def test_once_for_a_kernel_of_several_keys() -> None:
    files = {
        "ops.cpp": f"{HEAD}at::Tensor shift(const at::Tensor& x, const c10::SymInt& n);\n"
        'TORCH_LIBRARY(demo, m) { m.def("shift(Tensor x, SymInt n) -> Tensor"); }\n'
        'TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl("shift", &shift); }\n'
        'TORCH_LIBRARY_IMPL(demo, CUDA, m) { m.impl("shift", &shift); }\n'
    }
    assert lines(findings("OPL104", files)) == ["ops.cpp:3"]


def test_when_it_is_registered() -> None:
    text = source("const c10::SymInt& n", "SymInt")["ops.cpp"].replace(
        "TORCH_LIBRARY", "#ifdef SYMBOLIC\nTORCH_LIBRARY"
    )
    (finding,) = findings("OPL104", {"ops.cpp": f"{text}#endif\n"})
    assert finding.message.endswith(": write `c10::SymInt` when `SYMBOLIC`")


def test_the_stable_abi_has_another_rule() -> None:
    files = {
        "ops.cpp": "#include <torch/csrc/stable/library.h>\n"
        "torch::stable::Tensor shift(const torch::stable::Tensor& x, const c10::SymInt& n);\n"
        'STABLE_TORCH_LIBRARY(demo, m) { m.def("shift(Tensor x, SymInt n) -> Tensor"); }\n'
        'STABLE_TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl("shift", TORCH_BOX(&shift)); }\n'
    }
    assert findings("OPL104", files) == []
    assert lines(findings("OPL108", files)) == ["ops.cpp:2"]
