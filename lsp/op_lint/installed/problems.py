"""The one message for each way in which reading an installed torch can fail."""

from __future__ import annotations

import re
import signal

from op_lint.installed.bundled import described_versions
from op_lint.installed.child import ProbeOutput
from op_lint.installed.interpreter import Interpreter, InterpreterSource
from op_lint.installed.model import Extension, ProblemCode, ReadProblem

_WHAT = re.compile(r"^\s*what\(\):\s*(.+)$", re.MULTILINE)
_FAILURES = {"absent": ProblemCode.ABSENT, "broken": ProblemCode.BROKEN, "too-old": ProblemCode.TOO_OLD}


def no_interpreter(interpreter: Interpreter) -> ReadProblem:
    """The search found none."""
    if (option := interpreter.candidates[0]).named is not None and option.source is InterpreterSource.OPTION:
        return ReadProblem(ProblemCode.NO_INTERPRETER, f"--python {option.named}: {_sentence(option.verdict)}")
    looked = "; ".join(f"{place.source.value}: {place.verdict}" for place in interpreter.candidates)
    return ReadProblem(
        ProblemCode.NO_INTERPRETER, "no Python interpreter to read torch with: name one with --python", looked
    )


def other_snapshot(wanted: str, chosen: str) -> tuple[ReadProblem, ...]:
    """A snapshot serves that is not of the minor version that was asked for."""
    if not wanted or _minor(wanted) == _minor(chosen):
        return ()
    words = f"there is no snapshot of torch {wanted}, the nearest serves; there are {described_versions()}"
    return (ReadProblem(ProblemCode.OTHER_SNAPSHOT, words),)


def _minor(version: str) -> list[str]:
    return re.findall(r"\d+", version)[:2]


def _sentence(verdict: str) -> str:
    return verdict if "not trusted" in verdict else f"{verdict}: name an interpreter that has torch"


def untrusted_load(what: tuple[str, ...]) -> ReadProblem:
    """Something was to be loaded in a workspace that is not trusted."""
    return ReadProblem(ProblemCode.UNTRUSTED, f"not loaded, as this workspace is not trusted: {', '.join(what)}")


def unread(interpreter: Interpreter, output: ProbeOutput, timeout: float) -> ReadProblem:
    """The child ended without having said what torch it has."""
    said, path = output.said, interpreter.path
    if output.unstarted is not None:
        return ReadProblem(ProblemCode.RUBBISH, f"{path} cannot be started: {output.unstarted}")
    if "failure" in said:
        code = _FAILURES[said["failure"]["code"]]
        return ReadProblem(code, f"{path}: {said['failure']['message']}", output.stderr)
    doing = "reading its dispatcher" if "location" in said else "importing torch"
    if output.endless:
        return ReadProblem(ProblemCode.RUBBISH, f"{path} printed without end and was stopped", output.stderr)
    if output.exit_code is None:
        return ReadProblem(
            ProblemCode.TIMEOUT, f"{path}: {doing} took more than {timeout:g} s and was stopped", output.stderr
        )
    if "interpreter" not in said:
        reason = f"it ended with {_ending(output.exit_code)} and without an answer"
        return ReadProblem(ProblemCode.RUBBISH, f"{path} is no Python 3.8 or later: {reason}", output.stderr)
    return ReadProblem(
        ProblemCode.CRASHED, f"{path}: {doing} ended the process with {_ending(output.exit_code)}", output.stderr
    )


def load_problems(
    output: ProbeOutput, extension: Extension | None, asked: tuple[str, ...], timeout: float
) -> tuple[ReadProblem, ...]:
    """What went wrong with `--load` and `--import`, one message for each that failed."""
    if not asked:
        return ()
    if extension is not None:
        return tuple(
            ReadProblem(
                ProblemCode.LOAD_FAILED, f"loading {load.what} failed: {load.error.splitlines()[0]}", load.error
            )
            for load in extension.loads
            if load.error
        )
    what = output.said.get("loading", asked[0])
    if output.exit_code is None:
        happened = f"took more than {timeout:g} s and was stopped"
    elif (text := _WHAT.search(output.stderr)) is not None:
        happened = f"ended the process: {text[1]}"
    else:
        happened = f"ended the process with {_ending(output.exit_code)}"
    return (ReadProblem(ProblemCode.LOAD_FAILED, f"loading {what} {happened}", output.stderr),)


def _ending(exit_code: int) -> str:
    """`SIGSEGV` for a signal, `exit code 3` for any other end."""
    if exit_code < 0:
        try:
            return signal.Signals(-exit_code).name
        except ValueError:
            return f"signal {-exit_code}"
    return f"exit code {exit_code}"
