"""Which rarely used parts of the engine a model needs; kernels leave out the others and compile in half the time."""

from dataclasses import dataclass

import numpy as np

from .model import Model

_HULL_ROWS = (2, 3, 4)  # rows of pack.PAIR_TYPES: a plane against a cylinder, a box, a mesh
_FREE, _BALL = 0, 1


@dataclass(frozen=True)
class Features:
    """Optional code in a kernel.

    Attributes:
        hulls: planes against cylinders, boxes and meshes.
        rotations: limits, springs and actuators on ball and free joints, and the midpoint rule of single free bodies.
        powers: impedance curves of other powers than 1 and 2.
    """

    hulls: bool
    rotations: bool
    powers: bool

    @staticmethod
    def of(model: Model) -> "Features":
        """The features that `model` needs."""
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
        )
