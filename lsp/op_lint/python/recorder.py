"""What has been found in a file so far, and the facts that it makes in the end."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Protocol, TypeVar

from msgspec.structs import replace

from op_lint.condition import ALWAYS, Atom, Condition, atoms, disjunction
from op_lint.facts import (
    Definition,
    Fallback,
    FileFacts,
    Implementation,
    Language,
    LibraryLoad,
    Lifetime,
    OperatorUse,
    Piece,
    Place,
    PythonCall,
    PythonFacts,
    PythonFunction,
    PythonImport,
    PythonLibrary,
    PythonLoop,
    RunTime,
    SchemaInference,
    Text,
    Unit,
    UnitKind,
    Unresolved,
)
from op_lint.python.context import Context
from op_lint.python.values import Arguments, LibraryState, Run, String, Value

Chain = tuple[Place, ...]
"""The calls through which the interpreter reached a place, outermost first, and that place."""

Event = tuple[Chain, str, str]
"""Something that happens at the end of a chain: what it is (`Unresolved.what`), and what tells it from its like."""

Fact = Unit | Definition | Implementation | Fallback | Unresolved | LibraryLoad | SchemaInference

_MOST_ATOMS = 24
"""A condition of more atoms helps nobody."""

_Conditional = Unit | Definition | Implementation | Fallback | Unresolved | LibraryLoad
_Kind = TypeVar("_Kind", bound=Fact)


@dataclass(slots=True)
class Deferred:
    """A call that other files must explain. `spelled` is where it stands in a function, if `place` is a call of that.

    `depends` says that it needs a parameter of a function of this file.
    """

    index: int
    callee: Value
    arguments: Arguments
    place: Place
    spelled: Place | None
    chain: Chain
    context: Context
    function: Place | None
    depends: bool


class Recorder:
    """Collects the facts of one file, of which `units` are known already."""

    def __init__(self, path: str, units: Sequence[Unit] = ()) -> None:
        self.path = path
        self.imports: dict[tuple[Place, str], PythonImport] = {}
        self.deferred: list[Deferred] = []
        self.libraries: list[LibraryState] = []
        self.functions: dict[Place, PythonFunction] = {}
        self.nodes: dict[Place, ast.AST] = {}
        self.calls: dict[Place, list[PythonCall]] = {}
        self.known: frozenset[Place] = frozenset()
        """The places in functions of other files of which those files tell everything."""
        self.spelled: set[Place] = set()
        """The places in functions from which calls of them register something."""
        self.open: set[Place] = set()
        """The places at which not everything is told, for want of the parameters of a function."""
        self._uses: dict[tuple[Place, str, str], OperatorUse] = {}
        self._loops: dict[Place, int | None] = {}
        self._first_unit = len(units)
        self._units = len(units)
        self._known_units = {(unit.macro, unit.place, unit.namespace): unit for unit in units}
        self._by_name: dict[tuple[str, Place, str | None], Unit] = {}
        self._settled: set[Event] = set()
        self._told: set[tuple[Chain, str]] = set()
        self._pending: dict[Event, list[Fact]] = {}
        self._facts: dict[Fact, Fact] = {}
        self._library_at: dict[Chain, LibraryState] = {}
        self._tests: set[str] = set()

    # Events: what a function does by itself is said once; what depends on its parameters, once for each call

    def is_settled(self, event: Event) -> bool:
        """Whether an event is known already without the outer calls of its chain."""
        chain, *which = event
        return any((chain[index:], *which) in self._settled for index in range(1, len(chain))) or any(
            place in self.known for place in chain[1:]
        )

    def settle(self, event: Event) -> None:
        """Nothing further is to be learned from calls that lead to an event."""
        self._settled.add(event)

    def supersede(self, event: Event) -> None:
        """Drop what could not be told without the outer calls of the event's chain: this is one of them."""
        chain, what, _ = event
        self.spelled.update(chain[1:])
        for index in range(1, len(chain)):
            self._told.add((chain[index:], what))
            for pending in [known for known in self._pending if known[:2] == (chain[index:], what)]:
                del self._pending[pending]

    def pend(self, event: Event, fact: Fact) -> None:
        """Remember what is known without the calls that give the parameters, in case there is none.

        A call that does not give them either tells nothing new.
        """
        chain, what, _ = event
        inner = {(chain[index:], what) for index in range(1, len(chain))}
        if (chain, what) in self._told or any(known[:2] in inner for known in self._pending):
            return
        pending = self._pending.setdefault(event, [])
        if fact not in pending:
            pending.append(fact)

    def add(self, fact: Fact) -> None:
        """Add a fact. One that differs from another only in its condition is the same, under either condition."""
        identity = fact if isinstance(fact, SchemaInference) else _unconditional(fact)
        known = self._facts.get(identity)
        if known is not None and not isinstance(known, SchemaInference) and not isinstance(fact, SchemaInference):
            fact = _under(known, _either(known, fact))
        self._facts[identity] = fact

    def facts_of(self, kind: type[_Kind]) -> list[_Kind]:
        """The facts of one kind, in the order in which they were found."""
        return [fact for fact in self._facts.values() if isinstance(fact, kind)]

    def library_at(self, chain: Chain) -> LibraryState | None:
        """The library that was made at the end of `chain` without its outer calls."""
        found = (self._library_at.get(chain[index:]) for index in range(1, len(chain)))
        return next((state for state in found if state is not None), None)

    def add_library(self, chain: Chain, state: LibraryState) -> None:
        """Note a library object."""
        self.libraries.append(state)
        self._library_at[chain] = state

    def deferred_at(self, chain: Chain) -> Deferred | None:
        """The deferred call at the end of `chain`, made without its outer calls and independent of them."""
        for known in self.deferred:
            if not known.depends and len(known.chain) < len(chain) and chain[-len(known.chain) :] == known.chain:
                return known
        return None

    # Facts

    def new_unit(
        self,
        macro: str,
        place: Place,
        namespace: str | None,
        condition: Condition,
        *,
        key: str | None = None,
        namespace_place: Place | None = None,
        key_place: Place | None = None,
        spelled: Place | None = None,
    ) -> Unit:
        """A registration unit with a number of its own; it is not among the facts yet."""
        self._units += 1
        return Unit(
            self._units - 1,
            UnitKind.PYTHON,
            macro,
            place,
            namespace,
            key,
            namespace_place=namespace_place,
            key_place=key_place,
            language=Language.PYTHON,
            condition=condition,
            spelled=spelled,
        )

    def unit_by_name(
        self,
        macro: str,
        place: Place,
        namespace: str | None,
        condition: Condition,
        *,
        key: str | None = None,
        spelled: Place | None = None,
    ) -> int:
        """The unit of a call that registers without a library object of its own, or of another file's library."""
        identity = (macro, place, namespace)
        known = self._known_units.get(identity)
        if known is not None:
            return known.id
        if identity not in self._by_name:
            unit = self.new_unit(macro, place, namespace, condition, key=key, spelled=spelled)
            self._by_name[identity] = unit
        return self._by_name[identity].id

    def loop(self, loops: Iterable[tuple[Place, int | None]]) -> None:
        """Something is registered in these loops."""
        self._loops.update(loops)

    def add_import(self, found: PythonImport) -> None:
        """A module is imported; said once for each place."""
        self.imports.setdefault((found.place, found.module), found)

    def use(self, use: OperatorUse) -> None:
        """An operator is named; said once for each place."""
        self._uses.setdefault((use.place, str(use.operator), use.kind), use)

    def note_test(self, text: str) -> None:
        """Something is tested; of interest is what looks for files."""
        if SEARCH.search(text):
            self._tests.add(text)

    def is_tested(self, text: str) -> bool:
        """Whether something tests what a text is made of: the result of the search for files in it."""
        sought = _result_of_search(text)
        return sought is not None and any(sought in test for test in self._tests)

    def is_counted(self, text: str) -> bool:
        """Whether something tests how many files the search in a text has found."""
        sought = _result_of_search(text)
        return sought is not None and any(sought in test and _COUNT.search(test) for test in self._tests)

    # The end

    def facts(self, module: str, linkage: bytes) -> FileFacts:
        """All facts, in source order, so that two readings compare equal. To be called after `flush`."""
        numbers = self.numbers()
        return FileFacts(
            self.path,
            Language.PYTHON,
            units=ordered(replace(unit, id=numbers[unit.id]) for unit in self._all_units()),
            definitions=ordered(replace(fact, unit=numbers[fact.unit]) for fact in self.facts_of(Definition)),
            implementations=ordered(replace(fact, unit=numbers[fact.unit]) for fact in self.facts_of(Implementation)),
            fallbacks=ordered(replace(fact, unit=numbers[fact.unit]) for fact in self.facts_of(Fallback)),
            unresolved=ordered(
                replace(fact, unit=None if fact.unit is None else numbers[fact.unit])
                for fact in self.facts_of(Unresolved)
            ),
            python=PythonFacts(
                module,
                imports=ordered(self.imports.values()),
                uses=ordered(self._uses.values()),
                loads=ordered(self.facts_of(LibraryLoad)),
                libraries=ordered(self._libraries(numbers)),
                functions=ordered(self._functions()),
                loops=ordered(PythonLoop(place, count) for place, count in self._loops.items()),
                inferences=ordered(self.facts_of(SchemaInference)),
                linkage=linkage,
            ),
        )

    def flush(self) -> None:
        """Take what no call made any clearer as it is."""
        for pending in self._pending.values():
            for fact in pending:
                self.add(fact)
                self.open.add(fact.place)
        self._pending.clear()
        self.open.update(call.place for call in self.deferred if call.depends)

    def starts(self) -> list[int]:
        """The bytes of this file at which something is registered or loaded, in order."""
        places = {fact.place for fact in self._facts.values() if not isinstance(fact, SchemaInference)}
        places |= {state.place for state in self.libraries} | self.spelled
        return sorted(place.start for place in places if place.path == self.path)

    def use_starts(self) -> list[int]:
        """The bytes at which operators are named, in order."""
        return sorted(use.place.start for use in self._uses.values())

    def numbers(self) -> dict[int, int]:
        """The number that each unit gets in the facts: in source order, not in that of the interpreter's visits."""
        known = {unit.id: unit.id for unit in self._known_units.values()}
        return known | {unit.id: self._first_unit + number for number, unit in enumerate(ordered(self._all_units()))}

    def _all_units(self) -> list[Unit]:
        """The libraries, and the calls by name from which a fact is left."""
        registered = (fact for fact in self._facts.values() if isinstance(fact, Definition | Implementation | Fallback))
        used = {fact.unit for fact in registered}
        return [*self.facts_of(Unit), *(unit for unit in self._by_name.values() if unit.id in used)]

    def _libraries(self, numbers: dict[int, int]) -> Iterable[PythonLibrary]:
        resolved = {state.place for state in self.libraries if state.unit is not None}
        for state in self.libraries:
            if state.unit is not None or state.place not in resolved:
                yield PythonLibrary(
                    state.place,
                    None if state.unit is None else numbers[state.unit],
                    state.kind,
                    lifetime_of(state, self.nodes.get(state.function) if state.function is not None else None),
                    state.name,
                    state.end,
                    state.function,
                    state.condition,
                )

    def _functions(self) -> Iterable[PythonFunction]:
        reached = self.reached()
        for place, function in self.functions.items():
            calls = ordered(dict.fromkeys(self.calls.get(place, ())))
            yield replace(
                function,
                calls=calls,
                at_import=place in reached,
                repeated=len(calls) > 1 or any(call.in_loop for call in calls),
            )

    def reached(self) -> set[Place]:
        """The functions that importing the module calls."""
        callees: dict[Place | None, set[Place]] = {}
        for place, calls in self.calls.items():
            for call in calls:
                if call.function is not None or call.run is RunTime.IMPORT:
                    callees.setdefault(call.function, set()).add(place)
        reached: set[Place] = set()
        waiting = list(callees.get(None, ()))
        while waiting:
            place = waiting.pop()
            if place not in reached:
                reached.add(place)
                waiting.extend(callees.get(place, ()))
        return reached


def lifetime_of(state: LibraryState, node: ast.AST | None) -> Lifetime:
    """What keeps a library alive; `node` is the function that makes it."""
    if state.scoped:
        return Lifetime.SCOPED
    if state.kept or any(scope.kind != "function" for scope, _ in state.names):
        return Lifetime.KEPT
    if state.names and node is not None and any(isinstance(each, ast.Yield | ast.YieldFrom) for each in ast.walk(node)):
        return Lifetime.SCOPED  # it lives as long as the generator waits
    if state.names:
        closed_over = node is not None and _closed_over(node, {name for _, name in state.names})
        return Lifetime.KEPT if closed_over else Lifetime.LOCAL
    return Lifetime.REBOUND if state.end is not None else Lifetime.DISCARDED


def _result_of_search(text: str) -> str | None:
    """The call that searches, in a text such as `glob.glob('*.so')[0]`."""
    found = SEARCH.search(text)
    if found is None:
        return None
    depth = 0
    for index in range(found.end() - 1, len(text)):
        depth += (text[index] == "(") - (text[index] == ")")
        if depth == 0:
            return text[found.start() : index + 1]
    return None


def _closed_over(node: ast.AST, names: set[str]) -> bool:
    inner = (child for child in ast.walk(node) if child is not node and isinstance(child, _MAKES_SCOPE))
    return any(isinstance(leaf, ast.Name) and leaf.id in names for child in inner for leaf in ast.walk(child))


SEARCH = re.compile(r"\b(?:find_spec|glob|iglob|rglob|listdir|iterdir|scandir|find_library)\(")
"""A call that looks for files and may find none."""

_COUNT = re.compile(r"len\(.*(?:[!=]= 1|> 1|<= 1|>= 2|< 2)\b")
"""A test that tells one from several."""

_MAKES_SCOPE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def text_at(string: String, place: Place) -> Text:
    """A string that is known, with the origin of its characters; `place` is the expression that it is."""
    pieces: list[Piece] = []
    position = 0
    for part in string.parts:
        if isinstance(part, Run):
            pieces.extend(replace(piece, start=piece.start + position) for piece in pieces_of(part))
            position += len(part.text)
    return Text(string.text or "", place, tuple(pieces))


def pieces_of(run: Run) -> Iterable[Piece]:
    """The pieces of a run, which may be a part of a literal."""
    written = run.pieces
    if run.source is not None and run.node is not None:
        written = run.source.pieces(run.node, _literal_text(run.node, run.index), run.index)
    for piece in written:
        low = max(piece.start, run.offset)
        high = min(piece.start + piece.length, run.offset + len(run.text))
        if low < high:
            yield _cut(piece, low - piece.start, high - piece.start, low - run.offset)


def _literal_text(node: ast.expr, index: int) -> str:
    if isinstance(node, ast.JoinedStr):
        constants = [part.value for part in node.values if isinstance(part, ast.Constant)]
        return str(constants[index])
    return str(node.value) if isinstance(node, ast.Constant) else ""


def _cut(piece: Piece, low: int, high: int, start: int) -> Piece:
    """Characters `low` to `high` of a piece, as the characters from `start` on."""
    steps = piece.steps or tuple(range(piece.length))
    inner = (*steps, piece.place.end - piece.place.start)
    place = replace(piece.place, start=piece.place.start + inner[low], end=piece.place.start + inner[high])
    own = tuple(step - inner[low] for step in steps[low:high])
    return Piece(start, high - low, place, () if not piece.steps or own == tuple(range(len(own))) else own)


def _either(first: _Conditional, second: _Conditional) -> Condition:
    """The condition that one of two equal facts holds; of too many ways to the same, only that there are some."""
    condition = disjunction((first.condition, second.condition))
    if sum(1 for _ in islice(atoms(condition), _MOST_ATOMS + 1)) <= _MOST_ATOMS:
        return condition
    return Atom(f"one of several conditions at {first.place.path}:{first.place.line}")


def _unconditional(fact: _Conditional) -> _Conditional:
    return _under(fact, ALWAYS)


def _under(fact: _Conditional, condition: Condition) -> _Conditional:
    """A fact under another condition."""
    if isinstance(fact, Definition | Implementation | Fallback):
        return replace(fact, condition=condition, runtime_guard=str(condition) or None)
    return replace(fact, condition=condition)


class _Placed(Protocol):
    @property
    def place(self) -> Place: ...


_Fact = TypeVar("_Fact", bound=_Placed)


def ordered(facts: Iterable[_Fact]) -> tuple[_Fact, ...]:
    """Facts in source order."""
    return tuple(sorted(facts, key=lambda fact: fact.place))
