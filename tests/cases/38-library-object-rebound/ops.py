import torch

lib = torch.library.Library("demo_first", "DEF")  # expect: OPL602
lib.define("a(Tensor q) -> Tensor")
lib.impl("a", lambda q: q.clone(), "CompositeExplicitAutograd")

lib = torch.library.Library("demo_second", "DEF")
lib.define("b(Tensor q) -> Tensor")
lib.impl("b", lambda q: q.clone(), "CompositeExplicitAutograd")

torch.library.Library("demo_third", "FRAGMENT").define("c(Tensor q) -> Tensor")  # expect: OPL602
