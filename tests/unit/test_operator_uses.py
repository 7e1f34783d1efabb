"""`op-lint ops`: how often operators are called, and `--uses`, which says where."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.check import run, write_project

OPS = """import torch

lib = torch.library.Library("demo", "DEF")
lib.define("scale(Tensor x) -> Tensor")
lib.define("pick.int(Tensor x, int i) -> Tensor")
lib.define("pick.str(Tensor x, str s) -> Tensor")
"""

CALLS = """import torch

scale = torch.ops.demo.scale


def twice(x):
    if x.is_cuda:
        x = torch.ops.demo.scale(x)
    torch.ops.demo.pick(x, 1)
    return torch.ops.demo.scale.default(x) + torch.ops.demo.pick.int(x, 2)
"""


def project(folder: Path) -> Path:
    return write_project(folder, {"ops.py": OPS, "calls.py": CALLS})


def ops(folder: Path, *arguments: str) -> Any:
    outcome = run(folder, "ops", "--output-format", "json", "--jobs", "0", "--no-cache", *arguments)
    assert outcome.status == 0, outcome
    return json.loads(outcome.out)


def test_call_sites_are_counted(tmp_path: Path) -> None:
    found = ops(project(tmp_path))["ops"]
    counts = {(each["name"], each["overload"]): each["call_sites"] for each in found}
    assert counts == {("scale", ""): 2, ("pick", "int"): 2, ("pick", "str"): 1}
    assert "scale(Tensor x) -> Tensor  (2 call sites in Python)" in run(tmp_path, "ops", "--jobs", "0").out


def test_uses_are_listed(tmp_path: Path) -> None:
    found = ops(project(tmp_path), "--uses", "demo::scale")
    assert (found["op"], found["defined"]) == ("demo::scale", True)
    assert [(each["line"], each["kind"], each["run"]) for each in found["uses"]] == [
        (3, "reference", "import"),
        (8, "call", "function"),
        (10, "call", "function"),
    ]
    assert found["uses"][1]["condition"] == "x.is_cuda"
    assert (found["uses"][1]["path"], found["uses"][1]["column"]) == ("calls.py", 13)


def test_uses_as_text(tmp_path: Path) -> None:
    out = run(project(tmp_path), "ops", "--uses", "demo::pick.str", "--jobs", "0", "--no-cache").out
    assert out.splitlines() == ["calls.py:9:5  call", "demo::pick.str: 1 use (1 call)"]
    out = run(tmp_path, "ops", "--uses", "demo::gone", "--jobs", "0", "--no-cache").out
    assert out == "demo::gone: 0 uses (0 calls); these sources do not define it\n"


def test_what_is_no_operator_is_a_usage_error(tmp_path: Path) -> None:
    outcome = run(project(tmp_path), "ops", "--uses", "scale")
    assert outcome.status == 2
    assert "NS::OP" in outcome.err
