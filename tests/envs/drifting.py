"""A task for tests of terrain: a point drifts over sub-terrains at a speed of its own, commanded or not."""

import mujoco

from tumble.envs import Ground, Last, Noise, ResetResult, Start, StepResult, Task, TaskState, TerrainLevels
from tumble.physics import Model
from tumble.terrain import FlatPatches, SubTerrain, TerrainGenerator

SIZE = 4.0
TERRAIN = TerrainGenerator(
    sub_terrains={
        "flat": SubTerrain("flat", proportion=0.5, flat_patches={"spawn": FlatPatches(num_patches=6)}),
        "wave": SubTerrain("wave", proportion=0.3, amplitude=0.3),
        "stairs": SubTerrain("pyramid_stairs", proportion=0.2, step_height=0.1),
    },
    size=(SIZE, SIZE),
    num_rows=4,
    num_cols=5,
    border_width=2.0,
    vertical_scale=0.0,
).generate()

XML = """
<mujoco>
  <option timestep="0.1" gravity="0 0 0"/>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1" contype="0" conaffinity="0"/>
    <body name="point">
      <joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/><joint type="slide" axis="0 0 1"/>
      <geom size="0.1" contype="0" conaffinity="0"/>
    </body>
  </worldbody>
  <actuator><motor joint="" gear="0"/></actuator>
</mujoco>
""".replace('<joint type="slide" axis="1 0 0"/>', '<joint name="x" type="slide" axis="1 0 0"/>').replace(
    'joint=""', 'joint="x"'
)


class Drifter(Task):
    """Environments drift along x at 0, 0.4 or 1.2 m/s, by their number, and are told to go 1 m/s.

    Observation: place, height above the ground, level, type. Truncated outside of the field.
    """

    xml_file: str = ""
    patches: bool = False
    curriculum: bool = True
    command: float = 1.0
    speed: float = 1.0

    def load_model(self, **options):
        """Compile the model above."""
        return Model.from_mjspec(mujoco.MjSpec.from_string(XML), **options)

    def bind(self) -> None:
        """Episodes of 20 steps are 2 s."""
        self.ahead = self.xp.asarray([0.6, 0.8])
        self.ground = Ground(TERRAIN, self)
        self.levels = TerrainLevels(
            TERRAIN, self, max_init_level=1, episode_length_s=2.0, command="command", curriculum=self.curriculum
        )

    def reset(self, noise: Noise) -> Start:
        """At rest, with a command."""
        still = noise.uniform(0.0, 0.0, 3)
        return Start(still, still, {"command": self.command * (still[:, :2] + self.ahead)})

    def reset_after(self, last: Last, noise: Noise) -> Start:
        """At the next origin, at the environment's speed."""
        start = self.levels.begin(self.reset(noise), last, noise, "spawn" if self.patches else None)
        speed = self.xp.take(self.xp.asarray([0.0, 0.4, 1.2]), last.envs % 3, axis=0) * self.speed
        return start._replace(qvel=self.xp.stack((speed, 0 * speed, 0 * speed), axis=1))

    def begin(self, state: TaskState) -> ResetResult:
        """Return the first observation, with levels in the info."""
        return ResetResult(self.observation(state), self.told(state))

    def told(self, state: TaskState):
        """Level and type."""
        return {name: state.memory[f"terrain_{name}"] for name in ("levels", "types")}

    def observation(self, state: TaskState):
        """Place, height above the ground, level, type: (n, 6)."""
        told = [self.array(part)[:, None] for part in (self.ground.above(state.qpos), *self.told(state).values())]
        return self.xp.concat((state.qpos, *told), axis=1)

    def step(self, state: TaskState, action) -> StepResult:
        """Nothing is worth anything."""
        outside = self.ground.outside(state.qpos[:, :2], 0.5)
        return StepResult(
            self.observation(state), {"reward": 0 * state.qpos[:, 0]}, None, self.told(state), truncated=outside
        )
