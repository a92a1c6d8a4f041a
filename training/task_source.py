"""The modules and files that register users' tasks, imported once a process.

A file is imported as Python would import it from its folder: that folder goes to the front of `sys.path`, so that
its neighbours are found, and the module is called by the file's stem, so that pickles can name it. A file inside a
package (a folder with an `__init__.py`) is imported as a part of the package. Modules are looked for in the present
folder too, as `python -m` does.
"""

import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec

from ..envs.registry import task_ids
from ..physics.machine.waiting import Waiting
from .task_errors import TaskError, describe, is_users

REMEDY = 'tumble.register("me/Name-v0", Class, max_episode_steps=...)'


@dataclass(frozen=True)
class TaskSource:
    """An imported module and the tasks that it registered.

    Attributes:
        address: Its identity in any folder: an absolute path, or the name of an installed module.
        module: The module.
        specs: The specs that it registered, by id.
    """

    address: str
    module: ModuleType
    specs: dict[str, EnvSpec]


_imported: dict[str, TaskSource] = {}  # by the module's name


def is_file(source: str) -> bool:
    """Say whether a source is written as a file's path, not as a module's name."""
    return source.endswith(".py")


def can_import(name: str) -> bool:
    """Say whether there is a module of this name, without importing it; Python imports the packages that it is in."""
    with _searching(Path.cwd()):
        try:
            return importlib.util.find_spec(name) is not None
        except (ImportError, ValueError):  # no such package; no name that a module can have
            return False


def import_source(source: str) -> TaskSource:
    """Import a module ("my_tasks") or a file ("path/to/my_tasks.py") and find out which tasks it registers.

    Raises:
        TaskError: It does not exist, its name belongs to another module, or importing it fails; the message has
            the file, the line and the error.
    """
    file = Path(os.path.abspath(Path(source).expanduser())) if is_file(source) else None
    if file is not None and not file.is_file():
        moved = "if it was moved, change `task` in the config.toml of its runs" if Path(source).is_absolute() else file
        raise TaskError(f"{source}: no such file ({moved})")
    folder, name = (Path.cwd(), source) if file is None else _import_path(file)
    if name in _imported and sys.modules.get(name) is _imported[name].module:
        if file is not None:
            _require_same(_imported[name].module, file)
        return _imported[name]
    if file is not None:
        _refuse_taken(name, file)
    before = dict(gym.registry)
    with _searching(folder, keep=True), Waiting(f"importing {source}"):
        module = _import(name, source)
    if file is not None:
        _require_same(module, file)
    specs = {task: gym.registry[task] for task in task_ids()}
    own = {task: spec for task, spec in specs.items() if before.get(task) is not spec or _is_of(spec, name)}
    _imported[name] = TaskSource(_address(module, name), module, own)
    return _imported[name]


def source_of(task: str) -> TaskSource | None:
    """Return the imported source that registered a task; None if no source did."""
    spec = gym.registry.get(task)
    return next((source for source in _imported.values() if source.specs.get(task) is spec), None)


def _import_path(file: Path) -> tuple[Path, str]:
    """Return the folder from which a file is imported, and under which name: outside of packages its stem."""
    parts = [] if file.name == "__init__.py" else [file.stem]
    folder = file.parent
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    return folder, ".".join(parts)


def _address(module: ModuleType, name: str) -> str:
    """Return the path of a user's module, which is good in any folder; the name of an installed one."""
    file = getattr(module, "__file__", None)
    by_path = file is not None and is_users(file) and _import_path(Path(file))[1] == name
    return str(file) if by_path else name


def _is_of(spec: EnvSpec, name: str) -> bool:
    """Say whether the class of a task is defined in a module, or in a part of it."""
    task: Any = spec.kwargs.get("task")
    home = (task if isinstance(task, type) else type(task)).__module__
    return home == name or home.startswith(f"{name}.")


def _import(name: str, source: str) -> ModuleType:
    """Import a module; an error names the file and line where it happened."""
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        missing = isinstance(error, ModuleNotFoundError) and error.name is not None
        if missing and (name == error.name or name.startswith(f"{error.name}.")):  # type: ignore[union-attr]
            raise TaskError(
                f"there is no module {name!r}, neither in the present folder nor where Python looks; for a file give "
                f"its path: {name.replace('.', '/')}.py"
            ) from None
        raise TaskError(f"{source}: importing it failed. {describe(error)}") from error


@contextmanager
def _searching(folder: Path, keep: bool = False) -> Iterator[None]:
    """Put a folder in front of Python's search path; with `keep` after the block too, unless that failed."""
    entry = str(folder)
    if sys.path[:1] == [entry]:
        yield
        return
    sys.path.insert(0, entry)
    importlib.invalidate_caches()
    done = False
    try:
        yield
        done = True
    finally:
        if not (done and keep):
            sys.path.remove(entry)


def _refuse_taken(name: str, file: Path) -> None:
    """Refuse a file whose name belongs to another module: importing it would give that one, or hide it from others."""
    first = name.partition(".")[0]
    if first in sys.stdlib_module_names:
        raise TaskError(f"{file}: {first!r} is a module of Python's own; rename the file")
    if name in sys.modules:
        _require_same(sys.modules[name], file)
        return
    if first in sys.modules:  # a package, whose other parts are imported already
        return
    try:
        spec = importlib.util.find_spec(first)
    except (ImportError, ValueError):
        spec = None
    if spec is not None and spec.origin is not None and "." not in name and not _same(spec.origin, file):
        raise TaskError(f"{file}: the name {name!r} is taken by another module, {spec.origin}; rename the file")


def _require_same(module: ModuleType, file: Path) -> None:
    """Refuse a file whose name another module has."""
    other = getattr(module, "__file__", None)
    if other is None or not _same(other, file):
        raise TaskError(
            f"{file}: the name {module.__name__!r} is taken by another module, {other or 'built into Python'}; rename "
            "the file"
        )


def _same(path: str, file: Path) -> bool:
    return os.path.exists(path) and os.path.samefile(path, file)
