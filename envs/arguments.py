"""Checks of the arguments that environments are made with: counts, time limits, autoreset modes and devices."""

import operator
from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium.vector import AutoresetMode, VectorEnv


def whole(name: str, value: Any, least: int | None = 1) -> int:
    """Return a whole number, Python's or numpy's, as Python's.

    Raises:
        TypeError: the value is not of a whole type; 2.0 and True are not either.
        ValueError: it is less than `least`.
    """
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        number = operator.index(value)
    except (TypeError, ValueError, RuntimeError) as error:  # of torch's tensors with several numbers, or none
        raise TypeError(f"{name}={value!r}: it must be a whole number") from error
    if least is not None and number < least:
        raise ValueError(f"{name}={number}: it must be at least {least}")
    return number


def time_limit(max_episode_steps: Any) -> int | None:
    """Return after how many steps an episode is truncated; None: never.

    Raises:
        TypeError, ValueError: it is no whole number, or neither positive nor -1.
    """
    if max_episode_steps is None:
        return None
    limit = whole("max_episode_steps", max_episode_steps, least=None)
    if limit < 1 and limit != -1:
        raise ValueError(f"max_episode_steps={limit}: at least 1, or -1 for no limit")
    return None if limit == -1 else limit


def parse_autoreset_mode(mode: str | AutoresetMode) -> AutoresetMode:
    """Return the mode that was given as a member, by its name ("SAME_STEP") or by its value ("SameStep").

    Raises:
        ValueError: no such mode.
    """
    for member in AutoresetMode:
        if mode in (member, member.name, member.value):
            return member
    raise ValueError(f"autoreset_mode={mode!r}: there is {', '.join(member.name for member in AutoresetMode)}")


def require_vector(envs: Any, taker: str) -> None:
    """Raise unless `envs` is a vector environment; a single environment is refused.

    Args:
        envs: the value that a user passed.
        taker: who wants a vector environment, for the message.

    Raises:
        TypeError: it is no vector environment; the message says how to make one.
    """
    if isinstance(envs, VectorEnv):
        return
    single = isinstance(envs, gymnasium.Env)
    identity = envs.spec.id if single and envs.spec is not None else "tumble/Ant-v0"
    fault = f"{envs} is a single environment" if single else f"this is {type(envs).__name__}"
    raise TypeError(
        f"{taker} takes a vector environment, and {fault}: make one with tumble.make_vec({identity!r}, num_envs=64) "
        f"or gymnasium.make_vec({identity!r}, num_envs=64)"
    )


def torch_device(device: str | torch.device) -> torch.device:
    """Return the device of a name, once a tensor could be made there.

    Raises:
        ValueError: torch does not know the device, or this machine lacks it.
    """
    if str(device).partition(":")[0] == "meta":
        raise ValueError("device='meta': tensors there have shapes and no numbers; use 'cpu'")
    try:
        return torch.empty(0, device=device).device
    except (RuntimeError, AssertionError, TypeError) as error:  # torch asserts that it was built with CUDA
        reason = str(error).splitlines()[0]
        raise ValueError(f"device={str(device)!r}: torch has no tensors there ({reason}); use 'cpu'") from error
