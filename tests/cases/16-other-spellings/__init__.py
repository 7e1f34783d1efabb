import glob
import os
import pathlib

import torch

HERE = os.path.dirname(__file__)

libraries = glob.glob(os.path.join(HERE, "_C*.so"))
torch.ops.load_library(libraries[0])  # expect: OPL507

torch.ops.load_library(next(pathlib.Path(HERE).glob("_D.*")))  # expect: OPL507


def load():
    torch.classes.load_library(str(tuple(pathlib.Path(HERE).rglob("_E*.pyd"))[-1]))  # expect: OPL507
