import torch


def fused(q, eps):
    torch.ops.demo_c.fuse(q, eps)  # by then the caller knows what it was built for
