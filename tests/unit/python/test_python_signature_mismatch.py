"""OPL604."""

from __future__ import annotations

import pytest

from op_lint.findings import Finding
from tests.unit.builders import findings, lines, torch

SCHEMA = "scale(Tensor x, float s=1.0, *, bool exact=False) -> Tensor"
DEFINED = f'import torch\nlib = torch.library.Library("demo", "DEF")\nlib.define("{SCHEMA}")\n'
IMPL = 'lib.impl("scale", kernel, "CPU")\n'
FAKE = 'torch.library.register_fake("demo::scale", kernel)\n'


def found(kernel: str, register: str = IMPL, defined: str = DEFINED) -> list[Finding]:
    """What the rule says of a function in line 4 of a module, which a line after it registers."""
    return findings("OPL604", {"ops.py": f"{defined}{kernel}\n{register}"})


def function(parameters: str) -> str:
    return f"def kernel({parameters}): return x"


@pytest.mark.parametrize(
    ("parameters", "at", "what", "harm"),
    [
        (
            "x, *, exact=False", "kernel", "has no parameter for the argument `float s`: add `s=1.0`",
            "a call that gives `s` another value than its default raises TypeError",
        ),
        (
            "x, s, *, exact=False", "s",
            "needs `s`, but torch leaves out an argument that equals its default: write `s=1.0`",
            "a call that leaves `s` out, or gives its default, raises TypeError",
        ),
        (
            "x, s=1.0, *, exact", "exact",
            "needs `exact`, but torch leaves out an argument that equals its default: write `exact=False`",
            "a call that leaves `exact` out, or gives its default, raises TypeError",
        ),
        (
            "x, s=1.0, *, precise=False", "kernel",
            "has no parameter `exact`, by which name torch passes that argument of the schema",
            "a call that gives `exact` another value than its default raises TypeError",
        ),
        (
            "x, s=1.0, *, exact=False, device", "device",
            "needs `device`, which the schema does not have: remove the parameter, or give it a default",
            "every call raises TypeError",
        ),
        (
            "exact, s=1.0, x=None", "kernel",
            "takes the argument `exact` by position, where another one comes: write `*` before it",
            "a call that gives `exact` another value than its default raises TypeError",
        ),
    ],
)  # fmt: skip
def test_what_does_not_fit_and_whom_it_harms(parameters: str, at: str, what: str, harm: str) -> None:
    kernel = function(parameters)
    (finding,) = found(kernel)
    assert finding.message == f"`kernel`, a CPU kernel of `demo::scale`, {what}"
    assert finding.notes == (f"its schema is `{SCHEMA}` (line 3)", harm)
    text = f"{DEFINED}{kernel}\n{IMPL}".encode()
    assert text[finding.place.start : finding.place.end].decode().partition("=")[0] == at
    assert [(related.place.line, related.message) for related in finding.related] == [
        (5, "it is registered here"),
        (3, "the schema of `demo::scale`"),
    ]


def test_the_argument_that_is_forgotten_is_named() -> None:
    """Python misses the last argument; who wrote the function forgot the one in the middle."""
    defined = DEFINED.replace(SCHEMA, "scale(Tensor x, int n, Tensor bias) -> Tensor")
    (finding,) = found(function("x, bias"), FAKE, defined)
    assert finding.message == ("`kernel`, a fake of `demo::scale`, has no parameter for the argument `int n`: add `n`")
    (finding,) = found(function("a, b"), FAKE, defined)
    assert "has no parameter for the argument `Tensor bias`" in finding.message


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('@torch.library.register_fake("demo::scale")\ndef _(x): return x\n', "this function, a fake"),
        ('lib.impl("scale", lambda x: x, "CPU")\n', "this function, a CPU kernel"),
        ('@torch.library.impl("demo::scale", "cuda")\ndef scale(x): return x\n', "`scale`, a CUDA kernel"),
        ('@torch.library.register_kernel("demo::scale", "cpu")\ndef scale(x): return x\n', "`scale`, a CPU kernel"),
        ('@torch.library.impl(lib, "scale", "Meta")\ndef scale(x): return x\n', "`scale`, a Meta kernel"),
        ("@torch.no_grad()\n" + function("x") + "\n" + IMPL, "`kernel`, a CPU kernel"),
    ],
)
def test_every_way_to_register(text: str, name: str) -> None:
    (finding,) = findings("OPL604", {"ops.py": DEFINED + text})
    assert finding.message.startswith(f"{name} of `demo::scale`, has no parameter for the argument `float s`")


@pytest.mark.parametrize(
    "parameters",
    [
        "x, s=1.0, *, exact=False",
        "x, s=1.0, exact=False",
        "a, b=2.0, /, *, exact=True",
        "*args, **kwargs",
        "x, *args, **kwargs",
        "x, s=1.0, **kwargs",
        "x, s=1.0, more=None, *, exact=False, another=3",
    ],
)
def test_what_every_call_fits(parameters: str) -> None:
    for register in (IMPL, FAKE):
        assert found(function(parameters), register) == []


@pytest.mark.parametrize(
    "register",
    [
        'lib.impl("scale", kernel, "CPU", with_keyset=True)\n',
        'torch.library.register_vmap("demo::scale", kernel)\n',
        'torch.library.register_autograd("demo::scale", kernel, setup_context=kernel)\n',
        'torch.library.register_torch_dispatch("demo::scale", Mode, kernel)\n',
        "torch.ops.demo.scale.default.py_impl(torch._C.DispatchKey.CPU)(kernel)\n",
        "torch._subclasses.fake_impls.register_op_impl(torch.ops.demo.scale.default)(kernel)\n",
        'torch.library.register_fake("demo::scale", adapt(kernel))\n',
        'lib.impl("scale", functools.partial(kernel, s=2), "CPU")\n',
        'lib.impl("scale", make(), "CPU")\n',
        'lib.impl("other", kernel, "CPU")\n',
        'lib.impl(name(), kernel, "CPU")\n',
        'torch.library.register_fake("stranger::scale", kernel)\n',
        "",
    ],
)
def test_what_torch_calls_with_others_or_nobody_knows(register: str) -> None:
    head = f"import functools\n{DEFINED}"
    assert len(found(function("x, y, z"), IMPL, head)) == 1
    assert found(function("x, y, z"), register, head) == []


@pytest.mark.parametrize(
    ("decorator", "expected"),
    [
        ("@adapted", []),
        ("@demo.adapted(1)", []),
        ("@functools.wraps(other)", []),
        ("@functools.lru_cache(maxsize=None)", ["ops.py:5"]),
        ("@torch.inference_mode()", ["ops.py:5"]),
        ("@torch.compiler.disable", ["ops.py:5"]),
    ],
)
def test_decorators(decorator: str, expected: list[str]) -> None:
    assert lines(found(f"{decorator}\n{function('x')}")) == expected


def test_a_method_gets_its_object() -> None:
    kernels = (
        "class Kernels:\n    def scale(self, x, s=1.0, *, exact=False): return x\n"
        "    @staticmethod\n    def alone(x, s=1.0, *, exact=False): return x\n"
        "    @classmethod\n    def of_class(cls, x, s=1.0, *, exact=False): return x\n\n\n"
    )
    for kernel in ("Kernels().scale", "Kernels.alone", "Kernels.of_class", "Kernels().of_class"):
        assert found(kernels, f'lib.impl("scale", {kernel}, "CPU")\n') == []


class TestCustomOps:
    HEAD = (
        'import torch\n@torch.library.custom_op("demo::scale", mutates_args=())\n'
        "def scale(x: torch.Tensor, s: float = 1.0) -> torch.Tensor: return x * s\n"
    )

    def test_a_fake_of_one(self) -> None:
        files = {"ops.py": self.HEAD + "@scale.register_fake\ndef _(x): return torch.empty_like(x)\n"}
        (finding,) = findings("OPL604", files)
        assert (finding.place.line, finding.message) == (
            5,
            "this function, a fake of `demo::scale`, has no parameter for the argument `float s`: add `s=1.0`",
        )

    def test_a_kernel_of_one(self) -> None:
        files = {"ops.py": self.HEAD + '@scale.register_kernel("cuda")\ndef _(x, s): return x\n'}
        assert lines(findings("OPL604", files)) == ["ops.py:5"]

    def test_itself(self) -> None:
        assert findings("OPL604", {"ops.py": self.HEAD}) == []

    def test_its_autograd(self) -> None:
        text = "def setup(ctx, inputs, output): pass\ndef backward(ctx, grad): return grad, None\n"
        files = {"ops.py": self.HEAD + text + "scale.register_autograd(backward, setup_context=setup)\n"}
        assert findings("OPL604", files) == []


class TestSeveralSchemas:
    """A function is not judged by a schema that is not certainly its own."""

    CPP = (
        "#include <torch/library.h>\nTORCH_LIBRARY(demo, m) {\n#ifdef USE_ROCM\n"
        '  m.def("scale(Tensor x, int n) -> Tensor");\n#else\n  m.def("scale(Tensor x) -> Tensor");\n#endif\n}\n'
    )
    PYTHON = 'import torch\n@torch.library.register_fake("demo::scale")\ndef _(x, a, b): return x\n'

    def test_two_that_differ(self) -> None:
        assert findings("OPL604", {"ops.cpp": self.CPP, "ops.py": self.PYTHON}) == []

    def test_one(self) -> None:
        cpp = self.CPP.replace(", int n", "")
        (finding,) = findings("OPL604", {"ops.cpp": cpp, "ops.py": self.PYTHON})
        assert finding.notes[0] == "its schema is `scale(Tensor x) -> Tensor` (ops.cpp:4)"

    def test_one_that_cannot_be_parsed(self) -> None:
        cpp = self.CPP.replace("int n", "Widget n").replace("scale(Tensor x) ->", "scale(Tensor x, Widget w) ->")
        assert findings("OPL604", {"ops.cpp": cpp, "ops.py": self.PYTHON}) == []

    def test_one_that_is_inferred_from_the_kernel(self) -> None:
        """C++ infers names and types; of a name alone nobody knows the arguments."""
        cpp = '#include <torch/library.h>\nTORCH_LIBRARY(demo, m) { m.def("scale", &f); }\n'
        assert findings("OPL604", {"ops.cpp": cpp, "ops.py": self.PYTHON}) == []

    def test_torch_s_own(self) -> None:
        python = {"ops.py": 'import torch\n@torch.library.impl("aten::relu", "xpu")\ndef relu(x, y): return x\n'}
        (finding,) = findings("OPL604", python, torch())
        assert finding.notes == ("its schema is `aten::relu(Tensor self) -> Tensor`", "every call raises TypeError")
        assert findings("OPL604", python) == []


def test_a_function_is_reported_once_for_an_operator() -> None:
    twice = IMPL + IMPL.replace("CPU", "CUDA") + FAKE
    assert lines(found(function("x"), twice)) == ["ops.py:4"]
    other = DEFINED + f'lib.define("{SCHEMA.replace("scale", "shift")}")\n'
    both = IMPL + 'lib.impl("shift", kernel, "CPU")\n'
    assert [each.message.partition(", has")[0] for each in found(function("x"), both, other)] == [
        "`kernel`, a CPU kernel of `demo::scale`",
        "`kernel`, a CPU kernel of `demo::shift`",
    ]


@pytest.mark.parametrize("kernel", ["def kernel(x, ", "def kernel(x", "def kernel(x):"])
def test_a_function_that_is_being_typed(kernel: str) -> None:
    decorated = f'{DEFINED}@torch.library.register_fake("demo::scale")\n{kernel}\n\n\ndef other(): pass\n'
    assert findings("OPL604", {"ops.py": decorated}) == []
