"""OPL209."""

from __future__ import annotations

from tests.unit.builders import findings, lines, rule

HEAD = "#include <torch/library.h>\n"


def test_it_is_opt_in() -> None:
    assert not rule("OPL209").default


def test_the_first_block_is_reported_once() -> None:
    files = {"a.cpp": HEAD + "TORCH_LIBRARY(_C, m) {}\n", "b.cpp": HEAD + "TORCH_LIBRARY_FRAGMENT(_C, m) {}\n"}
    (finding,) = findings("OPL209", files)
    assert finding.place.path == "a.cpp"
    assert [related.place.path for related in finding.related] == ["b.cpp"]


def test_kernels_for_others_are_right() -> None:
    assert findings("OPL209", {"a.cpp": HEAD + "TORCH_LIBRARY_IMPL(_C, CPU, m) {}\n"}) == []


def test_a_name_of_its_own() -> None:
    assert findings("OPL209", {"a.cpp": HEAD + "TORCH_LIBRARY(torchvision, m) {}\n"}) == []


def test_python() -> None:
    source = 'import torch\nlib = torch.library.Library("custom_ops", "FRAGMENT")\n'
    assert lines(findings("OPL209", {"ops.py": source})) == ["ops.py:2"]
