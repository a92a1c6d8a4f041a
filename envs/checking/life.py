"""Checks of how vector environments are made again, drawn and closed."""

import pickle
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import VectorEnv

from .outcomes import Failed, NotApplicable, Noted, check
from .subject import SEED, Subject
from .trees import as_numpy, shown

_SPACES = ("observation_space", "action_space", "single_observation_space", "single_action_space")


@check(
    "spec",
    requires="the spec survives pickle, and gymnasium.make_vec(spec) makes environments of the same number and spaces",
    because="make_vec takes a spec, and adds one to the environments it makes, so that they can be made again",
    needs=("attributes",),
)
def spec(subject: Subject) -> str:
    """Make the environments again."""
    envs = subject.envs
    if (its_spec := envs.unwrapped.spec) is None:
        raise NotApplicable("they have no spec; gymnasium.make_vec would give them one")
    if not isinstance(its_spec, gymnasium.envs.registration.EnvSpec):
        raise Failed(f"spec is {type(its_spec).__name__}, no EnvSpec", "leave spec None, or set what make_vec gave")
    try:
        again = gymnasium.make_vec(pickle.loads(pickle.dumps(its_spec)))
    except Exception as error:
        raise Failed(
            f"{type(error).__name__}: {str(error)[:200]}",
            "let the spec have the arguments with which make_vec makes them, all of which pickle takes",
        ) from error
    try:
        if again.num_envs != envs.num_envs:
            raise Failed(
                f"made again, num_envs is {again.num_envs} and was {envs.num_envs}", "keep num_envs in the spec"
            )
        for name in _SPACES:
            if getattr(again, name) != getattr(envs.unwrapped, name):  # whose spec it is; it knows no wrappers
                raise Failed(f"made again, {name} is {shown(getattr(again, name))}", "keep its arguments in the spec")
    finally:
        again.close()
    return its_spec.id


@check(
    "render",
    requires="with render_mode 'rgb_array' render() returns a sequence with a picture of each environment, (height, "
    "width, 3) uint8",
    because="VectorEnv.render: it returns a tuple of rendered frames from the parallel environments",
    needs=("reset and step",),
)
def render(subject: Subject) -> str:
    """Draw after a reset and a step."""
    envs = subject.envs
    if envs.render_mode is None:
        if "rgb_array" not in (envs.metadata or {}).get("render_modes", []):
            raise NotApplicable("metadata['render_modes'] has no 'rgb_array'")
        envs = subject.source.make(render_mode="rgb_array")
    elif envs.render_mode != "rgb_array":
        raise NotApplicable(f"render_mode is {envs.render_mode!r}")
    envs.reset(seed=SEED)
    envs.step(subject.actions[0])
    try:
        frames = envs.render()
    except gymnasium.error.DependencyNotInstalled as error:
        raise NotApplicable(f"drawing needs a package that is not installed: {str(error)[:100]}") from error
    shown = getattr(envs.unwrapped, "render_envs", None)
    if shown is not None and len(shown) < envs.num_envs:
        _look_at(frames, len(shown))
        raise Noted(f"render() shows the {len(shown)} of {envs.num_envs} environments that render_envs names")
    return _look_at(frames, envs.num_envs)


def _look_at(frames: Any, count: int) -> str:
    do = "return a tuple with one array (height, width, 3) of uint8 for each environment"
    if not hasattr(frames, "__len__") or len(frames) != count:
        what = f"{len(frames)} of them" if hasattr(frames, "__len__") else type(frames).__name__
        raise Failed(f"render() returned {what}; {count} environments are to be shown", do)
    for env in range(count):
        frame = as_numpy(frames[env])
        if not isinstance(frame, np.ndarray) or frame.ndim != 3 or frame.shape[2] != 3 or frame.dtype != np.uint8:
            form = f"{frame.dtype} {frame.shape}" if isinstance(frame, np.ndarray) else type(frame).__name__
            raise Failed(f"the picture of environment {env} is {form}", do)
    return f"{count} of {frame.shape}"


def _closed(subject: Subject) -> VectorEnv:
    envs = subject.another()
    envs.reset(seed=SEED)
    envs.step(subject.actions[0])
    envs.close()
    return envs


@check(
    "close",
    requires="close() may be called twice, and sets closed to True",
    because="VectorEnv.close: it releases resources and sets closed; where it is True already nothing is done",
    needs=("reset and step",),
)
def close(subject: Subject) -> str:
    """Close twice."""
    envs = _closed(subject)
    if not envs.closed:
        raise Failed("closed is False after close()", "override close_extras, and leave close as VectorEnv has it")
    try:
        envs.close()
    except Exception as error:
        raise Failed(
            f"a second close() raised {type(error).__name__}: {str(error)[:150]}",
            "return where closed is True, as VectorEnv.close does",
        ) from error
    return "twice"


@check(
    "use after close",
    requires="reset and step raise an error after close()",
    because="AsyncVectorEnv raises ClosedEnvironmentError; VectorEnv itself says nothing",
    needs=("close",),
)
def use_after_close(subject: Subject) -> str:
    """Use closed environments."""
    envs, outcomes = _closed(subject), {}
    for name, use in (("reset", lambda: envs.reset()), ("step", lambda: envs.step(subject.actions[0]))):
        try:
            use()
        except Exception as error:
            outcomes[name] = type(error).__name__
    if len(outcomes) < 2:
        silent = " and ".join(name for name in ("reset", "step") if name not in outcomes)
        raise Noted(f"{silent} after close() raised no error, which VectorEnv allows")
    return ", ".join(f"{name}: {error}" for name, error in outcomes.items())


CHECKS = (spec, render, close, use_after_close)
