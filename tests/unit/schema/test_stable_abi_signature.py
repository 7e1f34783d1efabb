"""OPL108: what is said where. Which types fit which: test_stable_kernel.py."""

from __future__ import annotations

import pytest

from op_lint.findings import Severity
from tests.unit.builders import findings, fixed, lines, torch

HEAD = (
    "#include <torch/csrc/stable/library.h>\n#include <torch/csrc/stable/tensor.h>\n\nusing torch::stable::Tensor;\n\n"
)
CPU = 'STABLE_TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl("f", TORCH_BOX(&f)); }\n'
ARRIVES = "nothing checks it, at load or at the call: the value arrives as something else"
RAISES = "every call raises; loading the library says nothing"
REFUSED = "this does not compile"


def source(kernel: str, schema: str, registered: str = CPU) -> dict[str, str]:
    """A kernel in line 6, its operator in line 7, its registration in line 8."""
    return {"ops.cpp": f'{HEAD}{kernel}\nSTABLE_TORCH_LIBRARY(demo, m) {{ m.def("{schema}"); }}\n{registered}'}


FLOAT = source("Tensor f(const Tensor& x, float s);", "f(Tensor x, float s) -> Tensor")


def test_a_parameter() -> None:
    (finding,) = findings("OPL108", FLOAT)
    assert (finding.place.line, finding.severity, finding.notes) == (6, Severity.ERROR, (ARRIVES,))
    assert finding.message == (
        "parameter 2 of `f` is `float` for the schema's `float`: torch passes `float` as the bits of `double`; read as "
        "`float` they are garbage: write `double`"
    )
    assert [(related.place.line, related.message) for related in finding.related] == [
        (8, "registered at line 8"),
        (7, "the schema says `float s`"),
    ]
    assert finding.fix is not None
    assert not finding.fix.safe
    repaired = fixed(finding, FLOAT)
    assert repaired == source("Tensor f(const Tensor& x, double s);", "f(Tensor x, float s) -> Tensor")
    assert findings("OPL108", repaired) == []


def test_a_narrow_integer_is_a_hint() -> None:
    files = source("Tensor f(const Tensor& x, int n);", "f(Tensor x, int n) -> Tensor")
    (finding,) = findings("OPL108", files)
    assert finding.severity is Severity.HINT
    assert finding.notes == ("values that do not fit arrive as others, without a word",)
    assert findings("OPL108", fixed(finding, files)) == []


@pytest.mark.parametrize(
    ("kernel", "schema", "line", "said", "harm"),
    [
        ("Tensor f(const Tensor& x, const at::Tensor& y);", "f(Tensor x, Tensor y) -> Tensor", 6,
         "cannot be passed through the stable ABI: write `torch::stable::Tensor`", REFUSED),
        ("Tensor f(const Tensor& x, std::string y);", "f(Tensor x, Dict(str, int) y) -> Tensor", 6,
         "the stable ABI cannot pass a value of type `Dict(str, int)`", RAISES),
        ("float f(const Tensor& x);", "f(Tensor x) -> float", 6,
         "from those of `float` it reads garbage: write `double`", ARRIVES),
        ("Tensor& f(Tensor& x);", "f(Tensor x) -> Tensor", 6, "returns values, not references: write "
         "`torch::stable::Tensor`", REFUSED),
        ("Tensor& f(Tensor& x);", "f(Tensor(a!) x) -> Tensor(a!)", 6, "returns values, not references: let it return "
         "void, and write `-> ()` in the schema", REFUSED),
        ("Tensor f(const Tensor& x);", "f(Tensor x, int n, int k) -> Tensor", 8,
         "`f` takes 1 arguments, the schema of `demo::f` has 3; the kernel lacks `n`, `k`", RAISES),
        ("Tensor f(const Tensor& x, double s);", "f(Tensor x) -> Tensor", 8,
         "`f` takes 2 arguments, the schema of `demo::f` has 1; remove what is too many, or add it there", RAISES),
        ("void f(const Tensor& x);", "f(Tensor x) -> Tensor", 8,
         "`f` does not fit `demo::f`: Registered schema has 1 outputs, but the kernel to box has 0", RAISES),
        ("Tensor f(const Tensor& x) noexcept;", "f(Tensor x) -> Tensor", 8,
         "TORCH_BOX does not take a function that is noexcept", REFUSED),
    ],
)  # fmt: skip
def test_each_kind_of_fault(kernel: str, schema: str, line: int, said: str, harm: str) -> None:
    (finding,) = findings("OPL108", source(kernel, schema))
    assert (finding.place.line, finding.notes, finding.severity) == (line, (harm,), Severity.ERROR)
    assert finding.message.endswith(said)


def test_every_fault() -> None:
    files = source("float f(const Tensor& x, float s, float t);", "f(Tensor x, float s, float t) -> float")
    assert lines(findings("OPL108", files)) == ["ops.cpp:6"] * 3


@pytest.mark.parametrize(
    ("kernel", "schema"),
    [
        ("Tensor f(const Tensor& x, double s, int64_t n);", "f(Tensor x, float s, int n) -> Tensor"),
        ("Tensor f(Tensor x, int64_t n);", "f(Tensor x, SymInt n) -> Tensor"),
        ("Tensor f(const Tensor& x, Mode mode);", "f(Tensor x, int mode) -> Tensor"),
        ("Tensor f(const Tensor& x, float s);", "f(Tensor x, float s"),
        ("Tensor f(const Tensor& x, float s);", "g(Tensor x, float s) -> Tensor"),
    ],
)
def test_what_fits_or_is_not_known(kernel: str, schema: str) -> None:
    assert findings("OPL108", source(kernel, schema)) == []


@pytest.mark.parametrize(
    "registered",
    [
        'TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl("f", &f); }\n',
        'STABLE_TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl("f", &f); }\n',
        "STABLE_TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl(name(), TORCH_BOX(&f)); }\n",
        'STABLE_TORCH_LIBRARY_IMPL(demo, CPU, m) { m.impl("f", TORCH_BOX(&undeclared)); }\n',
    ],
)
def test_kernels_that_are_not_boxed_or_not_known(registered: str) -> None:
    kernel = "void f(StableIValue* stack, uint64_t arguments, uint64_t outputs);"
    unboxed = "Tensor f(const Tensor& x, float s);" if registered.startswith("TORCH") else kernel
    assert findings("OPL108", source(unboxed, "f(Tensor x, float s) -> Tensor", registered)) == []


def test_once_for_several_keys() -> None:
    text = FLOAT["ops.cpp"] + CPU.replace("CPU", "CUDA")
    assert lines(findings("OPL108", {"ops.cpp": text})) == ["ops.cpp:6"]


def test_when_it_is_registered() -> None:
    registered = f"#ifdef USE_CUDA\n{CPU.replace('CPU', 'CUDA')}#endif\n"
    files = source("Tensor f(const Tensor& x, float s);", "f(Tensor x, float s) -> Tensor", registered)
    (finding,) = findings("OPL108", files)
    assert finding.message.endswith(": write `double` when `USE_CUDA`")


def test_of_a_template() -> None:
    """The parameter is `T`, which is not to be replaced."""
    files = source(
        "template <typename T> Tensor f(const Tensor& x, T s);",
        "f(Tensor x, float s) -> Tensor",
        CPU.replace("&f", "&f<float>"),
    )
    (finding,) = findings("OPL108", files)
    assert "is `float` for" in finding.message
    assert finding.fix is None


def test_the_schema_in_another_file() -> None:
    text = FLOAT["ops.cpp"]
    definition = next(line for line in text.splitlines() if "m.def" in line)
    files = {"schema.cpp": f"{definition}\n", "ops.cpp": text.replace(f"{definition}\n", "")}
    (finding,) = findings("OPL108", files)
    assert [(each.place.path, each.place.line) for each in finding.related] == [("ops.cpp", 7), ("schema.cpp", 1)]


def test_schemas_of_which_one_may_be_meant() -> None:
    more = 'STABLE_TORCH_LIBRARY(demo, m) { m.def("f(Tensor x, int s) -> Tensor"); }\n'
    text = FLOAT["ops.cpp"]
    either = text.replace("STABLE_TORCH_LIBRARY(", "#ifdef WHOLE\n" + more + "#else\nSTABLE_TORCH_LIBRARY(", 1)
    assert findings("OPL108", {"ops.cpp": either.replace(CPU, f"#endif\n{CPU}")}) == []


def test_an_operator_of_torch() -> None:
    kernel = f"{HEAD}Tensor f(const Tensor& x, float s);\n"
    files = {
        "ops.cpp": f'{kernel}STABLE_TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {{ m.impl("relu", TORCH_BOX(&f)); }}\n'
    }
    (finding,) = findings("OPL108", files, torch())
    assert "`f` takes 2 arguments, the schema of `aten::relu` has 1" in finding.message
    assert findings("OPL108", files) == []
