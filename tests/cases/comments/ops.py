import torch

lib = torch.library.Library("prim", "FRAGMENT")  # op-lint: ignore[OPL208] on purpose
text = """
# op-lint: ignore[OPL208]
"""
other = torch.library.Library("prim", "FRAGMENT")  # expect: OPL208
