"""Sensors on links: the frame of each, of every environment's own."""

from collections.abc import Mapping

import numpy as np
import torch

from ...physics.base.rotations import quat_mul, rotate
from ..checks import Indices, Numbers
from ..entity.entity import RigidEntity
from ..entity.handles import RigidLink
from ..poses import quat_of_euler
from ..world import World
from .evaluated_envs import EvaluatedEnvs
from .options import LinkSensorOptions
from .sensor import Sensor

_BACK = (1.0, -1.0, -1.0, -1.0)


class LinkSensor(Sensor):
    """A sensor in the frame of a link, or in that of the world.

    Attributes:
        link: the link; None: the sensor stands still in the world.
    """

    reads: tuple[str, ...] = ("xpos", "xquat")

    def __init__(self, options: LinkSensorOptions, idx: int, entity: RigidEntity | None) -> None:
        super().__init__(options, idx, entity)
        self.link = None if entity is None else _link(self, entity, options.link_idx_local)

    def place(self, world: World) -> None:
        """Look up the body, and set the offsets of the sensor."""
        like = world.solver.qvel.new_zeros
        self.body = 0 if self.link is None else self.link.body
        self._pos = like((world.count, 3)) + like(3).new_tensor(self.options.pos_offset)
        self._quat = like((world.count, 4)) + like(4).new_tensor(quat_of_euler(self.options.euler_offset))

    def pose(self, evaluated: EvaluatedEnvs) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the sensor's position (k, 3) m and quaternion (k, 4) in the world."""
        turn, rows = evaluated["xquat"][:, self.body], evaluated.index
        return evaluated["xpos"][:, self.body] + rotate(turn, self._pos[rows]), quat_mul(turn, self._quat[rows])

    def set_pos_offset(self, pos_offset: Numbers, envs_idx: Indices = None) -> None:
        """Write the sensor's position in the link's frame, (3,) or (k, 3) m; it holds from the next step on.

        Raises:
            SceneOrderError: the scene is not built.
            ValueError: for another shape, and for numbers that are not finite.
            IndexError: for an environment that does not exist.
        """
        self._require_world()
        rows = self._index(envs_idx)
        self._pos[rows] = self._numbers_of("pos_offset", pos_offset, self._pos[rows], signed=True)

    def set_quat_offset(self, quat_offset: Numbers, envs_idx: Indices = None) -> None:
        """Write the sensor's quaternion in the link's frame, (4,) or (k, 4), of any length but 0."""
        self._require_world()
        rows = self._index(envs_idx)
        quat = self._numbers_of("quat_offset", quat_offset, self._quat[rows], signed=True)
        length = quat.norm(dim=-1, keepdim=True)
        if not bool((length > 0.0).all()):
            raise ValueError(f"{self!r}: quat_offset={quat_offset!r}: a quaternion must have a length")
        self._quat[rows] = quat / length

    def state_dict(self, rows: torch.Tensor | None) -> dict[str, torch.Tensor]:
        """Return the state of `Sensor.state_dict`, and the offsets."""
        rows_idx = slice(None) if rows is None else rows
        return super().state_dict(rows) | {"pos": self._pos[rows_idx].clone(), "quat": self._quat[rows_idx].clone()}

    def load_state_dict(self, state: Mapping[str, torch.Tensor], rows: torch.Tensor) -> None:
        """Write the result of `state_dict` into environments `rows` (k,)."""
        super().load_state_dict(state, rows)
        self._pos[rows], self._quat[rows] = state["pos"], state["quat"]


def unturned(quat: torch.Tensor, vectors: torch.Tensor) -> torch.Tensor:
    """Return vectors (..., 3) of the world in the axes of frames with quaternions (..., 4)."""
    return rotate(quat * quat.new_tensor(_BACK), vectors)


def _link(sensor: Sensor, entity: RigidEntity, number: int) -> RigidLink:
    """Return a link of an entity.

    Raises:
        IndexError: it has no such link.
    """
    if number >= entity.n_links:
        names = ", ".join(f"{i}: {link.name}" for i, link in enumerate(entity.links[:8]))
        raise IndexError(
            f"{sensor!r}: link_idx_local={number}: entity '{entity.name}' has {entity.n_links} links ({names})"
        )
    return entity.links[number]


def require_entity(sensor: Sensor, entity: RigidEntity | None) -> RigidEntity:
    """Return the entity of a sensor.

    Raises:
        ValueError: the sensor has none.
    """
    if entity is None:
        raise ValueError(f"{type(sensor.options).__name__}: entity_idx is -1: give the idx of the entity that it is on")
    return entity


def seen_geoms(world: World, body: int) -> list[int]:
    """Return the numbers of geoms that rays from a body hit: collision geoms, except the body's."""
    mj = world.model.mj
    touches = (mj.geom_contype | mj.geom_conaffinity) != 0
    touches[np.concatenate((mj.pair_geom1, mj.pair_geom2)).astype(int)] = True
    return np.flatnonzero(touches & ((mj.geom_bodyid != body) | (body == 0))).tolist()
