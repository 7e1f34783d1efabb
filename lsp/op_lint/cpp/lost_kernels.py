"""Registrations whose kernel libclang gives up: read without it.

Where the kernel of `m.impl("f", Adapted<&at::eq>::call)` has an error that no declaration of ours mends, libclang drops
the whole call, and with it the operator and its key. So the source is parsed once more with a function of ours in the
kernel's place, and what was missing is taken from there. The kernel is known by its text alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from op_lint.cpp.call_text import arguments_of
from op_lint.cpp.expansion import Macro
from op_lint.cpp.macro_words import MacroWords
from op_lint.cpp.preprocess import Preprocessed
from op_lint.cpp.registrations import ROW_LISTS, Registrations, Row
from op_lint.cpp.repair import UNKNOWN
from op_lint.cpp.scan import blanked
from op_lint.cpp.scanned import ScannedFile
from op_lint.cpp.views import View
from op_lint.facts import Definition, Fallback, Implementation, Place, Unit, Unresolved

_CALL = re.compile(rb"(?:\.|->)\s*(?:template\s+)?(def|impl|fallback)\s*\(")
_ROOM = re.compile(rb"[^\s\\][^\n\\]*")
_WRAPPERS = re.compile(r"\A(?:TORCH_FN|TORCH_BOX)\(\s*(.*?)\s*\)\Z", re.DOTALL)


@dataclass
class LostKernels:
    """Kernels that were taken out: the files without them, and by the name of the function in its place what it was."""

    files: dict[str, bytes]
    texts: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    """For what stood in the body of a macro: its name and parameters."""

    def header(self) -> bytes:
        """Declares the functions that stand in for the kernels."""
        return b"".join(f"\n{UNKNOWN} {name}(...);".encode() for name in self.texts)

    def take_out(self, view: View, code: bytes, call: re.Match[bytes], limit: int) -> str | None:
        """Put a function of ours in the place of the kernel of `call`, if it has one; its name."""
        argument = _kernel_of(call.group(1), list(arguments_of(code, call.end(), limit)))
        if argument is None:
            return None
        start, end = argument
        data = self.files[view.alias]
        name = f"_k{len(self.texts)}"
        stand_in = b"::" + name.encode()
        room = next((each for each in _ROOM.finditer(data, start, end) if len(each.group()) >= len(stand_in)), None)
        if room is None:
            return None
        gone = blanked(data[start:end].replace(b"\\", b" "))
        for splice in re.finditer(rb"\\(?=[ \t]*\r?\n)", data[start:end]):
            gone = gone[: splice.start()] + b"\\" + gone[splice.end() :]
        at = room.start() - start
        text = gone[:at] + stand_in + gone[at + len(stand_in) :]
        self.files[view.alias] = data[:start] + text + data[end:]
        written = " ".join(view.data[start:end].replace(b"\\\n", b" ").decode("utf-8", "replace").split())
        self.texts[name] = _WRAPPERS.sub(r"\1", written).lstrip("&")
        return name

    def name_at(self, name: str, place: Place, main: View) -> str:
        """The kernel that a function stands in for, as the use of a macro at `place` gives it."""
        text = self.texts.get(name, name)
        macro, parameters = self.parameters.get(name, ("", ()))
        use = main.data[place.start : place.end]
        if not macro or not use.startswith(macro.encode()) or b"(" not in use:
            return text
        spans = arguments_of(use, use.index(b"(") + 1, len(use))
        given = [" ".join(use[start:end].decode("utf-8", "replace").split()) for start, end in spans]
        if len(given) != len(parameters):
            return text
        values = dict(zip(parameters, given, strict=True))
        return re.sub(r"[A-Za-z_]\w*", lambda word: values.get(word.group(), word.group()), text)


def take_out(
    files: Mapping[str, bytes],
    preprocessed: Preprocessed,
    scanned: Callable[[View], ScannedFile],
    missed: Iterable[Unresolved],
    macros: MacroWords,
) -> LostKernels | None:
    """The files without the kernels of the `missed` calls, or of what the missed uses of macros register."""
    lost = LostKernels(dict(files))
    main = preprocessed.main
    code = scanned(main).blanked.code
    hiding: set[bytes] = set()
    for row in missed:
        call = _CALL.search(code, row.place.start, row.place.end + 1)
        if call is not None:
            lost.take_out(main, code, call, len(code))
        elif (use := re.compile(rb"[A-Za-z_]\w*").match(code, row.place.start)) is not None:
            hiding.add(use.group())
    if hiding:
        for view in preprocessed.views:
            _in_macros(lost, view, scanned(view), macros.behind(hiding))
    return lost if lost.texts else None


def _in_macros(lost: LostKernels, view: View, scanned: ScannedFile, names: Collection[bytes]) -> None:
    """Take out the kernels in the bodies of the macros called `names` of one file."""
    for name in sorted(names & scanned.definitions.keys()):
        for directive in scanned.definitions[name]:
            for call in _CALL.finditer(scanned.bare, directive.start, directive.end):
                gone = lost.take_out(view, scanned.bare, call, directive.end)
                if gone is not None:
                    lost.parameters[gone] = (name.decode(), _parameters(scanned.macros[name]))


def _parameters(macro: Macro) -> tuple[str, ...]:
    return tuple(parameter.decode() for parameter in macro.parameters or ())


def _kernel_of(method: bytes, arguments: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """Which argument of a call is the kernel."""
    if method == b"fallback":
        return arguments[0] if arguments else None
    if len(arguments) < 2:
        return None
    return arguments[1] if method == b"def" else arguments[-1]


def with_found(
    found: Registrations, again: Registrations, missed: Sequence[Unresolved], lost: LostKernels, main: View
) -> Registrations:
    """What was `found`, and of what was found `again` the rows where something was `missed`."""
    starts = [row.place.start for row in missed]
    merged = Registrations(units=list(found.units))
    numbers = {_identity(unit): unit.id for unit in found.units}
    for name in ROW_LISTS:
        rows = list(getattr(found, name))
        if name != "unresolved":
            more = (row for row in getattr(again, name) if _is_missed(row.place, main.path, starts))
            rows += [_taken(row, again, merged, numbers, lost, main) for row in more]
        setattr(merged, name, sorted(rows, key=lambda row: row.place))
    return merged


def _is_missed(place: Place, path: str, starts: Sequence[int]) -> bool:
    return place.path == path and any(place.start <= start < place.end for start in starts)


def _taken(
    row: Row, again: Registrations, merged: Registrations, numbers: dict[object, int], lost: LostKernels, main: View
) -> Row:
    """A row of the other reading under the unit that it has in this one."""
    assert row.unit is not None
    unit = again.units[row.unit]
    number = numbers.get(_identity(unit))
    if number is None:
        number = numbers[_identity(unit)] = len(merged.units)
        merged.units.append(replace(unit, id=number))
    row = replace(row, unit=number)
    if not isinstance(row, Definition | Implementation | Fallback) or row.kernel is None:
        return row
    return replace(row, kernel=replace(row.kernel, name=lost.name_at(row.kernel.name, row.place, main)))


def _identity(unit: Unit) -> object:
    return (unit.place, unit.spelled, unit.kind, unit.namespace, unit.key, unit.function)
