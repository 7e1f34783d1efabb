"""The dispatcher's verdict on kernels and schemas, and the schemas that it infers, against op-lint's.

Signatures are read by libclang as in a user's file. Torch registers each compiled kernel for each schema and says why
not.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

import msgspec
import pytest

from op_lint.facts import Parameter, Signature
from op_lint.schema import (
    Part,
    Schema,
    SchemaError,
    Verdict,
    apply,
    compare,
    format_schema,
    format_type,
    infer,
    infer_schema,
    parse_schema,
    signatures_agree,
)
from op_lint.schema.cpp_text import read_type
from op_lint.schema.model import fake_type
from tests.truth.registration_sources import why_nothing_compiles
from tests.truth.schema_changes import changes, plain
from tests.truth.schema_kernels import (
    Answers,
    CppKernel,
    ask_torch,
    operator_headers,
    read_kernel,
    signatures,
)

pytestmark = pytest.mark.skipif(why_nothing_compiles() is not None, reason=why_nothing_compiles() or "")

_EVERY = 31
"""Of torch's own operators, which have 3,100 signatures, every so many is asked about."""

_WRITTEN = (
    "void f()",
    "at::Tensor f()",
    "void f(at::Tensor& x)",
    "at::Tensor& f(const at::Tensor& x, at::Tensor& out)",
    "at::Tensor f(at::Tensor x, int64_t n)",
    "at::Tensor f(at::Tensor&& x, const int64_t& n, double&& d)",
    "at::Tensor f(const at::Tensor& x, long n, int8_t m, bool b)",
    "at::Tensor f(const at::Tensor& x, c10::SymInt n)",
    "at::Tensor f(const at::Tensor& x, const c10::SymInt& n)",
    "at::Tensor f(const at::Tensor& x, c10::SymInt n, const c10::SymInt& m)",
    "at::Tensor f(const at::Tensor& x, c10::SymInt n, int64_t m)",
    "at::Tensor f(const at::Tensor& x, c10::SymIntArrayRef n, at::IntArrayRef m)",
    "at::Tensor f(const at::Tensor& x, const c10::SymIntArrayRef& n)",
    "at::Tensor f(const at::Tensor& x, std::vector<c10::SymInt> n)",
    "at::Tensor f(const at::Tensor& x, std::optional<c10::SymInt> n, at::OptionalSymIntArrayRef m)",
    "at::Tensor f(const at::Tensor& x, const std::optional<c10::SymInt>& n)",
    "at::Tensor f(const at::Tensor& x, std::optional<int64_t> n, at::OptionalIntArrayRef m)",
    "c10::SymInt f(const at::Tensor& x)",
    "int64_t f(const at::Tensor& x)",
    "std::vector<int64_t> f(const at::Tensor& x)",
    "std::vector<c10::SymInt> f(const at::Tensor& x)",
    "at::Tensor f(at::TensorList x, const std::vector<at::Tensor>& y, c10::List<at::Tensor> z, at::ITensorListRef w)",
    "std::vector<at::Tensor> f(const c10::List<std::optional<at::Tensor>>& x)",
    "at::Tensor f(std::optional<at::Tensor> x, const std::optional<at::Tensor>& y)",
    "at::Tensor f(const at::Tensor& x, std::optional<std::vector<at::Tensor>> y)",
    "at::Tensor f(const at::Tensor& x, std::array<bool, 2> m, std::array<int64_t, 3> n)",
    "at::Tensor f(const at::Tensor& x, c10::List<bool> m, std::vector<double> d, at::ArrayRef<double> e)",
    "at::Tensor f(const at::Tensor& x, std::string s, c10::string_view t, std::string_view u, const std::string& v)",
    "at::Tensor f(const at::Tensor& x, std::optional<c10::string_view> s, std::vector<std::string> t)",
    "at::Tensor f(const at::Tensor& x, const at::Scalar& s, std::optional<at::Scalar> t, at::ArrayRef<at::Scalar> u)",
    "at::Tensor f(at::ScalarType t, at::Layout l, at::Device d, at::MemoryFormat m, at::QScheme q)",
    "at::Tensor f(std::optional<at::ScalarType> t, std::optional<at::Layout> l, std::optional<at::Device> d)",
    "at::Tensor f(const at::Tensor& x, std::optional<at::Generator> g)",
    "at::Tensor f(const at::Tensor& x, at::Generator g)",
    "at::Tensor f(const at::Tensor& x, c10::Storage s, c10::Stream t)",
    "at::Tensor f(const at::Tensor& x, c10::complex<double> c, c10::SymBool b, c10::SymFloat e)",
    "at::Tensor f(const at::Tensor& x, c10::Dict<std::string, at::Tensor> d)",
    "at::Tensor f(const at::Tensor& x, c10::Dict<std::string, c10::SymInt> d)",
    "at::Tensor f(const at::Tensor& x, std::tuple<int64_t, at::Tensor> t)",
    "at::Tensor f(const at::Tensor& x, std::vector<std::vector<int64_t>> n, at::ArrayRef<std::vector<at::Tensor>> y)",
    "at::Tensor f(const at::Tensor& x, c10::IValue v, std::vector<c10::IValue> w)",
    "at::Tensor f(c10::DispatchKeySet keys, const at::Tensor& x, int64_t n)",
    "std::tuple<at::Tensor, at::Tensor> f(const at::Tensor& x)",
    "std::tuple<at::Tensor&, at::Tensor&> f(at::Tensor& x, at::Tensor& y)",
    "std::tuple<at::Tensor> f(const at::Tensor& x)",
    "std::tuple<> f(const at::Tensor& x)",
    "std::tuple<at::Tensor, std::tuple<int64_t, double>> f(const at::Tensor& x)",
    "const std::tuple<at::Tensor, at::Tensor> f(const at::Tensor& x)",
    "std::tuple<std::vector<at::Tensor>, int64_t, std::optional<at::Tensor>, bool, std::string> f(const at::Tensor& x)",
    "std::optional<at::Tensor> f(const at::Tensor& x)",
    "at::Scalar f(const at::Tensor& x)",
    "c10::Dict<std::string, at::Tensor> f(const at::Tensor& x)",
    "c10::List<bool> f(const at::Tensor& x)",
    "double f(double x)",
    "std::string f(std::string x)",
    "const at::Tensor f(const at::Tensor x)",
)
_CLASSES = (
    "c10::intrusive_ptr<kernels::Registered> f(const c10::intrusive_ptr<kernels::Registered>& r)",
    "at::Tensor f(const at::Tensor& x, std::optional<c10::intrusive_ptr<kernels::Registered>> r)",
)
"""Kernels with a custom class, of which only C++ knows the name that torch knows it by."""


@lru_cache
def kernels() -> tuple[CppKernel, ...]:
    own = [kernel for kernel, _ in operator_headers()[::_EVERY]]
    return (*map(read_kernel, _WRITTEN), *own, *map(read_kernel, _CLASSES))


@lru_cache
def read_signatures() -> tuple[Signature, ...]:
    read = signatures(kernels())
    assert None not in read
    return tuple(signature for signature in read if signature is not None)


@lru_cache
def base_schemas() -> tuple[Schema, ...]:
    """For each kernel the schema that it was written for, or that it means."""
    own = [parse_schema(text) for _, text in operator_headers()[::_EVERY]]
    schemas = [infer_schema(signature) for signature in read_signatures()[: len(_WRITTEN)]]
    found = [plain(schema) for schema in (*schemas, *own) if isinstance(schema, Schema)]
    assert len(found) == len(schemas) + len(own)
    return tuple(found)


@lru_cache
def asked() -> tuple[tuple[int, str, str], ...]:
    """Triples: a kernel, the kind of a change, and the changed schema of operator `f`."""
    triples = []
    for kernel, schema in enumerate(base_schemas()):
        seen = set()
        for index in range(max(1, len(schema.arguments), len(schema.returns))):
            for kind, text in changes(schema, index):
                text = "f" + text[text.index("(") :]
                if text not in seen:
                    seen.add(text)
                    triples.append((kernel, kind, text))
    return tuple(triples)


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Answers:
    fits = [(kernel, text) for kernel, _, text in asked()]
    fits += [(len(base_schemas()) + index, text) for index, text in enumerate(_CLASS_SCHEMAS)]
    return ask_torch(kernels(), fits, tmp_path_factory.mktemp("kernels"))


_CLASS_SCHEMAS = (
    "f(__torch__.torch.classes.kernels.Registered r) -> __torch__.torch.classes.kernels.Registered",
    "f(Tensor x, __torch__.torch.classes.kernels.Registered? r) -> Tensor",
)


def test_inferred_schemas(answers: Answers) -> None:
    compared = 0
    for signature, torchs in zip(read_signatures(), answers.inferred, strict=True):
        schema = infer_schema(signature)
        if "__torch__" in torchs:
            assert schema is None
            continue
        assert schema is not None
        assert format_schema(schema) == torchs
        compared += 1
    assert compared >= 150


def test_verdicts_and_reasons(answers: Answers) -> None:
    kinds: Counter[str] = Counter()
    verdicts: Counter[Verdict] = Counter()
    for (kernel, kind, text), error in zip(asked(), answers.fits, strict=False):
        schema = parse_schema(text)
        if isinstance(schema, SchemaError):
            assert error
            assert "Inferred operator schema" not in error
            continue
        comparison = compare(read_signatures()[kernel], schema, text)
        reason = re.search(r"reason: (.*)", error)
        assert comparison.reason == (reason[1] if reason else ""), (kernels()[kernel], text, error)
        assert comparison.verdict is (Verdict.MISMATCH if error else Verdict.FITS), (kernels()[kernel], text, error)
        kinds[kind] += 1
        verdicts[comparison.verdict] += 1
    assert len(base_schemas()) >= 150
    assert len(kinds) >= 20
    assert min(verdicts[Verdict.FITS], verdicts[Verdict.MISMATCH]) > 1_000


def test_custom_classes_are_taken_for_the_right_ones(answers: Answers) -> None:
    assert set(answers.fits[len(asked()) :]) == {""}
    for kernel, text in enumerate(_CLASS_SCHEMAS, len(base_schemas())):
        schema = parse_schema(text)
        assert isinstance(schema, Schema)
        assert compare(read_signatures()[kernel], schema).verdict is Verdict.UNKNOWN


def test_every_edit_makes_the_schema_fit(answers: Answers) -> None:
    """The edits of a mismatch, applied, give a schema that torch lets the kernel have: it infers the same from both."""
    edited: Counter[Part] = Counter()
    for kernel, _, text in asked():
        schema = parse_schema(text)
        if isinstance(schema, SchemaError):
            continue
        signature = read_signatures()[kernel]
        comparison = compare(signature, schema, text)
        if comparison.verdict is not Verdict.MISMATCH or not comparison.edits:
            continue
        mended = parse_schema(apply(text, comparison.edits))
        assert isinstance(mended, Schema)
        assert compare(signature, mended).verdict is Verdict.FITS
        edited.update({mismatch.part for mismatch in comparison.mismatches})
    assert set(edited) == {Part.ARGUMENT_COUNT, Part.RETURN_COUNT, Part.ARGUMENT, Part.RETURN}
    assert sum(edited.values()) > 1_000


def test_the_cpp_to_write_fits_the_argument() -> None:
    suggested = 0
    for kernel, _, text in asked():
        schema = parse_schema(text)
        if isinstance(schema, SchemaError):
            continue
        signature = read_signatures()[kernel]
        for mismatch in compare(signature, schema).mismatches:
            if mismatch.part is Part.ARGUMENT and mismatch.cpp:
                changed = with_parameter(signature, mismatch.parameter, mismatch.cpp)
                left = compare(changed, schema).mismatches
                assert (Part.ARGUMENT, mismatch.index) not in {(other.part, other.index) for other in left}
                suggested += 1
    assert suggested > 500


def with_parameter(signature: Signature, parameter: Parameter | None, cpp: str) -> Signature:
    """The signature with `cpp` as the type of one of its parameters."""
    assert parameter is not None
    read = read_type(cpp)
    assert read is not None
    assert read[1] == len(cpp)
    index = next(index for index, other in enumerate(signature.parameters) if other is parameter)
    changed = msgspec.structs.replace(parameter, type=read[0])
    parameters = (*signature.parameters[:index], changed, *signature.parameters[index + 1 :])
    return msgspec.structs.replace(signature, parameters=parameters)


def test_operators_of_torch_fit_their_schemas() -> None:
    """All of them: op-lint must say nothing about any kernel that torch's own headers have for its own schema."""
    pairs = operator_headers()
    assert len(pairs) >= 3_100
    for (kernel, text), signature in zip(pairs, signatures([kernel for kernel, _ in pairs]), strict=True):
        schema = parse_schema(text)
        assert isinstance(schema, Schema)
        assert signature is not None
        comparison = compare(signature, schema, text)
        assert comparison.verdict is Verdict.FITS, (kernel, text)
        assert comparison.edits == ()


def test_changed_schemas_of_torchs_operators() -> None:
    """Every change of each of these schemas: a mismatch exactly where the types that torch infers differ from it."""
    kinds: Counter[str] = Counter()
    pairs = operator_headers()
    read = signatures([kernel for kernel, _ in pairs])
    for index, ((_, text), signature) in enumerate(zip(pairs, read, strict=True)):
        schema = parse_schema(text)
        assert isinstance(schema, Schema)
        assert signature is not None
        for kind, changed_text in changes(plain(schema), index):
            changed = parse_schema(changed_text, typevars=True)
            if not isinstance(changed, Schema):
                continue  # a change that torch does not parse, such as a list of a type that has none
            kinds[kind] += 1
            fits = compare(signature, changed, changed_text).verdict is Verdict.FITS
            assert fits == (_types(changed, signature) == _inferred_types(signature)), (kind, text, changed_text)
    assert len(kinds) >= 10
    assert min(kinds.values()) >= 50


def _types(schema: Schema, signature: Signature) -> list[list[str]]:
    """The types that the dispatcher holds a kernel against: `int` for `SymInt` arguments if it takes no symbols."""
    arguments = [argument.type for argument in schema.arguments]
    if not infer(signature).has_symbols:
        arguments = [fake_type(type_) if "SymInt" in format_type(type_) else type_ for type_ in arguments]
    return [list(map(format_type, arguments)), [format_type(returned.type) for returned in schema.returns]]


def _inferred_types(signature: Signature) -> list[list[str]]:
    inference = infer(signature)
    return [
        [format_type(item.type) if item.type else "?" for item in items]
        for items in (inference.arguments, inference.returns)
    ]


def test_kernels_with_one_signature_agree() -> None:
    every = read_signatures()
    for index, signature in enumerate(every):
        assert signatures_agree(signature, signature) is True
        other = every[(index + 1) % len(every)]
        assert signatures_agree(signature, other) == signatures_agree(other, signature)
