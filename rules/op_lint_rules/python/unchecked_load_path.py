"""OPL606."""

from __future__ import annotations

import re
from collections.abc import Iterator

from op_lint.facts import LibraryLoad
from op_lint.findings import Finding, Severity
from op_lint.program import Program
from op_lint.rule import Rule

_FIND_SPEC = re.compile(r"\bfind_spec\(.*\)\.(?:origin|loader|submodule_search_locations)\b", re.DOTALL)
_FIRST_OF = re.compile(r"\b(?:glob|iglob|rglob|listdir|iterdir)\(.*\)+\[-?\d+\]", re.DOTALL)
_NEXT = re.compile(r"^(?:str\()?next\([^,]*\b(?:glob|iglob|rglob|iterdir)\([^,]*\)\)?$", re.DOTALL)


class UncheckedLoadPath(Rule):
    """A library is loaded from where it was looked for, whether it was found or not.

    ## What it does
    Reports `load_library` of a path that is the result of a search, `find_spec(...).origin` or the first of
    `glob(...)`, where nothing in the file asks before whether anything was found, and nothing catches the error.

    ## Why it is bad
    Where that variant was not built, the import fails with "'NoneType' object has no attribute 'origin'" or "list
    index out of range", which says nothing of what is missing.

    ## Example
    ```python title="__init__.py"
    import importlib.util

    import torch

    spec = importlib.util.find_spec("demo._ops_cuda")
    torch.ops.load_library(spec.origin)
    ```

    ## Use instead
    ```python title="__init__.py"
    import importlib.util

    import torch

    spec = importlib.util.find_spec("demo._ops_cuda")
    if spec is None:
        raise ImportError("demo was built without CUDA: demo._ops_cuda is missing")
    torch.ops.load_library(spec.origin)
    ```

    ## References
    - `importlib.util.find_spec` in Python's documentation
    """

    code = "OPL606"
    name = "unchecked-load-path"
    severity = Severity.WARNING

    def check(self, program: Program) -> Iterator[Finding]:
        """Every load of what may not have been found."""
        for file in program.files:
            for load in file.python.loads if file.python is not None and program.is_whole(file.path) else ():
                what = None if load.caught or load.checked else _doubt(load)
                if what is not None:
                    yield self.finding(
                        load.place,
                        f"{what}, and then this line fails with an error that does not say what is missing: test it "
                        "first, and raise an ImportError that does",
                    )


def _doubt(load: LibraryLoad) -> str | None:
    """What may not be there."""
    if load.path is not None:
        return None
    if _FIND_SPEC.search(load.text):
        return "`find_spec` returns None where there is no such module"
    if _FIRST_OF.search(load.text):
        return "the search may find no file at all"
    return "the search may find no file at all" if _NEXT.match(load.text) else None
