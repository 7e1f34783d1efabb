"""OPL508."""

from __future__ import annotations

from collections.abc import Iterator

from op_lint.build.model import BuildSystem, Target
from op_lint.build.questions import Questions
from op_lint.condition import ALWAYS
from op_lint.facts import Place, PythonImport, Unit
from op_lint.findings import Edit, Finding, Fix, Related, Severity
from op_lint.program import Program
from op_lint.rule import Need, Rule
from op_lint_rules._words import where
from op_lint_rules.build._binaries import block, registering


class MissingPyinit(Rule):
    """A library that only registers operators is imported as a Python module.

    ## What it does
    Reports an `import` of an extension module whose sources register operators and define no `PyInit_...`, and a
    `torch.utils.cpp_extension.load` of such sources that leaves `is_python_module` at its default.

    ## Why it is bad
    `import` needs a function of that name: "dynamic module does not define module export function". The operators are
    registered by then, but the program ends.

    ## Example
    ```python title="setup.py"
    from setuptools import setup
    from torch.utils.cpp_extension import BuildExtension, CppExtension

    setup(
        name="demo",
        ext_modules=[CppExtension("demo_ops", ["ops.cpp"])],
        cmdclass={"build_ext": BuildExtension},
    )
    ```
    ```cpp title="ops.cpp"
    #include <torch/library.h>

    at::Tensor twice(const at::Tensor& x) { return x + x; }

    TORCH_LIBRARY(demo, m) {
      m.def("twice(Tensor x) -> Tensor", &twice);
    }
    ```
    ```python title="use.py"
    import torch
    import demo_ops
    ```

    ## Use instead
    ```python title="setup.py"
    from setuptools import setup
    from torch.utils.cpp_extension import BuildExtension, CppExtension

    setup(
        name="demo",
        ext_modules=[CppExtension("demo_ops", ["ops.cpp"])],
        cmdclass={"build_ext": BuildExtension},
    )
    ```
    ```cpp title="ops.cpp"
    #include <Python.h>
    #include <torch/library.h>

    at::Tensor twice(const at::Tensor& x) { return x + x; }

    TORCH_LIBRARY(demo, m) {
      m.def("twice(Tensor x) -> Tensor", &twice);
    }

    PyMODINIT_FUNC PyInit_demo_ops() {
      static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "demo_ops"};
      return PyModule_Create(&definition);
    }
    ```
    ```python title="use.py"
    import torch
    import demo_ops
    ```

    ## Fix
    Adds an empty module to the source, or `is_python_module=False` to `torch.utils.cpp_extension.load`.

    ## References
    - `torch.ops.load_library`, which needs no module
    - `is_python_module` of `torch.utils.cpp_extension.load`
    """

    code = "OPL508"
    name = "missing-pyinit"
    severity = Severity.WARNING
    needs = frozenset({Need.BUILD})

    def check(self, program: Program) -> Iterator[Finding]:
        """Every import of a module that is none."""
        questions = program.linking
        if questions is None:
            return
        units = registering(program)
        for target in questions.graph.targets:
            unit = _only_registers(questions, target, units)
            if unit is None or target.module is None:
                continue
            if target.system is BuildSystem.JIT:
                yield self._built(target, target.module, unit)
            for imported in _imports(program, questions, target.module):
                yield self._imported(imported, target, target.module, unit)

    def _imported(self, imported: PythonImport, target: Target, module: str, unit: Unit) -> Finding:
        last = module.rpartition(".")[2]
        return self.finding(
            imported.place,
            f"`{module}` ({where(target.place, imported.place)}) has no PyInit_{last}, so this import fails: load it"
            " with torch.ops.load_library, or add an empty module to its sources",
            related=_related(target, unit),
            fix=_with_module(target, unit, last),
            notes=(
                f'Python says: "dynamic module does not define module export function (PyInit_{last})"',
                f"the empty module: PyMODINIT_FUNC PyInit_{last}() {{ static PyModuleDef def ="
                f' {{PyModuleDef_HEAD_INIT, "{last}"}}; return PyModule_Create(&def); }}',
            ),
        )

    def _built(self, target: Target, module: str, unit: Unit) -> Finding:
        return self.finding(
            target.place,
            f"the sources of `{module}` define no PyInit_{module}, so `load` fails to import it: pass"
            " is_python_module=False",
            related=_related(target, unit),
            fix=_without_module(target),
        )


def _related(target: Target, unit: Unit) -> tuple[Related, ...]:
    return (
        Related(target.place, f"`{target.name}` is built from here", marked=True),
        Related(unit.place, f"{block(unit)} is what it holds", marked=True),
    )


def _with_module(target: Target, unit: Unit, name: str) -> Fix | None:
    """The empty module behind the block. Only setuptools is sure to compile with the headers of Python."""
    if target.system is not BuildSystem.SETUPTOOLS or unit.body is None or unit.condition != ALWAYS:
        return None
    start, end = Place(unit.body.path, 1, 0, 0), unit.body.end
    module = f"""

PyMODINIT_FUNC PyInit_{name}() {{
  static PyModuleDef definition = {{PyModuleDef_HEAD_INIT, "{name}"}};
  return PyModule_Create(&definition);
}}"""
    edits = (
        Edit(start, "#include <Python.h>\n"),
        Edit(Place(unit.body.path, unit.body.line, end, end), module),
    )
    return Fix(f"make it an empty Python module {name}", safe=False, edits=edits)


def _without_module(target: Target) -> Fix | None:
    last = target.last_argument
    if last is None:
        return None
    at = Place(last.path, last.line, last.end, last.end)
    return Fix("pass is_python_module=False", safe=False, edits=(Edit(at, ", is_python_module=False"),))


def _only_registers(questions: Questions, target: Target, units: dict[str, tuple[Unit, ...]]) -> Unit | None:
    """A unit of a module that certainly has no module function; None for any other target."""
    if target.module is None or target.incomplete or questions.makes_module(target) is not False:
        return None
    found = (unit for source in target.sources for unit in units.get(source.path, ()))
    return next(found, None)


def _imports(program: Program, questions: Questions, module: str) -> Iterator[PythonImport]:
    """The imports of the module that nothing guards, where its name means this target only."""
    last = module.rpartition(".")[2]
    namesakes = [each for each in questions.graph.targets if each.module and each.module.rpartition(".")[2] == last]
    python = [file.python for file in program.files if file.python]
    own = {facts.module for facts in python}
    # A package that imports it where that may fail has something of its name all the same.
    guarded = {
        _whole_name(imported)
        for facts in python
        for imported in facts.imports
        if imported.caught and _whole_name(imported).rpartition(".")[0] == facts.module
    }
    if any(questions.makes_module(each) is not False for each in namesakes):
        return
    for file in program.files:
        for imported in file.python.imports if file.python else ():
            meant = _meant(imported, module)
            if meant is not None and not imported.caught and meant not in own and meant not in guarded:
                yield imported


def _meant(imported: PythonImport, module: str) -> str | None:
    """The name by which an import names the module, if it does.

    Of a module that CMake makes, only the last part of the name is known.
    """
    names = (imported.module, _whole_name(imported))
    if module in names:
        return module
    if "." in module or not module.startswith("_"):
        return None
    return next((name for name in names if name.rpartition(".")[2] == module and "." in name), None)


def _whole_name(imported: PythonImport) -> str:
    return f"{imported.module}.{imported.name}" if imported.name else imported.module
