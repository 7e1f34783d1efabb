"""The operator schema language: parse, print, compare, infer; and whether a kernel fits a schema.

- `parse_schema`, `parse_declaration`, `parse_name`: a string to a value, or to a `SchemaError`; they never raise.
- `format_schema`: the value as torch prints it.
- `same_schema`, `differences`: two schemas.
- `infer`, `infer_schema`: what the dispatcher makes of a kernel's C++ signature.
- `compare`: a kernel against a schema, `compare_stable`: a `TORCH_BOX` kernel against one.
- `parameter_refusal`, `return_refusal`: types that the dispatcher does not take.

Nothing here reads a file or knows torch; what it says about torch is what torch 2.13 does, and tests hold it to that.
"""

from op_lint.schema.compare import Aspect, Difference, differences, same_schema
from op_lint.schema.infer import Inference, Inferred, infer, infer_schema
from op_lint.schema.match import (
    Cause,
    Comparison,
    Mismatch,
    NotPortable,
    Part,
    Refused,
    Side,
    Verdict,
    compare,
    signatures_agree,
)
from op_lint.schema.model import (
    Alias,
    Argument,
    Default,
    Device,
    ErrorKind,
    Kind,
    Name,
    Schema,
    SchemaError,
    Span,
    Suggestion,
    Type,
)
from op_lint.schema.parser import parse_declaration, parse_name, parse_schema
from op_lint.schema.printer import format_argument, format_schema, format_type
from op_lint.schema.refusals import Refusal, Stage, parameter_refusal, return_refusal
from op_lint.schema.rewrite import apply
from op_lint.schema.stable import StableComparison, StableFault, StableFaultKind, compare_stable

__all__ = [
    "Alias",
    "Argument",
    "Aspect",
    "Cause",
    "Comparison",
    "Default",
    "Device",
    "Difference",
    "ErrorKind",
    "Inference",
    "Inferred",
    "Kind",
    "Mismatch",
    "Name",
    "NotPortable",
    "Part",
    "Refusal",
    "Refused",
    "Schema",
    "SchemaError",
    "Side",
    "Span",
    "StableComparison",
    "StableFault",
    "StableFaultKind",
    "Stage",
    "Suggestion",
    "Type",
    "Verdict",
    "apply",
    "compare",
    "compare_stable",
    "differences",
    "format_argument",
    "format_schema",
    "format_type",
    "infer",
    "infer_schema",
    "parameter_refusal",
    "parse_declaration",
    "parse_name",
    "parse_schema",
    "return_refusal",
    "same_schema",
    "signatures_agree",
]
