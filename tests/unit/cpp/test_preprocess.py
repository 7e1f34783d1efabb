"""Arms, includes, and what libclang is given."""

from __future__ import annotations

from op_lint.condition import Atom, conjunction, negation
from op_lint.cpp.preprocess import Files, Preprocessed, preprocess


def _preprocess(text: str, **headers: str) -> Preprocessed:
    contents = {f"{name}.h": content.encode() for name, content in headers.items()}

    def resolve(_includer: str, name: str, _angled: bool) -> str | None:
        return name if name in contents else None

    return preprocess("a.cpp", text.encode(), Files(resolve, contents.get, lambda name: name == "torch/library.h"), {})


def test_conditions_of_arms() -> None:
    source = "#ifdef A\none\n#elif defined(B)\ntwo\n#else\nthree\n#endif\nfour\n"
    view = _preprocess(source).main
    a, b = Atom("A"), Atom("B")
    assert view.condition_at(source.index("one")) == a
    assert view.condition_at(source.index("two")) == conjunction((negation(a), b))
    assert view.condition_at(source.index("three")) == conjunction((negation(a), negation(b)))
    assert str(view.condition_at(source.index("four"))) == str(conjunction(()))


def test_every_offset_stays() -> None:
    source = '#if X > 2\n#include "h.h"\n#include "gone.h"\n#else\nint y;\n#endif\n'
    preprocessed = _preprocess(source, h="int z;")
    for truth in (True, False):
        text = preprocessed.main.rewritten({"X > 2": truth}, {})
        assert len(text) == len(source)
        assert text.index(b"int y;") == source.index("int y;")
        assert b"gone" not in text


def test_missing_and_known_includes() -> None:
    preprocessed = _preprocess("#include <torch/library.h>\n#include <cutlass/cutlass.h>\n")
    assert [name for name, _, _ in preprocessed.missing] == ["cutlass/cutlass.h"]


def test_a_header_reached_twice_is_one_view() -> None:
    preprocessed = _preprocess('#ifdef A\n#include "h.h"\n#else\n#include "h.h"\n#endif\n', h="#pragma once\nint z;\n")
    assert [view.path for view in preprocessed.views] == ["a.cpp", "h.h"]


def test_circles_end() -> None:
    preprocessed = _preprocess('#include "x.h"\n', x='#include "y.h"\n', y='#include "x.h"\n#include "y.h"\n')
    assert sorted(view.path for view in preprocessed.views) == ["a.cpp", "x.h", "y.h"]


def test_doubling_includes_end() -> None:
    headers = {f"h{n}": f'#include "h{n + 1}.h"\n#include "h{n + 1}.h"\n' for n in range(40)}
    assert _preprocess('#include "h0.h"\n', **headers).truncated


def test_conditionals_that_nobody_wrote() -> None:
    assert "nested" in _preprocess("#if A\n" * 100 + "#endif\n" * 100).problem
    assert "arms" in _preprocess("#if A\n" + "".join(f"#elif A{n}\n" for n in range(200)) + "#endif\n").problem
