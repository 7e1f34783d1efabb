"""`TORCH_BOX` kernels that torch passes values to: what each C++ type makes of a value of each schema type."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.truth.registration_sources import include_flags, torch_folder

PARAMETERS = (
    *("bool", "int", "int64_t", "uint64_t", "float", "double", "std::string", "std::string_view", "const char*"),
    *("torch::stable::Tensor", "std::optional<torch::stable::Tensor>", "std::optional<int64_t>"),
    *("std::optional<double>", "std::optional<float>", "std::optional<std::string>", "std::vector<int64_t>"),
    *("std::optional<std::string_view>", "std::vector<double>", "std::vector<bool>", "std::vector<std::string>"),
    *("std::vector<torch::stable::Tensor>", "std::vector<std::optional<torch::stable::Tensor>>"),
    *("torch::headeronly::HeaderOnlyArrayRef<int64_t>", "std::optional<std::vector<int64_t>>"),
    *("torch::headeronly::HeaderOnlyArrayRef<torch::stable::Tensor>", "std::array<int64_t, 2>"),
    *("torch::headeronly::ScalarType", "torch::stable::Device", "std::vector<std::vector<int64_t>>"),
    *("int64_t*", "int32_t*", "double*", "bool*"),
)
"""The C++ types that are asked about, as a parameter."""

VALUES: dict[str, tuple[str, str]] = {
    "int": ("-3", "-3"),
    "SymInt": ("-3", "-3"),
    "float": ("1.5", "1.5"),
    "bool": ("True", "1"),
    "str": ("'abc'", "abc"),
    "Tensor": ("torch.ones(5)", "tensor 5"),
    "Tensor?": ("torch.ones(5)", "tensor 5"),
    "int?": ("-3", "-3"),
    "float?": ("1.5", "1.5"),
    "bool?": ("True", "1"),
    "ScalarType?": ("torch.float16", "5"),
    "str?": ("'abc'", "abc"),
    "int[]": ("[5, 6]", "[5 6 ]"),
    "int[2]": ("[5, 6]", "[5 6 ]"),
    "SymInt[]": ("[5, 6]", "[5 6 ]"),
    "float[]": ("[1.5, 2.5]", "[1.5 2.5 ]"),
    "bool[]": ("[True, False]", "[1 0 ]"),
    "str[]": ("['a', 'b']", "[a b ]"),
    "Tensor[]": ("[torch.ones(2), torch.ones(3)]", "[tensor 2 tensor 3 ]"),
    "Tensor?[]": ("[torch.ones(2), None]", "[tensor 2 none ]"),
    "int[]?": ("[5, 6]", "[5 6 ]"),
    "int[][]": ("[[1], [2, 3]]", "[[1 ] [2 3 ] ]"),
    "Device": ("torch.device('cpu', 0)", "device 0"),
    "ScalarType": ("torch.float16", "5"),
    "Scalar": ("3", "3"),
    "complex": ("1j", "1j"),
    "Dict(str, int)": ("{'a': 1}", "a: 1"),
}
"""For each schema type a value, as Python, and what a kernel prints that gets it whole."""

_HEAD = """\
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/tensor.h>
#include <torch/csrc/stable/device.h>
#include <torch/headeronly/util/HeaderOnlyArrayRef.h>
#include <array>
#include <sstream>
#include <string>

using Out = std::ostringstream;
using torch::stable::Tensor;
template <class T> struct Put {
  static void put(Out& out, const T& value) {
    if constexpr (std::is_enum_v<T>) out << static_cast<long>(value); else out << value;
  }
};
template <class L, class T> struct PutList {
  static void put(Out& out, const L& list) {
    out << "[";
    for (const T& value : list) { Put<T>::put(out, value); out << " "; }
    out << "]";
  }
};
template <> struct Put<Tensor> {
  static void put(Out& out, const Tensor& value) { out << "tensor " << value.numel(); }
};
template <> struct Put<torch::stable::Device> {
  static void put(Out& out, const torch::stable::Device& value) { out << "device " << static_cast<int>(value.type()); }
};
template <class T> struct Put<std::optional<T>> {
  static void put(Out& out, const std::optional<T>& value) { if (value) Put<T>::put(out, *value); else out << "none"; }
};
template <class T> struct Put<T*> {
  static void put(Out& out, T* value) { if (value) Put<T>::put(out, *value); else out << "none"; }
};
template <> struct Put<const char*> {
  static void put(Out& out, const char* value) { out << value; }
};
template <class T> struct Put<std::vector<T>> : PutList<std::vector<T>, T> {};
template <class T> struct Put<torch::headeronly::HeaderOnlyArrayRef<T>>
    : PutList<torch::headeronly::HeaderOnlyArrayRef<T>, T> {};
template <class T, size_t n> struct Put<std::array<T, n>> : PutList<std::array<T, n>, T> {};
template <class T> std::string text(const T& value) { Out out; Put<T>::put(out, value); return out.str(); }
"""

_CHILD = """\
import json, os, sys
import torch
torch.ops.load_library(sys.argv[1])
asked = json.load(sys.stdin)
answers = []
while len(answers) < len(asked):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        for name, value in asked[len(answers):]:
            try:
                answer = getattr(torch.ops.stable_values, name)(torch.ones(1), eval(value))
            except BaseException as error:
                answer = "raised: " + str(error)[:200]
            os.write(writing, (json.dumps(answer[:300]) + "\\n").encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as lines:
        answers += [json.loads(line) for line in lines if line.endswith("\\n")]
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        answers.append("crashed")
json.dump(answers, sys.stdout)
"""


def arrived(pairs: Sequence[tuple[int, str]], folder: Path) -> list[str]:
    """What each pair of a parameter (an index into `PARAMETERS`) and a schema type printed, raised, or `crashed`."""
    schemas = list(VALUES)
    kernels = "".join(
        f"std::string k{index}(Tensor, {type_} value) {{ return text(value); }}\n"
        for index, type_ in enumerate(PARAMETERS)
    )
    names = [f"k{index}_{schemas.index(schema)}" for index, schema in pairs]
    definitions = "".join(
        f'  m.def("{name}(Tensor x, {schema} n) -> str");\n' for name, (_, schema) in zip(names, pairs, strict=True)
    )
    registrations = "".join(
        f'  m.impl("{name}", TORCH_BOX(&k{index}));\n' for name, (index, _) in zip(names, pairs, strict=True)
    )
    source = folder / "values.cpp"
    source.write_text(
        f"{_HEAD}{kernels}STABLE_TORCH_LIBRARY(stable_values, m) {{\n{definitions}}}\n"
        f"STABLE_TORCH_LIBRARY_IMPL(stable_values, CPU, m) {{\n{registrations}}}\n"
    )
    library = folder / "values.so"
    libraries = (f"-L{torch_folder() / 'lib'}", "-ltorch", "-ltorch_cpu", "-lc10")
    command = ["g++", "-std=c++20", "-fPIC", "-O0", "-w", "-shared", *include_flags(), str(source), "-o", str(library)]
    built = subprocess.run([*command, *libraries], capture_output=True, text=True)
    assert built.returncode == 0, built.stderr[-4000:]
    asked = json.dumps([(name, VALUES[schema][0]) for name, (_, schema) in zip(names, pairs, strict=True)])
    child = [sys.executable, "-W", "ignore", "-c", _CHILD, str(library)]
    done = subprocess.run(child, input=asked, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    answers: list[str] = json.loads(done.stdout)
    return answers
