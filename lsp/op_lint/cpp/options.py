"""What the user says about C++ sources."""

from __future__ import annotations

import msgspec


class CppOptions(msgspec.Struct, frozen=True):
    """`include_dirs` and `compile_commands` are relative to the project root or absolute; `defines` are `NAME[=VALUE]`.

    `headers` is `overlay` (the stand-ins that come with op-lint) or `real`: then `system` holds the compiler arguments
    that make the headers of torch and of the system known. The latter is what tests hold the overlay against.
    `largest` is the size in bytes above which a file is not read.
    """

    include_dirs: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    compile_commands: str | None = None
    headers: str = "overlay"
    system: tuple[str, ...] = ()
    largest: int = 4 * 1024 * 1024
