"""One C++ file -> its facts."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from op_lint.cpp import contexts, hazards, passes
from op_lint.cpp.audit import audit
from op_lint.cpp.blanked import BLOCK_MACROS, Blanked
from op_lint.cpp.compile_commands import CompileCommands, read_compile_commands
from op_lint.cpp.cut import Cut
from op_lint.cpp.expansion import Macro, explosive_macro, naming
from op_lint.cpp.index import (
    HEADERS,
    IncludeIndex,
    any_word,
    including_files,
    is_overlaid,
    mention,
    registering_files,
    registering_macros,
    registers,
    shape,
)
from op_lint.cpp.macro_bodies import MacroBodies
from op_lint.cpp.macro_words import MacroWords
from op_lint.cpp.options import CppOptions
from op_lint.cpp.overlay_header import OVERLAY, overlay, overlay_macros
from op_lint.cpp.preprocess import Files, Preprocessed, preprocess
from op_lint.cpp.registrations import Registrations
from op_lint.cpp.scan import defined_names, words
from op_lint.cpp.views import Arm, View, holds
from op_lint.facts import FileFacts, Include, Language, Place, Problem, Unresolved
from op_lint.text import SourceText

if TYPE_CHECKING:
    from op_lint.cpp.clang import Diagnostic, TranslationUnit
    from op_lint.cpp.incremental import Memory, Parsed, Repaired, Source
    from op_lint.cpp.repair import Repairs

_CUDA = (".cu", ".cuh", ".hip")
_OBJECTIVE = (".mm", ".m")
_MOST_NAMED = 3
_OBJECTS = frozenset({b"RegisterOperators", b"TorchLibraryInit", b"StableTorchLibraryInit"})
"""The types of torch whose objects register."""

_BOUNDS = ("-ftemplate-depth=16", "-fconstexpr-steps=100000", "-fconstexpr-depth=128")
"""Far below libclang's own limits. What registers needs no recursion; without end, it would take minutes."""
_NO_COMPILER = f"--gcc-toolchain={OVERLAY}"
"""Where libclang looks for the headers of GCC, which it does not need: else it goes through the machine's folders."""
_LONE_CR = re.compile(rb"\r(?!\n)")


class CppReader:
    """Reads the C++ files of one project.

    `sources` are all C++ files of the project, headers too, relative to `root` with `/`; `buffers` hold the text of
    files that an editor has open. The reader is made once for a state of the project: it keeps what it has read. It can
    be pickled, so that worker processes read files with the same index.
    """

    def __init__(
        self,
        root: Path,
        sources: Sequence[str],
        options: CppOptions | None = None,
        buffers: Mapping[str, bytes] | None = None,
    ) -> None:
        self.root = root
        self.options = options or CppOptions()
        self.buffers = dict(buffers or {})
        self.sources = tuple(sources)
        self._contents: dict[str, bytes | None] = {}
        self.memory: Memory | None = None
        """Where the last readings are, for those who read a file again after each edit. It is not pickled."""

    def __getstate__(self) -> dict[str, Any]:
        # Workers need the index, not the bytes that it was made from.
        _ = self.index, self.macros, self._fingerprint
        state = {**self.__dict__, "_contents": {}, "memory": None}
        state.pop("_files", None)
        return state

    # -- the workspace

    @cached_property
    def index(self) -> IncludeIndex:
        """Where included files are."""
        names = (path for path in self.sources if path.endswith(HEADERS) or not path.endswith(".py"))
        return IncludeIndex(names, (*self.options.include_dirs, *self.compile_commands.include_dirs))

    @cached_property
    def compile_commands(self) -> CompileCommands:
        """What a compile database of the project says."""
        return read_compile_commands(self.root, self.options.compile_commands)

    @cached_property
    def macros(self) -> frozenset[bytes]:
        """The project's macros in which registrations are hidden."""
        return registering_macros(self._all_contents())

    @cached_property
    def _candidates(self) -> tuple[str, ...]:
        contents = self._all_contents()
        registering = {*registering_files(contents, self.macros), *including_files(contents, self.index)}
        return tuple(sorted({*registering, *self._hazards()}))

    def _hazards(self) -> Iterable[str]:
        """The files that are not C++ text: their reading is a note. Templates only if they may register something."""
        for path in self.sources:
            data = self.load(path)
            hazard = hazards.why_not_text(data, self.options.largest) if data is not None else None
            if hazard is None:
                continue
            if hazard[0] != "template-text" or registering_files({path: data or b""}, self.macros):
                yield path

    def candidates(self) -> tuple[str, ...]:
        """The files that may register something, sorted."""
        return self._candidates

    def _all_contents(self) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        for path in self.sources:
            data = self.load(path)
            if data is not None and hazards.why_not_text(data, self.options.largest) is None:
                found[path] = data
        return found

    def load(self, path: str) -> bytes | None:
        """The bytes of a file of the project, None where it cannot be read (it may have just vanished)."""
        if path in self.buffers:
            return _with_line_ends(self.buffers[path])
        if path not in self._contents:
            try:
                file = self.root / path
                is_large = os.stat(file).st_size > self.options.largest
                self._contents[path] = None if is_large else _with_line_ends(file.read_bytes())
            except OSError:
                self._contents[path] = None
        return self._contents[path]

    def edited(self, path: str, data: bytes | None) -> CppReader:
        """The reader after an edit: `data` is what `path` holds from now on, None where that is on disk.

        What the edit cannot have changed is taken over from this reader.
        """
        buffers = {each: content for each, content in self.buffers.items() if each != path}
        if data is not None:
            buffers[path] = data
        reader = CppReader(self.root, self.sources, self.options, buffers)
        reader._contents = {each: content for each, content in self._contents.items() if each != path}
        reader.index, reader.compile_commands = self.index, self.compile_commands
        before, after = self.load(path) or b"", reader.load(path) or b""
        if shape(path, before) == shape(path, after):
            reader.macros, reader._fingerprint = self.macros, self._fingerprint
            was, now = registers(before, self.macros), registers(after, self.macros)
            others = set(self.candidates()) - ({path} if was else set())
            reader._candidates = tuple(sorted({*others, path} if now else others))
        return reader

    # -- keys

    @cached_property
    def _fingerprint(self) -> bytes:
        digest = sha256(_reader_version())
        digest.update(msgspec.json.encode((self.options, self.compile_commands)))
        digest.update("\0".join(sorted(path for path in self.sources if path.endswith(HEADERS))).encode())
        digest.update(b"\0".join(sorted(self.macros)))
        return digest.digest()

    def key(self, path: str) -> str:
        """A key of all that the facts of `path` depend on, but the content of the headers: see `is_current`."""
        data = self.load(path)
        return sha256(self._fingerprint + path.encode() + b"\0" + (data or b"")).hexdigest()

    def is_current(self, facts: FileFacts) -> bool:
        """Whether every header that these facts were read from is as it was."""
        return all(self._digest(include.path) == include.digest for include in facts.includes)

    def _digest(self, path: str) -> str:
        data = self.load(path)
        return "" if data is None else sha256(data).hexdigest()

    # -- reading

    def read(self, path: str) -> FileFacts:
        """The facts of one file. Never raises: what cannot be read is a problem among the facts."""
        data = self._bytes_of(path)
        if isinstance(data, Problem):
            return FileFacts(path, Language.CPP, problems=(data,))
        hazard = hazards.why_not_text(data, self.options.largest)
        if hazard is not None:
            return FileFacts(path, Language.CPP, problems=(Problem(*hazard, Place(path, 1, 0, 0)),))
        preprocessed = self.preprocessed(path, data)
        hazard = self._hazard_of(preprocessed)
        if hazard is not None:
            return FileFacts(path, Language.CPP, problems=(Problem(*hazard, Place(path, 1, 0, 0)),))
        facts = _Reading(self, preprocessed).facts()
        if self.memory is None and not path.endswith(HEADERS):
            self._files.forget(path)  # a worker reads thousands of sources, and each of them once
        return facts

    def _hazard_of(self, preprocessed: Preprocessed) -> tuple[str, str] | None:
        """A problem code and message where libclang should not be given this source."""
        if preprocessed.problem:
            return "too-complex", preprocessed.problem
        macros: dict[bytes, Macro] = {}
        codes: dict[str, Blanked] = {}
        for view in preprocessed.views:
            scanned = self._files.scanned(view)
            if scanned.problem is not None:
                where = "" if view is preprocessed.main else f" in {view.path}"
                return "too-complex", scanned.problem + where
            macros.update(scanned.macros)
            codes[view.path] = scanned.blanked
        name = explosive_macro(macros, codes.values())
        return ("macro-bomb", f"the macro {name} expands to millions of tokens") if name is not None else None

    def _bytes_of(self, path: str) -> bytes | Problem:
        data = self.load(path)
        if data is not None:
            return data
        place = Place(path, 1, 0, 0)
        try:
            size = os.stat(self.root / path).st_size
        except OSError as error:
            return Problem("vanished", f"the file cannot be read: {error.strerror}", place)
        if size > self.options.largest:
            return Problem(*hazards.too_large(size, self.options.largest), place)
        return Problem("unreadable", "the file cannot be read", place)

    def preprocessed(self, path: str, data: bytes) -> Preprocessed:
        """The file and what it includes, as the preprocessor reaches them."""
        return preprocess(path, data, self._files, self.defines, keep_known=self.options.headers == "real")

    @cached_property
    def _files(self) -> Files:
        kept = self.memory.scanned if self.memory is not None else {}
        return Files(self.index.resolve, self.load, is_overlaid, kept)

    @cached_property
    def defines(self) -> dict[str, str]:
        """The configured macros: name -> value (`1` where none is given)."""
        pairs = (define.partition("=") for define in self.options.defines)
        return {name: value or ("" if separator else "1") for name, separator, value in pairs}

    @cached_property
    def mention(self) -> Any:
        """A pattern for text that registers."""
        return mention(self.macros)

    def arguments(self, path: str) -> list[str]:
        """The compiler arguments for a file."""
        language = ["-x", "c++"]
        if path.endswith(_CUDA):
            language = ["-x", "cuda", "--cuda-host-only", "-nocudainc", "-nocudalib"]
        elif path.endswith(_OBJECTIVE):
            language = ["-x", "objective-c++"]
        common = ["-std=c++20", "-ferror-limit=0", "-fno-spell-checking", "-w"]
        known = {**self.compile_commands.names.get(path, {}), **self.defines}
        defines = [f"-D{name}={value}" for name, value in known.items()]
        if self.options.headers == "real":
            return [*language, *common, *defines, *self.options.system]
        return [*language, *common, *defines, *_BOUNDS, _NO_COMPILER, "-nostdinc", "-nostdinc++", "-include", OVERLAY]


def _errors_of(tu: TranslationUnit) -> list[Diagnostic]:
    """The errors in the sources; those in the overlay say of its templates that they are defined nowhere."""
    return [error for error in tu.errors() if error.expanded.file != OVERLAY]


def _with_line_ends(data: bytes) -> bytes:
    """`data` with LF for each lone CR: a line end for compilers and editors, and no other byte moves."""
    return _LONE_CR.sub(b"\n", data) if b"\r" in data else data


@cache
def _reader_version() -> bytes:
    """Names this version of the reader by its own sources."""
    folder = Path(__file__).parent
    digest = sha256()
    for file in sorted(folder.rglob("*")):
        if file.suffix in (".py", ".h"):
            digest.update(file.read_bytes())
    return digest.digest()


def _repaired(repairs: Repairs) -> Repaired | None:
    """What was declared, for the next reading of the file."""
    from op_lint.cpp.incremental import Repaired

    if not repairs.declarations and not repairs.keys and not repairs.tags:
        return None
    header = repairs.header()
    marked = (each.encode() for each in (*repairs.keys, *repairs.tags))
    names = frozenset((*words(header), *marked)) - _OF_EVERY_HEADER
    return Repaired(header, tuple(repairs.arguments()), names)


_OF_EVERY_HEADER = frozenset(words(b"namespace op_lint struct unknown using template class Types static T auto values"))


@dataclass
class _Given:
    """What libclang was given for one assignment, and what had to be declared."""

    files: Mapping[str, bytes]
    arguments: Sequence[str]
    repaired: Repaired | None = None


class _Reading:
    """The reading of one file: passes, repairs, merging, the second look."""

    def __init__(self, reader: CppReader, preprocessed: Preprocessed) -> None:
        self.reader = reader
        self.preprocessed = preprocessed
        self.main = preprocessed.main
        self.blanked = reader._files.scanned(self.main).blanked
        self.repaired = False
        self.problems: list[Problem] = []
        self._given: dict[tuple[tuple[str, bool], ...], _Given] = {}

    def facts(self) -> FileFacts:
        depending = self._contexts()
        plan = passes.plan(self.preprocessed, self._registers, contexts.arms_of(depending))
        readings = [(assignment, self._read(assignment)) for assignment in plan.assignments]
        names = {name for _, reading in readings for name in passes.registered_names(reading)}
        more = passes.plan(self.preprocessed, passes.mentions_kernel(names), done=plan.assignments)
        readings.extend((assignment, self._read(assignment)) for assignment in more.assignments)
        found = passes.merge(readings, self.preprocessed, depending)
        unread = self._audit(found)
        if unread and self.reader.options.headers != "real":
            readings = [(each, self._with_lost_kernels(each, reading, unread)) for each, reading in readings]
            found = passes.merge(readings, self.preprocessed, depending)
            unread = self._audit(found)
        unread.extend(self._uncovered(plan))
        self._note_includes(bool(unread) or self.repaired)
        self._note_end()
        return FileFacts(
            path=self.main.path,
            language=Language.CPP,
            units=tuple(found.units),
            definitions=tuple(found.definitions),
            implementations=tuple(found.implementations),
            fallbacks=tuple(found.fallbacks),
            unresolved=tuple(sorted([*found.unresolved, *unread], key=lambda row: row.place)),
            delegations=tuple(found.delegations),
            classes=tuple(found.classes),
            problems=tuple(self.problems),
            includes=tuple(self._includes()),
        )

    def _includes(self) -> Iterable[Include]:
        for view in self.preprocessed.views[1:]:
            yield Include(view.path, self.reader._digest(view.path))

    def _registers(self, view: View, arm: Arm) -> bool:
        """Whether an arm registers something, has a helper do it, or defines a macro that registration code uses."""
        bare = self.reader._files.scanned(view).bare  # what is commented out matters not
        if self.reader.mention.search(bare, arm.start, arm.end) is not None:
            return True
        if view is self.main and any(arm.start <= offset < arm.end for offset in self.blanked.handed_on):
            return True
        return any(name in self._zone_words for name in defined_names(view.data, arm.start, arm.end))

    @cached_property
    def _zone_words(self) -> frozenset[bytes]:
        """The words of the file's registration code."""
        code = self.blanked.code
        return frozenset(word for _, start, end in self._zones for word in words(code[start:end]))

    def _contexts(self) -> Sequence[contexts.Context]:
        """What registrations depend on besides the arms that they stand in."""
        directives = self.reader._files.scanned(self.main).directives
        return contexts.contexts(self.main, self.blanked, directives, self._macro_words)

    @cached_property
    def _macro_words(self) -> MacroWords:
        return MacroWords(self.preprocessed.views, self.reader._files.scanned, any_word(self.reader.macros))

    def _uncovered(self, plan: passes.Plan) -> Iterable[Unresolved]:
        for view, arm in plan.uncovered:
            if view.path == self.main.path:
                place = Place(view.path, SourceText(view.data).line_of(arm.start), arm.start, arm.end)
                yield Unresolved("def", "too many conditions: this arm was not read", place, condition=arm.condition)

    def _note_includes(self, matters: bool) -> None:
        """One note on the headers that are not here, if what they declare was missed."""
        missing = [row for row in self.preprocessed.missing if row[1] == self.main.path]
        if not matters or not missing or self.reader.options.headers == "real":
            return
        names = list(dict.fromkeys(name for name, _, _ in missing))
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        offset = missing[0][2]
        place = Place(self.main.path, SourceText(self.main.data).line_of(offset), offset, offset + 1)
        shown = ", ".join(names[:_MOST_NAMED])
        self.problems.append(Problem("missing-include", f"not found in the workspace: {shown}{more}", place))

    def _note_end(self) -> None:
        """Say that the file ends inside registration code. Brackets in the arms of an `#if` make none sure."""
        start = self.blanked.unclosed
        directives = self.reader._files.scanned(self.main).directives
        if start is not None and not any(each.word == "endif" for each in directives if each.end > start):
            place = Place(self.main.path, SourceText(self.main.data).line_of(start), start, start + 1)
            self.problems.append(Problem("truncated", "the file ends inside what is opened here", place))

    def _read(self, assignment: passes.Assignment) -> Registrations:
        """What there is under one assignment; by way of the last reading of the file, where that is remembered."""
        kept = self.reader._files.rewritten
        views = self.preprocessed.views  # the source itself is the first, and no other source has it
        files = {view.alias: view.rewritten(assignment, {} if view is self.main else kept) for view in views}
        arguments = self.reader.arguments(self.main.path)
        if self.reader.options.headers != "real":
            files[OVERLAY] = overlay()
        memory = self.reader.memory
        given = self._given[tuple(sorted(assignment.items()))] = _Given(files, arguments)
        if memory is None:
            parsed = self._whole(files, arguments, assignment)
            given.repaired = parsed.repaired
            return parsed.found
        from op_lint.cpp.incremental import Ways

        ways = Ways(
            lambda data, repaired: self._part({**files, self.main.alias: data}, arguments, assignment, repaired),
            lambda: self._whole(files, arguments, assignment),
            lambda parsed: not self._unread(parsed.found, assignment),
        )
        parsed = memory.read(self._source(files, arguments), tuple(sorted(assignment.items())), ways)
        self.repaired |= parsed.repaired is not None
        given.repaired = parsed.repaired
        return parsed.found

    def _source(self, files: Mapping[str, bytes], arguments: Sequence[str]) -> Source:
        from op_lint.cpp.incremental import Source

        return Source(
            key=(self.reader.root, self.main.path),
            path=self.main.path,
            name=self.main.alias,
            files=files,
            arguments=arguments,
            blanked=self.blanked,
            directives=self.reader._files.scanned(self.main).directives,
            registers=self.reader.mention,
            macros=self._macros,
        )

    def _part(
        self,
        files: Mapping[str, bytes],
        arguments: Sequence[str],
        assignment: passes.Assignment,
        repaired: Repaired | None,
    ) -> Parsed | None:
        """One parse, with what was declared for the last one; None where libclang gives up."""
        from op_lint.cpp import clang, repair, unit_reader
        from op_lint.cpp.incremental import Parsed
        from op_lint.cpp.sources import SourceMap

        if repaired is not None:
            files = {**files, repair.REPAIR: repaired.header}
            arguments = [*arguments, "-include", repair.REPAIR, *repaired.arguments]
        try:
            tu = clang.parse(self.main.alias, files, arguments)
        except clang.ParseError:
            return None
        errors = _errors_of(tu)
        found = unit_reader.read_unit(tu, SourceMap(tu, self.preprocessed, errors, self._macro_bodies(assignment)))
        return Parsed(found, errors, [error for error in errors if not tu.is_semantic(error)])

    def _whole(self, files: dict[str, bytes], arguments: Sequence[str], assignment: passes.Assignment) -> Parsed:
        """Parse, again with repairs where registration code has errors."""
        from op_lint.cpp import clang, repair, unit_reader
        from op_lint.cpp.incremental import Parsed
        from op_lint.cpp.precompiled import with_precompiled
        from op_lint.cpp.sources import SourceMap

        files = dict(files)
        real = self.reader.options.headers == "real"
        if not real:
            files[self.main.alias] = self._without_bodies(files[self.main.alias])
        repairs = repair.Repairs()
        try:
            # Repairs change what the header says, so only the first parse can have it precompiled.
            first = arguments if real else with_precompiled(arguments, OVERLAY, overlay())
            tu = clang.parse(self.main.alias, files, first)
            errors = _errors_of(tu)
            for _ in range(0 if real else repair.MOST_ROUNDS):
                wrong = repair.in_zones(errors, self._zones) if errors else []
                self.repaired = self.repaired or bool(wrong)
                wrong += repair.in_typedefs(errors, self.preprocessed)
                if not wrong or not repairs.add(wrong, tu, self.preprocessed):
                    break
                files[repair.REPAIR] = repairs.header()
                tu = clang.parse(self.main.alias, files, [*arguments, "-include", repair.REPAIR, *repairs.arguments()])
                errors = _errors_of(tu)
        except clang.ParseError:
            place = Place(self.main.path, 1, 0, 0)
            self.problems.append(Problem("parse-error", "libclang could not parse the file", place))
            return Parsed(Registrations(), (), is_plain=False)
        found = unit_reader.read_unit(tu, SourceMap(tu, self.preprocessed, errors, self._macro_bodies(assignment)))
        broken = [error for error in errors if not tu.is_semantic(error)]
        missed = self._unread(found, assignment) if errors and not real else []
        parsed = Parsed(found, errors, broken, _repaired(repairs), is_plain=not missed)
        if missed and repairs.add(errors, tu, self.preprocessed):
            # A declaration elsewhere has errors, and libclang dropped what uses it.
            self.repaired = True
            files[repair.REPAIR] = repairs.header()
            again = self._part(files, [*arguments, "-include", repair.REPAIR, *repairs.arguments()], assignment, None)
            left = missed if again is None else self._unread(again.found, assignment)
            if again is not None and len(left) < len(missed):
                parsed, missed = again._replace(repaired=_repaired(repairs), is_plain=False), left
        return parsed

    def _with_lost_kernels(
        self, assignment: passes.Assignment, found: Registrations, missed: Sequence[Unresolved]
    ) -> Registrations:
        """What one reading `found`, and the calls that all of them `missed` and that it compiles, without kernels."""
        from op_lint.cpp import lost_kernels, repair

        missed = [row for row in missed if holds(row.condition, assignment)]
        given = self._given[tuple(sorted(assignment.items()))]
        files, arguments, repaired = given.files, given.arguments, given.repaired
        lost = lost_kernels.take_out(files, self.preprocessed, self.reader._files.scanned, missed, self._macro_words)
        if lost is None:
            return found
        header = repaired.header if repaired is not None else repair.Repairs().header()
        lost.files[repair.REPAIR] = header + lost.header()
        more = repaired.arguments if repaired is not None else ()
        again = self._part(lost.files, [*arguments, "-include", repair.REPAIR, *more], assignment, None)
        return found if again is None else lost_kernels.with_found(found, again.found, missed, lost, self.main)

    def _without_bodies(self, data: bytes) -> bytes:
        """The main file with blanks for what libclang need not understand: a third of its time."""
        directives = self.reader._files.scanned(self.main).directives
        cut = Cut(data, self.blanked, directives, self.reader.mention, self._macros)
        return cut.without(cut.bodies)

    def _macro_bodies(self, assignment: passes.Assignment) -> MacroBodies:
        return MacroBodies(self.preprocessed.views, self.reader._files.scanned, assignment)

    def _unread(self, found: Registrations, assignment: passes.Assignment) -> list[Unresolved]:
        """What of the text that one reading compiles it did not give."""
        return [row for row in self._audit(found) if holds(row.condition, assignment)]

    def _audit(self, found: Registrations) -> list[Unresolved]:
        """What of the text is not in `found`."""
        return audit(
            self.main.path,
            self.main.data,
            self.blanked,
            found,
            self.main.condition_at,
            self._registering_macros,
            self._block_macros,
            self._macros.keys() | overlay_macros(),
        )

    @cached_property
    def _registering_macros(self) -> re.Pattern[bytes] | None:
        """The macros that this file sees and that hide a registration."""
        return any_word(self._hiding.keys())

    @cached_property
    def _block_macros(self) -> re.Pattern[bytes] | None:
        """Those of them that hide a whole block or object, and not just a call."""
        return any_word(naming(self._hiding, {*BLOCK_MACROS, *_OBJECTS}))

    @cached_property
    def _hiding(self) -> Mapping[bytes, Macro]:
        return {name: self._macros[name] for name in self.reader.macros & self._macros.keys()}

    @cached_property
    def _macros(self) -> Mapping[bytes, Macro]:
        """The macros that the files of this parse define."""
        scanned = (self.reader._files.scanned(view) for view in self.preprocessed.views)
        return {name: macro for each in scanned for name, macro in each.macros.items()}

    @cached_property
    def _zones(self) -> list[tuple[str, int, int]]:
        """The stretches of the file that are registration code, for telling which errors matter."""
        pattern = self.reader.mention
        alias = self.main.alias
        zones = [(alias, start, end) for start, end, _ in self.blanked.zones]
        inside = [(start, end) for _, start, end in zones]
        for start, end, match in self.blanked.zones_of(pattern):
            if not match.group().startswith(b".") and not any(s <= start < e for s, e in inside):
                zones.append((alias, start, end))
        return zones
