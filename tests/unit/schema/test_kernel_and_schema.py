"""Whether a kernel fits a schema, and what is said where it does not."""

from __future__ import annotations

import pytest

from op_lint.facts import Signature
from op_lint.schema import Cause, Comparison, Part, Side, Stage, Verdict, apply, compare, signatures_agree
from tests.unit.schema.kernels import kernel, schema_of

X = "const at::Tensor& x"


def compared(signature: Signature, text: str) -> Comparison:
    return compare(signature, schema_of(text), text)


def test_it_fits() -> None:
    comparison = compared(kernel("at::Tensor", X, "int64_t n"), "f(Tensor x, *, int count=1) -> Tensor(a)")
    assert comparison.verdict is Verdict.FITS
    assert (comparison.mismatches, comparison.refused, comparison.edits, comparison.reason) == ((), (), (), "")


def test_a_type() -> None:
    signature = kernel("at::Tensor", X, "int64_t n")
    text = "f(Tensor x, float eps=1) -> Tensor"
    comparison = compared(signature, text)
    (mismatch,) = comparison.mismatches
    assert comparison.verdict is Verdict.MISMATCH
    assert comparison.reason == "Type mismatch in argument 2: float vs int."
    assert (mismatch.part, mismatch.index) == (Part.ARGUMENT, 1)
    assert mismatch.parameter is signature.parameters[1]
    assert mismatch.argument is not None
    assert text[mismatch.argument.type.span.start : mismatch.argument.type.span.end] == "float"
    assert (mismatch.cpp, mismatch.schema_type, mismatch.side) == ("double", "int", Side.EITHER)
    assert apply(text, comparison.edits) == "f(Tensor x, int eps=1) -> Tensor"


def test_a_key_set_shifts_the_parameters_only() -> None:
    signature = kernel("at::Tensor", "c10::DispatchKeySet keys", X, "int64_t n")
    (mismatch,) = compared(signature, "f(Tensor x, float n) -> Tensor").mismatches
    assert mismatch.index == 1
    assert mismatch.parameter is signature.parameters[2]


def test_all_mismatches_are_told_and_the_first_is_torch_s() -> None:
    comparison = compared(kernel("int64_t", "double a", "bool b"), "f(int a, str b) -> float")
    assert [mismatch.reason for mismatch in comparison.mismatches] == [
        "Type mismatch in argument 1: int vs float.",
        "Type mismatch in argument 2: str vs bool.",
        "Type mismatch in return 1: float vs int.",
    ]
    assert comparison.reason == comparison.mismatches[0].reason


@pytest.mark.parametrize(
    ("parameters", "text", "counts", "without_argument", "without_parameter", "fixed"),
    [
        (["int64_t n"], "f(Tensor x, int a, int n) -> ()", "3 vs 2", (), (1,), "f(Tensor x, int n) -> ()"),
        (
            ["int64_t a", "int64_t n"],
            "f(Tensor x, int n=1) -> ()",
            "2 vs 3",
            (1,),
            (),
            "f(Tensor x, int a, int n=1) -> ()",
        ),
        (
            ["bool b", "double d"],
            "f(Tensor x, float d) -> ()",
            "2 vs 3",
            (1,),
            (),
            "f(Tensor x, bool b, float d) -> ()",
        ),
        ([], "f(Tensor(a!) x, *, bool b=True) -> ()", "2 vs 1", (), (1,), "f(Tensor(a!) x) -> ()"),
    ],
)
def test_number_of_arguments(
    parameters: list[str],
    text: str,
    counts: str,
    without_argument: tuple[int, ...],
    without_parameter: tuple[int, ...],
    fixed: str,
) -> None:
    comparison = compared(kernel("void", X, *parameters), text)
    (mismatch,) = comparison.mismatches
    assert comparison.reason == f"The number of arguments is different. {counts}."
    assert (mismatch.parameters, mismatch.arguments) == (without_argument, without_parameter)
    assert apply(text, comparison.edits) == fixed


@pytest.mark.parametrize(
    ("returns", "text", "reason", "fixed"),
    [
        ("void", "f() -> Tensor", "1 vs 0", "f() -> ()"),
        ("std::tuple<at::Tensor, int64_t>", "f() -> Tensor", "1 vs 2", "f() -> (Tensor, int)"),
        ("at::Tensor", "f() -> (Tensor, Tensor)", "2 vs 1", "f() -> Tensor"),
        ("at::Tensor", "f() -> ()", "0 vs 1", "f() -> Tensor"),
    ],
)
def test_number_of_returns(returns: str, text: str, reason: str, fixed: str) -> None:
    comparison = compared(kernel(returns), text)
    assert comparison.reason == f"The number of returns is different. {reason}."
    assert apply(text, comparison.edits) == fixed


def test_what_is_written_stays_in_an_edit() -> None:
    text = "f(Tensor(a!)[] x, *, int[2] n=[1, 2], float d) -> Tensor(a!)"
    comparison = compared(kernel("at::Tensor&", "at::Tensor& x", "at::ArrayRef<double> n", "double d"), text)
    assert apply(text, comparison.edits) == "f(Tensor(a!) x, *, float[2] n=[1, 2], float d) -> Tensor(a!)"


def test_a_symint_by_reference() -> None:
    comparison = compared(kernel("void", "const c10::SymInt& n"), "f(SymInt n) -> ()")
    (mismatch,) = comparison.mismatches
    assert (mismatch.cause, mismatch.side) == (Cause.SYMBOL_BY_REFERENCE, Side.KERNEL)
    assert mismatch.cpp == "c10::SymInt"
    assert comparison.edits == ()


def test_symint_mixed_with_int64() -> None:
    comparison = compared(kernel("void", "c10::SymInt n", "int64_t m"), "f(SymInt n, SymInt m) -> ()")
    (mismatch,) = comparison.mismatches
    assert (mismatch.index, mismatch.cause, mismatch.side) == (1, Cause.SYMBOLS_MIXED, Side.KERNEL)
    assert mismatch.cpp == "c10::SymInt"


def test_int64_for_symint_fits_where_all_are() -> None:
    text = "f(SymInt n, SymInt[]? m) -> ()"
    assert compared(kernel("void", "int64_t n", "at::OptionalIntArrayRef m"), text).verdict is Verdict.FITS


def test_a_returned_symint_is_not_int() -> None:
    assert compared(kernel("int64_t"), "f() -> SymInt").reason == "Type mismatch in return 1: SymInt vs int."


def test_a_missing_optional_is_the_kernel_s() -> None:
    (mismatch,) = compared(kernel("void", X), "f(Tensor? x) -> ()").mismatches
    assert mismatch.side is Side.KERNEL
    assert mismatch.cpp == "const std::optional<at::Tensor>&"


def test_a_refused_type() -> None:
    comparison = compared(kernel("at::Tensor", X, "int n"), "f(Tensor x, int n) -> Tensor")
    (refused,) = comparison.refused
    assert comparison.verdict is Verdict.REFUSED
    assert (refused.part, refused.index, refused.refusal.write) == (Part.ARGUMENT, 1, "int64_t")
    assert comparison.reason == ""


def test_noexcept() -> None:
    (refused,) = compared(kernel("void", noexcept=True), "f() -> ()").refused
    assert (refused.part, refused.refusal.stage) == (Part.SIGNATURE, Stage.COMPILE)


def test_long_fits_here_only() -> None:
    comparison = compared(kernel("long", "std::optional<long> n"), "f(int? n) -> int")
    assert comparison.verdict is Verdict.FITS
    assert [(item.part, item.index, item.type) for item in comparison.not_portable] == [
        (Part.ARGUMENT, 0, "long"),
        (Part.RETURN, 0, "long"),
    ]
    assert compared(kernel("int64_t", "std::optional<int64_t> n"), "f(int? n) -> int").not_portable == ()


@pytest.mark.parametrize(
    ("parameter", "type_"),
    [("c10::SomethingNew p", "Tensor"), ("c10::intrusive_ptr<demo::Box> p", "__torch__.torch.classes.demo.Box")],
)
def test_nothing_is_said_about_what_is_not_known(parameter: str, type_: str) -> None:
    comparison = compared(kernel("void", parameter), f"f({type_} p) -> ()")
    assert comparison.verdict is Verdict.UNKNOWN
    assert (comparison.mismatches, comparison.refused, comparison.edits) == ((), (), ())


def test_what_is_wrong_beside_the_unknown_is_said() -> None:
    comparison = compared(kernel("void", "c10::SomethingNew p", "int64_t n"), "f(Tensor p, float n) -> ()")
    assert comparison.reason == "Type mismatch in argument 2: float vs int."
    assert comparison.edits == ()


def test_two_kernels() -> None:
    one = kernel("at::Tensor", X)
    assert signatures_agree(one, kernel("at::Tensor", "const torch::Tensor& other")) is True
    assert signatures_agree(one, kernel("at::Tensor", "at::Tensor x")) is False
    assert signatures_agree(one, kernel("void", X)) is False
