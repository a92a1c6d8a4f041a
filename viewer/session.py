"""A batch that a viewer moves: a solver under its controls, or environments under actions. It knows no browser."""

from collections.abc import Callable, Mapping
from typing import Any

import gymnasium as gym
import numpy as np
import torch

from .sources import model_of, solver_of

FRAME = 1 / 60
"""Seconds between two frames of a solver; environments have a frame each step."""
BY_HAND = "sliders"


class Session:
    """A batch, which takes one frame after the other.

    Args:
        source: vector environments of Tumble, or a `RigidSolver`.
        act: returns actions for observations; for a solver it is called with the solver before each frame.
        seed: of resets and random actions.

    Attributes:
        solver, mj: the solver and its compiled model.
        envs: the environments; None for a solver alone.
        dt: simulated seconds of a frame.
        ways: names of what moves the batch, such as "random"; `way` is the chosen one.
        controls: names, lower and upper bounds of what the sliders set.
        wanted: (num_envs, controls) values of the sliders.
        told: numbers of the last step by name, (num_envs,) each; the reward is among them.
    """

    def __init__(self, source: Any, act: Callable[[Any], Any] | None = None, seed: int | None = 0) -> None:
        self.solver = solver_of(source)
        self.mj = model_of(self.solver)
        self.num_envs = int(self.solver.num_envs)
        self.envs = source if hasattr(source, "action_space") else None
        self._act, self._seed, self._observations = act, seed, None
        self.told: dict[str, np.ndarray] = {}
        step = float(self.mj.opt.timestep)
        self._substeps = max(1, round(FRAME / step))
        if self.envs is None:
            self.dt = self._substeps * step
            self.ways = [BY_HAND, *(["policy"] if act is not None else [])]
        else:
            self.dt = 1 / float(self.envs.metadata["render_fps"])
            self.envs.action_space.seed(seed)
            self.ways = [*(["policy"] if act is not None else []), "random", "zero"]
        self.controls = self._controls()
        if self.envs is not None and len(self.controls[0]):
            self.ways.append(BY_HAND)
        self.way = "policy" if act is not None else self.ways[0]
        low, high = self.controls[1:]
        self.wanted = np.tile(np.clip(0.0, low, high), (self.num_envs, 1))
        self.reset()

    def _controls(self) -> tuple[list[str], np.ndarray, np.ndarray]:
        """Names and bounds of the controls, or of the numbers of an action."""
        from ..physics.mjmodel.outputs import control_names

        names = control_names(self.mj)
        if self.envs is None:
            limits = np.asarray(self.mj.actuator_ctrlrange, float).reshape(-1, 2)[: len(names)]
            free = limits[:, 0] >= limits[:, 1]
            return names, np.where(free, -1.0, limits[:, 0]), np.where(free, 1.0, limits[:, 1])
        space = self.envs.single_action_space
        if not isinstance(space, gym.spaces.Box) or len(space.shape) != 1:
            return [], np.zeros(0), np.zeros(0)
        names = names if len(names) == space.shape[0] else [f"action {i}" for i in range(space.shape[0])]
        finite = np.isfinite(space.low) & np.isfinite(space.high)
        return names, np.where(finite, space.low, -1.0).astype(float), np.where(finite, space.high, 1.0).astype(float)

    def reset(self) -> None:
        """Begin anew in all environments."""
        self.told = {}
        if self.envs is None:
            self.solver.reset()
            self.solver.forward()
        else:
            self._observations, _ = self.envs.reset(seed=self._seed)

    def advance(self) -> None:
        """Take one frame."""
        if self.envs is None:
            if self.way == BY_HAND and self.wanted.size:
                self.solver.ctrl = torch.as_tensor(self.wanted, dtype=self.solver.dtype, device=self.solver.device)
            elif self._act is not None:
                self._act(self.solver)
            self.solver.step(self._substeps)
            return
        actions = self._actions()
        self._observations, rewards, _, _, infos = self.envs.step(actions)
        self.told = self._numbers({"reward": rewards, **infos})

    def _actions(self) -> Any:
        assert self.envs is not None
        if self.way == "policy" and self._act is not None:
            return self._act(self._observations)
        if self.way == BY_HAND:
            return self.wanted.astype(self.envs.single_action_space.dtype)
        actions = self.envs.action_space.sample()
        return actions if self.way == "random" else np.zeros_like(actions)

    def _numbers(self, told: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """Return the numbers that every environment has one of."""
        found = {}
        for name, value in told.items():
            array = np.asarray(value.cpu() if hasattr(value, "cpu") else value)
            if not name.startswith("_") and array.shape == (self.num_envs,) and array.dtype.kind in "biuf":
                found[name] = array.astype(float)
        return found

    def set_joint(self, env: int, address: int, value: float) -> None:
        """Write one number of an environment's coordinates, and bring what follows from it to the new state."""
        qpos = self.solver.qpos[env : env + 1].clone()
        qpos[0, address] = value
        self.solver.set_state(qpos=qpos, envs_idx=[env])
        self.solver.forward([env])

    def to_keyframe(self, key: int, env: int) -> None:
        """Put an environment into a keyframe of the model."""
        self.solver.reset_to_keyframe(key, [env])
        self.solver.forward([env])
