"""OPL304."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.facts import Definition, KernelKind, Language, OperatorName
from op_lint.findings import Finding, Severity
from op_lint.kernels import parsed, schema_text
from op_lint.program import Program, Registered, local_name
from op_lint.rule import Rule
from op_lint.schema import SchemaError
from op_lint_rules._words import when


class NoKernel(Rule):
    """An operator that is defined and has no kernel anywhere.

    ## What it does
    Reports definitions for which neither the C++ nor the Python sources register a kernel, at any key and under any
    condition; a fallthrough is none. Where a registration could not be read, it is silent: that may be the one.

    ## Why it is bad
    The library loads, and every call raises NotImplementedError.

    ## Example
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    TORCH_LIBRARY(demo, m) {
      m.def("scale(Tensor x, float s) -> Tensor");
    }
    ```

    ## Use instead
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    at::Tensor scale_cpu(const at::Tensor& x, double s);
    at::Tensor scale_meta(const at::Tensor& x, double s);

    TORCH_LIBRARY(demo, m) {
      m.def("scale(Tensor x, float s) -> Tensor");
    }

    TORCH_LIBRARY_IMPL(demo, CPU, m) {
      m.impl("scale", &scale_cpu);
    }

    TORCH_LIBRARY_IMPL(demo, Meta, m) {
      m.impl("scale", &scale_meta);
    }
    ```

    ## References
    - `OperatorEntry::reportError` in aten/src/ATen/core/dispatch/OperatorEntry.cpp
    """

    code = "OPL304"
    name = "no-kernel"
    severity = Severity.WARNING

    def check(self, program: Program) -> Iterator[Finding]:
        """The first definition of every operator without a kernel."""
        for operator in program.operators:
            definitions = program.definitions_of(operator)
            kernels = _has_kernel(program, operator) or program.python_kernels_of(operator)
            if not definitions or kernels or program.may_be_implemented(operator):
                continue
            if program.installed_operator(operator) is None and all(map(_is_defined, definitions)):
                yield self._none(definitions[0])

    def _none(self, definition: Registered[Definition]) -> Finding:
        fact = definition.fact
        name = local_name(fact.operator)
        python = fact.language is Language.PYTHON
        block = f"TORCH_LIBRARY_IMPL({fact.operator.namespace}, CPU, m)"
        cure = (
            f'torch.library.impl("{fact.operator}", "cpu", kernel)'
            if python
            else f'{block} {{ m.impl("{name}", &kernel); }}'
        )
        return self.finding(
            fact.name_place,
            f"`{fact.operator}` has no kernel, so every call raises NotImplementedError: register one, "
            f"`{cure}`, or remove the definition{when(definition.condition)}",
        )


def _has_kernel(program: Program, operator: OperatorName) -> bool:
    """Whether anything runs at some key; a fallthrough only says that nothing does."""
    kernels = (each.fact.kernel for found in program.kernels_of(operator).values() for each in found)
    return any(kernel is None or kernel.kind is not KernelKind.FALLTHROUGH for kernel in kernels)


def _is_defined(definition: Registered[Definition]) -> bool:
    """Whether a definition comes to pass; one that torch refuses has other findings."""
    fact, namespace = definition.fact, definition.unit.namespace
    refused = isinstance(parsed(schema_text(fact).value), SchemaError)
    return not refused and (not namespace or fact.explicit_namespace in (None, namespace))
