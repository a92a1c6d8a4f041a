"""Controllers of dofs: forces, and servos for velocities and positions with gains and ranges."""

import mujoco
import numpy as np
import torch

from ..checks import Indices, Numbers
from ..world import Envs, World
from .index import EntityIndex

_NONE, _FORCE, _VELOCITY, _POSITION = range(4)


class EntityControl:
    """Control of an entity's dofs.

    A control holds until another one of that dof, or a reset; gains and ranges last beyond resets. They begin
    as the gains of the file's servos, in URDF as 100 and 10 (N m/rad and N m s/rad, or N/m and N s/m) for hinges and
    slides; ranges also with the efforts of joints. Other dofs have gains of 0, and need `set_dofs_kp` before
    `control_dofs_position`.
    """

    def __init__(self, index: EntityIndex) -> None:
        self._index = index

    def control_dofs_force(self, force: Numbers, dofs_idx_local: Indices = None, envs_idx: Indices = None) -> None:
        """Apply forces to dofs, (n, k) or (k,) N or N m, within their ranges."""
        world, envs, dofs = self._index.dofs_in(dofs_idx_local, envs_idx)
        world.solver.control_dofs_force(world.entries("force", force, envs, len(dofs)), dofs, envs)

    def control_dofs_velocity(
        self, velocity: Numbers, dofs_idx_local: Indices = None, envs_idx: Indices = None
    ) -> None:
        """Drive dofs to velocities v*, (n, k) or (k,) m/s or rad/s: the force is kv (v* - v), within the range."""
        world, envs, dofs = self._index.dofs_in(dofs_idx_local, envs_idx)
        world.solver.control_dofs_velocity(world.entries("velocity", velocity, envs, len(dofs)), dofs, envs)

    def control_dofs_position(
        self, position: Numbers, dofs_idx_local: Indices = None, envs_idx: Indices = None
    ) -> None:
        """Drive hinges and slides to positions q*, (n, k) or (k,) rad or m: the force is kp (q* - q) - kv v.

        Raises:
            ValueError: a dof belongs to a free or ball joint.
        """
        world, envs, dofs = self._index.dofs_in(dofs_idx_local, envs_idx)
        self._require_scalar("control_dofs_position", dofs)
        world.solver.control_dofs_position(world.entries("position", position, envs, len(dofs)), dofs, envs)

    def control_dofs_position_velocity(
        self, position: Numbers, velocity: Numbers, dofs_idx_local: Indices = None, envs_idx: Indices = None
    ) -> None:
        """Drive hinges and slides to positions q* with velocities v*: the force is kp (q* - q) + kv (v* - v).

        Raises:
            ValueError: a dof belongs to a free or ball joint.
        """
        world, envs, dofs = self._index.dofs_in(dofs_idx_local, envs_idx)
        self._require_scalar("control_dofs_position_velocity", dofs)
        places = world.entries("position", position, envs, len(dofs))
        speeds = world.entries("velocity", velocity, envs, len(dofs))
        world.solver.control_dofs_position_velocity(places, speeds, dofs, envs)

    def get_dofs_control_force(self, dofs_idx_local: Indices = None, envs_idx: Indices = None) -> torch.Tensor:
        """Return the forces of controls at the present state, (n, k) N or N m, within all ranges."""
        world, envs, dofs = self._index.dofs_in(dofs_idx_local, envs_idx)
        joints, state = world.solver.joints, world.solver.state
        asked = joints.get_targets(dofs, envs)
        kp, kv = joints.get_kp(dofs, envs), joints.get_kv(dofs, envs)
        place = state.get_columns("qpos", np.maximum(world.coordinates.column[dofs], 0), envs)
        speed, mode, target = state.get_columns("qvel", dofs, envs), asked["mode"], asked["target"]
        servo = torch.where(mode == _POSITION, kp * (target - place) + kv * asked["velocity"], kv * target) - kv * speed
        force = torch.where(mode == _FORCE, target, servo).clamp(*joints.get_force_range(dofs, envs))
        return world.out(_within_joints(world, torch.where(mode == _NONE, torch.zeros_like(force), force), dofs, envs))

    # gains and ranges

    def set_dofs_kp(self, kp: Numbers, dofs_idx_local: Indices = None, envs_idx: Indices = None) -> None:
        """Set gains of positions, (n, k) or (k,) N/m or N m/rad."""
        world, envs, dofs = self._index.dofs_in(dofs_idx_local, envs_idx)
        world.solver.set_dofs_kp(world.entries("kp", kp, envs, len(dofs)), dofs, envs)

    def set_dofs_kv(self, kv: Numbers, dofs_idx_local: Indices = None, envs_idx: Indices = None) -> None:
        """Set gains of velocities, (n, k) or (k,) N s/m or N m s/rad."""
        world, envs, dofs = self._index.dofs_in(dofs_idx_local, envs_idx)
        world.solver.set_dofs_kv(world.entries("kv", kv, envs, len(dofs)), dofs, envs)

    def set_dofs_force_range(
        self, lower: Numbers, upper: Numbers, dofs_idx_local: Indices = None, envs_idx: Indices = None
    ) -> None:
        """Set the bounds of controls' forces, (n, k) or (k,) N or N m each, which may be infinite.

        The range of a file's joint, such as the effort of URDF, stays in force as well.

        Raises:
            ValueError: a lower bound is not below or at its upper one.
        """
        world, envs, dofs = self._index.dofs_in(dofs_idx_local, envs_idx)
        world.solver.set_dofs_force_range(lower, upper, dofs, envs)

    def get_dofs_kp(self, dofs_idx_local: Indices = None, envs_idx: Indices = None) -> torch.Tensor:
        """Return gains of positions, (n, k) N/m or N m/rad."""
        world, envs, dofs = self._index.dofs_in(dofs_idx_local, envs_idx)
        return world.out(world.solver.get_dofs_kp(dofs, envs))

    def get_dofs_kv(self, dofs_idx_local: Indices = None, envs_idx: Indices = None) -> torch.Tensor:
        """Return gains of velocities, (n, k) N s/m or N m s/rad."""
        world, envs, dofs = self._index.dofs_in(dofs_idx_local, envs_idx)
        return world.out(world.solver.get_dofs_kv(dofs, envs))

    def get_dofs_force_range(
        self, dofs_idx_local: Indices = None, envs_idx: Indices = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return lower and upper bounds of controls' forces, (n, k) N or N m each; -1e30 and 1e30: no bound.

        They are within the range of a file's joint, such as the effort of URDF.
        """
        world, envs, dofs = self._index.dofs_in(dofs_idx_local, envs_idx)
        lower, upper = (
            _within_joints(world, bound, dofs, envs) for bound in world.solver.get_dofs_force_range(dofs, envs)
        )
        return world.out(lower), world.out(upper)

    def get_dofs_act_gain(self, dofs_idx_local: Indices = None, envs_idx: Indices = None) -> torch.Tensor:
        """Return the gain of a servo for positions, which is kp, (n, k) N/m or N m/rad."""
        return self.get_dofs_kp(dofs_idx_local, envs_idx)

    def get_dofs_act_bias(
        self, dofs_idx_local: Indices = None, envs_idx: Indices = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return the bias of a servo for positions, (n, k) each: 0, -kp for the position, -kv for the velocity."""
        kp, kv = self.get_dofs_kp(dofs_idx_local, envs_idx), self.get_dofs_kv(dofs_idx_local, envs_idx)
        return torch.zeros_like(kp), -kp, -kv

    def _require_scalar(self, call: str, dofs: np.ndarray) -> None:
        """Refuse dofs without a scalar coordinate.

        Raises:
            ValueError: with the first of them.
        """
        world = self._index.world
        turning = dofs[~world.coordinates.scalar[dofs]]
        if len(turning):
            mj, dof = world.model.mj, int(turning[0])
            joint = mj.joint(int(mj.dof_jntid[dof])).name
            kind = mujoco.mjtJoint(mj.jnt_type[mj.dof_jntid[dof]]).name.removeprefix("mjJNT_").lower()
            raise ValueError(
                f"{call}: dof {dof - self._index.start('dof')} of entity '{self._index.name}' belongs to the {kind} "
                f"joint '{joint}', which has no coordinate for it; name the dofs of hinges and slides in dofs_idx_local"
            )


def _within_joints(world: World, force: torch.Tensor, dofs: np.ndarray, envs: Envs) -> torch.Tensor:
    """Return forces of dofs (n, k), N or N m, within the ranges of their joints."""
    mj = world.model.mj
    limited = np.flatnonzero(np.asarray(mj.jnt_actfrclimited, bool)[mj.dof_jntid[dofs]]).tolist()
    if limited:
        low, high = world.parameter("jnt_actfrcrange", envs)[:, mj.dof_jntid[dofs[limited]]].unbind(-1)
        force[:, limited] = force[:, limited].clamp(low, high)
    return force
