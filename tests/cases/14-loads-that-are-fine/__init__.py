import warnings

import torch

try:
    torch.ops.load_library("libdemo_v.so")
except OSError as error:
    warnings.warn(f"demo runs without its operators: {error}")


for path in ("libdemo_w.so", "build/libdemo_w.so"):
    try:
        torch.ops.load_library(path)
        break
    except OSError:
        pass
