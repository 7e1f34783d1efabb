"""What torch refuses when it runs a registration, against what the rules say of the source: the same, row by row.

The rows of `registrations.tsv` and `load_rows.tsv` are compiled into one library in which each of them can be run apart
(`loading/deferred.h`). Whatever torch says is the expectation; nothing is written down but which words mean which rule.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import pytest

from op_lint.errors.recognise import KINDS
from op_lint.program import Program
from tests.check import run, write_project
from tests.truth.registration_sources import include_flags, torch_folder, why_nothing_compiles
from tests.truth.torch_process import installed, run_script
from tests.unit.builders import read, rule

FOLDER = Path(__file__).parent
REASON = why_nothing_compiles()
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))

MEANING = {
    "with the same name and overload name multiple times": "OPL202",
    "Only a single TORCH_LIBRARY": "OPL203",
    "Overriding a previously registered kernel": "OPL204",
    "(inactive)": "OPL204",
    "Tried to register multiple backend fallbacks": "OPL205",
    "Explicitly provided namespace": "OPL206",
    "cannot be overloaded at dispatch time": "OPL210",
    "with the wildcard namespace _": "OPL208",
    "bad optional access": "OPL208",
    "Cannot define an operator inside": "OPL211",
    "Cannot define a class inside": "OPL211",
    "Fallback functions which apply to only a single namespace": "OPL211",
    "dispatch_key.has_value() INTERNAL ASSERT FAILED": "OPL211",
    "Explicitly provided dispatch key": "OPL211",
    "only the operator name was given": "OPL211",
    "Full schema string was not specified": "OPL211",
    "function schema was given": "OPL211",
    "expected eof": "OPL211",
    "expected :": "OPL211",
    "is not a legal overload name": "OPL211",
    "Cannot infer operator schema": "OPL211",
    "doesn't match the expected function schema": "OPL102",
    "Mismatch in kernel C++ signatures": "OPL102",
    "unknown type specifier": "OPL101",
    "expected arrow": "OPL101",
    "Tried to register multiple kernels with same dispatch key": "OPL211",
}
"""Words of torch, and the rule that speaks of what they mean."""

CODES = frozenset(MEANING.values())

UNDEFINED = frozenset({"impl_in_wildcard"})
"""Rows that torch answers with undefined behaviour: `Library::_impl` reads an empty optional (torch 2.13.0), which
crashes or loads by what the memory happens to hold. A rule must speak, whatever is seen."""

PREAMBLE = """\
#include <torch/library.h>
#include <torch/csrc/stable/library.h>
at::Tensor f(const at::Tensor& x) { return x; }
at::Tensor g(const at::Tensor& x) { return x; }
void boxed(const c10::OperatorHandle&, torch::jit::Stack*) {}
void stable(StableIValue*, uint64_t, uint64_t) {}
struct Held : torch::CustomClassHolder {};
"""


class Outcome(NamedTuple):
    """What running a row came to. `status` is 0, 1 for an error that torch throws, else a crash."""

    status: int
    text: str


def recorded(*verdicts: str) -> Iterator[tuple[str, str]]:
    """The name and the source of each row of `registrations.tsv` with one of these verdicts."""
    for line in (FOLDER / "registrations.tsv").read_text("utf-8").splitlines()[1:]:
        verdict, name, source, _ = line.split("\t")
        if verdict in verdicts:
            yield name, source


def rows() -> Iterator[tuple[str, str]]:
    """The name and the source of each row that compiles."""
    yield from recorded("loads", "abort")
    for line in (FOLDER / "load_rows.tsv").read_text("utf-8").splitlines()[1:]:
        name, source = line.split("\t")
        yield name, source


ROWS = dict(rows())


@lru_cache
def outcomes(folder: Path) -> dict[str, Outcome]:
    """What torch does with each row."""
    source, library = folder / "rows.cpp", folder / "rows.so"
    parts = [f'#include "{FOLDER / "loading" / "deferred.h"}"']
    for number, (name, text) in enumerate(ROWS.items()):
        # The line that torch names is that of the row's own project, after PREAMBLE.
        line = f'#line {PREAMBLE.count(chr(10)) + 1} "ops.cpp"'
        parts.append(f"namespace row_{name} {{ constexpr int ROW = {number};\n{line}\n{deferred(text)}\n}}")
    source.write_text("\n".join(parts))
    compiled = ["g++", "-std=c++20", "-O0", "-w", "-shared", "-fPIC", *include_flags(), str(source), "-o", str(library)]
    linked = [f"-L{torch_folder() / 'lib'}", "-Wl,--no-as-needed", "-ltorch", "-ltorch_cpu", "-lc10"]
    result = subprocess.run([*compiled, *linked], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    said = run_script("../loading/run_rows.py", {"library": str(library), "rows": list(range(len(ROWS)))})
    return {name: Outcome(**each) for name, each in zip(ROWS, said, strict=True)}


@lru_cache
def aborted(folder: Path) -> dict[str, str]:
    """What each row that torch refuses prints when its error ends the process."""
    refused = [name for name, outcome in outcomes(folder).items() if outcome.status == 1]
    rows = [list(ROWS).index(name) for name in refused]
    request = {"library": str(folder / "rows.so"), "rows": rows, "aborting": True}
    said = run_script("../loading/run_rows.py", request)
    assert {each["status"] for each in said} == {-signal.SIGABRT}
    return {name: each["text"] for name, each in zip(refused, said, strict=True)}


def deferred(source: str) -> str:
    """The row with legacy registrations, too, made when the row is run."""
    return re.sub(
        r"static auto registry = (.*);$",
        r"static const Deferred registry(ROW, [] { new torch::RegisterOperators(\1); });",
        source,
    )


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rows")


def expected(outcome: Outcome) -> set[str]:
    """The rules that must speak, by what torch said."""
    return {code for words, code in MEANING.items() if words in outcome.text}


def reported(source: str) -> set[str]:
    """The rules that speak of a source."""
    program = Program(read({"ops.cpp": PREAMBLE + source}), installed().torch)
    return {code for code in CODES if any(rule(code).check(program))}


@pytest.mark.parametrize("name", ROWS)
def test_rules_say_what_torch_does(name: str, folder: Path) -> None:
    outcome = outcomes(folder)[name]
    found = reported(ROWS[name])
    if outcome.status not in (0, 1) or name in UNDEFINED:
        assert found, "torch crashes without a word, and no rule has one"
        return
    wanted = expected(outcome)
    # Two rules also speak of what loads: of a namespace not to be defined in, and of a key that nothing dispatches to.
    assert found - ({"OPL208", "OPL210"} - wanted) == wanted, outcome.text


@pytest.mark.parametrize(("name", "source"), list(recorded("compile-error")))
def test_rules_say_what_does_not_compile(name: str, source: str, tmp_path: Path) -> None:
    file = tmp_path / "ops.cpp"
    file.write_text(PREAMBLE + source)
    result = subprocess.run(
        ["g++", "-std=c++20", "-w", "-fsyntax-only", *include_flags(), str(file)], capture_output=True
    )
    assert result.returncode != 0
    assert reported(source) == {"OPL203"}


UNTOLD = {"def_wild", "def_wild2", "stable_wild_def"}
"""Rows of which torch says `bad optional access` and nothing else, which is no message of its own."""


def refused() -> list[str]:
    """The rows whose sources a rule says that torch refuses: those that are worth a diagnosis."""
    return [name for name, source in ROWS.items() if name not in UNDEFINED | UNTOLD and reported(source)]


@pytest.mark.parametrize("name", refused() if REASON is None else [])
def test_what_torch_prints_is_diagnosed(name: str, folder: Path, tmp_path: Path) -> None:
    """The error is recognised where the process ends, its kind names a rule, and that finds the same place."""
    text = aborted(folder).get(name)
    if text is None:
        # Torch crashes without a word, or loads what these rules speak of.
        assert outcomes(folder)[name].status < 0 or reported(ROWS[name]) <= {"OPL204", "OPL208", "OPL210"}
        return
    assert "terminate called after throwing an instance of" in text
    write_project(tmp_path, {"ops.cpp": PREAMBLE + ROWS[name], "log.txt": text})
    given = ("--from", "log.txt", "--torch-version", "2.13.0+cpu", "--jobs", "0", "--output-format", "json")
    outcome = run(tmp_path, "diagnose", *given)
    assert outcome.status == 1, text
    (error,) = json.loads(outcome.out)["errors"]
    assert expected(outcomes(folder)[name]) <= {
        code for kind in KINDS if kind.name == error["kind"] for code in kind.codes
    }
    assert {finding["code"] for finding in error["findings"]} & expected(outcomes(folder)[name]), (error, text)
    (line,) = {cause["line"] for cause in error["causes"][:1]}
    assert line > PREAMBLE.count("\n"), error


def test_a_crash_is_possible(folder: Path) -> None:
    statuses = {outcome.status for outcome in outcomes(folder).values()}
    assert {0, 1} < statuses
    assert min(statuses) < 0
