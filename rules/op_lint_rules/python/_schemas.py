"""The schemas of operators that Python names."""

from __future__ import annotations

from op_lint.facts import OperatorName
from op_lint.kernels import parsed, schema_text
from op_lint.program import Program
from op_lint.schema.model import Schema


def schemas_of(program: Program, operator: OperatorName) -> tuple[Schema, ...]:
    """Every schema that an operator may have; none where one of them is not known.

    Sources may define it several times, for several builds; the installed torch's is that of one that they do not.
    """
    definitions = program.definitions_of(operator)
    if definitions:
        found = [parsed(schema_text(definition.fact).value) for definition in definitions]
    else:
        installed = program.installed_operator(operator)
        found = [parsed(installed.schema)] if installed is not None and installed.schema is not None else []
    schemas = tuple(schema for schema in found if isinstance(schema, Schema))
    return schemas if len(schemas) == len(found) else ()
