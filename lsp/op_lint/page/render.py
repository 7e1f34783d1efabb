"""The page as one file: its data, its style and its script, and nothing that is loaded from anywhere."""

from __future__ import annotations

import html
from pathlib import Path

import msgspec

from op_lint.page.data import PageData

_FOLDER = Path(__file__).parent


def render(data: PageData) -> str:
    """The HTML of the page. The same data gives the same bytes."""
    # In a script element only `</script` and `<!--` mean something to HTML, and JSON can do without either.
    encoded = msgspec.json.encode(data).decode().replace("<", "\\u003c")
    page = _part("page.html")
    for name, text in (
        ("title", html.escape(f"{data.project}: operators and dispatch keys")),
        ("style", _part("page.css")),
        ("script", _part("page.js")),
        ("data", encoded),
    ):
        before, mark, after = page.partition(f"{{{name}}}\n" if name in ("style", "script") else f"{{{name}}}")
        assert mark, name
        page = before + text + after
    return page


def _part(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")
