"""OPL604 and OPL608 argue as torch does: random functions and calls against random schemas, each tried for real."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from op_lint.facts import CallArgument, Place
from op_lint.schema import Schema, format_type, parse_schema
from op_lint.schema.python_call import call_fault
from op_lint.schema.python_kernel import kernel_faults
from tests.unit.python_facts import python, read

torch = pytest.importorskip("torch")

SEED = 20
NOWHERE = Place("", 1, 0, 0)

# A type, a default of it, and values that are no default.
TYPES: dict[str, tuple[str | None, Any]] = {
    "Tensor": (None, torch.ones(2)),
    "int": ("3", 4),
    "float": ("1.5", 2.5),
    "int[]": ("[1]", [2]),
    "int?": ("None", 7),
    "str": ('"a"', "b"),
    "Tensor?": ("None", torch.ones(2)),
}

MORE_TYPES = (
    *TYPES, "Tensor[]", "Tensor[]?", "Tensor?[]", "int[2]", "int[2]?", "SymInt", "SymInt[]", "SymInt?", "float?",
    "float[]", "float[2]", "bool", "bool?", "bool[]", "bool[2]", "Scalar", "Scalar?", "Scalar[]", "str?", "str[]",
    "ScalarType", "ScalarType?", "Layout", "Device", "Device?", "MemoryFormat", "Generator?", "complex", "int[][]",
)  # fmt: skip

VALUES: dict[str, list[Any]] = {
    "int": [3],
    "float": [2.5],
    "bool": [True],
    "str": ["cpu"],
    "None": [None],
    "list": [[], [1, 2], [torch.ones(1)], ["a"]],
    "tuple": [(), (1, 2)],
    "dict": [{}],
}


@pytest.fixture(scope="module")
def library() -> Iterator[Any]:
    made = torch.library.Library("op_lint_fit", "FRAGMENT")
    yield made
    made._destroy()


def defined(library: Any, number: str, schema: str, function: Any) -> Any:
    library.define(f"{number}{schema}")
    library.impl(number, function, "CompositeExplicitAutograd")
    return getattr(torch.ops.op_lint_fit, number).default


def parsed(schema: str) -> Schema:
    found = parse_schema(f"f{schema}")
    assert isinstance(found, Schema)
    return found


def random_schema(choose: random.Random) -> str:
    """Up to four arguments; some with defaults, some keyword-only."""
    names = ["a", "b", "c", "d"][: choose.randint(0, 4)]
    star = choose.choice([None, *range(len(names))])
    with_default = choose.randint(0, len(names))
    parts = []
    for index, name in enumerate(names):
        if index == star:
            parts.append("*")
        after = star is not None and index >= star
        has = choose.random() < 0.5 if after else index >= with_default
        type_ = choose.choice([each for each, (default, _) in TYPES.items() if default is not None or not has])
        parts.append(f"{type_} {name}={TYPES[type_][0]}" if has else f"{type_} {name}")
    return f"({', '.join(parts)}) -> ()"


def random_function(choose: random.Random) -> str:
    """Parameters, named as those of schemas are or otherwise."""
    names = choose.sample(["a", "b", "c", "d", "other"], choose.randint(0, 4))
    if choose.random() < 0.6:
        names.sort()
    parts: list[str] = []
    star = choose.choice([None, None, *range(len(names))])
    defaults = choose.randint(0, len(names))
    for index, name in enumerate(names):
        if index == star:
            parts.append(choose.choice(["*", "*args"]))
        after = star is not None and index >= star
        parts.append(f"{name}=None" if index >= defaults or (after and choose.random() < 0.3) else name)
    if star is None and choose.random() < 0.15:
        parts.append("*args")
    if choose.random() < 0.15:
        parts.append("**kwargs")
    return ", ".join(parts)


def calls(schema: Schema) -> Iterator[dict[str, Any]]:
    """Every choice of arguments that a caller may give, by name."""
    values = {argument.name: TYPES[str_type(schema, argument.name)][1] for argument in schema.arguments}
    optional = [argument.name for argument in schema.arguments if argument.default is not None]
    for chosen in product((False, True), repeat=len(optional)):
        left_out = {name for name, given in zip(optional, chosen, strict=True) if not given}
        yield {name: value for name, value in values.items() if name not in left_out}


def str_type(schema: Schema, name: str) -> str:
    argument = next(each for each in schema.arguments if each.name == name)
    return format_type(argument.type)


def test_kernels_fail_where_torch_raises(library: Any) -> None:
    choose = random.Random(SEED)
    failing = 0
    for number in range(1500):
        text, signature = random_schema(choose), random_function(choose)
        namespace: dict[str, Any] = {}
        exec(f"def kernel({signature}): return None", namespace)
        function = python(
            read(f"def kernel({signature}): return None\ntorch.library.impl('n::f', 'cpu', kernel)")
        ).functions[0]
        schema = parsed(text)
        faults = kernel_faults(function.parameters, schema)
        operator = defined(library, f"kernel{number}", text, namespace["kernel"])
        raised = [raises(operator, [], kwargs, TypeError) for kwargs in calls(schema)]
        assert any(raised) == bool(faults), (text, signature, faults)
        if any(fault.always for fault in faults):
            assert all(raised), (text, signature, faults)
        failing += any(raised)
    assert 300 < failing < 1400


def test_fakes_are_called_as_kernels_are(library: Any) -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    choose = random.Random(SEED + 1)
    for number in range(150):
        text, signature = random_schema(choose).replace("-> ()", "-> Tensor"), random_function(choose)
        if "Tensor " not in text:
            continue
        namespace: dict[str, Any] = {"torch": torch}
        exec(f"def kernel({signature}): return torch.empty(1)", namespace)
        name = f"fake{number}"
        operator = defined(library, name, text, lambda *_, **__: torch.empty(1))
        torch.library.register_fake(f"op_lint_fit::{name}", namespace["kernel"], lib=library)
        facts = read(f"def kernel({signature}): return None\ntorch.library.register_fake('n::f', kernel)")
        faults = kernel_faults(python(facts).functions[0].parameters, parsed(text))
        with FakeTensorMode(allow_non_fake_inputs=True):
            raised = [raises(operator, [], kwargs, TypeError) for kwargs in calls(parsed(text))]
        assert any(raised) == bool(faults), (text, signature, faults)


def shape(name: str | None, value: Any) -> CallArgument:
    kind = "" if isinstance(value, torch.Tensor) else "None" if value is None else type(value).__name__
    return CallArgument(name, kind, NOWHERE)


def raises(operator: Any, args: list[Any], kwargs: dict[str, Any], *errors: type[Exception]) -> bool:
    try:
        operator(*args, **kwargs)
    except Exception as error:
        if isinstance(error, errors or (RuntimeError, TypeError, ValueError)):
            return True
        raise
    return False


def test_calls_fail_where_torch_raises(library: Any) -> None:
    choose = random.Random(SEED + 2)
    failing = 0
    for number in range(1500):
        text = random_schema(choose)
        operator = defined(library, f"call{number}", text, lambda *_, **__: None)
        schema = parsed(text)
        values = {argument.name: TYPES[str_type(schema, argument.name)][1] for argument in schema.arguments}
        names = list(values)
        for _ in range(4):
            positional = choose.randint(0, len(names))
            keywords = [name for name in names[positional:] if choose.random() < 0.8]
            if choose.random() < 0.1:
                keywords.append("unknown")
            if choose.random() < 0.1 and names:
                keywords.append(names[0])
            extra = [1] if choose.random() < 0.1 else []
            args = [*(values[name] for name in names[:positional]), *extra]
            kwargs = {name: values.get(name, 1) for name in keywords}
            given = [*(shape(None, value) for value in args), *(shape(name, value) for name, value in kwargs.items())]
            fault = call_fault(schema, given)
            known = raises(operator, args, kwargs)
            assert known == (fault is not None), (text, args, kwargs, fault)
            failing += known
    assert failing > 500


@pytest.mark.parametrize("type_", MORE_TYPES)
def test_types_of_literals(library: Any, type_: str) -> None:
    """What is said not to fit is refused, whatever is in it; what may fit is taken in at least one form."""
    number = f"type{MORE_TYPES.index(type_)}"
    text = f"({type_} x) -> ()"
    operator = defined(library, number, text, lambda *_: None)
    for kind, values in VALUES.items():
        fault = call_fault(parsed(text), [CallArgument(None, kind, NOWHERE)])
        refused = [raises(operator, [value], {}) for value in values]
        assert (fault is not None) == all(refused), (type_, kind, fault)
