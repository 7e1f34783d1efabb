"""Which operators torch runs with fake tensors, and whose fakes it asks for."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from op_lint.schema import Schema, format_type, parse_schema
from op_lint.schema.fakes import needs_fake

torch = pytest.importorskip("torch")

ARGUMENTS = (
    "Tensor x", "Tensor! x", "Tensor(a!) x", "Tensor(a) x", "Tensor? x", "Tensor(a!)? x", "Tensor[] x",
    "Tensor(a!)[] x", "Tensor x, Tensor! out", "Tensor x, *, Tensor(a!) out", "Tensor x, int n",
)  # fmt: skip
RETURNS = ("()", "Tensor", "Tensor[]", "int", "bool", "(Tensor, Tensor)")


@pytest.fixture(scope="module")
def library() -> Iterator[Any]:
    made = torch.library.Library("op_lint_fakes", "FRAGMENT")
    yield made
    made._destroy()


def runs(library: Any, name: str, schema: str, tags: tuple[Any, ...] = ()) -> bool:
    """Whether an operator with a CPU kernel alone runs with fake tensors."""
    from torch._subclasses.fake_tensor import FakeTensorMode, UnsupportedOperatorException

    parsed = parse_schema(f"{name}{schema}")
    assert isinstance(parsed, Schema)
    library.define(f"{name}{schema}", tags=tags)
    library.impl(name, lambda *args, **kwargs: None, "CPU")
    with FakeTensorMode():
        tensor = torch.empty(2)
        values = {"Tensor": tensor, "Tensor?": tensor, "Tensor[]": [tensor], "int": 1}
        kwargs = {argument.name: values[format_type(argument.type)] for argument in parsed.arguments}
        try:
            getattr(torch.ops.op_lint_fakes, name).default(**kwargs)
        except UnsupportedOperatorException:
            return False
    return True


def test_by_arguments_and_returns(library: Any) -> None:
    answers = set()
    for number, (arguments, returns) in enumerate(product(ARGUMENTS, RETURNS)):
        schema = f"({arguments}) -> {returns}"
        parsed = parse_schema(f"f{schema}")
        assert isinstance(parsed, Schema)
        assert needs_fake(parsed) != runs(library, f"op{number}", schema), schema
        answers.add(needs_fake(parsed))
    assert answers == {False, True}


@pytest.mark.parametrize(
    ("tag", "schema"),
    [("out", "(Tensor x, *, Tensor(a!) out) -> Tensor(a!)"), ("inplace", "(Tensor(a!) x) -> Tensor(a!)")],
)
def test_tags(library: Any, tag: str, schema: str) -> None:
    parsed = parse_schema(f"f{schema}")
    assert isinstance(parsed, Schema)
    assert runs(library, f"tagged_{tag}", schema, (getattr(torch.Tag, tag),))
    assert not needs_fake(parsed, [f"torch.Tag.{tag}"])
    assert needs_fake(parsed, ["torch.Tag.pt2_compliant_tag"])


def test_what_a_missing_fake_does(library: Any) -> None:
    """torch.compile splits the graph, and fails where it may not; torch.export fails."""
    library.define("missing(Tensor x) -> Tensor")
    library.impl("missing", torch.clone, "CPU")

    class Model(torch.nn.Module):  # type: ignore[misc,name-defined]
        def forward(self, x: Any) -> Any:
            return torch.ops.op_lint_fakes.missing(x) + 1

    model, x = Model(), torch.zeros(2)
    graphs: list[Any] = []

    def backend(graph: Any, inputs: Any) -> Any:
        graphs.append(graph)
        return graph

    assert torch.compile(model, backend=backend)(x).tolist() == [1.0, 1.0]
    targets = [str(node.target) for graph in graphs for node in graph.graph.nodes]
    assert targets
    assert not any("missing" in target for target in targets)
    torch._dynamo.reset()
    with pytest.raises(torch._dynamo.exc.Unsupported):
        torch.compile(model, backend=backend, fullgraph=True)(x)
    with pytest.raises(Exception, match=r"op_lint_fakes\.missing"):
        torch.export.export(model, (x,))
