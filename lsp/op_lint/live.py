"""The sources held against an extension that is loaded: what of it was written where, what is not there, what is more.

The dispatcher's dump names, for each registration, the file and line of its block as the compiler was given them: a
relative path may start anywhere, an absolute one may belong to another machine. So two paths are one file where one
ends with the other. A block over several lines has its first line with g++, that of its closing parenthesis with clang.
Python, legacy and stable registrations may name another place or none: they are compared by operator and key.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from op_lint.condition import ALWAYS
from op_lint.dispatch.keys import IMPLICIT, key_numbers
from op_lint.dispatch.registration import Registration, Source
from op_lint.facts import (
    Definition,
    Fallback,
    Implementation,
    KernelKind,
    Language,
    Lifetime,
    OperatorName,
    Place,
    Unit,
    UnitKind,
)
from op_lint.installed.model import Extension, InstalledKernel, place_of
from op_lint.program import Program, Registered, local_name, parse_name

if TYPE_CHECKING:
    from op_lint.build.model import Target
    from op_lint.installed.model import InstalledTorch

_DEVICE_SOURCES = {".cu": "cuda", ".cuh": "cuda", ".hip": "hip"}
"""Suffixes of sources that only a build for that device compiles, and which version of torch says so."""

_OTHER_SOURCES = (".mm", ".m")
"""Suffixes of sources that only some platforms compile."""


class Loaded(msgspec.Struct, frozen=True, eq=False):
    """A registration of the loaded extension.

    `operator` is None for a backend fallback, `key` for a definition. `path` is as the dump has it, `line` 1-based;
    None and 0 where it names no place. `files` are the files of the project that `path` may be.
    """

    operator: OperatorName | None
    key: str | None
    path: str | None
    line: int
    files: frozenset[str]
    kernel: InstalledKernel | None = None


class Written(msgspec.Struct, frozen=True, eq=False):
    """A registration in the sources, under the dispatcher's names. A definition with a kernel is two of them."""

    operator: OperatorName | None
    key: str | None
    registered: Registered[Definition] | Registered[Implementation] | Registered[Fallback]

    @property
    def unit(self) -> Unit:
        """The block, which the dump names."""
        return self.registered.unit

    @property
    def file(self) -> str:
        """The file that the dump names."""
        return self.unit.place.path

    def is_at(self, loaded: Loaded) -> bool:
        """Whether the dump names this block's file and one of its first lines."""
        body = self.unit.body
        last = body.line if body is not None and body.path == self.file else self.unit.place.line
        return self.file in loaded.files and self.unit.place.line <= loaded.line <= max(last, self.unit.place.line)


class Shift(msgspec.Struct, frozen=True, eq=False):
    """A kernel that sits under another key than the one its block names.

    `versions` are the torch versions whose number for the written key is the running torch's for the loaded one.
    """

    written: Written
    loaded: Loaded
    versions: tuple[str, ...]


class Comparison:
    """One program and the extension that is loaded. Every answer is in the order of the program."""

    def __init__(self, program: Program, extension: Extension, torch: InstalledTorch) -> None:
        self._program = program
        self._extension = extension
        self._torch = torch
        self._files = frozenset(
            {unit.place.path for unit in program.units} | {file.path for file in program.files if file.python}
        )

    @cached_property
    def written(self) -> tuple[Written, ...]:
        """All that the sources register."""
        return tuple(self._all_written())

    @cached_property
    def loaded(self) -> tuple[Loaded, ...]:
        """All that the extension registered."""
        return tuple(self._all_loaded())

    @cached_property
    def absent(self) -> tuple[Written, ...]:
        """What every build of the sources that is loaded registers, and this one did not.

        Of some it is only likely that they are compiled into what is loaded: see `is_compiled`.
        """
        shifted = {id(shift.written) for shift in self.shifts}
        return tuple(
            written
            for written in self.written
            if not self._is_there(written) and id(written) not in shifted and self._is_expected(written)
        )

    def is_compiled(self, written: Written) -> bool:
        """Whether what is loaded is certainly made of a registration's file.

        Something of the file is loaded, a module is imported, or the build files say so. Without any of these the
        library of the same namespace is likely to be the one, but the file may be another library's, or nobody's.
        """
        of_python = written.registered.fact.language is Language.PYTHON
        return of_python or self._is_in_part(written) or self._is_linked(written.registered.file) is True

    @cached_property
    def shifts(self) -> tuple[Shift, ...]:
        """Kernels that the build of another torch put under another key.

        Only a version counts with which every kernel of the files that are loaded is where its block says.
        """
        kernels = [written for written in self.written if self._has_number(written)]
        if all(map(self._is_there, kernels)):
            return ()
        here = {number: key for key, number in key_numbers(self._torch.keys).items()}
        found: dict[tuple[int, int], Shift] = {}
        for version, numbers in self._program.key_numbers.items():
            expected = {id(each): here.get(numbers.get(each.key or "", -1)) for each in kernels}
            rows = [(each, self._at_block(each, expected[id(each)])) for each in kernels if expected[id(each)]]
            if not all(loaded for _, loaded in rows):
                continue
            for written, loaded in rows:
                if loaded is not None and loaded.key != written.key:
                    shift = found.setdefault((id(written), id(loaded)), Shift(written, loaded, ()))
                    versions = (*shift.versions, version)
                    found[id(written), id(loaded)] = msgspec.structs.replace(shift, versions=versions)
        return tuple(found.values())

    @cached_property
    def extra(self) -> tuple[Loaded, ...]:
        """What the extension has from files of the project in which it is no longer written."""
        explained = {id(shift.loaded) for shift in self.shifts}
        return tuple(
            loaded
            for loaded in self.loaded
            if loaded.files
            and id(loaded) not in explained
            and self.origin(loaded) is None
            and not self._is_of_helper(loaded)
            and not self._may_be_unread(loaded)
        )

    @cached_property
    def twice(self) -> tuple[tuple[Loaded, Loaded], ...]:
        """Kernels of one operator and key that two copies of one block registered: the one in effect last."""
        found: list[tuple[Loaded, Loaded]] = []
        seen: dict[tuple[str, str, str, int], Loaded] = {}
        for loaded in self.loaded:
            if loaded.kernel is None or loaded.path is None or loaded.operator is None or not loaded.files:
                continue
            of_python = any(self._program.python_of(path) for path in loaded.files)
            identity = (str(loaded.operator), str(loaded.key), min(loaded.files), loaded.line)
            earlier = seen.get(identity)
            if earlier is not None and not of_python and not self._registers_twice(loaded):
                found.append((earlier, loaded))
            seen[identity] = loaded
        return tuple(found)

    def origin(self, loaded: Loaded) -> Written | None:
        """The registration in the sources that a loaded one was compiled from."""
        return next((written for written in self._written_in(loaded.files) if self._means(written, loaded)), None)

    def registrations(self, operator: OperatorName | None) -> Iterator[Registration]:
        """The kernels that the extension registered for an operator (None: the fallbacks), in order.

        The kernel's name and its place are those in the sources, where it was compiled from what is written there.
        """
        for loaded in self.loaded:
            if loaded.kernel is None or loaded.operator != operator:
                continue
            live = msgspec.structs.replace(loaded.kernel.registration(), source=Source.LIVE)
            written = self.origin(loaded)
            fact = written.registered.fact if written is not None else None
            if fact is not None and fact.kernel is not None:
                name, place = fact.kernel.name, fact.place
                live = msgspec.structs.replace(live, kernel=name, path=place.path, line=place.line)
            yield live

    # -- the two sides

    def _all_written(self) -> Iterator[Written]:
        program = self._program
        for definition in program.definitions:
            fact = definition.fact
            yield Written(fact.operator, None, definition)
            if fact.kernel is not None:
                yield Written(fact.operator, program.key(fact.key or IMPLICIT), definition)
        for implementation in program.implementations:
            yield Written(implementation.fact.operator, program.key(implementation.fact.key), implementation)
        for fallback in program.fallbacks:
            if fallback.fact.key is not None:
                yield Written(None, program.key(fallback.fact.key), fallback)

    def _all_loaded(self) -> Iterator[Loaded]:
        extension = self._extension
        defined = frozenset(extension.defined)
        for name, operator in extension.operators.items():
            if name in defined:
                yield self._row(parse_name(name), None, operator.origin or "")
            for kernel in extension.added.get(name, ()):
                yield self._row(parse_name(name), kernel.key, kernel.origin, kernel)
        for kernel in extension.fallbacks:
            yield self._row(None, kernel.key, kernel.origin, kernel)

    def _row(
        self, operator: OperatorName | None, key: str | None, origin: str, kernel: InstalledKernel | None = None
    ) -> Loaded:
        path, line = place_of(origin) or (None, 0)
        files = frozenset() if path is None else self._project_files(path)
        return Loaded(operator, key, path, line, files, kernel)

    def _project_files(self, dumped: str) -> frozenset[str]:
        parts = _parts(dumped)
        return frozenset(path for path in self._by_name.get(parts[-1], ()) if _is_one_file(_parts(path), parts))

    @cached_property
    def _by_name(self) -> Mapping[str, list[str]]:
        names: dict[str, list[str]] = {}
        for path in sorted(self._files):
            names.setdefault(_parts(path)[-1], []).append(path)
        return names

    @cached_property
    def _written_by_file(self) -> Mapping[str, list[Written]]:
        files: dict[str, list[Written]] = {}
        for written in self.written:
            files.setdefault(written.file, []).append(written)
        return files

    def _written_in(self, files: Iterable[str]) -> Iterator[Written]:
        for path in sorted(files):
            yield from self._written_by_file.get(path, ())

    @cached_property
    def _loaded_by_name(self) -> Mapping[str, list[Loaded]]:
        names: dict[str, list[Loaded]] = {}
        for loaded in self.loaded:
            names.setdefault("" if loaded.operator is None else local_name(loaded.operator), []).append(loaded)
        return names

    def _namesakes(self, written: Written) -> list[Loaded]:
        return self._loaded_by_name.get("" if written.operator is None else local_name(written.operator), [])

    def _same_operator(self, written: Written, loaded: Loaded) -> bool:
        """Whether the operator is one; which namespace a macro of the build stands for is not known."""
        if written.operator is None or loaded.operator is None:
            return written.operator is loaded.operator
        if written.unit.namespace_macro is not None:
            return local_name(written.operator) == local_name(loaded.operator)
        return written.operator == loaded.operator

    def _means(self, written: Written, loaded: Loaded) -> bool:
        return written.key == loaded.key and self._same_operator(written, loaded)

    # -- what is there

    def _is_there(self, written: Written) -> bool:
        """Whether the extension has it: from its file, or from a place that no other registration explains."""
        alike = [loaded for loaded in self._namesakes(written) if self._means(written, loaded)]
        if any(written.file in loaded.files for loaded in alike):
            return True
        if any(self.origin(loaded) is None for loaded in alike):
            return True
        return self._is_torchs(written)

    def _is_torchs(self, written: Written) -> bool:
        """Whether torch itself has it already, so that what the extension does to it does not show."""
        if written.operator is None:
            return any(kernel.key == written.key for kernel in self._torch.fallbacks)
        installed = self._torch.operators.get(str(written.operator))
        return installed is not None and written.key is None and installed.schema is not None

    # -- what must be there

    def _is_expected(self, written: Written) -> bool:
        if not written.registered.certain or written.unit.kind is UnitKind.HELPER:
            return False
        if written.operator is None and (written.key or "") in self._alias_keys:
            return False  # stands for many keys, some of which torch has fallbacks for
        if written.registered.fact.language is Language.PYTHON:
            return self._has_run(written)
        return self._may_be_compiled(written)

    @cached_property
    def _alias_keys(self) -> frozenset[str]:
        return frozenset(self._torch.keys.aliases)

    def _has_run(self, written: Written) -> bool:
        """Whether importing what was imported certainly made a Python registration that the dump shows as written."""
        path = written.registered.place.path
        facts = self._program.python_of(path)
        if facts is None or not (facts.module in self._imported or path in self._files_in):
            return False
        if self._program.function_around(written.registered.place) is not None:
            return False
        if any(loop.place.start <= written.registered.place.start < loop.place.end for loop in facts.loops):
            return False
        if written.key is None:
            return True
        library = self._program.python_library(written.unit)
        fact = written.registered.fact
        is_plain = fact.kernel is not None and fact.kernel.kind in (KernelKind.KERNEL, KernelKind.BOXED)
        return is_plain and library is not None and library.lifetime is Lifetime.KEPT

    @cached_property
    def _imported(self) -> frozenset[str]:
        return frozenset(load.what for load in self._extension.loads)

    @cached_property
    def _files_in(self) -> frozenset[str]:
        """The files of the project of which something is loaded."""
        return frozenset(path for loaded in self.loaded for path in loaded.files)

    @cached_property
    def _namespaces_in(self) -> frozenset[str]:
        return frozenset(loaded.operator.namespace for loaded in self.loaded if loaded.operator is not None)

    def _is_in_part(self, written: Written) -> bool:
        return written.file in self._files_in or written.registered.file in self._files_in

    def _may_be_compiled(self, written: Written) -> bool:
        """Whether a C++ registration belongs to what was loaded.

        A file of which something is loaded does. Of others the build files decide where they tell which target is
        loaded. Else one does where its kind is compiled for this torch, where it registers for a namespace of the
        extension (or for any, where the extension registered nothing at all), and where none that is loaded registers
        the same: then the two may be alternatives.
        """
        if self._is_in_part(written):
            return True
        if (is_linked := self._is_linked(written.registered.file)) is not None:
            return is_linked
        if not self._is_for_this_torch(written.registered.file) or self._has_loaded_twin(written):
            return False
        if written.unit.namespace_macro is not None or not self.loaded:
            return True
        return written.operator is not None and written.operator.namespace in self._namespaces_in

    def _has_loaded_twin(self, written: Written) -> bool:
        return any(self._means(written, loaded) for loaded in self._namesakes(written))

    def _is_linked(self, path: str) -> bool | None:
        """Whether what is loaded is linked from a source, always; None where the build files do not tell."""
        linking, targets = self._program.linking, self._loaded_targets
        if linking is None or not targets or any(target.incomplete for target in targets):
            return None
        found = [linking.unit_survives_link(path, target) for target in targets]
        return any(survival is not None and survival.member.condition == ALWAYS for survival in found)

    @cached_property
    def _loaded_targets(self) -> tuple[Target, ...]:
        """The targets that have the names of what is loaded, and the libraries that come with them."""
        linking = self._program.linking
        if linking is None:
            return ()
        names = {_library_name(load.what) for load in self._extension.loads}
        named = [
            target
            for target in linking.graph.targets
            if target.is_loaded and (target.name.rpartition(".")[2] in names or target.module in self._imported)
        ]
        return (*named, *(library for target in named for library, _ in linking.loaded_with(target)))

    def _is_for_this_torch(self, path: str) -> bool:
        suffix = "." + path.rpartition(".")[2]
        device = _DEVICE_SOURCES.get(suffix)
        if device is not None:
            return getattr(self._torch, device) is not None
        return suffix not in _OTHER_SOURCES

    # -- what is elsewhere

    def _has_number(self, written: Written) -> bool:
        """Whether a registration is a kernel whose key is compiled into a file that is loaded."""
        is_cpp = written.registered.fact.language is Language.CPP
        is_certain = written.registered.certain and written.unit.kind is not UnitKind.HELPER
        is_loaded = written.operator is not None and written.file in self._files_in
        return is_cpp and is_certain and is_loaded and written.key in self._runtime_keys

    @cached_property
    def _runtime_keys(self) -> frozenset[str]:
        return frozenset(key_numbers(self._torch.keys))

    def _at_block(self, written: Written, key: str | None) -> Loaded | None:
        """What the extension has for the same operator from the same block under a key."""
        for loaded in self._namesakes(written):
            if loaded.key == key and self._same_operator(written, loaded) and written.is_at(loaded):
                return loaded
        return None

    # -- what is more

    def _may_be_unread(self, loaded: Loaded) -> bool:
        """Whether the sources may have a registration all the same, in a form that could not be read."""
        program, operator = self._program, loaded.operator
        for path in loaded.files:
            for file in program.files:
                if file.path == path and file.unresolved:
                    return True
        if operator is None:
            return False
        return program.may_be_implemented(operator) if loaded.key is not None else program.may_be_defined(operator)

    def _is_of_helper(self, loaded: Loaded) -> bool:
        """Whether a function that is given the library may have registered it, wherever that stands.

        The dump names the block that calls the function, and not the function's file.
        """
        if loaded.operator is None:
            return False
        name = local_name(loaded.operator)
        return any(
            written.key == loaded.key and written.operator is not None and local_name(written.operator) == name
            for written in self.written
            if written.unit.kind is UnitKind.HELPER
        )

    def _registers_twice(self, loaded: Loaded) -> bool:
        """Whether the sources themselves have two registrations at one place, as with a macro used in one line."""
        return sum(self._means(each, loaded) and each.is_at(loaded) for each in self._written_in(loaded.files)) > 1


def _library_name(path: str) -> str:
    """The name of a target in that of its file: `libdemo.so`, `demo.cpython-311-x86_64-linux-gnu.so` and `demo.pyd`."""
    return path.replace("\\", "/").rpartition("/")[2].partition(".")[0].removeprefix("lib")


def _parts(path: str) -> tuple[str, ...]:
    """The parts of a path from the last step upwards on: `../../csrc/./ops.cpp` is `csrc/ops.cpp`."""
    parts: list[str] = []
    for part in path.replace("\\", "/").split("/"):
        if part == "..":
            parts = parts[:-1] if parts and parts[-1] != "" else []
        elif part != ".":
            parts.append(part)
    return tuple(parts)


def _is_one_file(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    """Whether one path ends with the other."""
    count = min(len(first), len(second))
    return first[-count:] == second[-count:]


def place_in(written: Written) -> Place:
    """Where a reader looks for a registration: its operator's name, or the call of one that has none."""
    fact = written.registered.fact
    return fact.place if isinstance(fact, Fallback) else fact.name_place
