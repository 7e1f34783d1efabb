"""The JSON schema of the configuration, made from `Settings`, for editors that complete and check TOML."""

from __future__ import annotations

from typing import Any

import msgspec

from op_lint.config import Settings

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def configuration_schema() -> dict[str, Any]:
    """The schema of `op-lint.toml`, and of the table `tool.op-lint` in `pyproject.toml`."""
    made = msgspec.json.schema(Settings)
    definitions = {name: _of_toml(definition) for name, definition in made["$defs"].items()}
    settings = definitions.pop(Settings.__name__)
    return {
        "$schema": _DIALECT,
        **settings,
        "title": "op-lint",
        "description": "The configuration of op-lint, in op-lint.toml or in [tool.op-lint] of pyproject.toml.",
        "$defs": definitions,
    }


def schema_text() -> str:
    """The schema as it is published."""
    return msgspec.json.format(msgspec.json.encode(configuration_schema())).decode() + "\n"


def _of_toml(definition: dict[str, Any]) -> dict[str, Any]:
    """A table's definition in which nothing is null, which TOML does not have, and no key is allowed but the known."""
    properties = {name: _property(value) for name, value in definition["properties"].items()}
    return {**definition, "properties": properties, "additionalProperties": False}


def _property(value: dict[str, Any]) -> dict[str, Any]:
    kept = {name: each for name, each in value.items() if (name, each) != ("default", None)}
    choices = [choice for choice in kept.pop("anyOf", ()) if choice != {"type": "null"}]
    if len(choices) == 1:
        return {**kept, **choices[0]}
    return {**kept, "anyOf": choices} if choices else kept
