"""The documentation is what the program does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from op_lint.packs import load_packs

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
BUILD = (sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "dirhtml")


def test_it_builds_without_a_warning_and_has_a_page_for_every_rule(tmp_path: Path) -> None:
    site = tmp_path / "site"
    done = subprocess.run([*BUILD, "-d", tmp_path / "trees", DOCS, site], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    for rule in load_packs().rules:
        page = (site / "rules" / rule.name / "index.html").read_text("utf-8")
        assert rule.code in page
        assert "What it does" in page
