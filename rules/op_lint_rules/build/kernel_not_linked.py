"""OPL504."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from op_lint.build.model import BuildSystem, SourceSymbols, Target
from op_lint.build.questions import Questions
from op_lint.condition import ALWAYS
from op_lint.facts import Definition, Implementation, Kernel, KernelKind, Place
from op_lint.findings import Finding, Related, Severity
from op_lint.program import Program, Registered
from op_lint.rule import Need, Rule
from op_lint_rules._words import where
from op_lint_rules.build._binaries import is_header, knows_links, registering

_FUNCTION = re.compile(r"(?:[A-Za-z_]\w*::)*([A-Za-z_]\w*)")
_TOOLKIT = re.compile(
    r"(?:\$\{)?(?:(?:torch|c10|caffe2)(?:_(?:cpu|cuda|hip|xpu|python|nvrtc|cuda_linalg|libraries|library|python_library))?|"
    r"aten|cuda(?:rt)?(?:_\w+)?|cu(?:blas|dnn|fft|sparse|rand|solver)\w*|nv\w+|hip\w*|roc\w+|amdhip64|python[23]?(?:_\w+)?|"
    r"pybind11|openmp\w*|i?omp5?|gomp|m|dl|rt|pthread|stdc\+\+|cmake_\w+_libs|threads|mkl\w*|dnnl|gtest\w*|gmock\w*)(?!\w)",
    re.IGNORECASE,
)
"""What a library of operators links that has no kernel of the project: torch, the toolkits, the system."""
_LINKS = re.compile(r"-l(?P<library>.*)|(?P<object>\$[{<].*|[^-].*\.(?:a|o|so|lib|obj|dylib)\b.*)")
"""A word of the linker's options that is a further library or object, or may be."""


class KernelNotLinked(Rule):
    """A registered kernel that no source of the library defines.

    ## What it does
    Reports `&f` in a registration whose library is made of sources none of which defines `f`, where another source of
    the project does. It looks only at libraries whose sources are all known and read, and which link nothing but
    libraries of the project, torch, and what belongs to the toolkits and the system.

    ## Why it is bad
    A shared library may have undefined symbols, so it links. It fails when it is loaded: "undefined symbol".

    ## Example
    ```cmake
    cmake_minimum_required(VERSION 3.18)
    project(demo CXX)
    add_library(demo_ops SHARED ops.cpp)
    add_library(demo_kernels STATIC kernels.cpp)
    ```
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    at::Tensor scale_cpu(const at::Tensor& x);

    TORCH_LIBRARY(demo, m) {
      m.def("scale(Tensor x) -> Tensor", &scale_cpu);
    }
    ```
    ```cpp title="kernels.cpp"
    #include <ATen/ATen.h>

    at::Tensor scale_cpu(const at::Tensor& x) { return x * 2; }
    ```

    ## Use instead
    ```cmake
    cmake_minimum_required(VERSION 3.18)
    project(demo CXX)
    add_library(demo_ops SHARED ops.cpp)
    add_library(demo_kernels STATIC kernels.cpp)
    target_link_libraries(demo_ops PRIVATE demo_kernels)
    ```
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    at::Tensor scale_cpu(const at::Tensor& x);

    TORCH_LIBRARY(demo, m) {
      m.def("scale(Tensor x) -> Tensor", &scale_cpu);
    }
    ```
    ```cpp title="kernels.cpp"
    #include <ATen/ATen.h>

    at::Tensor scale_cpu(const at::Tensor& x) { return x * 2; }
    ```

    ## References
    - `-z defs` in the manual of GNU ld, which makes it an error of the link
    """

    code = "OPL504"
    name = "kernel-not-linked"
    severity = Severity.ERROR
    needs = frozenset({Need.BUILD})

    def check(self, program: Program) -> Iterator[Finding]:
        """Every kernel that is declared where it is registered, and defined outside all that is linked."""
        questions = program.linking
        if questions is None:
            return
        symbols = {each.path: each for each in questions.graph.symbols}
        sources = registering(program)
        for target in questions.graph.targets:
            offered = _offered(questions, target, symbols) if _may_miss(target, sources) else None
            if offered is None:
                continue
            for registered, kernel in _kernels(program):
                if registered.file not in sources or registered.condition != ALWAYS or kernel.declared is None:
                    continue
                name = _FUNCTION.fullmatch(kernel.name)
                if name is None or name[1] in offered or not _compiles(target, registered.file):
                    continue
                home = _home(name[1], symbols)
                if home is not None and knows_links(questions.graph, target, home):
                    yield self._missing(kernel, kernel.declared, target, home)

    def _missing(self, kernel: Kernel, declared: Place, target: Target, home: str) -> Finding:
        return self.finding(
            kernel.place,
            f"no source of `{target.name}` ({where(target.place, kernel.place)}) defines `{kernel.name}`, so loading it"
            f" fails: compile or link {home}, which does",
            related=(
                Related(declared, f"`{kernel.name}` is only declared here"),
                Related(Place(home, 1, 0, 0), f"this file defines `{kernel.name}`"),
                Related(target.place, f"`{target.name}` is declared here", marked=True),
            ),
            notes=(f'the loader says: "undefined symbol: ... {kernel.name} ..."',),
        )


_Registration = Registered[Definition] | Registered[Implementation]


def _kernels(program: Program) -> Iterator[tuple[_Registration, Kernel]]:
    """The registrations with a plain kernel that is not defined where it is registered."""
    registrations: tuple[_Registration, ...] = (*program.definitions, *program.implementations)
    for registered in registrations:
        kernel = registered.fact.kernel
        plain = (
            kernel is not None and kernel.kind is KernelKind.KERNEL and not kernel.wrapped and kernel.defined is None
        )
        if kernel is not None and plain:
            yield registered, kernel


def _may_miss(target: Target, sources: Collection[str]) -> bool:
    return target.is_loaded and any(source.path in sources for source in target.sources)


def _compiles(target: Target, path: str) -> bool:
    return any(source.path == path and source.condition == ALWAYS for source in target.sources)


def _offered(questions: Questions, target: Target, symbols: Mapping[str, SourceSymbols]) -> frozenset[str] | None:
    """The names that what is linked into a binary may define; None where not all of it is known."""
    if target.incomplete or target.system not in (BuildSystem.CMAKE, BuildSystem.SETUPTOOLS):
        return None
    linked = [library for library, _, _ in questions.libraries_of(target)]
    paths = {path for each in (target, *linked) for path in questions.objects_of(each)}
    known = [symbols.get(path) for path in sorted(paths) if not is_header(path)]
    if any(each is None or each.opaque for each in known) or any(library.incomplete for library in linked):
        return None
    named = {each.name for each in questions.graph.targets}
    foreign = [link for each in (target, *linked) for link in each.links if link.to not in named]
    options = [option.text for each in (target, *linked) for option in each.options]
    names = [link.to.rpartition("/")[2].removeprefix("lib") for link in foreign]
    words = [found for text in options for word in re.split(r"[\s,]+", text) if (found := _LINKS.fullmatch(word))]
    names += [found["library"] or found["object"] or "" for found in words]
    if not all(map(_TOOLKIT.match, names)):
        return None
    return frozenset().union(*(each.defines | each.weak for each in known if each is not None))


def _home(name: str, symbols: Mapping[str, SourceSymbols]) -> str | None:
    """The one source of the project that defines a function, as far as sources were read."""
    found = [path for path, each in symbols.items() if name in each.defines]
    return found[0] if len(found) == 1 else None
