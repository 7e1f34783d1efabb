"""Reads the dispatcher of an installed torch. Run by path, as a child process under the user's interpreter.

Nothing in op-lint imports this file: it needs only Python 3.8, the standard library and torch 2.4, and knows nothing
of op-lint. It takes one argument, a JSON object with `marker` (a string), `plain` (whether to report torch itself),
`load` (shared libraries), `import` (modules) and `path` (folders put on `sys.path` for those). It prints lines of
`MARKER KIND JSON`; everything else on stdout, by whoever, goes to stderr. Kinds, in the order printed:

`interpreter`  always: whoever reads it knows that this script ran
`location`     torch was imported: its folder, and the files that tell this torch from another
`failure`      torch is absent, broken or too old: `code`, `message`
`torch`        the plain torch: version, keys, operators, fallbacks (where `plain` is asked for)
`loading`      about to load or import this
`extension`    what each of `load` and `import` did, and the operators that changed with them, with their old dumps
"""

from __future__ import annotations

import importlib
import json
import os
import platform
import site
import sys
import traceback
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # annotations are not evaluated here, so they may be newer than Python 3.8
    from collections.abc import Callable, Iterable

# torch's device types that have a dispatch key (c10/core/DeviceType.h); one that this torch does not know is left out.
DEVICES = (
    *("cpu", "cuda", "hip", "ve", "fpga", "maia", "xla", "vulkan", "mps"),
    *("meta", "hpu", "mtia", "privateuseone", "xpu", "ipu", "lazy"),
)
LIBRARIES = ("libtorch_cpu.so", "libtorch_cpu.dylib", "torch_cpu.dll")
SCRATCH = "op_lint_probe"


class TorchUnusableError(Exception):
    """torch is not there, does not import, or is not one that this script can read."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def import_torch() -> Any:
    """The torch module. Raises TorchUnusableError."""
    try:
        import torch
    except ModuleNotFoundError as error:
        if error.name == "torch":
            raise TorchUnusableError("absent", "torch is not installed") from error
        raise TorchUnusableError("broken", f"import torch fails: {error}") from error
    except Exception as error:
        raise TorchUnusableError("broken", f"import torch fails: {first_line(error)}") from error
    if not hasattr(torch, "_C") or not hasattr(torch, "__version__"):
        where = getattr(torch, "__file__", None) or list(getattr(torch, "__path__", []))
        raise TorchUnusableError("broken", f"what `import torch` finds is not torch: {where}")
    return torch


def first_line(error: BaseException) -> str:
    """`Type: message`, first line of the message only."""
    lines = str(error).strip().splitlines()
    return ": ".join([type(error).__name__, *lines[:1]])


def keys_of(keyset: str) -> list[str]:
    """The names in what torch prints of a set: `DispatchKeySet(A, B)`."""
    inner = keyset[keyset.index("(") + 1 : keyset.rindex(")")]
    return [name for name in inner.split(", ") if name]


class KeyReader:
    """Reads the dispatch keys by walking the values of torch's enum."""

    def __init__(self, torch: Any) -> None:
        self.c = torch._C
        self.key = self.c.DispatchKey

    def name(self, value: int) -> str:
        """`toString` of the key with this value."""
        return str(self.c._dispatch_key_name(self.key(value)))

    def set_names(self, keyset: Any) -> list[str]:
        """The runtime keys in a set."""
        return keys_of(self.c._dispatch_keyset_to_string(keyset))

    def read(self) -> dict[str, Any]:
        """The fields of `op_lint.dispatch.keys.KeyFacts`."""
        functionalities: list[str] = []
        while self.name(len(functionalities)) != "UnknownUnknown":
            functionalities.append(self.name(len(functionalities)))
        backend_count = self.c._dispatch_num_backends()
        start = len(functionalities) + 1
        backends = [self.name(start + 1 + index) for index in range(backend_count)]
        prefixes: dict[str, str] = {}
        while not self.c._dispatch_is_alias_key(self.key(start)):
            first = self.c.DispatchKeySet(self.key(start + 1))
            owner = next(name for value, name in enumerate(functionalities) if value and first.has(self.key(value)))
            prefixes[owner] = self.name(start)[: -len("Undefined")]
            start += 1 + backend_count
        runtime = self.set_names(self.c._dispatch_keyset_full())
        values = self.values(start)
        aliases: dict[str, list[str]] = {}
        while self.c._dispatch_is_alias_key(self.key(start)):
            aliases[self.name(start)] = [
                name for name in runtime if self.c._dispatch_is_included_in_alias(values[name], self.key(start))
            ]
            start += 1
        autograd = {
            name: self.set_names(self.c._dispatch_get_backend_keyset_from_autograd(values[name])) for name in runtime
        }
        return {
            "functionalities": functionalities,
            "backends": backends,
            "prefixes": prefixes,
            "aliases": aliases,
            "autograd_backends": {name: keys for name, keys in autograd.items() if keys},
            "devices": self.devices(),
            "included": self.set_names(self.c._dispatch_tls_local_include_set()),
            "excluded": self.set_names(self.c._dispatch_tls_local_exclude_set()),
        }

    def values(self, end: int) -> dict[str, Any]:
        """The key of each name among the values below `end`."""
        return {self.name(value): self.key(value) for value in range(1, end)}

    def devices(self) -> dict[str, str]:
        """The key of a dense tensor on each device type."""
        found: dict[str, str] = {}
        for device in DEVICES:
            try:
                key = self.c._dispatch_key_for_device(device)
            except RuntimeError:
                continue
            found[device] = str(key)
        return found


def operators(torch: Any) -> dict[str, str]:
    """Every operator's name with the dispatcher's dump of its registrations."""
    c = torch._C
    names = [name for name in c._dispatch_get_all_op_names() if not name.startswith(SCRATCH + "::")]
    return {name: c._dispatch_dump(name) for name in sorted(names)}


def libraries(torch: Any, names: Iterable[str]) -> dict[str, str]:
    """The namespaces of these operators that have an owner (`TORCH_LIBRARY`), each with the place of its block."""
    owners = {namespace: owner(torch, namespace) for namespace in sorted({name.partition("::")[0] for name in names})}
    return {namespace: place for namespace, place in owners.items() if place is not None}


def owner(torch: Any, namespace: str) -> str | None:
    """Where a namespace was claimed: torch says so when it refuses another claim; one that it grants is given back."""
    try:
        torch._C._dispatch_library("DEF", namespace, "", SCRATCH, 0).reset()
    except RuntimeError as error:
        return str(error).partition("Previous registration of TORCH_LIBRARY was ")[2].partition(";")[0]
    return None


def tags(torch: Any, name: str) -> list[str]:
    """The names of the operator's tags."""
    base, _, overload = name.partition(".")
    found = torch._C._get_operation_overload(base, overload)
    return sorted(tag.name for tag in found[2]) if found else []


def python_module(torch: Any, name: str) -> str | None:
    """The Python module that the operator's definition names as the one with its fake."""
    base, _, overload = name.partition(".")
    found = torch._C._dispatch_pystub(base, overload)
    return None if found is None else str(found[0])


def described(torch: Any, dumps: dict[str, str]) -> list[tuple[str, str, list[str], str | None]]:
    """Name, dump, tags and Python module of each operator; one without a schema has none of these."""
    rows: list[tuple[str, str, list[str], str | None]] = []
    for name, dump in dumps.items():
        is_defined = "\nschema: (none)\n" not in dump
        rows.append(
            (
                name,
                dump,
                tags(torch, name) if is_defined else [],
                python_module(torch, name) if is_defined else None,
            )
        )
    return rows


def jagged() -> list[str] | None:
    """The operators that torch implements in Python for the jagged layout; None where it does not say."""
    try:
        from torch.nested._internal.ops import JAGGED_OPS_TABLE
    except ImportError:
        return None
    return sorted({operator.name() for operator in JAGGED_OPS_TABLE})


class Fallbacks:
    """The backend fallbacks: what the table of an operator without kernels consists of."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.library = torch.library.Library(SCRATCH, "DEF")
        self.library.define("nothing() -> ()")

    def read(self) -> str:
        """The computed table of that operator."""
        return str(self.torch._C._dispatch_dump_table(SCRATCH + "::nothing"))


def plain_report(torch: Any, dumps: dict[str, str], fallbacks: str) -> dict[str, Any]:
    """What the `torch` line says."""
    version = torch.version
    return {
        "version": str(torch.__version__),
        "cuda": version.cuda,
        "hip": getattr(version, "hip", None),
        "git": getattr(version, "git_version", None),
        "debug": bool(getattr(version, "debug", False)),
        "cxx11_abi": bool(torch._C._GLIBCXX_USE_CXX11_ABI),
        "keys": KeyReader(torch).read(),
        "operators": described(torch, dumps),
        "fallbacks": fallbacks,
        "libraries": libraries(torch, dumps),
        "jagged": jagged(),
    }


def attempt(what: str, action: Callable[[], Any]) -> dict[str, str | None]:
    """Do one load or import; its failure is what is reported, not a reason to stop."""
    try:
        action()
    except BaseException as error:  # SystemExit too: a module may end the process when it is imported
        # torch.ops.load_library says only which library it was; the linker said why.
        told = error.__cause__ if isinstance(error.__cause__, OSError) else error
        return {"what": what, "error": "".join(traceback.format_exception_only(type(told), told)).strip()}
    return {"what": what, "error": None}


class Report:
    """Writes marked lines to what was stdout; whatever else is printed from now on goes to stderr."""

    def __init__(self, marker: str) -> None:
        self.marker = marker
        # A lone surrogate, as in the name of a file that is no text, has no place in JSON.
        self.stream = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="replace", newline="\n")
        os.dup2(2, 1)

    def say(self, kind: str, value: Any) -> None:
        """Print one line. It starts on a line of its own, whatever was printed before."""
        self.stream.write(f"\n{self.marker} {kind} {json.dumps(value, ensure_ascii=False)}\n")
        self.stream.flush()


def read_torch(report: Report, request: dict[str, Any]) -> tuple[Any, Fallbacks, dict[str, str]]:
    """Import torch and report on it. Its module, its fallbacks, its operators. Raises TorchUnusableError."""
    torch = import_torch()
    report.say("location", location(torch))
    try:
        fallbacks = Fallbacks(torch)
        dumps = operators(torch)
        if request["plain"]:
            report.say("torch", plain_report(torch, dumps, fallbacks.read()))
    except AttributeError as error:
        raise TorchUnusableError("too-old", f"torch {torch.__version__} is too old to be read: {error}") from error
    return torch, fallbacks, dumps


def read_extension(
    report: Report, request: dict[str, Any], torch: Any, fallbacks: Fallbacks, before: dict[str, str]
) -> None:
    """Load what was asked for, and report the operators whose dumps are not what they were."""
    sys.path[:0] = request["path"]
    actions = [(library, partial(torch.ops.load_library, library)) for library in request["load"]]
    actions += [(module, partial(importlib.import_module, module)) for module in request["import"]]
    loads = []
    for what, action in actions:
        report.say("loading", what)
        loads.append(attempt(what, action))
    after = operators(torch)
    changed = {name: dump for name, dump in after.items() if before.get(name) != dump}
    described_changes = [(*operator, before.get(operator[0])) for operator in described(torch, changed)]
    report.say("extension", {"loads": loads, "operators": described_changes, "fallbacks": fallbacks.read()})


def location(torch: Any) -> dict[str, Any]:
    """Where this torch is, and the files whose change means another torch; some are not there, and may come to be."""
    package = os.path.dirname(os.path.abspath(torch.__file__))
    libraries = [os.path.join(package, "lib", name) for name in LIBRARIES]
    extension = getattr(torch._C, "__file__", None) or package
    files = [os.path.join(package, "version.py"), extension, sys.executable, *libraries]
    present = [path for path in files if path and os.path.exists(path)]
    return {"package": package, "stamps": [*present, *searched(os.path.dirname(package))]}


def searched(found: str) -> list[str]:
    """What decides that torch is imported from the folder `found`, and which packages come with it.

    Any install or removal changes a folder of installed packages. Other folders before the one where torch is, such as
    a project's, change all the time: of those only a torch in them matters.
    """
    paths = [os.path.join(sys.prefix, "pyvenv.cfg")]
    user = [site.getusersitepackages()] if site.ENABLE_USER_SITE else []
    entries = [os.path.abspath(entry) for entry in [*sys.path, *user]]
    for entry in dict.fromkeys([*entries, found]):
        if entry == found or os.path.basename(entry) in ("site-packages", "dist-packages"):
            paths.append(entry)
            names = sorted(os.listdir(entry)) if os.path.isdir(entry) else []
            paths.extend(os.path.join(entry, name) for name in names if name.endswith(".pth"))
        elif found not in entries or entries.index(entry) < entries.index(found):
            paths.extend(os.path.join(entry, name) for name in (os.path.join("torch", "__init__.py"), "torch.py"))
    return paths


def main() -> None:
    """Report on torch, then load what was asked for and report on that."""
    request = json.loads(sys.argv[1])
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    report = Report(request["marker"])
    report.say("interpreter", {"version": platform.python_version(), "executable": sys.executable})
    try:
        torch, fallbacks, dumps = read_torch(report, request)
    except TorchUnusableError as error:
        report.say("failure", {"code": error.code, "message": str(error)})
        return
    if request["load"] or request["import"]:
        read_extension(report, request, torch, fallbacks, dumps)


if __name__ == "__main__":
    main()
    # Not sys.exit: the destructors of a loaded extension have nothing more to say, and may crash.
    sys.stderr.flush()
    os._exit(0)
