"""OPL201."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.facts import Implementation, KernelKind, OperatorName, UnitKind
from op_lint.findings import Edit, Finding, Fix, Related, Severity
from op_lint.program import Program, local_name
from op_lint.rule import Rule
from op_lint_rules._words import an, is_misspelt, where
from op_lint_rules.registration._names import name_fault


class ImplWithoutDef(Rule):
    """A kernel for an operator that nothing defines.

    ## What it does
    Reports a kernel that is registered for an operator which neither these sources nor the installed torch define. It
    speaks only of namespaces that these sources (or torch) own, and of names that are nearly right; and only where no
    definition can be hidden from it: one whose name is computed at run time, or one in a file that could not be
    read, makes it silent (of the latter, not where the name is nearly right).

    ## Why it is bad
    Nothing ever says so. Registrations may come in any order, so torch keeps the kernel and waits for a definition:
    the library loads, and the call fails with "has no attribute" or finds another overload.

    ## Example
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    at::Tensor scale_rows_cpu(const at::Tensor& x);

    TORCH_LIBRARY(demo, m) {
      m.def("scale_rows(Tensor x) -> Tensor");
    }

    TORCH_LIBRARY_IMPL(demo, CPU, m) {
      m.impl("scale_row", &scale_rows_cpu);
    }
    ```

    ## Use instead
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    at::Tensor scale_rows_cpu(const at::Tensor& x);

    TORCH_LIBRARY(demo, m) {
      m.def("scale_rows(Tensor x) -> Tensor");
    }

    TORCH_LIBRARY_IMPL(demo, CPU, m) {
      m.impl("scale_rows", &scale_rows_cpu);
    }
    ```

    ## Fix
    Where one defined operator has nearly the same name: that name. It is not safe, since the kernel starts to run.

    ## References
    - The notes on `impl` in torch/library.h
    """

    code = "OPL201"
    name = "impl-without-def"
    severity = Severity.ERROR

    def check(self, program: Program) -> Iterator[Finding]:
        """Every implementation without a definition, in the namespaces in which that means something."""
        for namespace in sorted({operator.namespace for operator in program.operators}):
            missing = _undefined(program, namespace)
            owned = bool(missing) and _is_owned(program, namespace, len(missing))
            for operator in (each for each in missing if owned or _is_slip(program, each)):
                for registered in program.implementations_of(operator):
                    if name_fault(registered.fact, registered.unit) is not None:
                        continue  # OPL211 says so
                    # What torch lacks may be for a torch of another version.
                    if program.defined_in(namespace) or registered.certain:
                        yield self._missing(program, registered.fact)

    def _missing(self, program: Program, fact: Implementation) -> Finding:
        meant = program.nearest_operator(fact.operator)
        hint, related = _hint(program, fact, meant)
        return self.finding(
            fact.name_place,
            f"`{fact.operator}` has {an(fact.key)} kernel here, but nothing defines it{hint}",
            related=related,
            notes=(_harm(fact),),
            fix=_rename(fact, meant),
        )


def _undefined(program: Program, namespace: str) -> list[OperatorName]:
    """The operators of a namespace that have kernels and certainly no definition."""
    return [
        operator
        for operator in program.operators_of(namespace)
        if not program.definitions_of(operator)
        and not _is_installed(program, operator)
        and not program.may_be_defined(operator, by_strangers=not _is_slip(program, operator))
    ]


def _is_slip(program: Program, operator: OperatorName) -> bool:
    """Whether an operator whose name differs in the spelling of one word lacks just the kernels that this one has.

    Then this is a misspelt name, and not an operator of another package, of a file that could not be read, or one that
    some wrapper in Python defines.
    """
    meant = program.nearest_operator(operator)
    if (
        meant is None
        or meant.namespace != operator.namespace
        or not is_misspelt(local_name(operator), local_name(meant))
    ):
        return False
    return program.kernels_of(operator).keys().isdisjoint(program.kernels_of(meant))


def _is_installed(program: Program, operator: OperatorName) -> bool:
    installed = program.installed_operator(operator)
    return installed is not None and installed.schema is not None


def _is_owned(program: Program, namespace: str, missing: int) -> bool:
    """Whether the operators of a namespace are all known: it is torch's, or these sources own it.

    They do where they hold its `TORCH_LIBRARY`, or define most of the operators that they register kernels for; a
    few fragments of another package's namespace do not make them its owner, nor do many where its name is that of a
    package which they import.
    """
    defined = program.defined_in(namespace)
    if not defined:
        return bool(program.installed_in(namespace)) and not program.in_torch
    if any(program.role(unit) is UnitKind.LIBRARY for unit in program.units_of(namespace)):
        return True
    if program.is_of_an_import(namespace):
        return False
    return sum(1 for operator in defined if program.implementations_of(operator)) > missing


def _hint(program: Program, fact: Implementation, meant: OperatorName | None) -> tuple[str, tuple[Related, ...]]:
    """The end of the message, and the place of the operator that was meant."""
    if meant is None:
        return f": define it with `m.def` in the namespace `{fact.operator.namespace}`, or remove this line", ()
    name = local_name(meant) if meant.namespace == fact.operator.namespace else str(meant)
    definitions = program.definitions_of(meant)
    if not definitions:
        return f"; did you mean torch's `{meant}`?", ()
    place = definitions[0].fact.name_place
    return f"; did you mean `{name}` ({where(place, fact.name_place)})?", (
        Related(place, f"`{meant}` is defined here"),
    )


def _harm(fact: Implementation) -> str:
    if fact.kernel.kind is KernelKind.FAKE:
        return f'torch raises RuntimeError: "operator {fact.operator} does not exist"'
    return "torch never says so: the library loads, and this kernel is never called"


def _rename(fact: Implementation, meant: OperatorName | None) -> Fix | None:
    """None where the operator meant is of another namespace, or the name is not written in one piece."""
    if meant is None or meant.namespace != fact.operator.namespace:
        return None
    written, name = local_name(fact.operator), local_name(meant)
    start = fact.text.value.find(written)
    place = fact.text.place_of(start, start + len(written))
    if start < 0 or place.end - place.start != len(written):
        return None
    return Fix(f"register the kernel for `{name}`", safe=False, edits=(Edit(place, name),))
