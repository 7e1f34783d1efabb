"""One error held against the program: the operator, the places and the lines of the program that it names."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import PurePosixPath

from op_lint.dispatch.keys import UNDEFINED
from op_lint.dispatch.table import Table
from op_lint.errors.recognise import Recognised
from op_lint.facts import Definition, Implementation, OperatorName, Place, Unit
from op_lint.findings import Finding
from op_lint.installed.model import place_of
from op_lint.message import squeezed, stem
from op_lint.program import Kernel, Program, Registered, parse_name
from op_lint.tables import Tables, tables_of

_TORCHS = re.compile(r"(?:^|/)(?:site-packages/torch/|pytorch/(?:aten|torch|c10|build)/|aten/src/ATen/|torch/csrc/)")
"""What the paths of torch's own files have."""

_NOWHERE = "/dev/null"
"""What older versions of torch name as the place of a registration in Python."""

_PYTHONS = re.compile(r"/lib/(?:python\d|[^/]+\.py$)|^<|(?:^|/)site-packages/")


class Site:
    """A place that a message names: `path` and 1-based `line` as torch says them.

    `file` is the file of the project that it is, None where it is none of them; `unit` what registers there.
    """

    def __init__(self, path: str, line: int, file: str | None, unit: Unit | None, *, torchs: bool) -> None:
        self.path = path
        self.line = line
        self.file = file
        self.unit = unit
        self.torchs = torchs

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


class Case:
    """An error and the program that may have caused it.

    `findings` are those of the rules that its kind names; `line_of` gives the place of a 1-based line of a file; `root`
    is the absolute path of the project.
    """

    def __init__(
        self,
        error: Recognised,
        program: Program,
        findings: Sequence[Finding],
        line_of: Callable[[str, int], Place],
        root: str = "",
    ) -> None:
        self.error = error
        self.program = program
        self.line_of = line_of
        self._findings = findings
        self._root = root

    @cached_property
    def tables(self) -> Tables | None:
        """The dispatch tables of the program."""
        return tables_of(self.program)

    @cached_property
    def operators(self) -> tuple[OperatorName, ...]:
        """The operators of the project, or of torch, that the error may be about: several where it leaves things out.

        The first is the one it names, known or not.
        """
        named = self.error.operator
        if named is None:
            name = self.error.fields.get("name", "").partition(".")[0]
            known = (each for each in self.program.operators if each.name == name)
            return tuple(sorted(known)) if name else ()
        exact = parse_name(named)
        if exact.overload or self.knows(exact):
            return (exact,)
        overloads = self.program.overloads(exact.namespace, exact.name)
        return overloads or (exact,)

    @property
    def operator(self) -> OperatorName | None:
        """The operator that the error is about; None where it does not say."""
        return self.operators[0] if self.operators else None

    @property
    def namespace(self) -> str | None:
        """The namespace that the error is about."""
        if self.operator is not None:
            return self.operator.namespace
        return self.error.fields.get("namespace")

    @property
    def key(self) -> str | None:
        """The dispatch key that the error names, by its own name."""
        written = self.error.fields.get("key")
        return self.program.key(written) if written else None

    @property
    def by_name(self) -> bool:
        """Whether one of the places is inside torch's own Python: the user's line, which gave a name, is not told."""
        return any(site.torchs and site.path.endswith((".py", _NOWHERE)) for site in self.sites)

    def knows(self, operator: OperatorName) -> bool:
        """Whether the sources or the installed torch have it."""
        return operator in self.program.operators or self.program.installed_operator(operator) is not None

    @cached_property
    def meant(self) -> OperatorName | None:
        """The operator that an unknown name was probably meant to be."""
        if self.operator is None or self.definitions:
            return None
        installed = self.program.installed_operator(self.operator)
        return self.program.nearest_operator(self.operator) if installed is None or installed.schema is None else None

    @cached_property
    def definitions(self) -> tuple[Registered[Definition], ...]:
        """The definitions in the sources."""
        return tuple(found for operator in self.operators for found in self.program.definitions_of(operator))

    @cached_property
    def implementations(self) -> tuple[Registered[Implementation], ...]:
        """The kernels in the sources that are registered apart from a definition."""
        return tuple(found for operator in self.operators for found in self.program.implementations_of(operator))

    def kernels_at(self, key: str) -> tuple[Kernel, ...]:
        """The kernels in the sources at one key."""
        return tuple(kernel for operator in self.operators for kernel in self.program.kernels_of(operator).get(key, ()))

    @cached_property
    def table(self) -> Table | None:
        """The dispatch table of the operator."""
        if self.tables is None or self.operator is None:
            return None
        return self.tables.table(self.operator)

    @cached_property
    def sites(self) -> tuple[Site, ...]:
        """The places that the message names, in its order."""
        found: list[Site] = []
        for name in self.error.message.fields:
            value = self.error.fields.get(name, "")
            read = {"place": place_of, "where": _path_and_line}.get(stem(name))
            named = read(value) if read is not None else None
            if named is not None:
                found.append(self._site(*named))
        return tuple(found)

    @cached_property
    def listed(self) -> dict[str, Site | None]:
        """The keys at which torch says that the process had a kernel of the operator's own, with the place."""
        found: dict[str, Site | None] = {}
        for each in self.error.listed:
            if each.reason not in ("backend fallback", "fallthrough") and each.key != UNDEFINED:
                named = place_of(each.place)
                found[each.key] = self._site(*named) if named else None
        return found

    @cached_property
    def raised_at(self) -> Place | None:
        """The innermost line of the project in the traceback of the error, or of those that it caused."""
        for frame in (*reversed(self.error.frames), *reversed(self.error.outer)):
            path = frame.path.replace("\\", "/")
            if not _TORCHS.search(path) and not _PYTHONS.search(path):
                file = self._file(frame.path, least=2)
                if file is not None:
                    return self.line_of(file, frame.line)
        return None

    def _site(self, path: str, line: int) -> Site:
        torchs = _TORCHS.search(path.replace("\\", "/")) is not None or path == _NOWHERE
        file = None if torchs else self._file(path)
        return Site(path, line, file, self._unit_at(file, line) if file else None, torchs=torchs)

    def _unit_at(self, file: str, line: int) -> Unit | None:
        """The unit whose head or body holds a line."""
        for unit in self.program.units:
            if unit.place.path == file and unit.place.line <= line <= max(unit.place.line, _last_line(unit)):
                return unit
        return None

    def _file(self, path: str, least: int = 1) -> str | None:
        """The file of the project that a path of another machine or folder means: the longest common end decides.

        Of an absolute path that is not in the project `least` parts must be the same.
        """
        path = squeezed(path).replace("\\", "/")
        if self._root and path.startswith(f"{self._root}/"):
            path = path[len(self._root) + 1 :]
            return path if path in self._files else None
        parts = [part for part in PurePosixPath(path).parts if part not in ("..", ".")]
        absolute = bool(parts) and (parts[0] == "/" or parts[0].endswith(":"))
        best: list[str] = []
        length = 0
        for file in self._by_name.get(parts[-1] if parts else "", ()):
            theirs = PurePosixPath(file).parts
            common = _common_end(parts, theirs)
            whole = common == len(theirs) or common == len(parts)
            if (common >= least if absolute else whole) and common >= length:
                best = [*best, file] if common == length else [file]
                length = common
        return best[0] if len(best) == 1 else None

    @cached_property
    def _files(self) -> frozenset[str]:
        units = {unit.place.path for unit in self.program.units}
        return frozenset({file.path for file in self.program.files} | units)

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for file in sorted(self._files):
            found.setdefault(PurePosixPath(file).name, []).append(file)
        return found

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What the rules say of the operator, the namespace or the places of this error, the likeliest cause first."""
        codes = self.error.kind.codes
        found = [finding for finding in self._findings if finding.code in codes and self._concerns(finding)]
        return tuple(sorted(found, key=lambda each: (codes.index(each.code), each.place)))

    def findings_at(self, place: Place) -> tuple[Finding, ...]:
        """What the rules that the kind of error names say of a line."""
        line = (place.path, place.line)
        codes = self.error.kind.codes
        return tuple(
            each for each in self._findings if each.code in codes and (each.place.path, each.place.line) == line
        )

    def _concerns(self, finding: Finding) -> bool:
        texts = (finding.message, *finding.notes, *(related.message for related in finding.related))
        names = {str(operator) for operator in self.operators}
        names |= {f"{operator.namespace}::{operator.name}" for operator in self.operators}
        if any(_mentions(text, name) for text in texts for name in names):
            return True
        places = (finding.place, *(related.place for related in finding.related))
        if any(_overlap(place, own) for place in places for own in self._own_places):
            return True
        sites = [site.unit for site in self.sites if site.unit is not None]
        if any(_is_in(place, unit) for place in places for unit in sites):
            return not self.operators or finding.place.line in {site.line for site in self.sites}
        raised = self.raised_at
        word = self.error.fields.get("word")
        if word is not None and not self.operators and not self.sites and self.namespace is None:
            return any(_mentions(text, word) for text in texts)
        return raised is not None and any((raised.path, raised.line) == (place.path, place.line) for place in places)

    @cached_property
    def _own_places(self) -> tuple[Place, ...]:
        registered: tuple[Kernel, ...] = (*self.definitions, *self.implementations)
        places = [place for each in registered for place in (each.fact.place, each.fact.name_place)]
        places += [each.unit.namespace_place or each.unit.place for each in registered]
        kernels = (each.fact.kernel for each in registered)
        places += [kernel.defined for kernel in kernels if kernel is not None and kernel.defined is not None]
        return tuple(places)


def _mentions(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w:]){re.escape(name)}(?![\w:])", text) is not None


def _overlap(place: Place, other: Place) -> bool:
    return place.path == other.path and place.start < max(other.end, other.start + 1) and other.start < place.end


def _is_in(place: Place, unit: Unit) -> bool:
    return place.path == unit.place.path and unit.place.line <= place.line <= max(unit.place.line, _last_line(unit))


def _last_line(unit: Unit) -> int:
    """The last line of a unit as far as the facts tell: that of its body's start."""
    return unit.body.line if unit.body is not None and unit.body.path == unit.place.path else unit.place.line


def _common_end(parts: Sequence[str], others: Sequence[str]) -> int:
    count = 0
    for part, other in zip(reversed(parts), reversed(others), strict=False):
        if part != other:
            break
        count += 1
    return count


def _path_and_line(text: str) -> tuple[str, int] | None:
    path, _, line = text.rpartition(":")
    return (path, int(line)) if path and line.isdigit() else None
