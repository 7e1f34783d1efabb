"""C++ sources in memory, read: for tests of the C++ reader."""

from __future__ import annotations

from pathlib import Path

from op_lint.cpp import CppOptions, CppReader
from op_lint.facts import Definition, FileFacts, Implementation, Signature

HEAD = "#include <torch/library.h>\nusing at::Tensor;\n"


def reader_of(files: dict[str, str | bytes], options: CppOptions | None = None) -> CppReader:
    """A reader of a project that has nothing on disk."""
    buffers = {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}
    return CppReader(Path("/nowhere"), sorted(buffers), options, buffers)


def read(text: str | bytes, path: str = "ops.cpp", **headers: str) -> FileFacts:
    """The facts of one source; a keyword `name` is the text of the header `name.h` beside it."""
    files: dict[str, str | bytes] = {f"{name}.h": content for name, content in headers.items()}
    return reader_of({path: text, **files}).read(path)


def signatures(facts: FileFacts) -> dict[str, Signature | None]:
    """The signature of the kernel of each operator, by the operator's name."""
    rows: list[Definition | Implementation] = [*facts.definitions, *facts.implementations]
    return {row.operator.name: row.kernel.signature for row in rows if row.kernel is not None}


def types(facts: FileFacts, operator: str) -> list[str] | None:
    """The types of an operator's kernel, the result first; None where they are not known."""
    signature = signatures(facts)[operator]
    if signature is None:
        return None
    return [str(signature.returns), *(str(parameter.type) for parameter in signature.parameters)]


def registered(facts: FileFacts) -> list[str]:
    """What a file registers, in order: `def ns::name`, `impl ns::name at Key`, `fallback Key`."""
    rows = [
        *((row.place, f"def {row.operator}") for row in facts.definitions),
        *((row.place, f"impl {row.operator} at {row.key}") for row in facts.implementations),
        *((row.place, f"fallback {row.key}") for row in facts.fallbacks),
    ]
    return [text for _, text in sorted(rows)]
