"""Gains of dofs that a file's actuators stand for: they do not act in a scene, but servos begin with their numbers."""

import mujoco
import numpy as np

from .mjcf import OFF_GROUP
from .world import World

_SCALAR = (int(mujoco.mjtJoint.mjJNT_SLIDE), int(mujoco.mjtJoint.mjJNT_HINGE))


def begin_gains(world: World) -> None:
    """Give dofs the gains and force ranges of the actuators of their joints; dofs without one keep none."""
    mj = world.model.mj
    kp, kv = np.zeros(mj.nv), np.zeros(mj.nv)
    ranges = np.tile([-np.inf, np.inf], (mj.nv, 1))
    for actuator in np.flatnonzero(mj.actuator_group == OFF_GROUP):
        joint = int(mj.actuator_trnid[actuator, 0])
        if mj.actuator_trntype[actuator] != mujoco.mjtTrn.mjTRN_JOINT or int(mj.jnt_type[joint]) not in _SCALAR:
            continue
        dof, gear = int(mj.jnt_dofadr[joint]), float(mj.actuator_gear[actuator, 0])
        if mj.actuator_biastype[actuator] == mujoco.mjtBias.mjBIAS_AFFINE:
            kp[dof] += max(0.0, -mj.actuator_biasprm[actuator, 1] * gear**2)
            kv[dof] += max(0.0, -mj.actuator_biasprm[actuator, 2] * gear**2)
        if mj.actuator_forcelimited[actuator]:
            ranges[dof] = np.sort(mj.actuator_forcerange[actuator] * gear)
    if kp.any():
        world.solver.joints.set_kp(kp)
    if kv.any():
        world.solver.joints.set_kv(kv)
    if np.isfinite(ranges).any():
        world.solver.joints.set_force_range(ranges[:, 0], ranges[:, 1])
