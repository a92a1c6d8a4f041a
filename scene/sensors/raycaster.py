"""Range finders: rays in a pattern from a link, or from a place in the world."""

from typing import NamedTuple

import torch

from ...physics.base.rotations import rotate
from ..checks import Indices
from ..world import World
from .evaluated_envs import EvaluatedEnvs
from .links import LinkSensor, seen_geoms


class RaycasterData(NamedTuple):
    """The readings of a range finder.

    Attributes:
        points: where rays end, (n, *pattern.shape, 3) m, in the sensor's frame or the world's; 0 where nothing was
            found. None without `return_points`.
        distances: along the rays, (n, *pattern.shape) m; `no_hit_value` where nothing was found.
    """

    points: torch.Tensor | None
    distances: torch.Tensor


class _Rays(NamedTuple):
    """Rays in the world, (k, rays, ...): true distances, masks of hits, starts and directions."""

    distances: torch.Tensor
    found: torch.Tensor
    starts: torch.Tensor
    directions: torch.Tensor


class RaycasterSensor(LinkSensor):
    """A range finder: `read` returns `RaycasterData`. It sees collision geoms, except its link's."""

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shapes of the readings of one environment: points, if they are read, and distances."""
        shape = self.options.pattern.shape
        return ((*shape, 3), shape) if self.options.return_points else (shape,)

    def data(self, *parts: torch.Tensor) -> RaycasterData:
        """Return points and distances."""
        return RaycasterData(*parts) if len(parts) == 2 else RaycasterData(None, *parts)

    def place(self, world: World) -> None:
        """Look up the visible geoms."""
        super().place(world)
        pattern = self.options.pattern
        self._starts, self._directions = (
            self._pos.new_tensor(rays.reshape(-1, 3)) for rays in (pattern.starts, pattern.directions)
        )
        self._geoms = seen_geoms(world, self.body)
        no_hit = self.options.no_hit_value
        self._none = self.options.max_range if no_hit is None else no_hit

    def sense(self, evaluated: EvaluatedEnvs) -> _Rays:
        """Cast the rays."""
        pos, quat = (part[:, None] for part in self.pose(evaluated))
        starts = pos + rotate(quat.expand(-1, len(self._starts), -1), self._starts.expand(len(pos), -1, -1))
        along = rotate(quat.expand(-1, len(self._starts), -1), self._directions.expand(len(pos), -1, -1))
        hits = evaluated.world.solver.queries.ray(starts, along, geoms=self._geoms, envs_idx=evaluated.envs)
        least, most = self.options.min_range, self.options.max_range
        hit = (hits.geom >= 0) & (hits.distance >= least) & (hits.distance <= most)
        if not self.options.return_world_frame:
            starts, along = self._starts, self._directions
        return _Rays(hits.distance, hit, starts, along)

    def numbers(self, sensed: _Rays) -> torch.Tensor:
        """Return the distances, (k, rays) m."""
        return sensed.distances

    def deliver(self, numbers: torch.Tensor, sensed: _Rays, measured: bool) -> torch.Tensor:
        """Return points, if they are read, and distances (k, m): both of one measurement."""
        distances = torch.where(sensed.found, numbers, self._none)
        if not self.options.return_points:
            return distances
        points = torch.where(sensed.found[..., None], sensed.starts + numbers[..., None] * sensed.directions, 0.0)
        return torch.cat((points.flatten(1), distances), 1)


class DepthCameraSensor(RaycasterSensor):
    """A range finder of one ray a pixel."""

    def read_image(self, envs_idx: Indices = None) -> torch.Tensor:
        """Return the distances along the rays as a picture, (n, height, width) m; arguments as in `read`."""
        return self.read(envs_idx).distances

    def read_depth(self, envs_idx: Indices = None) -> torch.Tensor:
        """Return depths along the camera's axis, (n, height, width) m, as pictures of renderers have them."""
        ahead = self._directions[:, 0].reshape(self.options.pattern.shape)
        return self.read(envs_idx).distances * ahead
