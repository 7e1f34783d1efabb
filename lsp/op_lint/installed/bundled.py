"""The snapshots of torch's dispatcher that come with op-lint, for where no torch can be read.

`snapshots/VERSION.msgpack.xz` is an `InstalledTorch`; `python -m op_lint.installed.snapshot` makes one. Who packs
op-lint as a whole may store them without `.xz`: together they are compressed far better than each alone.
"""

from __future__ import annotations

import lzma
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec

from op_lint.dispatch.keys import KeyFacts, key_numbers
from op_lint.installed.model import InstalledTorch

FOLDER = Path(__file__).with_name("snapshots")
SUFFIX = ".msgpack.xz"
_PLAIN_SUFFIX = ".msgpack"

# The CUDA build: it knows the CUDA, sparse and quantized registrations, which a CPU build does not have.
DEFAULT = "2.14.1+cu130"


def bundled_versions() -> tuple[str, ...]:
    """The versions there are, oldest first."""
    names = {path.name.removesuffix(suffix) for suffix in (SUFFIX, _PLAIN_SUFFIX) for path in FOLDER.glob(f"*{suffix}")}
    return tuple(sorted(names, key=_order))


def is_older_than_all(version: str) -> bool:
    """Whether a torch version is older than every snapshot, so that none of them says anything about it."""
    return _order(version)[:2] < _order(bundled_versions()[0])[:2]


def described_versions() -> str:
    """The versions there are, for a message."""
    return ", ".join(dict.fromkeys(name.partition("+")[0] for name in bundled_versions()))


def choose_snapshot(version: str | None) -> str:
    """The snapshot for a torch version: that one, else one of its minor version, else the next older, else the oldest.

    The default for None. A local part (`+cpu`) decides only between snapshots of one release.
    """
    if version is None:
        return DEFAULT
    available = bundled_versions()
    wanted = _order(version)
    for alike in (
        [name for name in available if name == version],
        [name for name in available if _order(name)[:3] == wanted[:3]],
        [name for name in available if _order(name)[:2] == wanted[:2]],
        [name for name in available if _order(name)[:3] <= wanted[:3]],
    ):
        if alike:
            return alike[-1]
    return available[0]


def load_snapshot(version: str) -> InstalledTorch:
    """The bundled snapshot of exactly this version. Raises FileNotFoundError if there is none."""
    return msgspec.msgpack.decode(_read(version), type=InstalledTorch)


def decode_snapshot(data: bytes) -> InstalledTorch:
    """An `InstalledTorch` from a snapshot file's contents."""
    return msgspec.msgpack.decode(lzma.decompress(data), type=InstalledTorch)


def _read(version: str) -> bytes:
    """The MessagePack of a bundled snapshot."""
    plain = FOLDER / f"{version}{_PLAIN_SUFFIX}"
    return plain.read_bytes() if plain.exists() else lzma.decompress((FOLDER / f"{version}{SUFFIX}").read_bytes())


class _Keys(msgspec.Struct):
    """What of an `InstalledTorch` a build against that torch compiles in."""

    keys: KeyFacts


@cache
def bundled_key_numbers() -> Mapping[str, Mapping[str, int]]:
    """The numbers of the dispatch keys (`key_numbers`) in each bundled version, oldest first."""
    return {
        version: key_numbers(msgspec.msgpack.decode(_read(version), type=_Keys).keys) for version in bundled_versions()
    }


def encode_snapshot(torch: InstalledTorch) -> bytes:
    """A snapshot file's contents: the same bytes for the same torch."""
    return lzma.compress(msgspec.msgpack.encode(torch, order="deterministic"), preset=9 | lzma.PRESET_EXTREME)


def _order(version: str) -> tuple[int, int, int, str]:
    """A version as something to sort by; what is no number counts as 0."""
    public, _, local = version.partition("+")
    numbers = [int(number) for number in re.findall(r"\d+", public)[:3]]
    major, minor, patch = (*numbers, 0, 0, 0)[:3]
    return major, minor, patch, local
