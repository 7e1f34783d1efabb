"""Each feature on the example project, as VS Code and Neovim ask for it."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.check import write_project
from tests.e2e.editor import EDITORS, Editor, editor

EXAMPLE = Path(__file__).parents[2] / "examples" / "myops"

pytestmark = pytest.mark.asyncio


@pytest.fixture(params=EDITORS)
def name(request: pytest.FixtureRequest) -> str:
    """The editor whose capabilities the client has."""
    return str(request.param)


@pytest.fixture
def myops(tmp_path: Path) -> Path:
    project = tmp_path / "myops"
    shutil.copytree(EXAMPLE, project)
    return project


def codes(diagnostics: list[types.Diagnostic]) -> list[str]:
    return [f"{each.code} {each.range.start.line + 1}" for each in diagnostics]


async def test_a_session(myops: Path, name: str) -> None:
    async with editor(myops, name) as editing:
        editing.open("csrc/cpu/kernels.cpp")
        found = await editing.settled("csrc/cpu/kernels.cpp")
        assert "OPL102 29" in codes(found)
        mismatch = next(each for each in found if each.code == "OPL102")
        assert mismatch.source == "op-lint"
        assert [each.location.uri for each in mismatch.related_information or ()] == [
            editing.uri("csrc/ops.cpp"),
            editing.uri("csrc/cpu/kernels.cpp"),
        ]
        hover = await editing.hover("csrc/cpu/kernels.cpp", "myops, C|PU")
        assert hover.startswith("**CPU**")
        labels = await editing.complete("csrc/cpu/kernels.cpp", 'm.impl("|muladd"')
        assert labels == ["add_", "gather_rows", "muladd", "normalize", "row_sum", "scale"]
        places = await editing.client.text_document_definition_async(
            types.DefinitionParams(**editing.at("csrc/cpu/kernels.cpp", 'm.impl("mul|add"'))
        )
        assert [editing.words(each) for each in _locations(places)] == ["csrc/ops.cpp:11 muladd"]


async def test_an_edit_of_a_definition_reaches_the_kernels_file(myops: Path, name: str) -> None:
    async with editor(myops, name) as editing:
        editing.open("csrc/ops.cpp")
        await editing.settled("csrc/ops.cpp")
        uri = editing.uri("csrc/cpu/kernels.cpp")
        assert "OPL102 29" in codes(list(editing.client.diagnostics[uri]))
        editing.replace("csrc/ops.cpp", "scale(Tensor x, float s)", "scale(Tensor x, int s)")
        await editing.settled("csrc/ops.cpp")
        assert "OPL102 29" not in codes(list(editing.client.diagnostics[uri]))
        editing.close("csrc/ops.cpp")
        editing.open("csrc/reduce.cpp")
        await editing.settled("csrc/reduce.cpp")
        assert "OPL102 29" in codes(list(editing.client.diagnostics[uri]))


async def test_pull(myops: Path) -> None:
    wants = types.ClientCapabilities(
        text_document=types.TextDocumentClientCapabilities(diagnostic=types.DiagnosticClientCapabilities()),
        workspace=types.WorkspaceClientCapabilities(
            diagnostics=types.DiagnosticWorkspaceClientCapabilities(refresh_support=True)
        ),
    )
    async with editor(myops, wants) as editing:
        provider = editing.answer.capabilities.diagnostic_provider
        assert provider is not None
        assert provider.inter_file_dependencies is True
        for path in ("csrc/ops.cpp", "csrc/cpu/kernels.cpp"):
            editing.open(path)

        async def pull(path: str, previous: str | None = None) -> Any:
            return await editing.client.text_document_diagnostic_async(
                types.DocumentDiagnosticParams(editing.identifier(path), previous_result_id=previous)
            )

        first = await pull("csrc/cpu/kernels.cpp")
        assert "OPL102 29" in codes(first.items)
        assert (await pull("csrc/cpu/kernels.cpp", first.result_id)).kind == "unchanged"
        # What is pulled is not pushed, and the files that are not open are.
        assert not editing.client.diagnostics.get(editing.uri("csrc/cpu/kernels.cpp"))
        assert editing.client.diagnostics[editing.uri("csrc/reduce.cpp")]
        refreshes = editing.client.diagnostic_refresh_count
        editing.replace("csrc/ops.cpp", "scale(Tensor x, float s)", "scale(Tensor x, int s)")
        after = await pull("csrc/cpu/kernels.cpp", first.result_id)
        assert "OPL102 29" not in codes(after.items)
        await pull("csrc/ops.cpp")
        editing.replace("csrc/ops.cpp", "scale(Tensor x, int s)", "scale(Tensor x, float s)")
        await editing.settled("csrc/ops.cpp")
        assert editing.client.diagnostic_refresh_count > refreshes


async def test_hover(myops: Path, name: str) -> None:
    async with editor(myops, name) as editing:
        await _read(editing)
        key = await editing.hover("csrc/cuda/kernels.cu", "myops, CUD|A, m")
        rows = key.partition("```text\n")[2].partition("\n```")[0].splitlines()
        assert [row[2:].split()[0] for row in rows] == [
            "AutocastCUDA", "AutogradCUDA", "ADInplaceOrView", "BackendSelect", "CUDA",
        ]  # fmt: skip
        assert rows[-1].startswith("▶ CUDA")
        assert "does not fall to a lower key" in key
        assert "`scale`" in key.partition("Raises at `CUDA`")[2]
        assert "row_sum" not in key.partition("Raises at `CUDA`")[2]  # its composite kernel serves CUDA
        operator = await editing.hover("csrc/ops.cpp", "sc|ale(")
        assert operator.startswith("`myops::scale(Tensor x, float s) -> Tensor`")
        assert "✗ raises" in operator
        assert "1 use in Python: [myops/\\_\\_init\\_\\_.py:14]" in operator
        assert "torch 2.13.0" in operator
        assert await editing.hover("myops/__init__.py", "torch.ops.myops.sc|ale") == operator
        cells = (await editing.hover("csrc/ops.cpp", "mul|add(")).splitlines()[4].split(" | ")
        assert re.match(r"✓ \[fake\]\(.*/myops/ops\.py#", cells[2])  # the function's name is `_`
        assert cells[4].startswith("✗ no such key: [myops::muladd_cuda]")
        twice = (await editing.hover("csrc/ops.cpp", "nor|malize(")).splitlines()[4].split(" | ")[1]
        assert re.fullmatch(r"✓ \[myops::normalize_cuda\]\([^)]*\), \[myops::normalize_cuda\]\([^)]*\)", twice)
        assert "`double`" in await editing.hover("csrc/ops.cpp", "flo|at s)")
        kernel = await editing.hover("csrc/cpu/kernels.cpp", "&scale_c|pu")
        assert "`(Tensor x, int s) -> Tensor`" in kernel
        assert "argument `s`: `float` in the schema, `int` here" in kernel
        assert await editing.hover("csrc/cpu/kernels.cpp", "at::Tensor scale_c|pu(") == kernel
        macro = await editing.hover("csrc/ops.cpp", "TORCH_LIB|RARY(")
        assert 'torch::Library::DEF, &init_myops, "myops", std::nullopt' in macro
        assert "compiled into `myops._C`" in macro
        block = await editing.hover("csrc/cpu/kernels.cpp", "TORCH_LIBRARY_|IMPL(")
        assert "std::make_optional(c10::DispatchKey::CPU)" in block
        assert "▶ CPU" in block  # what its key is, too
        unknown = await editing.hover("csrc/cuda/kernels.cu", "myops, Cud|a, m")
        assert unknown.endswith("has no such dispatch key; did you mean `CUDA`?")
        editing.replace("csrc/ops.cpp", "// The schemas", "// op-lint: ignore-file[OPL206]\n// The schemas")
        assert (await editing.hover("csrc/ops.cpp", "OPL2|06")).startswith("# ")


async def test_navigation(myops: Path, name: str) -> None:
    async with editor(myops, name) as editing:
        await _read(editing)
        call = editing.at("myops/__init__.py", "torch.ops.myops.|muladd")
        client = editing.client
        references = await client.text_document_references_async(
            types.ReferenceParams(**call, context=types.ReferenceContext(include_declaration=True))
        )
        assert [editing.words(each) for each in references or ()] == [
            "csrc/ops.cpp:11 muladd",
            "csrc/cpu/kernels.cpp:28 muladd",
            "csrc/cuda/kernels.cu:29 muladd",
            "myops/ops.py:4 muladd",
            "myops/__init__.py:10 muladd",
        ]
        found = await client.text_document_implementation_async(types.ImplementationParams(**call))
        assert [editing.words(each) for each in _locations(found)] == [
            "csrc/cpu/kernels.cpp:6 muladd_cpu",
            "csrc/cuda/kernels.cu:14 muladd_cuda",
            "myops/ops.py:5 _",
        ]
        found = await client.text_document_declaration_async(types.DeclarationParams(**call))
        assert [editing.words(each) for each in _locations(found)] == ["csrc/ops.cpp:11 muladd"]
        definition = editing.at("csrc/ops.cpp", 'def("mul|add')
        found = await client.text_document_definition_async(types.DefinitionParams(**definition))
        assert len(_locations(found)) == 3
        highlights = await client.text_document_document_highlight_async(
            types.DocumentHighlightParams(**editing.at("csrc/cuda/kernels.cu", 'm.impl("norm|alize"'))
        )
        assert [each.range.start.line + 1 for each in highlights or ()] == [33, 35]


async def test_rename(myops: Path, name: str) -> None:
    async with editor(myops, name) as editing:
        await _read(editing)
        call = editing.at("myops/__init__.py", "torch.ops.myops.|muladd")
        prepared = await editing.client.text_document_prepare_rename_async(types.PrepareRenameParams(**call))
        assert isinstance(prepared, types.PrepareRenamePlaceholder)
        assert prepared.placeholder == "muladd"
        edit = await editing.client.text_document_rename_async(types.RenameParams(**call, new_name="fma"))
        changed = {path: len(made) for path, made in editing.edits(edit).items()}
        assert changed == {
            "csrc/ops.cpp": 1, "csrc/cpu/kernels.cpp": 1, "csrc/cuda/kernels.cu": 1, "myops/ops.py": 1,
            "myops/__init__.py": 1,
        }  # fmt: skip
        editing.open("csrc/reduce.cpp")
        editing.replace("csrc/reduce.cpp", 'm.def("scale(', 'm.def(NAME "e(')
        editing.replace("csrc/reduce.cpp", "namespace myops {", '#define NAME "scal"\nnamespace myops {')
        with pytest.raises(JsonRpcException, match=r"csrc/reduce\.cpp:15 is put together: change it by hand"):
            await editing.client.text_document_rename_async(
                types.RenameParams(**editing.at("csrc/ops.cpp", 'def("sca|le('), new_name="rescale")
            )
        for wrong in ("scale", "not a name", "1st"):
            with pytest.raises(JsonRpcException):
                await editing.client.text_document_rename_async(types.RenameParams(**call, new_name=wrong))


async def test_symbols(myops: Path, name: str) -> None:
    async with editor(myops, name) as editing:
        await _read(editing)
        found = await editing.client.text_document_document_symbol_async(
            types.DocumentSymbolParams(editing.identifier("csrc/cuda/kernels.cu"))
        )
        assert [(each.name, [child.name for child in each.children or ()]) for each in _document_symbols(found)] == [
            ("myops, Cuda", ["myops::muladd"]),
            ("myops, CUDA", ["myops::normalize", "myops::normalize"]),
        ]
        symbols = await editing.client.workspace_symbol_async(types.WorkspaceSymbolParams("mops::norm"))
        assert {each.name for each in symbols or ()} == {"myops::normalize"}


async def test_completion(myops: Path, name: str) -> None:
    async with editor(myops, name) as editing:
        await _read(editing)
        keys = await editing.complete("csrc/cuda/kernels.cu", "TORCH_LIBRARY_IMPL(myops, CU|DA")
        assert keys.index("CPU") < keys.index("AutogradCUDA")
        assert "CompositeImplicitAutograd" in keys
        operators = await editing.complete("myops/__init__.py", "torch.ops.myops.|muladd")
        assert "scale" in operators
        namespaces = await editing.complete("myops/__init__.py", "torch.ops.|myops")
        assert namespaces[:2] == ["my_ops", "myops"]
        assert "aten" in namespaces
        types_ = await editing.complete("csrc/ops.cpp", "scale(Tensor x, |float s")
        assert {"Tensor", "SymInt[]", "Tensor(a!)"} <= set(types_)
        kernels = await editing.complete("csrc/cpu/kernels.cpp", 'm.impl("gather_row", &|gather')
        assert "gather_rows_cpu" in kernels
        fitting = await editing.complete("csrc/cpu/kernels.cpp", 'm.impl("muladd", &|muladd')
        assert fitting[0] == "muladd_cpu"
        assert await editing.complete("csrc/ops.cpp", "TORCH_LIBRARY(my|ops") == ["myops"]
        editing.replace("csrc/ops.cpp", "// The schemas", "// op-lint: ignore[OPL] The schemas")
        assert "OPL206" in await editing.complete("csrc/ops.cpp", "ignore[OP|L]")
        item = types.CompletionItem("CUDA", data={"key": "CUDA", "uri": editing.uri("csrc/ops.cpp")})
        resolved = await editing.client.completion_item_resolve_async(item)
        assert isinstance(resolved.documentation, types.MarkupContent)
        assert resolved.documentation.value.startswith("**CUDA**")


async def test_signature_help(myops: Path, name: str) -> None:
    async with editor(myops, name) as editing:
        await _read(editing)
        for path, words, label, active in (
            ("csrc/ops.cpp", "muladd(Tensor a, Ten|sor b", "muladd(Tensor a, Tensor b, float c) -> Tensor", 1),
            (
                "myops/__init__.py",
                "muladd.default(a, b, |c",
                "myops::muladd(Tensor a, Tensor b, float c) -> Tensor",
                2,
            ),
        ):
            found = await editing.client.text_document_signature_help_async(
                types.SignatureHelpParams(**editing.at(path, words))
            )
            assert found is not None
            assert (found.signatures[0].label, found.active_parameter) == (label, active)


async def test_code_lens_and_inlay_hints(myops: Path, name: str) -> None:
    async with editor(myops, name) as editing:
        await _read(editing)
        lenses = await editing.client.text_document_code_lens_async(
            types.CodeLensParams(editing.identifier("csrc/ops.cpp"))
        )
        titles = [each.command.title for each in lenses or () if each.command]
        assert titles[:2] == [
            "CPU ✓ CUDA ✗ Meta ✓ · autograd: none · 1 use",
            "CPU ✓ CUDA ✗ Meta ✗ · autograd: none · 1 use",
        ]
        editing.open("csrc/reduce.cpp")
        editing.replace("csrc/reduce.cpp", '"row_sum(Tensor x) -> Tensor"', '"row_sum"')
        hints = await editing.client.text_document_inlay_hint_async(
            types.InlayHintParams(editing.identifier("csrc/reduce.cpp"), editing.whole("csrc/reduce.cpp"))
        )
        assert [each.label for each in hints or ()] == ["(Tensor _0) -> Tensor _0"]


async def test_semantic_tokens(myops: Path, name: str) -> None:
    async with editor(myops, name) as editing:
        await _read(editing)
        legend = editing.answer.capabilities.semantic_tokens_provider
        assert isinstance(legend, types.SemanticTokensOptions)
        found = await editing.client.text_document_semantic_tokens_full_async(
            types.SemanticTokensParams(editing.identifier("csrc/ops.cpp"))
        )
        assert found is not None
        rows = [found.data[index : index + 5] for index in range(0, len(found.data), 5)]
        # muladd(Tensor a, Tensor b, float c) -> Tensor
        assert [legend.legend.token_types[row[3]] for row in rows[:8]] == [
            "function", "type", "parameter", "type", "parameter", "type", "parameter", "type",
        ]  # fmt: skip
        assert list(rows[0]) == [10, 9, 6, 1, 0]


async def test_call_hierarchy(myops: Path, name: str) -> None:
    async with editor(myops, name) as editing:
        await _read(editing)
        items = await editing.client.text_document_prepare_call_hierarchy_async(
            types.CallHierarchyPrepareParams(**editing.at("csrc/ops.cpp", 'def("mul|add'))
        )
        assert items is not None
        assert [each.name for each in items] == ["myops::muladd"]
        incoming = await editing.client.call_hierarchy_incoming_calls_async(
            types.CallHierarchyIncomingCallsParams(items[0])
        )
        assert [each.from_.name for each in incoming or ()] == ["muladd"]
        outgoing = await editing.client.call_hierarchy_outgoing_calls_async(
            types.CallHierarchyOutgoingCallsParams(items[0])
        )
        assert [each.to.name for each in outgoing or ()] == ["myops::muladd_cpu", "myops::muladd_cuda", "fake"]


async def test_code_actions(myops: Path, name: str) -> None:
    async with editor(myops, name) as editing:
        await _read(editing)
        editing.open("csrc/reduce.cpp")
        editing.replace("csrc/reduce.cpp", '"row_sum(Tensor x) -> Tensor"', '"row_sum"')
        found = await editing.settled("csrc/reduce.cpp")
        actions = await editing.client.text_document_code_action_async(
            types.CodeActionParams(
                editing.identifier("csrc/reduce.cpp"),
                editing.whole("csrc/reduce.cpp"),
                types.CodeActionContext(found),
            )
        )
        titles = {each.title: each for each in actions or () if isinstance(each, types.CodeAction)}
        fix = titles["make it a TORCH_LIBRARY_FRAGMENT"]
        assert (fix.kind, fix.is_preferred) == ("quickfix", True)
        assert [each.code for each in fix.diagnostics or ()] == ["OPL203"]
        assert "apply all safe fixes of op-lint" in titles
        assert "ignore OPL202 duplicate-def here" in titles
        assert "write the schema that this kernel means: row_sum(Tensor x) -> Tensor" in titles
        missing = titles["add a Meta kernel of myops::scale"]
        assert "TORCH_LIBRARY_IMPL(myops, Meta, m)" in str(missing.edit)
        fake = titles["add a fake of myops::scale in myops/ops.py"]
        (written,) = editing.edits(fake.edit)["myops/ops.py"]
        assert '@torch.library.register_fake("myops::scale")\ndef _(x, s):\n' in written.new_text
        only = await editing.client.text_document_code_action_async(
            types.CodeActionParams(
                editing.identifier("csrc/reduce.cpp"),
                editing.whole("csrc/reduce.cpp"),
                types.CodeActionContext([], [types.CodeActionKind.SourceFixAll]),
            )
        )
        assert [each.title for each in only or ()] == ["apply all safe fixes of op-lint"]


async def test_commands(myops: Path, name: str) -> None:
    async with editor(myops, name) as editing:
        await _read(editing)

        async def run(command: str, *arguments: Any) -> Any:
            return await editing.client.workspace_execute_command_async(
                types.ExecuteCommandParams(command, list(arguments))
            )

        table = await run("op-lint.table", "myops::scale")
        rows = {row["key"]: row for row in table["keys"]}
        assert (rows["CPU"]["path"], rows["CPU"]["line"]) == ("csrc/cpu/kernels.cpp", 29)
        assert rows["CUDA"]["reason"] == "missing"
        assert (await run("op-lint.why", "myops::scale"))["steps"][-1]["key"] == "CPU"
        path = await run("op-lint.why", "myops::scale", {"device": "cuda", "requiresGrad": True})
        assert [step["key"] for step in path["steps"]] == ["AutogradCUDA", "ADInplaceOrView", "BackendSelect", "CUDA"]
        assert path["error"]["type"] == "NotImplementedError"
        assert (await run("op-lint.serverInformation"))[0]["torch"].startswith("2.13")
        toggled = await run(
            "op-lint.why", "myops::muladd", {"device": ["cpu"], "transforms": ["vmap"], "autocast": True}
        )
        assert "FuncTorchBatched" in toggled["keySet"]
        for wrong in ({"device": "gpu"}, {"layout": "round"}, {"colour": "red"}):
            with pytest.raises(JsonRpcException, match=r"gpu|round|colour"):
                await run("op-lint.why", "myops::muladd", wrong)
        await run("op-lint.restart")
        with pytest.raises(JsonRpcException):
            await run("op-lint.table", "myops::nothing")


async def _read(editing: Editor) -> None:
    """Open the definitions, and wait until everything is read, the torch as well."""
    editing.open("csrc/ops.cpp")
    for path in ("csrc/cpu/kernels.cpp", "csrc/cuda/kernels.cu"):
        editing.open(path)
    editing.open("myops/__init__.py", language="python")
    while not (await editing.hover("csrc/ops.cpp", "sc|ale(")).count("| ✗ raises |"):
        await editing.settled("csrc/ops.cpp")


def _locations(found: Any) -> list[types.Location]:
    assert isinstance(found, list)
    assert all(isinstance(each, types.Location) for each in found)
    return found


def _document_symbols(found: Any) -> list[types.DocumentSymbol]:
    assert isinstance(found, list)
    return found


async def test_the_matrix(myops: Path, name: str) -> None:
    async with editor(myops, name) as editing:
        await _read(editing)

        async def ask(**query: Any) -> Any:
            params = types.ExecuteCommandParams("op-lint.matrix", [query] if query else [])
            answer: Any = await editing.client.workspace_execute_command_async(params)
            (found,) = answer
            return found

        whole = await ask()
        assert whole["root"] == str(myops)
        assert whole["torch"].startswith("2.13")
        assert whole["namespaces"] == ["my_ops", "myops"]
        assert [each["key"] for each in whole["keys"]][:2] == ["CPU", "CUDA"]
        rows = {each["op"]: each for each in whole["operators"]}
        states = {op: {key: cell["state"] for key, cell in row["cells"].items()} for op, row in rows.items()}
        assert states["myops::scale"]["CPU"] == "kernel"
        assert states["myops::scale"]["CUDA"] == "missing"
        assert states["myops::row_sum"]["CUDA"] == "composite"
        assert states["myops::scale"]["AutogradCPU"] == "fallback"
        meta = rows["myops::muladd"]["cells"]["Meta"]
        assert (meta["state"], meta["kind"]) == ("kernel", "fake")
        assert meta["location"]["uri"] == editing.uri("myops/ops.py")
        assert rows["myops::muladd"]["uses"] == 1
        narrow = await ask(namespace="my_ops", keys=["SparseCPU"])
        assert {each["namespace"] for each in narrow["operators"]} == {"my_ops"}
        assert [each["key"] for each in narrow["keys"]] == ["SparseCPU"]
        editing.replace("csrc/ops.cpp", 'm.def("scale(', 'm.def("scaled(')
        await editing.settled("csrc/ops.cpp")
        after = await ask()
        assert after["revision"] > whole["revision"]
        assert "myops::scaled" in {each["op"] for each in after["operators"]}


PYTHON_OPERATORS = """import torch
from torch.library import Library, custom_op

@custom_op("demo::shift", mutates_args=())
def shift(x: torch.Tensor, n: int = 3, *, scale: float = 1.0) -> torch.Tensor:
    return x + n * scale

lib = Library("demo", "FRAGMENT")
lib.define("pair(Tensor x, int[] sizes=[1, 2], *, Device? device=None) -> (Tensor, Tensor)")
"""


async def test_a_fake_in_python(tmp_path: Path) -> None:
    root = write_project(tmp_path, {"ops.py": PYTHON_OPERATORS})
    async with editor(root) as editing:
        editing.open("ops.py", language="python")
        await editing.settled("ops.py")
        for operator in ("demo::shift", "demo::pair"):
            found = await editing.client.text_document_code_action_async(
                types.CodeActionParams(
                    editing.identifier("ops.py"), editing.whole("ops.py"), types.CodeActionContext([])
                )
            )
            titles = {each.title: each for each in found or () if isinstance(each, types.CodeAction)}
            editing.apply(titles[f"add a fake of {operator}"].edit)
            await editing.settled("ops.py")
        text = editing.text("ops.py")
        compile(text, "ops.py", "exec")
        assert '@torch.library.register_fake("demo::shift")\ndef _(x, n=3, *, scale=1.0):\n' in text
        assert text.index('demo::shift")') < text.index("lib = Library")
        assert "def _(x, sizes=[1, 2], *, device=None):" in text
        codes_after = codes(await editing.settled("ops.py"))
        assert not [each for each in codes_after if each.startswith(("OPL1", "OPL3"))]
