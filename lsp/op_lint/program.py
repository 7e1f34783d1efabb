"""The program: the facts of all files as one whole, and the questions that rules ask of it.

Nothing is read here. Everything is indexed once, when first asked for, and every answer is in one order: C++ before
Python (which registers when the C++ is already loaded), then by path, then by place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Generic, TypeVar

import msgspec

from op_lint.condition import ALWAYS, Condition, conjunction
from op_lint.config import Settings
from op_lint.dispatch.keys import EXPLICIT, EXPLICIT_NON_FUNCTIONAL, IMPLICIT
from op_lint.facts import (
    PY_IMPL,
    BrokenStatement,
    ClassDefinition,
    Definition,
    Fallback,
    FileFacts,
    Implementation,
    Language,
    Lifetime,
    OperatorName,
    OperatorUse,
    Place,
    PythonFacts,
    PythonFunction,
    PythonLibrary,
    RunTime,
    Unit,
    UnitKind,
    Unresolved,
)
from op_lint.installed.script_operators import script_operators
from op_lint.macros import MacroSearch
from op_lint.nearest import nearest
from op_lint.together import Layout, Site, Together

if TYPE_CHECKING:
    from op_lint.build.model import BuildGraph
    from op_lint.build.questions import Questions
    from op_lint.dispatch.keys import DispatchKeys
    from op_lint.installed.model import Extension, InstalledOperator, InstalledTorch

Fact = TypeVar("Fact", bound=Definition | Implementation | Fallback | ClassDefinition, covariant=True)


class Registered(msgspec.Struct, Generic[Fact], frozen=True, eq=False):
    """A registration and the unit that makes it. Compared by identity: two equal ones are two registrations.

    `file` is the source whose facts it is among, which is compiled with it; the registration itself may stand in a
    header of that source. `scope` is as in `Site`.
    """

    fact: Fact
    unit: Unit
    file: str
    scope: str | None = None

    @property
    def place(self) -> Place:
        """Where the registration is written (`Definition.place`)."""
        return self.fact.place

    @property
    def condition(self) -> Condition:
        """The condition under which the registration exists, its unit's included."""
        return conjunction((self.unit.condition, self.fact.condition))

    @property
    def in_python(self) -> bool:
        """Whether only the dispatcher in Python has it: `OpOverload.py_impl` tells torch's own one nothing."""
        return self.unit.macro == PY_IMPL

    @property
    def certain(self) -> bool:
        """Whether every build and every run makes this registration for good, as far as its file says."""
        return self.condition == ALWAYS and self.fact.runtime_guard is None and self.scope is None


Kernel = Registered[Definition] | Registered[Implementation]
"""What puts a kernel at a key: an implementation, or a definition that comes with a kernel."""

_Item = TypeVar("_Item", bound=Unit | Registered[Definition | Implementation | Fallback])
_Found = TypeVar("_Found", Definition, Implementation, Fallback, ClassDefinition)
_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


@dataclass(frozen=True, eq=False)
class Program:
    """The merged facts of `files`, in any order.

    `installed` is the dispatcher of the torch that the sources are held against, without the project's own
    extensions in it; None where there is no torch at all. `files` are linked (`op_lint.cpp.link`,
    `op_lint.python.resolve`): each registration is in the facts of one file. `macros` says of macros that name
    namespaces whether the build defines them, where that was asked. `extension` is what loading the project's own
    extensions did, where that was asked and came to an end; then `key_numbers` are the numbers of the dispatch keys in
    the torch versions that it may have been built against, by version.
    """

    files: Sequence[FileFacts]
    installed: InstalledTorch | None = None
    settings: Settings = field(default_factory=Settings)
    macros: Sequence[MacroSearch] = ()
    extension: Extension | None = None
    key_numbers: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    build: BuildGraph | None = None

    @cached_property
    def linking(self) -> Questions | None:
        """What `build` answers: which source is in which binary, and what the linker keeps."""
        from op_lint.build.questions import Questions

        return None if self.build is None else Questions(self.build)

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """Every registration unit."""
        return tuple(sorted(self._file_of, key=_unit_order))

    @cached_property
    def definitions(self) -> tuple[Registered[Definition], ...]:
        """Every definition of an operator."""
        return self._registered(lambda file: file.definitions)

    @cached_property
    def implementations(self) -> tuple[Registered[Implementation], ...]:
        """Every kernel that is registered apart from a definition."""
        return self._registered(lambda file: file.implementations)

    @cached_property
    def fallbacks(self) -> tuple[Registered[Fallback], ...]:
        """Every backend fallback."""
        return self._registered(lambda file: file.fallbacks)

    @cached_property
    def classes(self) -> tuple[Registered[ClassDefinition], ...]:
        """Every TorchScript class that a block defines, in source order."""
        return self._registered(lambda file: file.classes)

    @cached_property
    def operators(self) -> tuple[OperatorName, ...]:
        """The operators that the sources define or register kernels for, sorted."""
        return tuple(sorted({*self._definitions_of, *self._implementations_of}))

    @cached_property
    def uses(self) -> tuple[OperatorUse, ...]:
        """Every place in Python that names an operator, by path and place."""
        return tuple(use for path in sorted(self._python) for use in self._python[path].uses)

    def uses_of(self, operator: OperatorName) -> tuple[OperatorUse, ...]:
        """The uses of one operator, those among them that name no overload."""
        found = self._uses_of.get((operator.namespace, operator.name), ())
        return tuple(use for use in found if use.packet or use.operator.overload == operator.overload)

    @cached_property
    def _uses_of(self) -> dict[tuple[str, str], tuple[OperatorUse, ...]]:
        return _grouped(((use.operator.namespace, use.operator.name), use) for use in self.uses)

    def overloads(self, namespace: str, name: str) -> tuple[OperatorName, ...]:
        """The operators of one name, its overloads, that the sources or the installed torch define, sorted.

        Those of TorchScript are among them, which are no operators of the dispatcher.
        """
        own = self._overloads_of.get((namespace, name), ())
        qualified = f"{namespace}::{name}"
        if self.installed is None:
            return own
        installed = (*self.installed.overloads.get(qualified, ()), *script_operators().get(qualified, ()))
        return tuple(sorted({*own, *map(parse_name, installed)})) if installed else own

    def definitions_of(self, operator: OperatorName) -> tuple[Registered[Definition], ...]:
        """The definitions of one operator."""
        return self._definitions_of.get(operator, ())

    def implementations_of(self, operator: OperatorName) -> tuple[Registered[Implementation], ...]:
        """The kernels of one operator that are registered apart from its definition."""
        return self._implementations_of.get(operator, ())

    def kernels_of(self, operator: OperatorName) -> Mapping[str, tuple[Kernel, ...]]:
        """Every kernel of one operator, by the key it is registered to, under that key's own name.

        Those that only the dispatcher in Python has are not among them (`python_kernels_of`).
        """
        found = self._kernels_of.get(operator)
        if found is None:
            found = self._kernels_of[operator] = _grouped(self._keyed_kernels(operator))
        return found

    def python_kernels_of(self, operator: OperatorName) -> Mapping[str, tuple[Registered[Implementation], ...]]:
        """The kernels of one operator that only the dispatcher in Python has, by key; those of fake modes at Meta."""
        return self._python_kernels_of.get(operator, {})

    def _keyed_kernels(self, operator: OperatorName) -> Iterator[tuple[str, Kernel]]:
        for definition in self.definitions_of(operator):
            if definition.fact.kernel is not None:
                yield self.key(definition.fact.key or IMPLICIT), definition
        for implementation in self.implementations_of(operator):
            if not implementation.in_python:
                yield self.key(implementation.fact.key), implementation

    def operators_of(self, namespace: str) -> tuple[OperatorName, ...]:
        """The operators of one namespace that the sources define or register kernels for, sorted."""
        return self._operators_of.get(namespace, ())

    def units_of(self, namespace: str) -> tuple[Unit, ...]:
        """The units that register into one namespace."""
        return self._units_of.get(namespace, ())

    def fallbacks_at(self, key: str) -> tuple[Registered[Fallback], ...]:
        """The backend fallbacks of one key, given by its own name."""
        return self._fallbacks_at.get(key, ())

    @cached_property
    def keys(self) -> DispatchKeys | None:
        """The dispatch keys of the installed torch."""
        return self.installed.dispatch_keys if self.installed else None

    @property
    def torch_name(self) -> str:
        """What messages call the installed torch: `torch 2.13.0`, just `torch` without one."""
        return f"torch {self.installed.version}" if self.installed else "torch"

    @cached_property
    def torch_version(self) -> tuple[int, int] | None:
        """Major and minor version of the installed torch."""
        found = re.match(r"(\d+)\.(\d+)", self.installed.version) if self.installed else None
        return (int(found[1]), int(found[2])) if found else None

    @cached_property
    def in_torch(self) -> bool:
        """Whether the project is PyTorch itself, to which none of PyTorch's reservations apply."""
        return any(file.path.startswith("aten/src/ATen/") for file in self.files)

    def installed_operator(self, operator: OperatorName) -> InstalledOperator | None:
        """What the installed torch has of one operator."""
        return self.installed.operators.get(str(operator)) if self.installed else None

    def key(self, name: str) -> str:
        """The own name of a dispatch key (`Autocast` is `AutocastCUDA`); `name` itself where no torch knows it."""
        return (self.keys.canonical(name) if self.keys else None) or name

    def file_of(self, unit: Unit) -> str:
        """The file whose facts a unit is among: the source that is compiled, where the unit stands in a header."""
        return self._file_of[unit]

    def targets_of(self, unit: Unit) -> tuple[str, ...]:
        """The names of the targets that compile a unit, as far as the build files tell, sorted."""
        if self.linking is None:
            return ()
        return tuple(sorted({compiled.target.name for compiled in self.linking.targets_of(self.file_of(unit))}))

    def role(self, unit: Unit) -> UnitKind:
        """What a unit may register: its kind, for Python that of the `Library` object.

        `torch.library.define` and the like by name make a `FRAGMENT`, as does `custom_op`. `PYTHON` means that the
        source does not tell. A function with a library of its caller has the caller's key, which only an `IMPL` has.
        """
        if unit.kind is UnitKind.HELPER:
            return UnitKind.FRAGMENT if unit.key is None else UnitKind.IMPL
        if unit.kind is not UnitKind.PYTHON:
            return unit.kind
        library = self.python_library(unit)
        return _ROLES.get(library.kind or "", UnitKind.PYTHON) if library else UnitKind.FRAGMENT

    def python_library(self, unit: Unit) -> PythonLibrary | None:
        """The Python object that a unit is; None in C++ and where torch makes it itself (`torch.library.define`)."""
        return self._libraries.get((self._file_of[unit], unit.id))

    def python_of(self, path: str) -> PythonFacts | None:
        """What only Python files say, of one file."""
        return self._python.get(path)

    def function_around(self, place: Place) -> PythonFunction | None:
        """The innermost Python function whose body holds `place`; None at module level and in C++."""
        facts = self.python_of(place.path)
        around = [function for function in (facts.functions if facts else ()) if holds(function.place, place)]
        return min(around, key=lambda function: function.place.end - function.place.start, default=None)

    def together(self, first: _Item, second: _Item) -> Together:
        """Whether two registrations (or two units) can be in the same process."""
        return self._layout.together(self._site(first), self._site(second))

    def compiled_together(self, path: str, other: str) -> Together:
        """Whether two source files can be in the same process, whatever they register."""
        return self._layout.together(Site(path), Site(other))

    def collisions(self, items: Iterable[_Item]) -> Iterator[tuple[_Item, _Item]]:
        """Each of `items` that is certainly in a process with an earlier one, and the first such earlier one.

        Two at one place are one, which was read under several conditions with different kernels, unless a function or
        a macro is used twice.
        """
        seen: list[_Item] = []
        for item in items:
            others = (other for other in seen if not _is_one(item, other))
            earlier = next((other for other in others if self.together(item, other) is Together.YES), None)
            if earlier is not None:
                yield item, earlier
            seen.append(item)

    def defined_in(self, namespace: str) -> tuple[OperatorName, ...]:
        """The operators of one namespace that the sources define, sorted."""
        return self._defined_in.get(namespace, ())

    def installed_in(self, namespace: str) -> tuple[OperatorName, ...]:
        """The operators of one namespace that the installed torch defines, sorted."""
        return self._installed_in.get(namespace, ())

    def installs(self, namespace: str) -> bool:
        """Whether the installed torch defines operators in a namespace."""
        return self.installed is not None and namespace in self.installed.namespaces

    def may_be_defined(self, operator: OperatorName, *, by_strangers: bool = True) -> bool:
        """Whether an operator that no fact defines may be defined all the same, so that nothing follows from absence.

        So it is where a definition in its namespace, or in one that is not known, could not be resolved; where a file
        could not be read to its end; and where an operator of that name is defined in a namespace that is the name of
        a macro, or this one's is, since the build may give both the same value. `by_strangers` says whether to count
        what speaks of no namespace: files that were not read, and Python functions that define what they are given.
        """
        if by_strangers and (self._incomplete or self._has_wrappers):
            return True
        if not self._unresolved_in.isdisjoint({None, operator.namespace, *self._symbols}):
            return True
        if operator in self._defined_somehow:
            return True
        namesakes = self._namesakes.get(local_name(operator), ())
        return any({operator.namespace, namesake.namespace} & self._symbols for namesake in namesakes)

    @cached_property
    def imported_packages(self) -> frozenset[str]:
        """The packages that Python files import from, by their outermost names."""
        return frozenset(each.module.partition(".")[0] for facts in self._python.values() for each in facts.imports)

    def is_of_an_import(self, namespace: str) -> bool:
        """Whether a namespace has the name of a package that the sources import and do not hold.

        That package defines operators in it, whatever these sources add.
        """
        return namespace in self.imported_packages and namespace not in self._own_packages

    @cached_property
    def _own_packages(self) -> frozenset[str]:
        return frozenset(part for module in self._path_of_module for part in module.split("."))

    def is_whole(self, path: str) -> bool:
        """Whether nothing was left out of a Python file because it is not valid Python."""
        return path not in self._broken

    def is_broken(self, place: Place) -> bool:
        """Whether something was left out of the outermost statement that a place is in, so that this may be wrong."""
        return any(holds(each.outermost, place) for each in self._broken.get(place.path, ()))

    def may_be_implemented(self, operator: OperatorName) -> bool:
        """Whether an operator may have kernels that no fact shows, so that nothing follows from their absence.

        So it is where a kernel or a block in its namespace, or in one that is not known, could not be resolved; where
        a file could not be read to its end; and where a namespace is the name of a macro.
        """
        hidden = {None, operator.namespace}
        if self._incomplete or bool(self._symbols) or operator in self._implemented_somehow:
            return True
        return not self._unresolved_kernels_in.isdisjoint(hidden)

    def may_have_fake(self, operator: OperatorName) -> bool:
        """Whether an operator may have a fake, or a composite kernel, that no fact shows.

        So it is where a file could not be read to its end, where a kernel at a key that could be one of these is not
        resolved, and where a namespace that is the name of a macro has a kernel for an operator of that name. Functions
        that define what they are given register kernels for that, and not for operators that are defined elsewhere.
        """
        if self._incomplete or operator in self._implemented_somehow:
            return True
        if not self._unresolved_fakes_in.isdisjoint({None, operator.namespace}):
            return True
        namesakes = self._implemented_namesakes.get(local_name(operator), frozenset())
        return any({operator.namespace, namespace} & self._symbols for namespace in namesakes - {operator.namespace})

    @cached_property
    def _implemented_namesakes(self) -> dict[str, frozenset[str]]:
        """The namespaces that have kernels for an operator of a name and overload."""
        pairs = _grouped((local_name(operator), operator.namespace) for operator in self._implementations_of)
        return {name: frozenset(namespaces) for name, namespaces in pairs.items()}

    @cached_property
    def _unresolved_fakes_in(self) -> frozenset[str | None]:
        """The namespaces (None: one that is not known) with kernels, which may be fakes, of unknown operators."""
        defining = {found.place.path for found in self._unresolved_definitions if found.what == "def"}
        return frozenset(
            found.namespace
            for found in self._unresolved_kernels
            if (
                found.operator is None
                and (found.key is None or found.key in _TAKE_FAKES)
                and not (found.language is Language.PYTHON and (found.what == "unit" or found.place.path in defining))
            )
            or found.what == "statement"
        )

    def nearest_operator(self, operator: OperatorName) -> OperatorName | None:
        """The defined operator that `operator` was probably meant to be: of its namespace, or its namesake elsewhere.

        Definitions in the sources come first, then those of the installed torch.
        """
        written = local_name(operator)
        for defined in (self.defined_in(operator.namespace), self.installed_in(operator.namespace)):
            names = {local_name(name): name for name in defined}
            found = nearest(written, names)
            if found is not None and _is_slip(written, found):
                return names[found]
        return next(iter(self._namesakes.get(local_name(operator), ())), None)

    @cached_property
    def _namesakes(self) -> dict[str, tuple[OperatorName, ...]]:
        """The defined operators of all namespaces by name and overload."""
        return _grouped((local_name(operator), operator) for operator in sorted(self._definitions_of))

    @cached_property
    def _installed_in(self) -> dict[str, tuple[OperatorName, ...]]:
        installed = self.installed.operators.values() if self.installed else ()
        names = sorted(parse_name(operator.name) for operator in installed if operator.schema is not None)
        return _grouped((name.namespace, name) for name in names)

    @cached_property
    def _definitions_of(self) -> dict[OperatorName, tuple[Registered[Definition], ...]]:
        return _grouped((registered.fact.operator, registered) for registered in self.definitions)

    @cached_property
    def _implementations_of(self) -> dict[OperatorName, tuple[Registered[Implementation], ...]]:
        return _grouped((registered.fact.operator, registered) for registered in self.implementations)

    @cached_property
    def _operators_of(self) -> dict[str, tuple[OperatorName, ...]]:
        return _grouped((operator.namespace, operator) for operator in self.operators)

    @cached_property
    def _python_kernels_of(self) -> dict[OperatorName, Mapping[str, tuple[Registered[Implementation], ...]]]:
        found = _grouped((each.fact.operator, each) for each in self.implementations if each.in_python)
        return {name: _grouped((self.key(each.fact.key), each) for each in kernels) for name, kernels in found.items()}

    @cached_property
    def _kernels_of(self) -> dict[OperatorName, Mapping[str, tuple[Kernel, ...]]]:
        """The answers of `kernels_of` so far: every rule about kernels asks for those of every operator."""
        return {}

    @cached_property
    def _overloads_of(self) -> dict[tuple[str, str], tuple[OperatorName, ...]]:
        return _grouped(((operator.namespace, operator.name), operator) for operator in sorted(self._definitions_of))

    @cached_property
    def _defined_in(self) -> dict[str, tuple[OperatorName, ...]]:
        return _grouped((operator.namespace, operator) for operator in sorted(self._definitions_of))

    @cached_property
    def _units_of(self) -> dict[str, tuple[Unit, ...]]:
        return _grouped((unit.namespace, unit) for unit in self.units if unit.namespace is not None)

    @cached_property
    def _fallbacks_at(self) -> dict[str, tuple[Registered[Fallback], ...]]:
        return _grouped((self.key(found.fact.key), found) for found in self.fallbacks if found.fact.key is not None)

    @cached_property
    def _symbols(self) -> frozenset[str]:
        return frozenset(unit.namespace_macro for unit in self.units if unit.namespace_macro is not None)

    @cached_property
    def _unresolved_definitions(self) -> tuple[Unresolved, ...]:
        return tuple(found for file in self.files for found in file.unresolved if found.what in _MAY_DEFINE)

    @cached_property
    def _unresolved_in(self) -> frozenset[str | None]:
        """The namespaces (None: one that is not known) with definitions of operators whose names are not known."""
        return frozenset(
            found.namespace
            for found in self._unresolved_definitions
            if found.operator is None and not _is_wrapper(found)
        )

    @cached_property
    def _has_wrappers(self) -> bool:
        return any(_is_wrapper(found) for found in self._unresolved_definitions)

    @cached_property
    def _unresolved_kernels_in(self) -> frozenset[str | None]:
        """The namespaces (None: one that is not known) with kernels of operators whose names are not known."""
        return frozenset(found.namespace for found in self._unresolved_kernels if found.operator is None)

    @cached_property
    def _implemented_somehow(self) -> frozenset[OperatorName | None]:
        """The operators that have a kernel at a key that is not known."""
        return frozenset(found.operator for found in self._unresolved_kernels)

    @cached_property
    def _unresolved_kernels(self) -> tuple[Unresolved, ...]:
        return tuple(found for file in self.files for found in file.unresolved if found.what != "def")

    @cached_property
    def _defined_somehow(self) -> frozenset[OperatorName | None]:
        """The operators of which only the schema is not known."""
        return frozenset(found.operator for found in self._unresolved_definitions)

    @cached_property
    def _python(self) -> dict[str, PythonFacts]:
        return {file.path: file.python for file in self.files if file.python}

    @cached_property
    def _libraries(self) -> dict[tuple[str, int], PythonLibrary]:
        """The Python `Library` objects by the file and the id of their units."""
        return {
            (path, library.unit): library
            for path, facts in self._python.items()
            for library in facts.libraries
            if library.unit is not None
        }

    def _scope(self, unit: Unit, place: Place) -> str | None:
        """What a registration belongs to that may not be there, or not at the same time as another (`Site.scope`)."""
        function = self.function_around(place)
        library = self.python_library(unit)
        # A function that importing its module does not call may be one of several, of which a program calls one.
        called = function.name if function and not function.at_import else None
        # What such a library registers is gone when another one comes.
        alive = f"library {unit.id}" if library and library.lifetime is not Lifetime.KEPT else None
        return ", ".join(part for part in (called, alive) if part) or None

    def _site(self, item: Unit | Registered[Definition | Implementation | Fallback]) -> Site:
        if isinstance(item, Unit):
            unit, file, guard, scope = item, self._file_of[item], None, self._scope(item, item.place)
        else:
            unit, guard, scope = item.unit, item.fact.runtime_guard, item.scope
            # A function in another file than the block that calls it is in a binary with that block.
            is_called = unit.kind is UnitKind.HELPER and bool(item.fact.calls)
            file = item.fact.calls[0].path if is_called else item.file
        return Site(file, item.condition, guard, scope, unit.stable, unit.namespace_macro is not None)

    @cached_property
    def _incomplete(self) -> bool:
        return any(problem.code in _LOSSY for file in self.files for problem in file.problems)

    @cached_property
    def _broken(self) -> dict[str, tuple[BrokenStatement, ...]]:
        return {path: facts.broken for path, facts in self._python.items() if facts.broken}

    @cached_property
    def _layout(self) -> Layout:
        return Layout(
            _grouped((registered.file, registered.fact.operator) for registered in self.definitions),
            _grouped((registered.file, registered.fact.operator) for registered in self.implementations),
            {path: self._imported_by(facts) for path, facts in self._python.items()},
            self.linking,
        )

    @cached_property
    def _path_of_module(self) -> dict[str, str]:
        return {facts.module: path for path, facts in self._python.items()}

    def _imported_by(self, facts: PythonFacts) -> frozenset[str]:
        """The paths of the files that importing this one certainly imports, itself."""
        modules: set[str] = set()
        for each in facts.imports:
            if each.run is RunTime.IMPORT and not each.caught and each.condition == ALWAYS:
                modules |= {each.module, f"{each.module}.{each.name}"}
        return frozenset(self._path_of_module[module] for module in modules & self._path_of_module.keys())

    @cached_property
    def _file_of(self) -> dict[Unit, str]:
        return {unit: file.path for file in self.files for unit in file.units}

    def _registered(self, facts: Callable[[FileFacts], Iterable[_Found]]) -> tuple[Registered[_Found], ...]:
        found: list[Registered[_Found]] = []
        for file in self.files:
            units = {unit.id: unit for unit in file.units}
            for fact in facts(file):
                unit = units[fact.unit]
                scope = self._scope(unit, fact.place) if file.python is not None else None
                found.append(Registered(fact, unit, file.path, scope))
        return tuple(sorted(found, key=_fact_order))


_TAKE_FAKES = frozenset({"Meta", IMPLICIT, EXPLICIT, EXPLICIT_NON_FUNCTIONAL})
"""The keys whose kernels run with fake tensors."""

_LEAST_SIMILARITY = 0.8
_MAY_DEFINE = frozenset({"def", "unit", "statement"})
_ROLES = {"DEF": UnitKind.LIBRARY, "FRAGMENT": UnitKind.FRAGMENT, "IMPL": UnitKind.IMPL}
_LOSSY = frozenset({
    "crash", "internal-error", "macro-bomb", "not-text", "parse-error", "template-text", "timeout", "too-complex",
    "too-large", "truncated", "unreadable", "vanished",
})  # fmt: skip
"""Problems of a file that may hide registrations (`Problem.code`)."""


def parse_name(text: str) -> OperatorName:
    """The name in `namespace::name.overload`, as the dispatcher prints it."""
    namespace, _, local = text.rpartition("::")
    name, _, overload = local.partition(".")
    return OperatorName(namespace, name, overload)


def local_name(operator: OperatorName) -> str:
    """The name and overload, as a registration in the operator's own namespace writes them."""
    return str(operator).removeprefix(f"{operator.namespace}::")


def _is_one(
    item: Unit | Registered[Definition | Implementation | Fallback],
    other: Unit | Registered[Definition | Implementation | Fallback],
) -> bool:
    """Whether two registrations are the same piece of code, come to by the same calls."""
    if item.place != other.place:
        return False
    if isinstance(item, Unit) or isinstance(other, Unit) or item.fact.language is Language.PYTHON:
        return True
    one, two = item.fact, other.fact
    if isinstance(one, Fallback) or isinstance(two, Fallback):
        return (one.calls, one.spelled) == (two.calls, two.spelled)
    return (one.calls, one.spelled, one.name_place) == (two.calls, two.spelled, two.name_place)


def _is_wrapper(found: Unresolved) -> bool:
    if found.what == "statement":
        return False
    return found.language is Language.PYTHON and found.namespace is None and found.operator is None


def holds(outer: Place, inner: Place) -> bool:
    """Whether `inner` starts in `outer`."""
    return outer.path == inner.path and outer.start <= inner.start < outer.end


def _is_slip(written: str, meant: str) -> bool:
    """Whether one is nearly the other, so that a name of the same pattern (`sum_cpu`, `max_cpu`) is not meant."""
    from rapidfuzz.distance import OSA  # only a mistake pays for the import

    return OSA.normalized_similarity(written, meant) >= _LEAST_SIMILARITY


def _grouped(pairs: Iterable[tuple[_Key, _Value]]) -> dict[_Key, tuple[_Value, ...]]:
    groups: dict[_Key, list[_Value]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return {key: tuple(values) for key, values in groups.items()}


def _order(language: Language, place: Place) -> tuple[bool, Place]:
    return language is Language.PYTHON, place


def _unit_order(unit: Unit) -> tuple[bool, Place]:
    return _order(unit.language, unit.place)


def _fact_order(registered: Registered[Definition | Implementation | Fallback | ClassDefinition]) -> tuple[bool, Place]:
    return _order(registered.fact.language, registered.place)
