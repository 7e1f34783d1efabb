"""What no header here declares is declared, just so that the registration that names it can be read."""

from __future__ import annotations

import pytest

from op_lint.cpp.repair import REPAIR, Repairs, in_typedefs, in_zones
from tests.unit.cpp_parsing import parse
from tests.unit.cpp_reading import HEAD, read


def _block(body: str) -> str:
    return f"{HEAD}TORCH_LIBRARY(demo, m) {{ {body} }}\n"


def _repaired(source: str) -> tuple[Repairs, bool]:
    """What one round declares for a source, and whether another one would find more to declare."""
    tu, preprocessed, errors = parse(source)
    assert errors
    repairs = Repairs()
    assert repairs.add(errors, tu, preprocessed)
    arguments = ("-include", REPAIR, *repairs.arguments())
    tu, preprocessed, errors = parse(source, {REPAIR: repairs.header()}, arguments)
    return repairs, Repairs().add(errors, tu, preprocessed)


@pytest.mark.parametrize(
    "body",
    [
        'm.impl("g", &f);',
        'm.impl("g", TORCH_FN(f));',
        'm.impl("g", &f<float>);',
        'm.impl("g", &f<3>);',
        'm.impl("g", &one::two::f);',
        'm.impl("g", &Kernels<float>::f);',
        "add_all(m);",
        'm.impl("g", [](Tensor x, Config c) { return x; });',
        'm.impl("g", [](Tensor x, const my::Config& c) { return x; });',
        'm.impl("g", c10::DispatchKey::NoSuchKey, TORCH_FN(torch::CppFunction::makeFallthrough));',
        'm.def("g() -> ()", {at::Tag::no_such_tag});',
    ],
)
def test_one_round_is_enough(body: str) -> None:
    repairs, more = _repaired(_block(body))
    assert not more, repairs


def test_keys_and_tags_are_named_to_the_overlay() -> None:
    repairs, _ = _repaired(_block('m.impl("g", c10::DispatchKey::NewKey, torch::CppFunction::makeFallthrough());'))
    assert repairs.arguments() == ["-DOP_LINT_EXTRA_KEYS=NewKey"]
    repairs, _ = _repaired(_block('m.def("g() -> ()", {at::Tag::new_tag});'))
    assert repairs.arguments() == ["-DOP_LINT_EXTRA_TAGS=new_tag"]


def test_nothing_new_is_said_so() -> None:
    tu, preprocessed, errors = parse(_block('m.impl("g", &f);'))
    repairs = Repairs()
    assert repairs.add(errors, tu, preprocessed)
    assert not repairs.add(errors, tu, preprocessed)


def test_only_errors_in_registration_code_count() -> None:
    source = f'{HEAD}int other = missing_one;\nTORCH_LIBRARY(demo, m) {{ m.impl("g", &missing_two); }}\n'
    tu, preprocessed, errors = parse(source)
    start = source.index("TORCH_LIBRARY")
    (error,) = in_zones(errors, [(preprocessed.main.alias, start, len(source))])
    assert "missing_two" in tu.message(error)


def test_errors_in_typedefs() -> None:
    tu, preprocessed, errors = parse(f"{HEAD}typedef Missing Alias;\nusing Other = Absent;\nint x = gone;\n")
    assert ["Missing" in tu.message(error) for error in in_typedefs(errors, preprocessed)] == [True]


@pytest.mark.parametrize("kernel", ["impl::n", "ops::n", "n##_cpu", "ops::n##_cpu"])
def test_in_the_body_of_a_macro(kernel: str) -> None:
    source = f"{HEAD}#define REG(n) \\\n  m.impl(#n, &{kernel})\nTORCH_LIBRARY(demo, m) {{ REG(g); }}\n"
    (row,) = read(source).implementations
    assert (row.kernel.name, row.kernel.signature) == (kernel.replace("n##", "g").replace("::n", "::g"), None)
