"""The flow of control through CMake files: both arms of an `if` that the files do not decide, loops, functions, macros.

Variables are lists whose items exist under conditions (`op_lint.build.guarded`). What the files do not tell, the value
of an unset variable or what a package sets, stays in a value as `${NAME}`. Nothing is run.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import pairwise, zip_longest
from typing import NamedTuple

from op_lint.build.cmake.expressions import Operand, evaluate
from op_lint.build.cmake.lexer import Argument, Command, read_script
from op_lint.build.cmake.memory import Frame, ItemChanges, item_memory
from op_lint.build.cmake.programs import Programs
from op_lint.build.cmake.targets import Declared
from op_lint.build.cmake.template import Reference, is_known, parse, split_list
from op_lint.build.files import BuildFiles
from op_lint.build.guarded import Item, Items, merged, under, worlds
from op_lint.build.guards import ALWAYS, NEVER, Guard, all_of, any_of, atom, both, exactly_both, opposite, simplified
from op_lint.build.model import Switch, TorchFolder
from op_lint.facts import Place

_DEEPEST = 40
_MOST_TURNS = 2_000
_MOST_ITEMS = 20_000
_TOO_MANY_TURNS = f"a loop of more than {_MOST_TURNS} turns: given up"
_LONGEST = 100_000
"""Characters of a value that is still followed."""
_HEAVIEST = 256
"""Of the condition that no error has ended the configuration (`Guard.weight`); what goes beyond is not considered."""


class Flow(NamedTuple):
    """How a statement ends: when control does not go on after it, and where it goes instead."""

    condition: Guard = NEVER
    kind: str = "next"


_NEXT = Flow()


class Call:
    """A command with its arguments replaced. `values` has one list for each argument, `words` their texts."""

    def __init__(self, command: Command, values: list[Items]) -> None:
        self.command = command
        self.values = values

    @property
    def name(self) -> str:
        """The command's name, in lower case."""
        return self.command.name

    @property
    def place(self) -> Place:
        """Where the command is."""
        return self.command.place

    @cached_property
    def words(self) -> list[str]:
        """The arguments as texts, lists joined by `;`."""
        return [text_of(value) for value in self.values]

    def items(self, start: int = 0) -> Items:
        """The items of all arguments from `start` (0-based) on."""
        return tuple(item for value in self.values[start:] for item in value)


def _symbol(name: str) -> Items:
    """The value of a variable that the build files do not tell."""
    return (Item(f"${{{name}}}"),)


def _length(piece: str | Items) -> int:
    return len(piece) if isinstance(piece, str) else sum(len(item.text) + 1 for item in piece)


_MORE = Item("${...}")
"""The items of a list that is too long to be followed."""


def _bounded(items: Items) -> Items:
    """Not more items than are followed, and none that is longer."""
    items = items if len(items) <= _MOST_ITEMS else (*items[:_MOST_ITEMS], _MORE)
    if any(len(item.text) > _LONGEST for item in items):
        items = tuple(Item("${...}", item.condition, item.place) for item in items)
    return items


Handler = Callable[["Interpreter", Call], None]


def _unknown(reader: Interpreter, call: Call) -> None:
    """What stands for commands that are not known here."""


class Block(NamedTuple):
    """The commands of a body, and the position after the command that ends it."""

    commands: Sequence[Command]
    start: int
    end: int


class Function(NamedTuple):
    """A function or macro of the project."""

    name: str
    parameters: tuple[str, ...]
    body: Sequence[Command]
    is_macro: bool
    folder: str
    file: str


def text_of(value: Items) -> str:
    """A list as the text that CMake has it as."""
    return ";".join(item.text for item in value)


class Interpreter:
    """Reads the CMake files of one project. `handlers` are the commands that it knows, by name in lower case.

    One whose handler is None says nothing about what is compiled and linked; its arguments are not even looked at.

    `scripts` are the files that were parsed before, by path. `elsewhere` are the folders with a project of their own
    that was read already: a project that adds one as a part of its own does not read it again.
    """

    def __init__(
        self,
        files: BuildFiles,
        handlers: Mapping[str, Handler | None],
        scripts: dict[str, tuple[Command, ...]],
        elsewhere: Collection[str] = (),
    ) -> None:
        self.files = files
        self.targets: dict[str, list[Declared]] = {}
        self.aliases: dict[str, str] = {}
        self.deferred: dict[str, list[Call]] = {}
        """The calls that are made when all of a folder is read, by the folder."""
        self.headers: set[str] = set()
        """The sources that are no more than headers, by absolute path."""
        self.switches: dict[str, Switch] = {}
        self.cached: dict[str, Place] = {}
        """The texts that a user may choose with `-DNAME=...`, and where the build files give their defaults."""
        self.defaults: set[str] = set()
        """The variables that hold what the build files give to those who name nothing else with `-DNAME=...`."""
        self.torches: dict[str, TorchFolder] = {}
        """Where torch is looked for, by folder."""
        self.mentioned: set[str] = set()
        self.read: dict[str, None] = {}
        self.minimum = ""
        """The oldest CMake that the project allows, as the first `cmake_minimum_required` says."""
        self.copies: dict[str, str] = {}
        """Files that the build makes from others, by their path in the build folder."""
        self.programs = Programs(files)
        self.frame = self._top = Frame()
        self.memory = item_memory(
            lambda name: _symbol(name) if name in self._offered else (), lambda steps: files.budget.spend(steps)
        )
        self.functions: dict[str, Function] = {}
        self.elsewhere = elsewhere
        self._handlers = handlers
        self._paths: list[Guard] = [ALWAYS]
        self._assumed: Guard = ALWAYS
        self._stack: list[str] = []
        self._scripts = scripts
        self._assigned: set[str] = set()
        self._offered: set[str] = set()

    # Conditions.

    @property
    def path(self) -> Guard:
        """The condition under which control gets here."""
        return self._paths[-1]

    @property
    def given(self) -> Guard:
        """What holds here: the path, and that no error has ended the configuration before."""
        together = exactly_both(self._paths[-1], self._assumed)
        return together if together.weight <= _HEAVIEST else self._paths[-1]

    @contextmanager
    def within(self, condition: Guard) -> Iterator[None]:
        """Follow what happens inside under a further condition."""
        self._paths.append(both(self.path, condition))
        try:
            yield
        finally:
            self._paths.pop()

    # Variables.

    def variable(self, name: str) -> Items | None:
        """The value of a variable here; None where nothing has set it."""
        value = self.frame.value(name)
        if value is None or self.given is ALWAYS:
            return value
        self.files.budget.spend(len(value) // 64)
        return under(value, self.given)

    def text(self, name: str) -> str:
        """The value of a variable as a text; empty where nothing has set it."""
        return text_of(self.variable(name) or ())

    def set(self, name: str, value: Iterable[Item], *, parent: bool = False) -> None:
        """Set a variable, here or in the scope around this one."""
        frame = self.frame.outer if parent else self.frame
        if frame is not None and name:
            self.memory.write(frame, name, _bounded(tuple(value)))

    def set_global(self, name: str, value: Iterable[Item]) -> None:
        """Set something that all folders and functions share."""
        self.memory.write(self._top, name, _bounded(tuple(value)))

    def extend(self, name: str, more: Items, *, at_end: bool = True) -> None:
        """Add items to a list; the others need not be looked at, so that long lists can grow item by item."""
        value = self.frame.value(name) or ()
        self.files.budget.spend(len(value) // 1024)
        if len(value) + len(more) > _MOST_ITEMS:
            more = (*more[: max(0, _MOST_ITEMS - len(value))], *(() if _MORE in value[-1:] else (_MORE,)))
        more = _bounded(more)
        if name:
            self.memory.write(self.frame, name, (*value, *more) if at_end else (*more, *value))

    def unset(self, name: str, *, parent: bool = False) -> None:
        """Make a variable one that is not set."""
        frame = self.frame.outer if parent else self.frame
        if frame is not None:
            self.memory.write(frame, name, None)

    def leave(self, outer: Frame) -> None:
        """Go back from the scope of a folder or function to the one around it."""
        self.memory.leave(self.frame)
        self.frame = outer

    def defined(self, name: str) -> Guard:
        """When a variable is set: for `if(DEFINED ...)`."""
        value = self.frame.value(name)
        if value is None:
            return NEVER if self.frame.is_set(name) else atom(f"DEFINED {name}")
        return any_of(item.condition for item in value) if value else ALWAYS

    def chosen(self, name: str, words: str, default: bool) -> Guard | None:
        """The condition that a test of a text which the user may choose holds; None for any other variable."""
        place = self.cached.get(name)
        if place is None:
            return None
        self.switches.setdefault(words, Switch(words, default, place))
        return atom(words)

    def target(self, name: str) -> Guard:
        """When a target exists: for `if(TARGET ...)`."""
        declared = self.targets.get(self.aliases.get(name, name))
        if declared is None:
            return atom(f"TARGET {name}")
        return any_of(target.condition for target in declared)

    def exists(self, path: str) -> bool | None:
        """Whether a file or folder exists; None for one that the build files do not name in full."""
        if not is_known(path):
            return None
        absolute = self.files.absolute(path, self.source_folder)
        if self.files.is_file(absolute) or self.files.is_folder(absolute):
            return True
        # What is not in the project may still be on the machine that builds it, and be made before.
        return None

    def command(self, name: str) -> bool:
        """Whether a function, macro or command of this name is known."""
        return name.lower() in self.functions or name.lower() in self._handlers

    @property
    def in_function(self) -> bool:
        """Whether control is in a function or macro of the project."""
        return bool(self.frame.macros) or self.frame.value("CMAKE_CURRENT_FUNCTION") is not None

    @property
    def source_folder(self) -> str:
        """`CMAKE_CURRENT_SOURCE_DIR`."""
        return self.text("CMAKE_CURRENT_SOURCE_DIR")

    # Arguments.

    def expand(self, argument: Argument) -> list[Items]:
        """The arguments that an argument as written stands for, each a list."""
        if argument.kind in ("bracket", "parenthesis"):
            return [(Item(argument.text, ALWAYS, argument.place),)]
        value = self._value(argument)
        self.files.budget.spend(len(value) // 16)
        if argument.kind == "quoted":
            return [value]
        return [(item,) for item in value]

    def _value(self, argument: Argument) -> Items:
        parts = parse(argument.text)
        if len(parts) == 1 and isinstance(parts[0], Reference):
            items = self._lookup(parts[0])
            return tuple(item if item.place else Item(item.text, item.condition, argument.place) for item in items)
        pieces = [part if isinstance(part, str) else self._lookup(part) for part in parts]
        return self._concatenated(pieces, argument.place)

    def _lookup(self, reference: Reference) -> Items:
        name = self._name(reference.name)
        if reference.kind == "ENV":
            return (Item(f"$ENV{{{name}}}"),)
        value = self.frame.lookup(name)
        if value is not None:
            return under(value, self.given)
        # What the project sets itself, but not here, is empty; anything else may come from outside.
        return () if name in self._assigned and name not in self._offered else _symbol(name)

    def _name(self, parts: tuple[str | Reference, ...]) -> str:
        return "".join(part if isinstance(part, str) else text_of(self._lookup(part)) for part in parts)

    def _concatenated(self, pieces: Sequence[str | Items], place: Place) -> Items:
        """The pieces as one text, split into its items; alternatives where a piece depends on conditions."""
        if sum(map(_length, pieces)) > _LONGEST:
            return (Item("${...}", ALWAYS, place),)
        conditions = dict.fromkeys(item.condition for piece in pieces if not isinstance(piece, str) for item in piece)
        if conditions.keys() <= {ALWAYS}:
            text = "".join(piece if isinstance(piece, str) else text_of(piece) for piece in pieces)
            return tuple(Item(element, ALWAYS, place) for element in split_list(text))
        ways = worlds(conditions, self.given)
        if ways is None:
            words = "".join(piece if isinstance(piece, str) else "${...}" for piece in pieces)
            return (Item(words, ALWAYS, place),)
        arms: list[tuple[Guard, Items]] = []
        for world in ways:
            text = "".join(piece if isinstance(piece, str) else text_of(under(piece, world)) for piece in pieces)
            arms.append((world, tuple(Item(element, ALWAYS, place) for element in split_list(text))))
        return merged(arms)

    # Flow.

    def is_in(self, path: str) -> bool:
        """Whether the file at `path` is being followed."""
        return path in self._stack

    def run_file(self, path: str, place: Place) -> bool:
        """Run a CMake file in the current scope; False where there is none. `place` is what asks for it."""
        commands = self._script(path)
        if commands is None:
            return False
        if path in self._stack or len(self._stack) >= _DEEPEST:
            inner = self.files.relative(path)
            self.files.give_up("recursion", f"`{inner}` includes itself: left out here", place, inner)
            return True
        self._stack.append(path)
        outer = {name: self.variable(name) for name in ("CMAKE_CURRENT_LIST_FILE", "CMAKE_CURRENT_LIST_DIR")}
        self.set("CMAKE_CURRENT_LIST_FILE", [Item(path)])
        self.set("CMAKE_CURRENT_LIST_DIR", [Item(posixpath.dirname(path))])
        try:
            self.run(commands)
        finally:
            self._stack.pop()
            for name, value in outer.items():
                self.set(name, value or ())
        return True

    def _script(self, path: str) -> tuple[Command, ...] | None:
        if path not in self._scripts:
            data = self.files.read(path)
            if data is None:
                if self.files.is_there(path):
                    self.files.lose(self.files.relative(path))
                return None
            script = read_script(self.files.relative(path), data)
            for problem in script.problems:
                self.files.give_up(problem.code, problem.message, problem.place)
            for fault in _unpaired(script.commands):
                self.files.give_up("build-syntax", *fault)
            self._scripts[path] = script.commands
        self._assigned.update(_assigned_in(self._scripts[path]))
        self._offered.update(_offered_in(self._scripts[path]))
        self.read[path] = None
        return self._scripts[path]

    def run(self, commands: Sequence[Command]) -> Flow:
        """Run commands in order. Where an undecided `return` may have ended them, the rest is followed without it."""
        ended: Guard = NEVER
        kind = "next"
        narrowed: list[Guard] = []
        position = 0
        while position < len(commands):
            flow, position = self._statement(commands, position)
            if flow.condition is NEVER:
                continue
            kind = flow.kind
            ended = any_of((ended, flow.condition))
            if flow.condition is ALWAYS or simplified(ended, self.given) is ALWAYS:
                ended = ALWAYS
                break
            narrowed.append(opposite(flow.condition))
            self._paths.append(both(self.path, narrowed[-1]))
            self.memory.begin()
        for condition in reversed(narrowed):
            self._paths.pop()
            changes = self.memory.undo()
            self.memory.merge([(condition, changes), (opposite(condition), {})])
        return Flow(ended, kind)

    def _statement(self, commands: Sequence[Command], position: int) -> tuple[Flow, int]:
        command = commands[position]
        self.files.at = command.place
        self.files.budget.spend()
        following = position + 1
        if command.name == "if":
            return self._if(commands, position)
        if command.name in ("foreach", "while"):
            block = _block(commands, position)
            loop = self._foreach if command.name == "foreach" else self._while
            return loop(command, commands[block.start : block.end]), block.end + 1
        if command.name == "block":
            block = _block(commands, position)
            return self._scoped(command, commands[block.start : block.end]), block.end + 1
        if command.name in ("function", "macro"):
            block = _block(commands, position)
            self._define(command, commands[block.start : block.end])
            return _NEXT, block.end + 1
        if command.name in ("return", "break", "continue"):
            if command.name == "return":
                self._propagate(command)
            return Flow(ALWAYS, command.name), following
        if command.name not in self.functions and self._handlers.get(command.name, _unknown) is None:
            mode = command.arguments[0].text if command.name == "message" and command.arguments else ""
            return Flow(ALWAYS, "dead") if mode == "FATAL_ERROR" else _NEXT, following
        values = [value for argument in command.arguments for value in self.expand(argument)]
        self.call(Call(command, values))
        return _NEXT, following

    def _scoped(self, command: Command, body: Sequence[Command]) -> Flow:
        """The body of a `block()`: in a scope of its own, out of which some variables are given."""
        words = [text_of(value) for argument in command.arguments for value in self.expand(argument)]
        if "POLICIES" in words and "VARIABLES" not in words:
            return self.run(body)
        outer = self.frame
        self.frame = Frame(outer)
        self.frame.macros = outer.macros
        try:
            flow = self.run(body)
            given = words[words.index("PROPAGATE") + 1 :] if "PROPAGATE" in words else ()
            for name in given:
                self.set(name, self.variable(name) or (), parent=True)
        finally:
            self.leave(outer)
        return flow

    def _propagate(self, command: Command) -> None:
        words = [value for argument in command.arguments for value in self.expand(argument)]
        names = [text_of(word) for word in words]
        for name in names[1:] if names[:1] == ["PROPAGATE"] else ():
            self.set(name, self.variable(name) or (), parent=True)

    def run_text(self, text: str, place: Place) -> None:
        """Run commands that a text holds (`cmake_language(EVAL CODE ...)`)."""
        if len(self._stack) >= _DEEPEST:
            self.files.give_up("recursion", "code that runs itself without end: left out here", place)
            return
        script = read_script(place.path, text.encode("utf-8", "surrogatepass"))
        moved = [
            Command(
                each.name,
                tuple(Argument(argument.text, argument.kind, place) for argument in each.arguments),
                place,
                place,
            )
            for each in script.commands
        ]
        self._stack.append("")
        try:
            self.run(moved)
        finally:
            self._stack.pop()

    def call(self, call: Call) -> None:
        """Run a command that is no statement: the project's own, or one that is known here."""
        function = self.functions.get(call.name)
        handler = self._handlers.get(call.name, _unknown)
        if function is not None:
            self._invoke(function, call)
        elif handler is _unknown:
            self.mention(call.items())
        elif handler is not None:
            handler(self, call)

    def mention(self, items: Iterable[Item]) -> None:
        """Remember that files are named in a way that is not understood."""
        named = (item.text for item in items if is_known(item.text) and "." in item.text)
        self.mentioned.update(self.files.absolute(text, self.source_folder) for text in named)

    def _if(self, commands: Sequence[Command], position: int) -> tuple[Flow, int]:
        arms, end = _arms(commands, position)
        taken: list[tuple[Guard, ItemChanges]] = []
        flows: list[Flow] = []
        before: Guard = ALWAYS
        for test, body in arms:
            reached = simplified(before, self.given)
            if reached is NEVER:
                break
            with self.within(before):
                tested = ALWAYS if test is None else simplified(self._test(test), self.given)
            condition = all_of((before, tested))
            if simplified(condition, self.given) is ALWAYS and not taken:
                return self.run(body), end + 1  # decided: no branch at all
            if condition is not NEVER:
                flows.append(self._arm(condition, body, taken))
            before = all_of((before, opposite(tested)))
        if before is not NEVER:
            taken.append((before, {}))
        self.memory.merge(taken)
        return _combined(flows), end + 1

    def _arm(self, condition: Guard, body: Sequence[Command], taken: list[tuple[Guard, ItemChanges]]) -> Flow:
        self.memory.begin()
        with self.within(condition):
            flow = self.run(body)
            if flow.kind == "dead" and flow.condition is not NEVER:
                self._exclude(all_of((self.path, flow.condition)))
        changes = self.memory.undo()
        if flow.kind == "dead" and flow.condition is ALWAYS:
            return _NEXT  # what follows is only reached in the other arms
        taken.append((condition, changes))
        if flow.kind == "dead":
            return _NEXT
        return Flow(all_of((condition, flow.condition)), flow.kind)

    def _exclude(self, condition: Guard) -> None:
        """There is no configuration in which `condition` holds: an error ends it."""
        assumed = exactly_both(self._assumed, opposite(condition))
        if assumed.weight <= _HEAVIEST:
            self._assumed = assumed

    def _test(self, command: Command) -> Guard:
        operands = [
            Operand(value, argument.kind not in ("unquoted", "parenthesis"), argument.text)
            for argument in command.arguments
            for value in self.expand(argument)
        ]
        return evaluate(operands, self)

    def _foreach(self, command: Command, body: Sequence[Command]) -> Flow:
        values = [value for argument in command.arguments for value in self.expand(argument)]
        if not values:
            return _NEXT
        words = [text_of(value) for value in values]
        if "ZIP_LISTS" in words and "IN" in words[1:]:
            return self._foreach_of_several(words, body)
        name = words[0]
        returned: Guard = NEVER
        outer = self.frame.value(name)
        for item in self._turns(values[1:], command.place):
            condition = simplified(item.condition, self.given)
            if condition is NEVER:
                continue
            self.set(name, [Item(item.text, ALWAYS, item.place)] if item.text else [])
            if condition is ALWAYS:
                flow = self.run(body)
            else:
                taken: list[tuple[Guard, ItemChanges]] = []
                flow = self._arm(condition, body, taken)
                self.memory.merge([*taken, (opposite(condition), {})])
            if flow.kind == "return":
                returned = any_of((returned, flow.condition))
            if flow.condition is ALWAYS and flow.kind in ("break", "return", "dead"):
                if flow.kind == "dead":
                    return flow
                break
        self.memory.write(self.frame, name, outer)
        return Flow(returned, "return") if returned is not NEVER else _NEXT

    def _foreach_of_several(self, words: Sequence[str], body: Sequence[Command]) -> Flow:
        """`foreach(names... IN ZIP_LISTS lists...)`: one item of each list a turn, in `names` or `name_0` and so on."""
        names, lists = words[: words.index("IN")], words[words.index("ZIP_LISTS") + 1 :]
        columns = [self.variable(each) or () for each in lists]
        if len(names) == 1:
            names = [f"{names[0]}_{number}" for number in range(len(columns))]
        for row in list(zip_longest(*columns))[:_MOST_TURNS]:
            condition = simplified(all_of(item.condition for item in row if item is not None), self.given)
            if condition is NEVER:
                continue
            for name, item in zip(names, row, strict=False):
                self.set(name, [] if item is None else [Item(item.text, ALWAYS, item.place)])
            taken: list[tuple[Guard, ItemChanges]] = []
            flow = self._arm(condition, body, taken)
            self.memory.merge([*taken, (opposite(condition), {})])
            if flow.condition is ALWAYS and flow.kind in ("break", "return", "dead"):
                return flow if flow.kind != "break" else _NEXT
        return _NEXT

    def _turns(self, values: Sequence[Items], place: Place) -> Iterator[Item]:
        words = [text_of(value) for value in values]
        if words[:1] == ["RANGE"]:
            numbers = [int(word) for word in words[1:4] if word.lstrip("-").isdigit()]
            if len(numbers) == len(words) - 1 and 1 <= len(numbers) <= 3:
                start, stop, step = (0, numbers[0], 1) if len(numbers) == 1 else (*numbers, 1)[:3]
                turns = range(start, stop + (1 if step > 0 else -1), step or 1)
                yield from (Item(str(number), ALWAYS, place) for number in turns[:_MOST_TURNS])
                if len(turns) > _MOST_TURNS:
                    self.files.give_up("recursion", _TOO_MANY_TURNS, place)
            return
        if words[:1] != ["IN"]:
            yield from (item for value in values for item in value)
            return
        mode = ""
        for value, word in zip(values[1:], words[1:], strict=True):
            if word in ("LISTS", "ITEMS", "ZIP_LISTS"):
                mode = word
            elif mode == "ITEMS":
                yield from value
            elif mode == "LISTS":
                yield from self.variable(word) or ()

    def _while(self, command: Command, body: Sequence[Command]) -> Flow:
        for _ in range(_MOST_TURNS):
            condition = simplified(self._test(command), self.given)
            if condition is NEVER:
                return _NEXT
            if condition is not ALWAYS:
                taken: list[tuple[Guard, ItemChanges]] = []
                self._arm(condition, body, taken)
                self.memory.merge([*taken, (opposite(condition), {})])
                return _NEXT
            flow = self.run(body)
            if flow.condition is ALWAYS and flow.kind != "continue":
                return flow if flow.kind in ("return", "dead") else _NEXT
        self.files.give_up("recursion", _TOO_MANY_TURNS, command.place)
        return _NEXT

    def _define(self, command: Command, body: Sequence[Command]) -> None:
        words = [text_of(value) for argument in command.arguments for value in self.expand(argument)]
        if words:
            file = self.text("CMAKE_CURRENT_LIST_FILE")
            function = Function(
                words[0], tuple(words[1:]), body, command.name == "macro", posixpath.dirname(file), file
            )
            self.functions[words[0].lower()] = function

    def _invoke(self, function: Function, call: Call) -> None:
        if len(self._stack) >= _DEEPEST:
            what = f"`{function.name}` calls itself without end: left out here"
            self.files.give_up("recursion", what, call.place, self.files.relative(function.file))
            return
        arguments = _bound(function, call.values)
        self._stack.append(function.name)
        frame = self.frame
        if function.is_macro:
            frame.macros.append(arguments)
        else:
            self.frame = Frame(frame)
            for name, value in arguments.items():
                self.set(name, value)
            self.set("CMAKE_CURRENT_FUNCTION", [Item(function.name)])
            self.set("CMAKE_CURRENT_FUNCTION_LIST_DIR", [Item(function.folder)])
            self.set("CMAKE_CURRENT_FUNCTION_LIST_FILE", [Item(function.file)])
        try:
            self.run(function.body)
        finally:
            self._stack.pop()
            if function.is_macro:
                frame.macros.pop()
            else:
                self.leave(frame)


_ASSIGNING = {"set": 0, "list": 1, "file": 1}
"""Commands that set a variable, and which of their arguments names it (0-based)."""


def _assigned_in(commands: Sequence[Command]) -> Iterator[str]:
    """The variables that commands set, as far as they are named literally; not those that CMake itself sets."""
    for command in commands:
        position = _ASSIGNING.get(command.name)
        if position is not None and len(command.arguments) > position:
            name = command.arguments[position].text
            if not name.startswith("CMAKE_"):
                yield name


def _offered_in(commands: Sequence[Command]) -> Iterator[str]:
    """The variables that a user may set (`-DNAME=...`): asked with `DEFINED`, cached, or set only where they are not.

    The last is a `set(NAME ...)` inside `if(NOT NAME)`.
    """
    for position, command in enumerate(commands):
        words = [argument.text for argument in command.arguments]
        if command.name == "set" and "CACHE" in words:
            yield words[0]
        elif command.name in ("if", "elseif"):
            yield from (name for word, name in pairwise(words) if word == "DEFINED")
            if command.name == "if" and len(words) == 2 and words[0] == "NOT":
                block = _block(commands, position)
                inside = (each.arguments[:1] for each in commands[block.start : block.end] if each.name == "set")
                yield from (name.text for names in inside for name in names if name.text == words[1])


def _bound(function: Function, values: Sequence[Items]) -> dict[str, Items]:
    arguments = dict(zip(function.parameters, values, strict=False))
    rest = tuple(item for value in values[len(function.parameters) :] for item in value)
    arguments |= {f"ARGV{number}": value for number, value in enumerate(values)}
    arguments["ARGV"] = tuple(item for value in values for item in value)
    arguments["ARGN"] = rest
    arguments["ARGC"] = (Item(str(len(values))),)
    return arguments


def _combined(flows: Sequence[Flow]) -> Flow:
    condition = any_of(flow.condition for flow in flows)
    kinds = [flow.kind for flow in flows if flow.condition is not NEVER]
    return Flow(condition, "return" if "return" in kinds else kinds[0]) if kinds else _NEXT


_OPENING = {
    "block": "endblock",
    "if": "endif",
    "foreach": "endforeach",
    "while": "endwhile",
    "function": "endfunction",
    "macro": "endmacro",
}


_CLOSING = {closing: opening for opening, closing in _OPENING.items()}


def _unpaired(commands: Sequence[Command]) -> Iterator[tuple[str, Place]]:
    """The first command that opens or closes a block which the other end is missing of, and what is wrong with it."""
    opened: list[Command] = []
    for command in commands:
        name = command.name
        if name in _OPENING:
            opened.append(command)
        elif name in ("else", "elseif") and (not opened or opened[-1].name != "if"):
            yield f"`{name}()` without an `if()` before it", command.name_place
            return
        elif name in _CLOSING and (not opened or opened.pop().name != _CLOSING[name]):
            yield f"`{name}()` where no `{_CLOSING[name]}()` is open", command.name_place
            return
    if opened:
        yield f"no `{_OPENING[opened[-1].name]}()` closes this `{opened[-1].name}()`", opened[-1].name_place


def _block(commands: Sequence[Command], position: int) -> Block:
    """The body of the command at `position`; to the end of the file where nothing closes it."""
    opening = commands[position].name
    depth = 0
    for index in range(position, len(commands)):
        name = commands[index].name
        depth += (name == opening) - (name == _OPENING[opening])
        if depth == 0:
            return Block(commands, position + 1, index)
    return Block(commands, position + 1, len(commands))


def _arms(commands: Sequence[Command], position: int) -> tuple[list[tuple[Command | None, Sequence[Command]]], int]:
    """The arms of the `if` at `position` with their tests (None for `else`), and the position of its `endif`."""
    block = _block(commands, position)
    arms: list[tuple[Command | None, Sequence[Command]]] = []
    test: Command | None = commands[position]
    start = block.start
    depth = 0
    for index in range(block.start, block.end):
        name = commands[index].name
        depth += (name == "if") - (name == "endif")
        if depth == 0 and name in ("elseif", "else"):
            arms.append((test, commands[start:index]))
            test = commands[index] if name == "elseif" else None
            start = index + 1
    arms.append((test, commands[start : block.end]))
    return arms, block.end
