"""`make_vec`: a vector environment of a task, its class or its name. Calling it imports torch and Taichi."""

from typing import TYPE_CHECKING, Any

import gymnasium

from ..physics.process.libraries import load_mujoco, load_torch
from ..physics.process.waiting import Waiting
from .catalog import TASKS
from .registry import TaskLike, make_task

if TYPE_CHECKING:
    from .vector_env import SimVectorEnv


def make_vec(task: TaskLike, num_envs: int = 1, **options: Any) -> "SimVectorEnv":
    """Make a vector environment: `gymnasium.make_vec`, where "Ant" may stand for "tumble/Ant-v0", or for a task.

    Args:
        task: "tumble/Ant-v0", "Ant", the id of a task of your own, its class, or an instance.
        num_envs: how many environments.
        options: those of `SimVectorEnv` and of the task. A class or an instance has no time limit of its own: give
            `max_episode_steps`.

    Raises:
        ValueError, TypeError: as `make_task`, and those of `SimVectorEnv`.
        gymnasium.error.NameNotFound: no task is registered by an id with a namespace.
    """
    with Waiting("importing PyTorch and Taichi"):
        load_mujoco()
        load_torch()
        from .vector_env import SimVectorEnv
    if not isinstance(task, str):
        return SimVectorEnv(task, num_envs, **options)
    identity = f"tumble/{task}-v0" if task in TASKS else task
    try:
        return gymnasium.make_vec(identity, num_envs=num_envs, **options)
    except gymnasium.error.NameNotFound:
        if "/" not in task:
            make_task(task, {})  # says which names are near
        raise
