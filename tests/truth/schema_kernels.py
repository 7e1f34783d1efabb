"""Kernels that torch itself is asked about: which schema it infers from each, and which schemas it lets each have.

The kernels are made into one shared library, whose functions register one of them for a schema in a `try` block and
give back the error text. It runs in a process of its own.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import msgspec

from op_lint.cpp import CppReader
from op_lint.facts import Signature
from tests.truth.registration_sources import include_flags, torch_folder

DATA = Path(__file__).parent

_HEAD = """\
#include <ATen/ATen.h>
#include <torch/custom_class.h>
#include <torch/library.h>

namespace kernels {
struct Registered : torch::CustomClassHolder {};
enum class Choice : int64_t { A };
struct Plain { int a; };
}
"""

_ASK = """\
static auto registered_class = torch::class_<kernels::Registered>("kernels", "Registered");

template <class F> static std::string inferred() {
  return c10::toString(*c10::detail::inferFunctionSchemaFromFunctor<F*>());
}

static std::string answer;
static int asked = 0;

template <class F> static const char* guarded(F ask) {
  try {
    answer = ask();
  } catch (const std::exception& error) {
    answer = std::string("error: ") + error.what();
  }
  return answer.c_str();
}
"""

_FUNCTIONS = """\
extern "C" const char* infer(int kernel) { return guarded([&] { return inferers[kernel](); }); }

extern "C" const char* fit(int kernel, const char* schema) {
  return guarded([&] {
    torch::Library library(torch::Library::DEF, "ask" + std::to_string(asked++), std::nullopt, __FILE__, __LINE__);
    library.def(schema);
    registrars[kernel](library, "f");
    return std::string();
  });
}
"""

_CHILD = """\
import ctypes, json, sys
import torch
library = ctypes.CDLL(sys.argv[1])
library.infer.restype = library.fit.restype = ctypes.c_char_p
asked = json.load(sys.stdin)
json.dump({
    "inferred": [library.infer(kernel).decode() for kernel in asked["infer"]],
    "fits": [library.fit(kernel, schema.encode()).decode() for kernel, schema in asked["fit"]],
}, sys.stdout)
"""


class CppKernel(msgspec.Struct, frozen=True):
    """A kernel as C++ text: what it returns, its parameters, each with a name or without, and what comes before it."""

    returns: str
    parameters: tuple[str, ...]
    before: str = ""

    def definition(self, name: str) -> str:
        """The kernel as a function of this name."""
        return f"{self.before} {self.returns} {name}({', '.join(self.parameters)}) {{ TORCH_CHECK(false); }}"

    def given(self, name: str) -> str:
        """The kernel as it is given to `impl`."""
        is_boxed = any("OperatorHandle" in parameter for parameter in self.parameters)
        return f"torch::CppFunction::makeFromBoxedFunction<&{name}>()" if is_boxed else f"&{name}"


class Answers(msgspec.Struct, frozen=True):
    """What torch answered: a schema or `error: ...` for each kernel, the error text for each pair, empty if it fits."""

    inferred: tuple[str, ...]
    fits: tuple[str, ...]


def read_kernel(text: str) -> CppKernel:
    """A kernel from `returns f(parameters)`, from a function type, or from `something; returns f(parameters)`."""
    match = re.fullmatch(r"(.*;)?\s*(.*?)\s*(?:\bf\s*)?\((.*)\)", text.strip(), re.DOTALL)
    assert match is not None, text
    return CppKernel(match[2], tuple(_split(match[3])), match[1] or "")


def _split(text: str) -> list[str]:
    parts, depth = [""], 0
    for character in text:
        depth += (character in "<(") - (character in ">)")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


@lru_cache
def operator_headers() -> tuple[tuple[CppKernel, str], ...]:
    """The C++ signature and the schema of each operator in the headers `ATen/ops/*_ops.h` of the installed torch."""
    pattern = re.compile(r"using schema = (.*?);.*?schema_str = \"((?:[^\"\\]|\\.)*)\";", re.DOTALL)
    pairs = []
    for header in sorted((torch_folder() / "include" / "ATen" / "ops").glob("*_ops.h")):
        for match in pattern.finditer(header.read_text()):
            schema = re.sub(r"\\(.)", r"\1", match[2])
            pairs.append((read_kernel(match[1]), f"aten::{schema}"))
    return tuple(pairs)


def signatures(kernels: Sequence[CppKernel]) -> list[Signature | None]:
    """The signatures as op-lint reads them from C++; None for a kernel that is boxed or not understood."""
    registrations = "".join(
        f'  m.impl("k{index}", {kernel.given(f"k{index}::f{index}")});\n' for index, kernel in enumerate(kernels)
    )
    text = f"{_HEAD}{_definitions(kernels)}TORCH_LIBRARY_IMPL(kernels, CPU, m) {{\n{registrations}}}\n"
    reader = CppReader(Path("/nowhere"), ["kernels.cpp"], None, {"kernels.cpp": text.encode()})
    found = {
        implementation.operator.name: implementation.kernel.signature
        for implementation in reader.read("kernels.cpp").implementations
    }
    return [found[f"k{index}"] for index in range(len(kernels))]


def _definitions(kernels: Sequence[CppKernel]) -> str:
    return "".join(
        f"namespace k{index} {{ {kernel.definition(f'f{index}')} }}\n" for index, kernel in enumerate(kernels)
    )


def ask_torch(kernels: Sequence[CppKernel], fits: Sequence[tuple[int, str]], folder: Path) -> Answers:
    """What torch says of kernels, and of pairs of a kernel (by its index) and a schema."""
    library = folder / "kernels.so"
    source = folder / "kernels.cpp"
    source.write_text(_source(kernels))
    libraries = (f"-L{torch_folder() / 'lib'}", "-ltorch", "-ltorch_cpu", "-lc10")
    compiler = ("g++", "-std=c++20", "-fPIC", "-O0", "-w", "-shared")
    command = [*compiler, *include_flags(), str(source), "-o", str(library), *libraries]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr[-4000:]
    given = {"infer": list(range(len(kernels))), "fit": list(fits)}
    asked = [sys.executable, "-W", "ignore", "-c", _CHILD, str(library)]
    done = subprocess.run(asked, input=json.dumps(given), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    return msgspec.json.decode(done.stdout, type=Answers)


def _source(kernels: Sequence[CppKernel]) -> str:
    indices = range(len(kernels))
    inferers = ", ".join(f"&inferred<decltype(k{index}::f{index})>" for index in indices)
    registrars = ",\n".join(
        f"  [](torch::Library& m, const char* n) {{ m.impl(n, torch::dispatch(c10::kCPU, &k{index}::f{index})); }}"
        for index in indices
    )
    return (
        f"{_HEAD}{_definitions(kernels)}{_ASK}"
        f"static std::string (*inferers[])() = {{{inferers}}};\n"
        f"static void (*registrars[])(torch::Library&, const char*) = {{\n{registrars}\n}};\n{_FUNCTIONS}"
    )


def rows(name: str) -> list[dict[str, str]]:
    """The rows of a table beside this file."""
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    header = lines[0].split("\t")
    return [dict(zip(header, line.split("\t"), strict=True)) for line in lines[1:]]
