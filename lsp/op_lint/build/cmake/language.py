"""The commands that only change variables: `set`, `list`, `string`, `file`, paths, `find_*`, parsing arguments."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from hashlib import md5, sha1, sha224, sha256, sha384, sha512

from op_lint.build.cmake.expressions import cmake_regex, constant
from op_lint.build.cmake.interpreter import Call, Interpreter, text_of
from op_lint.build.cmake.template import is_known, parse, split_list
from op_lint.build.guarded import Item, Items
from op_lint.build.guards import ALWAYS
from op_lint.build.model import Switch
from op_lint.build.patterns import UnsafeError, safe_pattern
from op_lint.facts import Language, Place
from op_lint.files import language_of

Change = Callable[[str], str]

_SOURCE_NAME = re.compile(r"[^\s\"'<>;()]+\.\w+")
"""What may be the name of a source in the text of a file."""


def symbol(name: str, place: Place) -> Item:
    """The value of a variable that the build files do not tell."""
    return Item(f"${{{name}}}", ALWAYS, place)


def set_variable(reader: Interpreter, call: Call) -> None:
    """`set(NAME value... [PARENT_SCOPE | CACHE TYPE doc [FORCE]])`."""
    if not call.values:
        return
    name, *words = call.words
    if name.startswith("ENV{") or "$ENV{" in name:
        return
    if "CACHE" in words:
        _set_cached(reader, call, words.index("CACHE") + 1)
        return
    reader.cached.pop(name, None)
    reader.defaults.discard(name)
    parent = bool(words) and words[-1] == "PARENT_SCOPE"
    values = call.values[1:-1] if parent else call.values[1:]
    items = [item for value in values for item in value]
    own = f"${{{name}}}"
    kept = [item for item in items if item.text != own]  # an unset variable that is extended starts empty
    if words:
        reader.set(name, kept, parent=parent)
    else:
        reader.unset(name)


def _set_cached(reader: Interpreter, call: Call, position: int) -> None:
    """A variable that the user may set otherwise: a boolean is a switch, any other keeps its default."""
    name = call.words[0]
    default = call.values[1:position]
    kind = call.words[position + 1] if position + 1 < len(call.words) else ""
    items = tuple(item for value in default for item in value)
    if kind == "BOOL" and is_known(text_of(items)) and "FORCE" not in call.words:
        _declare_switch(reader, name, constant(text_of(items)) is True, call)
    elif reader.frame.value(name) is None or kind == "INTERNAL" or "FORCE" in call.words:
        reader.set(name, items)
        if kind != "INTERNAL" and "FORCE" not in call.words:
            reader.defaults.add(name)
        if kind == "STRING" and "FORCE" not in call.words:
            reader.cached.setdefault(name, call.place)


def option(reader: Interpreter, call: Call) -> None:
    """`option(NAME doc [default])`: a switch, unless a normal variable has decided it."""
    if call.values:
        default = len(call.words) > 2 and constant(call.words[2]) is True
        _declare_switch(reader, call.words[0], default, call)


def _declare_switch(reader: Interpreter, name: str, default: bool, call: Call) -> None:
    if reader.frame.value(name) is None and is_known(name):
        reader.switches.setdefault(name, Switch(name, default, call.place))


def unset_variable(reader: Interpreter, call: Call) -> None:
    """`unset(NAME [CACHE | PARENT_SCOPE])`."""
    if call.values and "CACHE" not in call.words:
        reader.unset(call.words[0], parent="PARENT_SCOPE" in call.words)


def change_list(reader: Interpreter, call: Call) -> None:
    """`list(...)`."""
    if len(call.values) < 2:
        return
    action, name = call.words[:2]
    rest = call.items(2)
    if action in ("APPEND", "PREPEND"):
        reader.extend(name, rest, at_end=action == "APPEND")
        return
    value = reader.variable(name) or ()
    if action == "INSERT":
        at = _index(call.words[2] if len(call.words) > 2 else "", len(value))
        reader.set(name, (*value[:at], *call.items(3), *value[at:]))
    elif action == "REMOVE_ITEM":
        gone = {item.text for item in rest if item.condition is ALWAYS}
        reader.set(name, (item for item in value if item.text not in gone))
    elif action == "REMOVE_DUPLICATES":
        reader.set(name, _first_of_each(value))
    elif action == "FILTER" and len(call.words) > 4:
        reader.set(name, _filtered(reader, value, call.words[2] == "INCLUDE", call.words[4]))
    elif action == "TRANSFORM":
        _transform(reader, name, value, call)
    elif action in ("SORT", "REVERSE"):
        reader.set(name, reversed(value) if action == "REVERSE" else sorted(value, key=lambda item: item.text))
    elif action in ("POP_BACK", "POP_FRONT"):
        back = action == "POP_BACK"
        if len(call.words) > 2:
            reader.set(call.words[2], value[-1:] if back else value[:1])
        reader.set(name, value[:-1] if back else value[1:])
    elif action == "REMOVE_AT":
        gone_at = {_index(word, len(value)) for word in call.words[2:]}
        reader.set(name, (item for at, item in enumerate(value) if at not in gone_at))
    else:
        _ask_list(reader, action, value, call)


def _ask_list(reader: Interpreter, action: str, value: Items, call: Call) -> None:
    """The forms of `list` that put what they find into a variable, their last argument."""
    out, words = call.words[-1], call.words
    certain = all(item.condition is ALWAYS for item in value)
    if action == "LENGTH":
        reader.set(out, [Item(str(len(value)))] if certain else [symbol(f"length of {words[1]}", call.place)])
    elif action == "GET":
        places = [_index(word, len(value)) for word in words[2:-1]]
        reader.set(out, [value[at] for at in places if at < len(value)])
    elif action == "JOIN" and len(words) > 3:
        joined = words[2].join(item.text for item in value)
        reader.set(out, [Item(joined)] if certain else [symbol(words[1], call.place)])
    elif action == "FIND" and len(words) > 3:
        found = next((at for at, item in enumerate(value) if item.text == words[2]), -1)
        reader.set(out, [Item(str(found))] if certain else [symbol(f"{words[2]} in {words[1]}", call.place)])
    elif action == "SUBLIST" and len(words) > 4 and all(word.lstrip("-").isdigit() for word in words[2:4]):
        begin, length = int(words[2]), int(words[3])
        reader.set(out, value[begin:] if length < 0 else value[begin : begin + length])


def _index(word: str, length: int) -> int:
    number = int(word) if word.lstrip("-").isdigit() else 0
    return max(0, number + length if number < 0 else number)


def _first_of_each(value: Items) -> Iterable[Item]:
    seen: set[str] = set()
    for item in value:
        if item.text not in seen:
            yield item
        if item.condition is ALWAYS:
            seen.add(item.text)


def _filtered(reader: Interpreter, value: Items, keep: bool, pattern: str) -> Items:
    """What `list(FILTER ...)` leaves; everything where the pattern is not understood."""
    try:
        python = cmake_regex(pattern)
        return tuple(
            item
            for item in reader.files.budget.each(value)
            if (safe_pattern(python, item.text).search(item.text) is not None) == keep
        )
    except UnsafeError:
        return value


def _transform(reader: Interpreter, name: str, value: Items, call: Call) -> None:
    words = call.words
    out = words[words.index("OUTPUT_VARIABLE") + 1] if "OUTPUT_VARIABLE" in words[:-1] else name
    change = _transformation(words[2:])
    chosen = _selected(reader, words, value)
    if change is not None and chosen is not None:
        each = enumerate(reader.files.budget.each(value))
        reader.set(
            out, [Item(change(item.text), item.condition, item.place) if at in chosen else item for at, item in each]
        )
    else:
        reader.set(out, [symbol(out, call.place)])


def _selected(reader: Interpreter, words: Sequence[str], value: Items) -> Collection[int] | None:
    """Which items a `list(TRANSFORM)` changes, by their positions; None where its selector is not understood."""
    at = next((at for at, word in enumerate(words) if word in ("AT", "FOR", "REGEX") and at > 2), None)
    if at is None:
        return range(len(value))
    selector, rest = words[at], list(words[at + 1 :])
    if "OUTPUT_VARIABLE" in rest:
        rest = rest[: rest.index("OUTPUT_VARIABLE")]
    if selector == "REGEX" and rest:
        kept = {id(item) for item in _filtered(reader, value, True, rest[0])}
        return [position for position, item in enumerate(value) if id(item) in kept]
    numbers = [int(word) for word in rest if word.lstrip("-").isdigit()]
    if len(numbers) != len(rest) or not numbers or any(item.condition is not ALWAYS for item in value):
        return None
    places = [number + len(value) if number < 0 else number for number in numbers]
    if selector == "AT":
        return places
    return range(places[0], places[1] + 1, numbers[2] if len(numbers) > 2 else 1) if len(places) > 1 else None


def _transformation(words: Sequence[str]) -> Change | None:
    action, *arguments = words or ("",)
    if action == "APPEND" and arguments:
        return lambda text: text + arguments[0]
    if action == "PREPEND" and arguments:
        return lambda text: arguments[0] + text
    if action == "REPLACE" and len(arguments) > 1:
        return lambda text: _replaced(text, arguments[0], arguments[1])
    return _SIMPLE.get(action)


def _replaced(text: str, pattern: str, replacement: str) -> str:
    try:
        written = re.sub(r"\\(\d)", r"\\g<\1>", replacement.replace("\\\\", "\\"))
        return safe_pattern(cmake_regex(pattern), text).sub(written, text)
    except (UnsafeError, re.error, IndexError):
        return text


def change_string(reader: Interpreter, call: Call) -> None:
    """`string(...)`."""
    if len(call.values) < 2:
        return
    action, *words = call.words
    if action in ("APPEND", "PREPEND"):
        _extend_string(reader, words[0], text_of(call.items(2)), call.place, at_end=action == "APPEND")
        return
    simple = _SIMPLE.get(action)
    if simple is not None and len(words) > 1:
        source = call.values[1]
        reader.set(words[1], [Item(simple(item.text), item.condition, item.place) for item in source])
    elif action in ("CONCAT", "JOIN"):
        glue, start = (_written(call, 1), 2) if action == "JOIN" else ("", 1)
        reader.set(words[start - 1], _elements(glue.join(words[start:]), call))
    elif action == "REPLACE" and len(words) > 3:
        old, new = _written(call, 1), _written(call, 2)
        replaced = text_of(call.items(4)).replace(old, new) if old else text_of(call.items(4))
        reader.set(words[2], _elements_of(call.items(4), replaced, call))
    elif action == "REGEX":
        _regex(reader, words, call)
    elif action in ("FIND", "COMPARE", "LENGTH", "SUBSTRING"):
        _ask_string(reader, action, words, call)
    elif action in _HASHES and len(words) > 1 and is_known(words[1]):
        reader.set(words[0], [Item(_HASHES[action](words[1].encode()).hexdigest(), ALWAYS, call.place)])
    else:
        out = words[_OUT.get(action, 0)] if len(words) > _OUT.get(action, 0) else words[0]
        reader.set(out, [symbol(out, call.place)])


def _written(call: Call, number: int) -> str:
    """An argument (0-based) as a text. One that is written out keeps the `;` that would end an item of a list."""
    arguments = call.command.arguments
    if len(arguments) > number and arguments[number].kind == "quoted":
        parts = parse(arguments[number].text)
        if all(isinstance(part, str) for part in parts):
            return "".join(part for part in parts if isinstance(part, str))
    return call.words[number]


def separate_arguments(reader: Interpreter, call: Call) -> None:
    """`separate_arguments(NAME)` and `separate_arguments(NAME mode text)`: at blanks."""
    if not call.words:
        return
    name, *rest = call.words
    items = reader.variable(name) or () if not rest else call.items(2)
    reader.set(name, [Item(word, item.condition, item.place) for item in items for word in item.text.split()])


_HASHES = {
    "MD5": md5, "SHA1": sha1, "SHA224": sha224, "SHA256": sha256, "SHA384": sha384, "SHA512": sha512,
}  # fmt: skip
_OUT = {"HEX": 1, "CONFIGURE": 1, "REPEAT": 2, "ASCII": -1, "RANDOM": -1}
"""Which argument after the action names the variable that is set (0-based)."""


def _elements(text: str, call: Call) -> Items:
    return tuple(Item(element, ALWAYS, call.place) for element in split_list(text))


def _elements_of(items: Items, text: str, call: Call) -> Items:
    """The elements of a text made from `items`: with their conditions and places where they are still as many."""
    elements = split_list(text)
    if len(elements) != len(items):
        return _elements(text, call)
    return tuple(Item(element, item.condition, item.place) for element, item in zip(elements, items, strict=True))


def _extend_string(reader: Interpreter, name: str, text: str, place: Place, *, at_end: bool) -> None:
    value = reader.variable(name) or ()
    if not value:
        reader.set(name, (Item(element, ALWAYS, place) for element in split_list(text)))
        return
    edge = value[-1] if at_end else value[0]
    joined = Item(edge.text + text if at_end else text + edge.text, edge.condition, edge.place)
    elements = [Item(element, joined.condition, joined.place) for element in split_list(joined.text)]
    reader.set(name, (*value[:-1], *elements) if at_end else (*elements, *value[1:]))


def _regex(reader: Interpreter, words: Sequence[str], call: Call) -> None:
    action = words[0]
    try:
        if action == "REPLACE" and len(words) > 4:
            source = tuple(reader.files.budget.each(call.items(5)))
            new = _written(call, 3)
            made = [
                Item(element, item.condition, item.place)
                for item in source
                for element in split_list(_replaced(item.text, words[1], new))
            ]
            reader.set(words[3], made)
        elif action in ("MATCH", "MATCHALL") and not is_known("".join(words[3:])):
            reader.set(words[2], [symbol(words[2], call.place)])
        elif action in ("MATCH", "MATCHALL") and len(words) > 3:
            text = ";".join(words[3:])
            pattern = safe_pattern(cmake_regex(words[1]), text)
            found = [match.group() for match in pattern.finditer(text)]
            reader.set(words[2], [Item(text, ALWAYS, call.place) for text in found[: 1 if action == "MATCH" else None]])
            first = pattern.search(text)
            for number, text in enumerate((first.group(), *first.groups()) if first else ()):
                reader.set(f"CMAKE_MATCH_{number}", [Item(text)] if text else [])
    except UnsafeError:
        reader.set(words[3] if action == "REPLACE" else words[2], [symbol(words[-1], call.place)])


def _ask_string(reader: Interpreter, action: str, words: Sequence[str], call: Call) -> None:
    if not is_known("".join(words)):
        reader.set(words[1] if action == "LENGTH" else words[2 if action == "FIND" else -1], [])
    elif action == "LENGTH" and len(words) > 1:
        reader.set(words[1], [Item(str(len(words[0].encode())))])
    elif action == "FIND" and len(words) > 2:
        found = words[0].rfind(words[1]) if "REVERSE" in words else words[0].find(words[1])
        reader.set(words[2], [Item(str(found))])
    elif action == "SUBSTRING" and len(words) > 3 and all(word.lstrip("-").isdigit() for word in words[1:3]):
        begin, length = int(words[1]), int(words[2])
        reader.set(words[3], _elements(words[0][begin:] if length < 0 else words[0][begin : begin + length], call))
    elif action == "COMPARE" and len(words) > 3:
        equal = words[1] == words[2]
        results = {"EQUAL": equal, "NOTEQUAL": not equal, "LESS": words[1] < words[2], "GREATER": words[1] > words[2]}
        reader.set(words[3], [Item("1" if results.get(words[0]) else "0")])


def _c_identifier(text: str) -> str:
    name = re.sub(r"\W", "_", text, flags=re.ASCII)
    return f"_{name}" if name[:1].isdigit() else name


_SIMPLE: dict[str, Change] = {
    "TOLOWER": str.lower,
    "TOUPPER": str.upper,
    "STRIP": str.strip,
    "MAKE_C_IDENTIFIER": _c_identifier,
    "GENEX_STRIP": lambda text: re.sub(r"\$<[^<>]*>", "", text),
}


def handle_files(reader: Interpreter, call: Call) -> None:
    """`file(...)`: globs, paths, copies, and files that the build writes."""
    if not call.values:
        return
    action, *words = call.words
    if action in ("GLOB", "GLOB_RECURSE"):
        _glob(reader, call, below=action == "GLOB_RECURSE")
    elif action == "RELATIVE_PATH" and len(words) > 2:
        known = is_known(words[1] + words[2])
        reader.set(words[0], [Item(posixpath.relpath(words[2], words[1]) if known else words[2])])
    elif action in ("REAL_PATH", "TO_CMAKE_PATH", "TO_NATIVE_PATH") and len(words) > 1:
        real = action == "REAL_PATH"
        reader.set(words[1], [Item(reader.files.absolute(words[0], reader.source_folder) if real else words[0])])
    elif action in ("WRITE", "APPEND"):
        _mention_named(reader, words[1:])
    elif action in ("COPY", "COPY_FILE", "INSTALL", "CREATE_LINK", "RENAME", "CONFIGURE", "GENERATE"):
        _copies(reader, action, call)
    elif action in ("READ", "STRINGS") and len(words) == 2:
        _read(reader, action, call)
    elif action in ("READ", "STRINGS", "TIMESTAMP", "SIZE", "READ_SYMLINK", "MD5", "SHA1", "SHA256") and len(words) > 1:
        reader.set(words[1], [symbol(words[1], call.place)])


def _glob(reader: Interpreter, call: Call, *, below: bool) -> None:
    name = call.words[1] if len(call.words) > 1 else ""
    relative: str | None = None
    patterns: list[Item] = []
    position = 0
    items = call.items(2)
    follow = any(item.text == "FOLLOW_SYMLINKS" for item in items)
    while position < len(items):
        text = items[position].text
        if text == "RELATIVE" and position + 1 < len(items):
            relative = items[position + 1].text
            position += 1
        elif text == "LIST_DIRECTORIES":
            position += 1
        elif text not in ("CONFIGURE_DEPENDS", "FOLLOW_SYMLINKS") and text != f"${{{name}}}":
            patterns.append(items[position])
        position += 1
    found: dict[str, Item] = {}
    for pattern in patterns:
        if not is_known(pattern.text):
            found[pattern.text] = pattern
            continue
        absolute = reader.files.absolute(pattern.text, reader.source_folder)
        matches = reader.files.matching(absolute, pattern.place or call.place, below=below, follow=follow)
        reader.files.budget.spend(len(matches.paths))
        for path in matches.paths:
            shown = posixpath.relpath(path, relative) if relative and is_known(relative) else path
            found.setdefault(shown, Item(shown, pattern.condition, pattern.place or call.place))
        if not matches.complete:
            rest = posixpath.join(posixpath.dirname(absolute), f"${{...}}{posixpath.basename(absolute)}")
            found[rest] = Item(rest, pattern.condition, pattern.place or call.place)
    reader.set(name, found.values())


_LISTS = frozenset({".list", ".lst", ".sources", ".srcs", ".txt"})
"""Suffixes of files that hold lists."""

_LONGEST_LIST = 100_000
"""Bytes of a file with a list that is still followed."""


def _read(reader: Interpreter, action: str, call: Call) -> None:
    """A list that stands in a file of the project, as a text or line by line.

    What else is read is not known: code is read to be looked into, with patterns that are not quite Python's.
    """
    path, name = call.words[1:3]
    is_list = is_known(path) and posixpath.splitext(path)[1] in _LISTS
    data = reader.files.read(reader.files.absolute(path, reader.source_folder)) if is_list else None
    if data is None or len(data) > _LONGEST_LIST:
        reader.set(name, [symbol(name, call.place)])
        return
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    if action == "STRINGS":
        reader.set(name, [Item(line, ALWAYS, call.place) for line in text.splitlines() if line])
    else:
        reader.set(name, _elements(text, call))


def _copies(reader: Interpreter, action: str, call: Call) -> None:
    """Remember which file of the build folder is made from which source."""
    words = call.words[1:]
    if action in ("COPY", "INSTALL") and "DESTINATION" in words[:-1]:
        target = words[words.index("DESTINATION") + 1]
        for source in words[: words.index("DESTINATION")]:
            remember_copy(reader, source, posixpath.join(target, posixpath.basename(source)))
    elif action in ("COPY_FILE", "CREATE_LINK", "RENAME") and len(words) > 1:
        remember_copy(reader, words[0], words[1])
    elif action == "GENERATE" and "OUTPUT" in words[:-1] and "INPUT" in words[:-1]:
        remember_copy(reader, words[words.index("INPUT") + 1], words[words.index("OUTPUT") + 1])
    elif action == "GENERATE" and "CONTENT" in words[:-1]:
        _mention_named(reader, [words[words.index("CONTENT") + 1]])


def _mention_named(reader: Interpreter, texts: Iterable[str]) -> None:
    """Remember the sources that the text of a file which the build writes names: it may well include them."""
    named = (found for text in texts for found in _SOURCE_NAME.findall(text))
    reader.mention(Item(name) for name in named if language_of(name) is Language.CPP)


def remember_copy(reader: Interpreter, source: str, target: str) -> None:
    """The build makes `target` from `source`."""
    if is_known(source):
        folder = "" if target.startswith(("/", "${")) else "${CMAKE_CURRENT_BINARY_DIR}/"
        made = (folder + target).replace("${CMAKE_CURRENT_BINARY_DIR}", reader.text("CMAKE_CURRENT_BINARY_DIR"))
        reader.copies[made] = reader.files.absolute(source, reader.source_folder)


def configure_file(reader: Interpreter, call: Call) -> None:
    """`configure_file(input output)`."""
    if len(call.words) > 1:
        remember_copy(reader, call.words[0], call.words[1])


def filename_component(reader: Interpreter, call: Call) -> None:
    """`get_filename_component(VAR file component)`."""
    if len(call.values) < 3:
        return
    name, path, component = call.words[:3]
    stem = posixpath.basename(path)
    results: dict[str, Callable[[], str]] = {
        "DIRECTORY": lambda: posixpath.dirname(path),
        "PATH": lambda: posixpath.dirname(path),
        "NAME": lambda: stem,
        "EXT": lambda: stem[stem.find(".") :] if "." in stem else "",
        "LAST_EXT": lambda: posixpath.splitext(stem)[1],
        "NAME_WE": lambda: stem.partition(".")[0],
        "NAME_WLE": lambda: posixpath.splitext(stem)[0],
    }
    if component in ("ABSOLUTE", "REALPATH"):
        base = call.words[call.words.index("BASE_DIR") + 1] if "BASE_DIR" in call.words[:-1] else reader.source_folder
        reader.set(name, [Item(reader.files.absolute(path, base) if is_known(path + base) else path)])
    elif component in results:
        made = results[component]()
        reader.set(name, [Item(made)] if made else [])


def change_path(reader: Interpreter, call: Call) -> None:
    """`cmake_path(...)`: the forms that make paths of sources."""
    if len(call.values) < 2:
        return
    action, name, *words = call.words
    out = words[words.index("OUTPUT_VARIABLE") + 1] if "OUTPUT_VARIABLE" in words[:-1] else name
    rest = words[: words.index("OUTPUT_VARIABLE")] if "OUTPUT_VARIABLE" in words else words
    if action == "SET" and rest:
        reader.set(name, [Item(rest[-1])])
    elif action == "APPEND":
        reader.set(out, [Item(posixpath.join(reader.text(name), *rest))])
    elif action in ("ABSOLUTE_PATH", "RELATIVE_PATH", "NORMAL_PATH"):
        _rebase(reader, action, name, rest, out)
    elif action == "GET" and len(rest) > 1:
        part = _PATH_PARTS.get(" ".join(rest[:-1]))
        value = reader.variable(name) or ()
        made = (Item(part(item.text), item.condition, item.place) for item in value) if part else ()
        reader.set(rest[-1], [item for item in made if item.text] if part else [symbol(rest[-1], call.place)])


def _rebase(reader: Interpreter, action: str, name: str, rest: Sequence[str], out: str) -> None:
    """The forms of `cmake_path` that make a path absolute, relative or normal."""
    base = rest[rest.index("BASE_DIRECTORY") + 1] if "BASE_DIRECTORY" in rest[:-1] else reader.source_folder
    made: list[Item] = []
    for item in reader.variable(name) or ():
        path = item.text
        if action == "NORMAL_PATH":
            path = posixpath.normpath(path)
        elif is_known(path + base):
            whole = reader.files.absolute(path, base)
            path = whole if action == "ABSOLUTE_PATH" else posixpath.relpath(whole, base)
        made.append(Item(path, item.condition, item.place))
    reader.set(out, made)


def _stem(path: str) -> str:
    """The name without its extension, which starts at the first dot but one at the beginning."""
    name = posixpath.basename(path)
    return name[: name.find(".", 1)] if "." in name[1:] else name


_PATH_PARTS: dict[str, Change] = {
    "FILENAME": posixpath.basename,
    "PARENT_PATH": posixpath.dirname,
    "STEM": _stem,
    "STEM LAST_ONLY": lambda path: posixpath.splitext(posixpath.basename(path))[0],
    "EXTENSION": lambda path: posixpath.basename(path)[len(_stem(path)) :],
    "EXTENSION LAST_ONLY": lambda path: posixpath.splitext(path)[1],
    "RELATIVE_PART": lambda path: path.lstrip("/"),
    "ROOT_DIRECTORY": lambda path: path[:1] if path.startswith("/") else "",
}
"""The forms of `cmake_path(GET ...)` for paths with `/`."""


def compute(reader: Interpreter, call: Call) -> None:
    """`math(EXPR VAR expression)`: integers with `+ - * / %` and parentheses."""
    if len(call.words) > 2:
        value = _Sum(call.words[2]).value()
        reader.set(call.words[1], [Item(str(value)) if value is not None else symbol(call.words[1], call.place)])


_PRODUCTS: dict[str, Callable[[int, int], int]] = {
    "*": lambda a, b: a * b,
    "/": lambda a, b: int(a / b),
    "%": lambda a, b: a - b * int(a / b),
}


class _Sum:
    """An integer expression."""

    def __init__(self, text: str) -> None:
        self._tokens = re.findall(r"\d+|[-+*/%()]|\S", text[:500])
        self._depth = 0

    def value(self) -> int | None:
        """The value; None for what is no such expression."""
        try:
            found = self._sum()
        except (ValueError, IndexError, ZeroDivisionError):
            return None
        return None if self._tokens or abs(found) >= 1 << 63 else found

    def _sum(self) -> int:
        value = self._product()
        while self._tokens[:1] in (["+"], ["-"]):
            sign = 1 if self._tokens.pop(0) == "+" else -1
            value += sign * self._product()
        return value

    def _product(self) -> int:
        value = self._atom()
        while self._tokens[:1] in (["*"], ["/"], ["%"]):
            operator, other = self._tokens.pop(0), self._atom()
            value = _PRODUCTS[operator](value, other)
            if abs(value) >= 1 << 63:
                raise ValueError(value)
        return value

    def _atom(self) -> int:
        token = self._tokens.pop(0)
        if token == "-":
            return -self._atom()
        if token == "(" and self._depth < 50:
            self._depth += 1
            value = self._sum()
            if self._tokens.pop(0) != ")":
                raise ValueError(token)
            return value
        return int(token)


def parse_arguments(reader: Interpreter, call: Call) -> None:
    """`cmake_parse_arguments`: both forms. The items keep their conditions and places."""
    values = call.values
    words = call.words
    if words[:1] == ["PARSE_ARGV"] and len(values) > 5:
        start = int(words[1]) if words[1].isdigit() else 0
        count = reader.text("ARGC")
        numbers = range(start, int(count) if count.isdigit() else start)
        rest = [reader.variable(f"ARGV{number}") or () for number in numbers]
        prefix, specification = words[2], values[3:6]
    elif len(values) > 3:
        rest = [(item,) for item in call.items(4)]
        prefix, specification = words[0], values[1:4]
    else:
        return
    flags, single, multiple = ({item.text for item in value} for value in specification)
    parsed: dict[str, list[Item]] = {}
    current: str | None = None
    for value in rest:
        word = text_of(value)
        if word in flags:
            parsed[word] = [Item("TRUE", value[0].condition)]
            current = None
        elif word in single or word in multiple:
            parsed.setdefault(word, [])
            current = word
        else:
            target = parsed.setdefault("UNPARSED_ARGUMENTS" if current is None else current, [])
            if current in single:
                target[:] = value
                current = None
            else:
                target += value
    for name in flags:
        reader.set(f"{prefix}_{name}", parsed.get(name, [Item("FALSE")]))
    for name in (*single, *multiple, "UNPARSED_ARGUMENTS"):
        if parsed.get(name):
            reader.set(f"{prefix}_{name}", parsed[name])
        else:
            reader.unset(f"{prefix}_{name}")
            reader.set(f"{prefix}_{name}", ())


def find_something(reader: Interpreter, call: Call) -> None:
    """`find_library`, `find_path`, `find_program`, `find_file`: a variable that the machine decides."""
    if call.values and reader.frame.value(call.words[0]) is None:
        reader.set(call.words[0], [symbol(call.words[0], call.place)])


def run_process(reader: Interpreter, call: Call) -> None:
    """`execute_process`, `try_compile` and the like: nothing is run, and most of their results are not known.

    What a Python script prints is read from the script (`op_lint.build.cmake.programs`).
    """
    words = call.words
    for keyword in ("OUTPUT_VARIABLE", "RESULT_VARIABLE", "ERROR_VARIABLE", "RESULTS_VARIABLE"):
        if keyword in words[:-1]:
            name = words[words.index(keyword) + 1]
            printed = _printed(reader, words) if keyword == "OUTPUT_VARIABLE" else None
            reader.set(name, [symbol(name, call.place)] if printed is None else printed)


def _printed(reader: Interpreter, words: Sequence[str]) -> Iterable[Item] | None:
    """What the one command of an `execute_process` prints; None where that is not known."""
    if words.count("COMMAND") != 1:
        return None
    command = words[words.index("COMMAND") + 1 :]
    folder = words[words.index("WORKING_DIRECTORY") + 1] if "WORKING_DIRECTORY" in words[:-1] else ""
    base = folder if folder and is_known(folder) else reader.source_folder
    return reader.programs.printed(command, base)


def check_something(reader: Interpreter, call: Call) -> None:
    """`check_cxx_compiler_flag(flag VAR)` and its kin: a variable that the compiler decides."""
    if len(call.values) > 1:
        name = call.words[1] if call.name != "check_language" else f"CMAKE_{call.words[0]}_COMPILER"
        reader.set(name, [symbol(name, call.place)])


HANDLERS = {
    "set": set_variable,
    "unset": unset_variable,
    "option": option,
    "cmake_dependent_option": option,
    "list": change_list,
    "string": change_string,
    "file": handle_files,
    "configure_file": configure_file,
    "get_filename_component": filename_component,
    "cmake_path": change_path,
    "separate_arguments": separate_arguments,
    "math": compute,
    "cmake_parse_arguments": parse_arguments,
    "find_library": find_something,
    "find_path": find_something,
    "find_program": find_something,
    "find_file": find_something,
    "execute_process": run_process,
    "try_compile": run_process,
    "try_run": run_process,
    "check_language": check_something,
    "check_cxx_compiler_flag": check_something,
    "check_c_compiler_flag": check_something,
    "check_cxx_source_compiles": check_something,
    "check_c_source_compiles": check_something,
    "check_include_file": check_something,
    "check_include_file_cxx": check_something,
    "check_cxx_symbol_exists": check_something,
    "check_symbol_exists": check_something,
}
