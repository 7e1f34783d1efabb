"""The tables of what torch 2.13 said about C++ signatures against schemas, and of what arrived through the stable ABI.

Each row was compiled and run once; here op-lint reads its C++ and says the same.
"""

from __future__ import annotations

import re
from functools import lru_cache

import pytest

from op_lint.facts import CppType, Parameter, Signature
from op_lint.schema import (
    Comparison,
    SchemaError,
    StableFaultKind,
    Stage,
    Verdict,
    compare,
    compare_stable,
    parse_schema,
)
from op_lint.schema.cpp_text import read_type
from tests.truth.schema_kernels import read_kernel, rows, signatures

SIGNATURES = rows("signatures.tsv")
STABLE = rows("stable.tsv")


@lru_cache
def read_signatures() -> tuple[Signature | None, ...]:
    return tuple(signatures([read_kernel(row["c++ signature"]) for row in SIGNATURES]))


@pytest.mark.parametrize("index", range(len(SIGNATURES)), ids=[row["c++ signature"] for row in SIGNATURES])
def test_signature(index: int) -> None:
    row = SIGNATURES[index]
    schema = parse_schema(row["schema"])
    signature = read_signatures()[index]
    if "torch::jit::ErrorReport" in row["what torch 2.13 says"]:
        assert isinstance(schema, SchemaError)
        return
    assert not isinstance(schema, SchemaError)
    if signature is None:
        assert "[ boxed ]" in row["what torch 2.13 says"]
        return
    check_row(row, compare(signature, schema, row["schema"]))


def check_row(row: dict[str, str], comparison: Comparison) -> None:
    said = row["what torch 2.13 says"]
    if row["verdict"] == "ok":
        assert comparison.verdict is Verdict.FITS
        inferred = re.search(r"dump `\((.*?)\) ->", said)
        assert inferred is not None
        assert len(comparison.inference.arguments) == inferred[1].count("_")
    elif row["verdict"] == "mismatch":
        assert comparison.verdict is Verdict.MISMATCH
        assert f"`reason: {comparison.reason}`" in said
    else:
        assert comparison.verdict is Verdict.REFUSED
        stages = {refused.refusal.stage for refused in comparison.refused}
        assert stages == {Stage.COMPILE if row["verdict"] == "compile-error" else Stage.LOAD}


def cpp_type(text: str) -> CppType:
    read = read_type(re.sub(r"(?<![:\w])(Tensor)\b", r"torch::stable::\1", text))
    assert read is not None
    return read[0]


@pytest.mark.parametrize(
    "row", STABLE, ids=[f"{row['place']} {row['c++ type']} {row['schema type']}" for row in STABLE]
)
def test_stable_type(row: dict[str, str]) -> None:
    tensor = Parameter("x", CppType("torch::stable::Tensor"))
    if row["place"] == "return":
        signature = Signature(cpp_type(row["c++ type"]), (tensor,))
        schema = parse_schema(f"f(Tensor x) -> {row['schema type']}")
    else:
        signature = Signature(CppType("torch::stable::Tensor"), (tensor, Parameter("n", cpp_type(row["c++ type"]))))
        schema = parse_schema(f"f(Tensor x, {row['schema type']} n) -> Tensor")
    assert not isinstance(schema, SchemaError)
    kinds = {fault.kind for fault in compare_stable(signature, schema).faults} - {StableFaultKind.NARROW}
    if row["verdict"] == "compile-error":
        assert StableFaultKind.COMPILE in kinds
    else:
        expected = {"ok": set(), "garbage": {StableFaultKind.GARBAGE}, "call-error": {StableFaultKind.CALL}}
        assert kinds == expected[row["verdict"]]
