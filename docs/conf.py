"""How Sphinx builds the documentation: `python -m sphinx -W -b dirhtml docs FOLDER`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from sphinx.application import Sphinx

from op_lint.version import VERSION

sys.path.insert(0, str(Path(__file__).parent))

from generated import write_pages

project = "op-lint"
version = release = VERSION
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_parts"]
html_theme = "furo"
html_title = f"op-lint {VERSION}"
html_show_copyright = False
html_copy_source = False
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
suppress_warnings = ["misc.highlighting_failure"]  # schemas and shortened outputs are no code of any language


def setup(app: Sphinx) -> None:
    """Write what comes from the program itself, before Sphinx looks for pages."""
    write_pages(Path(app.srcdir))
    app.connect("source-read", captions_as_they_are)


def captions_as_they_are(_app: Sphinx, _page: str, source: list[str]) -> None:
    """Captions are names of files, and `__init__.py` in one has no bold part."""
    source[0] = re.sub(r"^:caption: .*$", lambda line: line[0].replace("_", r"\_"), source[0], flags=re.MULTILINE)
