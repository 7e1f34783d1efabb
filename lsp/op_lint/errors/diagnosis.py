"""What an error means in this project: its causes in the sources, what supports them, what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from itertools import groupby
from string import Formatter

import msgspec

from op_lint.dispatch.call import Argument, Call, Mode
from op_lint.dispatch.path import call_path, cures_at
from op_lint.errors import calls
from op_lint.errors.case import Case
from op_lint.errors.recognise import Recognised
from op_lint.facts import Place
from op_lint.findings import Finding, Related

_MOST_FINDINGS = 4
_MOST_LISTED = 6


class Certainty(str, Enum):
    """How sure it is that a cause is the cause.

    `CERTAIN`: what torch said and what the sources say leave no other. `LIKELY`: it causes just this error, but what is
    not in the text (what was built, what was loaded) decides. `POSSIBLE`: one of several that fit.
    """

    CERTAIN = "certain"
    LIKELY = "likely"
    POSSIBLE = "possible"


class Cause(msgspec.Struct, frozen=True):
    """Something in the sources, or known of the installed torch, from which the error follows.

    `message` is lower-case and stands at `place`, which is None where no source is to blame. `findings` are what the
    rules say of the same place.
    """

    certainty: Certainty
    message: str
    place: Place | None = None
    related: tuple[Related, ...] = ()
    findings: tuple[Finding, ...] = ()


class Diagnosis(msgspec.Struct, frozen=True):
    """An error, explained. `evidence` are what the text and the project show, `change` what to do, `check` commands."""

    error: Recognised
    meaning: str
    causes: tuple[Cause, ...]
    findings: tuple[Finding, ...]
    evidence: tuple[str, ...]
    change: tuple[str, ...]
    check: tuple[str, ...]


def diagnosis(case: Case, causes: Sequence[Cause]) -> Diagnosis:
    """The diagnosis of a case that has these causes; what the rules find is one where nothing else is known."""
    there = [finding for cause in causes if cause.place is not None for finding in case.findings_at(cause.place)]
    findings = tuple(dict.fromkeys((*there, *case.findings)))[:_MOST_FINDINGS]
    found = [_with_findings(cause, findings) for cause in causes]
    if not any(cause.place is not None for cause in found):
        found += [_of_finding(finding, _certainty_of(case)) for finding in findings]
    return Diagnosis(
        case.error,
        _filled(case.error.kind.meaning, case),
        tuple(found),
        findings,
        tuple(_evidence(case)),
        tuple(_changes(case)),
        tuple(dict.fromkeys(_checks(case, findings))),
    )


def _with_findings(cause: Cause, findings: Sequence[Finding]) -> Cause:
    place = cause.place
    if place is None:
        return cause
    same = tuple(each for each in findings if (each.place.path, each.place.line) == (place.path, place.line))
    return msgspec.structs.replace(cause, findings=same)


def _of_finding(finding: Finding, certainty: Certainty) -> Cause:
    return Cause(certainty, finding.message, finding.place, finding.related, (finding,))


def _certainty_of(case: Case) -> Certainty:
    if case.operator is None and case.raised_at is None and not case.sites:
        return Certainty.POSSIBLE
    return Certainty.CERTAIN if case.sites else Certainty.LIKELY


def _filled(text: str, case: Case) -> str:
    """A text of a kind with the names of this error; the operator under the dispatcher's name."""
    named = {field for _, field, _, _ in Formatter().parse(text) if field}
    values = {name: case.error.fields.get(name, "...") for name in named}
    if "operator" in named:
        values["operator"] = str(case.operator) if case.operator is not None else "namespace::name"
    return text.format(**values)


def _evidence(case: Case) -> Iterator[str]:
    """What the text itself shows besides the message."""
    if case.listed:
        shown = list(case.listed.items())[:_MOST_LISTED]
        places = [
            f"{', '.join(key for key, _ in keys)}{f' ({place})' if place else ''}"
            for place, keys in groupby(shown, lambda each: str(each[1] or ""))
        ]
        more = len(case.listed) - len(shown)
        rest = f" and {more} more keys" if more else ", and at no other key"
        yield f"that process had kernels of this operator at {', '.join(places)}{rest}"
    elif case.error.listed and case.error.kind is calls.MISSING_KERNEL:
        yield "that process had no kernel of this operator at all: only torch's fallbacks are listed"
    for site in case.sites:
        if site.torchs:
            yield f"{site} is in torch itself"
        elif site.file is None:
            yield f"{site} is no file of this project: another package, or a build of other sources"


def _changes(case: Case) -> Iterator[str]:
    cures = tuple(_cures(case))
    if cures:
        yield f"register a kernel at {' or '.join(cures)}"
    elif _has_kernel(case):
        yield "the sources have the kernel: see that its file is compiled, linked and loaded before the call"
        return
    if case.meant is not None:
        yield f"where `{case.meant}` is meant, write that"
    if case.error.kind is calls.NO_OPERATOR and case.implementations and not case.definitions:
        yield "define the operator: a kernel alone makes none"
        return
    for text in case.error.kind.change[1 if cures and case.error.kind is calls.MISSING_KERNEL else 0 :]:
        yield _filled(text, case)


def _cures(case: Case) -> tuple[str, ...]:
    """The keys at which a kernel would help, as `op-lint why` says them."""
    table = case.table
    if table is None:
        return ()
    if case.error.kind is calls.MISSING_FAKE:
        return call_path(table, Call((Argument("cpu"),), mode=Mode.FAKE)).cures
    key = case.key
    if case.error.kind is not calls.MISSING_KERNEL or key not in table.keys.runtime or not table[key].missing:
        return ()
    device = _device(case)
    path = call_path(table, Call((Argument(device),))) if device is not None else None
    return path.cures if path is not None and path.cures else tuple(cures_at(table, key))


def _has_kernel(case: Case) -> bool:
    """Whether the table of sources and torch has what the process lacked."""
    table, key = case.table, case.key
    if case.error.kind is not calls.MISSING_KERNEL or table is None or key not in table.keys.runtime:
        return False
    return not table[key].missing


def _device(case: Case) -> str | None:
    """The device whose dense tensors have the key of the error."""
    table = case.table
    devices = table.keys.facts.devices if table is not None else {}
    return next((device for device, key in devices.items() if key == case.key), None)


def _checks(case: Case, findings: Sequence[Finding]) -> Iterator[str]:
    """Commands that show more."""
    if case.operator is not None and case.knows(case.operator):
        if case.error.kind is calls.MISSING_FAKE:
            yield f"op-lint why {case.operator} --fake"
        elif (device := _device(case)) is not None:
            yield f"op-lint why {case.operator} --device {device}"
            if _has_kernel(case):
                yield f"op-lint table {case.operator} --load LIB"
        elif case.error.kind.stage.value == "call":
            yield f"op-lint table {case.operator}"
    for finding in findings:
        yield f"op-lint rule {finding.code}"
