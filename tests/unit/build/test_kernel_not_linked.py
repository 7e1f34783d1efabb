"""OPL504."""

from __future__ import annotations

from pathlib import Path

import pytest

from op_lint.findings import Finding
from op_lint.program import Program
from tests.unit.builders import findings, read
from tests.unit.graphs import graph_of

DECLARED = "at::Tensor scale_cpu(const at::Tensor& x);\n"
DEFINED = "at::Tensor scale_cpu(const at::Tensor& x) { return x * 2; }\n"
HEAD = "#include <torch/library.h>\n"
LIBRARY = 'TORCH_LIBRARY(demo, m) {\n  m.def("scale(Tensor x) -> Tensor", &scale_cpu);\n}\n'
FILES = {"ops.cpp": HEAD + DECLARED + LIBRARY, "kernels.cpp": DEFINED, "more.cpp": ""}
"""The kernel is declared in line 2 and registered in line 4."""

CMAKE = "project(demo CXX)\nadd_library(ops SHARED ops.cpp more.cpp)\nadd_library(kernels STATIC kernels.cpp)\n"
SETUP = (
    "from setuptools import setup\nfrom torch.utils.cpp_extension import CppExtension\n"
    'setup(ext_modules=[CppExtension("demo._C", ["ops.cpp"]), CppExtension("demo._K", ["kernels.cpp"])])\n'
)


_FILES = {"from setuptools": "setup.py", "[[tool.setuptools": "pyproject.toml"}


def found(folder: Path, build: str = CMAKE, **changed: str) -> list[Finding]:
    """What the rule says of these sources and this build; `changed` are other texts of sources, without `.cpp`."""
    sources = {**FILES, **{f"{name}.cpp": text for name, text in changed.items()}}
    file = next((name for start, name in _FILES.items() if build.startswith(start)), "CMakeLists.txt")
    graph = graph_of(folder, {**sources, file: build}, registering=("ops.cpp",))
    return findings("OPL504", Program(read(sources), build=graph))


def test_a_kernel_of_another_library(tmp_path: Path) -> None:
    (finding,) = found(tmp_path)
    assert (finding.place.path, finding.place.line) == ("ops.cpp", 4)
    assert finding.message == (
        "no source of `ops` (CMakeLists.txt:2) defines `scale_cpu`, so loading it fails: compile or link kernels.cpp, "
        "which does"
    )
    assert [(each.place.path, each.place.line) for each in finding.related] == [
        ("ops.cpp", 2),
        ("kernels.cpp", 1),
        ("CMakeLists.txt", 2),
    ]
    assert finding.fix is None


@pytest.mark.parametrize(
    "library",
    [
        'TORCH_LIBRARY(demo, m) {\n  m.def("scale", &scale_cpu);\n}\n',
        'TORCH_LIBRARY_IMPL(demo, CPU, m) {\n  m.impl("scale", &scale_cpu);\n}\n',
        'STABLE_TORCH_LIBRARY_IMPL(demo, CPU, m) {\n  m.impl("scale", TORCH_BOX(&scale_cpu));\n}\n',
    ],
)
def test_ways_to_register(library: str, tmp_path: Path) -> None:
    assert [each.place.line for each in found(tmp_path, ops=HEAD + DECLARED + library)] == [4]


def test_in_a_namespace(tmp_path: Path) -> None:
    ops = f"{HEAD}namespace k {{ {DECLARED.strip()} }}\n{LIBRARY.replace('&scale', '&k::scale')}"
    (finding,) = found(tmp_path, ops=ops, kernels=f"namespace k {{ {DEFINED} }}\n")
    assert "defines `k::scale_cpu`" in finding.message


def test_setuptools(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, SETUP)
    assert finding.message.startswith("no source of `demo._C` (setup.py:3) defines `scale_cpu`")


@pytest.mark.parametrize(
    "given",
    [
        '["ops.cpp", "kernels.cpp"]',
        '["ops.cpp"], libraries=["mine"]',
        '["ops.cpp"], libraries=found()',
        '["ops.cpp"], libraries=["c10", name()]',
        '["ops.cpp"], extra_objects=["kernels.o"]',
        '["ops.cpp"], extra_link_args=["-lmine"]',
        '["ops.cpp"], extra_link_args=["-Wl,--whole-archive,build/libmine.a"]',
        '["ops.cpp"], extra_link_args=flags()',
        '["ops.cpp"], **settings()',
        "sources()",
    ],
)
def test_setuptools_that_links_more(given: str, tmp_path: Path) -> None:
    assert found(tmp_path, SETUP.replace('["ops.cpp"]', given)) == []


@pytest.mark.parametrize(
    "given", ['libraries=["cudart", "c10"]', 'extra_link_args=["-Wl,-rpath,$ORIGIN", "-O2", "-lcuda"]', "libraries=[]"]
)
def test_setuptools_that_links_no_kernels(given: str, tmp_path: Path) -> None:
    assert len(found(tmp_path, SETUP.replace('["ops.cpp"]', f'["ops.cpp"], {given}'))) == 1


@pytest.mark.parametrize("given", ['libraries = ["mine"]', 'extra-objects = ["kernels.o"]', 'libraries = ["c10"]'])
def test_pyproject(given: str, tmp_path: Path) -> None:
    module = '[[tool.setuptools.ext-modules]]\nname = "demo.{}"\nsources = ["{}.cpp"]\n'
    build = f"{module.format('_K', 'kernels')}{module.format('_C', 'ops')}{given}\n"
    assert len(found(tmp_path, build)) == ("c10" in given)


@pytest.mark.parametrize(
    "linked",
    ["torch", "torch_python", "torch_cpu", "c10_cuda", "${TORCH_LIBRARIES}", "${TORCH_PYTHON_LIBRARY}", "CUDA::cudart",
     "cudart", "${CUDA_LIBRARIES}", "Python::Module", "Python3::Python", "pybind11::module", "OpenMP::OpenMP_CXX",
     "Threads::Threads", "${CMAKE_DL_LIBS}", "-Wl,--no-as-needed", "-ltorch", "/usr/lib/libcudart.so", "m", "stdc++"],
)  # fmt: skip
@pytest.mark.parametrize("package", ["", "find_package(Torch REQUIRED)\n"])
def test_libraries_without_kernels_of_a_project(linked: str, package: str, tmp_path: Path) -> None:
    """What nearly every library of operators links says nothing of where a kernel is."""
    assert len(found(tmp_path, f"{package}{CMAKE}target_link_libraries(ops PRIVATE {linked})\n")) == 1


@pytest.mark.parametrize(
    "more",
    [
        "target_link_libraries(ops PRIVATE kernels)",
        "if(X)\ntarget_link_libraries(ops PRIVATE kernels)\nendif()",
        "add_library(all INTERFACE)\ntarget_link_libraries(all INTERFACE kernels)\n"
        "target_link_libraries(ops PRIVATE all)",
        "target_sources(ops PRIVATE kernels.cpp)",
        "if(X)\ntarget_sources(ops PRIVATE kernels.cpp)\nendif()",
        "target_sources(ops PRIVATE ${MORE})",
        "target_sources(ops PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/made.cpp)",
        "target_link_libraries(ops PRIVATE mine)",
        "target_link_libraries(ops PRIVATE torch_scatter)",
        "target_link_libraries(ops PRIVATE -lmine)",
        "target_link_libraries(ops PRIVATE ${MINE})",
        "target_link_libraries(ops PRIVATE /opt/mine/libmine.a)",
        "target_link_options(ops PRIVATE -lmine)",
        "target_link_options(ops PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/kernels.o)",
        "link_libraries(mine)\nadd_library(other SHARED ops.cpp)\nset_target_properties(ops PROPERTIES X 1)\n"
        "target_link_libraries(ops PRIVATE kernels)",
    ],
)
def test_it_may_be_linked(more: str, tmp_path: Path) -> None:
    assert found(tmp_path, f"{CMAKE}{more}\n") == []


@pytest.mark.parametrize("kind", ["STATIC", "OBJECT", "INTERFACE"])
def test_what_is_not_loaded_is_linked_elsewhere(kind: str, tmp_path: Path) -> None:
    assert found(tmp_path, CMAKE.replace("ops SHARED", f"ops {kind}")) == []


def test_a_source_of_some_builds(tmp_path: Path) -> None:
    build = CMAKE.replace("ops.cpp ", "") + "if(X)\ntarget_sources(ops PRIVATE ops.cpp)\nendif()\n"
    assert found(tmp_path, build) == []


@pytest.mark.parametrize(
    "more",
    [
        DEFINED,
        f"__attribute__((weak)) {DEFINED}",
        '#include "kernels.cpp"\n',
        f"#ifdef WITH_SCALE\n{DEFINED}#endif\n",
        "DEFINE_KERNEL(scale_cpu)\n",
        "DEFINE_KERNEL(scale_cpu);\n",
        "DEFINE_KERNEL(scale_cpu)\nint other() { return 1; }\n",
        f"#define DEFINE_KERNEL(name) at::Tensor name() {{ return {{}}; }}\nDEFINE_KERNEL(scale_cpu)\n{DECLARED}",
        f"TRACED(other)\n{DEFINED}",
    ],
)
def test_another_source_may_define_it(more: str, tmp_path: Path) -> None:
    assert found(tmp_path, more=more) == []


@pytest.mark.parametrize(
    "ops",
    [
        HEAD + DEFINED + LIBRARY,
        HEAD + LIBRARY,
        HEAD + DECLARED + LIBRARY.replace("&scale_cpu", "kernel()"),
        HEAD + DECLARED + LIBRARY.replace("&scale_cpu", "[](const at::Tensor& x) { return scale_cpu(x); }"),
        HEAD + DECLARED + f"#ifdef WITH_SCALE\n{LIBRARY}#endif\n",
        HEAD + "template <int N> " + DECLARED + LIBRARY.replace("&scale_cpu", "&scale_cpu<2>"),
    ],
    ids=["defined", "undeclared", "unresolved", "lambda", "condition", "template"],
)
def test_what_is_no_missing_symbol_for_certain(ops: str, tmp_path: Path) -> None:
    assert found(tmp_path, ops=ops) == []


@pytest.mark.parametrize(
    "kernels", ["", f"static {DEFINED}", f"namespace {{ {DEFINED} }}\n", f"#if X\n{DEFINED}#endif\n"]
)
def test_no_source_to_link_defines_it(kernels: str, tmp_path: Path) -> None:
    assert found(tmp_path, kernels=kernels) == []


def test_two_sources_to_link_define_it(tmp_path: Path) -> None:
    build = f"{CMAKE}add_library(others STATIC others.cpp)\n"
    assert len(found(tmp_path / "one", build, others="")) == 1
    assert found(tmp_path / "two", build, others=DEFINED) == []


def test_without_build_files() -> None:
    assert findings("OPL504", Program(read(FILES))) == []
