import glob
import importlib.util
import os

import torch

found = importlib.util.find_spec("demo._ops")
if found is None:
    raise ImportError("demo was not built")
torch.ops.load_library(found.origin)

files = glob.glob(os.path.join(os.path.dirname(__file__), "*.so"))
assert len(files) == 1
torch.ops.load_library(files[0])

for file in glob.glob("more/*.so"):
    torch.ops.load_library(file)

try:
    torch.ops.load_library(glob.glob("other/*.so")[0])
except IndexError:
    raise ImportError("demo's other operators were not built") from None

torch.ops.load_library(glob.glob("unchecked/*.so")[0])  # expect: OPL606
