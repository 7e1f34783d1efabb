"""The build graph: what the build files and the finished binaries say about which source goes where."""

from op_lint.build.model import BuildGraph
from op_lint.build.questions import Questions
from op_lint.build.reader import read_build

__all__ = ["BuildGraph", "Questions", "read_build"]
