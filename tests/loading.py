"""A loaded extension without a build: what the probe would say of it, from the dumps of its operators.

The text is what `torch._C._dispatch_dump` prints for each operator that is new, one after the other, and then the lines
of `_dispatch_dump_table` for backend fallbacks that are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from op_lint.installed.answers import extension_said
from op_lint.installed.bundled import choose_snapshot, load_snapshot
from op_lint.installed.cache import CachedTorch
from op_lint.installed.child import ProbeOutput
from op_lint.installed.model import Extension, InstalledTorch, Origin
from op_lint.installed.reader import Reading, ReadRequest


def extension(dumps: str, torch: InstalledTorch, *loads: str) -> Extension:
    """The extension that these dumps describe, loaded into `torch`."""
    operators = [text for text in re.split(r"^(?=name: )", dumps, flags=re.MULTILINE) if text.startswith("name: ")]
    said = {
        "loads": [{"what": what, "error": None} for what in loads or ("demo.so",)],
        "operators": [[_name(text), text, [], None, None] for text in operators],
        "fallbacks": "".join(re.findall(r"^\w+: .*\[backend fallback\]\n", dumps, flags=re.MULTILINE)),
    }
    found = extension_said(ProbeOutput({"extension": said}, 0), CachedTorch("/torch", (), torch))
    assert found is not None
    return found


def _name(dump: str) -> str:
    return dump.splitlines()[0].removeprefix("name: ")


@contextmanager
def loaded(dumps: str, version: str) -> Iterator[None]:
    """Whatever is to be loaded in here comes out as in these dumps, in the bundled snapshot of a torch version."""
    torch = load_snapshot(choose_snapshot(version))

    def read(request: ReadRequest) -> Reading:
        return Reading(torch, Origin.SNAPSHOT, extension=extension(dumps, torch, *request.load, *request.imports))

    with mock.patch("op_lint.project.read_installed", read):
        yield
