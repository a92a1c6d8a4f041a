"""The table of tasks, and their registration with Gymnasium. Imports neither torch nor Taichi.

A new task is one file in this folder and one row here.
"""

import difflib
import importlib
from dataclasses import fields
from typing import TYPE_CHECKING, Any, NamedTuple

import gymnasium

if TYPE_CHECKING:
    from .task import Task
    from .vector_env import SimVectorEnv


class Row(NamedTuple):
    """One task: where its class is, and what Gymnasium's registry says of the v5 task of the same name."""

    module: str
    max_episode_steps: int
    reward_threshold: float | None


TASKS = {
    "InvertedPendulum": Row("inverted_pendulum", 1000, 950.0),
    "InvertedDoublePendulum": Row("inverted_double_pendulum", 1000, 9100.0),
    "HalfCheetah": Row("half_cheetah", 1000, 4800.0),
    "Hopper": Row("hopper", 1000, 3800.0),
    "Walker2d": Row("walker2d", 1000, None),
    "Ant": Row("ant", 1000, 6000.0),
    "Humanoid": Row("humanoid", 1000, None),
}


def register_all() -> None:
    """Register every task with Gymnasium as tumble/Name-v0, unless it is registered already."""
    for name, row in TASKS.items():
        if (identity := f"tumble/{name}-v0") not in gymnasium.registry:
            gymnasium.register(
                identity,
                entry_point="tumble.envs.single_env:SingleEnv",
                vector_entry_point="tumble.envs.vector_env:SimVectorEnv",
                max_episode_steps=row.max_episode_steps,
                reward_threshold=row.reward_threshold,
                kwargs={"task": name},
            )


def make_task(task: "str | Task", options: dict[str, Any]) -> "Task":
    """Return a task by its name and options, or the given one as it is.

    Raises:
        ValueError: no such task; the message has the nearest names.
        TypeError: an option that the task does not have; the message has the nearest or all options.
    """
    if not isinstance(task, str):
        if options:
            raise TypeError(
                f"options {sorted(options)} cannot be added to a task that is made already; make it with them"
            )
        return task
    if task not in TASKS:
        raise ValueError(f"no task {task!r}; there {_nearest(task, list(TASKS))}")
    module = importlib.import_module(f".{TASKS[task].module}", __package__)
    kind = getattr(module, task)
    known = [field.name for field in fields(kind)]
    for option in options:
        if option not in known:
            raise TypeError(f"{task} has no option {option!r}; there {_nearest(option, known)}")
    return kind(**options)


def make_vec(task: str, num_envs: int = 1, **options: Any) -> "SimVectorEnv":
    """Make a vector environment: `gymnasium.make_vec`, where "Ant" may stand for "tumble/Ant-v0".

    Args:
        task: "tumble/Ant-v0" or "Ant".
        num_envs: how many environments.
        options: those of `SimVectorEnv` and of the task.
    """
    identity = f"tumble/{task}-v0" if task in TASKS else task
    return gymnasium.make_vec(identity, num_envs=num_envs, **options)


def _nearest(name: str, known: list[str]) -> str:
    """Say which names come closest, or all of them."""
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    return f"is {' or '.join(close)}" if close else f"are {', '.join(known)}"
