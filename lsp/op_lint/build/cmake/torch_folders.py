"""Where `find_package(Torch)` looks: the folders that the build files name, and which torch is there."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from op_lint.build.cmake.interpreter import Call, Interpreter
from op_lint.build.cmake.template import is_known
from op_lint.build.guarded import Item
from op_lint.build.guards import ALWAYS
from op_lint.build.model import TorchFolder

_VARIABLES = ("Torch_DIR", "Torch_ROOT", "CMAKE_PREFIX_PATH")
_KEYWORDS = frozenset({"HINTS", "PATHS"})
_ABSOLUTE = re.compile(r"/|[A-Za-z]:[\\/]")
_OF_TORCH = re.compile(r"torch", re.IGNORECASE)
_CONFIGURATION = "share/cmake/Torch"
_VERSION = re.compile(rb'set\s*\(\s*PACKAGE_VERSION\s+"(\d+(?:\.\d+)+)')


def look_for_torch(reader: Interpreter, call: Call) -> None:
    """Note every folder whose name speaks of torch, and that is looked in whatever the user asks for."""
    if reader.path is not ALWAYS:
        return
    for item in _folders(reader, call):
        if item.condition is not ALWAYS or item.place is None or not is_known(item.text):
            continue
        if _ABSOLUTE.match(item.text) and _OF_TORCH.search(item.text):
            folder = item.text.replace("\\", "/").rstrip("/").removesuffix(f"/{_CONFIGURATION}")
            found = TorchFolder(folder, item.place, "", _version(reader, folder))
            reader.torches.setdefault(folder, found)


def _folders(reader: Interpreter, call: Call) -> Iterator[Item]:
    for name in _VARIABLES:
        if name not in reader.defaults:
            yield from reader.variable(name) or ()
    words = [item.text for item in call.items(1)]
    start = next((number for number, word in enumerate(words, 2) if word in _KEYWORDS), None)
    if start is not None:
        yield from call.items(1)[start - 1 :]


def _version(reader: Interpreter, folder: str) -> str | None:
    """The version of the torch in a folder: that of LibTorch, of an installation, or the folder of its CMake files."""
    for inner in (_CONFIGURATION, "Torch"):
        data = reader.files.read(posixpath.join(folder, inner, "TorchConfigVersion.cmake"))
        found = _VERSION.search(data) if data is not None else None
        if found is not None:
            return found[1].decode()
    return None
