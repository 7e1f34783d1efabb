"""What a kernel's C++ signature means."""

from __future__ import annotations

import pytest

from op_lint.schema import Name, Stage, format_schema, infer, infer_schema, parameter_refusal, return_refusal
from tests.unit.schema.kernels import cpp, kernel

X = "const at::Tensor& x"


def inferred(*texts: str) -> str:
    schema = infer_schema(kernel(*texts))
    assert schema is not None
    return format_schema(schema)


def test_arguments_and_returns_are_numbered() -> None:
    assert inferred("at::Tensor", X, "int64_t n") == "(Tensor _0, int _1) -> Tensor _0"
    assert inferred("std::tuple<at::Tensor, double>", X) == "(Tensor _0) -> (Tensor _0, float _1)"
    assert inferred("void") == "() -> ()"


def test_it_has_the_name_it_is_given() -> None:
    schema = infer_schema(kernel("void"), Name("f", "demo"))
    assert schema is not None
    assert format_schema(schema) == "demo::f() -> ()"


def test_a_key_set_is_no_argument() -> None:
    signature = kernel("at::Tensor", "c10::DispatchKeySet keys", X)
    inference = infer(signature)
    assert inference.parameters == signature.parameters[1:]
    assert inferred("at::Tensor", "c10::DispatchKeySet keys", X) == "(Tensor _0) -> Tensor _0"


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("at::TensorList", "Tensor[]"),
        ("const std::vector<at::Tensor>&", "Tensor[]"),
        ("c10::List<std::optional<at::Tensor>>", "Tensor?[]"),
        ("std::array<bool, 3>", "bool[]"),
        ("at::OptionalIntArrayRef", "int[]?"),
        ("std::optional<c10::string_view>", "str?"),
        ("c10::Dict<std::string, at::Tensor>", "Dict(str, Tensor)"),
        ("at::Generator", "Generator?"),
        ("const at::Scalar&", "Scalar"),
        ("torch::Tensor", "Tensor"),
        ("c10::complex<double>", "complex"),
        ("int8_t", "int"),
        ("torch::headeronly::ScalarType", "ScalarType"),
    ],
)
def test_parameter_types(text: str, type_: str) -> None:
    assert inferred("void", f"{text} p") == f"({type_} _0) -> ()"


@pytest.mark.parametrize(
    ("text", "is_symbolic"),
    [
        ("c10::SymInt", True),
        ("std::optional<c10::SymInt>", True),
        ("c10::SymIntArrayRef", True),
        ("at::OptionalSymIntArrayRef", True),
        ("const c10::SymInt&", False),
        ("const c10::SymIntArrayRef&", False),
        ("std::vector<c10::SymInt>", False),
        ("int64_t", False),
    ],
)
def test_symbolic_kernels(text: str, is_symbolic: bool) -> None:
    assert infer(kernel("void", f"{text} n")).has_symbols is is_symbolic


@pytest.mark.parametrize(
    ("text", "write"),
    [
        ("int", "int64_t"),
        ("const int&", "int64_t"),
        ("unsigned int", "int64_t"),
        ("uint8_t", "int64_t"),
        ("size_t", "int64_t"),
        ("long long", "int64_t"),
        ("float", "double"),
        ("at::Half", "double"),
        ("const char*", "std::string_view"),
        ("std::optional<int>", "std::optional<int64_t>"),
        ("const std::vector<float>&", "const std::vector<double>&"),
        ("std::vector<bool>", "c10::List<bool>"),
        ("std::unordered_map<std::string, int>", "c10::Dict<std::string, int64_t>"),
        ("std::pair<at::Tensor, int>", "std::tuple<at::Tensor, int64_t>"),
        ("std::complex<float>", "c10::complex<double>"),
        ("at::TensorBase", "at::Tensor"),
        ("int64_t&", "int64_t"),
        ("at::Tensor*", ""),
        ("at::TensorOptions", ""),
        ("demo::Mode", ""),
    ],
)
def test_refused_parameters(text: str, write: str) -> None:
    refusal = parameter_refusal(cpp(text))
    assert refusal is not None
    assert refusal.write == write
    assert not write or parameter_refusal(cpp(write)) is None


@pytest.mark.parametrize(
    ("text", "write"),
    [
        ("int", "int64_t"),
        ("float", "double"),
        ("std::tuple<at::Tensor, float>", "std::tuple<at::Tensor, double>"),
        ("const char*", "std::string"),
        ("const bool", "bool"),
    ],
)
def test_refused_returns(text: str, write: str) -> None:
    refusal = return_refusal(cpp(text))
    assert refusal is not None
    assert refusal.write == write
    assert return_refusal(cpp(write)) is None


def test_a_refusal_that_compiles() -> None:
    refusal = parameter_refusal(cpp("c10::OptionalArrayRef<double>"))
    assert refusal is not None
    assert refusal.stage is Stage.LOAD


@pytest.mark.parametrize(
    "text",
    [
        *("at::Tensor", "at::Tensor&", "const at::Tensor&", "at::Tensor&&", "int64_t", "long", "double", "bool"),
        *("std::optional<c10::complex<double>>", "c10::intrusive_ptr<demo::Box>", "at::Device", "c10::SymInt"),
        *("c10::SomethingNew", "at::native::Other", "std::something_new"),
    ],
)
def test_what_is_taken_or_not_known_is_not_refused(text: str) -> None:
    assert parameter_refusal(cpp(text)) is None


def test_what_is_not_known_has_no_schema() -> None:
    assert infer_schema(kernel("void", "c10::SomethingNew p")) is None
    assert infer_schema(kernel("void", "c10::intrusive_ptr<demo::Box> p")) is None
    assert infer_schema(kernel("void", "int p")) is None
