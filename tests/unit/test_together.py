"""Which registrations can meet: a table of layouts as real projects have them."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from op_lint.condition import ALWAYS, Atom, Condition, Not, conjunction
from op_lint.facts import OperatorName
from op_lint.together import Layout, Site, Together

YES, NO, UNKNOWN = Together.YES, Together.NO, Together.UNKNOWN
CUDA, ROCM = Atom("USE_CUDA"), Atom("USE_ROCM")


def operators(names: Iterable[str]) -> frozenset[OperatorName]:
    return frozenset(OperatorName("ns", name) for name in names)


def layout(defined: dict[str, str], implemented: dict[str, str] | None = None) -> Layout:
    """A project whose files define and implement operators that are called by single words."""
    return Layout(
        {path: operators(names.split()) for path, names in defined.items()},
        {path: operators(names.split()) for path, names in (implemented or {}).items()},
    )


def between(first: Site, second: Site, project: Layout | None = None) -> Together:
    """The answer for two sites, which must not depend on their order."""
    project = project or layout({})
    answer = project.together(first, second)
    assert project.together(second, first) is answer
    return answer


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        # Two plain sources in one folder.
        ("png.cpp", "jpeg.cpp", YES),
        ("csrc/ops.cpp", "csrc/more_ops.cpp", YES),
        ("csrc/ops1.cpp", "csrc/ops2.cpp", YES),
        ("csrc/nms.cpp", "csrc/nms_kernel.cpp", YES),
        ("csrc/a.cu", "csrc/b.cu", YES),
        # Per backend: by suffix of the name, by file type, by folder.
        ("csrc/ops_cpu.cpp", "csrc/ops_cuda.cpp", UNKNOWN),
        ("csrc/ops_cpu.cpp", "csrc/ops_gpu.cpp", UNKNOWN),
        ("csrc/ops.cpp", "csrc/ops_xpu.cpp", UNKNOWN),
        ("csrc/ops.cpp", "csrc/ops.cu", UNKNOWN),
        ("csrc/ops.cpp", "csrc/ops.mm", UNKNOWN),
        ("csrc/cpu/ops.cpp", "csrc/cuda/ops.cpp", UNKNOWN),
        ("csrc/ops/cpu/matmul.cpp", "csrc/ops/cuda/matmul.cpp", UNKNOWN),
        ("csrc/attention_sm80.cu", "csrc/attention_sm90.cu", UNKNOWN),
        ("csrc/gemm_avx2.cpp", "csrc/gemm_avx512.cpp", UNKNOWN),
        # A torch build is either a CUDA or a ROCm build.
        ("csrc/ops_cuda.cu", "csrc/ops_hip.hip", NO),
        ("csrc/cuda/ops.cpp", "csrc/rocm/torch_bindings.cpp", NO),
        ("csrc/gpu/hip/ops.cpp", "csrc/gpu/cuda/ops.cpp", NO),
        ("csrc/gpu/ops.cpp", "csrc/gpu/hip/ops.cpp", UNKNOWN),
        # Per target: each folder builds into an extension of its own.
        ("csrc/torch_bindings.cpp", "csrc/moe/torch_bindings.cpp", UNKNOWN),
        ("csrc/torch_bindings.cpp", "csrc/cpu/torch_bindings.cpp", UNKNOWN),
        ("csrc/torch_bindings.cpp", "csrc/rocm/torch_bindings.cpp", UNKNOWN),
        ("fbgemm_gpu/src/sparse_ops/sparse_ops_gpu.cpp", "fbgemm_gpu/src/sparse_ops/sparse_ops_cpu.cpp", UNKNOWN),
        ("fbgemm_gpu/experimental/gen_ai/src/kv_cache/kv_cache.cpp", "fbgemm_gpu/src/kv_cache.cpp", UNKNOWN),
        ("src/ops_train.cpp", "src/ops_inference.cpp", UNKNOWN),
        ("src/ops.cpp", "src/ops_mobile.cpp", UNKNOWN),
        # Classic and stable copies.
        ("csrc/registration.cpp", "csrc/registration_stable.cpp", UNKNOWN),
        ("csrc/ops.cpp", "csrc/libtorch_stable/ops.cpp", UNKNOWN),
        # Examples, tests, vendored copies.
        ("csrc/ops.cpp", "examples/ops.cpp", UNKNOWN),
        ("examples/muladd.cpp", "examples/relu.cpp", UNKNOWN),
        ("examples/custom_op/ops_1.cpp", "examples/custom_op/ops_2.cpp", UNKNOWN),
        ("test/cpp_extensions/a.cpp", "test/cpp_extensions/b.cpp", UNKNOWN),
        ("tests/test_add.py", "tests/test_mul.py", UNKNOWN),
        ("csrc/ops.cpp", "third_party/other/csrc/ops.cpp", UNKNOWN),
        ("extension_cpp/csrc/muladd.cpp", "extension_cpp_stable/csrc/muladd.cpp", UNKNOWN),
        # Another folder says nothing by itself.
        ("csrc/ops.cpp", "csrc/image/decode.cpp", UNKNOWN),
        # C++ and Python.
        ("ops.cpp", "meta.py", UNKNOWN),
        ("pkg/ops.py", "pkg/fakes.py", UNKNOWN),
    ],
)
def test_names_and_folders(first: str, second: str, expected: Together) -> None:
    assert between(Site(first), Site(second)) is expected


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (ALWAYS, ALWAYS, YES),
        (ALWAYS, CUDA, YES),
        (CUDA, CUDA, YES),
        (CUDA, conjunction((CUDA, Not(ROCM))), YES),
        (CUDA, Not(CUDA), NO),
        (conjunction((CUDA, ROCM)), Not(ROCM), NO),
        (CUDA, ROCM, UNKNOWN),
        (CUDA, Not(ROCM), UNKNOWN),
        (Atom("CUDA_VERSION >= 12000"), Atom("CUDA_VERSION < 12000"), UNKNOWN),
    ],
)
def test_conditions_in_one_file(first: Condition, second: Condition, expected: Together) -> None:
    assert between(Site("ops.cpp", first), Site("ops.cpp", second)) is expected


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [(ALWAYS, CUDA, UNKNOWN), (CUDA, CUDA, YES), (CUDA, ROCM, UNKNOWN), (CUDA, Not(CUDA), NO)],
)
def test_conditions_in_two_files(first: Condition, second: Condition, expected: Together) -> None:
    assert between(Site("a.cpp", first), Site("b.cpp", second)) is expected


@pytest.mark.parametrize("other", ["ops.cpp", "more.cpp"])
@pytest.mark.parametrize("guard", [None, "!registered()"])
def test_a_guard_may_ask_for_the_other(guard: str | None, other: str) -> None:
    assert between(Site("ops.cpp", guard=guard), Site(other, guard="!registered()")) is UNKNOWN


@pytest.mark.parametrize(
    ("first", "second", "expected"), [(None, None, YES), ("setup", "setup", YES), (None, "setup", UNKNOWN)]
)
def test_scopes_in_one_file(first: str | None, second: str | None, expected: Together) -> None:
    assert between(Site("ops.py", scope=first), Site("ops.py", scope=second)) is expected


def test_a_scope_in_another_file() -> None:
    assert between(Site("a.cpp"), Site("b.cpp", scope="setup")) is UNKNOWN


def test_stable_and_classic_files_are_copies() -> None:
    assert between(Site("a.cpp"), Site("b.cpp", stable=True)) is UNKNOWN
    assert between(Site("a.cpp"), Site("a.cpp", stable=True)) is YES


def test_a_namespace_from_the_build_may_be_another_in_each_file() -> None:
    assert between(Site("a.cpp", symbolic=True), Site("b.cpp", symbolic=True)) is UNKNOWN
    assert between(Site("a.cpp", symbolic=True), Site("a.cpp", symbolic=True)) is YES


class TestDependence:
    """A file that registers kernels for operators that only the other defines is useless without it."""

    def test_over_folders_and_names(self) -> None:
        pyg = layout(
            {"csrc/ops/matmul.cpp": "matmul", "csrc/library.cpp": "version"}, {"csrc/ops/cuda/matmul.cu": "matmul"}
        )
        assert between(Site("csrc/ops/cuda/matmul.cu"), Site("csrc/ops/matmul.cpp"), pyg) is YES
        assert between(Site("csrc/ops/cuda/matmul.cu"), Site("csrc/library.cpp"), pyg) is UNKNOWN

    def test_two_dependants_may_still_be_alternatives(self) -> None:
        project = layout({"ops.cpp": "f g"}, {"cuda/ops.cu": "f g", "xpu/ops.cpp": "f g"})
        assert between(Site("cuda/ops.cu"), Site("xpu/ops.cpp"), project) is UNKNOWN

    def test_an_operator_of_two_definers_shows_nothing(self) -> None:
        project = layout({"csrc/ops.cpp": "f", "csrc/cpu/ops.cpp": "f"}, {"csrc/cuda/f.cu": "f"})
        assert between(Site("csrc/cuda/f.cu"), Site("csrc/ops.cpp"), project) is UNKNOWN

    def test_a_slip_in_a_dependant_is_found(self) -> None:
        project = layout({"csrc/ops.cpp": "f g h", "csrc/cuda/g.cu": "g"}, {"csrc/cuda/g.cu": "f g h"})
        assert between(Site("csrc/cuda/g.cu"), Site("csrc/ops.cpp"), project) is YES

    def test_a_variant_that_forgot_a_definition_is_none(self) -> None:
        project = layout({"csrc/ops.cpp": "f g h", "csrc/cpu/ops.cpp": "f g"}, {"csrc/cpu/ops.cpp": "f g h"})
        assert between(Site("csrc/cpu/ops.cpp"), Site("csrc/ops.cpp"), project) is UNKNOWN

    def test_python_fakes_go_with_the_definition(self) -> None:
        project = layout({"csrc/ops.cpp": "nms"}, {"csrc/ops.cpp": "nms", "pkg/meta.py": "nms"})
        assert between(Site("csrc/ops.cpp"), Site("pkg/meta.py"), project) is YES

    def test_it_does_not_undo_conditions(self) -> None:
        project = layout({"ops.cpp": "f"}, {"cuda/ops.cu": "f"})
        assert between(Site("ops.cpp", Not(CUDA)), Site("cuda/ops.cu"), project) is UNKNOWN
        assert between(Site("ops.cpp", Not(CUDA)), Site("cuda/ops.cu", CUDA), project) is NO


def test_python_modules_meet_where_one_imports_the_other() -> None:
    project = Layout({}, {}, {"pkg/__init__.py": ["pkg/ops.py", "pkg/fakes.py"], "pkg/fakes.py": ["pkg/ops.py"]})
    assert between(Site("pkg/ops.py"), Site("pkg/fakes.py"), project) is YES
    assert between(Site("pkg/ops.py"), Site("pkg/other.py"), project) is UNKNOWN
    assert between(Site("pkg/ops.py"), Site("pkg/fakes.py", guard="has_fakes()"), project) is UNKNOWN


def test_many_common_definitions_mark_a_copy() -> None:
    assert (
        between(Site("bindings.cpp"), Site("registry.cpp"), layout({"bindings.cpp": "f g", "registry.cpp": "f g"}))
        is YES
    )
    copies = layout({"bindings.cpp": "f g h", "registry.cpp": "f g h"})
    assert between(Site("bindings.cpp"), Site("registry.cpp"), copies) is UNKNOWN


class Built:
    """Build files that say one thing of every pair."""

    def __init__(self, answer: bool | None) -> None:
        self.answer = answer

    def meet(self, first: str, second: str) -> bool | None:
        assert first != second
        return self.answer

    def tells_of(self, path: str) -> bool:
        return path.startswith("csrc/")


@pytest.mark.parametrize(
    ("first", "second", "answer", "expected"),
    [
        (Site("csrc/a.cpp"), Site("csrc/b.cpp"), None, UNKNOWN),
        (Site("lib/a.cpp"), Site("lib/b.cpp"), None, YES),
        (Site("csrc/cpu/a.cpp"), Site("csrc/cuda/b.cpp"), True, YES),
        (Site("csrc/a.cpp"), Site("csrc/b.cpp"), False, NO),
        (Site("csrc/cuda/a.cpp"), Site("csrc/rocm/b.cpp"), True, NO),
        (Site("csrc/a.cpp", CUDA), Site("csrc/b.cpp"), True, UNKNOWN),
        (Site("csrc/a.cpp", guard="x"), Site("csrc/b.cpp"), True, UNKNOWN),
        (Site("csrc/a.cpp", symbolic=True), Site("csrc/b.cpp"), True, UNKNOWN),
    ],
)
def test_what_build_files_say_goes_before_names(
    first: Site, second: Site, answer: bool | None, expected: Together
) -> None:
    assert between(first, second, Layout({}, {}, builds=Built(answer))) is expected
