"""The second phase: what files tell about each other's calls (wrappers, libraries and constants of other modules)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from op_lint.facts import FileFacts, Language, Place, PythonFacts, PythonFunction
from op_lint.python import pure
from op_lint.python.context import Context
from op_lint.python.expressions import RaisedError, TooComplexError
from op_lint.python.interpreter import Interpreter
from op_lint.python.linkage import (
    Linkage,
    LinkArguments,
    LinkCall,
    LinkChoice,
    LinkClass,
    LinkCode,
    LinkConstant,
    LinkCustomOp,
    LinkDerived,
    Linked,
    LinkFunction,
    LinkImported,
    LinkInstance,
    LinkLibrary,
    LinkMapping,
    LinkMethod,
    LinkOperator,
    LinkPartial,
    LinkResult,
    LinkSequence,
    LinkString,
    LinkText,
    LinkUnknown,
    decode_linkage,
)
from op_lint.python.modules import ModuleIndex
from op_lint.python.options import KNOWN_WRAPPERS, PythonOptions, Wrapper
from op_lint.python.recorder import Recorder, ordered
from op_lint.python.source import SourceFile
from op_lint.python.values import (
    Argument,
    Arguments,
    Choice,
    Class,
    Constant,
    CustomOp,
    Function,
    Imported,
    Instance,
    Library,
    LibraryState,
    Mapping,
    Method,
    Operator,
    Partial,
    Result,
    Run,
    Scope,
    String,
    Unknown,
    Value,
    imported,
)
from op_lint.python.values import Sequence as SequenceValue
from op_lint.python.wrappers import WRAPPERS_PATH, wrapper_code

_LONGEST_PATH = 12
"""How many imports of imports are followed."""


def resolve(files: Sequence[FileFacts], options: PythonOptions | None = None) -> tuple[FileFacts, ...]:
    """The facts of a project's files, with the calls explained that need several of them. Pure; never raises.

    `files` are those of all languages; only Python's change. A registration that a call makes through a function of
    another file is a fact of the calling file: `place` is the call, `spelled` the line in that function.
    """
    return _Project(files, options or PythonOptions()).resolved()


class _Page:
    """A Python file, as far as others need it."""

    def __init__(self, facts: FileFacts, python: PythonFacts) -> None:
        self.facts = facts
        self.python = python
        self.linkage: Linkage = decode_linkage(python.linkage)
        self.libraries: dict[int, LibraryState] = {}
        self.made: dict[int, Value] = {}
        self.results: list[Value] | None = None
        self.recorder = Recorder(facts.path, facts.units)
        self.source = SourceFile(facts.path, b"", "", "utf-8")

    def told(self) -> Iterable[Place]:
        """The places at which everything is told without calls from other files."""
        facts = self.facts
        places = {fact.place for fact in facts.definitions} | {fact.place for fact in facts.implementations}
        places |= {fact.place for fact in facts.fallbacks}
        places |= {call.place for call in self.linkage.calls if call is not None}
        return places.difference(self.linkage.open)


class _Project:
    """All files. It is what the interpreter asks about other files (`op_lint.python.interpreter.Linker`)."""

    def __init__(self, files: Sequence[FileFacts], options: PythonOptions) -> None:
        self.files = files
        self.pages = {
            facts.path: _Page(facts, facts.python)
            for facts in files
            if facts.language is Language.PYTHON and facts.python is not None
        }
        self.modules = ModuleIndex(self.pages)
        self.wrappers = options.wrappers
        self._following: list[tuple[str, str]] = []
        self._items: dict[Place, Value] = {}
        known = frozenset(place for page in self.pages.values() for place in page.told())
        for page in self.pages.values():
            page.recorder.known = known

    def resolved(self) -> tuple[FileFacts, ...]:
        """The facts of all files."""
        for page in self.pages.values():
            if page.linkage.calls:
                self._run(page)
        new = {path: page.recorder for path, page in self.pages.items() if page.linkage.calls}
        for recorder in new.values():
            recorder.flush()
        spelled = {place for recorder in new.values() for place in recorder.spelled}
        return tuple(self._merged(facts, new.get(facts.path), spelled) for facts in self.files)

    def _merged(self, facts: FileFacts, recorder: Recorder | None, spelled: set[Place]) -> FileFacts:
        page = self.pages.get(facts.path)
        if page is None:
            return facts
        if recorder is not None:
            answered = {call.place for call in page.linkage.calls if call is not None}
            facts = replace(facts, unresolved=tuple(fact for fact in facts.unresolved if fact.place not in answered))
            facts = _joined(facts, recorder.facts(page.python.module, page.python.linkage))
        return _without(facts, spelled.intersection(page.linkage.open))

    # What the interpreter asks

    def lookup(self, value: Value, importer: str) -> Value:
        """What an imported value or a deferred result is; the value itself where that is not known."""
        if isinstance(value, Result):
            return self._result(value)
        return self._imported(value, importer) if isinstance(value, Imported) else value

    def _result(self, value: Result) -> Value:
        page = self.pages.get(value.path)
        if page is None:
            return Unknown(words="the result of a call")
        results = self._run(page)
        found = results[value.index] if value.index < len(results) else Unknown(words="the result of a call")
        return self._attributes(page, found, value.attributes)

    def _imported(self, value: Imported, importer: str) -> Value:
        asked = (value.dotted, importer)
        if asked in self._following or len(self._following) > _LONGEST_PATH:
            return value
        self._following.append(asked)
        try:
            found = self._exported(value, importer)
        finally:
            self._following.pop()
        described = self._wrapper(value, KNOWN_WRAPPERS if found is value else ()) or self._wrapper(
            value, self.wrappers
        )
        return described or found

    def _exported(self, value: Imported, importer: str) -> Value:
        parts = value.dotted.split(".")
        for count in range(len(parts), 0, -1):
            path = self.modules.find(".".join(parts[:count]), importer, relative=value.relative)
            if path is None:
                continue
            if count == len(parts):
                return value
            page = self.pages[path]
            found = self._export(page, parts[count])
            return value if found is None else self._attributes(page, found, tuple(parts[count + 1 :]))
        return value

    def _export(self, page: _Page, name: str) -> Value | None:
        """What a module has under a name."""
        linked = page.linkage.exports.get(name)
        if linked is not None:
            return self.lookup(self._thawed(page, linked), page.facts.path)
        for known in page.python.imports:
            if known.bound == name and known.name not in (None, "*"):
                parts = tuple(known.module.split(".")) if not known.relative else (known.module,)
                value = imported(parts[0], (*parts[1:], known.name or ""), relative=known.relative)
                return self._changed(value, page)
        for known in page.python.imports:
            if known.name == "*":
                found = self._changed(imported(known.module, (name,), relative=known.relative), page)
                if found is not None:
                    return found
        return None

    def _changed(self, value: Value, page: _Page) -> Value | None:
        """What an import of another module gives, None where it gives nothing new."""
        if not isinstance(value, Imported):
            return value
        found = self._imported(value, page.facts.path)
        known = found is not value or value.module.partition(".")[0] == "torch"
        return found if known else None

    def _attributes(self, page: _Page, value: Value, names: tuple[str, ...]) -> Value:
        if not names:
            return value
        interpreter = self._interpreter(page)
        for name in names:
            value = interpreter.attribute(value, name, ast.Constant(None))
        return value

    def _wrapper(self, value: Imported, wrappers: Iterable[Wrapper]) -> Value | None:
        """A function that the configuration describes."""
        names = (value.dotted, value.dotted.rpartition(".")[2])
        wrapper = next((wrapper for wrapper in wrappers if wrapper.name in names), None)
        if wrapper is None:
            return None
        scope = Scope("module")
        scope.names["torch"] = Imported("torch")
        return self._compiled(wrapper_code(wrapper), WRAPPERS_PATH, scope)

    # Calls

    def _run(self, page: _Page) -> list[Value]:
        """The results of the calls that a file could not explain itself. (Those of a cycle are known in part.)"""
        if page.results is not None:
            return page.results
        page.results = []
        for call in page.linkage.calls:
            page.results.append(Unknown(words="nothing") if call is None else self._call(page, call))
        return page.results

    def _call(self, page: _Page, call: LinkCall) -> Value:
        """Make a call, once for each round of the loops over other files' values that it is in."""
        loops = sorted(dict.fromkeys(_loops(call)), key=lambda loop: loop[0])
        return self._rounds(page, call, loops, [0])

    def _rounds(self, page: _Page, call: LinkCall, loops: list[tuple[Place, Linked]], made: list[int]) -> Value:
        if not loops:
            made[0] += 1
            return self._one_call(page, call)
        (loop, owner), *inner = loops
        result: Value = Unknown(words="nothing")
        items = pure.items_of(self._thawed(page, owner))
        for item in items if items is not None else (Unknown(words="an item of another file's value"),):
            if made[0] < pure.MOST_ITEMS:
                self._items[loop] = item
                result = self._rounds(page, call, inner, made)
        return result

    def _one_call(self, page: _Page, call: LinkCall) -> Value:
        interpreter = self._interpreter(page)
        interpreter.enclosing = call.function
        interpreter.chain = (call.place,) if call.spelled is not None else ()
        context = Context(call.condition, call.caught, call.swallowed, run=call.run)
        try:
            with interpreter.within(context):
                callee, arguments = self._thawed(page, call.callee), self._arguments(page, call.arguments)
                result = interpreter.call(callee, arguments, call.spelled or call.place)
                interpreter.escape(result)
                return result
        except (RecursionError, TooComplexError):
            return Unknown(words="the result of a call that is too complex")
        except RaisedError as raised:
            return Unknown(words=f"the result of a call that raises {raised.name}")

    def _interpreter(self, page: _Page) -> Interpreter:
        return Interpreter(page.source, Scope("module"), page.recorder, None, self)

    # Values

    def _thawed(self, page: _Page, linked: Linked) -> Value:
        return _THAW[type(linked)](self, page, linked)

    def _arguments(self, page: _Page, linked: LinkArguments) -> Arguments:
        return Arguments(
            tuple(Argument(self._thawed(page, given.value), written=given.place) for given in linked.positional),
            tuple(
                (name, Argument(self._thawed(page, given.value), written=given.place))
                for name, given in linked.keywords
            ),
            linked.open,
        )

    def _constant(self, _page: _Page, linked: LinkConstant) -> Value:
        return Constant(linked.value)

    def _text(self, _page: _Page, linked: LinkText) -> Value:
        return String((Run(linked.text, pieces=linked.pieces),))

    def _string(self, page: _Page, linked: LinkString) -> Value:
        parts: list[Run | Value] = []
        for part in linked.parts:
            value = self.lookup(self._thawed(page, part), page.facts.path)
            parts.extend(value.parts if isinstance(value, String) else (value,))
        return String(tuple(parts))

    def _sequence(self, page: _Page, linked: LinkSequence) -> Value:
        return SequenceValue(tuple(self._thawed(page, item) for item in linked.items), linked.kind)

    def _mapping(self, page: _Page, linked: LinkMapping) -> Value:
        return Mapping(tuple((self._thawed(page, key), self._thawed(page, item)) for key, item in linked.items))

    def _import(self, page: _Page, linked: LinkImported) -> Value:
        value = imported(linked.module, linked.attributes, relative=linked.relative)
        return self.lookup(value, page.facts.path)

    def _operator(self, _page: _Page, linked: LinkOperator) -> Value:
        return Operator(linked.parts)

    def _library(self, page: _Page, linked: LinkLibrary) -> Value:
        return Library(self._state(page, linked.index))

    def _state(self, page: _Page, index: int) -> LibraryState:
        if index not in page.libraries:
            known = page.linkage.libraries[index]
            page.libraries[index] = LibraryState(
                known.place, known.macro, known.namespace, known.kind, known.key, condition=known.condition
            )
        return page.libraries[index]

    def _custom_op(self, page: _Page, linked: LinkCustomOp) -> Value:
        name = self._thawed(page, linked.name)
        return CustomOp(name if isinstance(name, String) else String((name,)), linked.macro, linked.place)

    def _function(self, page: _Page, linked: LinkFunction) -> Value:
        described = linked.described
        made = self._code(page, linked.code) if linked.code is not None else None
        if not isinstance(made, Function):
            made = Function(described.name, None, page.source, Scope("module"), described.place)
        made.name, made.described, made.decorated = described.name, described, linked.decorated
        return made if linked.receiver is None else made.bound(self._thawed(page, linked.receiver))

    def _class(self, page: _Page, linked: LinkClass) -> Value:
        return self._code(page, linked.code)

    def _instance(self, page: _Page, linked: LinkInstance) -> Value:
        cls = self._code(page, linked.code)
        if not isinstance(cls, Class):
            return Unknown(words="an object")
        library = None if linked.library is None else Library(self._state(page, linked.library))
        return Instance(cls, {name: self._thawed(page, item) for name, item in linked.attributes}, library)

    def _code(self, page: _Page, index: int) -> Value:
        """A function or class whose source is at hand; the same one each time."""
        if index not in page.made:
            code = page.linkage.code[index]
            being_made = page.made[index] = Unknown(words=code.name)
            scope = Scope("module")
            scope.names.update((name, self._thawed(page, item)) for name, item in code.names)
            page.made[index] = self._compiled(code, page.facts.path, scope)
            for name, value in scope.names.items():
                if value is being_made:
                    scope.names[name] = page.made[index]
        return page.made[index]

    def _compiled(self, code: LinkCode, path: str, scope: Scope) -> Value:
        """The function or class that a source defines; `scope` has the names that it uses."""
        text = f"if True:\n{code.source}" if code.wrapped else code.source
        source = SourceFile(
            path,
            code.source.encode(code.encoding),
            code.source,
            code.encoding,
            first_line=code.line,
            first_offset=code.offset,
            parsed_lines=int(code.wrapped),
        )
        source.postponed = code.postponed
        try:
            statement = ast.parse(text).body[0]
        except SyntaxError:
            return Unknown(words=code.name)
        if isinstance(statement, ast.If):
            statement = statement.body[0]
        interpreter = Interpreter(source, Scope("module", scope), Recorder(path), None, self)
        if isinstance(statement, ast.Expr):
            return interpreter.eval(statement.value)
        interpreter.statement(statement)
        name = getattr(statement, "name", "")
        return interpreter.scope.lookup(name) or Unknown(words=code.name)

    def _method(self, page: _Page, linked: LinkMethod) -> Value:
        return Method(self._thawed(page, linked.owner), linked.name)

    def _partial(self, page: _Page, linked: LinkPartial) -> Value:
        return Partial(self._thawed(page, linked.callee), self._arguments(page, linked.arguments))

    def _later(self, page: _Page, linked: LinkResult) -> Value:
        found = self.lookup(Result(linked.index, linked.attributes, page.facts.path), page.facts.path)
        known = linked.instead is None or not isinstance(found, Unknown)
        return found if known or linked.instead is None else self._thawed(page, linked.instead)

    def _choice(self, page: _Page, linked: LinkChoice) -> Value:
        return Choice(tuple((condition, self._thawed(page, option)) for condition, option in linked.options))

    def _derived(self, page: _Page, linked: LinkDerived) -> Value:
        found: Value | None = None
        if linked.how == "each":
            found = self._items.get(linked.loop) if linked.loop else None
        elif linked.how == "item":
            found = None if linked.key is None else pure.item_of(self._thawed(page, linked.owner), linked.key)
        else:
            owner = self._thawed(page, linked.owner)
            found = pure.mapping_method(owner, linked.how, ()) if isinstance(owner, Mapping) else None
        return found or Unknown(words="an item of another file's value")

    def _unknown(self, _page: _Page, linked: LinkUnknown) -> Value:
        return Unknown(words=linked.words)


_THAW: dict[type, Callable[..., Value]] = {
    LinkChoice: _Project._choice,
    LinkClass: _Project._class,
    LinkConstant: _Project._constant,
    LinkCustomOp: _Project._custom_op,
    LinkDerived: _Project._derived,
    LinkFunction: _Project._function,
    LinkImported: _Project._import,
    LinkInstance: _Project._instance,
    LinkLibrary: _Project._library,
    LinkMapping: _Project._mapping,
    LinkMethod: _Project._method,
    LinkOperator: _Project._operator,
    LinkPartial: _Project._partial,
    LinkResult: _Project._later,
    LinkSequence: _Project._sequence,
    LinkString: _Project._string,
    LinkText: _Project._text,
    LinkUnknown: _Project._unknown,
}


def _loops(linked: object) -> Iterator[tuple[Place, Linked]]:
    """The loops over values of other files in which a call is, and those values."""
    if isinstance(linked, tuple):
        for item in linked:
            yield from _loops(item)
    elif isinstance(linked, msgspec.Struct) and not isinstance(linked, Place | PythonFunction | LinkText):
        for name in linked.__struct_fields__:
            yield from _loops(getattr(linked, name))
        if isinstance(linked, LinkDerived) and linked.how == "each" and linked.loop is not None:
            yield linked.loop, linked.owner


def _without(facts: FileFacts, places: set[Place]) -> FileFacts:
    """The facts without those at `places`, which calls in other files tell better."""
    if not places:
        return facts
    return replace(
        facts,
        definitions=tuple(fact for fact in facts.definitions if fact.place not in places),
        implementations=tuple(fact for fact in facts.implementations if fact.place not in places),
        fallbacks=tuple(fact for fact in facts.fallbacks if fact.place not in places),
        unresolved=tuple(fact for fact in facts.unresolved if fact.place not in places),
    )


def _joined(facts: FileFacts, new: FileFacts) -> FileFacts:
    """The facts of both readings of a file."""
    python, more = facts.python, new.python
    assert python is not None
    assert more is not None
    known = {function.place for function in python.functions}
    return replace(
        facts,
        units=ordered((*facts.units, *new.units)),
        definitions=ordered((*facts.definitions, *new.definitions)),
        implementations=ordered((*facts.implementations, *new.implementations)),
        fallbacks=ordered((*facts.fallbacks, *new.fallbacks)),
        unresolved=ordered((*facts.unresolved, *new.unresolved)),
        python=replace(
            python,
            uses=ordered(dict.fromkeys((*python.uses, *more.uses))),
            loads=ordered((*python.loads, *more.loads)),
            libraries=ordered((*python.libraries, *more.libraries)),
            functions=ordered((*python.functions, *(found for found in more.functions if found.place not in known))),
            inferences=ordered((*python.inferences, *more.inferences)),
        ),
    )
