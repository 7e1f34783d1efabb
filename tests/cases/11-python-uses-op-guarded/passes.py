import torch

if hasattr(torch.ops.demo_c, "fuse"):
    FUSE = torch.ops.demo_c.fuse.default
