"""The commands that declare targets and say what is in them, and those that lead to other CMake files."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Sequence

from op_lint.build.cmake import genex
from op_lint.build.cmake.expressions import constant
from op_lint.build.cmake.interpreter import Call, Handler, Interpreter, text_of
from op_lint.build.cmake.language import remember_copy, symbol
from op_lint.build.cmake.memory import Frame
from op_lint.build.cmake.targets import KINDS, VISIBILITIES, Declared, LinkLine, library_name, possible, words_of
from op_lint.build.cmake.template import as_pattern, is_known, split_list
from op_lint.build.cmake.torch_folders import look_for_torch
from op_lint.build.drafts import Compiled
from op_lint.build.guarded import Item, Items
from op_lint.build.guards import ALWAYS, NEVER, Guard, all_of, atom, opposite, simplified
from op_lint.build.model import BuildSystem, Define, Link, LinkHow, LinkOption, TargetKind, Visibility
from op_lint.facts import Language, Place
from op_lint.files import language_of

_IN_LIBRARY = frozenset({"EXCLUDE_FROM_ALL", "GLOBAL", "WIN32", "MACOSX_BUNDLE", "UNKNOWN"})
_PYTHON_OPTIONS = frozenset({"WITH_SOABI", "NO_EXTRAS", "THIN_LTO", "OPT_SIZE", "SYSTEM", "STABLE_ABI", "NB_STATIC"})
_CUDA_OPTIONS = frozenset({"OPTIONS", "HIPCC_OPTIONS", "HCC_OPTIONS", "CLANG_OPTIONS", "NVCC_OPTIONS"})
_BINARY = "${CMAKE_BINARY_DIR}"


def values_of(reader: Interpreter, item: Item) -> Iterator[Item]:
    """The texts that an item has once its generator expressions are evaluated, each with its condition."""
    for value in genex.evaluate(item.text, reader.target):
        condition = possible(item.condition, value.condition)
        if condition is not None:
            yield from (Item(text, condition, item.place) for text in split_list(value.text))


# Declarations.


def add_library(reader: Interpreter, call: Call) -> None:
    """`add_library(name [kind] sources...)`; without a kind it is as `BUILD_SHARED_LIBS` says."""
    words = call.words
    if len(words) < 1 or "IMPORTED" in words[1:3]:
        return
    if words[1:2] == ["ALIAS"]:
        reader.aliases[words[0]] = words[2] if len(words) > 2 else ""
        return
    position = 1
    kind: TargetKind | None = None
    while position < len(words) and (words[position] in KINDS or words[position] in _IN_LIBRARY):
        kind = KINDS.get(words[position], kind)
        position += 1
    items = call.items(position)
    if kind is None and position < len(words) and not is_known(words[position]) and "." not in words[position]:
        items = items[1:]  # a kind that a variable gives which is not known
        declare(reader, call, TargetKind.UNKNOWN, items)
    elif kind is not None:
        declare(reader, call, kind, items)
    else:
        shared = _shared_by_default(reader)
        for condition, default in ((shared, TargetKind.SHARED), (opposite(shared), TargetKind.STATIC)):
            if simplified(condition, reader.given) is not NEVER:
                with reader.within(condition):
                    declare(reader, call, default, items)


def _shared_by_default(reader: Interpreter) -> Guard:
    from op_lint.build.cmake.expressions import truth

    value = reader.variable("BUILD_SHARED_LIBS")
    condition = atom("BUILD_SHARED_LIBS") if value is None else truth(value, "BUILD_SHARED_LIBS")
    return simplified(condition, reader.given)


def add_custom_command(reader: Interpreter, call: Call) -> None:
    """`add_custom_command(OUTPUT files... MAIN_DEPENDENCY source)`: the build makes the files from the source.

    Without a main dependency it is the one C++ source among `DEPENDS`.
    """
    parts: dict[str, list[str]] = {}
    current = ""
    for item in call.items():
        if item.text in _CUSTOM:
            current = item.text
        else:
            parts.setdefault(current, []).append(item.text)
    sources = [text for text in parts.get("DEPENDS", ()) if language_of(text) is Language.CPP]
    made_from = parts.get("MAIN_DEPENDENCY", sources)
    if len(set(made_from)) == 1:
        for output in parts.get("OUTPUT", ()):
            remember_copy(reader, made_from[0], output)
    else:
        reader.mention(item for item in call.items() if language_of(item.text) is Language.CPP)


_CUSTOM = frozenset({
    "OUTPUT", "COMMAND", "ARGS", "MAIN_DEPENDENCY", "DEPENDS", "BYPRODUCTS", "IMPLICIT_DEPENDS", "WORKING_DIRECTORY",
    "COMMENT", "DEPFILE", "JOB_POOL", "TARGET", "PRE_BUILD", "PRE_LINK", "POST_BUILD", "VERBATIM", "APPEND",
    "USES_TERMINAL", "COMMAND_EXPAND_LISTS",
})  # fmt: skip


def add_executable(reader: Interpreter, call: Call) -> None:
    """`add_executable(name sources...)`."""
    words = call.words
    if words[1:2] == ["ALIAS"]:
        reader.aliases[words[0]] = words[2] if len(words) > 2 else ""
    elif words and "IMPORTED" not in words[1:2]:
        items = [item for item in call.items(1) if item.text not in _IN_LIBRARY]
        declare(reader, call, TargetKind.EXECUTABLE, items)


def add_python_module(reader: Interpreter, call: Call) -> None:
    """`Python_add_library`, `pybind11_add_module`, `nanobind_add_module`: a module that Python imports by its name."""
    words = call.words
    if not words:
        return
    if "STATIC" in words[1:3]:
        add_library(reader, call)
        return
    items = list(call.items(1))
    if "USE_SABI" in words:
        at = next(index for index, item in enumerate(items) if item.text == "USE_SABI")
        del items[at : at + 2]
    sources = [item for item in items if item.text not in KINDS and item.text not in _PYTHON_OPTIONS | _IN_LIBRARY]
    for target in declare(reader, call, TargetKind.MODULE, sources):
        target.python = True


def add_device_library(reader: Interpreter, call: Call) -> None:
    """`cuda_add_library`, `hip_add_library` and the executables: as CMake's own, with compiler options at the end."""
    values = list(call.values)
    for at, value in enumerate(values):
        if text_of(value) in _CUDA_OPTIONS:
            del values[at:]
            break
    plain = Call(call.command, values)
    (add_executable if call.name.endswith("executable") else add_library)(reader, plain)


def declare(reader: Interpreter, call: Call, kind: TargetKind, sources: Iterable[Item]) -> list[Declared]:
    """Declare a target under the condition of the path; where its name has alternatives, one for each."""
    made: list[Declared] = []
    for name in call.values[0][:8]:
        condition = possible(reader.path, name.condition)
        if condition is None or not name.text:
            continue
        place = (name.place if reader.in_function else call.command.arguments[0].place) or call.place
        target = Declared(name.text, kind, BuildSystem.CMAKE, place, condition, folder=reader.source_folder)
        _inherit(reader, target)
        reader.targets.setdefault(name.text, []).append(target)
        reader.files.budget.spend(1)
        with reader.within(name.condition):
            add_sources(reader, target, sources, reader.source_folder, call.place)
        made.append(target)
    return made


def _inherit(reader: Interpreter, target: Declared) -> None:
    """What the folders around a new target have stated for all of theirs."""
    for item in reader.frame.value(_DEFINES) or ():
        target.defines += _defines(item, all_of((target.condition, item.condition)), Visibility.PRIVATE)
    for item in reader.frame.value(_OPTIONS) or ():
        _add_option(reader, target, item, all_of((target.condition, item.condition)), Visibility.PRIVATE)
    for item in reader.frame.value(_LIBRARIES) or ():
        _add_link(reader, target, item, all_of((target.condition, item.condition)), Visibility.PUBLIC)


_LINKER_FLAGS = {
    TargetKind.MODULE: "CMAKE_MODULE_LINKER_FLAGS",
    TargetKind.SHARED: "CMAKE_SHARED_LINKER_FLAGS",
    TargetKind.EXECUTABLE: "CMAKE_EXE_LINKER_FLAGS",
}


def finish_folder(reader: Interpreter) -> None:
    """Make the calls that wait for the end of a folder, and give its targets the flags that its variables have then."""
    for call in reader.deferred.pop(reader.source_folder, ()):
        reader.call(call)
    # What is a default that the user's `-DNAME=...` replaces is no word of the build files.
    defaults = [item for name in reader.defaults for item in reader.variable(name) or ()]
    chosen = {word for item in defaults for word in words_of(item.text)}
    for targets in reader.targets.values():
        for target in targets:
            if target.folder != reader.source_folder:
                continue
            for item in reader.variable(_LINKER_FLAGS.get(target.kind, "")) or ():
                if is_known(item.text) or "-Wl," in item.text:
                    _add_option(reader, target, item, all_of((target.condition, item.condition)), Visibility.PRIVATE)
            for item in reader.variable("CMAKE_CXX_FLAGS") or ():
                for word in words_of(item.text):
                    defined = Item(word, item.condition, item.place)
                    if word.startswith(("-D", "/D")) and word not in chosen:
                        condition = all_of((target.condition, item.condition))
                        target.defines += _defines(defined, condition, Visibility.PRIVATE)


_DEFINES = "COMPILE_DEFINITIONS of the folder"
_OPTIONS = "LINK_OPTIONS of the folder"
_LIBRARIES = "LINK_LIBRARIES of the folder"
_GLOBAL = "global property "
"""Names with blanks, which no project can set."""


def add_sources(reader: Interpreter, target: Declared, items: Iterable[Item], folder: str, place: Place) -> None:
    """Give sources to a target, under the condition of the path."""
    for item in items:
        reader.files.budget.spend()
        for value in values_of(reader, item):
            condition = possible(all_of((target.condition, reader.path)), value.condition)
            if condition is None:
                continue
            where = value.place or place
            objects = genex.parts_of(value.text)
            if objects and objects[0] == "TARGET_OBJECTS":
                target.links += [(condition, Link(name, LinkHow.OBJECTS, where)) for name in objects[1]]
            else:
                _add_source(reader, target, value.text, folder, where, condition)


def _add_source(reader: Interpreter, target: Declared, text: str, folder: str, place: Place, condition: Guard) -> None:
    if text in reader.copies:
        target.sources.append(Compiled(reader.files.relative(reader.copies[text]), place, condition, copied=True))
        return
    if text.startswith(_BINARY):
        _add_made(reader, target, text, place, condition)
        return
    if not is_known(text) or "$<" in text:
        target.unknown.append(_pattern(reader, text, folder))
        return
    path = reader.files.absolute(text, folder)
    if reader.files.is_file(path):
        target.sources.append(Compiled(reader.files.relative(path), place, condition))
        return
    binary = posixpath.join(reader.text("CMAKE_CURRENT_BINARY_DIR"), text)
    if binary in reader.copies:
        target.sources.append(Compiled(reader.files.relative(reader.copies[binary]), place, condition, copied=True))
    else:
        target.unknown.append(reader.files.relative(path))


def _pattern(reader: Interpreter, text: str, folder: str) -> str:
    """A source that is not known in full, from the root on; what starts with an unknown folder may be anywhere."""
    pattern = as_pattern(text)
    return pattern if pattern.startswith("*") else reader.files.relative(reader.files.absolute(pattern, folder))


def _add_made(reader: Interpreter, target: Declared, text: str, place: Place, condition: Guard) -> None:
    """A source in the build folder: a copy of the one at the same place in the source folder, if there is one."""
    path = reader.files.absolute(text.removeprefix(_BINARY).lstrip("/"), reader.text("CMAKE_SOURCE_DIR"))
    if reader.files.is_file(path):
        target.sources.append(Compiled(reader.files.relative(path), place, condition, copied=True))
    else:
        # The name of a copy may be anything as long as a part of it is not known.
        target.unknown.append(reader.files.relative(path) if is_known(path) else "*")


# What targets have.


def named_targets(reader: Interpreter, name: str) -> list[Declared]:
    """The targets of a name that can be there where control is."""
    found = reader.targets.get(reader.aliases.get(name, name), [])
    if not is_known(name):
        found = found[-1:]  # of several that are called by what is not known, the one that was declared last is meant
    return [target for target in found if simplified(target.condition, reader.given) is not NEVER]


def _stated(reader: Interpreter, call: Call) -> Iterator[tuple[Declared, Visibility, Item, Guard]]:
    """What a `target_...` command states, item by item, for each target of the name."""
    for name in call.values[0][:8] if call.values else ():
        for target in named_targets(reader, name.text):
            visibility = Visibility.PUBLIC if call.name == "target_link_libraries" else Visibility.PRIVATE
            for item in call.items(1):
                if item.text in VISIBILITIES:
                    visibility = VISIBILITIES[item.text]
                    continue
                reader.files.budget.spend()
                base = all_of((target.condition, reader.path, name.condition))
                for value in values_of(reader, item):
                    condition = possible(base, value.condition)
                    if condition is not None:
                        yield target, visibility, value, condition


def target_sources(reader: Interpreter, call: Call) -> None:
    """`target_sources`. Those of an interface are compiled by the targets that link it."""
    skipping = False
    for target, visibility, item, condition in _stated(reader, call):
        if item.text in ("FILE_SET", "BASE_DIRS", "TYPE", "FILES"):
            skipping = item.text != "FILES"
        elif skipping:
            continue
        else:
            with reader.within(condition):
                interface = visibility is Visibility.INTERFACE
                holder = _interface_of(reader, target) if interface else target
                add_sources(reader, holder, [Item(item.text, ALWAYS, item.place)], reader.source_folder, call.place)


def _interface_of(reader: Interpreter, target: Declared) -> Declared:
    """A stand-in for the sources that a target has its users compile: an object library that they link."""
    name = f"{target.name} (interface sources)"
    held = next((each for each in reader.targets.get(name, ()) if each.condition == target.condition), None)
    if held is None:
        held = Declared(
            name, TargetKind.OBJECT, BuildSystem.CMAKE, target.place, target.condition, folder=target.folder
        )
        reader.targets.setdefault(name, []).append(held)
        link = Link(name, LinkHow.OBJECTS, target.place, visibility=Visibility.INTERFACE)
        target.links.append((target.condition, link))
    return held


def target_link_libraries(reader: Interpreter, call: Call) -> None:
    """`target_link_libraries`."""
    lines: dict[int, LinkLine] = {}
    for target, visibility, item, condition in _stated(reader, call):
        if item.text in ("debug", "optimized", "general"):
            continue
        line = lines.setdefault(id(target), LinkLine(target.whole))
        _add_words(target, line, item, condition, visibility, call.place)
        target.whole = line.whole


def _add_words(
    target: Declared, line: LinkLine, item: Item, condition: Guard, visibility: Visibility, place: Place
) -> None:
    where = item.place or place
    target.links += [(condition, Link(name, how, where, visibility=visibility)) for name, how in line.links(item.text)]
    if item.text.startswith(("-", "LINKER:", "SHELL:")) and not item.text.startswith("-l"):
        target.options.append((condition, LinkOption(item.text, where, visibility=visibility)))


def _add_link(reader: Interpreter, target: Declared, item: Item, condition: Guard, visibility: Visibility) -> None:
    line = LinkLine()
    for value in values_of(reader, item):
        _add_words(target, line, value, condition, visibility, item.place or target.place)


def _add_option(reader: Interpreter, target: Declared, item: Item, condition: Guard, visibility: Visibility) -> None:
    """An option of the linker; libraries that it forces in are links."""
    for value in values_of(reader, item):
        both = possible(condition, value.condition)
        if both is not None:
            place = value.place or target.place
            line = LinkLine()
            target.options.append((both, LinkOption(value.text, place, visibility=visibility)))
            target.links += [
                (both, Link(name, how, place, visibility=visibility))
                for name, how in line.links(value.text)
                if how is LinkHow.WHOLE_ARCHIVE
            ]


def target_link_options(reader: Interpreter, call: Call) -> None:
    """`target_link_options`."""
    line: dict[int, LinkLine] = {}
    for target, visibility, item, condition in _stated(reader, call):
        place = item.place or call.place
        target.options.append((condition, LinkOption(item.text, place, visibility=visibility)))
        words = line.setdefault(id(target), LinkLine())
        target.links += [
            (condition, Link(name, how, place, visibility=visibility))
            for name, how in words.links(item.text)
            if how is LinkHow.WHOLE_ARCHIVE
        ]


def target_compile_definitions(reader: Interpreter, call: Call) -> None:
    """`target_compile_definitions`, and the `-D` of `target_compile_options`."""
    only_flags = call.name == "target_compile_options"
    for target, visibility, item, condition in _stated(reader, call):
        if not only_flags or item.text.startswith(("-D", "/D")):
            target.defines += _defines(item, condition, visibility)


def _defines(item: Item, condition: Guard, visibility: Visibility) -> list[tuple[Guard, Define]]:
    text = item.text[2:] if item.text.startswith(("-D", "/D")) else item.text
    name, separator, value = text.partition("=")
    if not name.isidentifier():
        return []
    place = item.place or Place("", 1, 0, 0)
    return [(condition, Define(name, value if separator else None, place, visibility=visibility))]


def add_definitions(reader: Interpreter, call: Call) -> None:
    """`add_definitions`, `add_compile_definitions`, and the `-D` of `add_compile_options`: for a folder's targets."""
    flags = call.name != "add_compile_definitions"
    items = [item for item in call.items() if not flags or item.text.startswith(("-D", "/D"))]
    for targets in reader.targets.values():
        for target in targets:
            if target.folder == reader.source_folder and simplified(target.condition, reader.given) is not NEVER:
                for item in items:
                    condition = possible(all_of((target.condition, reader.path)), item.condition)
                    if condition is not None:
                        target.defines += _defines(item, condition, Visibility.PRIVATE)
    _extend_folder(reader, _DEFINES, items)


def add_link_options(reader: Interpreter, call: Call) -> None:
    """`add_link_options`: for the targets of this folder that come after it."""
    _extend_folder(reader, _OPTIONS, call.items())


def link_libraries(reader: Interpreter, call: Call) -> None:
    """`link_libraries`: for the targets of this folder that come after it."""
    _extend_folder(reader, _LIBRARIES, [item for item in call.items() if item.text not in ("debug", "optimized")])


def _extend_folder(reader: Interpreter, name: str, items: Sequence[Item]) -> None:
    reader.set(name, (*(reader.variable(name) or ()), *items))


def set_target_properties(reader: Interpreter, call: Call) -> None:
    """`set_target_properties(names... PROPERTIES name value ...)`."""
    words = call.words
    if "PROPERTIES" in words:
        at = words.index("PROPERTIES")
        pairs = zip(words[at + 1 :: 2], call.values[at + 2 :: 2], strict=False)
        _set_properties(reader, call.items()[:at], list(pairs), call.place, replace=True)


def set_property(reader: Interpreter, call: Call) -> None:
    """`set_property(TARGET names... [APPEND] PROPERTY name values...)`, and that of `GLOBAL` properties."""
    words = call.words
    if words[:1] == ["GLOBAL"] and "PROPERTY" in words[1:-1]:
        at = words.index("PROPERTY")
        name = _GLOBAL + words[at + 1]
        before = reader.frame.value(name) if "APPEND" in words[1:at] else None
        reader.set_global(name, (*(before or ()), *call.items(at + 2)))
    if words[:1] == ["TARGET"] and "PROPERTY" in words[1:-1]:
        at = words.index("PROPERTY")
        names = [item for item in call.items(1)[: at - 1] if item.text not in ("APPEND", "APPEND_STRING")]
        replace = "APPEND" not in words[:at]
        _set_properties(reader, names, [(words[at + 1], call.items(at + 2))], call.place, replace=replace)


def _set_properties(
    reader: Interpreter,
    names: Iterable[Item],
    pairs: Sequence[tuple[str, Items]],
    place: Place,
    *,
    replace: bool,
) -> None:
    for name in names:
        for target in named_targets(reader, name.text):
            base = all_of((target.condition, reader.path, name.condition))
            for key, value in pairs:
                if key == "SOURCES" and replace:
                    kept = opposite(base)
                    target.sources = [
                        each._replace(condition=all_of((each.condition, kept))) for each in target.sources
                    ]
                _set_one(reader, target, key, value, base, place)


def _set_one(reader: Interpreter, target: Declared, key: str, value: Items, base: Guard, place: Place) -> None:
    target.properties[key] = list(value)
    for item in value:
        condition = possible(base, item.condition)
        if condition is None:
            continue
        if key == "COMPILE_DEFINITIONS":
            target.defines += _defines(item, condition, Visibility.PRIVATE)
        elif key in ("LINK_FLAGS", "LINK_OPTIONS", "INTERFACE_LINK_OPTIONS"):
            visibility = Visibility.INTERFACE if key.startswith("INTERFACE") else Visibility.PRIVATE
            _add_option(reader, target, Item(item.text, ALWAYS, item.place or place), condition, visibility)
        elif key in ("LINK_LIBRARIES", "INTERFACE_LINK_LIBRARIES"):
            visibility = Visibility.INTERFACE if key.startswith("INTERFACE") else Visibility.PRIVATE
            _add_link(reader, target, Item(item.text, ALWAYS, item.place or place), condition, visibility)
        elif key == "SOURCES":
            add_sources(reader, target, [item], target.folder, place)
        elif key == "LINK_LIBRARY_OVERRIDE" and item.text.startswith("WHOLE_ARCHIVE,"):
            overridden = item.text.split(",")[1:]
            target.links += [
                (condition, Link(library_name(each), LinkHow.WHOLE_ARCHIVE, item.place or place)) for each in overridden
            ]


def set_source_properties(reader: Interpreter, call: Call) -> None:
    """`set_source_files_properties(files... PROPERTIES HEADER_FILE_ONLY ON)`: what is not compiled by itself."""
    words = call.words
    at = words.index("PROPERTIES") if "PROPERTIES" in words else len(words)
    properties = dict(zip(words[at + 1 :: 2], words[at + 2 :: 2], strict=False))
    if reader.path is ALWAYS and constant(properties.get("HEADER_FILE_ONLY", "")) is True:
        files = [item for value in call.values[:at] for item in value if item.condition is ALWAYS]
        reader.mention(files)
        reader.headers.update(reader.files.absolute(item.text, reader.source_folder) for item in files)


def get_property(reader: Interpreter, call: Call) -> None:
    """`get_target_property(VAR target name)` and `get_property(VAR TARGET target PROPERTY name)`."""
    words = call.words
    if call.name == "get_target_property" and len(words) > 2:
        name, key = words[1], words[2]
    elif words[1:2] == ["TARGET"] and len(words) > 4:
        name, key = words[2], words[4]
    elif words[1:3] == ["GLOBAL", "PROPERTY"] and len(words) > 3:
        value = reader.variable(_GLOBAL + words[3])
        reader.set(words[0], [symbol(words[0], call.place)] if value is None else value)
        return
    else:
        if words:
            reader.set(words[0], [symbol(words[0], call.place)])
        return
    found = named_targets(reader, name)
    if key == "SOURCES" and found:
        reader.set(words[0], _sources_as_items(reader, found))
    elif found and key in found[0].properties:
        reader.set(words[0], found[0].properties[key])
    else:
        reader.set(words[0], [symbol(words[0], call.place)])


def _sources_as_items(reader: Interpreter, targets: Iterable[Declared]) -> Iterator[Item]:
    for target in targets:
        for source in target.sources:
            yield Item(reader.files.absolute(source.path), source.condition, source.place)


# Other files.


def project(reader: Interpreter, call: Call) -> None:
    """`project(NAME ...)`."""
    if not call.values:
        return
    name = call.words[0]
    source, binary = reader.text("CMAKE_CURRENT_SOURCE_DIR"), reader.text("CMAKE_CURRENT_BINARY_DIR")
    for prefix in ("PROJECT", name):
        reader.set(f"{prefix}_SOURCE_DIR", [Item(source)])
        reader.set(f"{prefix}_BINARY_DIR", [Item(binary)])
    reader.set("PROJECT_NAME", [Item(name, ALWAYS, call.values[0][0].place if call.values[0] else None)])
    if reader.frame.value("CMAKE_PROJECT_NAME") is None:
        reader.set("CMAKE_PROJECT_NAME", [Item(name)])


def add_subdirectory(reader: Interpreter, call: Call) -> None:
    """`add_subdirectory(folder)`: its `CMakeLists.txt` in a scope of its own."""
    for item in call.values[0][:64] if call.values else ():
        if is_known(item.text):
            folder = reader.files.absolute(item.text, reader.source_folder)
            with reader.within(item.condition):
                enter_folder(reader, folder, call.place)


def enter_folder(reader: Interpreter, folder: str, place: Place) -> None:
    """Read the `CMakeLists.txt` of a folder, as `add_subdirectory` does."""
    if folder in reader.elsewhere:
        return
    outer = reader.frame
    top = reader.text("CMAKE_SOURCE_DIR")
    reader.frame = Frame(outer)
    try:
        below = posixpath.relpath(folder, top) if folder.startswith(top) else posixpath.basename(folder)
        reader.set("CMAKE_CURRENT_SOURCE_DIR", [Item(folder)])
        reader.set("CMAKE_CURRENT_BINARY_DIR", [Item(posixpath.join(_BINARY, below) if below != "." else _BINARY)])
        reader.run_file(posixpath.join(folder, "CMakeLists.txt"), place)
        finish_folder(reader)
    finally:
        reader.leave(outer)


def include(reader: Interpreter, call: Call) -> None:
    """`include(file or module)`: in the scope of the including file."""
    if not call.values:
        return
    for item in call.values[0][:8]:
        with reader.within(item.condition):
            path = _module(reader, item.text)
            if path is not None:
                reader.run_file(path, call.place)
            elif _is_missing(reader, call, item.text):
                missing = f"`{item.text}` is not there: what it says is not known"
                reader.files.note("build-missing", missing, call.place)


def _is_missing(reader: Interpreter, call: Call, name: str) -> bool:
    """Whether a file of the project is included that is not there, though nothing says that it may be missing."""
    inside = name.endswith(".cmake") and is_known(name) and not name.startswith("/usr/")
    return inside and reader.path is ALWAYS and "OPTIONAL" not in call.words and "RESULT_VARIABLE" not in call.words


def _module(reader: Interpreter, name: str) -> str | None:
    """The file that `include` or `find_package` means; None for one that is not in the project."""
    if name.endswith(".cmake") or "/" in name:
        if not is_known(name):
            return None
        path = reader.files.absolute(name, reader.source_folder)
        return path if reader.files.is_file(path) else None
    folders = [item.text for item in reader.variable("CMAKE_MODULE_PATH") or () if is_known(item.text)]
    candidates = (reader.files.absolute(f"{folder}/{name}.cmake", reader.source_folder) for folder in folders)
    return next((path for path in candidates if reader.files.is_file(path)), None)


def find_package(reader: Interpreter, call: Call) -> None:
    """`find_package(NAME)`: the project's own `FindNAME.cmake` is read; a required package is taken as found."""
    if not call.values:
        return
    name = call.words[0]
    if name == "Torch":
        look_for_torch(reader, call)
    own = _module(reader, f"Find{name}")
    if own is not None and reader.is_in(own):
        own = None  # a module that asks for its own package means the one that is installed
    if own is not None:
        reader.run_file(own, call.place)
    found = f"{name}_FOUND"
    if "REQUIRED" in call.words:
        reader.set(found, [Item("TRUE")])
    elif own is None and reader.frame.value(found) is None:
        reader.set(found, [symbol(found, call.place)])


def call_language(reader: Interpreter, call: Call) -> None:
    """`cmake_language(CALL name arguments...)`, `EVAL CODE text...` and `DEFER ... CALL name arguments...`."""
    words = call.words
    if words[:2] == ["EVAL", "CODE"]:
        texts = [text for text in words[2:] if text]
        if all(map(is_known, texts)):
            reader.run_text(" ".join(texts), call.place)
        else:
            reader.mention(call.items(2))
    elif "CALL" in words[:-1] and words[0] in ("CALL", "DEFER"):
        at = words.index("CALL") + 1
        if is_known(words[at]):
            command = call.command
            named = Call(
                type(command)(words[at].lower(), command.arguments, command.place, command.name_place),
                call.values[at + 1 :],
            )
            if words[0] == "CALL":
                reader.call(named)
            else:
                reader.deferred.setdefault(reader.source_folder, []).append(named)


def minimum_required(reader: Interpreter, call: Call) -> None:
    """`cmake_minimum_required(VERSION x[...y])`: the first one is the project's."""
    if call.words[:1] == ["VERSION"] and len(call.words) > 1 and not reader.minimum:
        reader.minimum = call.words[1].partition("...")[0]


HANDLERS: dict[str, Handler | None] = {
    "add_library": add_library,
    "add_executable": add_executable,
    "add_custom_command": add_custom_command,
    "python_add_library": add_python_module,
    "python3_add_library": add_python_module,
    "pybind11_add_module": add_python_module,
    "nanobind_add_module": add_python_module,
    "cuda_add_library": add_device_library,
    "cuda_add_executable": add_device_library,
    "hip_add_library": add_device_library,
    "hip_add_executable": add_device_library,
    "target_sources": target_sources,
    "target_link_libraries": target_link_libraries,
    "target_link_options": target_link_options,
    "target_compile_definitions": target_compile_definitions,
    "target_compile_options": target_compile_definitions,
    "add_definitions": add_definitions,
    "add_compile_definitions": add_definitions,
    "add_compile_options": add_definitions,
    "add_link_options": add_link_options,
    "link_libraries": link_libraries,
    "set_target_properties": set_target_properties,
    "set_source_files_properties": set_source_properties,
    "set_property": set_property,
    "get_target_property": get_property,
    "get_property": get_property,
    "cmake_minimum_required": minimum_required,
    "project": project,
    "add_subdirectory": add_subdirectory,
    "include": include,
    "find_package": find_package,
    "cmake_language": call_language,
    **dict.fromkeys(
        (
            "cmake_policy", "message", "include_directories", "target_include_directories",
            "enable_language", "install", "export", "target_compile_features",
            "add_dependencies", "enable_testing", "add_test", "set_tests_properties", "include_guard",
            "link_directories", "target_link_directories", "set_directory_properties", "source_group", "variable_watch",
            "configure_package_config_file", "write_basic_package_version_file", "target_precompile_headers",
            "find_package_handle_standard_args", "get_cmake_property", "get_directory_property", "mark_as_advanced",
            "get_source_file_property", "endif", "else", "elseif", "endforeach", "endwhile", "endfunction", "endmacro",
        ),
        None,
    ),
}  # fmt: skip
