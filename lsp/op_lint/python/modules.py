"""Modules by name and by path. No file is looked for: a project is the paths it consists of."""

from __future__ import annotations

from collections.abc import Iterable


def module_name(path: str) -> str:
    """The dotted name that a path from the project's root gives: `pkg/sub/__init__.py` is `pkg.sub`."""
    folder, _, name = path.rpartition("/")
    stem, dot, _ = name.rpartition(".")
    parts = [*folder.split("/"), stem if stem and dot else name]
    if parts[-1] == "__init__":
        parts.pop()
    return ".".join(filter(None, parts))


def relative_module(path: str, level: int, module: str | None) -> str:
    """The module that `from ..module import` means in the file at `path`, from the project's root.

    `level` is the number of dots. More dots than there are folders stop at the root.
    """
    folders = list(filter(None, path.split("/")[:-1]))
    kept = folders[: max(len(folders) - level + 1, 0)]
    return ".".join([*kept, *(module.split(".") if module else [])])


class ModuleIndex:
    """Finds the files that modules are in. `paths` are all Python files of the project, from its root."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._by_name: dict[str, list[str]] = {}
        self._by_end: dict[str, list[tuple[str, str]]] = {}
        for path in paths:
            name = module_name(path)
            self._by_name.setdefault(name, []).append(path)
            self._by_end.setdefault(name.rpartition(".")[2], []).append((name, path))

    def find(self, module: str, importer: str, *, relative: bool = False) -> str | None:
        """The path of a module that the file at `importer` imports; None where no file of the project is it.

        A project's packages need not be at its root (`src/pkg`): a path whose end is the module's name will do, the one
        nearest to the importer if there are several. The root may be the package itself: then the first name is not in
        the path. A relative import was counted from the root already.
        """
        exact = self._by_name.get(module)
        if exact or relative:
            return exact[0] if exact else None
        alike = self._by_end.get(module.rpartition(".")[2], ())
        candidates = [path for name, path in alike if name.endswith(f".{module}")]
        if not candidates:
            inside = module.partition(".")[2]
            candidates = self._by_name.get(inside, []) if "." in inside else []
        return min(candidates, key=lambda path: (-_shared(path, importer), len(path), path), default=None)


def _shared(first: str, second: str) -> int:
    """How many folders two paths have in common from the root."""
    count = 0
    for one, other in zip(first.split("/")[:-1], second.split("/")[:-1], strict=False):
        if one != other:
            break
        count += 1
    return count
