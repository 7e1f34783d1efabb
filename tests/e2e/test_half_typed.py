"""Completion, signature help and jumps where text is half typed or names stand for several operators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from tests.check import write_project
from tests.e2e.editor import Editor, editor

pytestmark = pytest.mark.asyncio

FILES: dict[str, str | bytes] = {
    "op-lint.toml": "",
    "csrc/kernels.h": (
        "#pragma once\n#include <ATen/ATen.h>\n"
        "at::Tensor twice_cpu(const at::Tensor& x, int64_t n);\nat::Tensor thrice_cpu(const at::Tensor& x);\n"
    ),
    "csrc/kernels.cpp": (
        '#include "kernels.h"\n'
        "at::Tensor twice_cpu(const at::Tensor& x, int64_t n) { return x * n; }\n"
        "at::Tensor thrice_cpu(const at::Tensor& x) {\n  return x * 3;\n}\n"
    ),
    "csrc/block.h": "#pragma once\n#define BLOCK(ns, m) TORCH_LIBRARY_FRAGMENT(ns, m)\n",
    "csrc/ops.cpp": """#include <torch/library.h>
#include "block.h"
#include "kernels.h"
at::Tensor local(const at::Tensor& x);
TORCH_LIBRARY(demo, m) {
  m.def("twice(Tensor x, int n) -> Tensor");
  m.def(R"(long_one(Tensor x, *,
      SymInt[2] size=0, float eps=1e-6) -> Tensor)");
  m.def("joined(Tensor x, "
        "Tensor(a!)[]? out) -> ()");
  m.def("over.a(Tensor x) -> Tensor");
  m.def("over.b(Tensor x, int n) -> Tensor");
  m.def("inferred", &local);
  m.impl("twice", torch::kCPU, &twice_cpu);
  m.impl("over.a", torch::dispatch(c10::DispatchKey::CPU, &thrice_cpu));
}
BLOCK(other, m) { m.def("z(Tensor x) -> Tensor"); m.impl("z", &local); }
""",
    "demo/ops.py": """import torch

lib = torch.library.Library("demo", "IMPL")


def twice_meta(x, n, *, scale=1):
    return torch.empty_like(x)


lib.impl("twice", twice_meta, "Meta")


@torch.library.impl(lib, "over.a", "Meta")
def over_meta(x):
    return torch.empty_like(x)


def call(x):
    y = torch.ops.demo.over(x)
    return torch.ops.demo.over.b(torch.ops.aten.add.Tensor(y, x), n=1)
""",
}
CPP, PYTHON = "csrc/ops.cpp", "demo/ops.py"


async def _read(editing: Editor) -> None:
    editing.open(CPP)
    editing.open("csrc/kernels.cpp")
    editing.open(PYTHON, language="python")
    while not (await editing.hover(CPP, '"tw|ice(')).count("| ✗ raises |"):
        await editing.settled(CPP)


async def _help(editing: Editor, path: str, words: str) -> list[tuple[str, list[Any], int | None]]:
    params = types.SignatureHelpParams(**editing.at(path, words))
    found = await editing.client.text_document_signature_help_async(params)
    return [
        (each.label, [parameter.label for parameter in each.parameters or ()], each.active_parameter)
        for each in (found.signatures if found else ())
    ]


async def test_completion_in_schemas(tmp_path: Path) -> None:
    async with editor(write_project(tmp_path, FILES), "visual_studio_code") as editing:
        await _read(editing)
        assert (await editing.complete(CPP, "      Sym|Int[2]"))[0] == "SymInt"
        assert "Tensor(a!)[]" in await editing.complete(CPP, '"Tensor(a|!)[]? out')
        assert await editing.complete(CPP, "joined(Tensor |x") == []  # a name, and no type
        assert await editing.complete(CPP, "eps=|1e-6") == []
        assert "Tensor" in await editing.complete(CPP, "over.a(Tensor x) -> |Tensor")
        assert await editing.complete(CPP, "#include <tor|ch") == []
        editing.replace(CPP, 'm.def("twice(Tensor x, int n) -> Tensor");', 'm.def("twice(Tensor x, in')
        assert (await editing.complete(CPP, "twice(Tensor x, in|"))[0] == "int"
        assert await _help(editing, CPP, "twice(Tensor x, in|") == [("twice(Tensor x, in", ["Tensor x", "in"], 1)]


async def test_completion_of_names(tmp_path: Path) -> None:
    async with editor(write_project(tmp_path, FILES), "visual_studio_code") as editing:
        await _read(editing)
        fitting, *others = await editing.complete(CPP, "torch::kCPU, &|twice_cpu")
        assert (fitting, set(others)) == ("twice_cpu", {"local", "thrice_cpu"})
        assert (await editing.complete(CPP, "DispatchKey::CPU, &|thrice_cpu"))[0] in ("local", "thrice_cpu")
        assert (await editing.complete(CPP, "torch::k|CPU"))[0] == "kCPU"
        assert await editing.complete(CPP, 'm.impl("|z"') == ["z"]  # a block of the project's own macro
        assert "other" in await editing.complete(CPP, "BLOCK(o|ther")
        assert "over" in await editing.complete(PYTHON, "torch.ops.demo.|over(x)")
        assert await editing.complete(PYTHON, "torch.ops.demo.over.|b(") == ["a", "b"]
        assert "Tensor" in await editing.complete(PYTHON, "torch.ops.aten.add.|Tensor")
        assert (await editing.complete(PYTHON, "torch.ops.aten.add|.Tensor"))[0] == "add"  # of thousands
        assert "twice" in await editing.complete(PYTHON, 'lib.impl("|twice"')
        assert "over.a" in await editing.complete(PYTHON, 'impl(lib, "|over.a"')
        assert "CPU" in await editing.complete(PYTHON, '"over.a", "|Meta"')
        assert "demo" in await editing.complete(PYTHON, 'Library("|demo"')
        editing.replace(PYTHON, "import torch\n", "import torch  # op-lint: ignore[missing]\n")
        assert "missing-fake-kernel" in await editing.complete(PYTHON, "ignore[missing|]")


async def test_signature_help(tmp_path: Path) -> None:
    async with editor(write_project(tmp_path, FILES), "visual_studio_code") as editing:
        await _read(editing)
        ((label, parameters, active),) = await _help(editing, CPP, "size=0, float e|ps")
        assert (parameters, active) == (["Tensor x", "SymInt[2] size=0", "float eps=1e-6"], 2)
        assert all(parameter in label for parameter in parameters)  # else no editor marks it
        assert [active for *_, active in await _help(editing, CPP, "Tensor(a!)[]? o|ut")] == [1]
        overloads = await _help(editing, PYTHON, "demo.over(|x)")
        assert [label.partition("(")[0] for label, *_ in overloads] == ["demo::over.a", "demo::over.b"]
        assert [active for *_, active in await _help(editing, PYTHON, "y, x), n=|1")] == [1]
        assert await _help(editing, CPP, '#include "blo|ck.h"') == []


async def test_all_overloads_of_a_name(tmp_path: Path) -> None:
    async with editor(write_project(tmp_path, FILES), "neovim") as editing:
        await _read(editing)
        packet = editing.at(PYTHON, "demo.ov|er(x)")
        hover = await editing.hover(PYTHON, "demo.ov|er(x)")
        assert "2 overloads" in hover
        assert "`demo::over.b(Tensor x, int n) -> Tensor`" in hover
        assert (await editing.hover(PYTHON, "demo.over.|b(")).startswith("`demo::over.b(")
        assert (await editing.hover(PYTHON, "aten.add.Ten|sor(")).startswith("`aten::add.Tensor(")
        client = editing.client
        found = await client.text_document_definition_async(types.DefinitionParams(**packet))
        assert isinstance(found, list)
        assert [editing.words(each) for each in found if isinstance(each, types.Location)] == [
            f"{CPP}:11 over.a",
            f"{CPP}:12 over.b",
        ]
        items = await client.text_document_prepare_call_hierarchy_async(types.CallHierarchyPrepareParams(**packet))
        assert [each.name for each in items or ()] == ["demo::over.a", "demo::over.b"]
        edit = await client.text_document_rename_async(types.RenameParams(**packet, new_name="under"))
        assert {path: len(made) for path, made in editing.edits(edit).items()} == {CPP: 3, PYTHON: 3}


async def test_bodies_in_other_files(tmp_path: Path) -> None:
    async with editor(write_project(tmp_path, FILES), "neovim") as editing:
        await _read(editing)
        kernel = editing.at(CPP, "torch::kCPU, &twice_c|pu")
        found = await editing.client.text_document_definition_async(types.DefinitionParams(**kernel))
        assert isinstance(found, list)
        assert [editing.words(each) for each in found if isinstance(each, types.Location)] == [
            "csrc/kernels.cpp:2 twice_cpu"
        ]
        declared = await editing.client.text_document_declaration_async(types.DeclarationParams(**kernel))
        assert isinstance(declared, list)
        assert [editing.words(each) for each in declared if isinstance(each, types.Location)] == [
            "csrc/kernels.h:3 twice_cpu"
        ]
        assert "kernel of `demo::twice`" in await editing.hover("csrc/kernels.cpp", "at::Tensor twice_c|pu(")


async def test_hovers(tmp_path: Path) -> None:
    async with editor(write_project(tmp_path, FILES), "neovim") as editing:
        await _read(editing)
        assert "`std::optional<std::vector<at::Tensor>>`" in await editing.hover(CPP, "Tensor(a!)|[]? out")
        assert "demo::inferred(Tensor _0) -> Tensor _0" in await editing.hover(CPP, '"infer|red"')
        assert "def twice_meta(x, n, *, scale=1)" in await editing.hover(PYTHON, "twice_m|eta, ")
        key = await editing.hover(CPP, "DispatchKey::C|PU")
        assert "Raises at `CPU`: `joined`, `long_one`, `over.b`" in key


async def test_stubs_of_kernels(tmp_path: Path) -> None:
    async with editor(write_project(tmp_path, FILES), "neovim") as editing:
        await _read(editing)
        editing.open("csrc/kernels.h")
        params = types.CodeActionParams(editing.identifier(CPP), editing.whole(CPP), types.CodeActionContext([]))
        actions = await editing.client.text_document_code_action_async(params)
        titles = {each.title: each for each in actions or () if isinstance(each, types.CodeAction)}
        for title, head in (
            (
                "add the missing CPU kernel of demo::joined",
                "joined_cpu(const at::Tensor& x, std::optional<std::vector<",
            ),
            ("add a Meta kernel of demo::over.b", "at::Tensor over_b_meta(const at::Tensor& x, int64_t n) {"),
        ):
            (edit,) = editing.edits(titles[title].edit)[CPP]
            assert head in edit.new_text
            assert edit.range.start == editing.position(CPP, editing.text(CPP).index("\nBLOCK"))  # behind its block
