"""Python files that need each other: wrappers, libraries and constants of other modules."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from op_lint.facts import FileFacts, Language, UnitKind
from op_lint.python import ImportGraph, PythonOptions, Wrapper, read_python, resolve
from tests.unit.python_facts import at, defined, kernels, project, python, read, unresolved

WRAPPER = """
import torch
from torch.library import Library, infer_schema

default = Library("ns", "FRAGMENT")

def register(name, function, mutates_args=None, fake=None, lib=None, key="CPU"):
    if mutates_args is None:
        mutates_args = []
    lib = lib or default
    lib.define(name + infer_schema(function, mutates_args=mutates_args))
    lib.impl(name, function, key)
    if fake is not None:
        lib._register_fake(name, fake)
"""

USER = """
import torch
from {module} import register

def f(x: torch.Tensor, n: int = 2) -> torch.Tensor: ...

register("f", f, fake=lambda x, n: x)
"""


@pytest.mark.parametrize(
    ("wrapper", "user", "module"),
    [
        ("pkg/wrap.py", "pkg/user.py", ".wrap"),
        ("pkg/wrap.py", "pkg/sub/user.py", "..wrap"),
        ("pkg/wrap/__init__.py", "pkg/user.py", "pkg.wrap"),
        ("src/pkg/wrap.py", "src/pkg/user.py", "pkg.wrap"),
        ("src/pkg/wrap.py", "tests/user.py", "pkg.wrap"),
        ("wrap.py", "user.py", "wrap"),
        ("utils/wrap.py", "ops/user.py", "project.utils.wrap"),
    ],
)
def test_a_wrapper_is_found_where_it_is_imported_from(wrapper: str, user: str, module: str) -> None:
    text = USER.format(module=module)
    facts = project({wrapper: WRAPPER, user: text})
    found = facts[user]
    assert defined(found) == ["ns::f(Tensor x, SymInt n=2) -> Tensor"]
    assert kernels(found) == ["ns::f CPU kernel f", "ns::f Meta fake <lambda>"]
    definition = found.definitions[0]
    assert at(text.encode(), definition.place) == 'register("f", f, fake=lambda x, n: x)'
    assert at(text.encode(), definition.name_place) == "f"
    assert definition.spelled is not None
    assert definition.spelled.path == wrapper
    assert at(WRAPPER.encode(), definition.spelled).startswith("lib.define(name + infer_schema(")
    assert not facts[wrapper].unresolved
    assert not facts[wrapper].definitions


def test_a_wrapper_that_nothing_calls_is_unresolved() -> None:
    facts = project({"wrap.py": WRAPPER})["wrap.py"]
    assert [(found.what, found.namespace) for found in facts.unresolved] == [
        ("def", "ns"),
        ("impl", "ns"),
        ("impl", "ns"),
    ]


def test_re_exports_stars_and_aliases() -> None:
    call = 'register("{0}", lambda x: x)\n'
    facts = project(
        {
            "pkg/__init__.py": "from .wrap import register\n",
            "pkg/wrap.py": WRAPPER,
            "pkg/all.py": "from .wrap import *\n",
            "pkg/alias.py": "import torch\nfrom . import wrap\nregister_op = wrap.register\n",
            "a.py": f"import torch\nfrom pkg import register\n{call.format('a')}",
            "b.py": f"import torch\nfrom pkg.all import register\n{call.format('b')}",
            "c.py": "import torch\nimport pkg.wrap as w\nw.register('c', lambda x: x)\n",
            "d.py": "import torch\nfrom pkg.alias import register_op as r\nr('d', lambda x: x)\n",
            "e.py": "import torch\nimport pkg.wrap\npkg.wrap.register('e', lambda x: x)\n",
        }
    )
    for name in "abcde":
        assert [str(fact.operator) for fact in facts[f"{name}.py"].definitions] == [f"ns::{name}"], name


def test_a_library_of_another_module() -> None:
    facts = project(
        {
            "lib.py": 'import torch\nlib = torch.library.Library("ns", "DEF", "CUDA")\n',
            "ops.py": 'import torch\nfrom lib import lib as L\nL.define("f(Tensor x) -> Tensor")\n'
            'L.impl("f", lambda x: x)\n@torch.library.impl(L, "f", "CPU")\ndef f_cpu(x): ...\n',
        }
    )["ops.py"]
    assert defined(facts) == ["ns::f(Tensor x) -> Tensor"]
    assert kernels(facts) == ["ns::f CUDA kernel <lambda>", "ns::f CPU kernel f_cpu"]
    (unit,) = facts.units
    assert (unit.place.path, unit.place.line, unit.kind) == ("lib.py", 2, UnitKind.PYTHON)


def test_decorators_that_are_made_by_functions() -> None:
    facts = project(
        {
            "make.py": """
            import torch
            def make_op(namespace, *, key="CPU"):
                def decorator(function):
                    name = f"{namespace}::{function.__name__.lstrip('_')}"
                    torch.library.define(name, torch.library.infer_schema(function, mutates_args=()))
                    torch.library.impl(name, key, function)
                    return function
                return decorator
            """,
            "ops.py": """
            import torch
            from make import make_op as custom_op
            cuda = custom_op("ns", key="CUDA")
            @cuda
            def _f(x: torch.Tensor) -> torch.Tensor: ...
            @custom_op("other")
            def g(x: torch.Tensor) -> None: ...
            """,
        }
    )["ops.py"]
    assert defined(facts) == ["ns::f(Tensor x) -> Tensor", "other::g(Tensor x) -> ()"]
    assert kernels(facts) == ["ns::f CUDA kernel _f", "other::g CPU kernel g"]


def test_a_class_that_wraps_a_library() -> None:
    facts = project(
        {
            "fragment.py": """
            import torch
            class Fragment:
                def __init__(self, namespace):
                    self.namespace = namespace
                    self.lib = torch.library.Library(namespace, "FRAGMENT")
                def define(self, schema):
                    if f"{self.namespace}::{schema.split('(')[0]}" not in torch.library._defs:
                        self.lib.define(schema)
                def register(self, name, kernels):
                    for key, kernel in kernels.items():
                        self.one(name, key, kernel)
                def one(self, name, key, kernel):
                    self.lib.impl(name, kernel, key)
            """,
            "tables.py": 'KERNELS = {"f": {"CPU": min, "Meta": max}, "g": {"CUDA": min}}\n',
            "ops.py": """
            import torch
            from fragment import Fragment
            from tables import KERNELS
            lib = Fragment("ns")
            lib.define("f(Tensor x) -> Tensor")
            for name, kernels in KERNELS.items():
                lib.register(name, kernels)
            """,
        }
    )
    assert defined(facts["ops.py"]) == ["ns::f(Tensor x) -> Tensor"]
    assert str(facts["ops.py"].definitions[0].condition) == "'ns::f' not in torch.library._defs"
    assert [kernel.rpartition(" ")[0] for kernel in kernels(facts["ops.py"])] == [
        "ns::f CPU kernel",
        "ns::f Meta kernel",
        "ns::g CUDA kernel",
    ]
    assert not unresolved(facts["ops.py"])
    assert not unresolved(facts["fragment.py"])


def test_constants_of_another_module() -> None:
    facts = project(
        {
            "pkg/names.py": 'import torch\nNS = "ns"\nOPS = ["f", "g"]\n',
            "pkg/ops.py": """
            import torch
            from .names import NS, OPS
            lib = torch.library.Library(NS, "DEF")
            for op in OPS:
                lib.define(f"{op}(Tensor x) -> Tensor")
            torch.library.register_fake(f"{NS}::{OPS[0]}", lambda x: x)
            """,
        }
    )["pkg/ops.py"]
    assert defined(facts) == ["ns::f(Tensor x) -> Tensor", "ns::g(Tensor x) -> Tensor"]
    assert kernels(facts) == ["ns::f Meta fake <lambda>"]
    assert not facts.unresolved


def test_what_no_file_of_the_project_tells_stays_unresolved() -> None:
    facts = read(
        """
        from elsewhere import lib, NAME
        torch.library.impl(lib, "f", "CPU")(lambda x: x)
        torch.library.register_fake(NAME, lambda x: x)
        """
    )
    assert unresolved(facts) == [
        "impl: the operator's name is `elsewhere.lib`",
        "impl: the operator's name is `elsewhere.NAME`",
    ]


def test_files_that_import_each_other() -> None:
    text = (
        "import torch\nfrom {0} import value, register\nregister(value)\n"
        "value2 = value\nlib = value\nlib.define('f() -> ()')\n"
    )
    facts = project({"a.py": text.format("b"), "b.py": text.format("a")})
    assert not facts["a.py"].definitions


def test_a_wrapper_that_calls_itself_and_wrappers_of_wrappers() -> None:
    facts = project(
        {
            "one.py": """
            import torch
            def register(name, depth=3):
                if depth:
                    register(name, depth - 1)
                torch.library.define(f"ns::{name}", "(Tensor x) -> Tensor")
            """,
            "two.py": "import torch\nfrom one import register\ndef register_two_op(name): register(name + '_two')\n",
            "ops.py": "import torch\nfrom two import register_two_op\nregister_two_op('f')\n",
        }
    )["ops.py"]
    assert defined(facts) == ["ns::f_two(Tensor x) -> Tensor"]


def test_configured_wrappers() -> None:
    options = PythonOptions(
        (
            Wrapper(
                "generated.add_op",
                ("name", "function", "fake"),
                operator="name",
                namespace="ns",
                function="function",
                fake="fake",
                key="'CUDA'",
            ),
            Wrapper("schema_op", ("schema", "name"), operator="name", schema="schema"),
        )
    )
    text = """
    import generated
    from anywhere import schema_op
    def f(x: {0}) -> {0}: ...
    generated.add_op("f", f, fake=lambda x: x)
    schema_op("(Tensor x) -> Tensor", "other::g")
    """.format("__import__('torch').Tensor")
    facts = project({"ops.py": text}, options)["ops.py"]
    assert [str(fact.operator) for fact in facts.definitions] == ["ns::f", "other::g"]
    assert kernels(facts) == ["ns::f CUDA kernel f", "ns::f Meta fake <lambda>"]


def test_known_wrappers_of_packages_that_are_not_in_the_project() -> None:
    facts = read(
        """
        from vllm.utils.torch_utils import direct_register_custom_op
        def f(x: torch.Tensor) -> torch.Tensor: ...
        mine = torch.library.Library("mine", "FRAGMENT")
        direct_register_custom_op("f", f, fake_impl=f, dispatch_key="CUDA")
        direct_register_custom_op(op_name="g", op_func=f, mutates_args=["x"], target_lib=mine)
        """
    )
    assert defined(facts) == ["vllm::f(Tensor x) -> Tensor", "mine::g(Tensor(a0!) x) -> Tensor"]
    assert kernels(facts)[:2] == ["vllm::f CUDA kernel f", "vllm::f Meta fake f"]


def test_facts_of_other_languages_pass_through() -> None:
    cpp = FileFacts("a.cpp", Language.CPP)
    assert resolve((cpp,)) == (cpp,)


def test_resolving_again_changes_nothing() -> None:
    files = {"wrap.py": WRAPPER, "user.py": USER.format(module="wrap")}
    facts = [read_python(path, text.encode()) for path, text in files.items()]
    assert resolve(facts) == resolve(facts)


def test_the_graph_of_imports() -> None:
    facts = project(
        {
            "pkg/__init__.py": "from . import a\n",
            "pkg/a.py": "import torch.library\nfrom .b import thing\ndef later():\n    import pkg.c\n",
            "pkg/b.py": "import os, pkg.d as d  # a comment\n",
            "pkg/c.py": "",
            "pkg/d.py": "",
            "pkg/alone.py": "from pkg import (\n    b,  # one\n    c,\n)\n",
        }
    )
    graph = ImportGraph(facts.values())
    assert graph.reachable("pkg/a.py") == {"pkg/__init__.py", "pkg/a.py", "pkg/b.py", "pkg/d.py"}
    assert graph.reachable("pkg/a.py", at_import=False) == {
        f"pkg/{name}.py" for name in ("__init__", "a", "b", "c", "d")
    }
    assert graph.importers("pkg/c.py") == ("pkg/a.py", "pkg/alone.py")
    assert graph.importers("pkg/alone.py") == ()
    assert [found.module for found in python(facts["pkg/b.py"]).imports] == ["os", "pkg.d"]


def test_a_decorator_of_another_file_called_with_a_function_of_a_third() -> None:
    facts = project(
        {
            "pkg/ops.py": """
                import torch
                def register_kernel(name, device):
                    def apply(function):
                        torch.library.register_kernel(name, device)(function)
                        return function
                    return apply
            """,
            "pkg/kernels.py": "def add(x, y): ...",
            "pkg/use.py": """
                from .ops import register_kernel
                from . import kernels as k
                from .kernels import add
                if k.available:
                    register_kernel("ns::f", "xpu")(k.add)
                register_kernel("ns::g", "cpu")(add)
            """,
        }
    )
    assert [(str(fact.operator), fact.key) for fact in facts["pkg/use.py"].implementations] == [
        ("ns::f", "XPU"),
        ("ns::g", "CPU"),
    ]


PACKAGE = Path(__file__).parent.parent / "truth" / "python_package"

FACTS = """
import sys
from pathlib import Path
from op_lint.python import read_python, resolve
root = Path(sys.argv[1])
paths = sorted(path.relative_to(root) for path in root.rglob("*.py"))
print(resolve([read_python(path.as_posix(), (root / path).read_bytes()) for path in paths]))
"""


def test_facts_do_not_depend_on_the_hash_seed() -> None:
    command = [sys.executable, "-c", FACTS, str(PACKAGE)]
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "PYTHONHASHSEED": str(seed)})
        for seed in range(4)
    ]
    facts = {process.communicate()[0] for process in running}
    assert len(facts) == 1
    assert len(facts.pop()) > 10_000


def test_facts_do_not_depend_on_the_order_of_files() -> None:
    paths = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))
    files = [read_python(path.as_posix(), (PACKAGE / path).read_bytes()) for path in paths]
    expected = resolve(files)
    for seed in range(5):
        mixed = Random(seed).sample(files, len(files))
        assert sorted(resolve(mixed), key=lambda file: file.path) == sorted(expected, key=lambda file: file.path)


def test_a_decorator_of_another_file_is_applied_under_the_condition_of_its_use() -> None:
    """Only one of the two arms runs, however the function that makes the decorator is reached."""
    facts = project(
        {
            "pkg/_ops.py": "import torch\nregister_kernel = torch.library.register_kernel\n",
            "pkg/user.py": """
            from ._ops import register_kernel
            from .other import fast, slow, native, triton

            if not isinstance(native, str):
                register_kernel("ns::f", "xpu")(fast)
            elif triton:
                register_kernel("ns::f", "xpu")(slow)

            decorated = register_kernel("ns::g", "cpu")
            if triton:
                @decorated
                def g(x): ...
            """,
        }
    )
    found = facts["pkg/user.py"].implementations
    assert [(str(fact.operator), str(fact.condition)) for fact in found] == [
        ("ns::f", "!(isinstance(pkg.other.native, str))"),
        ("ns::f", "isinstance(pkg.other.native, str) && pkg.other.triton"),
        ("ns::g", "pkg.other.triton"),
    ]


SCHEMA_OR_NAME = """
from torchgen.model import FunctionSchema

def register(library, schema_or_name):
    def wrapper(function):
        try:
            parsed = FunctionSchema.parse(schema_or_name)
            name, overload = parsed.name.name.base, parsed.name.overload_name
            library.define(schema_or_name)
        except AssertionError:
            if "." in schema_or_name:
                name, overload = schema_or_name.split(".")
            else:
                name, overload = schema_or_name, None
        library.impl(name + ("." + overload if overload else ""), function, "CPU")
        return function
    return wrapper
"""


def test_a_wrapper_that_takes_a_schema_or_a_name() -> None:
    user = """
    import torch
    from wrap import register

    lib = torch.library.Library("ns", "DEF")

    @register(lib, "f")
    def f(x): ...

    @register(lib, "g.out(Tensor x) -> Tensor")
    def g(x): ...
    """
    found = project({"wrap.py": SCHEMA_OR_NAME, "user.py": user})["user.py"]
    assert defined(found) == ["ns::g.out(Tensor x) -> Tensor"]
    assert set(kernels(found)) == {"ns::f CPU kernel f", "ns::g.out CPU kernel g"}
    unconditional = [fact for fact in found.implementations if not str(fact.condition)]
    assert [str(fact.operator) for fact in unconditional] == ["ns::f"]
    assert not found.unresolved
