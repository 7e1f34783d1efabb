"""Inside the server: the features know values, only the glue knows the protocol."""

from __future__ import annotations

from pathlib import Path

from op_lint import server
from tests.unit.test_imports import importers

GLUE = {"app.py", "protocol.py", "requests.py", "uris.py"}


def test_only_the_glue_knows_the_protocol() -> None:
    assert importers("pygls|lsprotocol", Path(server.__path__[0])) == GLUE
