"""OPL112."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.facts import Definition, Kernel, KernelKind, Language
from op_lint.findings import Edit, Finding, Fix, Severity
from op_lint.kernels import parsed, schema_text
from op_lint.program import Program
from op_lint.rule import Rule
from op_lint.schema.infer import infer_schema
from op_lint.schema.model import Argument, Name, Schema
from op_lint.schema.printer import format_schema


class ImplicitSchema(Rule):
    """An operator whose schema is left to be inferred from its kernel.

    ## What it does
    Reports `m.def("name", &kernel)`, and shows the schema that torch infers.

    ## Why it is bad
    The inferred schema names its arguments `_0`, `_1`, ..., so that they cannot be passed by keyword; it has no
    defaults; and it says nothing about arguments that are written to, so that torch has to assume the worst.

    ## Example
    ```cpp title="ops.cpp"
    #include <ATen/ATen.h>
    #include <torch/library.h>

    at::Tensor scale(const at::Tensor& x, double s) {
      return x * s;
    }

    TORCH_LIBRARY(demo, m) {
      m.def("scale", &scale);
    }
    ```

    ## Use instead
    ```cpp title="ops.cpp"
    #include <ATen/ATen.h>
    #include <torch/library.h>

    at::Tensor scale(const at::Tensor& x, double s) {
      return x * s;
    }

    TORCH_LIBRARY(demo, m) {
      m.def("scale(Tensor x, float s) -> Tensor", &scale);
    }
    ```

    ## Fix
    The schema, with the kernel's parameter names as far as a schema can have them (`in` is none). Not safe: what the
    kernel writes to has to be annotated by hand.

    ## References
    - aten/src/ATen/core/op_registration/infer_schema.h
    """

    code = "OPL112"
    name = "implicit-schema"
    severity = Severity.HINT
    default = False

    def check(self, program: Program) -> Iterator[Finding]:
        """Every definition by name alone whose kernel's types are all known."""
        for definition in program.definitions:
            fact, kernel = definition.fact, definition.fact.kernel
            if fact.language is not Language.CPP or kernel is None or kernel.kind is not KernelKind.KERNEL:
                continue
            if program.installed_operator(fact.operator) is not None:
                continue  # its schema is there already: OPL212
            name = parsed(schema_text(fact).value)
            schema = _meant(kernel, name) if isinstance(name, Name) else None
            if schema is not None:
                yield self._implicit(fact, format_schema(schema))

    def _implicit(self, fact: Definition, schema: str) -> Finding:
        place = schema_text(fact).place_of(0, len(schema_text(fact).value))
        is_plain = place.end - place.start == len(schema_text(fact).value.encode())
        return self.finding(
            fact.name_place,
            f"the schema of `{fact.operator}` is inferred from its kernel, so its arguments have no names: "
            f"write `{schema}`",
            fix=Fix("write the schema", safe=False, edits=(Edit(place, schema),)) if is_plain else None,
        )


def _meant(kernel: Kernel, name: Name) -> Schema | None:
    """The inferred schema with the kernel's own parameter names, as far as it names them."""
    signature = kernel.signature
    inferred = infer_schema(signature, name) if signature is not None else None
    if inferred is None or signature is None:
        return None
    names = [parameter.name for parameter in signature.parameters][-len(inferred.arguments) or None :]
    arguments = tuple(
        Argument(own if _is_name(own) else argument.name, argument.type)
        for own, argument in zip(names, inferred.arguments, strict=False)
    )
    returns = tuple(Argument("", returned.type) for returned in inferred.returns)
    return Schema(name, arguments, returns)


def _is_name(text: str) -> bool:
    """Whether a schema can have an argument of this name: unlike in C++, it is none that is a word of Python's."""
    return isinstance(parsed(f"any(Tensor {text}) -> ()"), Schema) and bool(text)
