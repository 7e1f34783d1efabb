"""Code actions: the fixes of findings, all safe fixes of a file at once, a suppression comment, what is missing."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from op_lint.dispatch.errors import META
from op_lint.dispatch.keys import IMPLICIT
from op_lint.facts import Definition, KernelKind, Language
from op_lint.findings import Edit, Finding
from op_lint.fixes import edits_of, fixable_at_once, fixes_of
from op_lint.ignores import ignore_edit
from op_lint.kernels import parsed, schema_text
from op_lint.program import Registered
from op_lint.run import RunRule
from op_lint.schema.model import Name, Schema
from op_lint.schema.printer import format_schema
from op_lint.server import stubs
from op_lint.server.names import meant_schema
from op_lint.server.snapshot import Snapshot

QUICK_FIX = "quickfix"
REWRITE = "refactor.rewrite"
FIX_ALL = "source.fixAll.op-lint"


class Action(msgspec.Struct, frozen=True):
    """A change that is offered. `finding` is what it mends; `preferred` marks the one that is safe."""

    title: str
    kind: str
    edits: tuple[Edit, ...]
    finding: Finding | None = None
    preferred: bool = False


def actions_at(snapshot: Snapshot, path: str, start: int, end: int) -> Iterator[Action]:
    """What can be done about bytes `start` to `end` of a file."""
    findings = snapshot.findings.get(path, ())
    here = [each for each in findings if each.place.start <= end and start <= each.place.end]
    marked = (
        finding
        for finding, other in snapshot.marks.get(path, ())
        if other.place.start <= end and start <= other.place.end
    )
    for finding in (*here, *marked):
        for fix in fixes_of(finding):
            title = fix.title if fix.safe else f"{fix.title} (changes what the program does)"
            yield Action(title, QUICK_FIX, fix.edits, finding, fix.safe)
    # What a rule says about op-lint itself no comment can silence.
    deaf = {rule.code for rule in snapshot.packs.rules if issubclass(rule, RunRule)}
    for finding in (each for each in here if each.code not in deaf):
        place = finding.place
        edit = ignore_edit(snapshot.text(place.path), place.path, place.line, (finding.code,))
        if edit is not None:
            yield Action(f"ignore {finding.code} {finding.name} here", QUICK_FIX, (edit,), finding)
    edits = edits_of(fixable_at_once(findings))
    if edits:
        yield Action("apply all safe fixes of op-lint", FIX_ALL, edits)
    for definition in snapshot.program.definitions:
        place = definition.place
        if place.path == path and place.start <= end and start <= place.end:
            yield from _about_definition(snapshot, definition)


def _about_definition(snapshot: Snapshot, definition: Registered[Definition]) -> Iterator[Action]:
    """What an operator lacks: a schema, kernels, a fake."""
    fact = definition.fact
    schema = parsed(schema_text(fact).value)
    if isinstance(schema, Name):
        yield from _write_schema(fact, schema)
        return
    if not isinstance(schema, Schema):
        return
    kernels = snapshot.program.kernels_of(fact.operator)
    is_whole = any(key.startswith("Composite") for key in kernels)
    for key in ("CPU", "CUDA", META) if fact.language is Language.CPP and not is_whole else ():
        edit = stubs.cpp_kernel(snapshot, definition, schema, key) if key not in kernels else None
        if edit is not None:
            title = "add a Meta kernel" if key == META else f"add the missing {key} kernel"
            yield Action(f"{title} of {fact.operator}", REWRITE, (edit,))
    if META not in kernels and IMPLICIT not in kernels:
        edit = stubs.python_fake(snapshot, definition, schema)
        if edit is not None:
            where = "" if edit.place.path == fact.place.path else f" in {edit.place.path}"
            yield Action(f"add a fake of {fact.operator}{where}", REWRITE, (edit,))


def _write_schema(fact: Definition, name: Name) -> Iterator[Action]:
    kernel = fact.kernel
    if kernel is None or kernel.kind is not KernelKind.KERNEL or kernel.signature is None or not fact.text.pieces:
        return
    meant = meant_schema(kernel.signature, name)
    if meant is None:
        return
    written = format_schema(meant)
    if not isinstance(parsed(written), Schema):
        return
    place = fact.text.place_of(0, len(fact.text.value))
    yield Action(f"write the schema that this kernel means: {written}", REWRITE, (Edit(place, written),))
