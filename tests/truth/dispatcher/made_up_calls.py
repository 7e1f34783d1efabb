"""Child process: calls torch's own operators with made-up arguments, and says how each call ends.

Standard input: `[tensors, around]`, the kind of tensors and what is around the calls. Standard output:
`{OPERATOR: null | [TYPE, TEXT]}`, without the operators that no arguments could be made up for, that crash or that take
too long. What is called runs in forks of this process, a new one after each crash.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import warnings
from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from typing import Any

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._subclasses.fake_tensor import FakeTensorMode

from tests.truth.dispatcher.layouts import LAYOUTS

C = torch._C
SHAPE = (2, 2)
SECONDS = 5

# They write files, wait, end the process, talk to devices and other processes, or (one) name an argument twice.
LEFT_OUT = re.compile(
    r"aten::(_?cudnn|_assert|abort|pin_memory|_?record_stream|from_file|save|_share|warn|set_data|_test_|_cslt)"
    r"|backward|profiler::|c10d|inductor::|rngprims|symm_mem|streams|_dtensor|cuda::|mkl::|onednn|prepacked|xnnpack"
    r"|clamp_nan_to_num|debug|export|higher|quantized::(make|.*pack|conv|linear)|_load|::load"
)
MAKERS: dict[str, Callable[[Any], Any]] = {
    **LAYOUTS,
    "cpu": LAYOUTS["strided"],
    "meta": lambda tensor: tensor.to("meta"),
}
PLAIN: dict[str, Any] = {"int": 1, "SymInt": 1, "float": 1.0, "bool": False, "number": 1, "str": "sum"}
PLAIN |= {f"List[{kind}]": [value] * 2 for kind, value in PLAIN.items()} | {"Device": torch.device("cpu")}
PLAIN |= {"List[int]": [2, 2], "List[SymInt]": [2, 2]}


def made_up(argument: Any, tensors: str) -> Any:
    """A value for an argument. Raises KeyError."""
    kind = str(argument.type)
    if "Tensor" in kind:
        tensor = MAKERS[tensors](torch.ones(SHAPE))
        return [tensor] * 2 if kind == "List[Tensor]" else [tensor] if kind.startswith("List") else tensor
    if argument.has_default_value():
        return argument.default_value
    return None if kind.startswith("Optional") or kind == "Generator" else PLAIN[kind]


def over_tensors(operator: Any, given: dict[str, Any]) -> tuple[Callable[..., Any], list[Any]]:
    """The call as a function of its tensors, for transforms, which want those in no list."""
    names = [name for name, value in given.items() if isinstance(value, torch.Tensor)]
    return lambda *tensors: called(operator, {**given, **dict(zip(names, tensors, strict=True))}), [
        given[n] for n in names
    ]


def called(operator: Any, given: dict[str, Any]) -> Any:
    """Call it with arguments by name."""
    by_keyword = {each.name for each in operator._schema.arguments if each.kwarg_only}
    plain = [value for name, value in given.items() if name not in by_keyword]
    return operator(*plain, **{name: value for name, value in given.items() if name in by_keyword})


def call(operator: Any, tensors: str, around: str) -> bool:
    """Call it. Whether there is such a call."""
    fake = FakeTensorMode() if around == "fake" else nullcontext()
    with fake:
        given = {argument.name: made_up(argument, tensors) for argument in operator._schema.arguments}
    if around in ("vmap", "functionalize"):
        function, found = over_tensors(operator, given)
        lists = [each for value in given.values() if isinstance(value, list) for each in value]
        if not found or any(isinstance(each, torch.Tensor) for each in lists):
            return False
        (torch.vmap if around == "vmap" else torch.func.functionalize)(function)(*found)
        return True
    with ExitStack() as stack:
        stack.enter_context(fake)
        if around == "inference":
            stack.enter_context(torch.inference_mode())
        if around == "python dispatcher":
            stack.enter_context(enable_python_dispatcher())
        called(operator, given)
    return True


def ending(name: str, tensors: str, around: str) -> list[str] | bool | None:
    """How a call ends: False where there is none, None where it returns."""
    base, _, overload = name.partition(".")
    namespace, _, local = base.partition("::")
    try:
        operator = getattr(getattr(getattr(torch.ops, namespace), local), overload or "default")
        signal.alarm(SECONDS)
        return None if call(operator, tensors, around) else False
    except (KeyError, AttributeError):
        return False
    except Exception as error:
        return [type(error).__name__, str(error)]
    finally:
        signal.alarm(0)


def answers(names: list[str], tensors: str, around: str) -> dict[str, Any]:
    """The ending of each call that has one."""
    found: dict[str, Any] = {}
    while names:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            with os.fdopen(writing, "w") as pipe:
                for name in names:
                    # A line before the call: after a crash it says where to go on.
                    pipe.write(json.dumps([name]) + "\n")
                    pipe.flush()
                    pipe.write(json.dumps([name, ending(name, tensors, around)]) + "\n")
            os._exit(0)
        os.close(writing)
        last = ""
        with os.fdopen(reading) as pipe:
            for line in pipe:
                last, *rest = json.loads(line)
                if rest and rest[0] is not False:
                    found[last] = rest[0]
        crashed = os.waitpid(child, 0)[1] != 0
        names = names[names.index(last) + 1 :] if crashed and last else []
    return found


def main() -> None:
    """Answer the request on stdin."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    names = sorted(name for name in C._dispatch_get_all_op_names() if not LEFT_OUT.search(name))
    tensors, around = json.load(sys.stdin)
    print(json.dumps(answers(names, tensors, around)))


main()
