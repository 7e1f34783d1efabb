"""The comparison of the sources with the loaded extension, made once for the rules that ask it."""

from __future__ import annotations

from functools import lru_cache

from op_lint.live import Comparison
from op_lint.program import Program


@lru_cache(maxsize=1)
def comparison(program: Program) -> Comparison | None:
    """The comparison; None where nothing is loaded, or not all of it."""
    if program.extension is None or not program.extension.complete or program.installed is None:
        return None
    return Comparison(program, program.extension, program.installed)


def loaded_names(program: Program) -> str:
    """What was loaded, for messages."""
    loads = program.extension.loads if program.extension is not None else ()
    return ", ".join(load.what.replace("\\", "/").rpartition("/")[2] for load in loads)
