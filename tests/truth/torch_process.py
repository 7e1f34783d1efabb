"""Running the scripts of `dispatcher/` under a Python that has torch, and reading that torch through the probe."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from op_lint.dispatch.keys import DispatchKeys
from op_lint.installed.interpreter import InterpreterSearch
from op_lint.installed.model import Origin
from op_lint.installed.reader import Reading, ReadRequest, read_installed

ROOT = Path(__file__).parents[2]
SCRIPTS = Path(__file__).parent / "dispatcher"

needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed here")


def run_script(name: str, given: Any, python: str = sys.executable) -> Any:
    """What a script of `dispatcher/` printed, both as JSON. It runs as a module, so that scripts can share one."""
    script = (SCRIPTS / name).resolve().relative_to(ROOT)
    result = subprocess.run(
        [python, "-W", "ignore", "-m", ".".join(script.with_suffix("").parts)],
        cwd=ROOT,
        input=json.dumps(given),
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert result.returncode == 0, result.stderr[-4000:]
    return json.loads(result.stdout)


@lru_cache
def installed(python: str = sys.executable, imports: tuple[str, ...] = ()) -> Reading:
    """The torch of an interpreter, read by the probe."""
    search = InterpreterSearch(option=python, environment=dict(os.environ))
    reading = read_installed(ReadRequest(search, imports=imports, timeout=300))
    assert reading.origin is Origin.PROBE, reading.problems
    assert not reading.problems
    return reading


@lru_cache
def installed_keys() -> DispatchKeys:
    """The dispatch keys of the torch of this interpreter."""
    return DispatchKeys(installed().torch.keys)
