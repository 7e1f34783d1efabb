"""What `--fix`, `--add-ignores` and `--diff` do to the sources."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator

from op_lint.cli.check_options import CheckOptions
from op_lint.cli.session import Looked, Session
from op_lint.cli.streams import say, whole_or_broken_pipe
from op_lint.findings import Edit, Finding
from op_lint.fixes import edits_of, fixable_at_once, touch
from op_lint.ignores import ignore_edits
from op_lint.project import Project
from op_lint.rewrite import Rewritten, Step, rewrite, why_not, write_rewritten
from op_lint.run import RunRule


def change(options: CheckOptions, project: Project, session: Session) -> Rewritten[Looked]:
    """Change the project's sources in memory until there is nothing more to change."""
    refused: dict[str, None] = {}
    choose = _ignores(session) if options.add_ignores else _fixes(unsafe=options.unsafe_fixes)

    def allowed(looked: Looked) -> Iterator[Finding]:
        """The findings that may be changed away; why the others may not goes to `refused`."""
        for finding in looked.findings:
            edits = (Edit(finding.place, ""),) if options.add_ignores else finding.fix.edits if finding.fix else ()
            reason = why_not(looked.examined.project, edits) or _beside_stdin(options, project, edits)
            if reason is None:
                yield finding
            else:
                refused[f"{finding.code} is left as it is: {reason}"] = None

    rewritten = rewrite(project, session.look, lambda looked: choose(looked, allowed(looked)))
    for reason in refused:
        say(reason)
    if not rewritten.settled:
        say("the fixes undo each other and were given up; please report this")
    return rewritten


def finish(options: CheckOptions, rewritten: Rewritten[Looked]) -> tuple[str, ...]:
    """Print or write the changes; a message for each file that could not be written."""
    if options.diff:
        _print(_diff(rewritten))
    elif options.stdin_filename is not None:
        _print(rewritten.project.buffers.values())
    else:
        return write_rewritten(rewritten)
    return ()


def _beside_stdin(options: CheckOptions, project: Project, edits: Iterable[Edit]) -> str | None:
    """Who sends one file gets one file back."""
    others = {edit.place.path for edit in edits} - project.buffers.keys()
    return f"the change is in {', '.join(sorted(others))}, not on stdin" if options.stdin_filename and others else None


def _fixes(*, unsafe: bool) -> Callable[[Looked, Iterable[Finding]], Step]:
    def choose(_: Looked, findings: Iterable[Finding]) -> Step:
        chosen = fixable_at_once(findings, unsafe=unsafe)
        return Step(edits_of(chosen), chosen)

    return choose


def _ignores(session: Session) -> Callable[[Looked, Iterable[Finding]], Step]:
    # What a rule says about op-lint itself no comment can silence.
    deaf = {rule.code for rule in session.rules if issubclass(rule, RunRule)}

    def choose(looked: Looked, findings: Iterable[Finding]) -> Step:
        able = tuple(finding for finding in findings if finding.code not in deaf)
        edits: list[Edit] = []
        for edit in ignore_edits(able, looked.examined.project.sources()):
            if not any(touch(edit.place, other.place) for other in edits):
                edits.append(edit)
        places = {(edit.place.path, edit.place.line) for edit in edits}
        return Step(tuple(edits), tuple(each for each in able if (each.place.path, each.place.line) in places))

    return choose


def _diff(rewritten: Rewritten[Looked]) -> Iterator[bytes]:
    """The changes as a unified diff that `git apply` takes."""
    import difflib  # a run that changes nothing does not pay for it

    sources = rewritten.project.sources()
    for path, after in sorted(rewritten.after.items()):
        name = sources.shown(path).encode("utf-8", "surrogateescape")
        lines = difflib.diff_bytes(
            difflib.unified_diff, _lines(rewritten.before[path]), _lines(after), b"a/" + name, b"b/" + name
        )
        for line in lines:
            yield line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n"


def _lines(data: bytes) -> list[bytes]:
    """The lines with their ends: LF only, as a lone CR ends no line of a patch."""
    *whole, rest = data.split(b"\n")
    return [line + b"\n" for line in whole] + ([rest] if rest else [])


def _print(parts: Iterable[bytes]) -> None:
    """Write bytes to stdout as they are."""
    with whole_or_broken_pipe(sys.stdout) as stream:
        binary = getattr(stream, "buffer", None)
        for part in parts:
            if binary is None:
                stream.write(part.decode("utf-8", "surrogateescape"))
            else:
                binary.write(part)
        if binary is not None:
            binary.flush()
