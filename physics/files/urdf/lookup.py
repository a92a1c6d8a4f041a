"""The frames of links, and limits of velocity, in a compiled model that comes from a URDF file."""

import mujoco
import numpy as np

from .faults import nearest


def link_frame(mjm: mujoco.MjModel, name: str) -> tuple[str, int]:
    """Return where the frame of a link is: ("body", id), or ("site", id) if a fixed joint has fused it into a body.

    Args:
        mjm: the compiled model.
        name: of the link; with the prefix, if the model is attached to another.

    Raises:
        KeyError: there is no such link, with the nearest one.
    """
    for kind, number in (("body", mujoco.mjtObj.mjOBJ_BODY), ("site", mujoco.mjtObj.mjOBJ_SITE)):
        index = mujoco.mj_name2id(mjm, int(number), name)
        if index >= 0:
            return kind, int(index)
    names = [mjm.body(i).name for i in range(mjm.nbody)] + [mjm.site(i).name for i in range(mjm.nsite)]
    raise KeyError(f"no link is named '{name}'{nearest(name, names)}")


def velocity_limits(mjm: mujoco.MjModel) -> np.ndarray:
    """Return the largest speed (nv,) of every dof, rad/s or m/s, as its URDF file says; inf where it says none.

    MuJoCo has no such limit and no solver keeps it. It is the first number of a joint's `jnt_user`; 0: no limit.
    """
    if not mjm.nuser_jnt:
        return np.full(mjm.nv, np.inf)
    limits = np.array(mjm.jnt_user[:, 0], np.float64)
    limits[limits <= 0.0] = np.inf
    return limits[mjm.dof_jntid]
