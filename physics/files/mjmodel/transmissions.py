"""The types of what actuators drive, as kernels have them in `actuator_type` and `trn_kind`."""

import mujoco
import numpy as np

from .actuators import on_joints

_T = mujoco.mjtTrn
TENDON = 4
"""`actuator_type` of actuators that pull a tendon. Below it are the types of joints."""
SITE, REFSITE, SLIDER_CRANK, BODY, TURN, BALL_TURN = range(TENDON + 1, TENDON + 7)
"""The same of actuators at a site, without and with a reference; on a slider-crank; with adhesion of a body; on the
orientation of a site by another one; on that of a ball joint."""
FIRST, SECOND = 1, 2
"""Bits of `trn_side`: a dof moves the first site, or the second."""


def actuator_types(mjm: mujoco.MjModel) -> np.ndarray:
    """Return the type of the joint that each actuator drives, as in MuJoCo, or what it drives instead, (nactuator,)."""
    kind, other = mjm.actuator_trntype, mjm.actuator_trnid[:, 1]
    alone = {_T.mjTRN_SITE: SITE, _T.mjTRN_SO3: BALL_TURN, _T.mjTRN_SLIDERCRANK: SLIDER_CRANK, _T.mjTRN_BODY: BODY}
    found = np.full(mjm.nactuator, TENDON)
    for value, choice in alone.items():
        found[kind == int(value)] = choice
    found[(kind == int(_T.mjTRN_SITE)) & (other >= 0)] = REFSITE
    found[(kind == int(_T.mjTRN_SO3)) & (other >= 0)] = TURN
    joints = on_joints(mjm)
    found[joints] = mjm.jnt_type[mjm.actuator_trnid[joints, 0]]
    return found
