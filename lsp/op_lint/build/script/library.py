"""The functions and methods that build scripts make lists of files with: `os.path`, `glob`, `pathlib`, texts, lists."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Callable, Sequence
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from op_lint.build.guards import ALWAYS, NEVER, any_of, both, opposite
from op_lint.build.script.values import (
    FALSE,
    LONGEST,
    NOTHING,
    TRUE,
    UNPACKED,
    Arguments,
    Entry,
    FilePath,
    Items,
    Method,
    Nothing,
    Number,
    Table,
    Text,
    Truth,
    Unknown,
    Value,
    choice,
    entries_of,
    mapped,
    options_of,
    truth,
    words_of,
)
from op_lint.facts import Place

if TYPE_CHECKING:
    from op_lint.build.script.evaluator import Evaluator

EXIT = "(the program ends)"

_MOST_COMBINATIONS = 64
_TEXT_METHODS = frozenset({
    "capitalize", "endswith", "format", "join", "lower", "lstrip", "partition", "removeprefix", "removesuffix",
    "replace", "rsplit", "rstrip", "split", "splitlines", "startswith", "strip", "title", "upper",
})  # fmt: skip


def text_of(value: Value) -> str | None:
    """The text of a string or path; None for anything else."""
    return value.text if isinstance(value, Text | FilePath) else None


def native(value: Value) -> object:
    """The Python object that a value is. Raises ValueError where that is not known."""
    if isinstance(value, Text | FilePath):
        return value.text
    if isinstance(value, Number):
        return value.value
    if isinstance(value, Truth) and value.condition in (ALWAYS, NEVER):
        return value.condition is ALWAYS
    if isinstance(value, Nothing):
        return None
    if isinstance(value, Items) and not value.open and all(entry.condition is ALWAYS for entry in value.entries):
        items = [native(entry.value) for entry in value.entries]
        return tuple(items) if value.kind == "tuple" else items
    raise ValueError(value)


def lifted(result: object, place: Place | None) -> Value:
    """The value that a Python object is."""
    if isinstance(result, str):
        return Text(result, place) if len(result) <= LONGEST else Unknown("...")
    if isinstance(result, bool):
        return Truth(ALWAYS if result else NEVER)
    if isinstance(result, int | float):
        return Number(result)
    if isinstance(result, list | tuple):
        kind = "tuple" if isinstance(result, tuple) else "list"
        return Items([Entry(lifted(item, place)) for item in result], kind)
    return NOTHING if result is None else Unknown("...")


def combined(values: Sequence[Value], make: Callable[[list[Value]], Value]) -> Value:
    """`make` of every combination of the values that `values` can be."""
    options = [list(options_of(value)) for value in values]
    count = 1
    for each in options:
        count *= len(each)
    if count > _MOST_COMBINATIONS:
        return Unknown("...")
    made = []
    for combination in product(*options):
        condition = ALWAYS
        for given, _ in combination:
            condition = both(condition, given)
        if condition is not NEVER:
            made.append((condition, make([value for _, value in combination])))
    return choice(made)


def concatenated(parts: Sequence[Value], place: Place) -> Value:
    """The text that an f-string makes."""

    def join(values: list[Value]) -> Value:
        texts = [str(value.value) if isinstance(value, Number) else text_of(value) for value in values]
        known = [text for text in texts if text is not None]
        if len(known) != len(texts) or sum(map(len, known)) > LONGEST:
            return Unknown(f'f"{"".join(text or "..." for text in texts)}"'[:100])
        return Text("".join(known), place)

    return combined(parts, join)


# Items.


def item(owner: Value, index: Value) -> Value:
    """`owner[index]`."""
    if isinstance(owner, Table) and isinstance(index, Text):
        return owner.entries.get(index.text) or Unknown(f"[{index.text!r}]")
    if isinstance(index, Number) and isinstance(index.value, int):
        certain = (
            isinstance(owner, Items) and not owner.open and all(each.condition is ALWAYS for each in owner.entries)
        )
        if isinstance(owner, Items) and certain and -len(owner.entries) <= index.value < len(owner.entries):
            return owner.entries[index.value].value
        if isinstance(owner, Text) and -len(owner.text) <= index.value < len(owner.text):
            return Text(owner.text[index.value], owner.place)
    return Unknown(f"{words_of(owner)}[{words_of(index)}]"[:100])


def sliced(owner: Value, bounds: Sequence[Value | None], node: ast.expr) -> Value:
    """`owner[a:b]`."""
    numbers = [int(bound.value) if isinstance(bound, Number) else None for bound in bounds]
    unknown = any(bound is not None and not isinstance(bound, Number | Nothing) for bound in bounds)
    if unknown or (isinstance(node, ast.Slice) and node.step is not None):
        return Unknown(f"{words_of(owner)}[...]"[:100])
    part = slice(*numbers)
    if isinstance(owner, Items):
        return Items(owner.entries[part], owner.kind, owner.open)
    return Text(owner.text[part], owner.place) if isinstance(owner, Text) else Unknown(f"{words_of(owner)}[...]"[:100])


# Functions.


class Asked(NamedTuple):
    """A call of a function of Python's own modules."""

    around: Evaluator
    positional: list[Value]
    keywords: dict[str, Value]
    place: Place


def call(around: Evaluator, dotted: str, arguments: Arguments, place: Place) -> Value:
    """What a function of Python's own modules returns; unknown for all others."""
    positional, keywords = arguments
    if dotted in _PATH_FUNCTIONS:
        return combined(positional, lambda values: _path_function(around, dotted, values, place))
    function = _FUNCTIONS.get(dotted)
    if function is not None:
        return function(Asked(around, positional, keywords, place))
    shown = ", ".join(words_of(value) for value in positional)
    name = dotted.removeprefix("builtins.")
    return Unknown(f"{name}({shown})"[:100])


def _path_function(around: Evaluator, dotted: str, values: list[Value], place: Place) -> Value:
    texts = [text_of(value) for value in values]
    known = [text for text in texts if text is not None]
    if len(known) != len(texts):
        return Unknown(f"{dotted}({', '.join(map(words_of, values))})"[:100])
    origins = (value.place for value in reversed(values) if isinstance(value, Text | FilePath))
    source = next((origin for origin in origins if origin), place)
    try:
        result = _PATH_FUNCTIONS[dotted](around, *known)
    except TypeError:
        return Unknown(f"{dotted}(...)")
    return lifted(result, source)


def _absolute(around: Evaluator, path: str) -> str:
    return around.files.absolute(path, around.folder)


def _listed(around: Evaluator, path: str = ".") -> list[str]:
    return [entry.name for entry in around.files.entries(_absolute(around, path))]


_PATH_FUNCTIONS: dict[str, Callable[..., object]] = {
    "os.path.join": lambda _, *parts: posixpath.join(*parts),
    "os.path.dirname": lambda _, path: posixpath.dirname(path),
    "os.path.basename": lambda _, path: posixpath.basename(path),
    "os.path.abspath": _absolute,
    "os.path.realpath": _absolute,
    "os.path.normpath": lambda _, path: posixpath.normpath(path),
    "os.path.expanduser": lambda _, path: path,
    "os.path.relpath": lambda around, path, start=".": posixpath.relpath(
        _absolute(around, path), _absolute(around, start)
    ),
    "os.path.splitext": lambda _, path: posixpath.splitext(path),
    "os.path.split": lambda _, path: posixpath.split(path),
    "os.fspath": lambda _, path: path,
    "os.listdir": _listed,
    "os.getcwd": lambda around: around.folder,
}


def _exists(asked: Asked) -> Value:
    def check(values: list[Value]) -> Value:
        text = text_of(values[0]) if values else None
        path = None if text is None else _absolute(asked.around, text)
        if path is not None:
            files = asked.around.files
            if files.is_file(path) or files.is_folder(path):
                return TRUE
            # Only in a folder that is there nothing is missing: one that is not may be a submodule, or made first.
            if path.startswith(files.root + "/") and files.entries(posixpath.dirname(path)):
                return FALSE
        return Unknown(f"os.path.exists({', '.join(map(words_of, values))})"[:100])

    return combined(asked.positional[:1], check)


def _glob(asked: Asked) -> Value:
    found = Items()
    for given, pattern in options_of(
        asked.positional[0] if asked.positional else asked.keywords.get("pathname", NOTHING)
    ):
        text = text_of(pattern)
        if text is None:
            found.open = True
            continue
        root = text_of(asked.keywords.get("root_dir", NOTHING))
        base = asked.around.folder if root is None else _absolute(asked.around, root)
        absolute = asked.around.files.absolute(text, base)
        where = pattern.place if isinstance(pattern, Text | FilePath) and pattern.place else asked.place
        matches = asked.around.files.matching(absolute, where)
        found.open |= not matches.complete
        for path in matches.paths:
            shown = path if text.startswith("/") else posixpath.relpath(path, base)
            found.entries.append(Entry(Text(shown, where), given))
    asked.around.files.budget.spend(len(found.entries))
    return found


def _environment(asked: Asked) -> Value:
    default = asked.positional[1] if len(asked.positional) > 1 else asked.keywords.get("default", NOTHING)
    key = asked.positional[0] if asked.positional else NOTHING
    return asked.around.environment(key, default, asked.place)


def _path(asked: Asked) -> Value:
    if not asked.positional:
        return FilePath(".")

    def make(values: list[Value]) -> Value:
        texts = [text_of(value) for value in values]
        known = [text for text in texts if text is not None]
        if len(known) != len(texts):
            return Unknown(f"Path({', '.join(map(words_of, values))})"[:100])
        last = values[-1]
        return FilePath(posixpath.join(*known), last.place if isinstance(last, Text | FilePath) else asked.place)

    return combined(asked.positional, make)


def _as_items(kind: str) -> Callable[..., Value]:
    def convert(asked: Asked) -> Value:
        if not asked.positional:
            return Items([], kind)
        entries, complete = entries_of(asked.positional[0])
        return Items(entries, kind, not complete)

    return convert


def _sorted(asked: Asked) -> Value:
    entries, complete = entries_of(asked.positional[0]) if asked.positional else ([], False)
    return Items(sorted(entries, key=lambda entry: text_of(entry.value) or ""), "list", not complete)


def _str(asked: Asked) -> Value:
    def convert(value: Value) -> Value:
        if isinstance(value, Number):
            return Text(str(value.value), asked.place)
        return Text(value.text, value.place) if isinstance(value, Text | FilePath) else Unknown(words_of(value))

    return mapped(asked.positional[0], convert) if asked.positional else Text("", asked.place)


def _bool(asked: Asked) -> Value:
    return Truth(truth(asked.positional[0])) if asked.positional else Truth(NEVER)


def _length(asked: Asked) -> Value:
    entries, complete = entries_of(asked.positional[0]) if asked.positional else ([], False)
    if not complete or any(entry.condition is not ALWAYS for entry in entries):
        return Unknown("len(...)")
    return Number(len(entries))


def _int(asked: Asked) -> Value:
    value = asked.positional[0] if asked.positional else NOTHING
    text = text_of(value)
    if text is not None and text.strip().lstrip("-").isdigit() and len(text) < 20:
        return Number(int(text))
    if isinstance(value, Truth) and value.condition in (ALWAYS, NEVER):
        return Number(int(value.condition is ALWAYS))
    return value if isinstance(value, Number) else Unknown(words_of(value))


def _map(asked: Asked) -> Value:
    if len(asked.positional) != 2:
        return Items([], "list", open=True)
    entries, complete = entries_of(asked.positional[1])
    made = [
        Entry(asked.around.invoke(asked.positional[0], ([entry.value], {}), asked.place), entry.condition)
        for entry in entries
    ]
    return Items(made, "list", not complete)


def _filter(asked: Asked) -> Value:
    if len(asked.positional) != 2:
        return Items([], "list", open=True)
    entries, complete = entries_of(asked.positional[1])
    kept = []
    for entry in entries:
        by = asked.positional[0]
        result = entry.value if isinstance(by, Nothing) else asked.around.invoke(by, ([entry.value], {}), asked.place)
        condition = both(entry.condition, truth(result))
        if condition is not NEVER:
            kept.append(Entry(entry.value, condition))
    return Items(kept, "list", not complete)


def _zip(asked: Asked) -> Value:
    columns = [entries_of(value)[0] for value in asked.positional]
    rows = [Items([Entry(entry.value) for entry in row], "tuple") for row in zip(*columns, strict=False)]
    return Items([Entry(row) for row in rows])


def _enumerate(asked: Asked) -> Value:
    entries, complete = entries_of(asked.positional[0]) if asked.positional else ([], False)
    rows = [
        Entry(Items([Entry(Number(at)), Entry(entry.value)], "tuple"), entry.condition)
        for at, entry in enumerate(entries)
    ]
    return Items(rows, "list", not complete)


def _range(asked: Asked) -> Value:
    numbers = [int(value.value) for value in asked.positional if isinstance(value, Number)]
    if len(numbers) != len(asked.positional) or not 1 <= len(numbers) <= 3 or numbers[2:] == [0]:
        return Items([], "list", open=True)
    return Items([Entry(Number(number)) for number in range(*numbers)[:200]])


def _sum(asked: Asked) -> Value:
    outer, complete = entries_of(asked.positional[0]) if asked.positional else ([], False)
    return _chained(outer, complete)


def _chain(asked: Asked) -> Value:
    return _chained([Entry(value) for value in asked.positional], True)


def _chained(lists: Sequence[Entry], complete: bool) -> Value:
    """The items of several lists, one after the other."""
    made = Items(open=not complete)
    for each in lists:
        entries, whole = entries_of(each.value)
        made.entries += (Entry(entry.value, both(each.condition, entry.condition)) for entry in entries)
        made.open |= not whole
    return made


def _product(asked: Asked) -> Value:
    made = Items()
    for row in product(*(entries_of(value)[0] for value in asked.positional)):
        asked.around.files.budget.spend()
        condition = ALWAYS
        for entry in row:
            condition = both(condition, entry.condition)
        if condition is not NEVER:
            made.entries.append(Entry(Items([Entry(entry.value) for entry in row], "tuple"), condition))
    return made


def _table(asked: Asked) -> Value:
    named = {name: value for name, value in asked.keywords.items() if name != UNPACKED}
    made = Table(named, open=UNPACKED in asked.keywords)
    for value in asked.positional:
        if isinstance(value, Table):
            made.entries = {**value.entries, **made.entries}
        else:
            made.open = True
    return made


def _copy(asked: Asked) -> Value:
    return mapped(asked.positional[0], copied) if asked.positional else NOTHING


def copied(value: Value) -> Value:
    """A list or dictionary that changes apart from the first."""
    if isinstance(value, Items):
        return Items(list(value.entries), value.kind, value.open)
    if isinstance(value, Table):
        return Table({key: copied(each) for key, each in value.entries.items()}, value.open)
    return value


def _any(asked: Asked) -> Value:
    entries, complete = entries_of(asked.positional[0]) if asked.positional else ([], False)
    found = any_of(both(entry.condition, truth(entry.value)) for entry in entries)
    return Truth(found) if complete or found is ALWAYS else Unknown("any(...)")


def _all(asked: Asked) -> Value:
    entries, complete = entries_of(asked.positional[0]) if asked.positional else ([], False)
    failing = any_of(both(entry.condition, opposite(truth(entry.value))) for entry in entries)
    return Truth(opposite(failing)) if complete or failing is ALWAYS else Unknown("all(...)")


def _copied_file(asked: Asked) -> Value:
    """A copy of a file: what is compiled under its name is the first."""
    names = [options_of(value) for value in asked.positional[:2]]
    if len(names) == 2:
        for (_, source), (_, target) in product(*names):
            asked.around.remember_copy(text_of(source), text_of(target))
    return asked.positional[1] if len(names) == 2 else NOTHING


def _exit(_: Asked) -> Value:
    return Unknown(EXIT)


def _nothing(_: Asked) -> Value:
    return NOTHING


_FUNCTIONS: dict[str, Callable[[Asked], Value]] = {
    "os.path.exists": _exists,
    "os.path.isfile": _exists,
    "os.path.isdir": _exists,
    "glob.glob": _glob,
    "glob.iglob": _glob,
    "os.getenv": _environment,
    "os.environ.get": _environment,
    "pathlib.Path": _path,
    "pathlib.PurePath": _path,
    "builtins.list": _as_items("list"),
    "builtins.tuple": _as_items("tuple"),
    "builtins.set": _as_items("set"),
    "builtins.frozenset": _as_items("set"),
    "builtins.iter": _as_items("list"),
    "builtins.reversed": _as_items("list"),
    "builtins.sorted": _sorted,
    "builtins.str": _str,
    "builtins.bool": _bool,
    "builtins.len": _length,
    "builtins.int": _int,
    "builtins.map": _map,
    "builtins.filter": _filter,
    "builtins.zip": _zip,
    "builtins.enumerate": _enumerate,
    "builtins.range": _range,
    "builtins.sum": _sum,
    "builtins.any": _any,
    "builtins.all": _all,
    "builtins.dict": _table,
    "builtins.print": _nothing,
    "warnings.warn": _nothing,
    "itertools.chain": _chain,
    "itertools.chain.from_iterable": _sum,
    "itertools.product": _product,
    **dict.fromkeys(
        ("shutil.copy", "shutil.copy2", "shutil.copyfile", "shutil.move", "os.rename", "os.symlink", "os.link"),
        _copied_file,
    ),
    "copy.copy": _copy,
    "copy.deepcopy": _copy,
    "sys.exit": _exit,
    "builtins.exit": _exit,
    "builtins.fail": _exit,
}


# Methods.


def call_method(around: Evaluator, method: Method, arguments: Arguments, place: Place) -> Value:
    """What a method of a list, dictionary, text or path does and returns."""
    owner, name = method.owner, method.name
    positional, keywords = arguments
    if isinstance(owner, Items):
        return _list_method(around, owner, name, positional)
    if isinstance(owner, Table):
        return _table_method(owner, name, positional)
    if isinstance(owner, FilePath):
        return combined(positional, lambda values: _path_method(around, owner, name, values, place))
    if isinstance(owner, Text):
        return combined(positional, lambda values: _text_method(owner, name, values, keywords))
    return Unknown(f"{words_of(owner)}.{name}({', '.join(map(words_of, positional))})"[:100])


def _list_method(around: Evaluator, owner: Items, name: str, positional: list[Value]) -> Value:
    value = positional[-1] if positional else NOTHING
    if name in ("append", "add"):
        owner.entries += (Entry(option, both(around.path, given)) for given, option in options_of(value))
    elif name in ("extend", "update"):
        around.extend(owner, value)
    elif name == "insert":
        owner.entries.insert(0, Entry(value, around.path))
    elif name in ("remove", "discard"):
        gone = text_of(value)
        for at, entry in enumerate(owner.entries):
            if gone is not None and text_of(entry.value) == gone:
                owner.entries[at] = Entry(entry.value, both(entry.condition, opposite(around.path)))
        owner.entries = [entry for entry in owner.entries if entry.condition is not NEVER]
    elif name == "clear":
        owner.entries = [Entry(entry.value, both(entry.condition, opposite(around.path))) for entry in owner.entries]
    elif name == "copy":
        return copied(owner)
    elif name == "sort":
        owner.entries.sort(key=lambda entry: text_of(entry.value) or "")
    elif name in ("union", "__add__"):
        entries, complete = entries_of(value)
        return Items([*owner.entries, *entries], owner.kind, owner.open or not complete)
    elif name in ("pop", "index", "count"):
        return Unknown(f"list.{name}()")
    return NOTHING


def _table_method(owner: Table, name: str, positional: list[Value]) -> Value:
    key = text_of(positional[0]) if positional else None
    if name in ("get", "pop", "setdefault") and key is not None:
        default = positional[1] if len(positional) > 1 else NOTHING
        if name == "setdefault":
            return owner.entries.setdefault(key, default)
        return owner.entries.get(key) or (Unknown(f"[{key!r}]") if owner.open else default)
    if name == "items":
        rows = [Items([Entry(Text(key)), Entry(value)], "tuple") for key, value in owner.entries.items()]
        return Items([Entry(row) for row in rows], "list", owner.open)
    if name in ("keys", "values"):
        values: list[Value] = [Text(key) for key in owner.entries] if name == "keys" else list(owner.entries.values())
        return Items([Entry(value) for value in values], "list", owner.open)
    if name == "update" and positional and isinstance(positional[0], Table):
        owner.entries.update(positional[0].entries)
    return copied(owner) if name == "copy" else NOTHING


def _text_method(owner: Text, name: str, values: list[Value], keywords: dict[str, Value]) -> Value:
    if name == "join" and values:
        entries, complete = entries_of(values[0])
        texts = [text_of(entry.value) for entry in entries if entry.condition is ALWAYS]
        known = [text for text in texts if text is not None]
        length = sum(map(len, known)) + len(known) * len(owner.text)
        if complete and len(known) == len(entries) and length <= LONGEST:
            return Text(owner.text.join(known), owner.place)
        return Unknown(f"{words_of(owner)}.join(...)"[:100])
    if name not in _TEXT_METHODS:
        return Unknown(f"{words_of(owner)}.{name}(...)"[:100])
    try:
        arguments = [native(value) for value in values]
        named = {key: native(value) for key, value in keywords.items()}
        if name == "format" and re.search(r"\d{4}", owner.text):
            return Unknown("...")  # a width that would make a text of any length
        if name in ("format", "replace") and sum(len(str(each)) for each in (owner.text, *arguments)) > 2_000:
            return Unknown("...")
        result: object = getattr(owner.text, name)(*arguments, **named)
    except (ValueError, TypeError, IndexError, KeyError, AttributeError, MemoryError, OverflowError):
        return Unknown(f"{words_of(owner)}.{name}(...)"[:100])
    return lifted(result, owner.place)


def path_attribute(owner: FilePath, name: str) -> Value | None:
    """An attribute of a path that is no method."""
    results: dict[str, Callable[[], Value]] = {
        "parent": lambda: FilePath(posixpath.dirname(owner.text) or ".", owner.place),
        "name": lambda: Text(posixpath.basename(owner.text), owner.place),
        "stem": lambda: Text(posixpath.splitext(posixpath.basename(owner.text))[0], owner.place),
        "suffix": lambda: Text(posixpath.splitext(owner.text)[1], owner.place),
        "parents": lambda: Items([Entry(FilePath(parent, owner.place)) for parent in _parents(owner.text)], "tuple"),
    }
    found = results.get(name)
    return found() if found else None


def _parents(path: str) -> list[str]:
    found: list[str] = []
    while posixpath.dirname(path) != path and len(found) < 50:
        path = posixpath.dirname(path)
        found.append(path or ".")
    return found


def _path_method(around: Evaluator, owner: FilePath, name: str, values: list[Value], place: Place) -> Value:
    if name in ("absolute", "resolve", "expanduser"):
        return FilePath(_absolute(around, owner.text), owner.place)
    if name in ("as_posix", "__str__"):
        return Text(owner.text, owner.place)
    if name in ("exists", "is_file", "is_dir"):
        return _exists(Asked(around, [owner], {}, place))
    if name == "joinpath":
        return _path(Asked(around, [owner, *values], {}, place))
    if name == "iterdir":
        base = _absolute(around, owner.text)
        return Items(
            [Entry(FilePath(posixpath.join(owner.text, each.name), place)) for each in around.files.entries(base)]
        )
    argument = text_of(values[0]) if values else None
    if argument is None:
        return Unknown(f"{owner.text}.{name}(...)"[:100])
    if name in ("glob", "rglob"):
        pattern = posixpath.join(_absolute(around, owner.text), "**" if name == "rglob" else "", argument)
        where = values[0].place if isinstance(values[0], Text) and values[0].place else place
        matches = around.files.matching(pattern, where)
        around.files.budget.spend(len(matches.paths))
        base = _absolute(around, owner.text)
        shown = (posixpath.join(owner.text, posixpath.relpath(path, base)) for path in matches.paths)
        return Items([Entry(FilePath(path, where)) for path in shown], open=not matches.complete)
    changes: dict[str, Callable[[str], str]] = {
        "relative_to": lambda base: posixpath.relpath(_absolute(around, owner.text), _absolute(around, base)),
        "with_suffix": lambda suffix: posixpath.splitext(owner.text)[0] + suffix,
        "with_name": lambda new: posixpath.join(posixpath.dirname(owner.text), new),
    }
    change = changes.get(name)
    return FilePath(change(argument), owner.place) if change else Unknown(f"{owner.text}.{name}(...)"[:100])
