"""Checks of the results of resets and steps: shapes, types, values, and ownership of arrays."""

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from .outcomes import Failed, NotApplicable, Noted, check
from .rollouts import Misreturned
from .subject import Subject
from .trees import as_numpy, difference, environments, leaves, shown

_ALL = "VectorEnv: reset and step return batches of observations, rewards, terminations, truncations and an info dict"


@check(
    "reset and step",
    requires="reset(seed=...) returns (observations, info), and step takes samples of action_space and returns "
    "(observations, rewards, terminations, truncations, info)",
    because=_ALL,
    needs=("attributes",),
)
def runs(subject: Subject) -> str:
    """Play."""
    try:
        rollout = subject.rollout()
    except Misreturned as error:
        raise Failed(str(error), "return what VectorEnv.reset and VectorEnv.step document") from error
    except Exception as error:
        raise Failed(
            f"{type(error).__name__}: {str(error)[:200]}",
            "let reset(seed=...) and step(action_space.sample()) run, for as many steps as a user wishes",
        ) from error
    return f"{len(rollout.steps)} steps, {rollout.ends} ends of episodes"


@check(
    "observation form",
    requires="observations are arrays with the shapes and types of observation_space, nested as it is",
    because="VectorEnv.observation_space is the batched observation space of what reset and step return",
    needs=("reset and step",),
)
def observation_form(subject: Subject) -> str:
    """Compare each array with its space."""
    space = subject.observation_space
    for observation in subject.rollout().observations:
        if wrong := misfit(space, observation):
            raise Failed(wrong, "return arrays as observation_space says, or correct the space")
    return ", ".join(f"{part.dtype} {part.shape}" for _, part in leaves(observation) if isinstance(part, np.ndarray))


def misfit(space: gymnasium.Space, value: Any, path: str = "") -> str | None:
    """Return how a value differs in shape or type from a space, in words; None where it does not."""
    where = f"observation{path}"
    if isinstance(space, spaces.Dict):
        if not isinstance(value, Mapping) or set(value) != set(space):
            form = sorted(value) if isinstance(value, Mapping) else type(value).__name__
            return f"{where} is {form}; the space has the names {sorted(space)}"
        return next(
            (bad for name, part in space.items() if (bad := misfit(part, value[name], f"{path}[{name!r}]"))), None
        )
    if isinstance(space, spaces.Tuple):
        if not isinstance(value, tuple) or len(value) != len(space):
            return f"{where} is {shown(value)}; the space is a tuple of {len(space)}"
        parts = enumerate(zip(space, value, strict=True))
        return next((bad for k, (part, mine) in parts if (bad := misfit(part, mine, f"{path}[{k}]"))), None)
    if space.shape is None or space.dtype is None:
        return None
    if isinstance(space, spaces.Discrete) and isinstance(value, int):  # as tasks return them, one by one in final_obs
        return None
    if not isinstance(value, np.ndarray | np.generic):
        return f"{where} is {type(value).__name__}; needed is an array"
    if value.shape != space.shape or value.dtype != space.dtype:
        return f"{where} is {value.dtype} {value.shape}; the space has {space.dtype} {space.shape}"
    return None


@check(
    "observations inside",
    requires="every number of an observation lies in observation_space",
    because="Gymnasium: an observation is an element of the environment's observation space",
    needs=("observation form",),
)
def observations_inside(subject: Subject) -> str:
    """Look for numbers outside."""
    space, observations = subject.observation_space, subject.rollout().observations
    for number, observation in enumerate(observations):
        if wrong := outside(space, observation):
            raise Failed(
                f"{wrong} (observation {number} of {len(observations)})",
                "widen the space's bounds, or clip; numbers that are not finite are no observations",
            )
    return f"{len(observations)} observations"


def outside(space: gymnasium.Space, value: Any, path: str = "") -> str | None:
    """Return the part of a value that lies outside of a space, in words; None if all lies inside."""
    if isinstance(space, spaces.Dict):
        return next((bad for n, part in space.items() if (bad := outside(part, value[n], f"{path}[{n!r}]"))), None)
    if isinstance(space, spaces.Tuple):
        parts = enumerate(zip(space, value, strict=True))
        return next((bad for k, (part, mine) in parts if (bad := outside(part, mine, f"{path}[{k}]"))), None)
    if isinstance(space, spaces.Box):
        good = (value >= space.low) & (value <= space.high)  # False for NaN
        if good.all():
            return None
        place = tuple(int(k) for k in np.argwhere(~good)[0])
        bounds = f"[{space.low[place]}, {space.high[place]}]"
        return f"observation{path}{list(place)} is {value[place]}, outside of {bounds}"
    return None if space.contains(value) else f"observation{path} is {shown(value)}, which is not in {shown(space)}"


@check(
    "rewards",
    requires="rewards are finite real numbers, floating-point, one for each environment: (num_envs,)",
    because="VectorEnv: rewards are packed into an array of shape (num_envs,); SyncVectorEnv has float64",
    needs=("reset and step",),
)
def rewards(subject: Subject) -> str:
    """Look at shapes, types and values."""
    shape = (subject.envs.num_envs,)
    for number, step in enumerate(subject.rollout().steps):
        reward = step.reward
        if not isinstance(reward, np.ndarray) or reward.shape != shape or reward.dtype.kind != "f":
            raise Failed(f"rewards are {_form(reward)}; needed is {shape} of floats", "return one array of floats")
        if not np.isfinite(reward).all():
            bad = environments(~np.isfinite(reward))
            raise Failed(f"the reward of {bad} in step {number} is {reward[~np.isfinite(reward)][0]}", "keep it finite")
    return f"{reward.dtype} {reward.shape}"


@check(
    "flags",
    requires="terminations and truncations are bools, one for each environment: (num_envs,)",
    because="VectorEnv: terminations and truncations are packed into arrays of shape (num_envs,)",
    needs=("reset and step",),
)
def flags(subject: Subject) -> str:
    """Look at shapes and types."""
    shape = (subject.envs.num_envs,)
    for step in subject.rollout().steps:
        for name, flag in (("terminations", step.terminated), ("truncations", step.truncated)):
            if not isinstance(flag, np.ndarray) or flag.shape != shape or flag.dtype != bool:
                raise Failed(f"{name} are {_form(flag)}; needed is {shape} of bools", "return one array of bools each")
    return f"bool {shape}"


@check(
    "fresh arrays",
    requires="arrays that were returned keep their values in later steps",
    because="SyncVectorEnv and AsyncVectorEnv return copies unless made with copy=False, so that what a learner stores "
    "is not overwritten",
    needs=("reset and step",),
)
def fresh_arrays(subject: Subject) -> str:
    """Compare copies of returned arrays with the arrays as they are now."""
    originals = [each for rollout in subject.rollouts_with_final() for each in rollout.kept]
    for where, very, copied in originals:
        if changed := difference(copied, as_numpy(very)):
            if getattr(subject.envs.unwrapped, "copy", True) is False:
                raise Noted("made with copy=False: later steps write to arrays that were returned, as documented")
            raise Failed(f"the {where} has changed since: {changed}", "return copies, or new arrays in every step")
    return f"{len(originals)} objects"


@check(
    "infos",
    requires="each key of an info has values of all environments and a mask _key (num_envs,) of bools that says which "
    "of them have any; infos in it are built alike",
    because="VectorEnv._add_info: every key is paired with a boolean mask _key representing whether the i-th "
    "environment has this info",
    needs=("reset and step",),
)
def infos(subject: Subject) -> str:
    """Look at every key."""
    names: dict[str, None] = {}
    for info in (info for rollout in subject.rollouts_with_final() for info in rollout.infos):
        _require_masks(info, subject.envs.num_envs, "info", names)
    if not names:
        raise NotApplicable("no info had a key")
    return ", ".join(list(names)[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def _require_masks(info: Mapping, count: int, where: str, names: dict[str, None]) -> None:
    for key, value in info.items():
        if isinstance(key, str) and key.startswith("_"):
            if key[1:] not in info:
                raise Failed(f"{where} has a mask {key!r} without the key {key[1:]!r}", "return both or neither")
            continue
        names[str(key)] = None
        mask = info.get(f"_{key}")
        if not isinstance(mask, np.ndarray) or mask.shape != (count,) or mask.dtype != bool:
            fault = "missing" if mask is None else _form(mask)
            raise Failed(
                f"{where} has {key!r}, and its mask '_{key}' is {fault}; needed is ({count},) of bools",
                "return a mask with each key, as VectorEnv._add_info makes them",
            )
        if key in ("final_obs", "episode"):  # RecordEpisodeStatistics has one mask for all that "episode" holds
            continue
        if isinstance(value, Mapping):
            if key != "final_info" or value:
                _require_masks(value, count, f"{where}[{key!r}]", names)
        elif not hasattr(value, "__len__") or len(value) != count:
            raise Failed(
                f"{where}[{key!r}] is {_form(value)}; needed is one value for each of {count} environments",
                "return values (num_envs, ...), zeros where the mask is False",
            )


def _form(value: Any) -> str:
    return f"{value.dtype} {value.shape}" if isinstance(value, np.ndarray) else f"{type(value).__name__} {shown(value)}"


CHECKS = (runs, observation_form, observations_inside, rewards, flags, infos, fresh_arrays)
