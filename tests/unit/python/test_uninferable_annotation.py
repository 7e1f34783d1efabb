"""OPL605."""

from __future__ import annotations

import pytest

from op_lint.findings import Finding
from op_lint.python import infer
from tests.unit.builders import findings, lines

HEAD = "import typing\nimport torch\nimport numpy as np\nfrom torch import Tensor\n"
DECORATOR = '@torch.library.custom_op("demo::f", mutates_args={})\n'


def module(signature: str, mutates: str = "()") -> str:
    """A custom operator whose decorator is in line 5 and whose function in line 6."""
    return f"{HEAD}{DECORATOR.format(mutates)}def f{signature}: ...\n"


def found(signature: str, mutates: str = "()") -> list[Finding]:
    return findings("OPL605", {"ops.py": module(signature, mutates)})


@pytest.mark.parametrize(
    ("signature", "at", "reason"),
    [
        ("(x) -> Tensor", "x", "parameter x must have a type annotation"),
        ("(x: Tensor, *n: int) -> Tensor", "int", "we do not support positional-only args, varargs, or varkwargs"),
        ("(x: Tensor, n: int = ()) -> Tensor", "int", "parameter n has an unsupported default value type"
         " <class 'tuple'>"),
        ("(x: Tensor) -> str", "str", "return has unsupported type <class 'str'>"),
        ("(x: Tensor)", "f", "no return type annotation was provided"),
        ("(x: Tensor, n: 'Missing') -> Tensor", "'Missing'", "unsupported type annotation Missing"),
    ],
)  # fmt: skip
def test_what_torch_says(signature: str, at: str, reason: str) -> None:
    (finding,) = found(signature)
    assert finding.message == f"torch cannot infer a schema from `f` (line 5): {reason}"
    assert module(signature).encode()[finding.place.start : finding.place.end].decode() == at
    assert [(related.place.line, related.message) for related in finding.related] == [
        (5, "the schema is inferred for this")
    ]
    (note,) = finding.notes
    assert note.startswith("torch raises: infer_schema(func): ")
    assert "\n" not in note


LISTS = "torch has lists of `int`, `float`, `bool`, numbers and tensors"


@pytest.mark.parametrize(
    ("annotation", "cure"),
    [
        ("tuple[int, ...]", "write `list[int]`"),
        ("tuple[int, int]", "write `list[int]`"),
        ("typing.Tuple[float, ...]", "write `list[float]`"),
        ("tuple[Tensor, Tensor]", "write `list[torch.Tensor]`"),
        ("tuple[int, float]", "pass its parts, each as an argument"),
        ("tuple[str, ...]", LISTS),
        ("list[str]", LISTS),
        ("typing.Sequence[str]", LISTS),
        ("list[list[int]]", LISTS),
        ("list[Tensor] | None", ""),
        ("list", "say of what, `list[int]`"),
        ("tuple", "say of what, `list[int]`"),
        ("dict[str, int]", "pass a list, or several arguments"),
        ("np.float32", "torch knows `int`, `float`, `bool`, `str`, `torch.Tensor` and lists of them"),
        ("complex", ""),
    ],
)
def test_what_to_write_instead(annotation: str, cure: str) -> None:
    (finding,) = found(f"(x: Tensor, n: {annotation}) -> Tensor")
    reason, _, said = finding.message.partition(": parameter n has unsupported type ")[2].partition("; ")
    assert reason
    assert said == cure


def test_a_list_that_is_proposed_is_taken() -> None:
    for annotation in ("tuple[int, ...]", "tuple[float, float]", "typing.Tuple[Tensor, ...]"):
        (finding,) = found(f"(x: Tensor, n: {annotation}) -> Tensor")
        proposed = finding.message.rpartition("write `")[2].rstrip("`")
        assert found(f"(x: Tensor, n: {proposed}) -> Tensor") == []


def test_the_types_of_torch_are_taken() -> None:
    """All of them, as the source may spell them."""
    spelled = {str(each) for each in infer.PARAMETER_TYPES if str(each).startswith(("typing.", "list[", "collections"))}
    assert len(spelled) > 20
    head = HEAD + "import collections.abc\nimport torch.distributed.distributed_c10d\n"
    for annotation in sorted(spelled):
        text = f"{head}{DECORATOR.format('()')}def f(n: {annotation}) -> Tensor: ...\n"
        assert findings("OPL605", {"ops.py": text}) == [], annotation


@pytest.mark.parametrize(
    ("mutates", "expected"),
    [
        ('("x",)', []),
        ('["x"]', []),
        ('"unknown"', []),
        ("names()", []),
        ('["out"]', ["ops.py:5"]),
        ('["n"]', ["ops.py:6"]),
        ('"x"', ["ops.py:5"]),
    ],
)
def test_what_is_mutated(mutates: str, expected: list[str]) -> None:
    assert lines(found("(x: Tensor, n: int) -> Tensor", mutates)) == expected


@pytest.mark.parametrize(
    "signature",
    [
        "(x: Tensor, n: int = 3, *, s: typing.Optional[float] = None) -> tuple[Tensor, Tensor]",
        "(x: Tensor, sizes: typing.List[int], more: list[bool] | None = None) -> None",
        "(x: 'Tensor', d: torch.dtype = torch.float32) -> list[Tensor]",
        "(x: Tensor, n: Unseen) -> Tensor",
        "(x: Tensor, n: somewhere.Thing) -> Tensor",
        "(x: Tensor, n: made()) -> Tensor",
        "(x: Tensor, n: int = LIMIT) -> Tensor",
        "(x: Tensor, n: int = 2 * 3) -> Tensor",
    ],
)
def test_what_torch_takes_or_nobody_knows(signature: str) -> None:
    text = module(signature).replace(HEAD, f"{HEAD}import somewhere\nfrom other import LIMIT, Unseen, made\n")
    assert findings("OPL605", {"ops.py": text}) == []


@pytest.mark.parametrize(
    ("cls", "expected"),
    [
        ("class Mine: pass", 1),
        ("import enum\nclass Mine(enum.Enum): A = 1", 0),
        ("class Mine: pass\ntorch._library.opaque_object.register_opaque_type(Mine, typ='value')", 0),
        ("from torch._opaque_base import OpaqueBase\nclass Mine(OpaqueBase): pass", 0),
        ("from other import Base\nclass Mine(Base): pass", 0),
    ],
)
def test_classes_of_the_project(cls: str, expected: int) -> None:
    text = module("(x: Tensor, n: Mine) -> Tensor").replace(HEAD, f"{HEAD}{cls}\n")
    assert len(findings("OPL605", {"ops.py": text})) == expected


class TestWhereNothingIsInferred:
    def test_the_schema_is_written(self) -> None:
        decorator = '@torch.library.custom_op("demo::f", mutates_args=(), schema="(Tensor x) -> Tensor")\n'
        assert findings("OPL605", {"ops.py": f"{HEAD}{decorator}def f(x): ...\n"}) == []

    def test_a_fake_needs_no_annotations(self) -> None:
        text = module("(x: Tensor) -> Tensor") + "@f.register_fake\ndef _(x): ...\n"
        assert findings("OPL605", {"ops.py": text}) == []

    def test_the_error_is_expected(self) -> None:
        body = "    torch.library.infer_schema(lambda x: x, mutates_args=())\n"
        for around in ("with pytest.raises(ValueError):\n", "try:\n"):
            end = "except ValueError:\n    pass\n" if around == "try:\n" else ""
            assert findings("OPL605", {"ops.py": f"import pytest\n{HEAD}{around}{body}{end}"}) == []
        (finding,) = findings("OPL605", {"ops.py": f"{HEAD}if True:\n{body}"})
        assert finding.message.startswith("torch cannot infer a schema from this function: parameter x must have")

    def test_functions_that_are_only_defined(self) -> None:
        assert findings("OPL605", {"ops.py": f"{HEAD}def f(x): ...\n"}) == []

    @pytest.mark.parametrize("definition", ["def f(x: Tensor, n", "def f(x: Tensor, n: ", "def f(x: Tensor):"])
    def test_a_function_that_is_being_typed(self, definition: str) -> None:
        text = f"{HEAD}{DECORATOR.format('()')}{definition}\n\n\ndef other(): ...\n"
        assert findings("OPL605", {"ops.py": text}) == []


@pytest.mark.parametrize(
    "inference",
    [
        "torch.library.infer_schema(f, mutates_args=())",
        'torch.library.triton_op("demo::f", f, mutates_args=())',
        'torch.library.custom_op("demo::f", f, mutates_args=())',
        'torch.library.custom_op("demo::f", mutates_args=())(f)',
    ],
)
def test_every_function_that_infers(inference: str) -> None:
    (finding,) = findings("OPL605", {"ops.py": f"{HEAD}def f(x): ...\n\n\n{inference}\n"})
    assert finding.message == "torch cannot infer a schema from `f` (line 8): parameter x must have a type annotation"
    assert finding.place.line == 5
    assert [related.place.line for related in finding.related] == [8]
