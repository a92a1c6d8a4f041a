"""The share of walking tasks on ground that is not flat: levels, a scan of heights, and the edge of the field."""

from abc import abstractmethod
from typing import TYPE_CHECKING

import mujoco

from ...terrain import Terrain
from ..arrays import Array, clip
from ..task.ground import Ground
from ..task.levels import TerrainLevels
from ..task.noise import Noise
from ..task.scans import grid_points
from ..task.task import Last, Start, StepResult, TaskState
from .motion import Motion
from .velocity import VelocityTask

if TYPE_CHECKING:
    Base = VelocityTask
else:
    Base = object  # a dataclass here would override the robot's defaults with those of `VelocityTask`


class OnTerrain(Base):
    """A task on a terrain: name it before the robot's task, `class QuadrupedRough(OnTerrain, QuadrupedFlat)`.

    The task has the options `max_init_level` and `curriculum`.

    The policy sees a scan of heights around the robot, 17 x 11 points 0.1 m apart that turn with its heading: how far
    the ground is below the body, less the height at which it stands, within ±0.5 m. Episodes begin on levels that
    depend on the levels before (`TerrainLevels`), and are cut short at the edge of the field. The info has `level`.
    """

    max_init_level: int
    curriculum: bool

    @abstractmethod
    def terrain(self) -> Terrain:
        """Return the terrain."""

    def load_spec(self) -> mujoco.MjSpec:
        """Return the robot on the terrain instead of the floor."""
        spec = super().load_spec()
        spec.delete(spec.geom("floor"))
        self.terrain().add_to(spec, friction=0.6, contype=1, conaffinity=1)
        spec.stat.extent = 2.0  # m; with the field's extent pictures would cut off everything within a metre
        return spec

    def bind(self) -> None:
        """Prepare ground, levels and the scan."""
        super().bind()
        self.ground = Ground(self.terrain(), self)
        self.levels = TerrainLevels(
            self.terrain(),
            self,
            max_init_level=self.max_init_level,
            episode_length_s=20.0,
            command=self.command.name,
            curriculum=self.curriculum,
        )
        self.points = self.array(grid_points((1.6, 1.0), 0.1))

    def reset_after(self, last: Last, noise: Noise) -> Start:
        """Begin at the origin of the environment's next level."""
        return self.levels.begin(super().reset_after(last, noise), last, noise)

    def under(self, state: TaskState) -> Array:
        """Return the height of the ground under the body and under the feet, (n, 1 + feet) m."""
        places = self.xp.concat((state.qpos[:, None, :3], self.reader.places(state)), axis=1)
        return self.ground.height(places[..., :2])

    def seen(self, now: Motion, state: TaskState) -> tuple[Array, ...]:
        """Return the scan, (n, 187)."""
        quat = state.qpos[:, 3:7]
        w, x, y, z = (quat[:, k] for k in range(4))
        ahead, aside, zero = w * w + x * x - y * y - z * z, 2 * (w * z + x * y), 0 * w
        mat = self.xp.stack((ahead, zero, zero, aside), axis=1)
        scan = self.ground.scan(state.qpos[:, :3], mat, self.points)
        return (clip(scan - self.standing[2], -0.5, 0.5),)

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Step as on flat ground; the episode is cut short at the edge."""
        result = super().step(state, action)
        info = {**result.info, "level": state.memory["terrain_levels"]}
        return result._replace(info=info, truncated=self.ground.outside(state.qpos[:, :2], 1.0))
