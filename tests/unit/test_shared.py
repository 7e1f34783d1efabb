"""Equal parts of facts are made one object, and nothing else changes."""

from __future__ import annotations

from pathlib import Path

import msgspec

from op_lint.condition import ALWAYS
from op_lint.cpp import CppReader
from op_lint.facts import FileFacts
from op_lint.shared import Sharer

_SOURCE = b"""
#include <torch/library.h>
at::Tensor scale(const at::Tensor& self, const at::Tensor& other, int64_t n) { return self; }
TORCH_LIBRARY(shop, m) {
  m.def("scale(Tensor self, Tensor other, int n) -> Tensor");
#ifdef WITH_CPU
  m.impl("scale", torch::kCPU, &scale);
#endif
}
"""


def _decoded(facts: FileFacts) -> FileFacts:
    return msgspec.msgpack.decode(msgspec.msgpack.encode(facts), type=FileFacts)


def _read(root: Path) -> FileFacts:
    root.joinpath("ops.cpp").write_bytes(_SOURCE)
    facts = CppReader(root, ("ops.cpp",)).read("ops.cpp")
    assert facts.implementations
    return facts


def test_facts_stay_what_they_are(tmp_path: Path) -> None:
    facts = _read(tmp_path)
    assert Sharer().share(_decoded(facts)) == facts


def test_a_file_has_its_path_once(tmp_path: Path) -> None:
    shared = Sharer().share(_decoded(_read(tmp_path)))
    places = [shared.units[0].place, shared.definitions[0].place, shared.implementations[0].kernel.place]
    assert all(place is not None and place.path is shared.path for place in places)


def test_files_have_types_and_conditions_in_common(tmp_path: Path) -> None:
    facts = _read(tmp_path)
    sharer = Sharer()
    one, other = (sharer.share(_decoded(facts)).implementations[0] for _ in range(2))
    assert one.condition is other.condition
    assert sharer.share(_decoded(facts)).units[0].condition is ALWAYS
    assert one.kernel.signature is not None
    assert other.kernel.signature is not None
    types = [parameter.type for each in (one, other) for parameter in each.kernel.signature.parameters]  # type: ignore[union-attr]
    assert types[0] is types[1] is types[3]
    assert types[0] is not types[2]
