"""`make` and `make_vec`: environments of a task, its class or its name. Calling them imports torch and Taichi."""

from typing import TYPE_CHECKING, Any

import gymnasium
from gymnasium.envs.registration import EnvSpec

from ..physics.machine.waiting import importing
from .registry import TASK_SETS, TaskLike, identity_of, spec_of, suite_rows

if TYPE_CHECKING:
    from .gym.vector_env import SimVectorEnv

LIBRARIES = "PyTorch and Taichi"


def make(task: TaskLike, *, max_episode_steps: int | None = None, **options: Any) -> gymnasium.Env:
    """Make a single environment in numpy: `gymnasium.make`, where "Ant" may stand for "tumble/Ant-v0", or for a task.

    Args:
        task: "tumble/Ant-v0", "Ant-v0", "Ant", the id of a registered task, a task class, or an instance.
        max_episode_steps: an episode is truncated after so many steps; -1: never; None: after the number that the task
            is registered with, a class or an instance never.
        options: of `SingleEnv` and of the task.

    Raises:
        ValueError, TypeError: as in `make_task` and `SingleEnv`; or the id is of no task of Tumble.
        gymnasium.error.NameNotFound: no task is registered by an id with a namespace.
    """
    with importing(LIBRARIES):
        from .arguments import time_limit
        from .gym.single_env import SingleEnv
    if isinstance(task, str):
        if task in TASK_SETS:
            raise ValueError(f"{task} is a set of tasks, which only make_vec makes: tumble.make_vec({task!r})")
        env = gymnasium.make(_found(task), max_episode_steps=max_episode_steps, **options)
        return _ours(task, env, SingleEnv)
    limit = time_limit(max_episode_steps)
    env = SingleEnv(task, **options)
    return env if limit is None else gymnasium.wrappers.TimeLimit(env, limit)


def make_vec(task: TaskLike, num_envs: int = 1, **options: Any) -> "SimVectorEnv":
    """Make a vector environment: `gymnasium.make_vec`, where "Ant" may stand for "tumble/Ant-v0", or for a task.

    Args:
        task: "tumble/Ant-v0", "Ant-v0", "Ant", the id of a registered task, a task class, or an instance.
        num_envs: how many environments.
        options: of `SimVectorEnv` and of the task. A class or an instance has no time limit: give
            `max_episode_steps`.

    Raises:
        ValueError, TypeError: as in `make_task` and `SimVectorEnv`; or the id is of no task of Tumble.
        gymnasium.error.NameNotFound: no task is registered by an id with a namespace.
    """
    with importing(LIBRARIES):
        from .gym.vector_env import SimVectorEnv
        from .metaworld.task_set import TaskSetEnv
    if not isinstance(task, str):
        return SimVectorEnv(task, num_envs, **options)
    kind = TaskSetEnv if task in TASK_SETS else SimVectorEnv
    return _ours(task, gymnasium.make_vec(_found(task), num_envs=num_envs, **options), kind)


def _found(task: str) -> str | EnvSpec:
    """Return the id of a task, or of a suite's task Tumble's entry; errors as of `identity_of`."""
    identity = identity_of(task)
    return spec_of(identity) if identity in suite_rows() else identity


def _ours(task: str, made: Any, kind: type) -> Any:
    """Return environments that Gymnasium made, if they are Tumble's.

    Raises:
        ValueError: they are of another project.
    """
    if isinstance(made.unwrapped, kind):
        return made
    made.close()
    raise ValueError(f"{task!r} is of {type(made.unwrapped).__module__}, not of Tumble: make it with Gymnasium's call")
