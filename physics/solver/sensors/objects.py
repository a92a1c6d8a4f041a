"""The frames and motion of the objects of sensors: bodies, geoms, sites and cameras, all in a few operations.

A frame is (pos, mat, quat); its velocity and acceleration are (rotation, translation) at its origin, in the world's
axes.
"""

from functools import cached_property
from typing import Any

import mujoco
import numpy as np
import torch

from ...base.rotations import quat_mul, quat_to_matrix, rotate
from ...model.model import Model
from ..readout.derived import camera_poses
from .sensor_quantities import SensorQuantities

Tensor = torch.Tensor
_O = mujoco.mjtObj
BODY, XBODY, GEOM, SITE, CAMERA = (int(getattr(_O, f"mjOBJ_{n}")) for n in ("BODY", "XBODY", "GEOM", "SITE", "CAMERA"))
_POSES = {
    BODY: ("body_ipos", "body_iquat"),
    GEOM: ("geom_pos", "geom_quat"),
    SITE: ("site_pos", "site_quat"),
    CAMERA: ("cam_pos", "cam_quat"),
}
_CARRIER = {GEOM: "geom_bodyid", SITE: "site_bodyid", CAMERA: "cam_bodyid"}


class Objects:
    """The objects that a model's sensors are about, numbered as they were first asked for.

    Args:
        model: the model.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._places: dict[tuple[int, int], int] = {}

    def number(self, kind: int, index: int) -> int:
        """The number here of an object of MuJoCo's type `kind`."""
        return self._places.setdefault((kind, index), len(self._places))

    def numbers(self, kinds: np.ndarray, ids: np.ndarray) -> list[int]:
        """Return the numbers here of several objects."""
        return [self.number(int(kind), int(index)) for kind, index in zip(kinds, ids, strict=True)]

    def __len__(self) -> int:
        return len(self._places)

    @cached_property
    def carriers(self) -> np.ndarray:
        """The body of each."""
        mj = self._model.mj
        return np.array([getattr(mj, _CARRIER[k])[i] if k in _CARRIER else i for k, i in self._places], np.int64)

    @property
    def sources(self) -> tuple[str, ...]:
        """Fields from which their frames follow."""
        moving = any(kind == CAMERA for kind, _ in self._places)
        return ("xpos", "xquat", "subtree_com") if moving else ("xpos", "xquat")

    def local(self, quantities: SensorQuantities) -> tuple[Tensor, Tensor]:
        """Position (n or 1, k, 3) and orientation (n or 1, k, 4) of each in the frame of its body."""
        if any(name in quantities.own for kind, _ in self._places for name in _POSES.get(kind, ())):
            return self._make_local(quantities, len(quantities))
        return quantities.constant("local frames", lambda: self._make_local(quantities, 1))

    def _make_local(self, quantities: SensorQuantities, n: int) -> tuple[Tensor, Tensor]:
        """Make the local frames of n environments; n = 1 where all have the model's, which serves any read."""
        kinds, ids = np.array(list(self._places)).T
        pos = quantities.tensor(np.zeros((n, len(self), 3)))
        quat = quantities.tensor(np.tile([1.0, 0.0, 0.0, 0.0], (n, len(self), 1)))
        for kind, names in _POSES.items():
            if kind not in kinds:
                continue
            rows = quantities.ids(("rows", kind), np.flatnonzero(kinds == kind))
            which = quantities.ids(("which", kind), ids[kinds == kind])
            for to, name in zip((pos, quat), names, strict=True):
                to[:, rows] = quantities.of_model(name)[:, which]
        return pos, quat

    def moving_cameras(self) -> list[tuple[int, int]]:
        """(number here, id) of the cameras that follow something."""
        mode = self._model.mj.cam_mode
        fixed = int(mujoco.mjtCamLight.mjCAMLIGHT_FIXED)
        return [(row, i) for (kind, i), row in self._places.items() if kind == CAMERA and mode[i] != fixed]


class Frames:
    """The frames of all objects, and their motion, computed from `SensorQuantities`."""

    def __init__(self, objects: Objects, quantities: SensorQuantities) -> None:
        self._objects, self._quantities = objects, quantities
        self._body = quantities.ids("carriers", objects.carriers)
        pos, quat = objects.local(quantities)
        turn = quantities["xquat"][:, self._body]
        self.quat = quat_mul(turn, quat)
        self.pos = quantities["xpos"][:, self._body] + rotate(turn, pos.expand(len(turn), -1, -1))
        self.mat = quat_to_matrix(self.quat)
        if cameras := objects.moving_cameras():
            rows, which = (list(numbers) for numbers in zip(*cameras, strict=True))
            seen, axes = camera_poses(quantities.model, quantities.shaped("xpos", "xquat", "subtree_com"))
            self.pos, self.mat = self.pos.clone(), self.mat.clone()
            self.pos[:, rows], self.mat[:, rows] = seen[:, which], axes[:, which].unflatten(-1, (3, 3))

    @cached_property
    def arm(self) -> Tensor:
        """From the centre of mass of the tree, (n, k, 3) m."""
        root = self._quantities.ids("roots", self._quantities.model.mj.body_rootid[self._objects.carriers])
        return self.pos - self._quantities["subtree_com"][:, root]

    @cached_property
    def velocity(self) -> tuple[Tensor, Tensor]:
        """The velocity of mj_objectVelocity."""
        return self._at_origin(self._quantities["cvel"][:, self._body])

    @cached_property
    def acceleration(self) -> tuple[Tensor, Tensor]:
        """The acceleration that an accelerometer measures, which includes -gravity (mj_objectAcceleration)."""
        turn, slide = self._at_origin(self._quantities["cacc"][:, self._body])
        spin, speed = self.velocity
        return turn, slide + torch.linalg.cross(spin, speed)

    def _at_origin(self, motion: Tensor) -> tuple[Tensor, Tensor]:
        turn, slide = motion[..., :3], motion[..., 3:]
        return turn, slide + torch.linalg.cross(turn, self.arm)

    @cached_property
    def wrench(self) -> tuple[Tensor, Tensor]:
        """Torque about each origin, and force, with which the parent holds the body, in the world's axes."""
        wrench = self._quantities["cfrc_int"][:, self._body]
        twist, push = wrench[..., :3], wrench[..., 3:]
        return twist - torch.linalg.cross(self.arm, push), push

    def turned(self, vectors: Tensor, rows: Any) -> Tensor:
        """Vectors (n or 1, k, 3) of the world in the axes of the objects `rows` (k,)."""
        return (self.mat[:, rows] * vectors[..., None]).sum(-2)
