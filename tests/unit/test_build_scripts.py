"""`setup.py`, `pyproject.toml`, `cpp_extension.load`, Bazel and Buck, read by partial evaluation."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from op_lint.build.model import BuildSystem, TargetKind
from op_lint.build.script import effects
from tests.unit.graphs import codes, defines, graph_of, links, only, sources

HEAD = """\
import glob, os, sys, torch
from pathlib import Path
from setuptools import Extension, setup
from torch.utils.cpp_extension import CUDA_HOME, BuildExtension, CppExtension, CUDAExtension
here = os.path.dirname(os.path.abspath(__file__))
"""
FILES = dict.fromkeys(("a.cpp", "b.cpp", "c.cu", "sub/d.cpp", "sub/e_test.cpp"), "")


def setup_py(folder: Path, text: str) -> dict[str, str]:
    """The sources of the one extension of a `setup.py`, which the text puts into `ext`."""
    graph = graph_of(folder, {"setup.py": f"{HEAD}{text}\nsetup(name='demo', ext_modules=[ext])\n", **FILES})
    target = only(graph)
    assert target.kind is TargetKind.EXTENSION
    assert not target.incomplete
    outer = str(target.condition)
    return {path: " && ".join(each for each in (outer, inner) if each) for path, inner in sources(target).items()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ext = CppExtension('demo._C', ['a.cpp', 'b.cpp'])", {"a.cpp": "", "b.cpp": ""}),
        ("ext = Extension(name='demo._C', sources=['a.cpp'])", {"a.cpp": ""}),
        ("ext = CppExtension('demo._C', glob.glob('*.cpp'))", {"a.cpp": "", "b.cpp": ""}),
        ("ext = CppExtension('demo._C', glob.glob(os.path.join(here, '*.cpp')))", {"a.cpp": "", "b.cpp": ""}),
        (
            "ext = CppExtension('demo._C', sorted(glob.glob('**/*.cpp', recursive=True)))",
            {"a.cpp": "", "b.cpp": "", "sub/d.cpp": "", "sub/e_test.cpp": ""},
        ),
        (
            "ext = CppExtension('demo._C', [f for f in glob.glob('sub/*.cpp') if not f.endswith('_test.cpp')])",
            {"sub/d.cpp": ""},
        ),
        (
            "ext = CppExtension('demo._C', [str(p) for p in (Path(__file__).parent / 'sub').rglob('d.*')])",
            {"sub/d.cpp": ""},
        ),
        ("s = ['a.cpp']\ns += ['b.cpp']\ns.append('c.cu')\next = CppExtension('x', s)",
         dict.fromkeys(("a.cpp", "b.cpp", "c.cu"), "")),
        ("s = ['a.cpp', 'b.cpp']\ns.remove('a.cpp')\next = CppExtension('x', s)", {"b.cpp": ""}),
        ("d = 'sub'\next = CppExtension('x', [f'{d}/d.cpp', '%s/e_test.cpp' % d])",
         {"sub/d.cpp": "", "sub/e_test.cpp": ""}),
        ("t = {'x': ['a.cpp'], 'y': ['b.cpp']}\next = CppExtension('x', t['x'] + t.get('z', []))", {"a.cpp": ""}),
        ("s = list(map(lambda n: n + '.cpp', ['a', 'b']))\next = CppExtension('x', s)", {"a.cpp": "", "b.cpp": ""}),
        ("def get():\n    return ['a.cpp']\next = CppExtension('x', get())", {"a.cpp": ""}),
        (
            "def make(name, *, extra=()):\n    return CppExtension(name, ['a.cpp', *extra])\n"
         "ext = make('x', extra=['b.cpp'])",
            {"a.cpp": "", "b.cpp": ""},
        ),
        ("s = set(glob.glob('*.cpp')) - set(['a.cpp'])\next = CppExtension('x', list(s))", {"b.cpp": ""}),
        ("s = ['a.cpp']\nfor n in ('b', 'sub/d'):\n    s.append(n + '.cpp')\next = CppExtension('x', s)",
         {"a.cpp": "", "b.cpp": "", "sub/d.cpp": ""}),
        ("ext = CppExtension('x', ['a.cpp'] if 1 < 2 else ['b.cpp'])", {"a.cpp": ""}),
        ("s = [os.path.join('sub', n) for n in os.listdir('sub') if 'test' not in n]\next = CppExtension('x', s)",
         {"sub/d.cpp": ""}),
        ("class B:\n    def __init__(self, n):\n        self.s = [n]\next = CppExtension('x', B('a.cpp').s)",
         {"a.cpp": ""}),
    ],
)  # fmt: skip
def test_sources(text: str, expected: dict[str, str], tmp_path: Path) -> None:
    assert setup_py(tmp_path, text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("if CUDA_HOME is not None:\n    s.append('c.cu')", {"a.cpp": "", "c.cu": "CUDA_HOME"}),
        ("if CUDA_HOME is None:\n    s.append('c.cu')", {"a.cpp": "", "c.cu": "!CUDA_HOME"}),
        ("if torch.cuda.is_available() and CUDA_HOME:\n    s += ['c.cu']",
         {"a.cpp": "", "c.cu": "CUDA_HOME && torch.cuda.is_available()"}),
        ("if os.getenv('W', '0') == '1':\n    s += ['c.cu']", {"a.cpp": "", "c.cu": '$W == "1"'}),
        ("if os.environ.get('W'):\n    s += ['c.cu']\nelse:\n    s += ['b.cpp']",
         {"a.cpp": "", "c.cu": "$W", "b.cpp": "!($W)"}),
        ("use = bool(CUDA_HOME)\ns = s + (['c.cu'] if use else [])", {"a.cpp": "", "c.cu": "CUDA_HOME"}),
        ("if sys.platform == 'win32':\n    s = ['b.cpp']",
         {"b.cpp": 'sys.platform == "win32"', "a.cpp": '!(sys.platform == "win32")'}),
        ("if not CUDA_HOME:\n    raise RuntimeError\ns += ['c.cu']", {"a.cpp": "", "c.cu": ""}),
        ("def more():\n    if CUDA_HOME:\n        return ['c.cu']\n    return ['b.cpp']\ns += more()",
         {"a.cpp": "", "c.cu": "CUDA_HOME", "b.cpp": "!CUDA_HOME"}),
        ("s = [f for f in s + ['c.cu'] if CUDA_HOME or not f.endswith('.cu')]", {"a.cpp": "", "c.cu": "CUDA_HOME"}),
    ],
)  # fmt: skip
def test_both_arms_of_an_undecided_if(text: str, expected: dict[str, str], tmp_path: Path) -> None:
    found = setup_py(
        tmp_path, f"s = ['a.cpp']\n{text}\next = (CUDAExtension if CUDA_HOME else CppExtension)('demo._C', s)"
    )
    assert found == expected


def test_what_an_extension_says_of_itself(tmp_path: Path) -> None:
    text = f"""{HEAD}
macros = [("WITH_X", None), ("LEVEL", "2")]
setup(
    name="demo",
    ext_modules=[
        CppExtension("demo._C", ["a.cpp"], define_macros=macros, extra_link_args=["-Wl,--as-needed"],
                     extra_compile_args={{"cxx": ["-O2", "-DFLAG=1"]}}),
    ],
    cmdclass={{"build_ext": BuildExtension}},
)
"""
    target = only(graph_of(tmp_path, {"setup.py": text, **FILES}))
    assert (target.name, target.module, target.system) == ("demo._C", "demo._C", BuildSystem.SETUPTOOLS)
    assert defines(target) == {"TORCH_EXTENSION_NAME": "_C", "WITH_X": None, "LEVEL": "2", "FLAG": "1"}
    assert [option.text for option in target.options] == ["-Wl,--as-needed"]
    assert target.place.line == 11
    (source,) = target.sources
    assert text[source.place.start : source.place.end] == '"a.cpp"'


def test_a_source_under_the_name_of_its_copy(tmp_path: Path) -> None:
    text = "import shutil\ndef rename(names):\n for n in names:\n  shutil.copy(n, os.path.splitext(n)[0] + '.cu')\n"
    text += "rename(['a.cpp'])\next = CUDAExtension('x', ['a.cu', 'b.cpp'])\n"
    assert setup_py(tmp_path, text) == {"a.cpp": "", "b.cpp": ""}
    graph = graph_of(tmp_path, {})
    assert {source.path: source.copied for source in only(graph).sources} == {"a.cpp": True, "b.cpp": False}


IDLE = "def write(n):\n    for i in range(9):\n        with open(f'{n}{i}', 'w') as f:\n            f.write('x')\n"


@pytest.mark.parametrize(
    ("function", "is_idle"),
    [
        (IDLE, True),
        ("def f(n):\n    a = []\n    a.append(n)\n    print(len(a))\n", True),
        ("def f(n):\n    S.append(n)\n", False),
        ("def f(n):\n    T['x'] = n\n", False),
        ("def f(n):\n    n.x = 1\n", False),
        ("def f(n):\n    global S\n    S = n\n", False),
        ("def f(n):\n    other(n)\n", False),
        ("def f(n):\n    return n\n", False),
        ("def f(n):\n    setuptools.Extension(n)\n", False),
        ("def f(n):\n    shutil.copy(n, 'x')\n", False),
        ("def f(n):\n    sys.exit(1)\n", False),
    ],
)
def test_functions_that_say_nothing_about_what_is_built(function: str, is_idle: bool) -> None:
    (node,) = ast.parse(function).body
    assert isinstance(node, ast.FunctionDef)
    assert effects.is_idle(node) is is_idle


def test_what_is_under_main_runs_in_the_program_and_not_in_modules(tmp_path: Path) -> None:
    inner = "S = ['a.cpp']\nif __name__ == '__main__':\n    S.append('b.cpp')\n"
    files = {"lists.py": inner, "setup.py": f"{HEAD}from lists import S\nif __name__ == '__main__':\n"
             "    setup(ext_modules=[CppExtension('x', S)])\n", **FILES}  # fmt: skip
    assert sources(only(graph_of(tmp_path, files))) == {"a.cpp": ""}


def test_several_extensions_with_names_from_a_loop(tmp_path: Path) -> None:
    text = HEAD + "exts = [CppExtension(f'demo._{n}', [f'{n}.cpp']) for n in ('a', 'b')]\n"
    text += "setup(ext_modules=exts)\n"
    graph = graph_of(tmp_path, {"setup.py": text, **FILES})
    assert {each.name: sources(each) for each in graph.targets} == {"demo._a": {"a.cpp": ""}, "demo._b": {"b.cpp": ""}}


def test_helpers_in_another_module_of_the_project(tmp_path: Path) -> None:
    files = {
        "setup.py": "from setuptools import setup\nfrom tools import helpers\n"
        "setup(ext_modules=helpers.extensions())\n",
        "tools/__init__.py": "",
        "tools/helpers.py": "from torch.utils.cpp_extension import CppExtension\nNAMES = ['a.cpp']\n"
        "def extensions():\n    return [CppExtension('demo._C', NAMES)]\n",
        **FILES,
    }
    assert sources(only(graph_of(tmp_path, files))) == {"a.cpp": ""}


def test_an_extension_that_cmake_builds_says_nothing_about_sources(tmp_path: Path) -> None:
    text = HEAD + (
        "class CMakeExtension(Extension):\n    def __init__(self, name, folder=''):\n"
        "        super().__init__(name, sources=[])\nsetup(ext_modules=[CMakeExtension('demo._C', '.')])\n"
    )
    target = only(graph_of(tmp_path, {"setup.py": text, **FILES}))
    assert (target.name, target.module, target.incomplete) == ("demo._C", None, True)


def test_extensions_that_are_not_given_to_setup_do_not_count(tmp_path: Path) -> None:
    text = HEAD + "old = CppExtension('old', ['b.cpp'])\nsetup(ext_modules=[CppExtension('new', ['a.cpp'])])\n"
    assert only(graph_of(tmp_path, {"setup.py": text, **FILES})).name == "new"


def test_pyproject(tmp_path: Path) -> None:
    text = '[tool.setuptools]\next-modules = [\n  {name = "demo._C", sources = ["a.cpp", "b.cpp"]},\n]\n'
    target = only(graph_of(tmp_path, {"pyproject.toml": text, **FILES}))
    assert (target.module, sources(target)) == ("demo._C", {"a.cpp": "", "b.cpp": ""})
    assert [text[source.place.start : source.place.end] for source in target.sources] == ["a.cpp", "b.cpp"]


def test_what_a_program_builds_when_it_runs(tmp_path: Path) -> None:
    text = (
        "import os\nfrom torch.utils.cpp_extension import load\nhere = os.path.dirname(__file__)\n"
        "def build(verbose=False):\n    return load(name='jit_ops', sources=[os.path.join(here, 'ops.cpp')])\n"
        "plain = load('plain_ops', ['ops.cpp'], is_python_module=False)\n"
    )
    graph = graph_of(tmp_path, {"pkg/jit.py": text, "pkg/ops.cpp": ""})
    assert {(each.name, each.module, each.system) for each in graph.targets} == {
        ("jit_ops", "jit_ops", BuildSystem.JIT), ("plain_ops", None, BuildSystem.JIT),
    }  # fmt: skip
    assert all(sources(each) == {"pkg/ops.cpp": ""} for each in graph.targets)


@pytest.mark.parametrize(
    "text",
    ["def broken(:\n", "\x00", "(" * 500, "x = " + "[" * 200 + "]" * 200, "while True:\n    pass\n", "import setup\n",
     "def f():\n    return f()\nf()\n", "x = 'a'\nfor i in range(99):\n    x += x\n",
     "x = [1]\nfor i in range(99):\n    x += x\n", "x = '{:1000000000000}'.format(1)\n", "# coding: nonsense\n",
     "raise SystemExit\n", "x = 'ab'.replace('a', 'a' * 99999999)\n"],
)  # fmt: skip
def test_hostile_scripts(text: str, tmp_path: Path) -> None:
    good = "from setuptools import Extension, setup\nsetup(ext_modules=[Extension('demo', ['a.cpp'])])\n"
    graph = graph_of(tmp_path, {"setup.py": text, "sub/setup.py": good, "sub/a.cpp": ""})
    assert only(graph).name == "demo"


def test_nothing_is_executed(tmp_path: Path) -> None:
    mark = tmp_path / "executed"
    text = f"open({str(mark)!r}, 'w').close()\nimport os\nos.system('touch {mark}')\n"
    text += f"__import__('pathlib').Path({str(mark)!r}).touch()\n"
    graph_of(tmp_path, {"setup.py": text, "BUILD": text, "CMakeLists.txt": f"execute_process(COMMAND touch {mark})\n"})
    assert not mark.exists()


class TestBazel:
    """Bazel's and Buck's rules, `select`, `glob` and macros."""

    def test_libraries_and_what_links_them(self, tmp_path: Path) -> None:
        text = """
cc_library(name = "ops", srcs = ["a.cpp", "b.h"], alwayslink = True, defines = ["X=1"])
cc_library(name = "plain", srcs = glob(["*.cpp"], exclude = ["a.cpp"]), deps = [":ops"])
cc_binary(name = "main", srcs = ["main.cc"], deps = [":plain", "//lib:other", "@torch//:torch"])
cc_binary(name = "lib.so", srcs = ["main.cc"], linkshared = True)
cc_shared_library(name = "shared", deps = [":ops"])
"""
        files = {"BUILD.bazel": text, "a.cpp": "", "b.cpp": "", "b.h": "", "main.cc": ""}
        graph = graph_of(tmp_path, {f"pkg/{name}": content for name, content in files.items()})
        kinds = {each.name: each.kind for each in graph.targets}
        assert kinds == {
            "//pkg:ops": TargetKind.STATIC, "//pkg:plain": TargetKind.STATIC, "//pkg:main": TargetKind.EXECUTABLE,
            "//pkg:lib.so": TargetKind.SHARED, "//pkg:shared": TargetKind.SHARED,
        }  # fmt: skip
        assert links(only(graph, "//pkg:ops")) == [("//pkg:ops", "whole archive")]
        assert sources(only(graph, "//pkg:plain")) == {"pkg/b.cpp": ""}
        assert [name for name, _ in links(only(graph, "//pkg:main"))] == [
            "//pkg:plain",
            "//lib:other",
            "@torch//:torch",
        ]
        assert defines(only(graph, "//pkg:ops")) == {"X": "1"}

    def test_select(self, tmp_path: Path) -> None:
        text = """
cc_library(
    name = "ops",
    srcs = ["a.cpp"] + select({":cuda": ["c.cu"], "//conditions:default": ["b.cpp"]}),
)
"""
        graph = graph_of(tmp_path, {"BUILD": text, **FILES})
        assert sources(only(graph)) == {"a.cpp": "", "c.cu": ":cuda", "b.cpp": "!(:cuda)"}

    def test_macros_of_the_project(self, tmp_path: Path) -> None:
        files = {
            "defs.bzl": "SRCS = ['a.cpp']\ndef op_library(name, srcs = [], **kwargs):\n"
            "    native.cc_library(name = name, srcs = SRCS + srcs, **kwargs)\n",
            "BUILD": 'load("//:defs.bzl", "op_library", own = "SRCS")\n'
            'op_library(name = "ops", srcs = ["b.cpp"], alwayslink = 1)\n',
            **FILES,
        }
        graph = graph_of(tmp_path, files)
        assert sources(only(graph)) == {"a.cpp": "", "b.cpp": ""}
        assert links(only(graph)) == [("//:ops", "whole archive")]

    def test_buck(self, tmp_path: Path) -> None:
        text = """
load("@fbcode//tools:defs.bzl", "cpp_library")
cpp_library(name = "ops", srcs = ["a.cpp", ("b.cpp", ["-O0"])], link_whole = True, exported_deps = ["//caffe2:torch"])
cpp_python_extension(name = "_C", base_module = "demo", srcs = ["a.cpp"])
"""
        graph = graph_of(tmp_path, {"BUCK": text, **FILES})
        ops = only(graph, "//:ops")
        assert (ops.system, sources(ops)) == (BuildSystem.BUCK, {"a.cpp": "", "b.cpp": ""})
        assert links(ops) == [("//caffe2:torch", "plain"), ("//:ops", "whole archive")]
        assert only(graph, "//:_C").module == "demo._C"

    @pytest.mark.parametrize(
        "text", ["cc_library(", "load(1)\nselect()\nglob()\ncc_library(name = 1)\n", 'load("//:BUILD", "x")\n']
    )
    def test_hostile_files(self, text: str, tmp_path: Path) -> None:
        graph = graph_of(
            tmp_path, {"BUILD": text, "sub/BUILD": 'cc_library(name = "x", srcs = ["y.cpp"])', "sub/y.cpp": ""}
        )
        assert only(graph).name == "//sub:x"
        assert codes(graph) <= {"build-syntax"}


@pytest.mark.parametrize(
    ("loop", "incomplete"),
    [
        ("for name in ['a.cpp', 'b.cpp']:", False),
        ("for name in ['a.cpp', *os.environ['MORE'].split()]:", True),
        ("for name in [" + 600 * "'a.cpp', " + "'b.cpp']:", True),
    ],
    ids=["all is known", "more than is known", "more than is read"],
)
def test_what_a_loop_does_not_come_to_is_unknown(loop: str, incomplete: bool, tmp_path: Path) -> None:
    text = f"{HEAD}found = []\n{loop}\n    found.append(name)\next = CppExtension('demo._C', found)\n"
    graph = graph_of(tmp_path, {"setup.py": f"{text}setup(name='demo', ext_modules=[ext])\n", **FILES})
    target = only(graph)
    assert "a.cpp" in sources(target)
    assert target.incomplete is incomplete
