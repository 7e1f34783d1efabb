"""What arrives in a `TORCH_BOX` kernel, for each C++ type and each schema type, against what op-lint says of both."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from op_lint.facts import CppType, Parameter, Signature
from op_lint.schema import Schema, StableFaultKind, compare_stable, parse_schema
from op_lint.schema.cpp_text import read_type
from tests.truth.registration_sources import why_nothing_compiles
from tests.truth.schema_stable import PARAMETERS, VALUES, arrived
from tests.truth.schema_types import Compiler

pytestmark = [
    pytest.mark.skipif(why_nothing_compiles() is not None, reason=why_nothing_compiles() or ""),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="what crashes runs in a forked process"),
]

_TENSOR = CppType("torch::stable::Tensor")
_HEADERS = """\
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/tensor.h>
#include <torch/csrc/stable/device.h>
#include <torch/headeronly/util/HeaderOnlyArrayRef.h>
#include <ATen/ATen.h>
#include <array>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
"""
_TYPES = (
    *PARAMETERS,
    *("at::Tensor", "c10::SymInt", "c10::Scalar", "at::Generator", "c10::Storage", "c10::List<int64_t>", "long double"),
    *("c10::Dict<std::string, int64_t>", "std::vector<at::Tensor>", "std::optional<c10::SymInt>", "c10::SymBool"),
    *("std::pair<int64_t, int64_t>", "std::map<std::string, int64_t>", "std::set<int64_t>", "std::deque<int64_t>"),
    *("std::shared_ptr<int>", "std::tuple<std::tuple<int64_t, int64_t>>", "char", "uint8_t"),
    *("torch::headeronly::HeaderOnlyArrayRef<bool>", "std::complex<float>", "std::complex<double>"),
    *("c10::ArrayRef<int64_t>", "std::vector<std::string_view>", "std::array<bool, 3>", "std::optional<float>"),
    *("torch::headeronly::Layout", "torch::headeronly::MemoryFormat", "std::vector<std::vector<bool>>"),
    *("std::optional<torch::headeronly::HeaderOnlyArrayRef<int64_t>>", "std::optional<torch::stable::Device>"),
)
_QUALIFIED = (
    *("torch::stable::Tensor", "int64_t", "double", "std::string", "std::string_view", "std::optional<double>"),
    *("std::vector<int64_t>", "torch::headeronly::HeaderOnlyArrayRef<int64_t>", "torch::stable::Device"),
)
ALL_TYPES = (*_TYPES, *(form.format(t) for t in _QUALIFIED for form in ("const {}", "{}&", "const {}&", "{}&&")))

_SMALL_NUMBERS = {("bool", "ScalarType"), ("torch::headeronly::ScalarType", "bool"), ("bool*", "ScalarType?")}
"""A bool and an enumeration are both a small number, so that what prints is right, though the value is not."""


def cpp(text: str) -> CppType:
    read = read_type(text)
    assert read is not None
    return read[0]


def schema_of(text: str) -> Schema:
    schema = parse_schema(text)
    assert isinstance(schema, Schema)
    return schema


@pytest.fixture(scope="module")
def compiler() -> Iterator[Compiler]:
    with tempfile.TemporaryDirectory() as folder:
        yield Compiler(Path(folder), _HEADERS)


def test_what_compiles(compiler: Compiler) -> None:
    statements = {f"void f(torch::stable::Tensor, {text} n); auto b = TORCH_BOX(&f);": text for text in ALL_TYPES}
    failed = {statements[statement] for statement in compiler.failing(tuple(statements))}
    schema = schema_of("f(Tensor x, int n) -> ()")
    refused = set()
    for text in ALL_TYPES:
        signature = Signature(CppType("void"), (Parameter("", _TENSOR), Parameter("", cpp(text))))
        if any(fault.kind is StableFaultKind.COMPILE for fault in compare_stable(signature, schema).faults):
            refused.add(text)
    assert refused == failed
    assert len(failed) > 20


def test_what_compiles_as_a_return(compiler: Compiler) -> None:
    texts = (*ALL_TYPES, "std::tuple<torch::stable::Tensor&, torch::stable::Tensor&>", "std::tuple<int64_t, double>")
    statements = {f"{text} f(torch::stable::Tensor); auto b = TORCH_BOX(&f);": text for text in texts}
    failed = {statements[statement] for statement in compiler.failing(tuple(statements))}
    schema = schema_of("f(Tensor x) -> int")
    refused = set()
    for text in texts:
        faults = compare_stable(Signature(cpp(text), (Parameter("", _TENSOR),)), schema).faults
        if any(fault.kind is StableFaultKind.COMPILE for fault in faults):
            refused.add(text)
    assert refused == failed
    assert len(failed) > 40


def test_a_kernel_that_is_noexcept_does_not_compile(compiler: Compiler) -> None:
    statement = "void f(torch::stable::Tensor) noexcept; auto b = TORCH_BOX(&f);"
    assert compiler.failing([statement]) == {statement}
    signature = Signature(CppType("void"), (Parameter("x", _TENSOR),), noexcept=True)
    (fault,) = compare_stable(signature, schema_of("f(Tensor x) -> ()")).faults
    assert fault.kind is StableFaultKind.COMPILE


def test_what_arrives(tmp_path: Path) -> None:
    pairs = [(index, schema) for index in range(len(PARAMETERS)) for schema in VALUES]
    outcomes: Counter[str] = Counter()
    for (index, schema), answer in zip(pairs, arrived(pairs, tmp_path), strict=True):
        signature = Signature(CppType("std::string"), (Parameter("x", _TENSOR), Parameter("n", cpp(PARAMETERS[index]))))
        faults = compare_stable(signature, schema_of(f"f(Tensor x, {schema} n) -> str")).faults
        kinds = {fault.kind for fault in faults} - {StableFaultKind.NARROW}
        whole = answer == VALUES[schema][1]
        if not kinds:
            # An unsigned kernel gets a negative number as C++ converts it.
            assert whole or PARAMETERS[index] == "uint64_t", (PARAMETERS[index], schema, answer)
        elif StableFaultKind.CALL in kinds:
            assert answer.startswith("raised: Not yet supported conversion"), (PARAMETERS[index], schema, answer)
        else:
            assert not whole or (PARAMETERS[index], schema) in _SMALL_NUMBERS, (PARAMETERS[index], schema, answer)
        outcomes["whole" if not kinds else sorted(kinds)[0].value] += 1
    assert outcomes["whole"] >= 25
    assert outcomes["garbage"] >= 400
    assert outcomes["call"] >= 70
