"""OPL602."""

from __future__ import annotations

import pytest

from tests.unit.builders import findings, lines

LIBRARY = 'torch.library.Library("demo", "FRAGMENT")'
DEFINE = 'define("scale(Tensor x) -> Tensor")'


def found(body: str) -> list[str]:
    """Where the rule speaks in a module with this text after its first line."""
    return lines(findings("OPL602", {"ops.py": f"import torch\n{body}"}))


def function(*body: str, name: str = "register") -> str:
    """The text of a function: its `def` is line 2 of the module."""
    return f"def {name}():\n" + "".join(f"    {line}\n" for line in body)


def test_a_local_variable() -> None:
    text = function(f"lib = {LIBRARY}", f"lib.{DEFINE}")
    (finding,) = findings("OPL602", {"ops.py": f"import torch\n{text}"})
    assert finding.place.line == 3
    assert "dies when the function returns" in finding.message
    assert "`demo::scale`" in finding.message
    assert [related.place.line for related in finding.related] == [4]


def test_held_by_nothing() -> None:
    assert found(f"{LIBRARY}.{DEFINE}\n") == ["ops.py:2"]


def test_a_name_with_another_value() -> None:
    again = f"lib = {LIBRARY}\nlib.{DEFINE}\nlib = None\n"
    assert found(again) == ["ops.py:2"]


@pytest.mark.parametrize(
    "body",
    [
        f"lib = {LIBRARY}\nlib.{DEFINE}\n",
        f"lib = {LIBRARY}\n" + function(f"lib.{DEFINE}"),
        function("global lib", f"lib = {LIBRARY}", f"lib.{DEFINE}"),
        function(f"lib = {LIBRARY}", f"lib.{DEFINE}", "return lib"),
        function(f"lib = {LIBRARY}", f"lib.{DEFINE}", "return torch.ops.demo.scale(torch.ones(1))"),
        function(f"lib = {LIBRARY}"),
    ],
)
def test_what_lives_as_long_as_it_is_meant_to(body: str) -> None:
    assert found(body) == []


def test_of_a_test() -> None:
    body = (f"lib = {LIBRARY}", f"lib.{DEFINE}", "run()")
    assert found(function(*body, name="test_scale")) == []
    method = "class TestScale:\n" + "".join(f"    {line}\n" for line in function(*body, name="test").splitlines())
    assert found(method) == []
    assert found(function(*body, name="setup")) == ["ops.py:3"]


def test_held_by_nothing_in_a_test() -> None:
    assert found(function(f"{LIBRARY}.{DEFINE}", "run()", name="test_scale")) == ["ops.py:3"]
