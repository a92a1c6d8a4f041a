"""Methods `call`, `get_attr` and `set_attr` of Gymnasium's SyncVectorEnv, for environments that are one Python object.

Where that object has one value for all environments, the value is repeated for each of them. Pictures, seeds and
episode lengths are handed out one for each environment; "observation_space" and "action_space" are the single ones.
"""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Protocol

import gymnasium
import numpy as np
import torch

from ..arrays import equal
from ..batch.managed import Managers
from ..registry import MANAGERS
from .managed_task import changed_managers, is_plain

if TYPE_CHECKING:
    from ...physics import RigidSolver
    from ..arrays import ArrayKind
    from ..batch.batch import TaskBatch
    from ..task.task import Task

_SINGLE: Mapping[str, str] = {
    "observation_space": "single_observation_space",
    "action_space": "single_action_space",
}
_EACH = ("np_random_seed", "episode_lengths")  # attributes with a value for every environment
_TOGETHER = ("reset", "step")  # methods that cannot be called in one environment after the other
AT_THE_START = ("xml_file", "default_camera_config")  # options that are read once, when environments are made


class _Tasked(Protocol):
    """The attributes of single and vector environments that are needed here."""

    metadata: dict[str, Any]
    task: "Task"
    batch: "TaskBatch"


class _Envs(_Tasked, Protocol):
    """The attributes of `SimVectorEnv` that are needed here."""

    num_envs: int
    render_mode: str | None
    render_envs: "torch.Tensor"
    solver: "RigidSolver"

    def render(self) -> Any:
        """Return a picture of each environment in `render_envs`."""


def call(envs: "_Envs", name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
    """Call a method, or read an attribute, of every environment.

    The name is looked for on this object, then on the task, then on the solver. "render" gives the picture of each
    environment in `render_envs` and None for every other; without a render mode None for all.

    Returns:
        A tuple of num_envs results. A method of the batch is called once, and its result is repeated.

    Raises:
        AttributeError: there is no such name.
        ValueError: `reset` and `step` are of all environments at once; call them themselves.
    """
    if name in _TOGETHER:
        raise ValueError(f"call({name!r}): all environments {name} together; use {name}() itself")
    if name == "render":
        return _pictures(envs)
    if name in _EACH:
        return tuple(getattr(envs, name))
    member = getattr(_owner(envs, name), _SINGLE.get(name, name))
    return (member(*args, **kwargs) if callable(member) else member,) * envs.num_envs


def get_attr(envs: "_Envs", name: str) -> tuple[Any, ...]:
    """Read an attribute of every environment; see `call`."""
    return call(envs, name)


def set_attr(envs: "_Envs", name: str, values: Any) -> None:
    """Set an attribute of all environments: on the object where `call` finds the name, or else on this one.

    A new value of a task's option is checked as when a task is made, and the task's `bind` is called again. The
    model, spaces, pictures, rays and the shapes of memory stay: a value that changes them is refused, and nothing
    is changed then. Other managers, by "randomize", "observe" or "delay", draw from the next reset or interval on.

    Args:
        envs: the environments.
        name: of the attribute.
        values: one value; or a list or tuple with one for each environment, all equal, since they share one object.

    Raises:
        ValueError: the values differ, or are not one for each environment; or the option is read only once, or
            needs environments of other shapes.
        TypeError, KeyError: the option cannot have such a value.
    """
    value = _shared(name, values, envs.num_envs)
    task = envs.task
    if name in MANAGERS and not (is_plain(value) and hasattr(task, name)):
        _put_managers(envs, name, value)
    elif not hasattr(envs, name) and name in (option.name for option in fields(task)):
        if name in AT_THE_START:
            raise ValueError(f"set_attr({name!r}): it is read when environments are made; make new ones")
        changed = _with_options(task, envs.batch.kind, {name: value})
        try:
            envs.batch.check_task(changed)
        except (ValueError, TypeError, KeyError) as error:
            words = f"set_attr({name!r}): {error.args[0]}; make new environments with {name}={value!r}"
            raise type(error)(words) from error
        _put(envs, changed)
    else:
        setattr(_owner(envs, name, otherwise=envs), name, value)


def change_options(env: "_Tasked", changes: Mapping[str, Any]) -> None:
    """Give an environment's task other values of options, checked as when a task is made; its `bind` is called again.

    Raises:
        ValueError, TypeError: an option cannot have such a value.
    """
    _put(env, _with_options(env.task, env.batch.kind, changes))


def _put_managers(envs: "_Envs", name: str, value: Any) -> None:
    """Replace the managers of the task; refuse managers that change the shapes of memory or spaces."""
    try:
        options = changed_managers(envs.batch.managers.options, {name: value})
        envs.batch.check_managers(Managers(envs.task, options))
    except (ValueError, TypeError, KeyError) as error:
        raise type(error)(f"set_attr({name!r}): {error.args[0]}; make new environments for that") from error
    envs.batch.renew_managers(options)


def _with_options(task: "Task", kind: "ArrayKind", changes: Mapping[str, Any]) -> "Task":
    return replace(task, **changes).bound(task.model, kind, task._varied, task.particles)


def _put(env: "_Tasked", changed: "Task") -> None:
    vars(env.task).update(vars(changed))
    env.batch.renew_managers()
    env.metadata["render_fps"] = round(1 / env.task.dt)


def _owner(envs: "_Envs", name: str, otherwise: Any = None) -> Any:
    """Return the first of the environments, their task and their solver that has the name, or else `otherwise`.

    Raises:
        AttributeError: no environment has the name, and `otherwise` is None.
    """
    for owner in (envs, envs.task, envs.solver):
        if hasattr(owner, name):
            return owner
    if otherwise is None:
        task = type(envs.task).__name__
        raise AttributeError(f"neither {type(envs).__name__} nor its task {task} nor its solver has {name!r}")
    return otherwise


def _shared(name: str, values: Any, num_envs: int) -> Any:
    """Return the one value for all environments from a value, or from a list or tuple with one for each.

    Raises:
        ValueError: the values differ, or their number is not num_envs.
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
        if value is not first and not equal(value, first):
            raise ValueError(
                f"set_attr({name!r}): environment {env} is to have {value!r}, environment 0 {first!r}; all share one "
                "object, so the values must be equal"
            )
    return first


def _pictures(envs: "_Envs") -> tuple[np.ndarray | None, ...]:
    """Return the picture of every environment in `render_envs`, and None for every other."""
    if envs.render_mode is None:
        gymnasium.logger.warn("call('render') without a render mode: make it with render_mode='rgb_array'")
        return (None,) * envs.num_envs
    shown = dict(zip(envs.render_envs.tolist(), envs.render() or (), strict=False))
    return tuple(shown.get(env) for env in range(envs.num_envs))
