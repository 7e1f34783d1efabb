"""What only the files together say: helpers of another file, blocks in headers."""

from __future__ import annotations

from op_lint.condition import Atom, conjunction
from op_lint.cpp.link import link
from op_lint.facts import FileFacts
from tests.unit.cpp_reading import HEAD, reader_of, registered

_HELPER = HEAD + 'Tensor f(const Tensor& x);\nvoid add(torch::Library& m) { m.def("g() -> ()"); m.impl("h", &f); }\n'
_DECLARED = HEAD + "void add(torch::Library& m);\n"


def _linked(files: dict[str, str]) -> dict[str, FileFacts]:
    reader = reader_of(dict(files))
    return {facts.path: facts for facts in link([reader.read(path) for path in sorted(files)])}


def test_a_helper_is_of_the_block_that_calls_it() -> None:
    files = {"helper.cpp": _HELPER, "ops.cpp": _DECLARED + "TORCH_LIBRARY(demo, m) { add(m); }\n"}
    linked = _linked(files)
    assert registered(linked["helper.cpp"]) == ["def demo::g", "impl demo::h at CompositeImplicitAutograd"]
    assert all(facts.unresolved == () for facts in linked.values())


def test_a_helper_of_two_blocks_registers_twice() -> None:
    blocks = "TORCH_LIBRARY_IMPL(demo, CPU, m) { add(m); }\nTORCH_LIBRARY_IMPL(other, CUDA, m) { add(m); }\n"
    linked = _linked({"helper.cpp": _HELPER, "ops.cpp": _DECLARED + blocks})
    assert registered(linked["helper.cpp"])[-2:] == ["impl demo::h at CPU", "impl other::h at CUDA"]
    assert [unit.namespace for unit in linked["helper.cpp"].units] == ["demo", "other"]


def test_the_condition_and_guard_of_the_call_count() -> None:
    block = "bool on();\nTORCH_LIBRARY(demo, m) {\n#ifdef USE_IT\nif (on()) add(m);\n#endif\n}\n"
    helper = _HELPER.replace("void add", "#ifdef HERE\nvoid add") + "#endif\n"
    (row,) = _linked({"helper.cpp": helper, "ops.cpp": _DECLARED + block})["helper.cpp"].definitions
    assert row.condition == conjunction((Atom("HERE"), Atom("USE_IT")))
    assert row.runtime_guard == "on()"


def test_through_another_helper() -> None:
    middle = _DECLARED + "void both(torch::Library& m) { add(m); }\n"
    top = HEAD + "void both(torch::Library& m);\nTORCH_LIBRARY(demo, m) { both(m); }\n"
    linked = _linked({"helper.cpp": _HELPER, "middle.cpp": middle, "ops.cpp": top})
    assert registered(linked["helper.cpp"])[0] == "def demo::g"


def test_helpers_that_call_each_other_end() -> None:
    first = HEAD + "void b(torch::Library& m);\nvoid a(torch::Library& m) { b(m); }\n"
    second = HEAD + 'void a(torch::Library& m);\nvoid b(torch::Library& m) { a(m); m.def("g() -> ()"); }\n'
    linked = _linked({"a.cpp": first, "b.cpp": second})
    assert linked["b.cpp"].definitions == ()
    assert [row.reason for row in linked["b.cpp"].unresolved] == ["no block calls b, which takes the library"]


def test_what_nobody_calls_and_what_has_no_body_is_said() -> None:
    (row, *_) = _linked({"helper.cpp": _HELPER})["helper.cpp"].unresolved
    assert row.reason == "no block calls add, which takes the library"
    (row,) = _linked({"ops.cpp": _DECLARED + "TORCH_LIBRARY(demo, m) { add(m); }\n"})["ops.cpp"].unresolved
    assert row.reason == "the body of add is in no file that was read"
    assert row.namespace == "demo"


def test_the_nearest_of_two_functions_of_one_name() -> None:
    block = _DECLARED + "TORCH_LIBRARY({}, m) {{ add(m); }}\n"
    files = {
        "one/helper.cpp": _HELPER,
        "one/ops.cpp": block.replace("{}", "one").replace("{{", "{").replace("}}", "}"),
        "two/helper.cpp": _HELPER,
        "two/ops.cpp": block.replace("{}", "two").replace("{{", "{").replace("}}", "}"),
    }
    linked = _linked(files)
    assert registered(linked["one/helper.cpp"])[0] == "def one::g"
    assert registered(linked["two/helper.cpp"])[0] == "def two::g"


def test_the_block_of_a_header_is_there_once() -> None:
    header = HEAD + 'TORCH_LIBRARY(demo, m) { m.def("g() -> ()"); }\n'
    linked = _linked({"block.h": header, "a.cpp": '#include "block.h"\n', "b.cpp": '#include "block.h"\n'})
    assert {path: registered(facts) for path, facts in linked.items()} == {
        "block.h": ["def demo::g"],
        "a.cpp": [],
        "b.cpp": [],
    }


def test_a_header_that_needs_its_includer() -> None:
    header = HEAD + '#define LIBRARY(n, m) TORCH_LIBRARY(n, m)\nLIBRARY(NS, m) { m.def("g() -> ()"); }\n'
    linked = _linked({"block.h": header, "a.cpp": '#define NS demo\n#include "block.h"\n'})
    assert registered(linked["block.h"]) == []
    assert registered(linked["a.cpp"]) == ["def demo::g"]


def test_each_call_counts_and_names_itself() -> None:
    block = "TORCH_LIBRARY(demo, m) {\n  add(m);\n  add(m);\n  add(m);\n}\n"
    rows = _linked({"helper.cpp": _HELPER, "ops.cpp": _DECLARED + block})["helper.cpp"].definitions
    # Two are one too many; a third says nothing new.
    assert [[call.line for call in row.calls] for row in rows] == [[5], [6]]


def test_many_ways_through_many_helpers_end() -> None:
    files = {
        f"h{n}.cpp": HEAD + f"void h{n + 1}(torch::Library& m);\n"
        f"void h{n}(torch::Library& m) {{ h{n + 1}(m);\nh{n + 1}(m); }}\n"
        for n in range(30)
    }
    files["h30.cpp"] = HEAD + 'void h30(torch::Library& m) { m.def("g() -> ()"); }\n'
    files["ops.cpp"] = HEAD + "void h0(torch::Library& m);\nTORCH_LIBRARY(demo, m) { h0(m); }\n"
    assert [len(row.calls) for row in _linked(files)["h30.cpp"].definitions] == [31, 31]
