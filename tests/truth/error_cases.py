"""Small programs that torch refuses, each with what `op-lint diagnose` must make of what torch prints.

All but those with files of their own start with HEAD; the line of the cause is one of `ops.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

HEAD = """import torch

lib = torch.library.Library("demo", "DEF")
lib.define("scale(Tensor x, float s) -> Tensor")
lib.define("pair.one(Tensor x) -> Tensor")
lib.define("pair.two(Tensor x, int n) -> Tensor")
lib.define("make(int n) -> Tensor")
lib.define("many(Tensor[] xs) -> Tensor")
lib.define("inplace_(Tensor(a!) x) -> ()")
lib.define("view(Tensor(a) x) -> Tensor(a)")
x = torch.ones(2)


def scale(x, s):
    return x * s


"""
SCALE, PAIR, MAKE, MANY, INPLACE, VIEW = 4, 5, 7, 8, 9, 10
"""The lines that define these operators."""

FIRST = HEAD.count("\n") + 1
"""The line that a case starts in."""

CUSTOM = '@torch.library.custom_op("demo::c", mutates_args=())\n'


class Case(NamedTuple):
    """A program, and what must come out: the kind, where the cause is, what it is about, a rule that says so, too."""

    source: str
    kind: str
    line: int | None
    operator: str | None = None
    key: str | None = None
    code: str | None = None
    files: Mapping[str, str] = {}


def cpu(name: str = "scale", function: str = "scale") -> str:
    return f'lib.impl("{name}", {function}, "CPU")\n'


SCALED = "torch.ops.demo.scale(x, 2.0)\n"

CASES = {
    "a kernel of another backend": Case(
        f'lib.impl("scale", scale, "CUDA")\n{SCALED}', "missing-kernel", SCALE, "demo::scale", "CPU"
    ),
    "another layout": Case(
        f"{cpu()}torch.ops.demo.scale(x.to_sparse(), 2.0)\n", "missing-kernel", SCALE, "demo::scale", "SparseCPU"
    ),
    "no kernel at all": Case(SCALED, "missing-kernel", SCALE, "demo::scale", "CPU", "OPL304"),
    "a kernel registered too late": Case(f"{SCALED}{cpu()}", "missing-kernel", FIRST + 1, "demo::scale", "CPU"),
    "the dispatcher in Python": Case(
        f"from torch._dispatch.python import enable_python_dispatcher\nwith enable_python_dispatcher():\n    {SCALED}",
        "missing-kernel",
        SCALE,
        "demo::scale",
        "CPU",
    ),
    "get_kernel": Case(
        'torch.library.get_kernel("demo::scale", "CUDA")\n', "missing-kernel", SCALE, "demo::scale", "CUDA"
    ),
    "a custom_op for another device": Case(
        '@torch.library.custom_op("demo::c", mutates_args=(), device_types="cuda")\n'
        "def c(x: torch.Tensor) -> torch.Tensor:\n    return x.clone()\n\n\nc(x)\n",
        "missing-kernel",
        FIRST,
        "demo::c",
        "CPU",
    ),
    "a custom_op without tensors for another device": Case(
        '@torch.library.custom_op("demo::c", mutates_args=(), device_types="cuda")\n'
        "def c(n: int, device: torch.device) -> torch.Tensor:\n    return torch.ones(n, device=device)\n\n\n"
        'c(2, torch.device("cpu"))\n',
        "missing-kernel",
        FIRST,
        "demo::c",
    ),
    "no tensor argument": Case(
        f"{cpu('make', 'lambda n: x')}torch.ops.demo.make(2)\n",
        "no-tensor-argument",
        MAKE,
        "demo::make",
        None,
        "OPL305",
    ),
    "an empty list of tensors": Case(
        f"{cpu('many', 'lambda xs: x')}torch.ops.demo.many([])\n", "no-tensor-argument", MANY, "demo::many"
    ),
    "nothing but a fallthrough": Case(
        f"{cpu('scale', 'torch.library.fallthrough_kernel')}{SCALED}", "no-tensor-argument", FIRST, "demo::scale"
    ),
    "AutogradOther": Case(
        'lib.impl("scale", scale, "CompositeImplicitAutograd")\nlib.impl("scale", scale, "MkldnnCPU")\n'
        "torch.ops.demo.scale(x.to_mkldnn(), 2.0)\n",
        "ambiguous-autograd-other",
        FIRST,
        "demo::scale",
        None,
        "OPL413",
    ),
    "Meta tensors": Case(
        f'{cpu()}torch.ops.demo.scale(x.to("meta"), 2.0)\n', "missing-fake", SCALE, "demo::scale", None, "OPL302"
    ),
    "fake tensors": Case(
        f"from torch._subclasses.fake_tensor import FakeTensorMode\n{cpu()}with FakeTensorMode():\n"
        "    torch.ops.demo.scale(torch.ones(2), 2.0)\n",
        "missing-fake",
        SCALE,
        "demo::scale",
    ),
    "torch.compile": Case(
        f"{cpu()}torch.compile(lambda x: torch.ops.demo.scale(x, 2.0), fullgraph=True, backend='eager')(x)\n",
        "missing-fake",
        SCALE,
        "demo::scale",
    ),
    "a custom_op without a fake": Case(
        f"{CUSTOM}def c(x: torch.Tensor) -> torch.Tensor:\n    return x.clone()\n\n\nc(x.to('meta'))\n",
        "missing-fake",
        FIRST,
        "demo::c",
        None,
        "OPL302",
    ),
    "a misspelt operator": Case("torch.ops.demo.scael(x)\n", "no-operator", FIRST, "demo::scael", None, "OPL601"),
    "a misspelt namespace": Case("torch.ops.dmeo.scale(x)\n", "no-operator", FIRST, "dmeo::scale"),
    "a kernel without a definition": Case(
        f"{cpu('scael')}torch.ops.demo.scael(x)\n", "no-operator", FIRST, "demo::scael", None, "OPL201"
    ),
    "a fake without a definition": Case(
        'torch.library.register_fake("demo::scael", scale)\n', "no-operator", FIRST, "demo::scael", None, "OPL201"
    ),
    "a fake of another package": Case(
        'torch.library.register_fake("torchvision::nms", scale)\n', "no-operator", FIRST, "torchvision::nms"
    ),
    "an overload that is not there": Case("torch.ops.demo.scale.out(x)\n", "no-overload", FIRST, "demo::scale"),
    "an argument is missing": Case(
        "torch.ops.demo.scale(x)\n", "call-does-not-fit", FIRST, "demo::scale", None, "OPL608"
    ),
    "an argument of another type": Case(
        'torch.ops.demo.scale(x, "a")\n', "call-does-not-fit", FIRST, "demo::scale", None, "OPL608"
    ),
    "too many arguments": Case("torch.ops.demo.scale(x, 1.0, 3)\n", "call-does-not-fit", FIRST, "demo::scale"),
    "an unknown keyword": Case("torch.ops.demo.scale(x, 1.0, t=3)\n", "call-does-not-fit", FIRST, "demo::scale"),
    "no overload fits": Case('torch.ops.demo.pair("a")\n', "call-does-not-fit", FIRST, "demo::pair.one"),
    "gradients through a backend kernel": Case(
        f"{cpu('scale', 'lambda x, s: x.detach() * s')}y = torch.ops.demo.scale(x.requires_grad_(), 2.0)\n"
        "y.sum().backward()\n",
        "no-autograd-kernel",
        SCALE,
        "demo::scale",
        None,
        "OPL303",
    ),
    "gradients through a custom_op": Case(
        f"{CUSTOM}def c(x: torch.Tensor) -> torch.Tensor:\n    return x.clone()\n\n\n"
        "c(x.requires_grad_()).sum().backward()\n",
        "no-autograd-kernel",
        FIRST,
        "demo::c",
        None,
        "OPL303",
    ),
    "vmap over a list": Case(
        f"{cpu('many', 'lambda xs: xs[0].clone()')}torch.vmap(lambda x: torch.ops.demo.many([x]))(x)\n",
        "no-batching-rule",
        MANY,
        "demo::many",
    ),
    "functionalize a view": Case(
        f"{cpu('view', 'lambda x: x')}torch.func.functionalize(lambda x: torch.ops.demo.view(x))(x)\n",
        "aliased-output",
        VIEW,
        "demo::view",
        None,
        "OPL107",
    ),
    "a class that is not there": Case(
        'lib.define("f(Tensor x, __torch__.torch.classes.demo.T y) -> Tensor")\n', "no-class", FIRST
    ),
    "an instance of a class that is not there": Case("torch.classes.demo.Foo()\n", "no-class", FIRST),
    "a second definition": Case(
        'lib.define("scale(Tensor x, float s) -> Tensor")\n',
        "duplicate-definition",
        SCALE,
        "demo::scale",
        None,
        "OPL202",
    ),
    "a second definition by name": Case(
        'torch.library.define("demo::scale", "(Tensor x, float s) -> Tensor")\n',
        "duplicate-definition",
        SCALE,
        "demo::scale",
        None,
        "OPL202",
    ),
    "a definition of torch's": Case(
        'aten = torch.library.Library("aten", "FRAGMENT")\naten.define("mv(Tensor self, Tensor vec) -> Tensor")\n',
        "duplicate-definition",
        FIRST + 1,
        "aten::mv",
        None,
        "OPL212",
    ),
    "a second owner": Case(
        'other = torch.library.Library("demo", "DEF")\n', "duplicate-namespace", 3, None, None, "OPL203"
    ),
    "a second kernel": Case(f"{cpu()}{cpu()}", "overridden-kernel", FIRST + 1, "demo::scale", "CPU", "OPL204"),
    "a second kernel that is refused": Case(
        f'{cpu()}lib.impl("scale", scale, "CPU", allow_override=False)\n',
        "overridden-kernel",
        FIRST + 1,
        "demo::scale",
        "CPU",
        "OPL204",
    ),
    "a second fallback": Case(
        'fallbacks = torch.library.Library("_", "IMPL")\nfallbacks.fallback(lambda op, *a: None, "AutogradCPU")\n',
        "duplicate-fallback",
        FIRST,
        None,
        "AutogradCPU",
        "OPL205",
    ),
    "a fallback of one namespace": Case(
        'other = torch.library.Library("demo", "IMPL")\nother.fallback(lambda op, *a: None, "AutogradCPU")\n',
        "misplaced-registration",
        FIRST + 1,
        None,
        None,
        "OPL211",
    ),
    "a definition among kernels": Case(
        'other = torch.library.Library("demo", "IMPL")\nother.define("f(Tensor x) -> Tensor")\n',
        "misplaced-registration",
        FIRST + 1,
        "demo::f",
        None,
        "OPL211",
    ),
    "a schema with another namespace": Case(
        'lib.define("other::f(Tensor x) -> Tensor")\n', "other-namespace", FIRST, None, None, "OPL206"
    ),
    "a kernel with another namespace": Case(
        'lib.impl("other::scale", scale, "CPU")\n', "other-namespace", FIRST, "other::scale", None, "OPL206"
    ),
    "the wildcard namespace": Case(
        'other = torch.library.Library("_", "FRAGMENT")\n', "reserved-namespace", FIRST, None, None, "OPL208"
    ),
    "a reserved namespace": Case(
        'other = torch.library.Library("prim", "DEF")\n', "reserved-namespace", FIRST, None, None, "OPL208"
    ),
    "an unknown key": Case('lib.impl("scale", scale, "GPU")\n', "unknown-dispatch-key", FIRST, None, "GPU", "OPL210"),
    "an illegal name": Case('torch.library.register_fake("scale", scale)\n', "illegal-name", FIRST),
    "an unknown type": Case('lib.define("f(Tensr x) -> Tensor")\n', "invalid-schema", FIRST, None, None, "OPL101"),
    "a type of C++": Case('lib.define("f(int64_t n) -> Tensor")\n', "invalid-schema", FIRST, None, None, "OPL101"),
    "no returns": Case('lib.define("f(Tensor x)")\n', "invalid-schema", FIRST, None, None, "OPL101"),
    "no default": Case('lib.define("f(float s=) -> Tensor")\n', "invalid-schema", FIRST, None, None, "OPL101"),
    "a wrong default": Case('lib.define("f(Tensor x=3) -> Tensor")\n', "invalid-schema", FIRST, None, None, "OPL101"),
    "only a name": Case('lib.define("f")\n', "no-schema", FIRST),
    "a destroyed library": Case(
        'lib._destroy()\nlib.define("f(Tensor x) -> Tensor")\n', "library-destroyed", FIRST + 1
    ),
    "a kind of library that is not there": Case('torch.library.Library("demo", "DEFF")\n', "wrong-library-kind", FIRST),
    "no annotation": Case(
        f"{CUSTOM}def c(x) -> torch.Tensor:\n    return x\n", "uninferable-schema", FIRST + 1, None, None, "OPL605"
    ),
    "no annotation of the return": Case(
        f"{CUSTOM}def c(x: torch.Tensor):\n    return x\n", "uninferable-schema", FIRST + 1, None, None, "OPL605"
    ),
    "a tuple": Case(
        f"{CUSTOM}def c(x: torch.Tensor, s: tuple[int, int]) -> torch.Tensor:\n    return x\n",
        "uninferable-schema",
        FIRST + 1,
        None,
        None,
        "OPL605",
    ),
    "a mutated argument that is not there": Case(
        '@torch.library.custom_op("demo::c", mutates_args=("y",))\ndef c(x: torch.Tensor) -> torch.Tensor:\n'
        "    return x\n",
        "uninferable-schema",
        FIRST + 1,
        None,
        None,
        "OPL605",
    ),
    "a result that is an argument": Case(
        f"{CUSTOM}def c(x: torch.Tensor) -> torch.Tensor:\n    return x\n\n\nc(x)\n",
        "returns-input",
        FIRST + 2,
        "demo::c",
        None,
        "OPL403",
    ),
    "a second fake": Case(
        'torch.library.register_fake("demo::scale", scale)\n'
        'torch.library.register_fake("demo::scale", scale, allow_override=False)\n',
        "fake-refused",
        FIRST + 1,
        "demo::scale",
        None,
        "OPL204",
    ),
    "a fake beside a Meta kernel": Case(
        'lib.impl("scale", scale, "Meta")\ntorch.library.register_fake("demo::scale", scale, allow_override=False)\n',
        "fake-refused",
        FIRST + 1,
        "demo::scale",
        None,
        "OPL204",
    ),
    "a fake of a composite operator": Case(
        'lib.impl("scale", scale, "CompositeImplicitAutograd")\ntorch.library.register_fake("demo::scale", scale)\n',
        "fake-refused",
        FIRST + 1,
        "demo::scale",
    ),
    "a formula for an operator that mutates": Case(
        'torch.library.register_autograd("demo::inplace_", lambda ctx, g: g)\n',
        "autograd-refused",
        INPLACE,
        "demo::inplace_",
    ),
    "keyword-only tensors": Case(
        f"{CUSTOM}def c(*, n: torch.Tensor) -> torch.Tensor:\n    return n.clone()\n", "autograd-refused", FIRST
    ),
    "opcheck: an argument is returned": Case(
        'lib.impl("scale", lambda x, s: x, "CompositeExplicitAutograd")\n'
        "torch.library.opcheck(torch.ops.demo.scale.default, (x, 2.0))\n",
        "undeclared-alias",
        FIRST,
        None,
        None,
        "OPL403",
    ),
    "opcheck: an argument is written": Case(
        f"{CUSTOM}def c(x: torch.Tensor) -> torch.Tensor:\n    x.add_(1)\n    return x.clone()\n\n\n"
        "c.register_fake(lambda x: torch.empty_like(x))\ntorch.library.opcheck(c, (x,))\n",
        "undeclared-mutation",
        FIRST + 7,
    ),
    "opcheck: no fake": Case(
        f"{cpu()}torch.library.opcheck(torch.ops.demo.scale.default, (x, 2.0))\n", "missing-fake", SCALE, "demo::scale"
    ),
    "opcheck: another shape": Case(
        f'{cpu()}torch.library.register_fake("demo::scale", lambda x, s: x.new_empty(3))\n'
        "torch.library.opcheck(torch.ops.demo.scale.default, (x, 2.0))\n",
        "fake-differs",
        FIRST + 1,
        "demo::scale",
    ),
    "opcheck: gradients of a backend kernel": Case(
        f'{cpu()}torch.library.register_fake("demo::scale", scale)\n'
        "torch.library.opcheck(torch.ops.demo.scale.default, (x.requires_grad_(), 2.0))\n",
        "autograd-under-backend-key",
        FIRST,
        "demo::scale",
    ),
    "a library that is not there": Case('torch.ops.load_library("libdemo.so")\n', "library-not-found", FIRST),
    "a library that is none": Case(
        'torch.ops.load_library("./libdemo.so")\n', "library-unusable", FIRST, files={"libdemo.so": "123"}
    ),
    "a definition in a module that is not imported": Case(
        "torch.ops.demo.late(x)\n",
        "no-operator",
        4,
        "demo::late",
        files={
            "late.py": 'import torch\n\nlib = torch.library.Library("demo", "FRAGMENT")\n'
            'lib.define("late(Tensor x) -> Tensor")\n'
        },
    ),
}

QUIET = {
    "an exception of the program": 'raise RuntimeError("the operator does not exist in this table")\n',
    "an attribute that is not there": "torch.ops_are_nice\n",
    "a shape that does not fit": "torch.ones(2) @ torch.ones(3)\n",
    "a module that is not there": "import demo_nothing\n",
    "a device that is not there": 'torch.device("gpu")\n',
}
"""Programs that fail for reasons of their own."""
