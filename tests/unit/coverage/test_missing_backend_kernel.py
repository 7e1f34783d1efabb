"""OPL301."""

from __future__ import annotations

import pytest

from tests.unit.builders import findings, lines
from tests.unit.sources import HEAD, UNREAD, define, fallthrough, implement, under

NAMES = [f"op{number}" for number in range(10)]
SERVED = HEAD + define(*(f"{name}(Tensor x) -> Tensor" for name in [*NAMES, "last"])) + implement("CPU", *NAMES, "last")
ALL_BUT_ONE = SERVED + implement("CUDA", *NAMES)


def test_one_of_many_lacks_a_kernel() -> None:
    (finding,) = findings("OPL301", {"ops.cpp": ALL_BUT_ONE})
    assert finding.place.line == 5
    assert finding.message == (
        "`demo::last` has no kernel for CUDA: a call with such tensors raises NotImplementedError"
    )
    assert [related.place.line for related in finding.related] == [6]
    assert finding.notes[0].startswith("10 of 11 operators of `demo` have a CUDA kernel; this one has CPU")


def test_none_is_missing() -> None:
    assert findings("OPL301", {"ops.cpp": SERVED + implement("CUDA", *NAMES, "last")}) == []


@pytest.mark.parametrize(
    "more",
    [
        implement("CompositeExplicitAutograd", "last"),
        implement("CompositeImplicitAutograd", "last"),
        under("USE_CUDA", implement("CUDA", "last")),
        "void to_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack);\nTORCH_LIBRARY_IMPL(_, CUDA, m)"
        " { m.fallback(torch::CppFunction::makeFromBoxedFunction<&to_cpu>()); }\n",
        UNREAD,
    ],
)
def test_it_may_be_served_all_the_same(more: str) -> None:
    assert findings("OPL301", {"ops.cpp": ALL_BUT_ONE + more}) == []


def test_where_many_lack_it_there_is_no_pattern() -> None:
    assert findings("OPL301", {"ops.cpp": SERVED + implement("CUDA", *NAMES[:8])}) == []


def test_few_operators_show_no_pattern() -> None:
    few = HEAD + define("a(Tensor x) -> Tensor", "b(Tensor x) -> Tensor") + implement("CPU", "a", "b")
    assert findings("OPL301", {"ops.cpp": few + implement("CUDA", "a")}) == []


@pytest.mark.parametrize("name", ["to_cpu", "cpu_offload", "from_host"])
def test_an_operator_of_one_device(name: str) -> None:
    assert findings("OPL301", {"ops.cpp": ALL_BUT_ONE.replace('"last', f'"{name}')}) == []


class TestAutocast:
    DEFINED = HEAD + define("nms(Tensor x) -> Tensor") + implement("CPU", "nms")

    def test_nothing_below(self) -> None:
        (finding,) = findings("OPL301", {"ops.cpp": self.DEFINED + implement("AutocastCUDA", "nms")})
        assert finding.place.line == 7
        assert "has an AutocastCUDA kernel and none for CUDA" in finding.message

    @pytest.mark.parametrize(
        "more",
        [
            implement("AutocastCPU", "nms"),
            implement("AutocastCUDA", "nms") + implement("CUDA", "nms"),
            implement("AutocastCUDA", "nms") + under("USE_CUDA", implement("CUDA", "nms")),
            implement("AutocastCUDA", "nms") + implement("CompositeExplicitAutograd", "nms"),
            implement("AutocastCUDA", "nms") + UNREAD,
            implement("AutocastXPU", "nms"),
            fallthrough("AutocastCUDA", "nms"),
        ],
    )
    def test_something_below(self, more: str) -> None:
        assert findings("OPL301", {"ops.cpp": self.DEFINED + more}) == []

    def test_an_operator_of_another_package(self) -> None:
        assert findings("OPL301", {"ops.cpp": HEAD + implement("AutocastCUDA", "nms")}) == []

    def test_a_kernel_in_another_file(self) -> None:
        files = {"a.cpp": self.DEFINED + implement("AutocastCUDA", "nms"), "b.cu": HEAD + implement("CUDA", "nms")}
        assert findings("OPL301", files) == []
        assert lines(findings("OPL301", {"a.cpp": files["a.cpp"]})) == ["a.cpp:7"]
