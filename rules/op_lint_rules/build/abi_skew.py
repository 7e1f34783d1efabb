"""OPL506."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.build.model import LOADED, Define, Target, TargetKind, TorchFolder
from op_lint.condition import conjunction
from op_lint.facts import Language, Place
from op_lint.findings import Edit, Finding, Fix, Related, Severity
from op_lint.installed.model import Load, Skew
from op_lint.live import Shift, place_in
from op_lint.program import Program
from op_lint.rule import Rule
from op_lint_rules.build._live import comparison

_LOADED_BY_PYTHON = LOADED - {TargetKind.EXECUTABLE}
_MOST_SYMBOLS = 3
"""Symbols that a note shows."""

_MACRO = "_GLIBCXX_USE_CXX11_ABI"


class AbiSkew(Rule):
    """A library that is built for another ABI than the installed torch.

    ## What it does
    Reports a build file that sets `_GLIBCXX_USE_CXX11_ABI` to another value than the one that the installed torch was
    built with. Reports one that names the folder to take torch from, for a library that registers operators, where the
    torch in it is of another version than the installed one; it is a hint where that cannot be looked up. With `--load`
    or `--import`, reports kernels that the dispatcher has under another key than the block names from which they come,
    where that key's number in another torch is the one's in the torch that runs, and libraries that do not load since
    they ask for functions of torch that the installed one has with other parameters.

    ## Why it is bad
    A build has the numbers of dispatch keys compiled in, and they change between versions: what is CUDA in one is CPU
    in another. The CUDA kernel is then called with CPU tensors, and calls with CUDA tensors raise. As to the macro,
    `std::string` is then another type in the library than in torch, and so is every function that takes one. It
    compiles and links; loading it fails with "undefined symbol", on a name with `std::string` or `__cxx11` in it.

    ## Example
    ```cmake
    cmake_minimum_required(VERSION 3.18)
    project(demo CXX)
    add_library(demo_ops SHARED ops.cpp)
    target_compile_definitions(demo_ops PRIVATE _GLIBCXX_USE_CXX11_ABI=0)
    ```
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    at::Tensor twice(const at::Tensor& x) { return x + x; }

    TORCH_LIBRARY(demo, m) {
      m.def("twice(Tensor x) -> Tensor", &twice);
    }
    ```

    ## Use instead
    ```cmake
    cmake_minimum_required(VERSION 3.18)
    project(demo CXX)
    find_package(Torch REQUIRED)
    add_library(demo_ops SHARED ops.cpp)
    target_link_libraries(demo_ops PRIVATE "${TORCH_LIBRARIES}")
    ```
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    at::Tensor twice(const at::Tensor& x) { return x + x; }

    TORCH_LIBRARY(demo, m) {
      m.def("twice(Tensor x) -> Tensor", &twice);
    }
    ```

    ## Fix
    Gives the macro the value that torch has.

    ## References
    - `torch.compiled_with_cxx11_abi()`, and `TORCH_CXX_FLAGS` of torch's CMake package, which has the right value
    """

    code = "OPL506"
    name = "abi-skew"
    severity = Severity.ERROR

    def check(self, program: Program) -> Iterator[Finding]:
        """What the build files say, and what the loaded extension shows: of both, what there is."""
        yield from self._macros(program)
        yield from self._folders(program)
        for load in program.extension.loads if program.extension is not None else ():
            if load.skew is not None:
                yield from self._unloadable(load, load.skew, program)
        compared, torch = comparison(program), program.installed
        if compared is not None and torch is not None:
            for shift in compared.shifts:
                yield self._shifted(shift, torch.version)

    def _shifted(self, shift: Shift, running: str) -> Finding:
        written, loaded = shift.written, shift.loaded
        versions = list(dict.fromkeys(".".join(version.split(".")[:2]) for version in shift.versions))
        built = " or ".join(filter(None, (", ".join(versions[:-1]), versions[-1])))
        return self.finding(
            written.registered.fact.key_place or place_in(written),
            f"the {written.key} kernel of `{written.operator}` sits at {loaded.key}: the extension was built against "
            f"torch {built} and runs with {running}; rebuild it against the torch that runs",
            related=(Related(place_in(written), "the kernel is registered here"),),
            notes=(
                f"the number of {written.key} in torch {built} is that of {loaded.key} in {running}",
                f"the dispatcher has it as registered at {loaded.path}:{loaded.line}",
            ),
        )

    def _unloadable(self, load: Load, skew: Skew, program: Program) -> Iterator[Finding]:
        """A library that asks for what this torch has otherwise: at the first block that is in it."""
        torch = program.installed
        blocks = sorted(unit.place for unit in program.units if unit.language is Language.CPP)
        held = [place for place in blocks if any(_is_source(each, place.path) for each in skew.sources)]
        if torch is None or not blocks:
            return
        name = load.what.replace("\\", "/").rpartition("/")[2]
        other = f"{_MACRO}={int(not torch.cxx11_abi)}" if skew.other_abi else "another torch"
        wanted = (
            f"with {_MACRO}={int(torch.cxx11_abi)}, as torch is" if skew.other_abi else "against the torch that runs"
        )
        shown = skew.symbols[:_MOST_SYMBOLS]
        more = len(skew.symbols) - len(shown)
        yield self.finding(
            (held or blocks)[0],
            f"`{name}` was built {'with' if skew.other_abi else 'against'} {other} and does not load into torch"
            f" {torch.version}; rebuild it {wanted}",
            notes=(
                *(f"torch {torch.version} has this with other parameters only: {symbol}" for symbol in shown),
                *((f"and {more} more",) if more else ()),
            ),
        )

    def _folders(self, program: Program) -> Iterator[Finding]:
        """Every torch to build against that is named by its folder, for what Python is to load."""
        questions = program.linking
        if questions is None:
            return
        registers = {program.file_of(unit) for unit in program.units}
        for torch in questions.graph.torches:
            for target in questions.graph.targets:
                has_units = not registers.isdisjoint(source.path for source in target.sources)
                if target.project == torch.project and target.kind in _LOADED_BY_PYTHON and has_units:
                    yield from self._elsewhere(torch, target, program)
                    break

    def _elsewhere(self, torch: TorchFolder, target: Target, program: Program) -> Iterator[Finding]:
        """A hint where it cannot be known which torch stands there: it may be the same release."""
        installed = program.installed
        running = "the torch that Python has" if installed is None else f"torch {installed.version}"
        if torch.version is None:
            what, severity = f"the torch in {torch.folder}", Severity.HINT
        elif installed is None or torch.version == installed.version.partition("+")[0]:
            return
        else:
            what, severity = f"torch {torch.version} in {torch.folder}", None
        yield self.finding(
            torch.place,
            f"`{target.name}` is built against {what}, whatever Python has, and loads only into that release; to load"
            f" it into {running}, give CMake the folder that `torch.utils.cmake_prefix_path` is in Python",
            related=(Related(target.place, f"`{target.name}` is declared here"),),
            severity=severity,
        )

    def _macros(self, program: Program) -> Iterator[Finding]:
        """Every setting of the macro in a target with registrations that differs from the installed torch's."""
        questions, torch = program.linking, program.installed
        if questions is None or torch is None:
            return
        registers = {program.file_of(unit) for unit in program.units}
        reported: set[Place] = set()
        for target in questions.graph.targets:
            if registers.isdisjoint(source.path for source in target.sources):
                continue
            for define in target.defines:
                wrong = define.name == _MACRO and define.value == str(int(not torch.cxx11_abi))
                applies = questions.holds_by_default(conjunction((target.condition, define.condition))) is True
                if wrong and applies and define.place not in reported:
                    reported.add(define.place)
                    yield self._differs(target, define, torch.version, torch.cxx11_abi)

    def _differs(self, target: Target, define: Define, version: str, abi: bool) -> Finding:
        right = int(abi)
        return self.finding(
            define.place,
            f"torch {version} is built with {_MACRO}={right}, and `{target.name}` with {define.value}: loading it fails"
            f" with undefined symbols; leave the macro to torch, or give it the value {right}",
            related=(Related(target.place, f"`{target.name}` is declared here"),),
            fix=_fix(define, right),
        )


def _is_source(compiled: str, path: str) -> bool:
    """Whether the path that a compiler was given is that of a file of the project."""
    one = compiled.replace("\\", "/")
    return one == path or one.endswith(f"/{path}") or path.endswith(f"/{one}")


def _fix(define: Define, right: int) -> Fix | None:
    """None where the macro is not written with its value in one word."""
    place = define.place
    written = (f"{_MACRO}={define.value}", f"-D{_MACRO}={define.value}")
    if place.end - place.start not in map(len, written):
        return None
    value = Place(place.path, place.line, place.end - 1, place.end)
    return Fix(f"set {_MACRO} to {right}", safe=False, edits=(Edit(value, str(right)),))
