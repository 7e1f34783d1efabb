"""Documents that say what is built, as they are typed: CMakeLists.txt and setup.py."""

from __future__ import annotations

import codecs
import shutil
from pathlib import Path

import pytest
from lsprotocol import types

from tests.check import write_project
from tests.e2e.editor import EDITORS, Editor, editor

CASES = Path(__file__).parents[1] / "cases"
LISTS = "CMakeLists.txt"
PLAIN = "target_link_libraries(demo_ext PRIVATE demo_ops)"
WHOLE = "target_link_libraries(demo_ext PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,demo_ops>)"

pytestmark = pytest.mark.asyncio


@pytest.fixture
def pruned(tmp_path: Path) -> Path:
    project = tmp_path / "pruned"
    shutil.copytree(CASES / "19-static-archive-pruned", project)
    (project / "op-lint.toml").touch()
    return project


def codes(diagnostics: list[types.Diagnostic]) -> list[str]:
    return [f"{each.code} {each.range.start.line + 1}" for each in diagnostics]


@pytest.mark.parametrize("name", EDITORS)
async def test_a_link_as_it_is_typed(pruned: Path, name: str) -> None:
    async with editor(pruned, name) as editing:
        editing.open(LISTS, language="cmake")
        assert codes(await editing.settled(LISTS)) == ["OPL502 7"]
        editing.replace(LISTS, PLAIN, WHOLE)
        assert codes(await editing.settled(LISTS)) == []
        editing.replace(LISTS, WHOLE, PLAIN)
        assert codes(await editing.settled(LISTS)) == ["OPL502 7"]


async def test_edits_fit_into_the_files_that_they_are_made_in(tmp_path: Path) -> None:
    """Line ends are those of the file; a byte order mark is none of the text that an editor counts in."""
    listed = "add_library(m SHARED a.cpp)\r\n"
    ops = "#include <torch/library.h>\nTORCH_LIBRARY(demo, m) {}\n"
    static = "add_library(s STATIC dropped.cpp)\nadd_library(d SHARED\n  d.cpp)\ntarget_link_libraries(d PRIVATE s)\n"
    files: dict[str, str | bytes] = {
        "a.cpp": "int a() { return 0; }\n",
        "b.cpp": ops,
        "d.cpp": "int d() { return 0; }\r\n",
        "dropped.cpp": ops,
        LISTS: codecs.BOM_UTF8 + (listed + static.replace("\n", "\r\n")).encode(),
    }
    async with editor(write_project(tmp_path, files)) as editing:
        editing.open("b.cpp")
        (found,) = [each for each in await editing.settled("b.cpp") if each.code == "OPL501"]
        end = listed.index(")")
        ((made,),) = (await _edits(editing, "b.cpp", found, "add it to")).values()
        assert (made.range.start, made.new_text) == (types.Position(0, end), " b.cpp")
        editing.open("dropped.cpp")
        (found,) = [each for each in await editing.settled("dropped.cpp") if each.code == "OPL502"]
        edits = await _edits(editing, "dropped.cpp", found, "keep it by an anchor")
        (anchor,), (reference,) = edits[editing.uri("dropped.cpp")], edits[editing.uri("d.cpp")]
        assert (anchor.range.start, anchor.new_text.count("\r")) == (types.Position(0, 0), 0)
        assert (reference.range.start, reference.new_text.count("\r\n")) == (types.Position(0, 0), 1)


async def _edits(editing: Editor, path: str, found: types.Diagnostic, title: str) -> dict[str, list[types.TextEdit]]:
    """The edits of the one action with that title, by the file that they are in."""
    actions = await editing.client.text_document_code_action_async(
        types.CodeActionParams(editing.identifier(path), found.range, types.CodeActionContext([found]))
    )
    (action,) = [each for each in actions or () if each.title.startswith(title)]
    assert isinstance(action, types.CodeAction)
    assert action.edit is not None
    changes = action.edit.document_changes or ()
    texts = [each for each in changes if isinstance(each, types.TextDocumentEdit)]
    edits = {each.text_document.uri: each.edits for each in texts} or dict(action.edit.changes or {})
    return {uri: [each for each in some if isinstance(each, types.TextEdit)] for uri, some in edits.items()}


async def test_the_unit_is_marked_where_its_build_line_is_at_fault(pruned: Path) -> None:
    async with editor(pruned) as editing:
        editing.open(LISTS, language="cmake")
        editing.open("ops.cpp")
        (mark,) = [each for each in await editing.settled("ops.cpp") if each.code == "OPL502"]
        assert mark.severity is types.DiagnosticSeverity.Information
        assert mark.message.startswith("TORCH_LIBRARY(demo_ops) is not in `demo_ext`\nthe linker drops")
        (other,) = mark.related_information or ()
        assert (other.location.uri, other.location.range.start.line) == (editing.uri(LISTS), 6)
        actions = await editing.client.text_document_code_action_async(
            types.CodeActionParams(editing.identifier("ops.cpp"), mark.range, types.CodeActionContext([mark]))
        )
        titles = [each.title for each in actions or ()]
        assert any("WHOLE_ARCHIVE" in title or "--whole-archive" in title for title in titles)
        assert not any(title.startswith("ignore OPL502") for title in titles)  # that belongs to the build line
        editing.replace(LISTS, PLAIN, WHOLE)
        assert "OPL502" not in [each.code for each in await editing.settled("ops.cpp")]


async def test_suppression_and_hover(pruned: Path) -> None:
    async with editor(pruned) as editing:
        editing.open(LISTS, language="cmake")
        found = await editing.settled(LISTS)
        actions = await editing.client.text_document_code_action_async(
            types.CodeActionParams(editing.identifier(LISTS), found[0].range, types.CodeActionContext(found))
        )
        titles = {each.title: each for each in actions or () if isinstance(each, types.CodeAction)}
        edit = titles["ignore OPL502 unreferenced-registration-unit here"].edit
        assert edit is not None
        (change,) = edit.document_changes or ()
        assert isinstance(change, types.TextDocumentEdit)
        (written,) = change.edits
        assert isinstance(written, types.TextEdit)
        assert written.new_text == "# op-lint: ignore[OPL502]\n"
        target = await editing.hover(LISTS, "add_library(demo_e|xt MODULE")
        assert "loading it runs 0 of 1 registration block:" in target
        source = await editing.hover(LISTS, "STATIC ops|.cpp")
        assert "`TORCH_LIBRARY(demo_ops)`" in source
        assert "**the linker drops it**" in source
        link = await editing.hover(LISTS, "PRIVATE demo_|ops)")
        assert "WHOLE_ARCHIVE,demo_ops" in link
        editing.open("ops.cpp")
        assert "compiled into `demo_ops`" in await editing.hover("ops.cpp", "TORCH_LIB|RARY")
        place = await editing.client.text_document_definition_async(
            types.DefinitionParams(**editing.at(LISTS, "STATIC ops|.cpp"))
        )
        assert isinstance(place, list)
        assert [each.uri for each in place if isinstance(each, types.Location)] == [editing.uri("ops.cpp")]
        editing.replace(LISTS, PLAIN, f"# op-lint: ignore[OPL502] on purpose\n{PLAIN}")
        assert codes(await editing.settled(LISTS)) == []
        assert (await editing.hover(LISTS, "ignore[OPL5|02]")).startswith("# ")
        editing.replace(LISTS, PLAIN, WHOLE)
        assert codes(await editing.settled(LISTS)) == ["OPL901 7"]  # the comment does nothing any more


async def test_setup_py(tmp_path: Path) -> None:
    case = CASES / "05-cuda-source-list-conditional"
    files: dict[str, str | bytes] = {name: (case / name).read_text() for name in ("setup.py", "ops.cpp", "muladd.cu")}
    root = write_project(tmp_path, files)
    (root / "op-lint.toml").touch()
    async with editor(root) as editing:
        editing.open("setup.py", language="python")
        assert await _about_building(editing) == ["OPL501"]
        assert "when `CUDA_HOME`" in await editing.hover("setup.py", '"mulad|d.cu"')
        editing.replace("setup.py", "if CUDA_HOME is not None:", "if True:")
        assert not await _about_building(editing)
        hover = await editing.hover("setup.py", '"demo_ext|._C"')
        assert hover.startswith("**demo_ext._C** — extension module of setuptools")
        assert "3 of 3 registration blocks" in hover  # two of ops.cpp, one of muladd.cu


async def _about_building(editing: Editor) -> list[str]:
    await editing.settled("setup.py")
    found = editing.client.diagnostics.get(editing.uri("muladd.cu"), ())
    return [str(each.code) for each in found if str(each.code).startswith("OPL5")]


async def test_a_build_file_that_is_not_saved_yet(tmp_path: Path) -> None:
    case = CASES / "19-static-archive-pruned"
    root = write_project(tmp_path, {name: (case / name).read_text() for name in ("ops.cpp", "entry.cpp")})
    (root / "op-lint.toml").touch()
    async with editor(root) as editing:
        editing.open(LISTS, (case / LISTS).read_text(), language="cmake")
        assert codes(await editing.settled(LISTS)) == ["OPL502 7"]
        editing.close(LISTS)
        editing.open("ops.cpp")
        await editing.settled("ops.cpp")
        assert not editing.client.diagnostics.get(editing.uri(LISTS))
