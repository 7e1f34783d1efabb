"""The keys that tensors carry, against real tensors and against torch's headers."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from op_lint.dispatch.call import Argument, Layout, Transform, tensor_keys, wrapped
from op_lint.dispatch.keys import KeySet, autograd_key
from tests.truth.torch_process import installed, installed_keys, needs_torch, run_script

pytestmark = needs_torch


@pytest.fixture(scope="module")
def theirs() -> dict[str, list[str]]:
    answer: dict[str, list[str]] = run_script("tensor_keys.py", None)
    return answer


def ours(argument: Argument, *transforms: Transform) -> list[str]:
    carried = tensor_keys(installed_keys(), argument)
    for transform in transforms:
        carried = wrapped(installed_keys(), carried, transform)
    return sorted(carried)


def test_layouts(theirs: dict[str, list[str]]) -> None:
    for inference in (False, True):
        prefix = "inference " if inference else ""
        for layout in Layout:
            assert ours(Argument("cpu", layout, inference)) == theirs[prefix + layout.value]
        assert ours(Argument(inference=inference, conjugate=True)) == theirs[f"{prefix}conjugate"]
        assert ours(Argument(inference=inference, negative=True)) == theirs[f"{prefix}negative"]
        assert ours(Argument(inference=inference, zero=True)) == theirs[f"{prefix}zero"]


def test_devices(theirs: dict[str, list[str]]) -> None:
    """Of fake tensors: those of other devices cannot be made here. They carry the two Python keys too."""
    python = installed_keys().set("Python", "PythonTLSSnapshot")
    for device in ("cpu", "cuda", "meta", "xpu"):
        assert sorted(tensor_keys(installed_keys(), Argument(device)) | python) == theirs[f"fake {device}"]


def test_transforms(theirs: dict[str, list[str]]) -> None:
    vmap, grad, functionalize = Transform.VMAP, Transform.GRAD, Transform.FUNCTIONALIZE
    for label, argument in (
        ("cpu", Argument()),
        ("meta", Argument("meta")),
        ("sparse", Argument("cpu", Layout.SPARSE)),
    ):
        assert ours(argument, grad) == theirs[f"grad {label}"]
        assert ours(argument, functionalize) == theirs[f"functionalize {label}"]
        if f"vmap {label}" in theirs:
            assert ours(argument, vmap) == theirs[f"vmap {label}"]
    assert ours(Argument(), vmap, grad) == theirs["vmap grad"]
    assert ours(Argument(), vmap, vmap) == theirs["vmap vmap"]


PROGRAM = """
#include <c10/core/DispatchKeySet.h>
#include <cstdio>
int main() {
  for (int number = 1; number <= c10::num_backends; ++number) {
    auto backend = static_cast<c10::BackendComponent>(number);
    auto related = c10::getAutogradRelatedKeySetFromBackend(backend) |
                   c10::getAutocastRelatedKeySetFromBackend(backend);
    std::printf("%s %s %llu\\n", c10::toString(backend), c10::toString(c10::getAutogradKeyFromBackend(backend)),
                static_cast<unsigned long long>(related.raw_repr()));
  }
#define OTHER_NAME(name) std::printf("%s %s\\n", #name, c10::toString(c10::DispatchKey::name));
  OTHER_NAME(Autocast)
  OTHER_NAME(CPUTensorId)
  OTHER_NAME(CUDATensorId)
  OTHER_NAME(DefaultBackend)
  OTHER_NAME(PrivateUse1_PreAutograd)
  OTHER_NAME(PrivateUse2_PreAutograd)
  OTHER_NAME(PrivateUse3_PreAutograd)
}
"""


@pytest.fixture(scope="module")
def headers(tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    """The words of each line that `PROGRAM` prints."""
    compiler, package = shutil.which("g++"), Path(installed().package or "")
    if compiler is None:
        pytest.skip("g++ is not there")
    folder = tmp_path_factory.mktemp("headers")
    (folder / "keys.cpp").write_text(PROGRAM, encoding="utf-8")
    paths = [f"-I{package}/include", f"-L{package}/lib", f"-Wl,-rpath,{package}/lib"]
    subprocess.run([compiler, "-std=c++20", *paths, "keys.cpp", "-o", "keys", "-lc10"], cwd=folder, check=True)
    output = subprocess.run([folder / "keys"], check=True, capture_output=True, text=True).stdout
    return [line.split() for line in output.splitlines()]


def test_other_names_of_the_headers(headers: list[list[str]]) -> None:
    names = [line for line in headers if len(line) == 2]
    assert len(names) == 7
    for name, own in names:
        assert installed_keys().canonical(name) == own


def test_backends_of_the_headers(headers: list[list[str]]) -> None:
    """Every backend's autograd and autocast keys, from `c10/core/DispatchKeySet.h`."""
    keys = installed_keys()
    lines = [line for line in headers if len(line) == 3]
    assert [line[0].removesuffix("Bit") for line in lines] == list(keys.facts.backends)
    dense = {keys.split(key)[1]: device for device, key in keys.facts.devices.items()}
    for (_, autograd, related), backend in zip(lines, keys.facts.backends, strict=True):
        assert autograd_key(keys, backend) == autograd
        if backend in dense:
            plain = keys.set(backend)
            carried = tensor_keys(keys, Argument(dense[backend]))
            assert carried == plain | KeySet(int(related), keys), backend
    assert len(dense) > 10
