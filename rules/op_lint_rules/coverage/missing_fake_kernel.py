"""OPL302."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from op_lint.condition import ALWAYS
from op_lint.facts import (
    Definition,
    Implementation,
    Kernel,
    KernelKind,
    Language,
    OperatorName,
    Place,
    RunTime,
    Signature,
    UnitKind,
)
from op_lint.findings import Edit, Finding, Fix, Related, Severity
from op_lint.kernels import fits, parsed, schema_text
from op_lint.program import Program, Registered, local_name
from op_lint.rule import Rule
from op_lint.schema.fakes import has_tensor, needs_fake
from op_lint.schema.model import Argument, Schema
from op_lint_rules._words import when, where
from op_lint_rules.coverage._kernels import COMPOSITE, backend_keys

_META = "Meta"
_SELECT = "BackendSelect"

_HEADERS = (".h", ".hh", ".hpp", ".cuh", ".inc")

_OUT = re.compile(r"(?:^|_)out$")
"""Overloads that write to what the caller gives: torch.compile calls the others."""


class MissingFakeKernel(Rule):
    """An operator that can be called and cannot be compiled: it has no fake kernel.

    ## What it does
    Reports operators with a kernel of some backend, of which neither the C++ nor the Python sources say what they
    return: no Meta kernel, no `register_fake`, no composite kernel. Operators that need none are left alone: those that
    write to arguments and return nothing, those without tensors, those of which autograd or another key above the
    backends makes something else. Where a registration could not be read, it is silent: that may be the one.

    ## Why it is bad
    torch.compile and torch.export run a model with fake tensors first, which such an operator cannot do. torch.export
    fails; torch.compile splits the graph there, without a word, and fails with `fullgraph=True`. Eager mode works,
    which is why it is found late.

    ## Example
    ```python title="ops.py"
    import torch


    @torch.library.custom_op("demo::scale", mutates_args=())
    def scale(x: torch.Tensor, s: float) -> torch.Tensor:
        return x * s
    ```

    ## Use instead
    ```python title="ops.py"
    import torch


    @torch.library.custom_op("demo::scale", mutates_args=())
    def scale(x: torch.Tensor, s: float) -> torch.Tensor:
        return x * s


    @torch.library.register_fake("demo::scale")
    def _(x, s):
        return torch.empty_like(x)
    ```

    ## Fix
    A stub, in the language of the definition, that has to be filled in: until then it raises an error that says so.

    ## References
    - `torch.library.register_fake` in torch/library.py
    - `FakeTensorMode` in torch/_subclasses/fake_tensor.py
    """

    code = "OPL302"
    name = "missing-fake-kernel"
    severity = Severity.WARNING

    def check(self, program: Program) -> Iterator[Finding]:
        """The first definition of every operator that lacks a fake."""
        if program.in_torch or program.fallbacks_at(_META):
            return
        for operator in program.operators:
            if _lacks_fake(program, operator):
                yield self._missing(program, operator, program.definitions_of(operator)[0])

    def _missing(self, program: Program, operator: OperatorName, definition: Registered[Definition]) -> Finding:
        place = definition.fact.name_place
        sibling = _sibling(program, operator)
        related = () if sibling is None else (Related(sibling[1], f"`{sibling[0]}` has one"),)
        kernels = ", ".join(sorted(backend_keys(program, operator)))
        return self.finding(
            place,
            f"`{operator}` has no fake kernel, so torch.export fails on it and torch.compile breaks the graph: "
            f'register one, `@torch.library.register_fake("{operator}")`{when(definition.condition)}',
            related=related,
            notes=(
                f"it has a kernel for {kernels} ({where(_first_kernel(program, operator), place)})"
                if kernels
                else "what `custom_op` wraps is not run with fake tensors",
            ),
            fix=_stub(program, operator, definition),
        )


def _lacks_fake(program: Program, operator: OperatorName) -> bool:
    definitions = program.definitions_of(operator)
    if not definitions or program.may_have_fake(operator) or program.installed_operator(operator) is not None:
        return False
    kernels = program.kernels_of(operator)
    in_python = program.python_kernels_of(operator).keys()
    if _META in kernels or not in_python.isdisjoint({_META, *COMPOSITE}):
        return False  # torch.compile turns the dispatcher in Python on, which takes a kernel of `py_impl`
    if not COMPOSITE.isdisjoint(_run_with_fakes(program, operator)):
        return False
    if not backend_keys(program, operator) and not _is_custom(definitions[0]):
        return False
    if any(_is_fake(each.fact.kernel) for found in kernels.values() for each in found):
        return False
    return all(_needs_fake(program, definition, kernels) for definition in definitions)


def _run_with_fakes(program: Program, operator: OperatorName) -> frozenset[str]:
    """The keys with kernels, without those of `custom_op`, which its own Meta kernel hides."""
    return frozenset(
        key for key, found in program.kernels_of(operator).items() for each in found if not _is_custom(each)
    )


def _is_custom(registered: Registered[Definition] | Registered[Implementation]) -> bool:
    return registered.unit.macro == _CUSTOM_OP


_CUSTOM_OP = "torch.library.custom_op"


def _is_fake(kernel: Kernel | None) -> bool:
    return kernel is not None and kernel.kind is KernelKind.FAKE


def _needs_fake(program: Program, definition: Registered[Definition], kernels: Collection[str]) -> bool:
    fact = definition.fact
    schema = parsed(schema_text(fact).value)
    if not isinstance(schema, Schema) or not needs_fake(schema, fact.tags) or definition.scope is not None:
        return False
    if not any(has_tensor(argument.type) for argument in schema.arguments) and _SELECT not in kernels:
        return False  # nothing to dispatch on: OPL305
    if definition.unit.namespace_macro is not None or _OUT.search(fact.operator.overload):
        return False
    named = fact.python_module  # its fakes are there, and where that cannot be read nobody knows
    return named is None or any(named == facts.python.module for facts in program.files if facts.python)


def _sibling(program: Program, operator: OperatorName) -> tuple[OperatorName, Place] | None:
    """Another overload that has a fake."""
    for other in program.overloads(operator.namespace, operator.name):
        found = program.kernels_of(other).get(_META)
        if found:
            return other, found[0].place
    return None


def _first_kernel(program: Program, operator: OperatorName) -> Place:
    kernels = program.kernels_of(operator)
    return kernels[min(backend_keys(program, operator) or kernels)][0].place


# The stub


def _stub(program: Program, operator: OperatorName, definition: Registered[Definition]) -> Fix | None:
    if definition.condition != ALWAYS or definition.fact.runtime_guard is not None:
        return None
    python = definition.fact.language is Language.PYTHON
    edit = _python_stub(program, operator, definition) if python else _cpp_stub(program, operator, definition)
    return None if edit is None else Fix("add a stub of the fake kernel", safe=False, edits=(edit,))


def _python_stub(program: Program, operator: OperatorName, definition: Registered[Definition]) -> Edit | None:
    """A function behind the one that is the operator; None where it is not one of the module itself."""
    fact = definition.fact
    schema = parsed(schema_text(fact).value)
    facts = program.python_of(fact.place.path)
    own = [
        function
        for each in program.implementations_of(operator)
        if each.place == fact.place and facts is not None
        for function in facts.functions
        if function.place == each.fact.kernel.defined and function.place.path == fact.place.path
    ]
    if not isinstance(schema, Schema) or facts is None or not own or not own[0].name.isidentifier():
        return None
    torch = any(each.bound == "torch" and each.name is None and each.run is RunTime.IMPORT for each in facts.imports)
    if not torch or not all(argument.name.isidentifier() for argument in schema.arguments):
        return None
    end = own[0].place.end
    text = (
        f'\n\n\n@torch.library.register_fake("{operator}")\n'
        f"def _({_python_parameters(schema)}):\n"
        f'    raise NotImplementedError("return empty tensors of the shapes that {operator} returns")'
    )
    return Edit(Place(fact.place.path, own[0].place.line, end, end), text)


def _python_parameters(schema: Schema) -> str:
    parts: list[str] = []
    for argument in schema.arguments:
        if argument.keyword_only and "*" not in parts:
            parts.append("*")
        parts.append(argument.name if argument.default is None else f"{argument.name}={_python_default(argument)}")
    return ", ".join(parts)


def _python_default(argument: Argument) -> str:
    value = argument.default.value if argument.default is not None else None
    if isinstance(value, tuple):
        return repr(list(value))
    return repr(value) if isinstance(value, bool | int | float | str | None) else "None"


def _cpp_stub(program: Program, operator: OperatorName, definition: Registered[Definition]) -> Edit | None:
    """A kernel and a block behind the block that defines the operator; None where no kernel shows the C++ types."""
    unit, body = definition.unit, definition.unit.body
    plain = unit.kind in (UnitKind.LIBRARY, UnitKind.FRAGMENT) and unit.namespace_macro is None and not unit.stable
    signature = _signature(program, operator, schema_text(definition.fact).value)
    is_source = body is not None and body.path == definition.file and not body.path.endswith(_HEADERS)
    if not plain or body is None or not is_source or unit.spelled is not None or signature is None:
        return None
    function = re.sub(r"\W", "_", local_name(operator)) + "_meta"
    parameters = ", ".join(f"{each.type} {each.name}".strip() for each in signature.parameters)
    text = (
        f"\n\nstatic {signature.returns} {function}({parameters}) {{\n"
        f'  TORCH_CHECK_NOT_IMPLEMENTED(false, "{operator}: return empty tensors of the right shapes");\n}}\n\n'
        f"TORCH_LIBRARY_IMPL({unit.namespace}, Meta, m) {{\n"
        f'  m.impl("{local_name(operator)}", &{function});\n}}'
    )
    return Edit(Place(body.path, body.line, body.end, body.end), text)


def _signature(program: Program, operator: OperatorName, written: str) -> Signature | None:
    """The C++ types of a kernel that fits the schema; None where some kernel does not, or has other types."""
    kernels = [each.fact.kernel for found in program.kernels_of(operator).values() for each in found]
    signatures = [
        kernel.signature for kernel in kernels if kernel is not None and not (kernel.wrapped or kernel.stable)
    ]
    known = [signature for signature in signatures if signature is not None]
    if len(known) != len(kernels) or not all(fits(each, written) for each in known):
        return None
    return known[0] if len(known) == 1 or len({str(each) for each in known}) == 1 else None
