"""The types that the dispatcher refuses, each compiled: op-lint refuses just those that g++ or the loader refuses."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from op_lint.facts import CppType
from op_lint.schema import Refusal, Stage, infer, parameter_refusal, return_refusal
from tests.truth.registration_sources import why_nothing_compiles
from tests.truth.schema_kernels import CppKernel, ask_torch, signatures
from tests.truth.schema_types import PARAMETERS, RETURNS, Compiler, parameter_statement, return_statement

pytestmark = pytest.mark.skipif(why_nothing_compiles() is not None, reason=why_nothing_compiles() or "")

_PARAMETER_KERNELS = tuple(CppKernel("void", (f"{type_} n",)) for type_ in PARAMETERS)
_RETURN_KERNELS = tuple(CppKernel(type_, ()) for type_ in RETURNS)


def parameter_refusals() -> dict[str, Refusal | None]:
    """What op-lint says of each type of `PARAMETERS` that its reader of C++ makes out."""
    refusals = {}
    for text, signature in zip(PARAMETERS, signatures(_PARAMETER_KERNELS), strict=True):
        if signature is not None and is_resolved(signature.parameters[0].type):
            refusals[text] = parameter_refusal(signature.parameters[0].type)
    return refusals


def return_refusals() -> dict[str, Refusal | None]:
    """What op-lint says of each type of `RETURNS` that its reader of C++ makes out."""
    refusals = {}
    for text, signature in zip(RETURNS, signatures(_RETURN_KERNELS), strict=True):
        if signature is not None and is_resolved(signature.returns):
            refusals[text] = return_refusal(signature.returns)
    return refusals


def is_resolved(cpp: CppType) -> bool:
    return cpp.name != "?" and all(map(is_resolved, cpp.arguments))


def refused_at(refusals: dict[str, Refusal | None], stage: Stage) -> set[str]:
    return {text for text, refusal in refusals.items() if refusal is not None and refusal.stage is stage}


@pytest.fixture(scope="module")
def compiler() -> Iterator[Compiler]:
    with tempfile.TemporaryDirectory() as folder:
        yield Compiler(Path(folder))


def test_parameters_that_do_not_compile(compiler: Compiler) -> None:
    statements = {parameter_statement(text): text for text in PARAMETERS}
    failed = compiler.failing(tuple(statements))
    refusals = parameter_refusals()
    assert len(refusals) > 180
    assert {statements[statement] for statement in failed} & refusals.keys() == refused_at(refusals, Stage.COMPILE)


def test_returns_that_do_not_compile(compiler: Compiler) -> None:
    statements = {return_statement(text): text for text in RETURNS}
    failed = compiler.failing(tuple(statements))
    refusals = return_refusals()
    assert len(refusals) > 180
    assert {statements[statement] for statement in failed} & refusals.keys() == refused_at(refusals, Stage.COMPILE)


def test_types_that_abort_when_the_library_is_loaded(tmp_path: Path) -> None:
    parameters = sorted(refused_at(parameter_refusals(), Stage.LOAD))
    returns = sorted(refused_at(return_refusals(), Stage.LOAD))
    assert len(parameters) >= 10
    assert len(returns) >= 5
    kernels = [CppKernel("void", (f"{text} n",)) for text in parameters] + [CppKernel(text, ()) for text in returns]
    for text, answer in zip((*parameters, *returns), ask_torch(kernels, (), tmp_path).inferred, strict=True):
        assert "could not be converted to any of the known types" in answer, text


@pytest.mark.parametrize("is_return", [False, True])
def test_what_to_write_instead_is_taken(is_return: bool, compiler: Compiler) -> None:
    refusals = return_refusals() if is_return else parameter_refusals()
    statement = return_statement if is_return else parameter_statement
    advised = sorted({refusal.write for refusal in refusals.values() if refusal is not None and refusal.write})
    assert len(advised) > 15
    assert compiler.failing([statement(text) for text in advised]) == set()
    kernels = [CppKernel(text, ()) if is_return else CppKernel("void", (f"{text} n",)) for text in advised]
    for signature in signatures(kernels):
        assert signature is not None
        items = infer(signature).returns if is_return else infer(signature).arguments
        assert all(item.refusal is None and item.type is not None for item in items)


def test_what_is_not_known_is_not_refused() -> None:
    for name in ("?", "auto", "c10::SomethingNew", "at::native::Thing", "torch::jit::Node", "std::expected"):
        assert parameter_refusal(CppType(name)) is None
        assert return_refusal(CppType("std::vector", (CppType(name),))) is None
