"""Frames that MuJoCo takes for those of their body, or of its inertia, as they are within a millionth of them.

Its compiler marks them (`geom_sameframe`, `site_sameframe`, `body_sameframe`), and its kinematics then leave
`geom_pos` and `geom_quat` alone. A geom that is half of 1e-7 rad off would move a contact by as much.
"""

import mujoco
import numpy as np

_BODY = int(mujoco.mjtSameFrame.mjSAMEFRAME_BODY)
_INERTIA = int(mujoco.mjtSameFrame.mjSAMEFRAME_INERTIA)
_BODY_TURN = int(mujoco.mjtSameFrame.mjSAMEFRAME_BODYROT)
_INERTIA_TURN = int(mujoco.mjtSameFrame.mjSAMEFRAME_INERTIAROT)
_ORIGIN, _STRAIGHT = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])


def share_frames(mjm: mujoco.MjModel) -> None:
    """Write those frames into the places of their own, where MuJoCo reads none: its results stay the same."""
    _share(mjm.body_sameframe, np.arange(mjm.nbody), mjm.body_ipos, mjm.body_iquat, mjm)
    _share(mjm.geom_sameframe, mjm.geom_bodyid, mjm.geom_pos, mjm.geom_quat, mjm)
    _share(mjm.site_sameframe, mjm.site_bodyid, mjm.site_pos, mjm.site_quat, mjm)


def _share(same: np.ndarray, body: np.ndarray, pos: np.ndarray, quat: np.ndarray, mjm: mujoco.MjModel) -> None:
    at, inertia = same == _BODY, same == _INERTIA
    pos[at], pos[inertia] = _ORIGIN, mjm.body_ipos[body[inertia]]
    turned, inertial = at | (same == _BODY_TURN), inertia | (same == _INERTIA_TURN)
    quat[turned], quat[inertial] = _STRAIGHT, mjm.body_iquat[body[inertial]]
