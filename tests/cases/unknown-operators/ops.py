import contextlib

import torch

lib = torch.library.Library("demo", "DEF")
lib.define("scale_rows(Tensor x, float s) -> Tensor")
lib.impl("scale_rows", lambda x, s: x * s, "CompositeExplicitAutograd")
lib.define("norm.dim(Tensor x, int dim) -> Tensor")
lib.impl("norm.dim", lambda x, dim: x.clone(), "CompositeExplicitAutograd")
