"""Targets while the files are read: what commands add to them, and what they are in the end."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import msgspec

from op_lint.build.cmake.genex import parts_of
from op_lint.build.cmake.template import is_known
from op_lint.build.drafts import Draft
from op_lint.build.guarded import Item
from op_lint.build.guards import NEVER, Guard, all_of
from op_lint.build.model import LinkHow, TargetKind, Visibility


@dataclass(eq=False)
class Declared(Draft):
    """A target that `add_library` or its kin has declared in the folder `folder`.

    `python` marks one that a command for Python modules made. `whole` says whether what is linked next stands between
    `--whole-archive` and `--no-whole-archive`.
    """

    folder: str = ""
    properties: dict[str, list[Item]] = field(default_factory=dict)
    python: bool = False
    whole: bool = False

    def concluded(self, project: str, minimum: str, aliases: Mapping[str, str]) -> Declared:
        """The target itself, now that everything is read: with the names that its links and Python know."""
        names = self.properties.get("OUTPUT_NAME") or [Item(self.name)]
        prefix = self.properties.get("PREFIX")
        loadable = self.kind in (TargetKind.MODULE, TargetKind.SHARED)
        without_prefix = prefix is not None and not any(item.text for item in prefix)
        if (self.python or (loadable and without_prefix)) and is_known(names[-1].text):
            self.module = names[-1].text
        self.links = [
            (given, msgspec.structs.replace(link, to=aliases.get(link.to, link.to))) for given, link in self.links
        ]
        self.project, self.minimum = project, minimum
        return self


_SWITCHES = {"--whole-archive": True, "--no-whole-archive": False, "-all_load": True, "-noall_load": False}
_FORCED = re.compile(r"[-/]WHOLEARCHIVE:(.+)", re.IGNORECASE)


class LinkLine:
    """The words of a link line, one after the other: libraries, and the options that say how they are linked."""

    def __init__(self, whole: bool = False) -> None:
        self.whole = whole
        self._pending: str | None = None

    def links(self, text: str) -> Iterator[tuple[str, LinkHow]]:
        """The libraries that one item of the line links, and how."""
        for word in words_of(text):
            yield from self._word(word)

    def _word(self, word: str) -> Iterator[tuple[str, LinkHow]]:
        if word in _SWITCHES:
            self.whole = _SWITCHES[word]
        elif self._pending is not None:
            forced, self._pending = self._pending == "force", None
            if forced:
                yield library_name(word), LinkHow.WHOLE_ARCHIVE
        elif word in ("-force_load", "-u", "-undefined", "--undefined", "-rpath", "-framework", "-Xlinker", "-T", "-z"):
            self._pending = "force" if word == "-force_load" else "other"
        elif found := _FORCED.fullmatch(word):
            yield library_name(found[1]), LinkHow.WHOLE_ARCHIVE
        elif expression := parts_of(word):
            yield from self._expression(*expression)
        elif not word.startswith("-") or word.startswith("-l"):
            yield library_name(word), LinkHow.WHOLE_ARCHIVE if self.whole else LinkHow.PLAIN

    def _expression(self, name: str, arguments: list[str]) -> Iterator[tuple[str, LinkHow]]:
        how = LinkHow.WHOLE_ARCHIVE if self.whole else LinkHow.PLAIN
        if name == "TARGET_OBJECTS":
            yield from ((argument, LinkHow.OBJECTS) for argument in arguments)
        elif name in ("LINK_LIBRARY", "LINK_GROUP") and arguments:
            inner = LinkHow.WHOLE_ARCHIVE if "WHOLE_ARCHIVE" in arguments[0] else how
            yield from (
                (library_name(each), inner) for argument in arguments[1:] for each in argument.split(";") if each
            )
        elif name == "TARGET_FILE":
            yield from ((argument, how) for argument in arguments)


def words_of(text: str) -> Iterator[str]:
    """The words of an item of a link line: `-Wl,a,b`, `LINKER:a,b` and `SHELL:a b` taken apart."""
    if text.startswith("SHELL:"):
        text = text.removeprefix("SHELL:")
    try:
        words = shlex.split(text) if " " in text else [text]
    except ValueError:
        words = text.split()
    for word in words:
        for prefix in ("-Wl,", "LINKER:"):
            if word.startswith(prefix):
                yield from _commas(word.removeprefix(prefix))
                break
        else:
            if word:
                yield word


def _commas(text: str) -> list[str]:
    """The parts between commas that are not inside a generator expression."""
    parts, depth, start = [], 0, 0
    for position, character in enumerate(text):
        if text.startswith("$<", position):
            depth += 1
        elif character == ">" and depth:
            depth -= 1
        elif character == "," and not depth:
            parts.append(text[start:position])
            start = position + 1
    return [part for part in (*parts, text[start:]) if part]


def library_name(word: str) -> str:
    """The name of the target or library that a word of a link line means."""
    expression = parts_of(word)
    if expression and expression[0] == "TARGET_FILE" and expression[1]:
        return expression[1][0]
    return word.removeprefix("-l") if word.startswith("-l") else word


def possible(condition: Guard, *others: Guard) -> Guard | None:
    """All of the conditions together; None where they exclude each other."""
    together = all_of((condition, *others))
    return None if together is NEVER else together


KINDS = {
    "STATIC": TargetKind.STATIC,
    "SHARED": TargetKind.SHARED,
    "MODULE": TargetKind.MODULE,
    "OBJECT": TargetKind.OBJECT,
    "INTERFACE": TargetKind.INTERFACE,
}
VISIBILITIES = {
    "PRIVATE": Visibility.PRIVATE,
    "LINK_PRIVATE": Visibility.PRIVATE,
    "INTERFACE": Visibility.INTERFACE,
    "LINK_INTERFACE_LIBRARIES": Visibility.INTERFACE,
    "PUBLIC": Visibility.PUBLIC,
    "LINK_PUBLIC": Visibility.PUBLIC,
}
