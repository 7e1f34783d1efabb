"""The report as one page: what is in it. How it behaves is in tests/e2e/test_page.py."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.check import copy_of, run, write_project

ROOT = Path(__file__).parents[2]


def page(folder: Path, *arguments: str) -> str:
    outcome = run(folder, "report", "--html", "-", "--torch-version", "2.13.0", "--jobs", "0", "--no-cache", *arguments)
    assert (outcome.status, outcome.err) == (0, ""), outcome
    return outcome.out


def data_in(text: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return data_in(page(copy_of(ROOT / "examples" / "myops", tmp_path_factory.mktemp("page"))))


def at(data: dict[str, Any], place: list[int]) -> str:
    return f"{data['paths'][place[0]]}:{place[1]}"


def operator(data: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = [each for each in data["operators"] if each["name"] == name]
    return dict(found)


def cells(data: dict[str, Any], name: str) -> dict[str, tuple[Any, ...]]:
    """State, kernel and place of an operator's cells, by key."""
    named = zip(data["keys"], (data["cells"][index] for index in operator(data, name)["cells"]), strict=True)
    return {
        key: (cell["state"], cell["kernel"], at(data, cell["place"]) if cell["place"] else None) for key, cell in named
    }


def test_operators_have_schema_and_places(example: dict[str, Any]) -> None:
    normalize = operator(example, "myops::normalize")
    assert normalize["schema"] == "myops::normalize(Tensor x, int dim=-1, float eps=1e-6) -> Tensor"
    assert [at(example, place) for place in normalize["definitions"]] == ["csrc/ops.cpp:13"]
    kernels = {(each["key"], each["kind"], at(example, each["place"])) for each in normalize["kernels"]}
    assert kernels == {
        ("CPU", "kernel", "csrc/cpu/kernels.cpp:30"),
        ("CUDA", "kernel", "csrc/cuda/kernels.cu:33"),
        ("CUDA", "kernel", "csrc/cuda/kernels.cu:35"),
        ("Meta", "fake", "myops/ops.py:10"),
    }


def test_cells_are_what_a_call_finds(example: dict[str, Any]) -> None:
    normalize = cells(example, "myops::normalize")
    assert normalize["CPU"] == ("kernel", "myops::normalize_cpu", "csrc/cpu/kernels.cpp:30")
    assert normalize["CUDA"] == ("kernel", "myops::normalize_cuda", "csrc/cuda/kernels.cu:35")  # the last one wins
    assert normalize["AutogradCPU"][0] == "fallback"
    assert cells(example, "myops::scale")["CUDA"] == ("missing", None, None)
    assert cells(example, "myops::row_sum")["CUDA"] == ("composite", "myops::row_sum", "csrc/reduce.cpp:12")
    assert example["keys"][: example["backends"]] == ["CPU", "CUDA", "Meta"]


def test_a_finding_stands_with_its_operator(example: dict[str, Any]) -> None:
    found = [example["findings"][index] for index in operator(example, "myops::scale")["findings"]]
    assert {each["code"] for each in found} == {"OPL102", "OPL202", "OPL302"}
    (mismatch,) = [each for each in found if each["code"] == "OPL102"]
    assert at(example, mismatch["place"]) == "csrc/cpu/kernels.cpp:29"
    assert at(example, mismatch["related"][0][0]) == "csrc/ops.cpp:12"
    assert example["rules"].keys() == {each["code"] for each in example["findings"]}


def test_units_have_their_targets(example: dict[str, Any]) -> None:
    units = {at(example, each["place"]): each for each in example["units"]}
    assert units["csrc/ops.cpp:10"]["targets"] == ["myops._C"]
    assert units["csrc/ops.cpp:10"]["registrations"] == 6
    assert units["myops/ops.py:4"]["targets"] == []
    (target,) = example["targets"]
    assert (target["name"], at(example, target["place"]), target["units"]) == ("myops._C", "setup.py:14", 5)


def test_torchs_own_places_are_told_from_the_projects(example: dict[str, Any]) -> None:
    own = {path for path, is_own in zip(example["paths"], example["own"], strict=True) if is_own}
    assert "csrc/ops.cpp" in own
    assert "aten/src/ATen/core/VariableFallbackKernel.cpp" in set(example["paths"]) - own


def test_without_a_torch_only_what_is_written_is_known(tmp_path: Path) -> None:
    project = copy_of(ROOT / "examples" / "myops", tmp_path)
    outcome = run(project, "report", "--html", "-", "--no-torch", "--jobs", "0")
    data = data_in(outcome.out)
    assert data["torch"] == "held against no torch"
    assert cells(data, "myops::scale")["CPU"] == ("kernel", "myops::scale_cpu", "csrc/cpu/kernels.cpp:29")
    assert cells(data, "myops::scale")["CUDA"] == (None, None, None)


def test_what_was_not_understood_is_listed(tmp_path: Path) -> None:
    source = (
        "#include <torch/library.h>\nTORCH_LIBRARY(demo, m) {\n  for (auto& schema : schemas()) m.def(schema);\n}\n"
    )
    data = data_in(page(write_project(tmp_path, {"ops.cpp": source})))
    assert [at(data, place) for place, _ in data["notes"]] == ["ops.cpp:3"]


def test_the_same_project_gives_the_same_page_anywhere(tmp_path: Path) -> None:
    first = copy_of(ROOT / "examples" / "myops", tmp_path / "a")
    second = copy_of(ROOT / "examples" / "myops", tmp_path / "b" / "c")
    assert page(first) == page(tmp_path, str(second))
    assert str(tmp_path) not in page(first)


def test_what_a_source_says_stays_text(tmp_path: Path) -> None:
    code = "#include <torch/library.h>\n// </script><script>alert(1)</script>\nTORCH_LIBRARY(demo, m) {\n"
    code += '  m.def("f(str s=\\"</script><!--<img src=x>\\") -> Tensor");\n}\n'
    text = page(write_project(tmp_path / "<b>&amp;", {"ops.cpp": code}))
    assert text.count("</script>") == 2
    assert "<!--" not in text
    assert operator(data_in(text), "demo::f")["schema"] == 'demo::f(str s="</script><!--<img src=x>") -> Tensor'
    assert "<title>&lt;b&gt;&amp;amp;: operators" in text


def test_nothing_is_loaded_from_anywhere(tmp_path: Path) -> None:
    text = page(write_project(tmp_path, {}))
    assert "default-src 'none'" in text
    assert re.findall(r"""(?:src|href)=["'](?!data:,)|@import|url\(|fetch\(|XMLHttpRequest|https?://""", text) == []


def test_the_page_of_a_project_without_operators(tmp_path: Path) -> None:
    data = data_in(page(write_project(tmp_path, {"a.py": "x = 1\n"})))
    assert (data["operators"], data["findings"]) == ([], [])


def test_it_is_written_to_a_file(tmp_path: Path) -> None:
    write_project(tmp_path, {})
    assert run(tmp_path, "report", "--html", "out.html", "--no-torch") == (0, "", "")
    assert (tmp_path / "out.html").read_text("utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "--html"),
        (("--html", "none/out.html"), "none/out.html"),
        (("--html", "-", "--link", "https://example.org"), "--link needs {path}"),
    ],
)
def test_what_cannot_be_done_is_said(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    write_project(tmp_path, {})
    outcome = run(tmp_path, "report", "--no-torch", *arguments)
    assert (outcome.status, outcome.out) == (2, "")
    assert said in outcome.err


def test_a_wrong_configuration_is_said_and_the_page_still_written(tmp_path: Path) -> None:
    write_project(tmp_path, {"op-lint.toml": "defins = 1\n"})
    outcome = run(tmp_path, "report", "--html", "out.html", "--no-torch")
    assert outcome.status == 2
    assert "op-lint.toml:1: there is no setting `defins`" in outcome.err
    assert (tmp_path / "out.html").exists()
