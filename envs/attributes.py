"""`call`, `get_attr` and `set_attr`, as Gymnasium's SyncVectorEnv has them, where all environments are one object.

A result or a value of the batch is given once for each environment. What belongs to single environments is handed out
one by one: pictures, seeds, episode lengths, and the spaces of one environment.
"""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, cast

import gymnasium
import numpy as np
import torch

if TYPE_CHECKING:
    from .vector_env import SimVectorEnv

_SINGLE: Mapping[str, str] = {
    "observation_space": "single_observation_space",
    "action_space": "single_action_space",
}
_EACH = ("np_random_seed", "episode_lengths")  # attributes with a value for every environment
_TOGETHER = ("reset", "step")  # methods that cannot be called in one environment after the other
_AT_THE_START = ("xml_file", "default_camera_config")  # options that are not looked at again


class SharedAttributes:
    """The three methods; a part of `SimVectorEnv`."""

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Call a method, or read an attribute, of every environment.

        It is looked for on this object, then on the task, then on the solver; "render" gives the picture of each
        environment in `render_envs` and None for the others, and nothing but None without a render mode.

        Returns:
            num_envs results: of a method that is called once for all, so many times the same object.

        Raises:
            AttributeError: there is no such name.
            ValueError: `reset` and `step` are of all environments at once; call them themselves.
        """
        envs = cast("SimVectorEnv", self)
        if name in _TOGETHER:
            raise ValueError(f"call({name!r}): all environments {name} together; use {name}() itself")
        if name == "render":
            return _pictures(envs)
        if name in _EACH:
            return tuple(getattr(envs, name))
        found = getattr(_owner(envs, name), _SINGLE.get(name, name))
        return (found(*args, **kwargs) if callable(found) else found,) * envs.num_envs

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Read an attribute of every environment; see `call`."""
        return self.call(name)

    def set_attr(self, name: str, values: Any) -> None:
        """Set an attribute of all environments, where `call` finds it, or else on this object.

        An option of the task is checked as when the task is made, and the task learns its model again.

        Args:
            name: of the attribute.
            values: one value; or a list or tuple with one for each environment, all equal, since they share one object.

        Raises:
            ValueError: other values for other environments, or not one for each; or an option that is read once only.
        """
        envs = cast("SimVectorEnv", self)
        value = _shared(name, values, envs.num_envs)
        task = envs.task
        if not hasattr(envs, name) and name in (option.name for option in fields(task)):
            if name in _AT_THE_START:
                raise ValueError(f"set_attr({name!r}): it is read when environments are made; make new ones")
            vars(task).update(vars(replace(task, **{name: value}).bound(task.model, envs.batch.kind)))
        else:
            setattr(_owner(envs, name, otherwise=envs), name, value)


def _owner(envs: "SimVectorEnv", name: str, otherwise: Any = None) -> Any:
    """The environments, their task or their solver: the first that has the name.

    Raises:
        AttributeError: none of them has it, and there is nothing otherwise.
    """
    for owner in (envs, envs.task, envs.solver):
        if hasattr(owner, name):
            return owner
    if otherwise is None:
        task = type(envs.task).__name__
        raise AttributeError(f"neither {type(envs).__name__} nor its task {task} nor its solver has {name!r}")
    return otherwise


def _shared(name: str, values: Any, num_envs: int) -> Any:
    """The one value that is meant.

    Raises:
        ValueError: there are several.
    """
    if not isinstance(values, list | tuple):
        return values
    if len(values) != num_envs:
        raise ValueError(
            f"set_attr({name!r}): {len(values)} values for {num_envs} environments; needed is one value, or a list "
            "with one for each environment (a value that is itself a tuple goes into such a list)"
        )
    first = values[0]
    for env, value in enumerate(values):
        if value is not first and not _equal(value, first):
            raise ValueError(
                f"set_attr({name!r}): environment {env} is to have {value!r}, environment 0 {first!r}; all share one "
                "object, so the values must be equal"
            )
    return first


def _equal(one: Any, other: Any) -> bool:
    """Whether two values are the same, arrays too."""
    if isinstance(one, np.ndarray | torch.Tensor) or isinstance(other, np.ndarray | torch.Tensor):
        return type(one) is type(other) and one.shape == other.shape and bool((one == other).all())
    return bool(one == other)


def _pictures(envs: "SimVectorEnv") -> tuple[np.ndarray | None, ...]:
    """The picture of every environment that is pictured, None for the others."""
    if envs.render_mode is None:
        gymnasium.logger.warn("call('render') without a render mode: make it with render_mode='rgb_array'")
        return (None,) * envs.num_envs
    shown = dict(zip(envs.render_envs.tolist(), envs.render() or (), strict=False))
    return tuple(shown.get(env) for env in range(envs.num_envs))
