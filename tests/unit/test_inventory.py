from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.check import run, write_project

SOURCE = """\
#include <torch/library.h>

at::Tensor on_cpu(const at::Tensor& x, double s) { return x; }

TORCH_LIBRARY(demo, m) {
  m.def("scale(Tensor x, float s) -> Tensor");
  m.def("shift.by(Tensor x, float s) -> Tensor", &on_cpu);
#ifdef USE_CUDA
  m.def("gone(Tensor x) -> Tensor");
#endif
}

TORCH_LIBRARY_IMPL(demo, CPU, m) {
  m.impl("scale", TORCH_FN(on_cpu));
  m.impl("later", torch::CppFunction::makeFallthrough());
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFallthrough());
}

const char* name();
TORCH_LIBRARY_FRAGMENT(demo, m) {
  m.def(name());
}
"""


def inventory(tmp_path: Path) -> dict[str, Any]:
    write_project(tmp_path, {"ops.cpp": SOURCE, "notes.cpp": "int a;\n"})
    outcome = run(tmp_path, "ops", "--output-format", "json", "--jobs", "0", "--no-cache")
    assert outcome.status == 0, outcome
    found: dict[str, Any] = json.loads(outcome.out)
    return found


def line(text: str) -> int:
    return SOURCE[: SOURCE.index(text)].count("\n") + 1


def test_operators(tmp_path: Path) -> None:
    ops = {(each["name"], each["overload"]): each for each in inventory(tmp_path)["ops"]}
    assert list(ops) == [("gone", ""), ("later", ""), ("scale", ""), ("shift", "by")]
    assert {each["namespace"] for each in ops.values()} == {"demo"}
    assert ops["scale", ""]["schema"] == "scale(Tensor x, float s) -> Tensor"
    (definition,) = ops["gone", ""]["definitions"]
    assert (definition["line"], definition["condition"], definition["language"]) == (
        line('m.def("gone'),
        "USE_CUDA",
        "c++",
    )
    assert (ops["later", ""]["schema"], ops["later", ""]["definitions"]) == (None, [])


def test_kernels(tmp_path: Path) -> None:
    ops = {each["name"]: each["kernels"] for each in inventory(tmp_path)["ops"]}
    (scale,) = ops["scale"]
    assert scale == {
        "key": "CPU",
        "path": "ops.cpp",
        "line": line('m.impl("scale"'),
        "column": 3,
        "kernel": "on_cpu",
        "signature": "at::Tensor(const at::Tensor&, double)",
        "condition": "",
        "language": "c++",
        "kind": "kernel",
        "spelled": None,
        "calls": [],
        "dispatcher": "torch",
    }
    assert [(each["key"], each["line"]) for each in ops["shift"]] == [
        ("CompositeImplicitAutograd", line('m.def("shift'))
    ]
    assert [each["kind"] for each in ops["later"]] == ["fallthrough"]


def test_units_fallbacks_and_what_is_not_known(tmp_path: Path) -> None:
    found = inventory(tmp_path)
    assert [(each["macro"], each["namespace"], each["key"], each["line"]) for each in found["units"]] == [
        ("TORCH_LIBRARY", "demo", None, line("TORCH_LIBRARY(")),
        ("TORCH_LIBRARY_IMPL", "demo", "CPU", line("TORCH_LIBRARY_IMPL(demo")),
        ("TORCH_LIBRARY_IMPL", None, "PrivateUse1", line("TORCH_LIBRARY_IMPL(_")),
        ("TORCH_LIBRARY_FRAGMENT", "demo", None, line("TORCH_LIBRARY_FRAGMENT(")),
    ]
    (fallback,) = found["fallbacks"]
    assert fallback.items() >= {"key": "PrivateUse1", "path": "ops.cpp", "kind": "fallthrough"}.items()
    (unresolved,) = found["unresolved"]
    assert (unresolved["path"], unresolved["line"], unresolved["what"]) == ("ops.cpp", line("m.def(name"), "def")
    assert unresolved["reason"]
    assert found["files"] == {"scanned": 2, "parsed": 1, "problems": 0}
