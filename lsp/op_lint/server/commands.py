"""What clients can ask for by name, as plain JSON: the dispatch table, the path of a call, what was found."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from typing import Any

import msgspec

from op_lint.dispatch.call import Argument, Call, Layout, UnknownDeviceError
from op_lint.dispatch.path import call_path
from op_lint.dispatch.registration import Registration
from op_lint.facts import OperatorName
from op_lint.program import parse_name
from op_lint.server.snapshot import Snapshot
from op_lint.version import VERSION

TABLE = "op-lint.table"
WHY = "op-lint.why"
DOCTOR = "op-lint.doctor"
RESTART = "op-lint.restart"


class CommandError(ValueError):
    """Why a command has no answer, for the person who asked."""


def table(snapshot: Snapshot, operator: str) -> dict[str, Any]:
    """The computed table of an operator, in the dispatcher's own key order. Raises CommandError."""
    name = _known(snapshot, operator)
    found = snapshot.table(name)
    if found is None or snapshot.program.installed is None:
        raise CommandError("no torch is known, and so no dispatch keys: see `op-lint doctor`")
    keys = [{"key": entry.key, "reason": entry.reason.value, **_kernel(entry.registration)} for entry in found.entries]
    return {"op": str(name), "torch": snapshot.program.installed.version, "keys": keys}


def why(snapshot: Snapshot, operator: str, call: Mapping[str, Any]) -> dict[str, Any]:
    """The path of a call; `call` may hold `device`, `layout`, `requiresGrad`, `autocast`, `inferenceMode`.

    Raises CommandError.
    """
    found = snapshot.table(_known(snapshot, operator))
    if found is None:
        raise CommandError("no torch is known, and so no dispatch keys: see `op-lint doctor`")
    try:
        device = str(call.get("device", "cpu"))
        argument = Argument(device, Layout(call.get("layout", "strided")), inference=bool(call.get("inferenceMode")))
        path = call_path(
            found,
            Call(
                (argument,),
                requires_grad=bool(call.get("requiresGrad")),
                autocast=(device,) if call.get("autocast") else (),
                inference_mode=bool(call.get("inferenceMode")),
            ),
        )
    except (UnknownDeviceError, ValueError) as error:
        raise CommandError(str(error)) from error
    steps = [
        {
            "key": step.key,
            "outcome": step.outcome.value,
            "reason": step.reason.value,
            "note": step.note,
            **_kernel(step.registration),
        }
        for step in path.steps
    ]
    return {
        "op": path.operator,
        "key_set": list(path.key_set),
        "excluded": list(path.excluded),
        "steps": steps,
        "error": {"type": path.error.type, "text": path.error.text} if path.error else None,
        "cures": list(path.cures),
    }


def doctor(snapshot: Snapshot) -> dict[str, Any]:
    """What was found: the project, the torch, the rules."""
    project, reading = snapshot.project, snapshot.reading
    interpreter = reading.interpreter if reading else None
    return {
        "opLint": VERSION,
        "python": f"{platform.python_version()} ({sys.executable})",
        "project": str(project.root),
        "configuration": project.configuration.path,
        "files": {"cpp": len(project.tree.cpp), "python": len(project.tree.python)},
        "torch": reading.torch.version if reading else None,
        "origin": reading.origin.value if reading else None,
        "interpreter": interpreter.path if interpreter else None,
        "candidates": [
            {"source": each.source.value, "named": each.named, "verdict": each.verdict}
            for each in (interpreter.candidates if interpreter else ())
        ],
        "problems": [
            *(each.message for each in project.problems),
            *(each.message for each in (reading.problems if reading else ())),
        ],
        "rulePacks": list(snapshot.packs.names),
        "rules": len(snapshot.packs.rules),
        "failures": [str(each) for each in snapshot.checked.failures],
    }


def _known(snapshot: Snapshot, operator: str) -> OperatorName:
    name = parse_name(operator)
    program = snapshot.program
    if name not in program.operators and program.installed_operator(name) is None:
        meant = program.nearest_operator(name)
        raise CommandError(f"no operator {operator} is known" + (f": did you mean {meant}?" if meant else ""))
    return name


def _kernel(registration: Registration | None) -> dict[str, Any]:
    if registration is None:
        return {"kernel": None, "path": None, "line": None, "source": None}
    found = msgspec.to_builtins(registration)
    return {
        "kernel": registration.kernel or registration.origin,
        "path": found["path"],
        "line": registration.line or None,
        "source": registration.source.value,
    }
