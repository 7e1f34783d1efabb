"""OPL605."""

from __future__ import annotations

import re
from collections.abc import Iterator

from op_lint.facts import PythonFunction, SchemaInference
from op_lint.findings import Finding, Related, Severity
from op_lint.program import Program
from op_lint.rule import Rule
from op_lint_rules._words import where

_PREAMBLE = re.compile(r"^infer_schema\(func\): ")
_REST = re.compile(r"\.?\s+(?:Got func with signature|The valid types are)\b.*", re.DOTALL)
_INSTEAD = re.compile(r"\bFor example, (?P<type>\S+)\.")
"""The list that torch proposes for a tuple; it does so where it takes that list."""

_HELP = (
    (re.compile(r"^(?:typing\.)?(?:[Ll]ist|[Tt]uple|Sequence)$"), "say of what, `list[int]`"),
    (re.compile(r"^(?:numpy\.|np\.)"), "torch knows `int`, `float`, `bool`, `str`, `torch.Tensor` and lists of them"),
    (
        re.compile(r"^(?:typing\.)?(?:[Tt]uple\[.*\.\.\.|(?:[Ll]ist|Sequence)\[[^|]*)\]$"),
        "torch has lists of `int`, `float`, `bool`, numbers and tensors",
    ),
    (re.compile(r"^(?:typing\.)?[Tt]uple\[[^|]*\]$"), "pass its parts, each as an argument"),
    (re.compile(r"^(?:dict|set|typing\.Dict|typing\.Set)\b"), "pass a list, or several arguments"),
)


class UninferableAnnotation(Rule):
    """Annotations from which torch cannot infer a schema.

    ## What it does
    Reports the functions given to `custom_op`, `triton_op` and `infer_schema` for which torch raises: a parameter
    without annotation or of a type that schemas do not have, `*args`, a missing or unknown return type, a
    `mutates_args` that names no parameter. It infers the schema as torch 2.13 does.

    ## Why it is bad
    It raises ValueError when the decorator runs, which is when the module is imported.

    ## Example
    ```python title="ops.py"
    import torch


    @torch.library.custom_op("demo::pad", mutates_args=())
    def pad(x: torch.Tensor, widths: tuple[int, ...]) -> torch.Tensor:
        return torch.nn.functional.pad(x, widths)


    @pad.register_fake
    def _(x, widths):
        return x.new_empty([x.shape[0] + sum(widths)])
    ```

    ## Use instead
    ```python title="ops.py"
    import torch


    @torch.library.custom_op("demo::pad", mutates_args=())
    def pad(x: torch.Tensor, widths: list[int]) -> torch.Tensor:
        return torch.nn.functional.pad(x, widths)


    @pad.register_fake
    def _(x, widths):
        return x.new_empty([x.shape[0] + sum(widths)])
    ```

    ## References
    - torch/_library/infer_schema.py
    """

    code = "OPL605"
    name = "uninferable-annotation"
    severity = Severity.ERROR

    def check(self, program: Program) -> Iterator[Finding]:
        """Every inference that raises where nothing expects it to."""
        for file in program.files:
            if file.python is None:
                continue
            functions = {function.place: function for function in file.python.functions}
            for inference in file.python.inferences:
                if inference.error is not None and not inference.caught:
                    yield self._error(inference, functions.get(inference.function))

    def _error(self, inference: SchemaInference, function: PythonFunction | None) -> Finding:
        place = inference.error_place or inference.place
        error = inference.error or ""
        related = (
            () if place.line == inference.place.line else (Related(inference.place, "the schema is inferred for this"),)
        )
        name = f"`{function.name}`" if function is not None and function.name != "<lambda>" else "this function"
        reason = _reason(error) + _cure(inference, function)
        return self.finding(
            place,
            f"torch cannot infer a schema from {name}{_for(inference, place.line)}: {reason}",
            related=related,
            notes=tuple(line for line in (_first_line(error),) if line),
        )


def _for(inference: SchemaInference, line: int) -> str:
    return "" if inference.place.line == line else f" ({where(inference.place, inference.place)})"


def _reason(error: str) -> str:
    """What torch says, as part of a sentence."""
    text = _REST.sub("", _PREAMBLE.sub("", error)).split("\n")[0].rstrip(". ")
    text = text.split(". ")[0]
    return text[:1].lower() + text[1:]


def _cure(inference: SchemaInference, function: PythonFunction | None) -> str:
    """What to write instead of an annotation."""
    if function is None or inference.error_place is None:
        return ""
    written = next(
        (each.annotation for each in function.parameters if each.annotation_place == inference.error_place), None
    )
    if written is None:
        return ""
    instead = _INSTEAD.search(inference.error or "")
    if instead:
        return f"; write `{instead['type']}`"
    return next((f"; {help_}" for pattern, help_ in _HELP if pattern.match(written)), "")


def _first_line(error: str) -> str:
    return f"torch raises: {_REST.sub('', error).splitlines()[0]}" if error else ""
