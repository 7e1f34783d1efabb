"""Comments that silence findings, put where they speak for the right line and do no harm."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from op_lint.facts import Language, Place
from op_lint.files import is_build_file, language_of
from op_lint.findings import Edit, Finding
from op_lint.sources import Sources
from op_lint.suppress import find_suppressions
from op_lint.text import SourceText


def ignore_edits(findings: Iterable[Finding], sources: Sources) -> tuple[Edit, ...]:
    """For each line with findings one comment that silences them; none where no comment can stand."""
    edits: list[Edit] = []
    for (path, line), here in groupby(findings, lambda finding: (finding.place.path, finding.place.line)):
        edit = ignore_edit(sources.text(path), path, line, sorted({finding.code for finding in here}))
        if edit is not None:
            edits.append(edit)
    return tuple(edits)


def ignore_edit(text: SourceText, path: str, line: int, codes: Iterable[str]) -> Edit | None:
    """The edit that makes a comment silence `codes` in a line: more codes in one that is there, or a new one.

    None where the file has no comment for op-lint or none can stand there, in a string for example.
    """
    language = language_of(path)
    if language is None and not is_build_file(path):
        return None
    wanted = tuple(codes)
    for offset, inserted in (
        *_into_existing(text, path, language, line, wanted),
        *_new_comments(text, language, line, wanted),
    ):
        data = text.data[:offset] + inserted.encode() + text.data[offset:]
        spoken_for = line + (inserted.count("\n") if offset <= text.line_starts[line - 1] else 0)
        found, _ = find_suppressions(path, data, language)
        if any(spoken_for in each.lines and set(wanted) <= set(each.codes) for each in found):
            return Edit(Place(path, text.line_of(offset), offset, offset), inserted)
    return None


def _into_existing(
    text: SourceText, path: str, language: Language | None, line: int, codes: tuple[str, ...]
) -> Iterator[tuple[int, str]]:
    for suppression in find_suppressions(path, text.data, language)[0]:
        missing = [code for code in codes if code not in suppression.codes]
        if line in suppression.lines and suppression.code_places and missing:
            yield suppression.code_places[-1].end, "".join(f", {code}" for code in missing)


def _new_comments(
    text: SourceText, language: Language | None, line: int, codes: tuple[str, ...]
) -> Iterator[tuple[int, str]]:
    """Where a comment may stand, the best place first: above the line, or at its end."""
    directive = f"op-lint: ignore[{', '.join(codes)}]"
    content = text.line_text(line)
    start = text.line_starts[line - 1]
    end = start + len(content.encode("utf-8", "surrogateescape"))
    indent = content[: len(content) - len(content.lstrip())]
    mark = "//" if language is Language.CPP else "#"
    if not _continues(text.line_text(line - 1)):  # a line of its own would cut a macro in two
        yield start, f"{indent}{mark} {directive}{text.newline}"
    if not _continues(content):
        yield end, f"  {mark} {directive}"
    elif language is Language.CPP:
        yield start + len(content[: content.rindex("\\")].encode("utf-8", "surrogateescape")), f"/* {directive} */ "


def _continues(content: str) -> bool:
    """Whether the next line belongs to this one."""
    return content.rstrip().endswith("\\")
