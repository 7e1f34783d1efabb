"""The closing lines of `op-lint check`: how many of what, what was done, against which torch, in what time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from op_lint.cli.check_options import CheckOptions
from op_lint.cli.output import describe_torch, plural
from op_lint.cli.session import Looked
from op_lint.findings import Severity
from op_lint.rewrite import Rewritten
from op_lint.stopwatch import Stopwatch


def summary(
    options: CheckOptions, looked: Looked, watch: Stopwatch, changed: Rewritten[Looked] | None = None
) -> Iterator[str]:
    """The closing lines of a run."""
    if options.statistics:
        for (code, name), count in sorted(Counter((each.code, each.name) for each in looked.findings).items()):
            yield f"{count:6}  {code}  {name}"
    if options.timings:
        yield from _timings(looked, watch)
    if options.quiet:
        return
    if changed is not None:
        yield _done(options, changed)
    if options.write_baseline:
        yield f"the baseline has {plural(len(looked.examined.findings), 'finding')} of the files looked at"
    else:
        yield _counts(looked)
        yield from _baseline(looked)
        yield from () if changed else _fixable(looked)
    yield from describe_torch(looked.examined.reading) if looked.examined.reading else ()


def _timings(looked: Looked, watch: Stopwatch) -> Iterator[str]:
    for phase, taken in watch.seconds.items():
        yield f"{taken:8.3f} s  {phase}"
    for code, taken in sorted(looked.examined.checked.seconds.items(), key=lambda item: -item[1]):
        yield f"{taken:8.3f} s    {code}"


def _done(options: CheckOptions, changed: Rewritten[Looked]) -> str:
    verb = "ignored" if options.add_ignores else "fixed"
    files = plural(len(changed.after), "file")
    return f"{'would have ' if options.diff else ''}{verb} {plural(len(changed.findings), 'finding')} in {files}"


def _counts(looked: Looked) -> str:
    examined = looked.examined
    project, checked = examined.project, examined.checked
    scanned = [path for path in (*project.tree.cpp, *project.tree.python) if project.is_named(path)]
    if not scanned:
        return "no C++ or Python files here"
    by_severity = Counter(finding.severity for finding in looked.findings)
    words = [plural(by_severity[severity], severity.value) for severity in Severity if by_severity[severity]]
    suppressed = f" ({checked.suppressed} suppressed by comments)" if checked.suppressed else ""
    return f"{', '.join(words) or 'nothing found'} in {plural(len(scanned), 'file')}{suppressed}"


def _baseline(looked: Looked) -> Iterator[str]:
    compared = looked.compared
    if compared.covered:
        yield f"{plural(compared.covered, 'finding')} more {'is' if compared.covered == 1 else 'are'} in the baseline"
    for (path, code), (allowed, found) in sorted(compared.exceeded.items()):
        yield f"{path}: {plural(found, 'finding')} of {code}, {allowed} in the baseline, so all of them are shown"


def _fixable(looked: Looked) -> Iterator[str]:
    fixes = [finding.fix for finding in looked.findings if finding.fix]
    safe = sum(fix.safe for fix in fixes)
    if safe:
        yield f"{safe} of them can be fixed with --fix" + (
            f", {len(fixes) - safe} more with --unsafe-fixes" if len(fixes) > safe else ""
        )
    elif fixes:
        yield f"{len(fixes)} of them can be fixed with --fix --unsafe-fixes"
