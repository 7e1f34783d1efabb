"""Inputs that no parser should be given: what is not C++ text at all, and what would not end."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

_TEMPLATE = re.compile(
    rb"\{%-?\+?\s*(?:if|elif|else|endif|for|endfor|set|macro|endmacro|include|import|block|raw)\b"
    rb"|\{\{-?\s*[A-Za-z_][\w.]*\s*(?:\|\s*\w+[^}\n]*)?\}\}\w|\{\{-?\s*[A-Za-z_][\w.]*\s*\|\s*(?:join|indent|replace|lower|upper)\b"
)
"""A statement or an expression of Jinja; braces in C++ are not followed by the rest of a word."""
_DEFINE = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)((?:\\\r?\n|[^\n])*)", re.MULTILINE)
_TOKEN = re.compile(rb"[A-Za-z_]\w*|[^\s\w]+|\d\w*")

MOST_TOKENS = 4_000_000
"""Tokens that one macro may expand to before its source is not handed to libclang."""

MacroBodies = dict[bytes, Counter[bytes]]


def why_not_text(data: bytes, largest: int) -> tuple[str, str] | None:
    """A problem code and message where `data` cannot be C++ source text; None where it may be."""
    if len(data) > largest:
        return too_large(len(data), largest)
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "not-text", "the file is UTF-16; compilers expect UTF-8"
    if b"\0" in data[:8192]:
        return "not-text", "the file is binary"
    if _TEMPLATE.search(data):
        return "template-text", "the file is a template that generates C++, not C++"
    return None


def too_large(size: int, largest: int) -> tuple[str, str]:
    """The problem of a file of `size` bytes, where `largest` is the limit."""
    return "too-large", f"the file has {size} bytes, more than the {largest} that are read"


def macro_bodies(data: bytes) -> MacroBodies:
    """The macros that `data` defines, each with the tokens of its body."""
    found: MacroBodies = {}
    if b"define" not in data:
        return found
    for match in _DEFINE.finditer(data):
        found[match.group(1)] = Counter(_TOKEN.findall(match.group(2)))
    return found


def explosive_macro(bodies: Iterable[MacroBodies]) -> str | None:
    """The name of a macro whose full expansion is longer than `MOST_TOKENS`, if there is one."""
    known: MacroBodies = {}
    for part in bodies:
        known.update(part)
    if not any(count > 1 and word in known for body in known.values() for word, count in body.items()):
        return None
    sizes: dict[bytes, int] = {}
    for name in known:
        if _size(name, known, sizes, frozenset()) > MOST_TOKENS:
            return name.decode("ascii", "replace")
    return None


def _size(name: bytes, known: MacroBodies, sizes: dict[bytes, int], open_: frozenset[bytes]) -> int:
    if name in sizes:
        return sizes[name]
    if name in open_ or len(open_) > 200:
        return 1
    inner = open_ | {name}
    total = sum(
        count * (_size(word, known, sizes, inner) if word in known else 1) for word, count in known[name].items()
    )
    sizes[name] = min(total, MOST_TOKENS + 1)
    return sizes[name]
