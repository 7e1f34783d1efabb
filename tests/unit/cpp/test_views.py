"""One file under an assignment of the atoms in its conditions."""

from __future__ import annotations

import pytest

from op_lint.condition import ALWAYS, NEVER, All, Any, Atom, Condition, Not, conjunction, negation
from op_lint.cpp.preprocess import Files, Preprocessed, preprocess
from op_lint.cpp.views import holds

_A, _B = Atom("A"), Atom("B")


def _preprocess(text: str, **headers: str) -> Preprocessed:
    contents = {f"{name}.h": content.encode() for name, content in headers.items()}
    files = Files(lambda _includer, name, _angled: name if name in contents else None, contents.get, lambda _: False)
    return preprocess("a.cpp", text.encode(), files, {})


@pytest.mark.parametrize(
    ("condition", "truth"),
    [
        (ALWAYS, True),
        (NEVER, False),
        (_A, True),
        (_B, False),
        (Atom("never named"), False),
        (Not(_B), True),
        (All((_A, Not(_B))), True),
        (All((_A, _B)), False),
        (Any((_A, _B)), True),
        (Not(Any((_A, _B))), False),
    ],
)
def test_truth(condition: Condition, truth: bool) -> None:
    assert holds(condition, {"A": True, "B": False}) is truth


def test_conditions_of_arms_inside_each_other() -> None:
    source = "0\n#ifdef A\n1\n#ifdef B\n2\n#endif\n3\n#else\n4\n#endif\n5\n"
    view = _preprocess(source).main
    conditions = [view.condition_at(source.index(digit)) for digit in "012345"]
    assert conditions == [ALWAYS, _A, conjunction((_A, _B)), _A, negation(_A), ALWAYS]


def test_a_header_is_under_the_conditions_of_its_includes() -> None:
    header = "1\n#ifdef B\n2\n#endif\n"
    view = _preprocess('#ifdef A\n#include "h.h"\n#endif\n', h=header).views[1]
    assert view.condition_at(header.index("1")) == _A
    assert view.condition_at(header.index("2")) == conjunction((_A, _B))


@pytest.mark.parametrize(("truth", "kept"), [(True, "1"), (False, "0")])
def test_rewriting_keeps_the_length(truth: bool, kept: str) -> None:
    source = "#if defined(A) && \\\n  A > 1\nint x;\n#endif\n"
    view = _preprocess(source).main
    names = dict.fromkeys(("A", "A > 1"), truth)
    text = view.rewritten(names, {})
    assert text.startswith(f"#if {kept} ".encode())
    assert len(text) == len(source)
    assert text.index(b"int x") == source.index("int x")


def test_a_rewriting_is_made_once_for_each_truth() -> None:
    view = _preprocess("#ifdef A\n1\n#endif\n").main
    kept: dict[tuple[str, tuple[bool, ...], tuple[str | None, ...]], bytes] = {}
    first = view.rewritten({"A": True}, kept)
    assert view.rewritten({"A": True, "B": True}, kept) is first
    assert view.rewritten({}, kept) != first
    assert len(kept) == 2
