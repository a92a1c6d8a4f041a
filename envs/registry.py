"""The registration of tasks with Gymnasium. Imports neither torch nor Taichi.

Tasks of this package are the rows of `catalog.py`; a task of another package is one call of `register`.
"""

import difflib
import importlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import gymnasium

from .catalog import TASKS

if TYPE_CHECKING:
    from .task.task import Task

TaskLike: TypeAlias = Union[str, "Task", type["Task"]]
"""A name in `catalog.TASKS`, a task, or its class."""

_SINGLE, _VECTOR = "tumble.envs:SingleEnv", "tumble.envs:SimVectorEnv"


def register_all() -> None:
    """Register every task of the table with Gymnasium as tumble/Name-v0, unless it is registered already."""
    for name, row in TASKS.items():
        if (identity := f"tumble/{name}-v0") not in gymnasium.registry:
            _register(identity, name, row.max_episode_steps, row.reward_threshold, {})


def register(
    identity: str,
    task: "Task | type[Task]",
    *,
    max_episode_steps: int | None = None,
    reward_threshold: float | None = None,
    **options: Any,
) -> None:
    """Register a task of your own with Gymnasium, for `gymnasium.make`, `make_vec` and the `tumble` command.

    Args:
        identity: such as "me/Reacher-v0".
        task: a class derived from `tumble.envs.Task`, or an instance of one.
        max_episode_steps: an episode is truncated after so many steps; None: never.
        reward_threshold: the return at which the task counts as solved, if that is known.
        options: the task's own, as defaults; `gymnasium.make(identity, option=...)` overrides them.

    Raises:
        TypeError: this is no task, or it has no such option; the message has the nearest ones.
        gymnasium.error.Error: the identity is not of the form namespace/Name-v0.
    """
    make_task(task, options)
    _register(identity, task, max_episode_steps, reward_threshold, options)


def _register(
    identity: str, task: TaskLike, max_episode_steps: int | None, reward_threshold: float | None, options: dict
) -> None:
    gymnasium.register(
        identity,
        entry_point=_SINGLE,
        vector_entry_point=_VECTOR,
        max_episode_steps=max_episode_steps,
        reward_threshold=reward_threshold,
        kwargs={"task": task, **options},
    )


def task_ids() -> list[str]:
    """Return the ids of Tumble's and its users' registered tasks, such as "tumble/Ant-v0", in alphabetical order."""
    return sorted(name for name, spec in gymnasium.registry.items() if spec.vector_entry_point == _VECTOR)


def identity_of(name: str) -> str:
    """Return the id in Gymnasium's registry of a task: of "Ant" and "Ant-v0" it is "tumble/Ant-v0".

    Names with a namespace or a module, and those of tasks that were registered without one, stay as they are.

    Raises:
        ValueError: it is of no task, but of Gymnasium's own, for example; the message has what may be meant.
    """
    if "/" in name or ":" in name or name in task_ids():
        return name
    if (task := name.removesuffix("-v0")) in TASKS:
        return f"tumble/{task}-v0"
    task = name.rpartition("-v")[0] or name
    near = f"is tumble/{task}-v0" if task in TASKS else _nearest(task, list(TASKS))
    theirs = ", but an environment of Gymnasium's registry, for its own make and make_vec" * (
        name in gymnasium.registry
    )
    raise ValueError(f"no task {name!r}{theirs}; there {near}")


def make_task(task: TaskLike, options: dict[str, Any]) -> "Task":
    """Return a task by its name, class or instance, with options.

    Raises:
        ValueError: no such task; the message has the nearest names.
        TypeError: this is no task, or it has no such option; the message has the nearest ones.
    """
    from .task.task import Task, options_of

    if isinstance(task, str):
        if task not in TASKS:
            raise ValueError(f"no task {task!r}; there {_nearest(task, list(TASKS))}")
        module = importlib.import_module(f".{TASKS[task].module}", __package__)
        return make_task(getattr(module, task), options)
    kind = task if isinstance(task, type) else type(task)
    if not issubclass(kind, Task):
        raise TypeError(f"{task!r} is no task: needed is a name, or a class derived from tumble.envs.Task")
    known = options_of(kind)
    for option in options:
        if option not in known:
            raise TypeError(
                f"{kind.__name__} got an unexpected keyword argument {option!r}; there {_nearest(option, known)}"
            )
    if isinstance(task, Task):
        return replace(task, **options) if options else task
    return task(**options)


def _nearest(name: str, known: list[str]) -> str:
    """Return "is A or B" with the names that come closest to one, or "are ..." with all."""
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    return f"is {' or '.join(close)}" if close else f"are {', '.join(known) or 'none'}"
