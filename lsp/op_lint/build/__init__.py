"""The build graph: what the build files and the finished binaries say about which source goes where."""

from typing import TYPE_CHECKING

from op_lint.on_demand import on_demand

if TYPE_CHECKING:
    from op_lint.build.model import BuildGraph
    from op_lint.build.questions import Questions
    from op_lint.build.reader import read_build

__all__ = ["BuildGraph", "Questions", "read_build"]

__getattr__ = on_demand(
    __name__,
    {
        "BuildGraph": "model",
        "Questions": "questions",
        "read_build": "reader",
    },
)
