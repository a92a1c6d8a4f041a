"""Which rarely used parts of the engine a model needs; kernels leave out the others and compile in half the time."""

from dataclasses import dataclass

import numpy as np

from .model import Model

_HULL_ROWS = (2, 3, 4)  # rows of pack.PAIR_TYPES: a plane against a cylinder, a box, a mesh
_FREE, _BALL, _SLIDE = 0, 1, 2
STIFF = 5e3  # 1/s^2; MuJoCo's default contact has 2.8e3
FAR = 1.0  # metres


@dataclass(frozen=True)
class Features:
    """Optional code in a kernel.

    Attributes:
        hulls: planes against cylinders, boxes and meshes.
        rotations: limits, springs and actuators on ball and free joints, and the midpoint rule of single free bodies.
        powers: impedance curves of other powers than 1 and 2.
        fine: positions in double precision, from the coordinates to the distances of geoms, in a single precision
            solver: where contacts are so stiff, or axes of sliding joints so far from their bodies, that the rounding
            of a position is a force to be seen.
    """

    hulls: bool
    rotations: bool
    powers: bool
    fine: bool

    @staticmethod
    def of(model: Model, single: bool) -> "Features":
        """The features that `model` needs, in single precision or not."""
        values = model.values
        starts = values["pair_start"]
        turning = np.isin(values["jnt_type"], (_BALL, _FREE))
        power = np.concatenate([values["pair_solimp"].reshape(-1, 5)[:, 4], values["limit_solimp"][:, 4]])
        return Features(
            hulls=any(starts[row + 1] > starts[row] for row in _HULL_ROWS),
            rotations=bool(
                (turning & (values["jnt_stiffness"] != 0)).any()
                or (values["limit_side"] == 0).any()
                or np.isin(values["actuator_type"], (_BALL, _FREE)).any()
                or values["body_alone"].any()
            ),
            powers=bool((~np.isin(power, (1.0, 2.0))).any()),
            fine=single and (_stiff(model) or _slides_far(model)),
        )


def _stiff(model: Model) -> bool:
    """Whether a contact answers the rounding of a metre, 1e-7 m, with more than 5e-4 m/s^2."""
    return bool((model.values["pair_stiffness"] > STIFF).any())


def _slides_far(model: Model) -> bool:
    """Whether a sliding joint whose axis turns can go farther than FAR: the rounding of the axis grows with the way."""
    mjm = model.mj
    for dof in range(mjm.nv):
        joint = mjm.dof_jntid[dof]
        if mjm.jnt_type[joint] == _SLIDE and (not mjm.jnt_limited[joint] or np.abs(mjm.jnt_range[joint]).max() > FAR):
            above = mjm.dof_parentid[dof]
            while above >= 0:
                if mjm.jnt_type[mjm.dof_jntid[above]] != _SLIDE:
                    return True
                above = mjm.dof_parentid[above]
    return False
