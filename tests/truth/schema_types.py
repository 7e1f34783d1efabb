"""C++ types that a kernel may take or return, or may not; and what the compiler says of each."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from tests.truth.registration_sources import include_flags

_NUMBERS = (
    *("bool", "char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned int", "long"),
    *("unsigned long", "long long", "unsigned long long", "int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t"),
    *("uint32_t", "int64_t", "uint64_t", "size_t", "ptrdiff_t", "wchar_t", "float", "double", "long double"),
    *("c10::Half", "c10::BFloat16", "c10::complex<float>", "c10::complex<double>", "std::complex<double>"),
)
_TAKEN = (
    *("at::Tensor", "at::Scalar", "std::string", "std::string_view", "c10::SymInt", "c10::SymFloat", "c10::SymBool"),
    *("at::ScalarType", "at::Layout", "at::MemoryFormat", "at::QScheme", "at::Device", "c10::Stream", "c10::Storage"),
    *("at::Generator", "c10::IValue", "at::TensorList", "at::ITensorListRef", "at::IntArrayRef"),
    *("c10::SymIntArrayRef", "at::OptionalIntArrayRef", "at::OptionalSymIntArrayRef"),
)
_REFUSED = (
    *("const char*", "char*", "void*", "const float*", "at::Tensor*", "const at::Tensor*", "at::TensorBase"),
    *("at::OptionalTensorRef", "at::TensorOptions", "c10::DeviceType", "c10::DispatchKey"),
    *("at::IOptTensorListRef", "std::vector<bool>", "c10::ArrayRef<bool>", "std::pair<at::Tensor, at::Tensor>"),
    *("std::map<std::string, int64_t>", "std::set<int64_t>", "std::deque<at::Tensor>", "std::list<at::Tensor>"),
    *("std::initializer_list<int64_t>", "std::variant<int64_t, double>", "std::shared_ptr<int>", "std::any"),
    *("std::unordered_map<std::string, at::Tensor>", "std::unordered_map<std::string, int>", "std::function<void()>"),
    *("std::span<int64_t>", "kernels::Choice", "kernels::Plain", "kernels::Registered", "c10::MaybeOwned<at::Tensor>"),
    *("std::tuple<at::Tensor&, at::Tensor&>", "std::optional<at::TensorOptions>", "c10::Dict<int, at::Tensor>"),
    *("c10::Dict<at::ScalarType, int64_t>", "c10::List<at::Scalar>", "std::array<at::Scalar, 2>"),
    *("std::vector<at::Scalar>", "c10::Dict<std::string, at::Scalar>", "c10::List<c10::SymInt>", "std::monostate"),
    *("std::vector<c10::IValue>", "std::array<c10::SymInt, 2>", "std::vector<at::IntArrayRef>"),
    *("std::vector<std::pair<int64_t, int64_t>>", "std::vector<kernels::Plain>", "std::optional<kernels::Choice>"),
)
_CONTAINERS = (
    *("std::vector<{}>", "c10::ArrayRef<{}>", "c10::List<{}>", "std::optional<{}>", "c10::OptionalArrayRef<{}>"),
    *("std::array<{}, 2>", "c10::Dict<std::string, {}>", "std::tuple<{}, int64_t>", "std::optional<std::vector<{}>>"),
    *("std::vector<std::optional<{}>>",),
)
_CONTAINED = ("int64_t", "int8_t", "double", "at::Tensor", "std::string", "at::Device")
_CONTAINED_NUMBERS = (
    *(
        "int",
        "uint8_t",
        "short",
        "unsigned short",
        "float",
        "unsigned int",
        "unsigned long",
        "char",
        "size_t",
        "wchar_t",
    ),
)
"""A refused number for each container. They differ, since g++ reports an error in a template for a number but once."""

_QUALIFIED = ("at::Tensor", "int64_t", "std::string", "std::vector<int64_t>", "std::optional<double>", "c10::SymInt")
_QUALIFIERS = ("const {}", "{}&", "const {}&", "{}&&")

PARAMETERS: tuple[str, ...] = tuple(
    dict.fromkeys(
        chain(
            _NUMBERS,
            _TAKEN,
            _REFUSED,
            (container.format(element) for element in _CONTAINED for container in _CONTAINERS),
            (container.format(number) for container, number in zip(_CONTAINERS, _CONTAINED_NUMBERS, strict=True)),
            (qualifier.format(type_) for type_ in _QUALIFIED for qualifier in _QUALIFIERS),
            ("const int&", "const float", "short&&", "unsigned int&", "std::vector<float>", "c10::List<const char*>"),
        )
    )
)
"""What the tests ask about as a parameter."""

RETURNS = ("void", *PARAMETERS, "std::tuple<int, at::Tensor>", "std::tuple<at::Tensor&, at::Tensor&>", "const bool")
"""What the tests ask about as a return."""

HEADERS = """\
#include <ATen/ATen.h>
#include <torch/custom_class.h>
#include <torch/library.h>
#include <any>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <variant>
namespace kernels { struct Registered : torch::CustomClassHolder {}; enum class Choice { A }; struct Plain { int a; }; }
"""


def parameter_statement(type_: str) -> str:
    """C++ that registers a kernel with a parameter of a type."""
    return f'using T = {type_}; void f(T n); void r(torch::Library& m) {{ m.impl("f", &f); }}'


def return_statement(type_: str) -> str:
    """C++ that registers a kernel which returns a type."""
    return f'using T = {type_}; T f(); void r(torch::Library& m) {{ m.impl("f", &f); }}'


class Compiler:
    """g++ with the headers compiled in advance, in a folder that is its own."""

    def __init__(self, folder: Path, headers: str = HEADERS) -> None:
        self._head = folder / "head.h"
        self._head.write_text(headers)
        self._run("-x", "c++-header", str(self._head), "-o", f"{self._head}.gch")

    def failing(self, statements: Sequence[str]) -> set[str]:
        """The statements that do not compile.

        A template that fails is instantiated, and its error reported, once only. So the statements that failed are
        taken out and the others compiled again, until all that are left compile.
        """
        failed: set[str] = set()
        while True:
            errors = self._errors([statement for statement in statements if statement not in failed])
            if not errors:
                return failed
            failed |= errors

    def _errors(self, statements: Sequence[str]) -> set[str]:
        file = self._head.with_name("statements.cpp")
        file.write_text("".join(f"namespace n{index} {{ {text} }}\n" for index, text in enumerate(statements)))
        done = self._run("-include", str(self._head), "-fsyntax-only", str(file))
        errors: set[str] = set()
        statement = ""
        for message in done.stderr.splitlines():
            place = re.match(rf"{re.escape(str(file))}:(\d+):\d+:", message)
            statement = statements[int(place[1]) - 1] if place is not None else statement
            if " error: " in message:
                errors.add(statement)
        assert bool(errors) == bool(done.returncode), done.stderr[-4000:]
        return errors

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        flags = ("-std=c++20", "-w", "-fmax-errors=0", "-ftemplate-backtrace-limit=0")
        return subprocess.run(["g++", *flags, *include_flags(), *arguments], capture_output=True, text=True)
