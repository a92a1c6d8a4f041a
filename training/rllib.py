"""Environments as Ray RLlib's runners take them. Nothing here imports Ray.

RLlib stores the observation of a step that ends an episode as the last one, and takes what the next step returns for
the first observation of the following episode: the autoreset mode NEXT_STEP. Under SAME_STEP, the usual mode here, it
would store the first observation of an episode as the last one of the episode before, and learn from it silently.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..envs.making import make_vec

if TYPE_CHECKING:
    from ..envs.gym.vector_env import SimVectorEnv


def make_envs(context: Mapping[str, Any]) -> "SimVectorEnv":
    """Make the environments of a runner with numpy arrays and NEXT_STEP: `tune.register_env("tumble", make_envs)`.

    Args:
        context: RLlib's `env_config`: the name "task", and any options of `make_vec` and of the task. RLlib adds
            `num_envs`, the setting `num_envs_per_env_runner`.

    Raises:
        ValueError: there is no task, or the runner makes its environments one by one.
    """
    options = dict(context)
    if "num_envs" not in options:
        raise ValueError('RLlib asks for single environments: set gym_env_vectorize_mode="vector_entry_point"')
    if "task" not in options:
        raise ValueError('env_config names no task: give {"task": "Ant"}')
    return make_vec(options.pop("task"), output="numpy", autoreset_mode="NEXT_STEP", **options)
