"""Disable flags, and the number MuJoCo uses for "unbounded"."""

import mujoco

UNLIMITED = 1e30
"""Bound of a range that does not hold. Kernels compare with it as with any other number."""
_D = mujoco.mjtDisableBit


def disabled(mjm: mujoco.MjModel, *bits: mujoco.mjtDisableBit) -> bool:
    """Return True if any of the disable flags is set."""
    return any(int(mjm.opt.disableflags) & int(bit) for bit in bits)


def has_passive_forces(mjm: mujoco.MjModel) -> bool:
    """Return True if passive forces are computed at all: MuJoCo skips all of them without springs and dampers."""
    return not (disabled(mjm, _D.mjDSBL_SPRING) and disabled(mjm, _D.mjDSBL_DAMPER))
