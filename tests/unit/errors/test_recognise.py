"""Torch's errors in logs of any shape."""

from __future__ import annotations

import io
import textwrap
import time
import tracemalloc
from collections.abc import Callable

import pytest

from op_lint.dispatch import errors
from op_lint.errors.kind import Kind
from op_lint.errors.recognise import KINDS, Dumped, Frame, Recognised, Recogniser
from op_lint.message import Message

RUN = errors.COULD_NOT_RUN.write(operator="demo::scale.out", key="CUDA")
MISMATCH = """terminate called after throwing an instance of 'c10::Error'
  what():  Inferred operator schema for a C++ kernel function doesn't match the expected function schema.
  operator: demo::scale
  expected schema: demo::scale(Tensor x, float s) -> Tensor
    registered at /build/demo/csrc/ops.cpp:12
  inferred schema: (Tensor _0, int _1) -> Tensor _0
    registered at /build/demo/csrc/cpu.cpp:31
  reason: Type mismatch in argument 2: float vs int.
Exception raised from checkSchema at aten/src/ATen/core/dispatch/OperatorEntry.cpp:105 (most recent call first):
"""


def found(text: str | bytes) -> tuple[Recognised, ...]:
    return Recogniser().read(io.BytesIO(text.encode() if isinstance(text, str) else text))


def one(text: str | bytes) -> Recognised:
    (error,) = found(text)
    return error


def sample(message: Message) -> str:
    """A text of a message, with something in the place of each name."""
    values = {
        "operator": "demo::f.a", "python": "demo.f.a", "qualified": "demo.f", "namespace": "demo", "key": "CPU",
        "place": "registered at ops.cpp:7", "where": "ops.cpp:7", "macro": "TORCH_LIBRARY", "number": "2",
        "name": "demo_f", "word": "x", "wanted": "arrow", "found": "x", "marked": "f(x)\n  ~", "path": "demo.fakes",
        "schema": "demo::f.a(Tensor x) -> Tensor", "library": "/a/libdemo.so", "symbol": "_ZN2at1fEv",
    }  # fmt: skip
    return message.write(**{name: values.get(name.rstrip("0123456789"), "some text") for name in message.fields})


MESSAGES = [(kind, message) for kind in KINDS for message in kind.messages]


@pytest.mark.parametrize(
    ("kind", "message"), MESSAGES, ids=[f"{kind.name} {i}" for i, (kind, _) in enumerate(MESSAGES)]
)
@pytest.mark.parametrize("wrap", [str, lambda text: "\n".join(textwrap.wrap(text, 40)),
                                  lambda text: "\n".join(text[i : i + 33] for i in range(0, len(text), 33))],
                         ids=["as it is", "wrapped at words", "wrapped anywhere"])  # fmt: skip
def test_every_message_is_recognised(kind: Kind, message: Message, wrap: Callable[[str], str]) -> None:
    error = one(f"RuntimeError: {wrap(sample(message) + message.ahead)}\n")
    assert error.kind is kind
    assert set(error.fields) == set(message.fields) or error.message is not message


def test_names_are_words_of_their_own() -> None:
    names = [kind.name for kind in KINDS]
    assert len(names) == len(set(names))
    for kind in KINDS:
        assert kind.change, kind.name
        assert not kind.meaning[0].isupper() or kind.meaning.startswith("C++")


def test_what_a_multi_line_message_names() -> None:
    error = one(MISMATCH)
    assert error.kind.name == "schema-mismatch"
    assert error.operator == "demo::scale"
    assert error.fields["schema"] == "demo::scale(Tensor x, float s) -> Tensor"
    assert error.fields["place"] == "registered at /build/demo/csrc/ops.cpp:12"
    assert error.fields["place2"] == "registered at /build/demo/csrc/cpu.cpp:31"
    assert error.fields["reason"] == "Type mismatch in argument 2: float vs int"
    assert error.line == 2


@pytest.mark.parametrize(
    "prefix",
    [
        "2026-03-01T02:14:07.1180000Z ",
        "[rank0]: ",
        "E   ",
        "(W pid=7) ",
        "\x1b[31m",
        "E0301 02:14:07.1 45 a/b.py:6] ",
        "> ",
    ],
)
def test_prefixes_of_every_line(prefix: str) -> None:
    error = one("".join(f"{prefix}{line}\n" for line in MISMATCH.splitlines()))
    assert error.fields["place2"] == "registered at /build/demo/csrc/cpu.cpp:31"
    assert error.fields["schema2"] == "(Tensor _0, int _1) -> Tensor _0"


def test_the_type_of_the_exception() -> None:
    assert one(f"NotImplementedError: {RUN}").raised == "NotImplementedError"
    assert one(f"torch._dynamo.exc.TorchRuntimeError: {RUN}").raised == "TorchRuntimeError"
    assert one(f"what():  {RUN}").raised is None
    asserted = '0 INTERNAL ASSERT FAILED at "/a/K.cpp":23, please report a bug to PyTorch. '
    assert one(f"RuntimeError: {asserted}{errors.AMBIGUOUS.write(operator='a::b')}").raised == "RuntimeError"


def test_what_torch_lists() -> None:
    text = f"""{RUN} This could be because

CPU: registered at csrc/cpu.cpp:18 [kernel]
Meta: registered at /pytorch/aten/src/ATen/core/MetaFallbackKernel.cpp:23 [backend fallback]
BackendSelect: fallthrough registered at x.cpp:3 [backend fallback]
AutogradCPU: registered at csrc/grad.cpp:5 [autograd kernel]
something else
"""
    assert one(text).listed == (
        Dumped("CPU", "registered at csrc/cpu.cpp:18"),
        Dumped("Meta", "registered at /pytorch/aten/src/ATen/core/MetaFallbackKernel.cpp:23", "backend fallback"),
        Dumped("BackendSelect", "registered at x.cpp:3", "fallthrough"),
        Dumped("AutogradCPU", "registered at csrc/grad.cpp:5", "autograd kernel"),
    )


def test_what_torch_lists_in_one_line() -> None:
    """As it is pasted into an issue; with paths of Windows, and a line end inside one."""
    text = (
        f"{RUN} This could be because CPU: registered at C:\\runner\\csrc\\cpu.cpp:112 [kernel] Meta: registered at\n"
        "/dev/null:214 [kernel] BackendSelect: fallthrough registered at C:\\pytorch\\aten\\src\\ATen\\x.cpp:3"
        " [backend fallback]\n"
    )
    assert one(text).listed == (
        Dumped("CPU", "registered at C:\\runner\\csrc\\cpu.cpp:112"),
        Dumped("Meta", "registered at /dev/null:214"),
        Dumped("BackendSelect", "registered at C:\\pytorch\\aten\\src\\ATen\\x.cpp:3", "fallthrough"),
    )


def test_a_symbol_of_macos() -> None:
    error = one(
        "ImportError('dlopen(/a/_C.so, 0x2): Symbol not found: __ZN3c1013MessageLoggerC1EPKcii\\n  Referenced')"
    )
    assert (error.kind.name, error.fields["symbol"]) == ("undefined-symbol", "__ZN3c1013MessageLoggerC1EPKcii")


def test_the_traceback() -> None:
    text = f'  File "/a/b.py", line 3, in f\n    f()\ntests/test_a.py:7: in test_a\nRuntimeError: {RUN}\n'
    assert one(text).frames == (Frame("/a/b.py", 3), Frame("tests/test_a.py", 7))


def test_the_line_that_raises_is_not_the_error() -> None:
    text = (
        '    raise AssertionError("Library object has been destroyed")\n'
        'AssertionError: Library object has been destroyed\n'
        '    raise OSError(f"Could not load this library: {path}") from e\n'
    )  # fmt: skip
    error = one(text)
    assert (error.kind.name, error.count, error.line) == ("library-destroyed", 1, 2)


def test_the_same_fault_in_other_words_is_one() -> None:
    text = (
        f"NotImplementedError: {errors.NO_META.write(operator='demo::f')}\n"
        "torch._subclasses.fake_tensor.UnsupportedOperatorException: demo.f.default\n"
        "  Developer debug context: unsupported operator: demo.f.default\n"
        "UnsupportedOperatorException: demo.g.default\n"
    )
    assert [(error.operator, error.count) for error in found(text)] == [("demo::f", 3), ("demo::g", 1)]


def test_what_is_said_again_is_counted() -> None:
    other = errors.COULD_NOT_RUN.write(operator="demo::scale.out2", key="CUDA")
    errors_found = found(f"E: {RUN}\n" * 5000 + f"E: {other}\n" * 3)
    assert [(error.operator, error.count, error.line) for error in errors_found] == [
        ("demo::scale.out", 5000, 1),
        ("demo::scale.out2", 3, 5001),
    ]


def test_a_message_across_windows() -> None:
    """Whatever line of the log it is in, it is found once."""
    filler = "nothing to see here\n"
    for before in (1840, 1849, 1850, 1851, 1999, 2000, 2001, 2149, 2150, 2151, 4000):
        (error,) = found(filler * before + MISMATCH + filler * 10)
        assert (error.line, error.count) == (before + 2, 1)


def test_wrappers_are_left_out_where_the_cause_is_there() -> None:
    cause = "OSError: /a/libdemo.so: undefined symbol: _ZN2at1fEv\n"
    wrapper = "OSError: Could not load this library: /a/libdemo.so\n"
    assert [error.kind.name for error in found(cause + wrapper)] == ["undefined-symbol"]
    assert [error.kind.name for error in found(wrapper)] == ["library-not-loaded"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "FileNotFoundError: operator.txt does not exist",
        "the operator does not exist",
        "could not run",
        "expected str but found 'int'",
        "Unknown builtin op",
        "Argument x is not defined",
        "/usr/bin/ld: cannot find -ltorch",
    ],
)
def test_other_errors_are_not_torchs(text: str) -> None:
    assert found(text) == ()


def test_a_message_that_is_cut_off_takes_no_time() -> None:
    """The patterns do not try every way to take a long text apart."""
    head = MISMATCH[: MISMATCH.index("registered at")]
    start = time.perf_counter()
    assert found(head + "registered at x " * 20_000 + "Type mismatch" * 1000) == ()
    assert time.perf_counter() - start < 5


def test_reading_takes_time_by_length_and_bounded_memory() -> None:
    block = b"2026-03-01T02:14:07.118Z tests/test_a.py::test_b PASSED                        [ 17%]\n" * 1000

    class Log(io.RawIOBase):
        def __init__(self, blocks: int) -> None:
            self.left = blocks

        def read(self, _size: int = -1) -> bytes:
            self.left -= 1
            return block if self.left >= 0 else b""

    def seconds(blocks: int) -> float:
        start = time.process_time()
        assert Recogniser().read(Log(blocks)) == ()  # type: ignore[arg-type]
        return time.process_time() - start

    seconds(10)
    few, many = (min(seconds(blocks) for _ in range(2)) for blocks in (10, 40))
    assert many < 4 * few * 1.8
    tracemalloc.start()
    assert Recogniser().read(Log(60)) == ()  # type: ignore[arg-type]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000_000  # of a log of 5 MB, as of any other
