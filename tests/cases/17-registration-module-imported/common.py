import torch

import cpp_lib

def run(q):
    return torch.ops.demo_ck.fwd(q)
