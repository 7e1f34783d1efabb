"""OPL101."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.facts import Definition, Language, Place, Text
from op_lint.findings import Edit, Finding, Fix, Severity
from op_lint.kernels import parsed, schema_text
from op_lint.program import Program
from op_lint.rule import Rule
from op_lint.schema.model import ErrorKind, SchemaError, Suggestion
from op_lint.schema.parser import parse_declaration
from op_lint_rules.schema._versions import is_too_new

_MOST_ERRORS = 20


class InvalidSchema(Rule):
    """A schema string that torch cannot parse.

    ## What it does
    Reads schema strings as torch does, and reports the first character that torch would stumble over, what was
    expected there, and, for types and defaults that are written as in C++ or Python, how the schema language spells
    them. What it can mend it reads on behind, so that all such mistakes of a string are said at once.

    ## Why it is bad
    Loading the library ends the process: torch throws from a static initialiser, which nothing can catch.

    ## Example
    ```cpp title="ops.cpp"
    #include <ATen/ATen.h>
    #include <torch/library.h>

    at::Tensor scale(const at::Tensor& x, int64_t n);

    TORCH_LIBRARY(demo, m) {
      m.def("scale(Tensor x, int64_t n) -> Tensor", &scale);
    }
    ```

    ## Use instead
    ```cpp title="ops.cpp"
    #include <ATen/ATen.h>
    #include <torch/library.h>

    at::Tensor scale(const at::Tensor& x, int64_t n);

    TORCH_LIBRARY(demo, m) {
      m.def("scale(Tensor x, int n) -> Tensor", &scale);
    }
    ```

    ## Fix
    Where it is plain what was meant: the right spelling.

    ## References
    - torch/csrc/jit/frontend/function_schema_parser.cpp
    - https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/README.md#func
    """

    code = "OPL101"
    name = "invalid-schema"
    severity = Severity.ERROR

    def check(self, program: Program) -> Iterator[Finding]:
        """Every mistake in every schema string."""
        seen: set[Place] = set()
        for definition in program.definitions:
            for text, error, shift in _errors(definition.fact):
                if is_too_new(text, error):
                    continue
                finding = self._invalid(definition.fact, error, shift)
                if finding.place not in seen:
                    seen.add(finding.place)
                    yield finding

    def _invalid(self, fact: Definition, error: SchemaError, shift: int) -> Finding:
        suggestion = error.suggestion
        start, end = error.span.start, max(error.span.end, error.span.start + 1)
        if suggestion is not None and suggestion.span.start <= start < suggestion.span.end:
            end = max(end, suggestion.span.end)  # `const Tensor&` is wrong as a whole
        place = schema_text(fact).place_of(start - shift, end - shift)
        hint = (
            f"; write `{suggestion.text}`"
            if suggestion and suggestion.text and not error.message.rstrip("?").endswith(f"`{suggestion.text}`")
            else ""
        )
        return self.finding(
            place,
            f"schema of `{fact.operator}`: {error.message}{hint}",
            notes=(_HARM[fact.language],),
            fix=_fix(schema_text(fact), suggestion, shift),
        )


_HARM = {
    Language.CPP: "loading this aborts: torch parses the schema in a static initialiser",
    Language.PYTHON: "this raises RuntimeError where it runs",
}


def _errors(fact: Definition) -> Iterator[tuple[str, SchemaError, int]]:
    """The mistakes of a schema string, each with the string that it is in and how far mending moved it."""
    if fact.schema is None:
        return
    text, shift = schema_text(fact).value, 0
    result = parsed(text)
    for _ in range(_MOST_ERRORS):
        if not isinstance(result, SchemaError):
            return
        yield text, result, shift
        suggestion = result.suggestion
        if suggestion is None or result.kind not in (ErrorKind.UNKNOWN_TYPE, ErrorKind.DEFAULT, ErrorKind.TYPE):
            return
        span = suggestion.span
        text = text[: span.start] + suggestion.text + text[span.end :]
        shift += len(suggestion.text) - (span.end - span.start)
        result = parse_declaration(text)


def _fix(text: Text, suggestion: Suggestion | None, shift: int) -> Fix | None:
    if suggestion is None:
        return None
    start, end = suggestion.span.start - shift, suggestion.span.end - shift
    place = text.place_of(start, end)
    if place.end - place.start != len(text.value[start:end].encode()):
        return None
    title = f"write `{suggestion.text}`" if suggestion.text else "remove it"
    return Fix(title, safe=True, edits=(Edit(place, suggestion.text),))
