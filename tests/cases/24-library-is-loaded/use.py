import torch

torch.ops.load_library("demo_nb.so")
