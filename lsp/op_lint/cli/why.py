"""`op-lint why`: the way of one call through the dispatcher."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import click
import msgspec

from op_lint.cli.dispatch_options import DispatchOptions, Loaded, dispatch_options
from op_lint.cli.output import describe_torch
from op_lint.cli.streams import whole_or_broken_pipe
from op_lint.dispatch.call import Argument, Call, Layout, Mode, Transform, UnknownDeviceError
from op_lint.dispatch.path import Outcome, Path, Step, call_path

_MORE_TEXT = " This could be because"
"""Where the part of torch's message begins that says nothing about this operator."""


_IN_PYTHON = (
    "torch.compile functionalizes with a Python mode, FunctionalTensorMode, which is not this path: before the kernel"
    " at Functionalize it takes the composite one, or makes auto_functionalized of a custom operator that mutates"
)
_BY_TORCH = "kernels that Python code of torch itself gives with py_impl are not in the dump, and not on this path"


class WhyOptions(DispatchOptions, frozen=True, kw_only=True):
    """The values of this command's options."""

    device: tuple[str, ...]
    layout: tuple[str, ...]
    no_tensors: bool
    subclass: bool
    inference_tensors: bool
    requires_grad: bool
    autocast: bool
    inference_mode: bool
    functionalize: bool
    vmap: bool
    grad: bool
    python_mode: bool
    fake: bool
    jit_trace: bool
    python_dispatcher: bool

    @property
    def call(self) -> Call:
        """The call that the options describe. Raises click.UsageError where they exclude each other."""
        if self.python_mode and self.fake:
            raise click.UsageError("--fake is a Python mode of its own: leave out --python-mode")
        if self.subclass and self.fake:
            raise click.UsageError("fake tensors have a class of their own: leave out --subclass")
        devices = tuple(map(_device_type, self.device))
        arguments = self._arguments(devices)
        transforms = [Transform.VMAP] * self.vmap + [Transform.GRAD] * self.grad
        return Call(
            arguments=() if self.no_tensors else arguments,
            device=arguments[0].device if self.no_tensors else None,
            layout=arguments[0].layout if self.no_tensors else Layout.STRIDED,
            requires_grad=self.requires_grad,
            autocast=devices if self.autocast else (),
            inference_mode=self.inference_mode,
            functionalize=self.functionalize,
            transforms=tuple(transforms),
            mode=Mode.FAKE if self.fake else Mode.PYTHON if self.python_mode else None,
            tracing=self.jit_trace,
            python_dispatcher=self.python_dispatcher,
        )

    def _arguments(self, devices: Sequence[str]) -> tuple[Argument, ...]:
        """The tensors. Raises click.UsageError where it cannot be told which layout each of them has."""
        if len(self.layout) not in (1, len(devices)):
            raise click.UsageError("--layout is given once for all tensors, or once for each --device")
        layouts = self.layout if len(self.layout) == len(devices) else self.layout * len(devices)
        inference = self.inference_mode or self.inference_tensors
        return tuple(
            Argument(device, Layout(layout), inference, subclass=self.subclass)
            for device, layout in zip(devices, layouts, strict=True)
        )


def _device_type(device: str) -> str:
    """The device type as torch reads it: `cuda:1` has the keys of `cuda`, and so has `CUDA`."""
    return device.partition(":")[0].lower()


_UNTOLD: tuple[tuple[Callable[[WhyOptions], bool], str], ...] = (
    (lambda options: options.functionalize, _IN_PYTHON),
    (lambda options: options.python_dispatcher and options.operator.startswith("aten::"), _BY_TORCH),
)
"""What a path does not tell of such calls, for which it is taken."""


@click.command("why")
@dispatch_options
@click.option("--device", multiple=True, default=("cpu",), show_default=True, help="Of a tensor argument; repeatable.")
@click.option(
    "--layout",
    multiple=True,
    type=click.Choice([layout.value for layout in Layout]),
    default=("strided",),
    show_default=True,
    help="Of all tensors, or given once for each --device.",
)
@click.option("--no-tensors", is_flag=True, help="No tensor is given: optional ones are None, lists are empty.")
@click.option("--subclass", is_flag=True, help="The tensors are of a class with __torch_dispatch__ that calls on.")
@click.option("--requires-grad", is_flag=True, help="The tensors require gradients.")
@click.option("--autocast", is_flag=True, help="Under torch.autocast for these devices.")
@click.option("--inference-mode", is_flag=True, help="Under torch.inference_mode(), with tensors made there.")
@click.option("--inference-tensors", is_flag=True, help="Not under inference mode, but with tensors made there.")
@click.option("--functionalize", is_flag=True, help="Under functionalization in C++, that of torch.func.functionalize.")
@click.option("--vmap", is_flag=True, help="Under torch.vmap.")
@click.option("--grad", is_flag=True, help="Under torch.func.grad.")
@click.option("--python-mode", is_flag=True, help="Under a TorchDispatchMode.")
@click.option("--fake", is_flag=True, help="Under FakeTensorMode, with fake tensors.")
@click.option("--jit-trace", is_flag=True, help="Under torch.jit.trace.")
@click.option("--python-dispatcher", is_flag=True, help="Under the dispatcher in Python, which torch.compile turns on.")
def command(**values: Any) -> int:
    """Explain which kernels a call of an operator runs through, key by key, and where it ends.

    The sources under PATHS are taken to be loaded into the installed torch.
    """
    options = WhyOptions(**values)
    loaded = Loaded(options)
    table = loaded.tables.table(loaded.name)
    if table is None:
        raise click.ClickException(f"nothing is registered for {loaded.name}")
    try:
        path = call_path(table, options.call)
    except UnknownDeviceError as error:
        raise click.UsageError(str(error)) from error
    notes = [note for told, note in _UNTOLD if told(options)]
    with whole_or_broken_pipe(sys.stdout) as stream:
        if options.output_format == "json":
            stream.write(msgspec.json.format(msgspec.json.encode(path_value(loaded, path, notes))).decode() + "\n")
        else:
            stream.writelines(f"{line}\n" for line in _lines(loaded, path, notes))
    return 0


def path_value(loaded: Loaded, path: Path, notes: Sequence[str] = ()) -> dict[str, Any]:
    """The path as JSON has it; lines are 1-based. `notes` are what of such calls it does not tell."""
    return {
        "op": path.operator,
        "torch": loaded.reading.torch.version,
        "key_set": list(path.key_set),
        "excluded": list(path.excluded),
        "steps": [_step_value(loaded, step) for step in path.steps],
        "error": msgspec.structs.asdict(path.error) if path.error else None,
        "cures": list(path.cures),
        "notes": list(notes),
    }


def _step_value(loaded: Loaded, step: Step) -> dict[str, Any]:
    registration = step.registration
    return {
        "key": step.key,
        "kernel": (registration.kernel or registration.kind.value) if registration else None,
        "reason": step.reason.value,
        "outcome": step.outcome.value,
        "note": step.note,
        "path": loaded.shown(registration.path) if registration else None,
        "line": registration.line if registration and registration.path else None,
        "source": registration.source.value if registration else None,
    }


def _lines(loaded: Loaded, path: Path, notes: Sequence[str]) -> Iterator[str]:
    yield f"key set: {', '.join(path.key_set) or 'empty'}"
    if path.excluded:
        yield f"excluded: {', '.join(path.excluded)}"
    rows = [(step.key, *_words(loaded, path, step)) for step in path.steps]
    widths = [max(len(row[column]) for row in rows) for column in range(2)] if rows else []
    for number, row in enumerate(rows, 1):
        cells = [text.ljust(width) for text, width in zip(row, widths, strict=False)]
        yield f"{number:2}  {'  '.join([*cells, row[2]])}".rstrip()
    if path.error is not None:
        yield ""
        yield f"{path.error.type}: {path.error.text.partition(_MORE_TEXT)[0]}"
        if path.cures:
            yield f"register a kernel at {' or '.join(path.cures)}"
    yield from (f"note: {note}" for note in notes)
    yield from describe_torch(loaded.reading)


def _words(loaded: Loaded, path: Path, step: Step) -> tuple[str, str]:
    """What is at a step, and what happens there."""
    registration = step.registration
    if registration is None:
        error = path.error.type if path.error else ""
        return step.reason.value, f"raises {error}"
    kernel = registration.kernel or registration.kind.value
    where = f" ({found})" if (found := loaded.where(registration)) else ""
    if step.outcome is Outcome.SKIPPED:
        return "fallthrough", "skipped"
    if step.outcome is Outcome.RAISES:
        return step.reason.value, f"raises {path.error.type if path.error else ''}{where}"
    return step.reason.value, f"{step.note or kernel + ': ' + step.outcome.value}{where}"
