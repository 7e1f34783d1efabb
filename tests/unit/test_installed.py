"""Snapshots, the cache, and reading torch's dump."""

from __future__ import annotations

import os
import random
from pathlib import Path

import msgspec
import pytest

from op_lint.dispatch.keys import DispatchKeys
from op_lint.facts import KernelKind
from op_lint.installed.bundled import (
    DEFAULT,
    FOLDER,
    SUFFIX,
    bundled_versions,
    choose_snapshot,
    decode_snapshot,
    encode_snapshot,
    load_snapshot,
)
from op_lint.installed.cache import CachedTorch, InstalledCache, stamp
from op_lint.installed.dump import parse_fallbacks, parse_operator, relative_to_torch
from op_lint.installed.interpreter import InterpreterSearch
from op_lint.installed.model import Extension, InstalledKernel, InstalledOperator, Origin, place_of
from op_lint.installed.reader import ReadRequest, read_installed


class TestSnapshots:
    @pytest.mark.parametrize("version", bundled_versions())
    def test_each_is_whole(self, version: str) -> None:
        torch = load_snapshot(version)
        assert torch.version == version
        assert len(torch.operators) > 3500
        assert all(name == operator.name for name, operator in torch.operators.items())
        assert place_of(torch.libraries["aten"]) is not None
        kernels = [kernel for operator in torch.operators.values() for kernel in operator.kernels]
        assert len(kernels) > 17_000
        known = DispatchKeys(torch.keys)
        assert {kernel.key for kernel in kernels if known.canonical(kernel.key) != kernel.key} == set()
        assert {kernel.key for kernel in torch.fallbacks} <= set(known.runtime)

    @pytest.mark.parametrize("version", bundled_versions())
    def test_none_names_a_machine(self, version: str) -> None:
        data = (FOLDER / f"{version}{SUFFIX}").read_bytes()
        text = msgspec.json.encode(decode_snapshot(data)).replace(b"registered at /dev/null:", b"")
        for part in (b"registered at /", b"site-packages", b"/home", b"/root", b"/tmp"):
            assert part not in text
        assert len(data) < 300_000

    def test_the_default_knows_cuda(self) -> None:
        torch = load_snapshot(DEFAULT)
        keys = {kernel.key for operator in torch.operators.values() for kernel in operator.kernels}
        assert {"CUDA", "SparseCUDA", "SparseCsrCUDA", "QuantizedCUDA", "AutocastCUDA", "NestedTensorCUDA"} <= keys
        assert torch.cuda is not None

    def test_writing_one_is_repeatable(self) -> None:
        whole = load_snapshot(DEFAULT)
        few = dict(list(whole.operators.items())[:200])
        torch = msgspec.structs.replace(whole, operators=few)
        assert encode_snapshot(torch) == encode_snapshot(msgspec.structs.replace(torch, operators=dict(few)))
        assert decode_snapshot(encode_snapshot(torch)) == torch

    @pytest.mark.parametrize(
        ("wanted", "chosen"),
        [
            (None, DEFAULT),
            ("2.13.0+cpu", "2.13.0+cpu"),
            ("2.13.0+cu126", "2.13.0+cu130"),
            ("2.13.1", "2.13.0+cu130"),
            ("2.13", "2.13.0+cu130"),
            ("2.10.0", "2.10.0+cu128"),
            ("2.4.1+cu121", "2.4.0+cu121"),
            ("2.15.0a0+git1234567", DEFAULT),
            ("3.0", DEFAULT),
            ("2.1.0", "2.4.0+cu121"),
            ("rubbish", "2.4.0+cu121"),
        ],
    )
    def test_which_one_serves(self, wanted: str | None, chosen: str) -> None:
        assert choose_snapshot(wanted) == chosen

    def test_one_that_is_asked_for(self) -> None:
        reading = read_installed(ReadRequest(InterpreterSearch(own=""), snapshot="2.4"))
        assert (reading.torch.version, reading.origin, reading.problems) == ("2.4.0+cu121", Origin.SNAPSHOT, ())
        assert read_installed(ReadRequest(InterpreterSearch(own=""), snapshot="")).torch.version == DEFAULT


DUMP = """name: my::op
schema: my::op(Tensor x) -> Tensor
debug: registered at csrc/ops.cpp:12
alias analysis kind: CONSERVATIVE (default)
CPU: registered at C:\\a b\\cpu.cpp:7 :: (Tensor _0) -> Tensor _0 [ boxed unboxed ]
CPU (inactive): registered at /there/cpu.cpp:6 :: (Tensor _0) -> Tensor _0 [ boxed unboxed ]
Meta: registered at /env/lib/torch/_library/x.py:3 :: (none) [ boxed ]
AutogradCPU: registered at csrc/ops.cpp:20 :: (none) [ fallthrough boxed ]
CompositeImplicitAutograd[alias]: registered by RegisterOperators :: (str[][] _0) -> str _0 [ boxed unboxed ]
"""


def as_is(origin: str) -> str:
    return origin


class TestDump:
    def test_an_operator(self) -> None:
        relative = relative_to_torch("/env/lib/torch")
        assert parse_operator("my::op", DUMP, ("core",), relative) == InstalledOperator(
            "my::op",
            "my::op(Tensor x) -> Tensor",
            "registered at csrc/ops.cpp:12",
            "CONSERVATIVE",
            ("core",),
            (
                InstalledKernel(
                    "CompositeImplicitAutograd", "registered by RegisterOperators", "(str[][] _0) -> str _0"
                ),
                InstalledKernel("AutogradCPU", "registered at csrc/ops.cpp:20", None, KernelKind.FALLTHROUGH),
                InstalledKernel("Meta", "registered at torch/_library/x.py:3", None, KernelKind.BOXED),
                InstalledKernel("CPU", "registered at /there/cpu.cpp:6", "(Tensor _0) -> Tensor _0", active=False),
                InstalledKernel("CPU", "registered at C:\\a b\\cpu.cpp:7", "(Tensor _0) -> Tensor _0"),
            ),
        )

    def test_an_operator_without_a_definition(self) -> None:
        operator = parse_operator("my::op", "name: my::op\nschema: (none)\n", (), as_is)
        assert operator == InstalledOperator("my::op", None, None, None, (), ())

    def test_fallbacks(self) -> None:
        lines = [
            f"{entry} [backend fallback]"
            for entry in ("Meta: registered at a.cpp:1", "Tracer: fallthrough registered at b.cpp:2")
        ]
        table = "\n".join(lines)
        assert parse_fallbacks(table, as_is) == (
            InstalledKernel("Meta", "registered at a.cpp:1", None, KernelKind.BOXED),
            InstalledKernel("Tracer", "registered at b.cpp:2", None, KernelKind.FALLTHROUGH),
        )

    @pytest.mark.parametrize(
        ("origin", "relative"),
        [
            ("/__w/pytorch/pytorch/aten/src/ATen/autocast_mode.cpp:3", "aten/src/ATen/autocast_mode.cpp:3"),
            ("/__w/pytorch/pytorch/build/aten/src/ATen/RegisterCPU_0.cpp:3", "build/aten/src/ATen/RegisterCPU_0.cpp:3"),
            ("../torch/csrc/autograd/x.cpp:3", "torch/csrc/autograd/x.cpp:3"),
            ("aten/src/ATen/RegisterCPU.cpp:3", "aten/src/ATen/RegisterCPU.cpp:3"),
            ("/env/lib/torch/library.py:3", "torch/library.py:3"),
            ("/env/lib/torchvision/ops.py:3", "/env/lib/torchvision/ops.py:3"),
            ("/dev/null:241", "/dev/null:241"),
            ("/elsewhere/csrc/ops.cpp:3", "/elsewhere/csrc/ops.cpp:3"),
        ],
    )
    def test_files_of_torch(self, origin: str, relative: str) -> None:
        assert relative_to_torch("/env/lib/torch")(f"registered at {origin}") == f"registered at {relative}"

    def test_places(self) -> None:
        assert place_of("registered at a b/c:d.cpp:12") == ("a b/c:d.cpp", 12)
        assert place_of("registered by RegisterOperators") is None
        assert place_of("registered at nowhere") is None
        assert place_of("") is None


@pytest.fixture
def cached(tmp_path: Path) -> CachedTorch:
    version = tmp_path / "version.py"
    version.write_text("2.14", encoding="utf-8")
    torch = msgspec.structs.replace(load_snapshot(DEFAULT), operators={})
    return CachedTorch(str(tmp_path), stamp([str(version)]), torch)


def entries(folder: Path) -> list[Path]:
    return [path for path in (folder / "facts" / "torch").iterdir() if path.is_file()]


class TestCache:
    def test_what_is_kept(self, tmp_path: Path, cached: CachedTorch) -> None:
        cache = InstalledCache(tmp_path / "cache")
        assert cache.load("/python", {}, isolated=False) is None
        cache.store("/python", {}, cached, isolated=False)
        assert cache.load("/python", {"HOME": "/elsewhere"}, isolated=False) == cached
        assert len(entries(tmp_path / "cache")) == 1

    def test_what_it_is_kept_for(self, tmp_path: Path, cached: CachedTorch) -> None:
        cache = InstalledCache(tmp_path / "cache")
        cache.store("/python", {}, cached, isolated=False)
        assert cache.load("/other", {}, isolated=False) is None
        assert cache.load("/python", {"PYTHONPATH": "/x"}, isolated=False) is None
        assert cache.load("/python", {}, isolated=True) is None

    def test_another_torch_in_its_place(self, tmp_path: Path, cached: CachedTorch) -> None:
        cache = InstalledCache(tmp_path / "cache")
        cache.store("/python", {}, cached, isolated=False)
        version = tmp_path / "version.py"
        before = version.stat()
        version.write_text("2.15", encoding="utf-8")
        os.utime(version, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
        assert cache.load("/python", {}, isolated=False) is None
        os.utime(version, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert cache.load("/python", {}, isolated=False) == cached
        version.unlink()
        assert cache.load("/python", {}, isolated=False) is None

    def test_rubbish_in_it(self, tmp_path: Path, cached: CachedTorch) -> None:
        cache = InstalledCache(tmp_path)
        cache.store("/python", {}, cached, isolated=False)
        (entry,) = entries(tmp_path)
        entry.write_bytes(entry.read_bytes()[:-5])
        assert cache.load("/python", {}, isolated=False) is None

    def test_a_bit_that_has_changed(self, tmp_path: Path, cached: CachedTorch) -> None:
        """Also where what is read is a torch still: with another name of a key, say."""
        cache = InstalledCache(tmp_path)
        choice = random.Random(0)
        for _ in range(100):
            cache.store("/python", {}, cached, isolated=False)
            (entry,) = entries(tmp_path)
            data = bytearray(entry.read_bytes())
            data[choice.randrange(len(data))] ^= 1 << choice.randrange(8)
            entry.write_bytes(data)
            assert cache.load("/python", {}, isolated=False) is None

    def test_pythonpath_is_of_the_current_folder(
        self, tmp_path: Path, cached: CachedTorch, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        cache = InstalledCache(tmp_path / "cache")
        cache.store("/python", {"PYTHONPATH": "site"}, cached, isolated=False)
        assert cache.load("/python", {"PYTHONPATH": os.path.abspath("site")}, isolated=False) == cached
        monkeypatch.chdir(tmp_path)
        assert cache.load("/python", {"PYTHONPATH": "site"}, isolated=False) is None

    def test_names_that_are_no_text(self, tmp_path: Path, cached: CachedTorch) -> None:
        cache = InstalledCache(tmp_path)
        cache.store("/python", {"PYTHONPATH": "/\udcff"}, cached, isolated=False)
        assert cache.load("/python", {"PYTHONPATH": "/\udcff"}, isolated=False) == cached

    def test_a_folder_that_cannot_be(self, tmp_path: Path, cached: CachedTorch) -> None:
        (tmp_path / "file").write_text("", encoding="utf-8")
        cache = InstalledCache(tmp_path / "file" / "cache")
        cache.store("/python", {}, cached, isolated=False)
        assert cache.load("/python", {}, isolated=False) is None


def test_an_extension_over_a_torch() -> None:
    torch = load_snapshot(DEFAULT)
    operator = InstalledOperator("my::op", "my::op() -> ()", None, None, (), ())
    relu = msgspec.structs.replace(torch.operators["aten::relu"], kernels=())
    fallback = InstalledKernel("HPU", "registered at a.cpp:1", None, KernelKind.BOXED)
    extension = Extension((), {"my::op": operator, "aten::relu": relu}, {}, ("my::op",), (fallback,))
    whole = extension.over(torch)
    assert (whole.operators["my::op"], whole.operators["aten::relu"]) == (operator, relu)
    assert len(whole.operators) == len(torch.operators) + 1
    assert whole.fallback_registrations()["HPU"].path == "a.cpp"
    assert "my::op" not in torch.operators
