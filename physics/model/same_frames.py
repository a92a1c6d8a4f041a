"""Frames that MuJoCo replaces by those of their body or of its inertia, as they are within a millionth of them.

Its compiler marks them (`geom_sameframe`, `site_sameframe`, `body_sameframe`), and its kinematics then ignore
`geom_pos` and `geom_quat`. A geom turned by half of 1e-7 rad would otherwise move a contact by as much.
"""

import mujoco
import numpy as np

_BODY = int(mujoco.mjtSameFrame.mjSAMEFRAME_BODY)
_INERTIA = int(mujoco.mjtSameFrame.mjSAMEFRAME_INERTIA)
_BODY_TURN = int(mujoco.mjtSameFrame.mjSAMEFRAME_BODYROT)
_INERTIA_TURN = int(mujoco.mjtSameFrame.mjSAMEFRAME_INERTIAROT)
_ORIGIN, _STRAIGHT = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])


def share_frames(mjm: mujoco.MjModel) -> None:
    """Write the replacing poses into fields that MuJoCo ignores and Tumble reads; MuJoCo's results do not change."""
    _share(mjm.body_sameframe, np.arange(mjm.nbody), mjm.body_ipos, mjm.body_iquat, mjm)
    _share(mjm.geom_sameframe, mjm.geom_bodyid, mjm.geom_pos, mjm.geom_quat, mjm)
    _share(mjm.site_sameframe, mjm.site_bodyid, mjm.site_pos, mjm.site_quat, mjm)


def _share(same: np.ndarray, body: np.ndarray, pos: np.ndarray, quat: np.ndarray, mjm: mujoco.MjModel) -> None:
    """Replace poses of elements marked in `same`, (n,), by the body's origin or the inertial frame of body `body`."""
    at, inertia = same == _BODY, same == _INERTIA
    pos[at], pos[inertia] = _ORIGIN, mjm.body_ipos[body[inertia]]
    turned, inertial = at | (same == _BODY_TURN), inertia | (same == _INERTIA_TURN)
    quat[turned], quat[inertial] = _STRAIGHT, mjm.body_iquat[body[inertial]]
