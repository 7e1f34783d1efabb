"""Suppression comments: `op-lint: ignore[OPL301] reason` and `op-lint: ignore-file[OPL301]`, and what became of them.

A comment speaks for its own line; one that stands alone speaks for the next line with code. Without brackets it
speaks for every rule. Comments are found by a scan of the language's tokens, so that the same words inside a string
are never taken for one.
"""

from __future__ import annotations

import itertools
import re
import tokenize
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from op_lint.facts import Definition, Fallback, FileFacts, Implementation, Language, Place, Problem, Suppression
from op_lint.findings import Finding
from op_lint.rule import Rule
from op_lint.selection import specificity
from op_lint.text import SourceText

MARK = b"op-lint:"
"""Only a file that holds these bytes is scanned at all."""

_CPP_TOKEN = re.compile(
    rb"""
      (?P<comment> //(?:\\\r?\n|[^\r\n])* | /\*.*?(?:\*/|\Z) )
    | (?:u8|[uUL])?R"(?P<delimiter>[^()\\\s]{0,16})\(.*?(?:\)(?P=delimiter)"|\Z)
    | "(?:[^"\\\n]|\\.)*"?
    | \.?[0-9](?:'?[\w.]|(?<=[eEpP])[+-])*      # a number, whose ' separates digits
    | '(?:[^'\\\n]|\\.)*'?
    | [^\W\d]\w*                                # a name, so that the R in FOOR"x" opens no raw string
    """,
    re.VERBOSE | re.DOTALL,
)

_CMAKE_TOKEN = re.compile(
    rb"""
      (?P<comment> \#\[(?P<equals>=*)\[.*?(?:\](?P=equals)\]|\Z) | \#[^\r\n]* )
    | \[(?P<argument>=*)\[.*?(?:\](?P=argument)\]|\Z)
    | "(?:[^"\\]|\\.)*"?
    | \\.
    """,
    re.VERBOSE | re.DOTALL,
)

_TOML_TOKEN = re.compile(
    rb"""
      (?P<comment> \#[^\r\n]* )
    | \"\"\"(?:[^\\]|\\.)*?(?:\"\"\"|\Z)
    | '''.*?(?:'''|\Z)
    | "(?:[^"\\\n]|\\.)*"?
    | '[^'\n]*'?
    """,
    re.VERBOSE | re.DOTALL,
)

_BY_ENDING = {"CMakeLists.txt": _CMAKE_TOKEN, ".cmake": _CMAKE_TOKEN, ".toml": _TOML_TOKEN}

_DIRECTIVE = re.compile(
    rb"""
      (?:^|//|/\*|\#)[ \t/*#!<\[=]*op-lint:[ \t]*(?P<word>[\w-]*)
      (?:[ \t]*(?P<bracket>\[)(?P<codes>[^\]\r\n]*)\])?
      (?P<reason>[^\r\n]*)
    """,
    re.VERBOSE | re.MULTILINE,
)

_TO_ASCII = bytes(byte if byte < 0x80 else ord("a") for byte in range(256))
"""Python's tokenizer wants valid text; letters for all other bytes keep every offset and every token's extent."""

_TO_BLANKS = bytes(byte if byte in b"\r\n" else ord(" ") for byte in range(256))


def find_suppressions(
    path: str, data: bytes, language: Language | None, left_out: Iterable[Place] = ()
) -> tuple[tuple[Suppression, ...], tuple[Problem, ...]]:
    """The suppression comments of one file in source order, and a problem for each that cannot be understood.

    A file of no `language` is a build file: its name says whose. The problems' code is `suppression`. Never raises; in
    broken Python only the comments before the break are seen, unless what is broken is `left_out`.
    """
    if MARK not in data:
        return (), ()
    for place in left_out:
        data = data[: place.start] + data[place.start : place.end].translate(_TO_BLANKS) + data[place.end :]
    comments = tuple(_comments(path, data, language))
    marked = [comment for comment in comments if MARK in data[comment.start : comment.stop]]
    if not marked:
        return (), ()
    text = SourceText(data)
    code = bytearray(data)
    for comment in comments:
        code[comment.start : comment.stop] = data[comment.start : comment.stop].translate(_TO_BLANKS)
    lines = SourceText(bytes(code))
    suppressions: list[Suppression] = []
    problems: list[Problem] = []
    for comment in marked:
        for match in _DIRECTIVE.finditer(data, comment.start, comment.stop):
            place = Place(path, text.line_of(comment.start), comment.start, comment.stop)
            fault = _fault(match)
            if fault:
                problems.append(Problem("suppression", fault, place))
            else:
                suppressions.append(_suppression(match, place, _lines(comment, text, lines), text))
    return tuple(suppressions), tuple(problems)


def _comments(path: str, data: bytes, language: Language | None) -> Iterator[range]:
    pattern = _CPP_TOKEN if language is Language.CPP else None
    if language is None:
        pattern = next((each for end, each in _BY_ENDING.items() if path.endswith(end)), None)
    if pattern is None:
        return _python_comments(data)  # Bazel's and Buck's files have Python's tokens
    return (range(*match.span()) for match in pattern.finditer(data) if match["comment"] is not None)


def _python_comments(data: bytes) -> Iterator[range]:
    text = SourceText(data)
    starts = (*text.line_starts, len(data))
    ascii_text = data.translate(_TO_ASCII).decode("ascii")
    lines = iter([ascii_text[start:end] for start, end in itertools.pairwise(starts)])
    try:
        for token in tokenize.generate_tokens(lambda: next(lines, "")):
            if token.type == tokenize.COMMENT:
                start = starts[token.start[0] - 1] + token.start[1]
                yield range(start, start + len(token.string))
    except (tokenize.TokenError, SyntaxError):
        return  # half-typed Python: the comments up to here are known


def _fault(match: re.Match[bytes]) -> str:
    word = match["word"].decode("utf-8", "replace")
    if word not in ("ignore", "ignore-file"):
        return f"`op-lint: {word}` means nothing: write `op-lint: ignore[CODE] reason`, or `ignore-file[CODE]`"
    if match["bracket"] and not match["codes"].strip(b", \t"):
        return f"`op-lint: {word}[]` names no rule: write codes between the brackets, or leave them out for all"
    return ""


def _suppression(match: re.Match[bytes], place: Place, lines: tuple[int, ...], text: SourceText) -> Suppression:
    codes = tuple(re.finditer(rb"[^,\s]+", match["codes"] or b""))
    offset = match.start("codes")
    return Suppression(
        place,
        tuple(code[0].decode("utf-8", "replace") for code in codes),
        () if match["word"] == b"ignore-file" else lines,
        match["reason"].decode("utf-8", "replace").removesuffix("*/").strip(" \t:-"),
        tuple(
            Place(place.path, text.line_of(offset + code.start()), offset + code.start(), offset + code.end())
            for code in codes
        ),
    )


def _lines(comment: range, text: SourceText, code: SourceText) -> tuple[int, ...]:
    """The lines that a comment speaks for; `code` is the file with its comments blanked out."""
    first, last = text.line_of(comment.start), text.line_of(comment.stop - 1)
    own = tuple(range(first, last + 1))
    if any(code.line_text(line).strip() for line in own):
        return own
    following = range(last + 1, len(text.line_starts) + 1)
    return own + tuple(line for line in following if code.line_text(line).strip())[:1]


class IdleSuppression(msgspec.Struct, frozen=True):
    """A comment of which something did nothing.

    `unused` are the codes that stood in no finding's way, `unknown` those that no rule has; both are indices into
    the comment's codes. Both are empty for a comment without codes that did nothing.
    """

    suppression: Suppression
    unused: tuple[int, ...] = ()
    unknown: tuple[int, ...] = ()


class Applied(msgspec.Struct, frozen=True):
    """What suppression comments leave: the findings that stand, how many do not, and the comments that did nothing."""

    findings: tuple[Finding, ...]
    suppressed: int
    idle: tuple[IdleSuppression, ...]


def apply_suppressions(
    findings: Sequence[Finding],
    files: Mapping[str, FileFacts],
    rules: Sequence[type[Rule]],
    ran: Sequence[type[Rule]],
    in_build_files: Sequence[Suppression] = (),
) -> Applied:
    """Take out the findings that a comment speaks of.

    `files` are the facts by path; build files have none, and their comments are `in_build_files`. `rules` are all that
    are installed, `ran` those whose findings are complete: a comment about one that did not run cannot be called idle.
    """
    stand: list[Finding] = []
    used: set[tuple[Place, int]] = set()
    comments = [*(each for facts in files.values() for each in facts.suppressions), *in_build_files]
    by_path: dict[str, list[Suppression]] = {}
    for suppression in sorted(comments, key=lambda each: each.place):
        by_path.setdefault(suppression.place.path, []).append(suppression)
    for finding in findings:
        path = finding.place.path
        users = set(_speaking(finding, by_path[path], files.get(path))) if path in by_path else set()
        used |= users
        if not users:
            stand.append(finding)
    idle = (_idle(suppression, used, rules, ran) for path in sorted(by_path) for suppression in by_path[path])
    return Applied(tuple(stand), len(findings) - len(stand), tuple(each for each in idle if each))


def _speaking(
    finding: Finding, suppressions: Sequence[Suppression], facts: FileFacts | None
) -> Iterator[tuple[Place, int]]:
    """The comments, and which of their codes (-1: no code, all rules), that speak of a finding in their file."""
    lines = {finding.place.line, *(_statement_line(finding.place, facts) if facts else ())}
    for suppression in suppressions:
        if suppression.lines and lines.isdisjoint(suppression.lines):
            continue
        if not suppression.codes:
            yield suppression.place, -1
        for index, code in enumerate(suppression.codes):
            if specificity(code, finding.code, finding.name):
                yield suppression.place, index


def _statement_line(place: Place, facts: FileFacts) -> Iterator[int]:
    """The first line of the call around `place`, which is where people put a comment about a schema on a later line."""
    calls: tuple[Definition | Implementation | Fallback, ...] = (
        *facts.definitions,
        *facts.implementations,
        *facts.fallbacks,
    )
    for fact in calls:
        if fact.place.start <= place.start and place.end <= fact.place.end:
            yield fact.place.line


def _idle(
    suppression: Suppression,
    used: set[tuple[Place, int]],
    rules: Sequence[type[Rule]],
    ran: Sequence[type[Rule]],
) -> IdleSuppression | None:
    if not suppression.codes:
        complete = all(rule in ran for rule in rules if rule.default)
        return IdleSuppression(suppression) if complete and (suppression.place, -1) not in used else None
    unknown: list[int] = []
    unused: list[int] = []
    for index, code in enumerate(suppression.codes):
        meant = [rule for rule in rules if specificity(code, rule.code, rule.name)]
        if not meant:
            unknown.append(index)
        elif (suppression.place, index) not in used and all(rule in ran for rule in meant):
            unused.append(index)
    return IdleSuppression(suppression, tuple(unused), tuple(unknown)) if unused or unknown else None
