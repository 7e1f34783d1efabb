"""The configuration: `[tool.op-lint]` in `pyproject.toml`, or `op-lint.toml` beside it (which then wins)."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec

from op_lint.facts import Place, Problem
from op_lint.files import CONFIGURATION_NAMES, DEFAULT_EXCLUDE, relative_path
from op_lint.gitignore import is_valid
from op_lint.nearest import did_you_mean
from op_lint.python.options import Wrapper
from op_lint.rule import Rule
from op_lint.selection import Selectors, is_known
from op_lint.text import SourceText

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_TABLE = ("tool", "op-lint")
"""Where the settings stand in `pyproject.toml`; in `op-lint.toml` they are the whole file."""

_Text = tuple[str, ...]


class Settings(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    """What can be configured. The descriptions and defaults here are the documentation and the JSON schema."""

    select: Annotated[
        _Text | None,
        msgspec.Meta(description="Rules to run instead of the default set: codes, prefixes of codes, names, or ALL."),
    ] = None
    extend_select: Annotated[_Text, msgspec.Meta(description="Rules to run besides `select` or the default set.")] = ()
    ignore: Annotated[_Text, msgspec.Meta(description="Rules not to run, unless a more specific selector asks.")] = ()
    per_file_ignores: Annotated[
        dict[str, _Text],
        msgspec.Meta(description="Rules whose findings are left out in files that match a pattern as in `.gitignore`."),
    ] = {}
    exclude: Annotated[
        _Text,
        msgspec.Meta(description="Patterns as in `.gitignore`, relative to the project's root, of what is not read."),
    ] = DEFAULT_EXCLUDE
    extend_exclude: Annotated[_Text, msgspec.Meta(description="Patterns to add to `exclude`.")] = ()
    force_exclude: Annotated[
        bool, msgspec.Meta(description="Leave out excluded files even where the command line names them.")
    ] = False
    respect_gitignore: Annotated[bool, msgspec.Meta(description="Leave out what `.gitignore` files leave out.")] = True
    include_dirs: Annotated[
        _Text, msgspec.Meta(description="Folders in which `#include` looks first, relative to the project's root.")
    ] = ()
    defines: Annotated[
        _Text, msgspec.Meta(description="Macros of the build, `NAME` or `NAME=VALUE`, as after the compiler's `-D`.")
    ] = ()
    wrappers: Annotated[
        tuple[Wrapper, ...],
        msgspec.Meta(
            description="Python functions that register operators and that op-lint cannot read: tables with `name`,"
            " `parameters`, `operator`, and which parameter is what."
        ),
    ] = ()
    compile_commands: Annotated[
        str | None, msgspec.Meta(description="The compile database, where it is not found beside the sources.")
    ] = None
    python: Annotated[
        str | None, msgspec.Meta(description="The Python interpreter whose torch the sources are held against.")
    ] = None
    torch: Annotated[
        bool, msgspec.Meta(description="Whether to hold the sources against a torch at all; false as `--no-torch`.")
    ] = True
    torch_version: Annotated[
        str | None,
        msgspec.Meta(description="The torch version whose bundled snapshot serves instead of an installed torch."),
    ] = None
    load: Annotated[
        _Text,
        msgspec.Meta(
            description="Built libraries, relative to the project's root, that are loaded and held against the sources."
        ),
    ] = ()
    imports: Annotated[
        _Text,
        msgspec.Meta(description="Python modules that are imported for the same purpose; found from the root, too."),
    ] = msgspec.field(default=(), name="import")
    baseline: Annotated[
        str | None,
        msgspec.Meta(
            description="The file of known findings, relative to the project's root: only what is new is reported."
        ),
    ] = None
    cache_dir: Annotated[
        str | None, msgspec.Meta(description="Where facts are kept between runs; by default the user's cache folder.")
    ] = None

    @property
    def selectors(self) -> Selectors:
        """What the configuration says about rules."""
        return Selectors(self.select, self.extend_select, self.ignore)


class Configuration(msgspec.Struct, frozen=True):
    """The settings of a project, where each came from, and what is wrong with them.

    `path` is the file that was read, relative to the project's root, None where there is none. `places` says
    where a key (as written, `extend-select`) was set; a key that is not there has its default. Each problem
    (code `configuration`) is one wrong key or value, which then counts as not set.
    """

    settings: Settings = Settings()
    path: str | None = None
    places: Mapping[str, Place] = {}
    problems: tuple[Problem, ...] = ()


def load_configuration(root: Path, chosen: Path | None = None, buffers: Mapping[str, bytes] = {}) -> Configuration:
    """Read the configuration of the project at `root`, or the file `chosen` in its stead.

    `buffers` are contents that stand for files on disk, by their path relative to `root`. What cannot be read or
    understood becomes a problem with its place; this never raises for what a file says.
    """
    for file in [chosen] if chosen else [root / name for name in CONFIGURATION_NAMES]:
        path = relative_path(file, root)
        if chosen or path in buffers or os.path.isfile(file):
            configuration = _read(file, path, buffers.get(path), required=chosen is not None)
            if configuration is not None:
                return configuration
    return Configuration()


def selector_problems(configuration: Configuration, rules: Iterable[type[Rule]]) -> tuple[Problem, ...]:
    """A problem for each configured selector that speaks of none of `rules`."""
    rules = tuple(rules)
    settings = configuration.settings
    used: dict[str, Iterable[str]] = {
        "select": settings.select or (),
        "extend-select": settings.extend_select,
        "ignore": settings.ignore,
        "per-file-ignores": (code for codes in settings.per_file_ignores.values() for code in codes),
    }
    return tuple(
        Problem("configuration", f"`{key}`: {unknown_selector(selector, rules)}", configuration.places[key])
        for key, selectors in used.items()
        for selector in selectors
        if not is_known(selector, rules)
    )


def unknown_selector(selector: str, rules: Iterable[type[Rule]]) -> str:
    """What to say of a selector that speaks of no rule."""
    words = [word for rule in rules for word in (rule.code, rule.name)]
    return f"no rule has the code, prefix or name `{selector}`{did_you_mean(selector, words)}"


def _read(file: Path, path: str, typed: bytes | None, *, required: bool) -> Configuration | None:
    """The configuration in one file, or in what is `typed` there.

    None where it has no table for op-lint and nobody asked for it.
    """
    start = Place(path, 1, 0, 0)
    try:
        data = file.read_bytes() if typed is None else typed
    except OSError as error:
        return Configuration(path=path, problems=(Problem("configuration", _unreadable(error), start),))
    try:
        document = tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        place = Place(path, SourceText(data).line_of(error.start), error.start, error.end)
        return Configuration(path=path, problems=(Problem("configuration", "this is not UTF-8", place),))
    except tomllib.TOMLDecodeError as error:
        return Configuration(path=path, problems=(_broken(str(error), path, data),))
    prefix = _TABLE if file.name == "pyproject.toml" else ()
    table: Any = document
    for name in prefix:
        table = table.get(name) if isinstance(table, dict) else None
    if table is None:
        return Configuration(path=path) if required else None
    keys = _KeyPlaces(path, data)
    if not isinstance(table, dict):
        problem = Problem("configuration", "`tool.op-lint` must be a table", keys.place(prefix))
        return Configuration(path=path, problems=(problem,))
    return _convert(table, path, {key: keys.place((*prefix, key)) for key in table})


def _unreadable(error: OSError) -> str:
    return f"the configuration cannot be read: {error.strerror or error}"


def _broken(message: str, path: str, data: bytes) -> Problem:
    """Where TOML breaks; before Python 3.14 the place stands only in the words of the error."""
    found = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)$", message)
    text = SourceText(data)
    words = message[: found.start()] if found else message
    if found and found[1]:
        offset = text.offset_of(int(found[1]) - 1, int(found[2]) - 1, "utf-32")
    else:
        offset = len(data.rstrip())
    return Problem(
        "configuration",
        f"this is not valid TOML, so none of it is used: {words[:1].lower()}{words[1:]}",
        Place(path, text.line_of(offset), offset, offset),
    )


def _convert(table: Mapping[str, Any], path: str, places: Mapping[str, Place]) -> Configuration:
    fields = {field.encode_name: field for field in msgspec.structs.fields(Settings)}
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    for key, value in table.items():
        if key not in fields:
            words = f"there is no setting `{key}`{did_you_mean(key, fields)}"
            problems.append(Problem("configuration", words, places[key]))
            continue
        try:
            values[fields[key].name] = msgspec.convert(value, fields[key].type)
        except msgspec.ValidationError as error:
            problems.append(Problem("configuration", f"`{key}`: {_plain_words(str(error))}", places[key]))
    known = {key: place for key, place in places.items() if key in fields and fields[key].name in values}
    problems += (
        Problem("configuration", f"`{key}`: `{pattern}` matches nothing: {why}", places[key])
        for key in ("exclude", "extend-exclude", "per-file-ignores")
        for pattern in values.get(fields[key].name, ())
        if (why := _matches_nothing(pattern))
    )
    return Configuration(Settings(**values), path, known, tuple(problems))


def _matches_nothing(pattern: str) -> str | None:
    """Why no path of the project can match a pattern as in `.gitignore`; None where one may."""
    parts = pattern.removeprefix("!").split("/")
    if ".." in parts:
        return "patterns are relative to the project's root, and do not leave it"
    if "." in parts:
        return f"write `{pattern.replace('./', '/' if parts[0] == '.' else '', 1)}`, as in .gitignore"
    if not any(parts) or pattern.lstrip().startswith("#"):
        return "it is as a blank line or a comment of .gitignore"
    if not is_valid(pattern):
        return "it is no pattern as in .gitignore"
    return None


_PLAIN = {
    "array": "a list",
    "bool": "true or false",
    "float": "a number",
    "int": "a whole number",
    "object": "a table",
    "str": "a string",
}


def _plain_words(message: str) -> str:
    """What msgspec calls ``Expected `array | null`, got `str` - at `$[0]` `` in the words of TOML."""
    item = re.search(r" - at `\$\[(\d+)\]", message)
    which = f" (item {int(item[1]) + 1})" if item else ""
    unknown = re.match(r"Object contains unknown field `([^`]+)`", message)
    if unknown:
        return f"there is no key `{unknown[1]}`{which}"
    missing = re.match(r"Object missing required field `([^`]+)`", message)
    if missing:
        return f"the key `{missing[1]}` is missing{which}"
    found = re.match(r"Expected `([^`]+)`, got `([^`]+)`", message)
    if not found:
        return message[:1].lower() + message[1:]
    wanted, got = (
        " or ".join(_PLAIN.get(name, name) for name in words.split(" | ") if name != "null") for words in found.groups()
    )
    return f"this must be {wanted}, not {got}{which}"


_HEADER = re.compile(rb"[ \t]*\[{1,2}([^\[\]#]+)\]{1,2}")
_PART = re.compile(rb"""[ \t]*(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<bare>[\w-]+))[ \t]*""", re.ASCII)


class _KeyPlaces:
    """Where the keys of a TOML document stand: tomllib tells values, not places.

    Read line by line, so a key inside an inline table is not found: then the nearest key around it is the answer.
    """

    def __init__(self, path: str, data: bytes) -> None:
        self._path = path
        self._found: dict[tuple[str, ...], Place] = {}
        for keys, place in self._scan(data):
            self._found.setdefault(keys, place)

    def place(self, keys: tuple[str, ...]) -> Place:
        while keys and keys not in self._found:
            keys = keys[:-1]
        return self._found.get(keys, Place(self._path, 1, 0, 0))

    def _scan(self, data: bytes) -> Iterator[tuple[tuple[str, ...], Place]]:
        table: tuple[str, ...] = ()
        for line, start in enumerate(SourceText(data).line_starts, 1):
            header = _HEADER.match(data, start)
            parts = list(self._parts(data, header.start(1) if header else start))
            names = tuple(name for name, _, _ in parts)
            above = () if header else table
            table = names if header else table
            for count, (_, first, last) in enumerate(parts, 1):
                yield (*above, *names[:count]), Place(self._path, line, first, last)

    def _parts(self, data: bytes, start: int) -> Iterator[tuple[str, int, int]]:
        """The parts of a dotted key with their extent (without quotes)."""
        while part := _PART.match(data, start):
            kind = part.lastgroup or "bare"
            yield part[kind].decode("utf-8", "replace"), part.start(kind), part.end(kind)
            if data[part.end() : part.end() + 1] != b".":
                return
            start = part.end() + 1
