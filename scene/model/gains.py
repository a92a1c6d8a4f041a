"""Gains and force ranges with which the servos of dofs begin.

Actuators of a file do not act in a scene, but servos begin with their numbers. A URDF file has no gains.
"""

from collections.abc import Iterable

import mujoco
import numpy as np

from ..world import World
from .mjcf import OFF_GROUP

URDF_KP, URDF_KV = 100.0, 10.0
"""Gains of the hinges and slides of a URDF file, N m/rad and N m s/rad, or N/m and N s/m."""
_SCALAR = (int(mujoco.mjtJoint.mjJNT_SLIDE), int(mujoco.mjtJoint.mjJNT_HINGE))


def begin_gains(world: World, urdf_dofs: Iterable[range]) -> None:
    """Set the gains and force ranges of dofs from the actuators of their joints, and gains for dofs of URDF files.

    Args:
        world: of the scene.
        urdf_dofs: of the entities from URDF files, whose servos have gains from the beginning.
    """
    mj = world.model.mj
    of_urdf = np.isin(np.arange(mj.nv), [dof for dofs in urdf_dofs for dof in dofs])
    has_gains = of_urdf & np.isin(mj.jnt_type[mj.dof_jntid], _SCALAR)
    kp, kv = has_gains * URDF_KP, has_gains * URDF_KV
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
