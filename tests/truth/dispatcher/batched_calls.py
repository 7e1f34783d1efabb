"""Child process: calls operators without a batching rule under vmap. Standard input: their schemas, without a name.

Standard output, for each: the first line of the error, null where the call returned.
"""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

import torch

NAMESPACE = "op_lint_batched"


def result(kind: str, given: list[Any]) -> Any:
    """What a kernel returns where `kind` is the schema's type of it."""
    if "," in kind:
        return tuple(result(each.strip(), given) for each in kind.strip("()").split(","))
    if kind == "()":
        return None
    if kind.endswith("[]"):
        return [1] if kind == "int[]" else [given[0].clone()]
    if "(" in kind:
        return given[0]
    return given[0].clone() if "Tensor" in kind else 1


def ending(library: Any, name: str, schema: str) -> str | None:
    """How a call of the operator under vmap ends."""
    library.define(name + schema)
    operator = getattr(getattr(torch.ops, NAMESPACE), name).default

    def kernel(*arguments: Any, **keywords: Any) -> Any:
        values = [*keywords.values(), *arguments]
        flat = [each for value in values for each in (value if isinstance(value, list) else [value])]
        return result(schema.partition("->")[2].strip(), [each for each in flat if isinstance(each, torch.Tensor)])

    def call(x: Any) -> Any:
        arguments, keywords = [], {}
        for argument in operator._schema.arguments:
            kind = str(argument.type)
            value = [x.clone()] if "List" in kind and "Tensor" in kind else x.clone() if "Tensor" in kind else [1]
            if argument.kwarg_only:
                keywords[argument.name] = value
            else:
                arguments.append(value)
        operator(*arguments, **keywords)
        return x

    library.impl(name, kernel, "CPU")
    try:
        torch.vmap(call)(torch.ones(1, 1))
    except Exception as error:  # whatever torch raises is the answer
        return str(error).splitlines()[0]
    return None


def main() -> None:
    """Answer the request on stdin."""
    warnings.simplefilter("ignore")
    library = torch.library.Library(NAMESPACE, "DEF")
    schemas = json.load(sys.stdin)
    print(json.dumps([ending(library, f"f{number}", schema) for number, schema in enumerate(schemas)]))


main()
