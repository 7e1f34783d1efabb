"""`op-lint check --watch`: look again whenever a file changes.

Every look is a run of its own, as if the command line were typed again: nothing of one look can leak into the next,
and what the files say is kept in the cache anyway.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from op_lint.cli.streams import say
from op_lint.files import CONFIGURATION_NAMES, is_build_file, language_of, relative_path
from op_lint.gitignore import Patterns
from op_lint.project import Project

if TYPE_CHECKING:
    from watchfiles import Change

_CALM = 200
"""Milliseconds without a change after which a look begins: an editor or a checkout writes many files at once."""

_WAKE = 200
"""Milliseconds after which the watcher says that there is nothing new."""


def watch_and_check(open_project: Callable[[], Project], arguments: Sequence[str]) -> int:
    """Run `op-lint check` with `arguments` now and after every change in the project; only an interrupt ends it."""
    try:
        from watchfiles import watch
    except ImportError as error:
        raise click.ClickException("--watch needs the package watchfiles: pip install 'op-lint[watch]'") from error
    project = open_project()
    matters = _Matters(project)
    watching = False
    for changed in watch(project.root, watch_filter=matters, debounce=_CALM, rust_timeout=_WAKE, yield_on_timeout=True):
        if not watching:  # the first look comes when changes are seen already, so that none falls between
            watching = True
            _look(arguments)
        if not changed:
            continue
        if any(Path(path).name in CONFIGURATION_NAMES for _, path in changed):
            matters.learn(open_project())  # other files may count from now on
        names = sorted({relative_path(path, Path.cwd()) for _, path in changed})
        say(f"\nchanged: {', '.join(names[:3])}{' ...' if len(names) > 3 else ''}")
        _look(arguments)
    return 0


def _look(arguments: Sequence[str]) -> None:
    subprocess.run([sys.executable, "-m", "op_lint", *(word for word in arguments if word != "--watch")])


class _Matters:
    """Whether a change may change what op-lint says."""

    def __init__(self, project: Project) -> None:
        self.learn(project)

    def learn(self, project: Project) -> None:
        """Go by the settings that a project has now."""
        settings = project.settings
        self._root = project.root
        self._cache = project.cache_folder
        self._baseline = settings.baseline and relative_path(settings.baseline, self._root)
        self._exclude = Patterns((*settings.exclude, *settings.extend_exclude))

    def __call__(self, _change: Change, path: str) -> bool:
        relative = relative_path(path, self._root)
        name = relative.rpartition("/")[2]
        if relative == self._baseline:
            return True
        is_input = bool(language_of(name)) or is_build_file(name) or name in (*CONFIGURATION_NAMES, ".gitignore")
        is_ours = Path(path).is_relative_to(self._cache)
        return is_input and not is_ours and not self._exclude.verdict(relative)
