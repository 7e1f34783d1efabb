"""The operators that `torch.ops` has besides the dispatcher's are those that op-lint knows."""

from __future__ import annotations

import pytest

from op_lint.installed.script_operators import script_operators

torch = pytest.importorskip("torch")


def full_name(name: str, overload: str) -> str:
    return f"{name}.{overload}" if overload else name


def test_they_are_torchs() -> None:
    script = {full_name(schema.name, schema.overload_name) for schema in torch._C._jit_get_all_schemas()}
    dispatcher = set(torch._C._dispatch_get_all_op_names())
    known = {name for names in script_operators().values() for name in names}
    loaded_later = {name for name in script - dispatcher - known if not name.startswith(("aten::", "prim::"))}
    assert known <= script
    assert script - dispatcher - loaded_later == known - dispatcher


def test_torch_ops_finds_them() -> None:
    assert str(torch.ops.aten.add.default) == "aten.add.default"
    assert "aten::add" in script_operators()
    assert not hasattr(torch.ops.aten, "getitem")
    assert "aten::getitem" not in script_operators()
