"""OPL604."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.facts import Implementation, KernelKind, Language, OperatorName, Place, PythonFunction
from op_lint.findings import Finding, Related, Severity
from op_lint.kernels import Bound, bound
from op_lint.program import Program, Registered
from op_lint.rule import Rule
from op_lint.schema.model import Argument, Schema
from op_lint.schema.printer import format_type
from op_lint.schema.python_kernel import PythonFault, PythonFaultKind, kernel_faults
from op_lint_rules._words import where

_OTHER_ARGUMENTS = frozenset({"torch._subclasses.fake_impls.register_op_impl", "py_impl"})
"""What registers functions that are called with other arguments than those of the schema."""

_NAMELESS = frozenset({"_", "<lambda>"})

_OTHER_KEYS = frozenset({"FuncTorchBatched"})

_TRANSPARENT = (
    "torch.library.", "torch._library.", "torch._custom_op", "torch.no_grad", "torch.inference_mode",
    "torch.jit.ignore", "torch.compiler.", "torch._dynamo.", "functools.cache", "functools.lru_cache", "staticmethod",
)  # fmt: skip
"""Decorators that leave the parameters as they are."""


class PythonSignatureMismatch(Rule):
    """A Python kernel or fake whose parameters do not fit the operator's schema.

    ## What it does
    Reports functions that are registered as kernels or fakes, and that some call of the operator cannot call: a
    parameter too few or too many, or a keyword-only argument of another name. torch passes the arguments before the
    schema's `*` by position, those after it by name, and leaves out what equals its default; so a parameter for an
    argument with a default needs a default, too. Functions under decorators that may change their parameters are left
    alone.

    ## Why it is bad
    Nothing is checked when the function is registered. The first such call raises TypeError, and of a fake that is the
    first time that somebody compiles.

    ## Example
    ```python title="ops.py"
    import torch

    torch.library.define("demo::scale", "(Tensor x, float s=1.0) -> Tensor")


    @torch.library.impl("demo::scale", "cpu")
    def scale(x, s=1.0):
        return x * s


    @torch.library.register_fake("demo::scale")
    def scale_fake(x):
        return torch.empty_like(x)
    ```

    ## Use instead
    ```python title="ops.py"
    import torch

    torch.library.define("demo::scale", "(Tensor x, float s=1.0) -> Tensor")


    @torch.library.impl("demo::scale", "cpu")
    def scale(x, s=1.0):
        return x * s


    @torch.library.register_fake("demo::scale")
    def scale_fake(x, s=1.0):
        return torch.empty_like(x)
    ```

    ## References
    - `parseIValuesToPyArgsKwargs` in torch/csrc/PyInterpreter.cpp
    """

    code = "OPL604"
    name = "python-signature-mismatch"
    severity = Severity.ERROR

    def check(self, program: Program) -> Iterator[Finding]:
        """The first fault of every Python function that torch calls with the schema's arguments."""
        functions = {
            function.place: function
            for file in program.files
            if file.python is not None
            for function in file.python.functions
        }
        told: set[tuple[Place, OperatorName]] = set()
        for implementation in program.implementations:
            defined = implementation.fact.kernel.defined
            function = functions.get(defined) if defined is not None and _is_called(implementation) else None
            which = (function.place, implementation.fact.operator) if function is not None else None
            if function is None or which is None or which in told or not _is_as_written(function):
                continue
            told.add(which)
            yield from self._checked(program, implementation, function)

    def _checked(
        self, program: Program, implementation: Registered[Implementation], function: PythonFunction
    ) -> Iterator[Finding]:
        for each in bound(program, implementation):
            faults = kernel_faults(function.parameters, each.schema)
            if faults:
                yield self._mismatch(each, implementation.fact, function, faults[0])

    def _mismatch(self, each: Bound, fact: Implementation, function: PythonFunction, fault: PythonFault) -> Finding:
        place = fault.parameter.place if fault.parameter is not None else function.name_place
        kind = "fake" if fact.kernel.kind is KernelKind.FAKE else f"{fact.key} kernel"
        named = "this function, " if function.name in _NAMELESS else f"`{function.name}`, "
        related = [Related(fact.name_place, "it is registered here")]
        if each.text is not None:
            related.append(Related(each.text.place, f"the schema of `{fact.operator}`"))
        source = f" ({where(each.text.place, place)})" if each.text is not None else ""
        return self.finding(
            place,
            f"{named}a {kind} of `{fact.operator}`, {_words(fault, each.schema, function)}",
            related=tuple(related),
            notes=(f"its schema is `{each.written}`{source}", _harm(fault)),
        )


def _is_called(implementation: Registered[Implementation]) -> bool:
    """Whether torch calls the function with the arguments of the schema."""
    fact = implementation.fact
    return (
        fact.language is Language.PYTHON
        and fact.kernel.kind in (KernelKind.KERNEL, KernelKind.FAKE)
        and fact.key not in _OTHER_KEYS
        and implementation.unit.macro not in _OTHER_ARGUMENTS
    )


def _is_as_written(function: PythonFunction) -> bool:
    return all(decorator.startswith(_TRANSPARENT) or _registers(decorator) for decorator in function.decorators)


def _registers(decorator: str) -> bool:
    """Whether a decorator is one of the methods of a custom operator, which give the function back."""
    method = decorator.partition("(")[0].rpartition(".")[2]
    return method in ("register_fake", "register_kernel", "impl", "impl_abstract")


def _words(fault: PythonFault, schema: Schema, function: PythonFunction) -> str:
    argument, parameter = fault.argument, fault.parameter
    if fault.kind is PythonFaultKind.TOO_MANY_PASSED and argument is not None:
        argument = _forgotten(schema, function) or argument
        shown = f"{format_type(argument.type)} {argument.name}"
        add = (
            f"add `{argument.name}={_default(argument.default.value)}`"
            if argument.default
            else f"add `{argument.name}`"
        )
        return f"has no parameter for the argument `{shown}`: {add}"
    if fault.kind is PythonFaultKind.NOT_PASSED and parameter is not None:
        if argument is None:
            return (
                f"needs `{parameter.name}`, which the schema does not have: remove the parameter, or give it a default"
            )
        default = _default(argument.default.value) if argument.default else "..."
        return (
            f"needs `{parameter.name}`, but torch leaves out an argument that equals its default: "
            f"write `{parameter.name}={default}`"
        )
    assert argument is not None
    if fault.kind is PythonFaultKind.PASSED_TWICE:
        return f"takes the argument `{argument.name}` by position, where another one comes: write `*` before it"
    return f"has no parameter `{argument.name}`, by which name torch passes that argument of the schema"


def _forgotten(schema: Schema, function: PythonFunction) -> Argument | None:
    """The argument that has no parameter of its name, where that is one of several, and all others have."""
    names = {parameter.name for parameter in function.parameters}
    lacking = [argument for argument in schema.arguments if argument.name not in names]
    return lacking[0] if len(lacking) == 1 else None


def _default(value: object) -> str:
    return repr(list(value)) if isinstance(value, tuple) else repr(value)


def _harm(fault: PythonFault) -> str:
    if fault.always:
        return "every call raises TypeError"
    name = fault.argument.name if fault.argument is not None else ""
    if fault.kind is PythonFaultKind.NOT_PASSED:
        return f"a call that leaves `{name}` out, or gives its default, raises TypeError"
    return f"a call that gives `{name}` another value than its default raises TypeError"
