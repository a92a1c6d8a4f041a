"""Gymnasium-Robotics' own environments as the reference, put into the states of ours."""

import importlib.util
from functools import cache
from types import SimpleNamespace
from typing import Any

import gymnasium
import mujoco
import numpy as np


def available() -> bool:
    """Return True if Gymnasium-Robotics, and what its import needs, is installed."""
    needed = ("gymnasium_robotics", "pettingzoo", "imageio", "jinja2")
    return all(importlib.util.find_spec(name) is not None for name in needed)


class PlainEnums:
    """The module `mujoco` whose enumerations of joints and equalities are whole numbers.

    Gymnasium-Robotics compares them with arrays of the model, which is False throughout since MuJoCo 4.
    """

    mjtJoint = SimpleNamespace(**{name: int(value) for name, value in mujoco.mjtJoint.__members__.items()})
    mjtEq = SimpleNamespace(**{name: int(value) for name, value in mujoco.mjtEq.__members__.items()})

    def __getattr__(self, name: str) -> Any:
        return getattr(mujoco, name)


@cache
def register() -> None:
    """Register Gymnasium-Robotics' environments, made to run beside MuJoCo 4."""
    import gymnasium_robotics
    from gymnasium_robotics.utils import mujoco_utils

    mujoco_utils.mujoco = PlainEnums()
    gymnasium.register_envs(gymnasium_robotics)


class Original:
    """One of Gymnasium-Robotics' environments, whose solver goes to the end."""

    def __init__(self, identity: str, **options: Any) -> None:
        register()
        self.env = gymnasium.make(identity.partition("/")[2], **options).unwrapped
        self.env.reset(seed=0)
        self.inner = next((getattr(self.env, name) for name in INNER if hasattr(self.env, name)), self.env)
        self.model, self.data = self.inner.model, self.inner.data
        self.model.opt.tolerance, self.model.opt.iterations = 1e-12, 200

    def put(self, qpos: np.ndarray, qvel: np.ndarray, goal: np.ndarray | None = None) -> None:
        """Put the environment into a state with nothing remembered, and give it a goal."""
        data = self.data
        data.qpos[:], data.qvel[:], data.qacc_warmstart[:] = qpos, qvel, 0
        mujoco.mj_forward(self.model, data)
        if goal is not None:
            self.env.goal = np.array(goal)

    def step(self, action: np.ndarray) -> tuple[Any, float, dict[str, Any]]:
        """Return observation, reward and info of a step under an action in double precision."""
        seen, reward, _, _, info = self.env.step(np.asarray(action, np.float64))
        return seen, float(reward), info


INNER = ("point_env", "ant_env", "robot_env")
"""Names under which an environment has the one that moves its robot."""


def side_by_side(seen: dict[str, np.ndarray]) -> np.ndarray:
    """Return the three parts of an observation in one row, (..., k)."""
    return np.concatenate([seen[name] for name in ("observation", "achieved_goal", "desired_goal")], axis=-1)
