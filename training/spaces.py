"""The rules of Stable-Baselines3's networks: which observations and actions they take, and in which form.

Pictures, uint8 (height, width, channels), go through SB3's convolutions, which want the channels first, and are not
normalised; everything else is. Observations of several parts go through its `MultiInputPolicy`.
"""

from collections.abc import Collection
from typing import Any

import gymnasium as gym
import numpy as np
from stable_baselines3.common.preprocessing import is_image_space
from stable_baselines3.common.vec_env import VecTransposeImage

from .config import OFF_POLICY
from .errors import TumbleUserError

ACTIONS = (gym.spaces.Box, gym.spaces.Discrete, gym.spaces.MultiDiscrete, gym.spaces.MultiBinary)
SMALLEST_PICTURE = 36  # pixels, of which SB3's three convolutions (kernels 8, 4, 3; strides 4, 2, 1) leave one


class SpaceError(TumbleUserError, ValueError):
    """A space that Stable-Baselines3 cannot learn with; the message lists the possible ones."""


def boxes(space: gym.Space[Any]) -> dict[str, gym.Space[Any]]:
    """Return the parts of an observation space by name; "" is that of a single box."""
    return dict(space.spaces) if isinstance(space, gym.spaces.Dict) else {"": space}


def pictures(space: gym.Space[Any]) -> list[str]:
    """Return the names of the parts that are pictures."""
    return [name for name, box in boxes(space).items() if is_image_space(box)]


def normalized_parts(space: gym.Space[Any]) -> list[str]:
    """Return the names of the parts that running statistics bring to one scale: all but the pictures."""
    return [name for name in boxes(space) if name not in pictures(space)]


def policy_name(space: gym.Space[Any]) -> str:
    """Return SB3's name for the policy that takes such observations."""
    if isinstance(space, gym.spaces.Dict):
        return "MultiInputPolicy"
    return "CnnPolicy" if pictures(space) else "MlpPolicy"


def channels_first(space: gym.Space[Any]) -> gym.Space[Any]:
    """Return the space as the networks see it: pictures (channels, height, width)."""
    turned = {name: VecTransposeImage.transpose_space(boxes(space)[name], name) for name in pictures(space)}  # type: ignore[arg-type]
    if isinstance(space, gym.spaces.Dict):
        return gym.spaces.Dict(list((dict(space.spaces) | turned).items()))  # pairs: a dictionary would be sorted
    return turned.get("", space)


def some_parts(space: gym.spaces.Dict, names: Collection[str]) -> gym.spaces.Dict:
    """Return the space of some of an observation's parts, in the order that the observation has them."""
    return gym.spaces.Dict([(name, box) for name, box in space.spaces.items() if name in names])


def describe(space: gym.Space[Any]) -> str:
    """Return the shape of a space, or the shapes of its parts."""
    if isinstance(space, gym.spaces.Dict):
        return "{" + ", ".join(f"{name}: {box.shape}" for name, box in space.spaces.items()) + "}"
    return str(space.shape or space)


def check_spaces(observations: gym.Space[Any], actions: gym.Space[Any], algo: str) -> None:
    """Refuse spaces with which Stable-Baselines3 would fail, or from which it would learn wrong numbers.

    Raises:
        SpaceError: A space of another kind, or one that this algorithm has no policy for.
    """
    for name, box in boxes(observations).items():
        where = f"part {name!r} of the observation" if name else "the observation"
        if not isinstance(box, gym.spaces.Box):
            raise SpaceError(f"{where} is {box}; needed is a Box, or a Dict of boxes")
        if box.dtype == np.uint8:
            _check_picture(where, box)
    if not isinstance(actions, ACTIONS):
        raise SpaceError(f"actions of {actions}; needed is {', '.join(kind.__name__ for kind in ACTIONS)}")
    if isinstance(actions, gym.spaces.Box):
        _check_box(actions)
        return
    if algo in OFF_POLICY:
        raise SpaceError(
            f"{algo.upper()} needs actions in a Box of real numbers, these are {actions}; train with --algo ppo"
        )
    if np.any(getattr(actions, "start", 0)):
        raise SpaceError(
            f"Stable-Baselines3 counts actions from 0; {actions} begins elsewhere: add to them in `control`"
        )
    if len(actions.shape or ()) > 1:
        raise SpaceError(f"Stable-Baselines3 needs actions in one row; {actions} has the shape {actions.shape}")


def _check_picture(where: str, box: gym.spaces.Box) -> None:
    """Refuse bytes that are no picture for SB3's convolutions."""
    shape, least = box.shape, SMALLEST_PICTURE
    if not is_image_space(box) or shape[2] > min(shape[:2]) or min(shape[:2]) < least:
        raise SpaceError(
            f"{where} is uint8 {shape}; Stable-Baselines3 takes bytes as pictures, (height, width, channels) from 0 to "
            f"255 and at least {least} pixels wide and high: give others as floating-point numbers"
        )


def _check_box(actions: gym.spaces.Box) -> None:
    """Refuse actions without bounds, and whole numbers."""
    if actions.dtype.kind != "f":
        raise SpaceError(f"actions of {actions}; policies draw real numbers in a Box: use Discrete or MultiDiscrete")
    endless = ~(np.isfinite(actions.low) & np.isfinite(actions.high))
    if endless.any():
        raise SpaceError(
            f"action {int(np.flatnonzero(endless)[0])} has no bounds, and Stable-Baselines3 needs them: give its "
            'actuator ctrllimited="true" and a ctrlrange (pid: velrange, ffrange), or define the task\'s `action_space`'
        )
