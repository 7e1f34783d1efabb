"""Projects of any size, made up: as real ones are laid out, and with a known number of everything.

A project is a number of components, each a folder of its own with FILES_EACH registration files. Either each file
defines some operators and has their kernels for CPU and Meta, or (`apart`) the files are about the same operators: one
defines them, and the others have the kernels for CPU, CUDA, Meta and Autograd, which a header declares. One CMake
target builds everything, and a Python module for each component calls a few of its operators.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import msgspec

FILES_EACH = 5
"""Registration files of a component."""

CALLS_EACH = 5
"""Operators of a component that Python calls."""

_APART = {"cpu.cpp": "CPU", "cuda.cu": "CUDA", "meta.cpp": "Meta", "autograd.cpp": "Autograd"}
"""The key of the kernels in each of the files beside `ops.cpp`."""

_ARGUMENTS = (
    ("Tensor {}", "const at::Tensor& {}"),
    ("Tensor? {}", "const std::optional<at::Tensor>& {}"),
    ("int {}", "int64_t {}"),
    ("SymInt {}", "c10::SymInt {}"),
    ("float {}", "double {}"),
    ("bool {}", "bool {}"),
    ("int[] {}", "at::IntArrayRef {}"),
    ("Tensor[] {}", "at::TensorList {}"),
    ("str {}", "c10::string_view {}"),
)
"""An argument in the schema language and in C++."""

_RETURNS = (("Tensor", "at::Tensor"), ("(Tensor, Tensor)", "std::tuple<at::Tensor, at::Tensor>"))


class Operator(msgspec.Struct, frozen=True):
    """A generated operator: its name, schema without it, and the signature of its kernels around their name."""

    name: str
    schema: str
    returns: str
    parameters: str

    def kernel(self, key: str) -> str:
        """The name of its kernel at a key."""
        return f"{self.name}_{key.lower()}"


def write_project(
    folder: Path, *, files: int, operators: int, apart: bool = False, namespaces: int = 1, seed: int = 1
) -> None:
    """Write a project with that many registration files and operators into `folder`, the same for the same arguments.

    The components' operators are in `namespaces` namespaces in turn. `files` is a multiple of FILES_EACH.
    """
    components = files // FILES_EACH
    each, rest = divmod(operators, components)
    _write(folder / "pyproject.toml", '[project]\nname = "generated"\nversion = "1"\n')
    _write(folder / "CMakeLists.txt", _cmake(components, apart=apart))
    for number in range(components):
        draw = random.Random(f"{seed} {number}")
        made = [_operator(draw, f"op{number:04}_{index:03}") for index in range(each + (number < rest))]
        csrc = folder / "csrc" / f"c{number:04}"
        namespace = f"gen{number % namespaces}"
        (_write_apart if apart else _write_together)(csrc, namespace, made)
        _write(folder / "python" / f"c{number:04}.py", "".join(_python(namespace, made[:CALLS_EACH])))


def _names(*, apart: bool) -> list[str]:
    return ["ops.cpp", *_APART] if apart else [f"ops{index}.cpp" for index in range(FILES_EACH)]


def _operator(draw: random.Random, name: str) -> Operator:
    arguments = [_ARGUMENTS[0], *(draw.choice(_ARGUMENTS) for _ in range(draw.randint(0, 6)))]
    schema, cpp = zip(
        *((one.format(f"a{index}"), other.format(f"a{index}")) for index, (one, other) in enumerate(arguments)),
        strict=True,
    )
    returns, type_ = draw.choice(_RETURNS)
    return Operator(name, f"({', '.join(schema)}) -> {returns}", type_, ", ".join(cpp))


def _cmake(components: int, *, apart: bool) -> str:
    listed = "".join(f"  csrc/c{number:04}/{name}\n" for number in range(components) for name in _names(apart=apart))
    return (
        "cmake_minimum_required(VERSION 3.24)\nproject(generated LANGUAGES CXX)\nfind_package(Torch REQUIRED)\n"
        f"add_library(generated MODULE\n{listed})\ntarget_link_libraries(generated PRIVATE torch)\n"
    )


def _write_together(folder: Path, namespace: str, operators: list[Operator]) -> None:
    for index, name in enumerate(_names(apart=False)):
        own = operators[index::FILES_EACH]
        parts = (_definitions(namespace, own), *(_kernels(namespace, key, own) for key in ("CPU", "Meta")))
        _write(folder / name, _INCLUDES + "".join(text for part in parts for text in part))


def _write_apart(folder: Path, namespace: str, operators: list[Operator]) -> None:
    includes = f'{_INCLUDES}#include "kernels.h"\n'
    _write(folder / "kernels.h", "".join(_header(operators)))
    _write(folder / "ops.cpp", includes + "".join(_definitions(namespace, operators)))
    for name, key in _APART.items():
        _write(folder / name, includes + "".join(_kernels(namespace, key, operators)))


_INCLUDES = "#include <ATen/ATen.h>\n#include <torch/library.h>\n"


def _header(operators: list[Operator]) -> Iterator[str]:
    yield "#pragma once\n#include <ATen/ATen.h>\n\nnamespace generated {\n"
    for operator in operators:
        for key in _APART.values():
            yield f"{operator.returns} {operator.kernel(key)}({operator.parameters});\n"
    yield "}  // namespace generated\n"


def _definitions(namespace: str, operators: list[Operator]) -> Iterator[str]:
    yield f"\nTORCH_LIBRARY_FRAGMENT({namespace}, m) {{\n"
    for operator in operators:
        yield f'  m.def("{operator.name}{operator.schema}");\n'
    yield "}\n"


def _kernels(namespace: str, key: str, operators: list[Operator]) -> Iterator[str]:
    yield "\nnamespace generated {\n\n"
    for operator in operators:
        yield f"{operator.returns} {operator.kernel(key)}({operator.parameters}) {{\n"
        yield "  auto out = at::empty_like(a0);\n"
        yield "  return out;\n" if operator.returns == "at::Tensor" else "  return {out, at::empty_like(a0)};\n"
        yield "}\n\n"
    yield f"TORCH_LIBRARY_IMPL({namespace}, {key}, m) {{\n"
    for operator in operators:
        yield f'  m.impl("{operator.name}", &{operator.kernel(key)});\n'
    yield "}\n\n}  // namespace generated\n"


def _python(namespace: str, operators: list[Operator]) -> Iterator[str]:
    yield "import torch\n\n\n"
    for operator in operators:
        yield f"def {operator.name}(*arguments):\n    return torch.ops.{namespace}.{operator.name}(*arguments)\n\n\n"


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
