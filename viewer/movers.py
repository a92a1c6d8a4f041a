"""Movers take a batch on by a frame: a solver by its controls, environments by actions, a scene by its servos."""

from collections.abc import Callable
from typing import Any, NamedTuple

import gymnasium as gym
import mujoco
import numpy as np
import torch

from .sources import as_vector, is_environments, is_scene, solver_of

FRAME = 1 / 60
"""Seconds between two frames of a solver; environments have a frame each step."""
BY_HAND = "sliders"
_REACH = 3.0  # m or rad: of a servo's slider for a joint without a range


class Controls(NamedTuple):
    """The numbers that sliders set: k names, lower and upper bounds (k,)."""

    names: list[str]
    low: np.ndarray
    high: np.ndarray


NO_CONTROLS = Controls([], np.zeros(0), np.zeros(0))


class Mover:
    """A batch that takes frames.

    Attributes:
        solver: its solver.
        dt: simulated seconds of a frame.
        ways: names of its ways to move, such as "random".
        controls: the numbers that sliders set.
    """

    solver: Any
    dt: float
    ways: list[str]
    controls: Controls = NO_CONTROLS

    def begin(self) -> None:
        """Get ready for the first frame."""
        raise NotImplementedError

    def reset(self) -> None:
        """Reset all environments."""
        raise NotImplementedError

    def step(self, way: str, wanted: np.ndarray) -> dict[str, Any]:
        """Take a frame with the values of the sliders (num_envs, k); return its numbers by name."""
        raise NotImplementedError

    def write(self, env: int, index: int, value: float) -> None:
        """Hear that a slider of an environment was moved."""

    def start(self) -> np.ndarray:
        """Return values of the sliders at first, (num_envs, k)."""
        return np.tile(np.clip(0.0, self.controls.low, self.controls.high), (int(self.solver.num_envs), 1))


class SolverMover(Mover):
    """A solver, whose controls are set by the sliders, or by a policy."""

    def __init__(self, solver: Any, act: Callable[[Any], Any] | None) -> None:
        from ..physics.files.mjmodel.actuators import control_names

        self.solver, self._act = solver, act
        mj = solver.model.mj
        self._substeps = max(1, round(FRAME / float(mj.opt.timestep)))
        self.dt = self._substeps * float(mj.opt.timestep)
        self.ways = [BY_HAND, *(["policy"] if act is not None else [])]
        names = control_names(mj)
        limits = np.asarray(mj.actuator_ctrlrange, float).reshape(-1, 2)[: len(names)]
        free = limits[:, 0] >= limits[:, 1]
        self.controls = Controls(names, np.where(free, -1.0, limits[:, 0]), np.where(free, 1.0, limits[:, 1]))

    def begin(self) -> None:
        """Bring the poses to the present state."""
        self.solver.forward()

    def reset(self) -> None:
        """Put all environments into the state of the model."""
        self.solver.reset()
        self.solver.forward()

    def step(self, way: str, wanted: np.ndarray) -> dict[str, Any]:
        """Take physics steps under the controls."""
        if way == BY_HAND and wanted.size:
            self.solver.ctrl = torch.as_tensor(wanted, dtype=self.solver.dtype, device=self.solver.device)
        elif way != BY_HAND and self._act is not None:
            self._act(self.solver)
        self.solver.step(self._substeps)
        return {}


class SceneMover(Mover):
    """A scene, which takes its own steps; sliders set the targets of the servos of dofs with a gain of position."""

    def __init__(self, scene: Any, act: Callable[[Any], Any] | None) -> None:
        self._scene, self._act, self.solver = scene, act, solver_of(scene)
        self.dt = float(scene.dt)
        self.ways = [*(["policy"] if act is not None else []), BY_HAND]
        mj = self.solver.model.mj
        kinds = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
        gains = self.solver.joints.get_kp()[0].cpu().numpy() if mj.nv else np.zeros(0)
        self._joints = [j for j in range(mj.njnt) if int(mj.jnt_type[j]) in kinds and gains[mj.jnt_dofadr[j]] > 0]
        names = [mj.joint(j).name or f"joint {j}" for j in self._joints]
        limits = np.array([mj.jnt_range[j] if mj.jnt_limited[j] else (-_REACH, _REACH) for j in self._joints], float)
        self.controls = Controls(names, *limits.reshape(-1, 2).T)

    def begin(self) -> None:
        """Bring the poses to the present state."""
        self.solver.forward_changed()

    def reset(self) -> None:
        """Reset the scene."""
        self._scene.reset()
        self.solver.forward_changed()

    def step(self, way: str, wanted: np.ndarray) -> dict[str, Any]:
        """Take a step of the scene."""
        if way != BY_HAND and self._act is not None:
            self._act(self._scene)
        self._scene.step(update_visualizer=False)
        return {}

    def write(self, env: int, index: int, value: float) -> None:
        """Set the target position of a servo, rad or m."""
        dof = int(self.solver.model.mj.jnt_dofadr[self._joints[index]])
        self.solver.control_dofs_position([[value]], [dof], [env])

    def start(self) -> np.ndarray:
        """Return the present positions."""
        columns = self.solver.model.mj.jnt_qposadr[self._joints]
        return self.solver.qpos.double().cpu().numpy()[:, columns].clip(self.controls.low, self.controls.high)


class EnvsMover(Mover):
    """Environments, under the actions of a policy, of chance, of the sliders, or none."""

    def __init__(self, envs: Any, act: Callable[[Any], Any] | None, seed: int | None) -> None:
        self._envs, self._act = as_vector(envs, act)
        self._seed, self._observations, self.solver = seed, None, solver_of(envs)
        self.dt = 1 / float(self._envs.metadata["render_fps"])
        self._envs.action_space.seed(seed)
        self.controls = self._numbers_of_actions()
        by_hand = [BY_HAND] if self.controls.names else []
        self.ways = [*(["policy"] if act is not None else []), "random", "zero", *by_hand]

    def _numbers_of_actions(self) -> Controls:
        from ..physics.files.mjmodel.actuators import control_names

        space = self._envs.single_action_space
        if not isinstance(space, gym.spaces.Box) or len(space.shape) != 1:
            return NO_CONTROLS
        names = control_names(self.solver.model.mj)
        names = names if len(names) == space.shape[0] else [f"action {i}" for i in range(space.shape[0])]
        finite = np.isfinite(space.low) & np.isfinite(space.high)
        low, high = np.where(finite, space.low, -1.0), np.where(finite, space.high, 1.0)
        return Controls(names, low.astype(float), high.astype(float))

    def begin(self) -> None:
        """Begin with an episode: environments cannot step before."""
        self.reset()

    def reset(self) -> None:
        """Begin new episodes, with the seed that was given."""
        self._observations, _ = self._envs.reset(seed=self._seed)

    def step(self, way: str, wanted: np.ndarray) -> dict[str, Any]:
        """Take a step; return the reward and the infos by name."""
        self._observations, rewards, _, _, infos = self._envs.step(self._actions(way, wanted))
        return {"reward": rewards, **infos}

    def _actions(self, way: str, wanted: np.ndarray) -> Any:
        if way == "policy" and self._act is not None:
            return self._act(self._observations)
        if way == BY_HAND:
            return wanted.astype(self._envs.single_action_space.dtype)
        actions = self._envs.action_space.sample()
        return actions if way == "random" else np.zeros_like(actions)


def mover_of(source: Any, act: Callable[[Any], Any] | None, seed: int | None) -> Mover:
    """Return the mover of environments, a scene or a solver.

    Raises:
        TypeError: it is nothing of these.
    """
    solver_of(source)
    if is_environments(source):
        return EnvsMover(source, act, seed)
    return SceneMover(source, act) if is_scene(source) else SolverMover(solver_of(source), act)
