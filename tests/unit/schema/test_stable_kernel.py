"""What is said about a `TORCH_BOX` kernel and a schema."""

from __future__ import annotations

import pytest

from op_lint.schema import Part, StableFaultKind, Verdict, compare_stable
from tests.unit.schema.kernels import kernel, schema_of

X = "const torch::stable::Tensor& x"


@pytest.mark.parametrize(
    ("parameter", "type_"),
    [
        (X, "Tensor"),
        ("int64_t n", "int"),
        ("int64_t n", "SymInt"),
        ("int64_t n", "bool"),
        ("const std::string& s", "str"),
        ("std::string_view s", "str"),
        ("std::optional<torch::stable::Tensor> x", "Tensor?"),
        ("std::vector<int64_t> n", "int[2]"),
        ("torch::headeronly::HeaderOnlyArrayRef<double> d", "float[]"),
        ("torch::headeronly::ScalarType t", "ScalarType"),
        ("std::optional<int64_t> t", "ScalarType?"),
    ],
)
def test_it_fits(parameter: str, type_: str) -> None:
    comparison = compare_stable(kernel("void", parameter), schema_of(f"f({type_} p) -> ()"))
    assert comparison.verdict is Verdict.FITS
    assert comparison.faults == ()


@pytest.mark.parametrize(
    ("parameter", "type_", "kind", "write"),
    [
        ("float d", "float", StableFaultKind.GARBAGE, "double"),
        ("double d", "int", StableFaultKind.GARBAGE, "int64_t"),
        ("int64_t n", "float", StableFaultKind.GARBAGE, "double"),
        ("int64_t n", "int?", StableFaultKind.GARBAGE, "std::optional<int64_t>"),
        ("const char* s", "str", StableFaultKind.GARBAGE, "std::string"),
        ("std::vector<int64_t> n", "Tensor[]", StableFaultKind.GARBAGE, "std::vector<torch::stable::Tensor>"),
        ("at::Tensor x", "Tensor", StableFaultKind.COMPILE, "torch::stable::Tensor"),
        ("c10::SymInt n", "SymInt", StableFaultKind.COMPILE, "int64_t"),
        ("torch::headeronly::HeaderOnlyArrayRef<bool> b", "bool[]", StableFaultKind.COMPILE, "std::vector<bool>"),
        ("double d", "Scalar", StableFaultKind.CALL, ""),
        ("int64_t n", "Dict(str, int)", StableFaultKind.CALL, ""),
        ("int n", "int", StableFaultKind.NARROW, "int64_t"),
    ],
)
def test_it_does_not_fit(parameter: str, type_: str, kind: StableFaultKind, write: str) -> None:
    signature = kernel("void", X, parameter)
    comparison = compare_stable(signature, schema_of(f"f(Tensor x, {type_} p) -> ()"))
    (fault,) = comparison.faults
    assert (fault.kind, fault.part, fault.index, fault.cpp) == (kind, Part.ARGUMENT, 1, write)
    assert fault.parameter is signature.parameters[1]
    assert fault.argument is not None
    assert fault.argument.name == "p"
    verdicts = {StableFaultKind.COMPILE: Verdict.REFUSED, StableFaultKind.NARROW: Verdict.FITS}
    assert comparison.verdict is verdicts.get(kind, Verdict.MISMATCH)


@pytest.mark.parametrize(
    ("returns", "type_", "kind"),
    [
        ("float", "float", StableFaultKind.GARBAGE),
        ("std::string_view", "str", StableFaultKind.COMPILE),
        ("torch::stable::Tensor&", "Tensor", StableFaultKind.COMPILE),
        ("const torch::stable::Tensor", "Tensor", StableFaultKind.COMPILE),
        ("int", "int", StableFaultKind.NARROW),
        ("std::vector<bool>", "bool[]", StableFaultKind.COMPILE),
    ],
)
def test_a_return_that_does_not_fit(returns: str, type_: str, kind: StableFaultKind) -> None:
    (fault,) = compare_stable(kernel(returns, X), schema_of(f"f(Tensor x) -> {type_}")).faults
    assert (fault.kind, fault.part, fault.index) == (kind, Part.RETURN, 0)


def test_counts() -> None:
    comparison = compare_stable(kernel("void", X), schema_of("f(Tensor x, int n) -> Tensor"))
    assert [(fault.kind, fault.part, fault.expected, fault.actual) for fault in comparison.faults] == [
        (StableFaultKind.CALL, Part.ARGUMENT_COUNT, "2", "1"),
        (StableFaultKind.CALL, Part.RETURN_COUNT, "1", "0"),
    ]


@pytest.mark.parametrize("parameter", ["c10::SomethingNew p", "demo::Mode p", "std::vector<demo::Mode> p"])
def test_nothing_is_said_about_what_is_not_known(parameter: str) -> None:
    comparison = compare_stable(kernel("void", parameter), schema_of("f(int p) -> ()"))
    assert comparison.verdict is Verdict.UNKNOWN
    assert comparison.faults == ()
