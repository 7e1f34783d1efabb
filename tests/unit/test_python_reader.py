"""Python registrations in all spellings, without torch. (tests/truth holds the same against the dispatcher.)"""

from __future__ import annotations

import msgspec
import pytest

from op_lint.condition import ALWAYS
from op_lint.facts import FileFacts, KernelKind, Lifetime, RunTime
from op_lint.python import dump_place, enclosing_function, read_python
from tests.unit.python_facts import defined, kernels, project, python, read, unresolved

LIBRARY = 'lib = torch.library.Library("ns", "DEF")\n'


@pytest.mark.parametrize(
    "making",
    [
        'lib = torch.library.Library("ns", "DEF")',
        'from torch.library import Library\nlib = Library("ns", "DEF")',
        'from torch import library as L\nlib = L.Library("ns", kind="DEF")',
        'import torch.library as tl\nlib = tl.Library(ns="ns", kind="DEF")',
        'Make = torch.library.Library\nlib = Make("ns", "DEF")',
        'NS = "n" + "s"\nlib = torch.library.Library(NS, "DEF")',
        'lib = getattr(torch.library, "Library")("ns", "DEF")',
        'from torch.library import *\nlib = Library("ns", "DEF")',
        'import functools\nlib = functools.partial(torch.library.Library, "ns")("DEF")',
        'def make():\n    return torch.library.Library("ns", "DEF")\nlib = make()',
        'holder = [torch.library.Library("ns", "DEF")]\nlib = holder[0]',
        'libs = {"a": torch.library.Library("ns", "DEF")}\nlib = libs["a"]',
        'lib: object = torch.library.Library("ns", "DEF")',
        'if (lib := torch.library.Library("ns", "DEF")):\n    pass',
    ],
)
def test_libraries_are_recognised_by_what_they_are(making: str) -> None:
    facts = read(f'{making}\nlib.define("f(Tensor x) -> Tensor")\n')
    assert defined(facts) == ["ns::f(Tensor x) -> Tensor"]
    assert [(unit.namespace, unit.macro) for unit in facts.units] == [("ns", "torch.library.Library")]
    assert python(facts).libraries[0].kind == "DEF"
    assert dump_place(facts.units[0]) == facts.units[0].place


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ('lib.impl("f", fn, "CPU")', "ns::f CPU kernel fn"),
        ('lib.impl("f", fn)', "ns::f CompositeImplicitAutograd kernel fn"),
        ('lib.impl(fn=fn, dispatch_key="CUDA", op_name="f.out")', "ns::f.out CUDA kernel fn"),
        ('lib.impl("ns::f", fn, "Meta")', "ns::f Meta kernel fn"),
        ('lib.impl(torch.ops.ns.f.default, fn, "CPU")', "ns::f CPU kernel fn"),
        ('lib.impl(torch.ops.ns.f.out, fn, "CPU")', "ns::f.out CPU kernel fn"),
        (
            'lib.impl("f", torch.library.fallthrough_kernel, "CPU")',
            "ns::f CPU fallthrough torch.library.fallthrough_kernel",
        ),
        ('lib._register_fake("f", fn)', "ns::f Meta fake fn"),
        ('lib.impl("f", lambda x: x, "CPU")', "ns::f CPU kernel <lambda>"),
        ('lib.impl("f", other.kernel, "CPU")', "ns::f CPU kernel other.kernel"),
        ('torch.library.impl("ns::f", "cpu", fn)', "ns::f CPU kernel fn"),
        ('torch.library.impl("ns::f", "npu", fn)', "ns::f PrivateUse1 kernel fn"),
        ('torch.library.impl("ns::f", "default")(fn)', "ns::f CompositeExplicitAutograd kernel fn"),
        ('torch.library.impl(lib, "f", "CPU")(fn)', "ns::f CPU kernel fn"),
        ('torch.library.register_kernel("ns::f", None, fn)', "ns::f CompositeExplicitAutograd kernel fn"),
        ('torch.library.register_fake("ns::f")(fn)', "ns::f Meta fake fn"),
        ("torch.library.register_fake(torch.ops.ns.f.default, fn)", "ns::f Meta fake fn"),
        ('torch.library.impl_abstract("ns::f", func=fn)', "ns::f Meta fake fn"),
        ('torch.library.register_autograd("ns::f", fn, setup_context=fn)', "ns::f Autograd autograd fn"),
        ('torch.library.register_vmap("ns::f", fn)', "ns::f FuncTorchBatched kernel fn"),
        (
            'torch.library.register_autocast("ns::f", "cuda", torch.half)',
            "ns::f AutocastCUDA kernel torch.library.register_autocast",
        ),
        ('torch._custom_ops.impl_abstract("ns::f", func=fn)', "ns::f Meta fake fn"),
        ("torch.ops.ns.f.default.py_impl(torch._C.DispatchKey.Autograd)(fn)", "ns::f Autograd kernel fn"),
        (
            "from torch._subclasses.fake_tensor import FakeTensorMode\n"
            "torch.ops.ns.f.default.py_impl(FakeTensorMode)(fn)",
            "ns::f Meta fake fn",
        ),
        (
            "from torch._subclasses.fake_impls import register_op_impl\nregister_op_impl(torch.ops.ns.f.default)(fn)",
            "ns::f Meta fake fn",
        ),
    ],
)
def test_kernels(call: str, expected: str) -> None:
    facts = read(f"import other\n{LIBRARY}def fn(x): ...\n{call}\n")
    assert kernels(facts) == [expected]
    assert not unresolved(facts)


def test_several_devices_are_several_kernels() -> None:
    facts = read('torch.library.impl("ns::f", ("cpu", "cuda"), lambda x: x)\n')
    assert [fact.key for fact in facts.implementations] == ["CPU", "CUDA"]
    assert len(facts.units) == 1


def test_fallback() -> None:
    facts = read(
        'lib = torch.library.Library("_", "IMPL")\nlib.fallback(torch.library.fallthrough_kernel, "Autocast")\n'
    )
    (fallback,) = facts.fallbacks
    assert (fallback.key, fallback.kernel.kind, fallback.namespace) == ("Autocast", KernelKind.FALLTHROUGH, None)
    assert facts.units[0].namespace is None


def test_custom_op_and_what_it_returns() -> None:
    facts = read(
        """
        @torch.library.custom_op("ns::f", mutates_args={"out"}, device_types=["cpu", "cuda"])
        def f(x: torch.Tensor, out: torch.Tensor, n: int = 2) -> None: ...

        @f.register_fake
        def _(x, out, n=2): ...

        f.register_kernel("xpu")(lambda x, out, n: None)
        f.register_autograd(backward)
        """
    )
    assert defined(facts) == ["ns::f(Tensor x, Tensor(a1!) out, SymInt n=2) -> ()"]
    assert [kernel.partition(" ")[2] for kernel in kernels(facts)] == [
        "CPU kernel f",
        "CUDA kernel f",
        "Meta fake _",
        "XPU kernel <lambda>",
        "Autograd autograd backward",
    ]
    assert {fact.unit for fact in facts.implementations} == {0}


def test_names_that_are_not_known_are_unresolved() -> None:
    facts = read(
        """
        import os
        lib = torch.library.Library(os.environ["NS"], "DEF")
        lib.define("f(Tensor x) -> Tensor")
        other = torch.library.Library("ns", "DEF")
        other.define(os.environ["OP"] + "(Tensor x) -> Tensor")
        other.impl("f", lambda x: x, os.environ["KEY"])
        torch.library.define(f"part::{os.getpid()}", "(Tensor x) -> Tensor")
        """
    )
    assert not facts.definitions
    assert [(found.what, found.namespace) for found in facts.unresolved] == [
        ("unit", None),
        ("def", None),
        ("def", "ns"),
        ("impl", "ns"),
        ("def", "part"),
    ]
    impl = facts.unresolved[3]
    assert str(impl.operator) == "ns::f"
    assert impl.reason == "the key is `os.environ['KEY']`"


def test_unrelated_define_and_impl_say_nothing() -> None:
    facts = read(
        """
        from torch import nn

        class Module:
            def impl(self, x): return x
            def define(self, text): return text
            def run(self):
                self.impl(1)
                return self.define("f(Tensor x) -> Tensor")

        Module().define("g(Tensor x) -> Tensor")
        registry.impl("h", lambda x: x, "CPU")
        """
    )
    assert not facts.definitions
    assert not facts.implementations
    assert not facts.unresolved


def test_conditions() -> None:
    facts = read(
        f"""
        from torch.cuda import is_available as has_cuda
        {LIBRARY}
        HAS = has_cuda()
        if HAS and not torch.version.hip:
            lib.define("a(Tensor x) -> Tensor")
        else:
            lib.define("b(Tensor x) -> Tensor")
        try:
            import triton
            lib.define("c(Tensor x) -> Tensor")
        except ImportError:
            lib.define("d(Tensor x) -> Tensor")
        if hasattr(torch.library, "register_fake"):
            lib.define("e(Tensor x) -> Tensor")
        if False:
            lib.define("never(Tensor x) -> Tensor")
        if __name__ == "__main__":
            lib.define("main(Tensor x) -> Tensor")
        match torch.__version__:
            case "2.4.0":
                lib.define("f(Tensor x) -> Tensor")
            case _:
                lib.define("g(Tensor x) -> Tensor")
        """
    )
    conditions = {fact.operator.name: str(fact.condition) for fact in facts.definitions}
    assert conditions == {
        "a": "torch.cuda.is_available() && !(torch.version.hip)",
        "b": "!(torch.cuda.is_available() && !(torch.version.hip))",
        "c": "import triton",
        "d": "!(import triton)",
        "e": "",
        "main": "__name__ == '__main__'",
        "f": "torch.__version__ matches '2.4.0'",
        "g": "!(torch.__version__ matches '2.4.0')",
    }
    assert all((fact.runtime_guard or "") == str(fact.condition) for fact in facts.definitions)


def test_an_early_return_is_a_condition() -> None:
    facts = read(
        f"""
        {LIBRARY}
        def setup(name):
            for key in ("CompositeImplicitAutograd", "Meta"):
                if torch._C._dispatch_has_kernel_for_dispatch_key("ns::f", key):
                    return
            if not torch.cuda.is_available():
                raise RuntimeError
            torch.library.register_fake("ns::f", lambda x: x)
        """
    )
    (fake,) = facts.implementations
    assert str(fake.condition) == (
        "!(torch._C._dispatch_has_kernel_for_dispatch_key('ns::f', 'CompositeImplicitAutograd')) && "
        "!(torch._C._dispatch_has_kernel_for_dispatch_key('ns::f', 'Meta'))"
    )


def test_one_of_several_values() -> None:
    facts = read(
        f"""
        {LIBRARY}
        key = "CUDA" if torch.cuda.is_available() else "CPU"
        lib.impl("f", lambda x: x, key)
        try:
            from extras import kernel
        except ImportError:
            kernel = None
        if torch.version.hip:
            register = torch.library.register_fake
        else:
            def register(name): return lambda fn: fn
        register("ns::g")(kernel)
        """
    )
    assert [(fact.key, str(fact.condition)) for fact in facts.implementations] == [
        ("CUDA", "torch.cuda.is_available()"),
        ("CPU", "!(torch.cuda.is_available())"),
        ("Meta", "torch.version.hip && import extras.kernel"),
        ("Meta", "torch.version.hip && !(import extras.kernel)"),
    ]


def test_functions_are_read_once_and_calls_are_counted() -> None:
    facts = read(
        f"""
        {LIBRARY}
        def setup():
            lib.define("f(Tensor x) -> Tensor")

        def unused():
            lib.define("g(Tensor x) -> Tensor")

        for _ in range(2):
            setup()
        """
    )
    assert defined(facts) == ["ns::f(Tensor x) -> Tensor", "ns::g(Tensor x) -> Tensor"]
    setup, unused = python(facts).functions
    assert (setup.name, setup.at_import, setup.repeated) == ("setup", True, True)
    assert (unused.name, unused.at_import, unused.repeated) == ("unused", False, False)
    assert setup.calls[0].run is RunTime.IMPORT
    assert enclosing_function(python(facts), facts.definitions[0].place) == setup


def test_loops_over_what_is_written_down() -> None:
    facts = read(
        f"""
        {LIBRARY}
        for name, (kind, *rest) in {{"a": ("int", 1), "b": ("float", 2)}}.items():
            lib.define(f"{{name}}(Tensor x, {{kind}} y) -> Tensor")
        """
    )
    assert [str(fact.operator) for fact in facts.definitions] == ["ns::a", "ns::b"]
    assert defined(facts) == ["ns::?", "ns::?"]  # a starred target is not taken apart
    facts = read(
        f"""
        {LIBRARY}
        for name, kind in {{"a": "int", "b": "float"}}.items():
            lib.define(f"{{name}}(Tensor x, {{kind}} y) -> Tensor")
        """
    )
    assert defined(facts) == ["ns::a(Tensor x, int y) -> Tensor", "ns::b(Tensor x, float y) -> Tensor"]
    assert [loop.iterations for loop in python(facts).loops] == [2]


def test_a_loop_of_unknown_length_does_not_keep_what_it_changes() -> None:
    facts = read(
        f"""
        {LIBRARY}
        name = "f"
        while more():
            name = name + "_"
        lib.define(name + "(Tensor x) -> Tensor")
        found = []
        for item in more():
            found.append(item)
        for item in found:
            lib.define("g(Tensor x) -> Tensor")
        """
    )
    assert defined(facts) == ["ns::g(Tensor x) -> Tensor"]
    assert [found.what for found in facts.unresolved] == ["def"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (LIBRARY, Lifetime.KEPT),
        (
            'def f():\n    lib = torch.library.Library("ns", "DEF")\n    lib.define("f(Tensor x) -> Tensor")\n',
            Lifetime.LOCAL,
        ),
        ('def f():\n    lib = torch.library.Library("ns", "DEF")\n    return lib\n', Lifetime.KEPT),
        ('def f():\n    lib = torch.library.Library("ns", "DEF")\n    return [lib]\n', Lifetime.KEPT),
        ('def f(self):\n    self.lib = torch.library.Library("ns", "DEF")\n', Lifetime.KEPT),
        ('def f():\n    global lib\n    lib = torch.library.Library("ns", "DEF")\n', Lifetime.KEPT),
        ('def f():\n    lib = torch.library.Library("ns", "DEF")\n    keep(lib)\n', Lifetime.KEPT),
        ('def f():\n    lib = torch.library.Library("ns", "DEF")\n    print(lib)\n', Lifetime.LOCAL),
        ('def f():\n    lib = torch.library.Library("ns", "DEF")\n    kept["lib"] = lib\n', Lifetime.KEPT),
        ('def f():\n    lib = torch.library.Library("ns", "DEF")\n    kept.append(lib)\n', Lifetime.KEPT),
        (
            'def f():\n    lib = torch.library.Library("ns", "DEF")\n    def g(): return lib\n    return g\n',
            Lifetime.KEPT,
        ),
        ('def f():\n    lib = torch.library.Library("ns", "DEF")\n    yield lib\n', Lifetime.KEPT),
        ('torch.library.Library("ns", "DEF").define("f(Tensor x) -> Tensor")\n', Lifetime.DISCARDED),
        (LIBRARY + "del lib\n", Lifetime.REBOUND),
        (LIBRARY + "lib = None\n", Lifetime.REBOUND),
        (LIBRARY + "other = lib\nlib = None\n", Lifetime.KEPT),
        ('class C:\n    lib = torch.library.Library("ns", "DEF")\n', Lifetime.KEPT),
        ('with torch.library._scoped_library("ns", "DEF") as lib:\n    pass\n', Lifetime.SCOPED),
        ('from torch.library import Library\nlibs = [Library("ns", "DEF")]\n', Lifetime.KEPT),
        (
            'def f():\n    lib = torch.library.Library("ns", "DEF")\n'
            '    torch.library.define("ns::f", "() -> ()", lib=lib)\n',
            Lifetime.LOCAL,
        ),
    ],
)
def test_lifetimes(text: str, expected: Lifetime) -> None:
    assert [library.lifetime for library in python(read(text)).libraries] == [expected]


def test_a_library_that_is_lost_in_a_loop() -> None:
    facts = read('for key in ("CPU", "CUDA"):\n    lib = torch.library.Library("ns", "IMPL", key)\n')
    assert [library.lifetime for library in python(facts).libraries] == [Lifetime.REBOUND, Lifetime.KEPT]
    assert [unit.key for unit in facts.units] == ["CPU", "CUDA"]


def test_functions_of_torch_are_described() -> None:
    facts = read(
        """
        from typing import Optional as Maybe
        from torch import Tensor as T
        @torch.library.register_fake("ns::f")
        def fake(x: T, y: "Maybe[T]" = None, /, *rest: int, flag: bool = False, **more) -> T: ...
        """
    )
    (function,) = python(facts).functions
    assert [(p.name, p.kind, p.annotation, p.default) for p in function.parameters] == [
        ("x", "positional", "torch.Tensor", None),
        ("y", "positional", "typing.Optional[torch.Tensor]", "None"),
        ("rest", "args", "int", None),
        ("flag", "keyword", "bool", "False"),
        ("more", "kwargs", None, None),
    ]
    assert function.returns == "torch.Tensor"
    assert function.place == facts.implementations[0].kernel.defined


def test_a_schema_that_cannot_be_inferred() -> None:
    facts = read(
        """
        def f(x: torch.Tensor, block: tuple[int, ...]) -> torch.Tensor: ...
        schema = torch.library.infer_schema(f, mutates_args=[])
        """
    )
    (inference,) = python(facts).inferences
    assert inference.schema is None
    assert inference.error is not None
    assert inference.error.startswith("infer_schema(func): Parameter block has unsupported type tuple[int, ...].")
    assert inference.error_place == python(facts).functions[0].parameters[1].annotation_place


def test_schemas_are_inferred_as_before_torch_2_5() -> None:
    facts = read(
        """
        import torch._custom_op.impl
        lib = torch.library.Library("ns", "DEF")
        def f(x: torch.Tensor, y: torch.Tensor | None) -> None: ...
        lib.define("f" + torch._custom_op.impl.infer_schema(f, ["x"]))
        """
    )
    assert defined(facts) == ["ns::f(Tensor(a0!) x, Tensor? y) -> ()"]


def test_without_knowing_what_is_mutated_no_schema_is_inferred() -> None:
    facts = read("def f(x: torch.Tensor) -> None: ...\nschema = torch.library.infer_schema(f)\n")
    assert python(facts).inferences == ()


@pytest.mark.parametrize(
    "function",
    [
        "from other import Kind\ndef f(x: Kind) -> torch.Tensor: ...",
        "from other import *\ndef f(x: Kind) -> torch.Tensor: ...",
        "@decorate\ndef f(x: torch.Tensor) -> torch.Tensor: ...",
        "def f(x: torch.UnheardOf) -> torch.Tensor: ...",
        "def f(x: int = compute()) -> torch.Tensor: ...",
        "from other import f",
        "import enum\nclass E(enum.Enum):\n    A = 1\ndef f(x: int = E.A) -> torch.Tensor: ...",
        "torch.library.register_opaque_type(C)\nclass C: ...\ndef f(x: C) -> torch.Tensor: ...",
    ],
)
def test_nothing_is_said_of_a_schema_that_is_not_known(function: str) -> None:
    facts = read(f'{function}\ntorch.library.custom_op("ns::f", mutates_args=())(f)\n')
    assert not python(facts).inferences
    assert defined(facts) == ["ns::?"]


def test_reading_twice_is_the_same_and_facts_can_be_kept() -> None:
    text = (
        f'import torch\n{LIBRARY}lib.define("f(Tensor x) -> Tensor")\nfrom .other import register\nregister("x", lib)\n'
    )
    first, second = read_python("ops.py", text.encode()), read_python("ops.py", text.encode())
    assert first == second
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(first), type=FileFacts) == first


def test_facts_are_in_source_order() -> None:
    facts = project(
        {
            "pkg/a.py": 'import torch\nfrom .b import lib\nlib.define("z(Tensor x) -> Tensor")\n'
            'torch.library.define("ns::y", "(Tensor x) -> Tensor")\nlib.define("x(Tensor x) -> Tensor")\n',
            "pkg/b.py": f"import torch\n{LIBRARY}",
        }
    )["pkg/a.py"]
    assert [fact.operator.name for fact in facts.definitions] == ["z", "y", "x"]
    assert all(fact.condition == ALWAYS for fact in facts.definitions)
    assert {unit.id for unit in facts.units} == {fact.unit for fact in facts.definitions}
