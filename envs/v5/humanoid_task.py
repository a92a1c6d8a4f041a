"""Common parts of tasks with a humanoid: the observation, and the tendons' part of the info."""

from typing import ClassVar

import mujoco
import numpy as np

from ..arrays import Array, row_sum
from ..task.noise import Noise
from ..task.task import Start, TaskState
from ..task.terms import uniform_start
from .locomotion import LocomotionTask


class HumanoidTask(LocomotionTask):
    """A humanoid of thirteen bodies and 17 hinges, with two tendons that measure hip and knee of each leg."""

    reads: ClassVar = ("subtree_com", "cinert", "cvel", "qfrc_actuator", "cfrc_ext", "eval_qpos", "eval_qvel")
    travel: ClassVar = 2

    reset_noise_scale: float = 1e-2
    include_cinert_in_observation: bool = True
    include_cvel_in_observation: bool = True
    include_qfrc_actuator_in_observation: bool = True
    include_cfrc_ext_in_observation: bool = True

    def bind(self) -> None:
        """Find the hinges that the model's tendons measure, and their weights."""
        hinges, weights = _tendon_wraps(self.model)
        self.wrap_weights = self.array(np.concatenate((weights, weights)))
        both = np.concatenate((hinges, hinges + self.model.nv - 6))
        self.wraps = self.xp.asarray(both.ravel(), device=self.wrap_weights.device)

    def reset(self, noise: Noise) -> Start:
        """Draw positions and velocities uniformly around the reference."""
        return uniform_start(self, noise, self.reset_noise_scale)

    def observation(self, state: TaskState) -> Array:
        """Return positions (without x and y unless asked for), velocities, and the blocks that the options include."""
        blocks, n, xp = state.fields, state.qpos.shape[0], self.xp
        parts = [state.coordinates[:, self.skipped :]]
        if self.include_cinert_in_observation:
            parts.append(xp.reshape(blocks["cinert"][:, 1:, :], (n, -1)))
        if self.include_cvel_in_observation:
            parts.append(xp.reshape(blocks["cvel"][:, 1:, :], (n, -1)))
        if self.include_qfrc_actuator_in_observation:
            parts.append(blocks["qfrc_actuator"][:, 6:])
        if self.include_cfrc_ext_in_observation:
            parts.append(xp.reshape(blocks["cfrc_ext"][:, 1:, :], (n, -1)))
        return xp.concat(parts, axis=1)

    @property
    def observation_structure(self) -> dict[str, int]:
        """The widths of the observation's blocks, in order."""
        bodies = self.model.nbody - 1
        return super().observation_structure | {
            "cinert": 10 * bodies * self.include_cinert_in_observation,
            "cvel": 6 * bodies * self.include_cvel_in_observation,
            "qfrc_actuator": (self.model.nv - 6) * self.include_qfrc_actuator_in_observation,
            "cfrc_ext": 6 * bodies * self.include_cfrc_ext_in_observation,
        }

    def tendon_info(self, state: TaskState) -> dict[str, Array]:
        """The tendons as the last evaluation saw them: lengths (n, ntendon) rad, velocities (n, ntendon) rad/s."""
        xp, ntendon = self.xp, self.model.ntendon
        hinges = xp.concat((state.fields["eval_qpos"][:, 7:], state.fields["eval_qvel"][:, 6:]), axis=1)
        measured = xp.reshape(xp.take(hinges, self.wraps, axis=1), (hinges.shape[0], *self.wrap_weights.shape))
        both = row_sum(measured * self.wrap_weights)
        return {"tendon_length": both[:, :ntendon], "tendon_velocity": both[:, ntendon:]}


def _tendon_wraps(mj: mujoco.MjModel) -> tuple[np.ndarray, np.ndarray]:
    """The hinges behind the free root that each fixed tendon measures, and their weights, both (ntendon, most)."""
    most = max([1, *mj.tendon_num])
    hinges, weights = np.zeros((mj.ntendon, most), np.int64), np.zeros((mj.ntendon, most))
    for tendon in range(mj.ntendon):
        for k in range(mj.tendon_num[tendon]):
            wrap = mj.tendon_adr[tendon] + k
            hinges[tendon, k] = mj.jnt_dofadr[mj.wrap_objid[wrap]] - 6
            weights[tendon, k] = mj.wrap_prm[wrap]
    return hinges, weights
