"""The schemas of Python functions are those that torch infers, and the errors are those that torch raises."""

from __future__ import annotations

import sys
import types
import warnings
from typing import Any

import pytest

from op_lint.facts import SchemaInference
from op_lint.python import read_python
from tests.truth.inferred_functions import Case, cases, module

torch = pytest.importorskip("torch")

MODULE = "inferred_functions_of_a_project"


def compiled(source: str) -> types.CodeType:
    """A module's code, free of this module's `from __future__`."""
    return compile(source, MODULE, "exec", dont_inherit=True)


def defined(all_cases: list[Case], *, postponed: bool) -> list[Case]:
    """The cases that Python accepts; a definition that raises is not torch's business."""

    def is_accepted(case: Case) -> bool:
        try:
            exec(compiled(module([case], postponed=postponed)), {"__name__": MODULE})
        except (SyntaxError, TypeError, AttributeError):
            return False
        return True

    return [case for case in all_cases if is_accepted(case)]


def from_torch(all_cases: list[Case], source: str) -> dict[str, tuple[str | None, str | None]]:
    """What torch makes of each function: a schema, or the text of an exception."""
    namespace = types.ModuleType(MODULE)
    sys.modules[MODULE] = namespace
    exec(compiled(source), namespace.__dict__)

    def result(case: Case) -> tuple[str | None, str | None]:
        try:
            return eval(case.call, namespace.__dict__), None
        except Exception as error:
            return None, str(error)

    results = {case.call: result(case) for case in all_cases}
    del sys.modules[MODULE]
    return results


def from_op_lint(all_cases: list[Case], source: str) -> dict[str, SchemaInference]:
    """What op-lint reads of the same calls, each on a line of its own."""
    text = source + "\n" + "".join(f"{case.call}\n" for case in all_cases)
    facts = read_python(f"{MODULE}.py", text.encode())
    assert facts.python is not None
    assert not facts.problems
    calls = text.encode()
    return {calls[found.place.start : found.place.end].decode(): found for found in facts.python.inferences}


@pytest.mark.parametrize("postponed", [False, True], ids=["annotations", "string-annotations"])
def test_schemas_and_errors_are_torchs(postponed: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        all_cases = defined(cases(), postponed=postponed)
        source = module(all_cases, postponed=postponed)
        truth = from_torch(all_cases, source)
    read = from_op_lint(all_cases, source)
    wrong: list[Any] = []
    silent: list[str] = []
    for case in all_cases:
        schema, error = truth[case.call]
        found = read.get(case.call)
        if found is None:
            silent.append(f"{case.source or case.function} {case.call}: {schema or error}"[:300])
        elif (found.schema, found.error) != (schema, error):
            wrong.append((case.source, case.call, (schema, error), (found.schema, found.error)))
    assert len(all_cases) >= 300
    assert not wrong, f"{len(wrong)} of {len(all_cases)} differ, the first: {wrong[:3]}"
    assert not silent, f"{len(silent)} of {len(all_cases)} are not inferred: {silent}"
