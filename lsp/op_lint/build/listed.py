"""How sources stand in the lists of build files, for edits: what to write to add one, what to remove to take one out.

Only what is written out in one word is understood; a pattern, a variable or a joined path gets no edit.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache

import msgspec

from op_lint.build.files import BuildFiles
from op_lint.build.model import BuildSystem, Listed, Source, Target
from op_lint.facts import Place
from op_lint.python.source import SourceFile, decode

_SCRIPTS = frozenset({BuildSystem.SETUPTOOLS, BuildSystem.JIT, BuildSystem.BAZEL, BuildSystem.BUCK})
_CMAKE_WORD = re.compile(rb'"[^"$\\;*?\[\]]+"|[^\s"$\\;*?\[\]()#]+')
_LITERAL = re.compile(rb"""(["'])[^"'\\*?\[\]{}]+\1""")
_BETWEEN = re.compile(rb"[\s(][\s)#]?")
_AFTER = re.compile(rb"[ \t]*(?:#[^\n]*)?(?:\r?\n|\Z)")


def with_listed(targets: Iterable[Target], files: BuildFiles, registering: Collection[str]) -> tuple[Target, ...]:
    """The targets; those that have registering sources, or neighbours of some, know how their sources are listed."""
    folders = {posixpath.dirname(path) for path in registering}
    reader = _Reader(files)
    return tuple(
        reader.target(target) if any(posixpath.dirname(source.path) in folders for source in target.sources) else target
        for target in targets
    )


class _Reader:
    def __init__(self, files: BuildFiles) -> None:
        self._files = files
        self._text = lru_cache(maxsize=None)(self._read)
        self._script = lru_cache(maxsize=None)(self._elements)

    def target(self, target: Target) -> Target:
        if target.system is BuildSystem.CMAKE:
            sources = (self._with(source, self._word(source)) for source in target.sources)
            return msgspec.structs.replace(target, sources=tuple(sources))
        if target.system not in _SCRIPTS:
            return target
        sources = (self._with(source, self._element(source)) for source in target.sources)
        call = self._script(target.place.path)[1].get((target.place.start, target.place.end))
        return msgspec.structs.replace(target, sources=tuple(sources), last_argument=call)

    @staticmethod
    def _with(source: Source, listed: Listed | None) -> Source:
        """The source with what is known of its word, if that word is the end of its path."""
        if listed is None or source.copied:
            return source
        word = listed.text.strip("\"'")
        if posixpath.basename(word) != posixpath.basename(source.path):
            return source
        return msgspec.structs.replace(source, listed=listed)

    def _read(self, path: str) -> bytes:
        return self._files.read(self._files.absolute(path)) or b""

    # CMake.

    def _word(self, source: Source) -> Listed | None:
        place, text = source.place, self._text(source.place.path)
        if text[place.start - 1 : place.start] == text[place.end : place.end + 1] == b'"':
            place = Place(place.path, place.line, place.start - 1, place.end + 1)
        word = text[place.start : place.end]
        around = text[place.start - 1 : place.start] + text[place.end : place.end + 1]
        if not _CMAKE_WORD.fullmatch(word) or not _BETWEEN.fullmatch(around):
            return None
        start = text.rfind(b"\n", 0, place.start) + 1
        before, after = text[start : place.start], _AFTER.match(text, place.end)
        written = word.decode("utf-8", "replace")
        if not before.strip(b" \t") and after is not None:
            removal = Place(place.path, place.line, start, after.end())
            return Listed(place, written, f"\n{before.decode()}", removal)
        removal = Place(place.path, place.line, start + len(before.rstrip(b" \t")), place.end)
        return Listed(place, written, " ", removal)

    # Python and its kin.

    def _element(self, source: Source) -> Listed | None:
        place = source.place
        return self._script(place.path)[0].get((place.start, place.end))

    def _elements(self, path: str) -> tuple[dict[tuple[int, int], Listed], dict[tuple[int, int], Place]]:
        """The texts in the lists of a script, and the last arguments of its calls, by where each stands."""
        data = self._text(path)
        try:
            script = decode(path, data)
            tree = ast.parse(script.text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return {}, {}  # the reader of the script has noted it
        listed: dict[tuple[int, int], Listed] = {}
        calls: dict[tuple[int, int], Place] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.List):
                listed.update(_items(script, data, node))
            elif isinstance(node, ast.Call):
                place = script.place(node)
                last = _last_argument(script, data, node, place.end)
                calls.update({(place.start, place.end): last} if last else {})
        return listed, calls


def _last_argument(script: SourceFile, data: bytes, node: ast.Call, end: int) -> Place | None:
    """The last argument of a call that ends at `end`, None where no other can follow it."""
    if any(keyword.arg in (None, "is_python_module") for keyword in node.keywords):
        return None
    given = (script.place(each) for each in (*node.args, *(keyword.value for keyword in node.keywords)))
    last = max(given, key=lambda argument: argument.end, default=None)
    return last if last is not None and data[last.end : end].count(b")") == 1 else None


def _items(script: SourceFile, data: bytes, node: ast.List) -> Iterator[tuple[tuple[int, int], Listed]]:
    places = [script.place(each) for each in node.elts]
    end = script.place(node).end
    for at, (element, place) in enumerate(zip(node.elts, places, strict=True)):
        text = data[place.start : place.end]
        if not isinstance(element, ast.Constant) or not _LITERAL.fullmatch(text):
            continue
        start = data.rfind(b"\n", 0, place.start) + 1
        alone = not data[start : place.start].strip(b" \t")
        separator = f",\n{data[start : place.start].decode()}" if alone else ", "
        removal = _removal(data, places, at, end)
        yield (place.start, place.end), Listed(place, text.decode("utf-8", "replace"), separator, removal)


def _removal(data: bytes, places: list[Place], at: int, end: int) -> Place | None:
    """An element of a list that ends at `end`, with one comma; None where something stands around the element."""
    place = places[at]
    if at + 1 < len(places):
        following = places[at + 1].start
        return Place(place.path, place.line, place.start, following) if _is_comma(data, place.end, following) else None
    if at > 0:
        before = places[at - 1].end
        return Place(place.path, place.line, before, place.end) if _is_comma(data, before, place.start) else None
    return place if not data[place.end : end - 1].strip() else None


def _is_comma(data: bytes, start: int, end: int) -> bool:
    return data[start:end].lstrip().startswith(b",") and not data[start:end].rstrip().endswith(b"(")
