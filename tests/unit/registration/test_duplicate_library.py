"""OPL203."""

from __future__ import annotations

from tests.unit.builders import findings, fixed, lines

HEAD = "#include <torch/library.h>\n"
LIBRARY = "TORCH_LIBRARY(demo, m) {}\n"


def test_two_sources() -> None:
    files = {"jpeg.cpp": HEAD + LIBRARY, "png.cpp": HEAD + LIBRARY}
    (finding,) = findings("OPL203", files)
    assert (finding.place.path, finding.place.line) == ("png.cpp", 2)
    assert finding.message == (
        "the namespace `demo` already has its TORCH_LIBRARY at jpeg.cpp:2, so loading the library aborts: use "
        "`TORCH_LIBRARY_FRAGMENT` here"
    )
    repaired = fixed(finding, files)
    assert repaired["png.cpp"] == HEAD + "TORCH_LIBRARY_FRAGMENT(demo, m) {}\n"
    assert finding.fix is not None
    assert finding.fix.safe
    assert findings("OPL203", repaired) == []


def test_in_one_file_it_does_not_compile() -> None:
    (finding,) = findings("OPL203", {"ops.cpp": HEAD + LIBRARY + LIBRARY})
    assert finding.place.line == 3
    assert "at line 2, so this does not compile, or does not load: use" in finding.message


def test_each_further_one_is_reported() -> None:
    files = {f"{name}.cpp": HEAD + LIBRARY for name in ("a", "b", "c")}
    assert lines(findings("OPL203", files)) == ["b.cpp:2", "c.cpp:2"]


def test_a_fragment_beside_the_library_is_right() -> None:
    files = {"a.cpp": HEAD + LIBRARY, "b.cpp": HEAD + "TORCH_LIBRARY_FRAGMENT(demo, m) {}\n"}
    assert findings("OPL203", files) == []


def test_two_namespaces() -> None:
    assert findings("OPL203", {"a.cpp": HEAD + LIBRARY + LIBRARY.replace("demo", "other")}) == []


def test_arms_of_one_condition() -> None:
    assert findings("OPL203", {"a.cpp": f"{HEAD}#ifdef USE_ROCM\n{LIBRARY}#else\n{LIBRARY}#endif\n"}) == []


def test_per_target_files() -> None:
    files = {"csrc/bindings.cpp": HEAD + LIBRARY, "csrc/cpu/bindings.cpp": HEAD + LIBRARY}
    assert findings("OPL203", files) == []


def test_the_stable_abi_crashes() -> None:
    stable = "#include <torch/csrc/stable/library.h>\nSTABLE_TORCH_LIBRARY(demo, m) {}\n"
    files = {"a.cpp": stable, "b.cpp": stable}
    (finding,) = findings("OPL203", files)
    assert "so loading the library crashes: use `STABLE_TORCH_LIBRARY_FRAGMENT` here" in finding.message
    assert fixed(finding, files)["b.cpp"] == stable.replace("STABLE_TORCH_LIBRARY", "STABLE_TORCH_LIBRARY_FRAGMENT")


def test_a_macro_of_the_project_is_not_rewritten() -> None:
    macro = "#define MY_LIBRARY(m) TORCH_LIBRARY(demo, m)\n"
    files = {"a.cpp": HEAD + macro + "MY_LIBRARY(m) {}\n", "b.cpp": HEAD + macro + "MY_LIBRARY(m) {}\n"}
    (finding,) = findings("OPL203", files)
    assert finding.fix is None


def test_a_namespace_of_the_build_is_another_in_each_extension() -> None:
    source = HEAD + "TORCH_LIBRARY(TORCH_EXTENSION_NAME, m) {}\n"
    assert findings("OPL203", {"a.cpp": source, "b.cpp": source}) == []
    assert lines(findings("OPL203", {"a.cpp": source + source})) == ["a.cpp:4"]


def test_python() -> None:
    source = 'import torch\na = torch.library.Library("demo", "DEF")\nb = torch.library.Library("demo", "DEF")\n'
    (finding,) = findings("OPL203", {"ops.py": source})
    assert finding.place.line == 3
    assert 'so this raises RuntimeError: use `Library(..., "FRAGMENT")` here' in finding.message
    assert findings("OPL203", {"ops.py": source.replace('"DEF")\nb', '"FRAGMENT")\nb')}) == []
