import torch


@torch.library.register_fake("demo::nms")  # expect: OPL603
def _(boxes):
    return torch.empty_like(boxes)


torch.ops.load_library("libdemo.so")


@torch.library.register_fake("demo::sort")
def _(boxes):
    return torch.empty_like(boxes)
