"""An entity of ground that is not flat."""

import numpy as np
import torch

from ...physics.base.rotations import quat_mul, quat_to_matrix, rotate
from ...physics.model.tables.height_fields import heights_of
from ..checks import Indices, Numbers
from ..morphs import Terrain
from ..world import Envs
from .entity import RigidEntity


class TerrainEntity(RigidEntity):
    """A field of heights, which stands still; all methods of rigid entities work as they do there."""

    morph: Terrain

    @property
    def terrain_hf(self) -> np.ndarray:
        """Heights in units of `terrain_scale[1]`, (nx, ny), the first index along x; from the entity's `pos` up."""
        world, geom = self.world, self.geoms[0]
        place = world.model.mj.geom_pos[geom.idx, 2]
        heights = heights_of(world.model.mj, int(world.model.mj.geom_dataid[geom.idx])) + place
        return heights.T / self.morph.vertical_scale

    @property
    def terrain_scale(self) -> tuple[float, float]:
        """Length of a cell, and the unit of heights, m."""
        return self.morph.horizontal_scale, self.morph.vertical_scale

    def get_terrain_height(self, positions: Numbers, envs_idx: Indices = None) -> torch.Tensor:
        """Return the height of the ground in the world, on the triangles that geoms and rays meet.

        The field must not be turned about x or y.

        Args:
            positions: (n, k, 2), (k, 2) or, of one point, (2,) m in the world; a third number is not read.
            envs_idx: which n environments.

        Returns:
            (n, k) m, or (n,) of one point; NaN outside of the field.

        Raises:
            ValueError: the field is turned, or for another shape.
        """
        world, envs = self.index.envs(envs_idx)
        mj, geom = world.model.mj, self.geoms[0]
        points = torch.as_tensor(np.asarray(positions) if isinstance(positions, list | tuple) else positions)
        if points.ndim not in (1, 2, 3) or points.shape[-1] not in (2, 3):
            raise ValueError(f"positions: expected shape (n, k, 2), (k, 2) or (2,), got {tuple(points.shape)}")
        is_point, points = points.ndim == 1, torch.atleast_2d(points)
        places = world.tensor("positions", points, envs, points.shape[-2], points.shape[-1])[..., :2]
        pos, turn = self._field_pose(envs)
        if not bool((turn[:, 2, 2] > 1 - 1e-6).all()):
            raise ValueError(f"entity '{self.name}' is turned about x or y: it has no height over a point")
        arm = places - pos[:, None, :2]
        local = (turn[:, None, :2, :2] * arm[..., None]).sum(-2)
        size = places.new_tensor(mj.hfield_size[mj.geom_dataid[geom.idx], :2])
        field = places.new_tensor(heights_of(mj, int(mj.geom_dataid[geom.idx])))
        found = _on_triangles(field, (local / size + 1) / 2) + pos[:, None, 2]
        inside = (local.abs() <= size * (1 + 1e-6)).all(-1)
        heights = world.out(torch.where(inside, found, torch.nan))
        return heights[..., 0] if is_point else heights

    def _field_pose(self, envs: Envs) -> tuple[torch.Tensor, torch.Tensor]:
        """Return position (n, 3) and rotation (n, 3, 3) of the field; a static field needs no evaluation."""
        world, geom = self.world, self.geoms[0].idx
        if not self.base_link.is_fixed or world.model.mj.body_parentid[self.base_link.body]:
            return world.get("geom_xpos", envs)[:, geom], world.get("geom_xmat", envs)[:, geom].unflatten(-1, (3, 3))
        quat = world.parameter("body_quat", envs)[:, self.base_link.body]
        own = world.parameter("geom_quat", envs)[:, geom]
        place = rotate(quat, world.parameter("geom_pos", envs)[:, geom])
        pos = world.parameter("body_pos", envs)[:, self.base_link.body] + place
        return pos, quat_to_matrix(quat_mul(quat, own))


def _on_triangles(heights: torch.Tensor, share: torch.Tensor) -> torch.Tensor:
    """Return heights of a field (nrow, ncol) at shares (..., 2) of its sides, along x and y.

    Cells are cut from their corner with the smallest x and y to that with the largest.
    """
    nrow, ncol = heights.shape
    place = share * share.new_tensor([ncol - 1, nrow - 1])
    cell = place.floor().long()
    column, row = cell[..., 0].clamp(0, ncol - 2), cell[..., 1].clamp(0, nrow - 2)
    u, v = place[..., 0] - column, place[..., 1] - row
    first, last = heights[row, column], heights[row + 1, column + 1]
    right, left = heights[row, column + 1], heights[row + 1, column]
    below = first + u * (right - first) + v * (last - right)
    above = first + v * (left - first) + u * (last - left)
    return torch.where(u >= v, below, above)
