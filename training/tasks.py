"""Task names as people type them, references that runs keep of them, and how their environments are made.

A task is typed as "Ant", "tumble/Ant-v0", "me/Reacher-v0" (registered in this process already),
"my_tasks:me/Reacher-v0" (a module that registers it), "path/to/my_tasks.py:me/Reacher-v0" (a file that does), or
or without an id if the module or file registers only one task.

`find_task` turns that into a *reference*, which a run's `config.toml` keeps: "tumble/Ant-v0", an absolute
"/home/me/my_tasks.py:me/Reacher-v0", or "installed_module:me/Reacher-v0". A reference means the same in another folder
and another process. `load_task` imports its module or file; `make_vec` makes its environments.
"""

import re
from difflib import get_close_matches
from typing import Any

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import VectorEnv

from ..envs.registry import TASK_SETS, spec_of, task_ids
from ..physics.machine.waiting import Waiting
from .errors import TumbleUserError
from .task_errors import TaskError, describe, is_the_tasks
from .task_source import REMEDY, TaskSource, can_import, import_source, source_of

NAMESPACE = "tumble/"
OWN_TASK = "your task is named with its module or file: my_tasks:me/Name-v0 or path/to/my_tasks.py"


def find_task(name: str) -> str:
    """Return the reference of a task, in any spelling that the module's docstring describes.

    An id may leave out version and namespace; case, hyphens and underscores in it do not matter. A module or file that
    the name begins with is imported.

    Raises:
        TaskError: No task has this name, several could be meant, or the module or file cannot be imported.
    """
    source, identity = _split(name)
    if source is None:
        task = _match(name, task_ids())
        if task is not None:
            home = source_of(task)
            return task if home is None else f"{home.address}:{task}"
        if not (_is_module(name) and can_import(name)):
            raise _unknown(name)
        source, identity = name, ""
    home = import_source(source)
    return f"{home.address}:{_choose(source, home, identity)}"


def tasks_of(source: str) -> list[str]:
    """Return all tasks that a module or file registers, each with the source in front, as `find_task` takes them.

    Raises:
        TaskError: It cannot be imported, or registers none.
    """
    home = import_source(source)
    if not home.specs:
        raise _none_registered(source)
    return [f"{source}:{task}" for task in sorted(home.specs)]


def load_task(reference: str) -> EnvSpec:
    """Return Gymnasium's entry of a referenced task, for `gymnasium.make` and `make_vec`; import the task's source.

    Raises:
        TaskError: The task is not registered, or its module or file cannot be imported.
    """
    source, task = _split(reference)
    if source is not None:
        home = import_source(source)
        task = _choose(source, home, task)
        return home.specs.get(task) or gym.registry[task]
    if task not in task_ids():
        raise _unknown(task)
    return spec_of(task)


def task_id(reference: str) -> str:
    """Return the id in a reference, such as "me/Reacher-v0"."""
    return _split(reference)[1]


def is_registered(name: str) -> bool:
    """Say whether a name stands for a task that is registered already and came from no module or file of a user's."""
    task = _match(name, task_ids())
    return task is not None and source_of(task) is None


def source_name(reference: str) -> str | None:
    """Return the module or file in a reference, which must be imported to find the task; None without one."""
    return _split(reference)[0]


def short_name(reference: str) -> str:
    """Return the id in a reference without its namespace: "Reacher-v0"."""
    return task_id(reference).rpartition("/")[2]


def make_vec(reference: str, **options: Any) -> VectorEnv:
    """Make the vector environment of a referenced task.

    Args:
        reference: A result of `find_task`.
        options: Of `SimVectorEnv` and of the task; lists, as TOML has them, become tuples.

    Raises:
        TaskError: As `load_task`; or the task has no such option, its model does not exist, or it returned something
            wrong.
    """
    spec = load_task(reference)
    options = {name: tuple(value) if isinstance(value, list) else value for name, value in options.items()}
    try:
        with Waiting(f"making {options.get('num_envs', 1):,} environments of {spec.id}"):
            return gym.make_vec(spec, **options)
    except TumbleUserError:
        raise
    except Exception as error:
        if is_the_tasks(error):
            raise TaskError(f"{spec.id}: {describe(error)}") from error
        if isinstance(error, TypeError | ValueError | OSError | NotImplementedError):  # Tumble's refusals
            raise TaskError(f"{spec.id}: {error}") from error
        raise


def gymnasium_twin(reference: str) -> str | None:
    """Return the equal MuJoCo task of Gymnasium, such as "Ant-v5"; None if it has none."""
    if not reference.startswith(NAMESPACE):
        return None
    twin = re.sub(r"-v\d+$", "-v5", reference.removeprefix(NAMESPACE))
    return twin if twin in gym.registry else None


def _split(name: str) -> tuple[str | None, str]:
    """Split "source:id"; the source is None if there is only an id, the id "" if there is only a source."""
    file = re.fullmatch(r"(.+\.py)(?::([^:\\]*))?", name)
    if file is not None:
        return file[1], file[2] or ""
    source, colon, task = name.partition(":")
    return (source, task) if colon else (None, name)


def _is_module(name: str) -> bool:
    """Say whether a name could be a module's."""
    return all(part.isidentifier() for part in name.split("."))


def _choose(source: str, home: TaskSource, wanted: str) -> str:
    """Return the id of the task that `wanted` stands for among a source's tasks."""
    own = sorted(home.specs)
    elsewhere = wanted in task_ids() and source_of(wanted) is None  # registered before this source was imported
    if elsewhere:
        return wanted
    if not own:
        raise _none_registered(source)
    if wanted:
        task = _match(wanted, own)
        if task is None:
            raise TaskError(f"{source}: no task {wanted!r}; it registers {', '.join(own)}")
        return task
    if len(own) > 1:
        raise TaskError(f"{source} registers several tasks; choose {' or '.join(f'{source}:{task}' for task in own)}")
    return own[0]


def _none_registered(source: str) -> TaskError:
    """The error for a module or file without tasks."""
    return TaskError(f"{source}: importing it registered no task; it should call {REMEDY}")


def _unknown(name: str) -> TaskError:
    """Return the error for a name that no task has; its message suggests the nearest names."""
    if name in TASK_SETS:
        return TaskError(f"{name} is a set of tasks, which only tumble.make_vec makes; name one task of it")
    ids = task_ids()
    by_key, spaces = _keys(ids), {identity.partition("/")[0] for identity in ids}
    near = list(dict.fromkeys(by_key[key] for key in get_close_matches(_key(name), by_key, n=3)))
    own = ", ".join(identity for identity in ids if identity.startswith(NAMESPACE))
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are {own}, and more in `tumble list`"
    foreign = "/" in name and name.partition("/")[0] not in spaces
    return TaskError(f"unknown task {name!r}; {OWN_TASK if foreign else f'{hint} ({OWN_TASK})'}")


def _match(name: str, ids: list[str]) -> str | None:
    """Return the id among some that a name stands for."""
    return name if name in ids else _keys(ids).get(_key(name))


def _keys(ids: list[str]) -> dict[str, str]:
    """Return ids by the names they may be called: with or without namespace and version; Tumble's go before others."""
    keys: dict[str, str] = {}
    for task in sorted(ids, key=lambda task: not task.startswith(NAMESPACE)):
        bare = task.rpartition("/")[2]
        for name in (task, bare, re.sub(r"-v\d+$", "", task), re.sub(r"-v\d+$", "", bare)):
            keys.setdefault(_key(name), task)
    return keys


def _key(name: str) -> str:
    """Return a name in lower case, without the hyphens, underscores and spaces that people spell differently."""
    return re.sub(r"[-_ ]", "", name).lower()
