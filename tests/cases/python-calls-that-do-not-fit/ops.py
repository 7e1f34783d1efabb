import torch

lib = torch.library.Library("demo", "DEF")
lib.define("scale(Tensor x, float s, int[] dims, *, bool exact=False) -> Tensor")
lib.define("pick.int(Tensor x, int i) -> Tensor")
lib.define("pick.str(Tensor x, str s) -> Tensor")
lib.impl("scale", lambda x, s, dims, exact=False: x * s, "CompositeExplicitAutograd")
lib.impl("pick.int", lambda x, i: x.clone(), "CompositeExplicitAutograd")
lib.impl("pick.str", lambda x, s: x.clone(), "CompositeExplicitAutograd")


def wrong(x):
    torch.ops.demo.scale(x, 2.0)  # expect: OPL608
    torch.ops.demo.scale(x, 2.0, [0], True)  # expect: OPL608
    torch.ops.demo.scale(x, 2.0, [0], exakt=True)  # expect: OPL608
    torch.ops.demo.scale(x, "2", [0])  # expect: OPL608
    torch.ops.demo.scale(x, 2.0, 0)  # expect: OPL608
    torch.ops.demo.scale(x, 2.0, [0], s=3.0)  # expect: OPL608
    torch.ops.demo.scale(2.0, 2.0, [0])  # expect: OPL608
    torch.ops.demo.pick(x, 2.5)  # expect: OPL608
    torch.ops.demo.pick.int(x, "a")  # expect: OPL608
    torch.ops.aten.relu(x, x)  # expect: OPL608


def right(x, given, more):
    torch.ops.demo.scale(x, 2.0, [0])
    torch.ops.demo.scale(x, 2, (0,), exact=True)
    torch.ops.demo.scale(x=x, s=given, dims=[])
    torch.ops.demo.scale(*given)
    torch.ops.demo.scale(x, **more)
    torch.ops.demo.scale(x, given, given, exact=given)
    torch.ops.demo.pick(x, 2)
    torch.ops.demo.pick(x, "a")
    torch.ops.demo.unknown(x, 1, 2, 3)
    torch.ops.aten.add(x, 1)
    torch.ops.aten.add(1, 2)
    torch.ops.stranger.scale(1, 2, 3)


def expected_to_fail(x):
    try:
        torch.ops.demo.scale(x)
    except RuntimeError:
        pass
