"""The dispatch tables of operators when the workspace's sources are loaded into the torch they are held against."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from typing import Any

import msgspec

from op_lint.condition import ALWAYS
from op_lint.dispatch.convert import CUSTOM_OPS, of_custom_op, of_definition, of_fallback, of_implementation
from op_lint.dispatch.keys import DispatchKeys
from op_lint.dispatch.registration import Operator, Registration
from op_lint.dispatch.table import Shape, Table, shape_of
from op_lint.facts import Definition, Fallback, Implementation, Language, OperatorName
from op_lint.installed.model import InstalledTorch
from op_lint.kernels import schema_text
from op_lint.live import Comparison
from op_lint.program import Program, Registered, parse_name

_BY_NAME = re.compile(r"[\\/]torch[\\/](_library[\\/]\w+|library)\.py$")
"""Where the dump says that a function of `torch.library` registered which takes the operator's name."""


class Tables:
    """Computes tables of one program.

    Every registration of the workspace counts, whatever its condition: the table is that of a build that has all of
    them. Where two stand at one key, an unconditional one comes before a conditional one, and C++ before Python. What a
    loaded extension registered (`Program.extension`) comes after all of these, as that is what a call runs.
    """

    def __init__(self, program: Program, torch: InstalledTorch) -> None:
        self.program = program
        self.torch = torch

    @property
    def keys(self) -> DispatchKeys:
        """The dispatch keys of the torch."""
        return self.torch.dispatch_keys

    @cached_property
    def fallbacks(self) -> dict[str, Registration]:
        """The backend fallback at each key that has one, those of the workspace over torch's own."""
        live = _last_at_each_key(self._live(None))
        return {**self.torch.fallback_registrations(), **_last_at_each_key(self._own_fallbacks()), **live}

    def _own_fallbacks(self) -> Iterator[Registration]:
        for registered in sorted(self.program.fallbacks, key=_order):
            registration = of_fallback(registered.fact, registered.unit)
            if registration is not None:
                yield registration

    def operator(self, name: OperatorName) -> Operator | None:
        """Everything registered for an operator, by workspace, torch and extension; None where none knows it."""
        installed = self.torch.operators.get(str(name))
        theirs = installed.operator() if installed is not None else None
        own = self._own(name)
        loaded = self._loaded(name)
        for over in (own, loaded):
            theirs = over.over(theirs) if over is not None else theirs
        return theirs

    def _loaded(self, name: OperatorName) -> Operator | None:
        extension = self.program.extension
        found = extension.operators.get(str(name)) if extension is not None else None
        if found is None:
            return None
        own = self._own(name)
        written = own.active() if own is not None else {}
        live = (_explained(each, written.get(each.key)) for each in self._live(name))
        return msgspec.structs.replace(found.operator(), registrations=tuple(live))

    @cached_property
    def _comparison(self) -> Comparison | None:
        extension = self.program.extension
        return None if extension is None else Comparison(self.program, extension, self.torch)

    def _live(self, name: OperatorName | None) -> Iterable[Registration]:
        return self._comparison.registrations(name) if self._comparison is not None else ()

    def _own(self, name: OperatorName) -> Operator | None:
        definitions = self.program.definitions_of(name)
        implementations = self.program.implementations_of(name)
        if not definitions and not implementations:
            return None
        found = [(_order(each), of_definition(each.fact, each.unit)) for each in definitions]
        found += [
            (_order(each), of_implementation(each.fact, each.unit)) for each in implementations if not each.in_python
        ]
        kernels = [kernel for _, kernel in sorted(found, key=lambda row: row[0]) if kernel is not None]
        python = [of_implementation(each.fact, each.unit) for each in implementations if each.in_python]
        schema = schema_text(definitions[0].fact).value if definitions else None
        tags = tuple(_tag(tag) for each in definitions[:1] for tag in each.fact.tags)
        module = definitions[0].fact.python_module if definitions else None
        operator = Operator(str(name), schema, tuple(kernels), tuple(python), tags, module)
        implied = tuple(_implied(operator, definitions, implementations))
        return msgspec.structs.replace(operator, registrations=(*implied, *kernels)) if implied else operator

    def table(self, name: OperatorName) -> Table | None:
        """The computed table of an operator; None where neither the workspace nor torch knows it."""
        operator = self.operator(name)
        return None if operator is None else Table(self.keys, operator, self.fallbacks)

    def shape(self, name: OperatorName) -> Shape:
        """The shape of `table(name)`, without making the table: a rule that looks at all operators asks this first."""
        registered = {canonical for key in self._keys_with_kernels(name) if (canonical := self.keys.canonical(key))}
        return shape_of(self.keys, frozenset(registered))

    def _keys_with_kernels(self, name: OperatorName) -> Iterator[str]:
        yield from self.program.kernels_of(name)
        definitions = self.program.definitions_of(name)
        if any(_is_custom_op(each) for each in definitions):
            own = self._own(name)
            yield from (each.key for each in own.registrations) if own else ()
        installed = self.torch.operators.get(str(name))
        for kernel in installed.kernels if installed is not None else ():
            yield kernel.key
        for registration in self._live(name):
            yield registration.key

    def overloads(self, namespace: str, name: str) -> tuple[OperatorName, ...]:
        """All operators of one name, its overloads, that workspace, torch or extension know."""
        own = [found for found in self.program.operators if (found.namespace, found.name) == (namespace, name)]
        theirs = [found for found in self.program.installed_in(namespace) if found.name == name]
        extension = self.program.extension
        loaded = map(parse_name, extension.operators if extension is not None else ())
        own += [found for found in loaded if (found.namespace, found.name) == (namespace, name)]
        return tuple(sorted({*own, *theirs}))


@lru_cache(maxsize=1)
def tables_of(program: Program) -> Tables | None:
    """The tables of a program, for all who ask of the same one; None where no torch says which keys there are."""
    return Tables(program, program.installed) if program.installed is not None else None


def _order(registered: Registered[Definition] | Registered[Implementation] | Registered[Fallback]) -> Any:
    """What to sort registrations by, so that the last one is in effect."""
    return registered.condition != ALWAYS, registered.fact.language is Language.PYTHON, registered.place


def _explained(live: Registration, written: Registration | None) -> Registration:
    """A loaded kernel, with name and place as the sources have them where the dump names torch's own Python code."""
    if written is None or live.path is None or _BY_NAME.search(live.path) is None:
        return live
    return msgspec.structs.replace(
        live, kernel=written.kernel, path=written.path, line=written.line, refusal=written.refusal
    )


def _is_custom_op(definition: Registered[Definition]) -> bool:
    return definition.unit.macro in CUSTOM_OPS


def _implied(
    operator: Operator,
    definitions: Iterable[Registered[Definition]],
    implementations: Iterable[Registered[Implementation]],
) -> Iterator[Registration]:
    """What torch registers of its own accord for a definition in Python; what is written comes over it."""
    for definition in filter(_is_custom_op, definitions):
        given = next((each.fact.kernel.name for each in implementations if each.unit is definition.unit), "")
        yield from of_custom_op(operator, definition.fact, given.rpartition(".")[2])


def _tag(written: str) -> str:
    """The tag's name in `at::Tag::pointwise` and `torch.Tag.pointwise`."""
    return written.rpartition(".")[2].rpartition("::")[2]


def _last_at_each_key(registrations: Iterable[Registration]) -> dict[str, Registration]:
    return {registration.key: registration for registration in registrations}
