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

    def put(self, qpos: np.ndarray, qvel: np.ndarray) -> None:
        """Put the environment into a state with nothing remembered."""
        data = self.data
        data.qpos[:], data.qvel[:], data.qacc_warmstart[:] = qpos, qvel, 0
        mujoco.mj_forward(self.model, data)

    def take(self, fields: dict[str, np.ndarray], ours: mujoco.MjModel) -> None:
        """Take quantities of an evaluation of ours, by the names of sites and the numbers of bodies."""
        for name, values in fields.items():
            theirs = getattr(self.data, name)
            for k in range(len(theirs)):
                row = mujoco.mj_name2id(ours, SITE, self.model.site(k).name) if name.startswith("site") else k
                theirs[k] = values[row] if row >= 0 else theirs[k]

    def see(self, action: np.ndarray) -> tuple[Any, float, dict[str, Any]]:
        """Return observation, reward and info of the present state, as after a step under an action."""
        owners = [owner for owner in (self.env, self.inner) for name in MOVES if hasattr(owner, name)]
        for owner in owners:
            vars(owner).update({name: lambda *_: None for name in MOVES if hasattr(owner, name)})
        result = self.step(action)
        for owner in owners:
            for name in MOVES:
                vars(owner).pop(name, None)
        return result

    def step(self, action: np.ndarray) -> tuple[Any, float, dict[str, Any]]:
        """Return observation, reward and info of a step under an action in double precision."""
        seen, reward, _, _, info = self.env.step(np.asarray(action, np.float64))
        return seen, float(reward), info


SITE = mujoco.mjtObj.mjOBJ_SITE
INNER = ("point_env", "ant_env", "robot_env")
"""Names under which an environment has the one that moves its robot."""
MOVES = ("do_simulation", "_mujoco_step", "_set_action", "_step_callback", "_clip_velocity")
"""Methods of an environment's step that change the state."""


def side_by_side(seen: Any, row: int | None = None) -> np.ndarray:
    """Return the parts of an observation side by side, those of one environment, (k,)."""
    parts = [seen[name] for name in PARTS] if isinstance(seen, dict) else [seen]
    flat = [np.concatenate([np.ravel(v) for v in part.values()]) if isinstance(part, dict) else part for part in parts]
    return np.concatenate([np.ravel(part if row is None else part[row]) for part in flat])


PARTS = ("observation", "achieved_goal", "desired_goal")
