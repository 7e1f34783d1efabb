import glob
import os
from pathlib import Path

import torch

HERE = Path(__file__).parent

# One file, or an error.
found = list(HERE.glob("_C*.so"))
if len(found) != 1:
    raise ImportError(f"one _C library expected, found {found}")
torch.ops.load_library(str(found[0]))

# All of them: torch says itself when two are copies of each other.
for path in glob.glob(os.path.join(os.path.dirname(__file__), "_kernels*.so")):
    torch.ops.load_library(path)

# An order that somebody chose, and a name without a choice.
torch.ops.load_library(max(glob.glob("build/_D*.so"), key=os.path.getmtime))
torch.ops.load_library(sorted(glob.glob("build/_E*.so"))[-1])
torch.ops.load_library(glob.glob("build/_F.so")[0])


def load_built(name: str) -> None:
    libraries = glob.glob(os.path.join(os.environ.get("BUILD", "build"), f"{name}.*"))
    assert len(libraries) == 1, f"one library expected, found {libraries}"
    torch.ops.load_library(libraries[0])


load_built("_G")
