"""What the editor says: the settings of its user, and whether the workspace is trusted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from op_lint.selection import Selectors


class ClientSettings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The editor's settings (section `op-lint`). They stand over the project's configuration where both speak.

    `interpreter` is the Python that the editor has chosen. `load` and `imports` are libraries and modules to load into
    the probe's process; neither is done in a workspace that is not trusted.
    """

    interpreter: str | None = None
    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    torch: bool | None = None
    torch_version: str | None = None
    load: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    code_lens: bool = True
    inlay_hints: bool = True

    @property
    def selectors(self) -> Selectors:
        """What the editor's user says about rules."""
        return Selectors(self.select, self.extend_select, self.ignore)

    @property
    def overrides(self) -> dict[str, Any]:
        """The project's settings that the editor sets."""
        given = {
            "torch": self.torch,
            "torch_version": self.torch_version,
            "load": self.load or None,
            "imports": self.imports or None,
        }
        return {name: value for name, value in given.items() if value is not None}


def client_settings(values: Any) -> tuple[ClientSettings, tuple[str, ...]]:
    """The settings in a JSON object, and one message for each that cannot be used; null counts as not set."""
    if not isinstance(values, Mapping):
        return ClientSettings(), ()
    understood: dict[str, Any] = {}
    messages: list[str] = []
    for field in msgspec.structs.fields(ClientSettings):
        value = values.get(field.encode_name)
        if value is None:
            continue
        try:
            understood[field.name] = msgspec.convert(value, field.type)
        except msgspec.ValidationError as error:
            messages.append(f"the setting `op-lint.{field.encode_name}` is not used: {error}")
    return ClientSettings(**understood), tuple(messages)
