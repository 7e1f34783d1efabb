"""Short ways to read Python text in tests and to say what was read."""

from __future__ import annotations

from textwrap import dedent

from op_lint.facts import Definition, FileFacts, Implementation, OperatorUse, Place, PythonFacts
from op_lint.python import PythonOptions, read_python, resolve


def read(text: str, path: str = "ops.py", options: PythonOptions | None = None) -> FileFacts:
    """The facts of one file that imports torch first."""
    return resolve([read_python(path, ("import torch\n" + dedent(text)).encode(), options)], options)[0]


def project(files: dict[str, str], options: PythonOptions | None = None) -> dict[str, FileFacts]:
    """The facts of several files, by path."""
    facts = [read_python(path, dedent(text).encode(), options) for path, text in files.items()]
    return {found.path: found for found in resolve(facts, options)}


def python(facts: FileFacts) -> PythonFacts:
    """What only Python files say."""
    assert facts.python is not None
    return facts.python


def defined(facts: FileFacts) -> list[str]:
    """The schemas of all definitions, with namespace."""
    return [schema(fact) for fact in facts.definitions]


def schema(fact: Definition) -> str:
    """The schema of a definition, with its namespace; `?` where it is not known."""
    return f"{fact.operator.namespace}::{fact.schema.value if fact.schema else '?'}"


def kernels(facts: FileFacts) -> list[str]:
    """All kernels as `namespace::op KEY kind function`."""
    return [kernel(fact) for fact in facts.implementations]


def kernel(fact: Implementation) -> str:
    """One kernel."""
    return f"{fact.operator} {fact.key} {fact.kernel.kind.value} {fact.kernel.name}"


def uses(facts: FileFacts) -> list[str]:
    """All uses as `namespace::op kind`; a use that names no overload ends with `*`."""
    return [use(found) for found in python(facts).uses]


def use(found: OperatorUse) -> str:
    """One use."""
    return f"{found.operator}{'*' if found.packet else ''} {found.kind.value}"


def unresolved(facts: FileFacts) -> list[str]:
    """What is unresolved, as `what: reason`."""
    return [f"{found.what}: {found.reason}" for found in facts.unresolved]


def at(data: bytes, place: Place) -> str:
    """The bytes at a place."""
    return data[place.start : place.end].decode("utf-8", "surrogateescape")
