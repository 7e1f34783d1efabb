"""What clients can ask for by name, as plain JSON: the dispatch table, the path of a call, what was found."""

from __future__ import annotations

import platform
import sys
from typing import Any

import msgspec

from op_lint.dispatch.call import Argument, Call, Layout, Mode, Transform, UnknownDeviceError
from op_lint.dispatch.path import call_path
from op_lint.dispatch.registration import Registration
from op_lint.facts import OperatorName
from op_lint.matrix import state_of
from op_lint.naming import schema_of
from op_lint.program import parse_name
from op_lint.server.locations import Locate
from op_lint.server.snapshot import Snapshot
from op_lint.version import VERSION

TABLE = "op-lint.table"
WHY = "op-lint.why"
MATRIX = "op-lint.matrix"
INFORMATION = "op-lint.serverInformation"
RESTART = "op-lint.restart"

_NO_TORCH = "no torch is known, and so no dispatch keys: `op-lint doctor` says where one was looked for"


class CommandError(ValueError):
    """Why a command has no answer, for the person who asked."""


class CallQuery(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A call as a client describes it. `device` is that of every tensor; several are one tensor on each.

    `transforms` are functorch's, outermost first; `mode` is a `TorchDispatchMode` around the call.
    """

    device: str | tuple[str, ...] = "cpu"
    layout: Layout = Layout.STRIDED
    requires_grad: bool = False
    autocast: bool = False
    inference_mode: bool = False
    functionalize: bool = False
    transforms: tuple[Transform, ...] = ()
    mode: Mode | None = None

    @property
    def call(self) -> Call:
        """The call."""
        devices = (self.device,) if isinstance(self.device, str) else self.device
        return Call(
            tuple(Argument(device, self.layout, inference=self.inference_mode) for device in devices),
            requires_grad=self.requires_grad,
            autocast=devices if self.autocast else (),
            inference_mode=self.inference_mode,
            functionalize=self.functionalize,
            transforms=self.transforms,
            mode=self.mode,
        )


def table(snapshot: Snapshot, operator: str, locate: Locate) -> dict[str, Any]:
    """The computed table of an operator, in the dispatcher's own key order. Raises CommandError."""
    name = known(snapshot, operator)
    found = snapshot.table(name)
    if found is None or snapshot.program.installed is None:
        raise CommandError(_NO_TORCH)
    keys = [
        {
            "key": entry.key,
            "kind": found.keys.kind(entry.key).value,
            "state": state_of(entry),
            "reason": entry.reason.value,
            **_kernel(snapshot, name, entry.registration, locate),
        }
        for entry in found.entries
    ]
    return {
        "op": str(name),
        "schema": schema_of(snapshot.program, name),
        "torch": snapshot.program.installed.version,
        "keys": keys,
    }


def why(snapshot: Snapshot, operator: str, query: Any, locate: Locate) -> dict[str, Any]:
    """The path of a call that a `CallQuery` describes. Raises CommandError."""
    name = known(snapshot, operator)
    found = snapshot.table(name)
    if found is None:
        raise CommandError(_NO_TORCH)
    try:
        path = call_path(found, msgspec.convert(query, CallQuery).call)
    except msgspec.ValidationError as error:
        raise CommandError(f"this describes no call: {error}") from error
    except UnknownDeviceError as error:
        raise CommandError(str(error)) from error
    steps = [
        {
            "key": step.key,
            "outcome": step.outcome.value,
            "reason": step.reason.value,
            "note": step.note,
            **_kernel(snapshot, name, step.registration, locate),
        }
        for step in path.steps
    ]
    return {
        "op": path.operator,
        "schema": schema_of(snapshot.program, name),
        "keySet": list(path.key_set),
        "excluded": list(path.excluded),
        "steps": steps,
        "error": {"type": path.error.type, "text": path.error.text} if path.error else None,
        "cures": list(path.cures),
        "devices": sorted(found.keys.facts.devices),
        "layouts": [layout.value for layout in Layout],
        "transforms": [transform.value for transform in Transform],
        "modes": [mode.value for mode in Mode],
    }


def information(snapshot: Snapshot) -> dict[str, Any]:
    """What was found: the project, the torch, the build, the rules."""
    project, reading, program = snapshot.project, snapshot.reading, snapshot.program
    interpreter = reading.interpreter if reading else None
    return {
        "opLint": VERSION,
        "python": f"{platform.python_version()} ({sys.executable})",
        "project": str(project.root),
        "configuration": project.configuration.path,
        "files": {
            "cpp": len(project.tree.cpp),
            "python": len(project.tree.python),
            "build": len(project.tree.build),
            "registering": sum(bool(facts.units) for facts in program.files),
        },
        "operators": len(program.operators),
        "unresolved": [
            {"path": each.place.path, "line": each.place.line, "reason": each.reason}
            for facts in program.files
            for each in facts.unresolved
        ],
        "unread": [
            {"path": each.place.path, "line": each.place.line, "code": each.code, "message": each.message}
            for facts in program.files
            for each in facts.problems
        ],
        "targets": sorted(target.name for target in program.build.targets) if program.build else [],
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
        "skipped": list(snapshot.checked.skipped),
        "failures": [str(each) for each in snapshot.checked.failures],
    }


def known(snapshot: Snapshot, operator: str) -> OperatorName:
    """The operator that a text names. Raises CommandError where neither the sources nor torch have it."""
    name = parse_name(operator)
    program = snapshot.program
    if name not in program.operators and program.installed_operator(name) is None:
        meant = program.nearest_operator(name)
        raise CommandError(f"no operator {operator} is known" + (f": did you mean {meant}?" if meant else ""))
    return name


def _kernel(
    snapshot: Snapshot, operator: OperatorName, registration: Registration | None, locate: Locate
) -> dict[str, Any]:
    """What a registration shows of itself; its exact place where it is one of the workspace's."""
    if registration is None:
        return {"kernel": None, "path": None, "line": None, "source": None, "location": None}
    path, line = registration.path, registration.line
    location = None
    if path is not None:
        own = (each for found in snapshot.program.kernels_of(operator).values() for each in found)
        place = next((each.fact.name_place for each in own if (each.place.path, each.place.line) == (path, line)), None)
        location = locate(place) if place else locate.line(path, line)
    return {
        "kernel": registration.kernel or registration.origin,
        "path": path,
        "line": line or None,
        "source": registration.source.value,
        "location": location,
    }
