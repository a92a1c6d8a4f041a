"""The control suite as the reference: dm_control's own tasks, put into the states of ours."""

import importlib.util
import os
import sys
import types
import xml.etree.ElementTree
from functools import cache
from typing import Any

import mujoco
import numpy as np

THEIRS = {
    "CartPoleBalance": ("cartpole", "balance"),
    "CartPoleSwingUp": ("cartpole", "swingup"),
    "PendulumSwingUp": ("pendulum", "swingup"),
    "AcrobotSwingUp": ("acrobot", "swingup"),
    "FingerSpin": ("finger", "spin"),
    "BallInCup": ("ball_in_cup", "catch"),
    "PointMass": ("point_mass", "easy"),
    "ReacherHard": ("reacher", "hard"),
    "WalkerWalk": ("walker", "walk"),
    "WalkerRun": ("walker", "run"),
    "CheetahRun": ("cheetah", "run"),
    "FishSwim": ("fish", "swim"),
}
"""The suite's domain and task of each of ours."""


def available() -> bool:
    """Return True if dm_control and what its suite imports are installed."""
    return all(importlib.util.find_spec(name) is not None for name in ("dm_control", "dm_env"))


@cache
def suite() -> Any:
    """Import dm_control's suite under any MuJoCo of the same format of files.

    It needs lxml for cart-poles with several poles alone, which nothing here asks for; and it wants to index fields of
    the model that later releases of MuJoCo do not have.
    """
    os.environ.setdefault("MUJOCO_GL", "disable")
    if importlib.util.find_spec("lxml") is None:
        stand_in = types.ModuleType("lxml")
        stand_in.etree = xml.etree.ElementTree
        sys.modules["lxml"] = stand_in
    from dm_control.mujoco.wrapper.mjbindings import sizes

    model = mujoco.MjModel.from_xml_string("<mujoco/>")
    for name, kept in (("mjmodel", model), ("mjdata", mujoco.MjData(model))):
        fields = sizes.array_sizes[name]
        for field in [field for field in fields if not hasattr(kept, field)]:
            del fields[field]
    from dm_control import suite as theirs

    return theirs


class Reference:
    """One of dm_control's tasks, with its physics in a state of ours."""

    def __init__(self, name: str, seed: int = 0) -> None:
        self.name = name
        self.env = suite().load(*THEIRS[name], task_kwargs={"random": seed})
        self.env.reset()
        self.physics, self.task = self.env.physics, self.env.task
        self.model = self.physics.model.ptr
        self.model.opt.tolerance, self.model.opt.iterations = 1e-12, 200

    def put(self, qpos: np.ndarray, qvel: np.ndarray, target: np.ndarray | None = None) -> None:
        """Put the physics into a state with nothing remembered; the target is a place (2 or 3,)."""
        if target is not None:
            self.physics.named.model.geom_pos["target"][: len(target)] = target
        with self.physics.reset_context():
            self.physics.data.qpos[:], self.physics.data.qvel[:] = qpos, qvel

    def see(self, control: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the observation and the reward of the present state, as after a step under a control."""
        self.physics.set_control(control)
        return self.observation(), float(self.task.get_reward(self.physics))

    def step(self, control: np.ndarray) -> tuple[np.ndarray, float, bool]:
        """Return observation, reward, and True where the task itself ended the episode, of a step under a control."""
        self.env._step_count = 0
        result = self.env.step(control)
        return self.observation(), float(result.reward), result.last()

    def observation(self) -> np.ndarray:
        """Return the observation of the present state, its parts in their order side by side."""
        parts = self.task.get_observation(self.physics).values()
        return np.concatenate([np.ravel(part) for part in parts])
