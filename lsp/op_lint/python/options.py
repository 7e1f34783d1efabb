"""What the configuration tells the Python reader."""

from __future__ import annotations

import re

import msgspec


class Wrapper(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A function that registers operators and that op-lint cannot read (it is generated, or not in the project).

    `name` is its dotted name as files import it, or only its last part. `parameters` are the names of its
    parameters, in order. The other fields name the parameter that holds the operator's name, its schema, the function,
    `mutates_args`, the fake, the dispatch key or device, a `Library` object to use instead of `namespace`, which is
    used where the operator's name has none.
    """

    name: str
    parameters: tuple[str, ...]
    operator: str
    namespace: str | None = None
    schema: str | None = None
    function: str | None = None
    mutates_args: str | None = None
    fake: str | None = None
    key: str | None = None
    library: str | None = None


KNOWN_WRAPPERS = tuple(
    Wrapper(
        f"{module}.direct_register_custom_op",
        ("op_name", "op_func", "mutates_args", "fake_impl", "target_lib", "dispatch_key", "tags"),
        operator="op_name",
        namespace=namespace,
        function="op_func",
        mutates_args="mutates_args",
        fake="fake_impl",
        key="dispatch_key",
        library="target_lib",
    )
    for module, namespace in (
        ("vllm.utils", "vllm"),
        ("vllm.utils.torch_utils", "vllm"),
        ("sglang.srt.utils", "sglang"),
        ("sglang.srt.utils.common", "sglang"),
    )
)
"""Wrappers of widely used packages that other packages call. (Their keys are those of the platform.)"""


class PythonOptions(msgspec.Struct, frozen=True):
    """How Python files are read."""

    wrappers: tuple[Wrapper, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """The last parts of the wrappers' names."""
        return frozenset(wrapper.name.rpartition(".")[2] for wrapper in self.wrappers)

    def mentions(self, data: bytes) -> bool:
        """Whether a file may call one of the configured wrappers."""
        return any(re.search(rb"\b" + re.escape(name.encode()) + rb"\b", data) for name in self.names)
