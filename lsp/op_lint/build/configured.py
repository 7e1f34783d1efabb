"""Builds that were configured: what CMake, Ninja or a compile database left behind says exactly what is compiled.

Three kinds of files are read, of one folder the first that is there: the replies of the CMake File API
(cmake-file-api(7), codemodel version 2), `build.ninja`, and `compile_commands.json`, which knows no links.
"""

from __future__ import annotations

import json
import posixpath
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import msgspec

from op_lint.build.cmake.targets import LinkLine
from op_lint.build.files import BuildFiles
from op_lint.build.model import BuildSystem, Define, Link, LinkHow, LinkOption, Source, Target, TargetKind
from op_lint.facts import Place

_REPLIES = ".cmake/api/v1/reply"
_NINJA = "build.ninja"
_DATABASE = "compile_commands.json"
_DEEPEST = 3
_MOST_FOLDERS = 2_000
_MOST_EDGES = 200_000
_SKIPPED = frozenset({".git", ".venv", "venv", "node_modules", "site-packages", "CMakeFiles", "__pycache__"})

_TYPES = {
    "EXECUTABLE": TargetKind.EXECUTABLE,
    "STATIC_LIBRARY": TargetKind.STATIC,
    "SHARED_LIBRARY": TargetKind.SHARED,
    "MODULE_LIBRARY": TargetKind.MODULE,
    "OBJECT_LIBRARY": TargetKind.OBJECT,
    "INTERFACE_LIBRARY": TargetKind.INTERFACE,
}
_COMPILER = re.compile(r"\w*_COMPILER__.+|(?:cuda_|sycl_)?compile")
_LINKER = re.compile(
    r"\w+?_(?P<type>EXECUTABLE|STATIC_LIBRARY|SHARED_LIBRARY|MODULE_LIBRARY)_LINKER__(?P<target>.+)_\w*\Z"
)
_OBJECT_FOLDER = re.compile(r"CMakeFiles/([^/]+)\.dir/")


class Configured(NamedTuple):
    """The targets of one build folder, and the folder of the sources that it was configured from."""

    folder: str
    sources: str
    targets: tuple[Target, ...]
    files: tuple[str, ...]


def read_configured(files: BuildFiles) -> list[Configured]:
    """Every configured build in the project, up to three folders deep. Never raises."""
    found: list[Configured] = []
    for folder in _folders(files):
        for read in (_from_replies, _from_ninja, _from_database):
            try:
                configured = read(files, folder)
            except (
                ValueError,
                TypeError,
                KeyError,
                IndexError,
                AttributeError,
                RecursionError,
                StopIteration,
            ) as error:
                configured = None  # it was cut short or is of another tool: nothing is known from it
                if read is _from_database or isinstance(error, json.JSONDecodeError):
                    _note(files, folder, error)
            if configured is not None:
                found.append(configured)
                break
    return found


def _note(files: BuildFiles, folder: str, error: Exception) -> None:
    """Say which configured build is not read, and where its file is broken."""
    broken = error.doc if isinstance(error, json.JSONDecodeError) else None
    database = files.read(f"{folder}/{_DATABASE}")
    if broken is None and database is None:
        return
    is_database = broken is None or (database is not None and database.decode("utf-8", "replace") == broken)
    path = files.relative(f"{folder}/{_DATABASE if is_database else _REPLIES}")
    line = error.lineno if isinstance(error, json.JSONDecodeError) else 1
    what = f"no JSON ({error.msg})" if isinstance(error, json.JSONDecodeError) else "not what such a file holds"
    files.note("build-configured", f"{what}: what was configured is not known", Place(path, line, 0, 0))


def combined(read: Sequence[Target], configured: Iterable[Configured]) -> tuple[Target, ...]:
    """The targets that were read statically, made exact where a configured build has them.

    What is linked is as that build says. Its sources are certainly there; others keep their conditions, since there are
    other configurations, and sources that a pattern finds since it was configured.
    """
    exact: dict[tuple[str, str], Target] = {}
    for build in configured:
        exact |= {(build.sources, target.name): target for target in build.targets}
    result: list[Target] = []
    used: set[tuple[str, str]] = set()
    for target in read:
        key = (target.project, target.name)
        known = exact.get(key) if target.system is BuildSystem.CMAKE else None
        if known is None or known.kind not in (target.kind, TargetKind.UNKNOWN):
            result.append(target)
        elif key not in used:
            used.add(key)
            result.append(_exact(target, known))
    return (*result, *(target for key, target in exact.items() if key not in used))


def _exact(target: Target, known: Target) -> Target:
    there = {source.path for source in known.sources}
    places = {source.path: source.place for source in target.sources}
    sources = [msgspec.structs.replace(source, place=places.get(source.path, source.place)) for source in known.sources]
    others = [source for source in target.sources if source.path not in there]
    has_links = known.system is not BuildSystem.COMPILE_COMMANDS
    return msgspec.structs.replace(
        target,
        sources=(*sources, *others),
        links=_placed(target.links, known.links) if has_links else target.links,
        options=known.options if has_links else target.options,
        defines=known.defines or target.defines,
        unknown=(),
    )


def _placed(read: Sequence[Link], exact: Sequence[Link]) -> tuple[Link, ...]:
    """The exact links at the places where the build files state them, the interface's own ones kept."""
    places = {link.to: link.place for link in read}
    return tuple(msgspec.structs.replace(link, place=places.get(link.to, link.place)) for link in exact)


def _folders(files: BuildFiles) -> Iterator[str]:
    """The folders with something of a configured build in them."""
    pending = [(files.root, 0)]
    seen = 0
    while pending and seen < _MOST_FOLDERS:
        folder, depth = pending.pop(0)
        seen += 1
        names = {entry.name: entry.is_folder and not entry.is_link for entry in files.entries(folder)}
        if {_NINJA, _DATABASE} & names.keys() or (".cmake" in names and files.is_folder(f"{folder}/{_REPLIES}")):
            yield folder
        if depth < _DEEPEST:
            inner = (name for name, is_folder in names.items() if is_folder and name not in _SKIPPED)
            pending += [(posixpath.join(folder, name), depth + 1) for name in inner if not name.startswith(".")]


# The CMake File API.


def _from_replies(files: BuildFiles, folder: str) -> Configured | None:
    replies = f"{folder}/{_REPLIES}"
    index = max((entry.name for entry in files.entries(replies) if entry.name.startswith("index-")), default=None)
    if index is None:
        return None
    document = _json(files, f"{replies}/{index}")
    model = next(each["jsonFile"] for each in document["objects"] if each["kind"] == "codemodel")
    codemodel = _json(files, f"{replies}/{model}")
    source = codemodel["paths"]["source"]
    listed = [_json(files, f"{replies}/{each['jsonFile']}") for each in codemodel["configurations"][0]["targets"]]
    if any(_is_newer(files, f"{replies}/{index}", source, each) for each in listed):
        return None
    reader = _Replies(files, folder, source, listed)
    targets = tuple(reader.target(each) for each in listed if each["type"] in _TYPES)
    return Configured(folder, _project(files, source), targets, (files.relative(f"{replies}/{index}"),))


def _is_newer(files: BuildFiles, index: str, source: str, target: Mapping[str, Any]) -> bool:
    """Whether a file that declares the target has changed since the reply was written."""
    written = files.changed(index)
    declared = target.get("backtraceGraph", {}).get("files", ())
    return any(files.changed(files.absolute(path, source)) > written for path in declared)


class _Replies:
    def __init__(self, files: BuildFiles, folder: str, source: str, listed: Sequence[Mapping[str, Any]]) -> None:
        self._files = files
        self._folder = folder
        self._source = source
        self._by_id = {each["id"]: each for each in listed}
        self._by_file = {
            posixpath.basename(artifact["path"]): each["name"]
            for each in listed
            for artifact in each.get("artifacts", ())
        }

    def target(self, given: Mapping[str, Any]) -> Target:
        place = self._place(given, given.get("backtrace"))
        links, options = self._links(given, place)
        return Target(
            given["name"],
            _TYPES[given["type"]],
            BuildSystem.FILE_API,
            place,
            sources=tuple(self._sources(given, place)),
            links=tuple(links),
            options=tuple(options),
            defines=tuple(self._defines(given, place)),
            project=_project(self._files, self._source),
        )

    def _sources(self, given: Mapping[str, Any], place: Place) -> Iterator[Source]:
        for source in given.get("sources", ()):
            path = self._files.absolute(source["path"], self._source)
            if "compileGroupIndex" in source:
                where = self._place(given, source.get("backtrace")) if "backtrace" in source else place
                yield Source(self._files.relative(path), where)

    def _links(self, given: Mapping[str, Any], place: Place) -> tuple[list[Link], list[LinkOption]]:
        line = LinkLine()
        links: list[Link] = []
        options: list[LinkOption] = []
        for fragment in given.get("link", {}).get("commandFragments", ()):
            if fragment.get("role") in ("libraries", "flags"):
                text = fragment["fragment"]
                options += [LinkOption(word, place) for word in _split(text) if word.startswith("-")]
                for word in _split(text):
                    links += [
                        Link(self._by_file.get(posixpath.basename(name), name), how, place)
                        for name, how in line.links(word)
                    ]
        for needed in given.get("dependencies", ()):
            other = self._by_id.get(needed["id"])
            if other is not None and other["type"] == "OBJECT_LIBRARY":
                links.append(Link(other["name"], LinkHow.OBJECTS, place))
        return links, options

    def _name(self, word: str) -> str:
        """The target that a word of a link line means: it names the file that the target makes."""
        return str(self._by_file.get(posixpath.basename(word), word))

    def _defines(self, given: Mapping[str, Any], place: Place) -> Iterator[Define]:
        for group in given.get("compileGroups", ()):
            for define in group.get("defines", ()):
                name, separator, value = define["define"].partition("=")
                yield Define(name, value if separator else None, place)

    def _place(self, given: Mapping[str, Any], node: int | None) -> Place:
        """The line that a node of the backtrace graph names. The API knows no columns."""
        graph = given.get("backtraceGraph", {})
        nodes = graph.get("nodes", ())
        if node is None or not 0 <= node < len(nodes):
            return Place("CMakeLists.txt", 1, 0, 0)
        path = self._files.relative(self._files.absolute(graph["files"][nodes[node]["file"]], self._source))
        return Place(path, int(nodes[node].get("line", 1)), 0, 0)


# Ninja.


class _Edge(NamedTuple):
    outputs: list[str]
    rule: str
    inputs: list[str]
    variables: dict[str, str]


def _from_ninja(files: BuildFiles, folder: str) -> Configured | None:
    data = files.read(f"{folder}/{_NINJA}")
    if data is None:
        return None
    edges = list(_edges(data.decode("utf-8", "replace")))
    place = Place(files.relative(f"{folder}/{_NINJA}"), 1, 0, 0)
    source = _source_folder(files, folder)
    objects: dict[str, str] = {}
    sources: dict[str, list[Source]] = {}
    defines: dict[str, list[Define]] = {}
    for edge in edges:
        if _COMPILER.fullmatch(edge.rule) and edge.inputs and edge.outputs:
            path = files.absolute(edge.inputs[0], folder)
            made = _OBJECT_FOLDER.search(edge.outputs[0])
            name = made[1] if made else posixpath.basename(folder)
            objects[edge.outputs[0]] = name
            sources.setdefault(name, []).append(Source(files.relative(path), place))
            defines.setdefault(name, []).extend(_flags(edge.variables.get("DEFINES", ""), place))
    links = list(_linked(edges, objects, folder, place))
    kinds = {name: kind for name, kind, _, _ in links}
    targets = [
        Target(
            name,
            kinds.get(name, TargetKind.OBJECT),
            BuildSystem.NINJA,
            place,
            sources=tuple(each),
            links=tuple(next((found for own, _, found, _ in links if own == name), ())),
            options=tuple(next((found for own, _, _, found in links if own == name), ())),
            defines=tuple(dict.fromkeys(defines.get(name, ()))),
            project=_project(files, source),
        )
        for name, each in sources.items()
    ]
    return Configured(folder, _project(files, source), tuple(targets), (place.path,)) if targets else None


def _linked(
    edges: Sequence[_Edge], objects: Mapping[str, str], folder: str, place: Place
) -> Iterator[tuple[str, TargetKind, list[Link], list[LinkOption]]]:
    """Name, kind, links and options of what each link edge makes."""
    made = {
        posixpath.join(folder, output): found["target"]
        for edge in edges
        if (found := _LINKER.fullmatch(edge.rule))
        for output in edge.outputs
    }
    for edge in edges:
        found = _LINKER.fullmatch(edge.rule)
        name, kind = (found["target"], _TYPES[found["type"]]) if found else ("", TargetKind.EXTENSION)
        if found is None:
            if edge.rule != "link" or not edge.inputs:
                continue
            name = objects.get(edge.inputs[0], "")
        line = LinkLine()
        options: list[LinkOption] = []
        links = [Link(objects[each], LinkHow.OBJECTS, place) for each in edge.inputs if objects.get(each, name) != name]
        for word in _split(f"{edge.variables.get('LINK_FLAGS', '')} {edge.variables.get('LINK_LIBRARIES', '')}"):
            if word.startswith("-"):
                options.append(LinkOption(word, place))
            links += [Link(made.get(posixpath.join(folder, each), each), how, place) for each, how in line.links(word)]
        yield name, kind, list(dict.fromkeys(links)), options


def _edges(text: str) -> Iterator[_Edge]:
    """The build edges of a Ninja file. Implicit inputs (after `|`) are left out: they are no sources."""
    current: _Edge | None = None
    for count, line in enumerate(text.replace("$\n", "").splitlines()):
        if count > _MOST_EDGES:
            return
        if line.startswith("build "):
            if current is not None:
                yield current
            head, _, tail = line.removeprefix("build ").partition(": ")
            words = _ninja_words(tail.partition(" | ")[0].partition(" || ")[0])
            current = _Edge(_ninja_words(head.partition(" | ")[0]), words[0] if words else "", words[1:], {})
        elif line.startswith((" ", "\t")) and current is not None:
            name, _, value = line.strip().partition(" = ")
            current.variables[name] = value.replace("$:", ":").replace("$ ", " ").replace("$$", "$")
        elif line and current is not None:
            yield current
            current = None
    if current is not None:
        yield current


def _ninja_words(text: str) -> list[str]:
    words = re.findall(r"(?:\$.|[^\s$])+", text)
    return [re.sub(r"\$([ :$])", r"\1", word) for word in words]


# The compile database.


def _from_database(files: BuildFiles, folder: str) -> Configured | None:
    entries = _json(files, f"{folder}/{_DATABASE}")
    place = Place(files.relative(f"{folder}/{_DATABASE}"), 1, 0, 0)
    sources: dict[str, list[Source]] = {}
    defines: dict[str, list[Define]] = {}
    for entry in entries[:_MOST_EDGES]:
        directory = str(entry.get("directory", folder))
        path = files.relative(files.absolute(str(entry["file"]), directory))
        given = entry.get("arguments")
        arguments = [str(each) for each in given] if isinstance(given, list) else _split(str(entry.get("command", "")))
        output = str(entry.get("output") or _after(arguments, "-o"))
        made = _OBJECT_FOLDER.search(output)
        if made is not None:
            sources.setdefault(made[1], []).append(Source(path, place))
            defines.setdefault(made[1], []).extend(
                _flags(" ".join(each for each in arguments if each.startswith("-D")), place)
            )
    source = _project(files, _source_folder(files, folder))
    targets = tuple(
        Target(
            name,
            TargetKind.UNKNOWN,
            BuildSystem.COMPILE_COMMANDS,
            place,
            sources=tuple(dict.fromkeys(each)),
            defines=tuple(dict.fromkeys(defines.get(name, ()))),
            project=source,
        )
        for name, each in sources.items()
    )
    return Configured(folder, source, targets, (place.path,)) if targets else None


# What all have in common.


def _json(files: BuildFiles, path: str) -> Any:
    data = files.read(path)
    if data is None:
        raise ValueError(path)
    return json.loads(data)


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _after(arguments: Sequence[str], option: str) -> str:
    return next((after for before, after in pairwise(arguments) if before == option), "")


def _flags(text: str, place: Place) -> Iterator[Define]:
    for word in _split(text):
        if word.startswith("-D"):
            name, separator, value = word[2:].partition("=")
            yield Define(name, value if separator else None, place)


def _source_folder(files: BuildFiles, folder: str) -> str:
    """The folder that a build folder was configured from, as its cache says; else the project's root."""
    data = files.read(f"{folder}/CMakeCache.txt") or b""
    found = re.search(rb"^CMAKE_HOME_DIRECTORY:INTERNAL=(.+)$", data, re.MULTILINE)
    return found[1].decode("utf-8", "replace").strip() if found else files.root


def _project(files: BuildFiles, source: str) -> str:
    """A folder of sources as `Target.project` has it."""
    relative = files.relative(files.absolute(source))
    return "" if relative in (files.root, ".") else relative
