"""Reading again after an edit gives what reading afresh gives, and takes the short way where it can."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from op_lint.cpp import CppReader
from op_lint.cpp.incremental import Memory
from op_lint.facts import FileFacts

PATH = "ops.cpp"

PLAIN = """#include <torch/library.h>
#include <ATen/ATen.h>
#include "names.h"
namespace demo {
at::Tensor scale_cpu(const at::Tensor& x, double s) {
  // Scales.
  for (int64_t i = 0; i < x.numel(); ++i) { s += helper({i, 'a'}, "}"); }
  return x * s;
}
at::Tensor& add_(at::Tensor& self, const at::Tensor& other) { return self.add_(other); }
static std::tuple<at::Tensor, at::Tensor> pair(at::Tensor x, at::IntArrayRef sizes = {1, 2}) {
  return {x, x};
}
template <class T> at::Tensor cast(const at::Tensor& x) { return x; }
auto deduced(const at::Tensor& x) { return x; }

TORCH_LIBRARY(demo, m) {
  m.set_python_module("demo.fakes");
  m.def("scale(Tensor x, float s) -> Tensor");
  m.def("add_(Tensor(a!) self, Tensor other) -> Tensor(a!)"); // in place
  m.def(
      "pair(Tensor x, "
      "int[] sizes=[1, 2]) -> (Tensor, Tensor)",
      {at::Tag::pt2_compliant_tag});
  /* a comment; with m.def("nothing") */
  m.def(PREFIX "cast(Tensor x) -> Tensor");
}

TORCH_LIBRARY_IMPL(demo, CPU, m) {
  m.impl("scale", &scale_cpu);
  m.impl("add_", TORCH_FN(add_));
  m.impl("pair", pair);
  m.impl("cast", &cast<float>);
  m.impl("deduced", &deduced);
  m.impl("lambda", [](const at::Tensor& x) { return x; });
}
}  // namespace demo
"""

INVOLVED = """#include <torch/library.h>
#include "missing.h"
#define KERNEL(name, key) TORCH_LIBRARY_IMPL(demo, key, m) { m.impl(#name, &name##_##key); }
at::Tensor twice(const at::Tensor& x);
static const char* kName = "named";
void more(torch::Library& m) {
  m.def("more(Tensor x) -> Tensor");
  m.impl("more", twice);
}
at::Tensor wrap(at::Tensor (*f)(const at::Tensor&)) { return f(at::Tensor()); }

TORCH_LIBRARY_FRAGMENT(demo, lib) {
  lib.def("twice(Tensor x) -> Tensor", &twice);
  lib.def("unseen(Tensor x, int n) -> Tensor", &kernels::unseen);
  lib.def(kName);
  more(lib);
#ifdef USE_CUDA
  lib.impl("twice", torch::kCUDA, &twice_cuda);
  lib.impl("other", c10::DispatchKey::MyOwnKey, twice);
#else
  lib.impl("twice", torch::kMeta, twice);
#endif
  if (at::hasXPU()) lib.impl("twice", torch::kXPU, &twice_xpu);
  for (auto key : {"CPU", "CUDA"}) { lib.impl("looped", twice); }
}
KERNEL(thrice, CPU)
static auto legacy = torch::RegisterOperators().op("demo::legacy(Tensor x) -> Tensor", &twice);
TORCH_LIBRARY_IMPL(demo, Autograd, m) {
  m.impl("twice", torch::CppFunction::makeFallthrough());
  m.fallback(torch::CppFunction::makeFallthrough());
}
STABLE_TORCH_LIBRARY_IMPL(demo, CUDA, m) {
  m.impl("stable", TORCH_BOX(&stable_kernel));
}
"""

DOUBTFUL = """#include <torch/library.h>
Widget doubtful(const at::Tensor& x, Gadget g) { return x; }
TORCH_LIBRARY(demo, m) {
  m.def("doubtful(Tensor x, Gadget g) -> Tensor", &doubtful);
  m.def("twice(Tensor x) -> Tensor");
}
"""

HEADER = b'#pragma once\n#define PREFIX "a_"\n#define OPEN {\n#define SAY(x) x\n'

PIECES = (
    'm.def("zz(Tensor x) -> Tensor");', 'm.impl("zz", &zz_cpu);', 'lib.impl("scale", twice);', "// c\n",
    "/* c */", "\n", ";", "{", "}", "(", ")", '"', "'", "int x = 1;", "return x;", " ", "#if A\n", "#endif\n",
    "#define m k\n", "if (x) ", "at::Tensor q(const at::Tensor& a) { return a; }\n", "const ", "auto ", "&", "\r\n",
    "template <class T>\n", "OPEN", "SAY(}", "for (", "namespace z {", "\\\n", "__LINE__",
    'm.set_python_module("other");\n', "::", "\0", "\xc3",
)  # fmt: skip


class Pair:
    """One reader that remembers and, for each text, one that does not."""

    def __init__(self, root: Path, text: bytes) -> None:
        (root / "names.h").write_bytes(HEADER)
        self._fresh = CppReader(root, (PATH, "names.h"), buffers={PATH: text})
        self._reader = self._fresh.edited(PATH, text)
        self.memory = Memory()
        self.read(text)

    def read(self, text: bytes) -> tuple[FileFacts, FileFacts]:
        self._reader = self._reader.edited(PATH, text)
        self._reader.memory = self.memory
        return self._reader.read(PATH), self._fresh.edited(PATH, text).read(PATH)


def edited(text: bytes, chance: random.Random) -> bytes:
    lines = text.split(b"\n")
    kind, place = chance.random(), chance.randrange(len(text) + 1)
    piece = chance.choice(PIECES).encode("latin-1")
    if kind < 0.25:
        line = chance.randrange(len(lines))
        lines[line : line + chance.randrange(2)] = [chance.choice((piece, *lines))] * chance.randrange(2)
        return b"\n".join(lines)
    if kind < 0.6:
        spots = [match.start() for match in re.finditer(rb'\b(?:m|lib)\.\w+\(|"[^"\n]*"|&\w|\breturn', text)]
        place = chance.choice(spots or [place]) + chance.choice((0, 1, 2, 5, 8, 12))
        piece = chance.choice((b"x", b"int ", b", int a", b"_", b" ", b"9"))
    return text[:place] + piece + text[place + chance.choice((0, 0, 1, 5)) :]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("text", [PLAIN, INVOLVED, DOUBTFUL], ids=["plain", "involved", "doubtful"])
def test_any_edit(text: str, seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    good = text.encode()
    pair = Pair(tmp_path, good)
    for _ in range(25):
        current, taken = edited(good, chance), pair.memory.again
        again, afresh = pair.read(current)
        assert again == afresh, current.decode("latin-1")
        if pair.memory.again > taken and chance.random() < 0.5:
            good = current
        elif chance.random() < 0.8:
            again, afresh = pair.read(good)
            assert again == afresh, good.decode("latin-1")
    assert pair.memory.again >= 3 or text is DOUBTFUL  # else nothing was tested


SHORT = [
    (PLAIN, "float s)", "int s)"),
    (PLAIN, 'impl("scale"', 'impl("scaled"'),
    (PLAIN, "return x * s;", "return x * s * 2;"),
    (PLAIN, "return x * s;", "at::Tensor y = x;\n\n  return no_such(y);"),
    (PLAIN, "return x; }\n\nTORCH_LIBRARY(demo", "return x; }\n\nTORCH_LIBRARY(demo"),
    (PLAIN, "{ return self.add_(other); }", "{ return self.add_(other);}"),
    (PLAIN, "{ return self.add_(other); }", "{x; return self.add_(other); }"),
    (PLAIN, "// Scales.", "// Scales\n  // and more."),
    (PLAIN, '  m.impl("pair", pair);\n', ""),
    (PLAIN, '  m.impl("pair", pair);\n', '  m.impl("pair", pair);\n  m.impl("pair2", pair);  // new\n'),
    (PLAIN, "/* a comment;", "/* another\n comment;"),
    (PLAIN, 'PREFIX "cast', 'PREFIX "recast'),
    (INVOLVED, "unseen(Tensor x, int n)", "unseen(Tensor x, float n)"),
    (INVOLVED, 'impl("twice", torch::kMeta', 'impl("twice2", torch::kMeta'),
    (INVOLVED, 'm.impl("stable"', 'm.impl("stable2"'),
    (DOUBTFUL, "twice(Tensor x)", "twice(Tensor y)"),
]


@pytest.mark.parametrize(("text", "old", "new"), SHORT)
def test_the_short_way(text: str, old: str, new: str, tmp_path: Path) -> None:
    assert old in text
    pair = Pair(tmp_path, text.encode())
    for current in (text.replace(old, new), text):
        read = pair.memory.afresh
        again, afresh = pair.read(current.encode())
        assert again == afresh
        assert pair.memory.afresh == read


LONG = [
    (PLAIN, "double s)", "int64_t s)"),
    (PLAIN, "TORCH_LIBRARY_IMPL(demo, CPU", "TORCH_LIBRARY_IMPL(demo, CUDA"),
    (PLAIN, '("demo.fakes")', '("demo.other")'),
    (PLAIN, "i < x.numel()", "i < x.numel("),
    (PLAIN, "for (int64_t i = 0;", "for (int64_t i0::a"),
    (PLAIN, "return x * s;", "OPEN return x * s;"),
    (PLAIN, "auto deduced(const at::Tensor& x) { return x; }", "auto deduced(const at::Tensor& x) { return 1; }"),
    (INVOLVED, "#ifdef USE_CUDA", "#ifndef USE_CUDA"),
    (INVOLVED, 'kName = "named"', 'kName = "renamed"'),
    (INVOLVED, "&kernels::unseen", "&kernels::unseen2"),
]


@pytest.mark.parametrize(("text", "old", "new"), LONG)
def test_the_long_way(text: str, old: str, new: str, tmp_path: Path) -> None:
    assert old in text
    pair = Pair(tmp_path, text.encode())
    again, afresh = pair.read(text.replace(old, new).encode())
    assert again == afresh
    assert pair.memory.again == 0


def test_line_ends(tmp_path: Path) -> None:
    pair = Pair(tmp_path, PLAIN.replace("\n", "\r\n").encode())
    for old, new in (("float s)", "int s)"), ('  m.impl("pair", pair);\n', ""), ("// Scales.", "//\n//")):
        for text in (PLAIN.replace(old, new), PLAIN):
            again, afresh = pair.read(text.replace("\n", "\r\n").encode())
            assert again == afresh
    assert pair.memory.again == 6


def test_a_header_that_changes(tmp_path: Path) -> None:
    pair = Pair(tmp_path, PLAIN.encode())
    (tmp_path / "names.h").write_bytes(HEADER.replace(b"a_", b"b_"))
    changed = CppReader(tmp_path, (PATH, "names.h"), buffers={PATH: PLAIN.encode()})
    changed.memory = pair.memory
    names = [definition.operator.name for definition in changed.read(PATH).definitions]
    assert "b_cast" in names


def test_only_the_last_files_are_remembered(tmp_path: Path) -> None:
    memory = Memory()
    paths = tuple(f"ops{number}.cpp" for number in range(12))
    reader = CppReader(tmp_path, paths, buffers={path: PLAIN.replace("PREFIX", "").encode() for path in paths})
    reader.memory = memory
    for path in (*paths, paths[0], paths[-1]):
        reader.read(path)
    assert (memory.afresh, memory.again) == (13, 1)
