"""Whether a Python function can be the kernel or the fake of an operator.

Torch looks at nothing when it is registered. At a call the dispatcher passes the arguments before the schema's `*` by
position, those after it by name, and **leaves out what equals its default**: trailing ones of the first kind, any of
the second (`parseIValuesToPyArgsKwargs`, torch 2.13). So a function may fit some calls and not others.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

import msgspec

from op_lint.facts import PythonParameter
from op_lint.schema.model import Argument, Schema

_BY_POSITION = ("positional", "any")
_BY_NAME = ("any", "keyword")


class PythonFaultKind(str, Enum):
    """Why Python raises TypeError when the dispatcher calls the function."""

    TOO_MANY_PASSED = "too-many-passed"
    """The schema has an argument for which the function has no parameter."""
    NOT_PASSED = "not-passed"
    """The function needs a parameter that is not passed."""
    UNKNOWN_NAME = "unknown-name"
    """A keyword-only argument of the schema is no parameter of the function."""
    PASSED_TWICE = "passed-twice"
    """A keyword-only argument has the name of a parameter that an argument before it fills."""


class PythonFault(msgspec.Struct, frozen=True):
    """Why a function fits not all calls that the schema allows.

    `argument` is the schema's argument in question, `parameter` the function's. `always` says that no call works;
    otherwise it is those that leave `argument` out (`NOT_PASSED`), or that give it.
    """

    kind: PythonFaultKind
    always: bool
    argument: Argument | None = None
    parameter: PythonParameter | None = None


def kernel_faults(parameters: Sequence[PythonParameter], schema: Schema) -> tuple[PythonFault, ...]:
    """Every reason why calls of an operator with `schema` fail in a function with `parameters`; none if all work."""
    positional = [argument for argument in schema.arguments if not argument.keyword_only]
    named = [argument for argument in schema.arguments if argument.keyword_only]
    slots = [parameter for parameter in parameters if parameter.kind in _BY_POSITION]
    takes_rest = any(parameter.kind == "args" for parameter in parameters)
    takes_names = any(parameter.kind == "kwargs" for parameter in parameters)
    least = _always_passed(positional)
    found: list[PythonFault] = []
    if not takes_rest:
        surplus = enumerate(positional[len(slots) :], len(slots))
        found += [PythonFault(PythonFaultKind.TOO_MANY_PASSED, index < least, argument) for index, argument in surplus]
    by_name = {argument.name: argument for argument in named}
    for index, parameter in enumerate(slots[least:], least):
        argument = by_name.get(parameter.name) if parameter.kind == "any" else None
        given = argument is not None and argument.default is None
        if parameter.default is None and not given:
            left_out = positional[index] if index < len(positional) else argument
            found.append(PythonFault(PythonFaultKind.NOT_PASSED, left_out is None, left_out, parameter))
    for parameter in parameters:
        if parameter.kind == "keyword" and parameter.default is None:
            argument = by_name.get(parameter.name)
            if argument is None or argument.default is not None:
                found.append(PythonFault(PythonFaultKind.NOT_PASSED, argument is None, argument, parameter))
    names = {parameter.name for parameter in parameters if parameter.kind in _BY_NAME}
    filled = {
        parameter.name: index for index, parameter in enumerate(slots[: len(positional)]) if parameter.kind == "any"
    }
    for argument in named:
        required = argument.default is None
        if argument.name not in names and not takes_names:
            found.append(PythonFault(PythonFaultKind.UNKNOWN_NAME, required, argument))
        elif argument.name in filled:
            always = required and filled[argument.name] < least
            found.append(PythonFault(PythonFaultKind.PASSED_TWICE, always, argument))
    return tuple(found)


def _always_passed(positional: Sequence[Argument]) -> int:
    """How many arguments are passed by position however few a caller gives: all up to the last without a default."""
    required = [index for index, argument in enumerate(positional) if argument.default is None]
    return required[-1] + 1 if required else 0
