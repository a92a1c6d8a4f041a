"""Pulling bodies with the mouse: a spring from the grabbed point to the pointer, by `xfrc_applied`.

As MuJoCo's perturbation, the spring is scaled with the mass that is felt at the point, and damped critically. Of the
masses in different directions it takes the least, so that a force that holds for a frame never overshoots.
"""

from typing import Any

import mujoco
import numpy as np
import torch

FASTEST = 0.5
"""The spring's frequency times the seconds of a frame is at most this, so that a force that holds for it is stable."""


class Perturbation:
    """The spring on one body of one environment.

    Attributes:
        line: (2, 3) its ends, m: the grabbed point and the pointer; None while nothing is grabbed.
    """

    def __init__(self, solver: Any, mj: mujoco.MjModel, dt: float) -> None:
        self._solver, self._mj = solver, mj
        self._data = mujoco.MjData(mj)
        self._frequency = min(float(np.sqrt(mj.vis.map.stiffness)), FASTEST / dt)  # 1/s
        self._grabbed: tuple[int, int] | None = None
        self.line: np.ndarray | None = None

    @property
    def env(self) -> int | None:
        """The environment of the grabbed body."""
        return None if self._grabbed is None else self._grabbed[0]

    def grab(self, env: int, body: int, point: np.ndarray) -> None:
        """Take hold of a body at a point (3,), m, world frame."""
        self.release()
        place, turn = self._pose(env, body)
        self._grabbed = env, body
        self._arm = turn.T @ (point - place)  # in the body's frame
        self.line = np.stack([point, point])

    def pull(self, target: np.ndarray) -> None:
        """Move the free end of the spring to a point (3,), m."""
        if self.line is not None:
            self.line[1] = target

    def release(self) -> None:
        """Release the body."""
        if self._grabbed is not None:
            env, body = self._grabbed
            self._grabbed, self.line = None, None
            self._write(env, body, np.zeros(6))

    def apply(self) -> None:
        """Set the force of the next frame; a mocap body is moved instead."""
        if self._grabbed is None or self.line is None:
            return
        env, body = self._grabbed
        place, turn = self._pose(env, body)
        point = place + turn @ self._arm
        self.line[0] = point
        mocap = int(self._mj.body_mocapid[body])
        if mocap >= 0:
            where = self._solver.inputs.mocap_pos[env : env + 1].clone()
            where[0, mocap] += torch.as_tensor(self.line[1] - point, dtype=where.dtype)
            self._solver.set_inputs([env], mocap_pos=where)
            return
        mass, velocity = self._felt(env, body, point)
        force = mass * self._frequency * (self._frequency * (self.line[1] - point) - 2.0 * velocity)
        middle = self._read("xipos", env)[body]
        self._write(env, body, np.concatenate([force, np.cross(point - middle, force)]))

    def _felt(self, env: int, body: int, point: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the least mass (kg) that a force at a point moves, 0 if nothing, and the point's velocity."""
        mj, data = self._mj, self._data
        data.qpos[:] = self._read("qpos", env)
        for stage in (mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_makeM, mujoco.mj_factorM):
            stage(mj, data)
        jacobian, moved = np.zeros((3, mj.nv)), np.zeros((3, mj.nv))
        mujoco.mj_jac(mj, data, jacobian, None, point, body)
        mujoco.mj_solveM(mj, data, moved, jacobian)
        lightness = float(np.linalg.eigvalsh(jacobian @ moved.T)[-1])
        return 1.0 / lightness if lightness > mujoco.mjMINVAL else 0.0, jacobian @ self._read("qvel", env)

    def _pose(self, env: int, body: int) -> tuple[np.ndarray, np.ndarray]:
        turn = np.zeros(9)
        mujoco.mju_quat2Mat(turn, self._read("xquat", env)[body])
        return self._read("xpos", env)[body], turn.reshape(3, 3)

    def _read(self, name: str, env: int) -> np.ndarray:
        found = getattr(self._solver, name)[env] if name in ("qpos", "qvel") else self._solver.get(name, [env])[0]
        return found.double().cpu().numpy()

    def _write(self, env: int, body: int, wrench: np.ndarray) -> None:
        """Replace the force on one body, and keep other programs' forces."""
        forces = self._solver.inputs.xfrc_applied[env : env + 1].clone()
        forces[0, body] = torch.as_tensor(wrench, dtype=forces.dtype)
        self._solver.set_inputs([env], xfrc_applied=forces)
