"""Errors of loading: the library with the registrations does not get into the process."""

from __future__ import annotations

from op_lint.errors.kind import Kind, Stage
from op_lint.message import Message

NO_LIBRARY = Kind(
    "library-not-found",
    Stage.LOAD,
    (
        Message("{library}: cannot open shared object file: No such file or directory"),
        Message("dlopen({library}, {text}): image not found", "): image not found"),
        Message("dlopen({library}, {text}): tried: {text2} (no such file)", "): tried: "),
        Message("Could not find module '{library}' (or one of its dependencies)"),
    ),
    "a library that registers operators could not be loaded, or one that it needs: none of its operators exist.",
    (
        "build it, and look where it is: the path is that of the machine that runs, not of the one that built",
        "where the file is there, a library that it needs is missing: `ldd` names it",
    ),
    ("OPL606", "OPL603", "OPL508"),
)

NOT_LOADED = Kind(
    "library-not-loaded",
    Stage.LOAD,
    (Message("Could not load this library: {line}"),),
    "torch.ops.load_library failed: none of the operators of that library exist. The error above it says why.",
    ("look at the error above it",),
    ("OPL606", "OPL603", "OPL506"),
)

BAD_LIBRARY = Kind(
    "library-unusable",
    Stage.LOAD,
    (
        Message("{library}: file too short"),
        Message("{library}: invalid ELF header"),
        Message("{library}: wrong ELF class"),
        Message("{library}: version `{name}' not found (required by {library2})", "' not found (required by"),
    ),
    "a library that registers operators is not one that this machine can load.",
    ("build it anew, for this machine",),
    ("OPL506",),
)

UNDEFINED_SYMBOL = Kind(
    "undefined-symbol",
    Stage.LOAD,
    (
        Message("{library}: undefined symbol: {symbol}", ": undefined symbol: "),
        Message("Symbol not found: {symbol}", "Symbol not found: "),
        Message("symbol not found in flat namespace '{symbol}'", "symbol not found in flat namespace"),
        Message("undefined reference to `{text}'", "undefined reference to `"),
    ),
    "a library asks for a function that no library in the process has: of torch, when it was built against another"
    " torch; of the project, when a source is not linked.",
    (
        "where it is one of torch's (`2at`, `3c10` or `5torch` in its name), build against the torch that runs it",
        "where it is your own kernel, add the source that defines it to the target",
    ),
    ("OPL504", "OPL506", "OPL501"),
)

NO_PYINIT = Kind(
    "no-module-function",
    Stage.LOAD,
    (
        Message("dynamic module does not define module export function (PyInit_{word})"),
        Message("dynamic module does not define init function"),
    ),
    "a library was imported as a Python module and is none: it only registers operators.",
    ("load it with torch.ops.load_library(path), or give it an empty PYBIND11_MODULE(TORCH_EXTENSION_NAME, m)",),
    ("OPL508",),
)

OTHER_TORCH = Kind(
    "other-torch",
    Stage.LOAD,
    (Message("!dispatch_key_.has_value() INTERNAL ASSERT FAILED"),),
    "the library was built against another torch than the one it runs in: its dispatch keys have other numbers there.",
    ("build it anew against the torch that is installed",),
    ("OPL506",),
)

KINDS = (NO_LIBRARY, NOT_LOADED, BAD_LIBRARY, UNDEFINED_SYMBOL, NO_PYINIT, OTHER_TORCH)
