"""A small task with matter, for tests: a paddle pushes liquid in a box; and the same as a scene."""

from typing import Any, ClassVar

import numpy as np

from tumble import scene as ts
from tumble.envs import Noise, ResetResult, Start, StepResult, Task, TaskMatter, TaskState
from tumble.envs.task.particles import centroid, share
from tumble.physics import Model
from tumble.soft import Liquid, Matter, Sand

XML = """
<mujoco>
  <option timestep="0.004" integrator="implicitfast"/>
  <worldbody>
    <light pos="0 0 2"/>
    <camera name="side" pos="0 -0.3 0.2" xyaxes="1 0 0 0 0.5 1"/>
    <geom name="floor" type="plane" size="1 1 0.1" rgba="0.8 0.8 0.8 1"/>
    <body name="paddle" pos="-0.06 0 0.06">
      <joint name="slide" type="slide" axis="1 0 0" range="-0.02 0.08" damping="2"/>
      <geom name="blade" type="box" size="0.02 0.08 0.05" mass="0.3" rgba="0.8 0.3 0.2 1"/>
    </body>
    <body name="post" mocap="true" pos="0.06 0.06 0.04">
      <geom name="post" type="box" size="0.02 0.02 0.04" contype="0" conaffinity="0"/>
    </body>
  </worldbody>
  <actuator><motor joint="slide" gear="3" ctrlrange="-1 1"/></actuator>
</mujoco>
"""
SIDE, SPACING = 4, 0.01  # particles along an edge of the first cube, and their distance, m


def cube(middle: tuple[float, float, float]) -> np.ndarray:
    """Places of the particles of a cube, (64, 3) m."""
    ends = (np.arange(SIDE) - (SIDE - 1) / 2) * SPACING
    return np.stack(np.meshgrid(ends, ends, ends, indexing="ij"), axis=-1).reshape(-1, 3) + middle


class Paddle(Task):
    """Push liquid to the right of a line; an episode ends where half of it is there."""

    reads = ("xpos", "particles_pos", "particles_vel", "particles_active")
    camera: ClassVar = {"lookat": (0.0, 0.0, 0.05), "distance": 0.6}

    frame_skip: int = 5
    stiffness: float = 1.2e4
    line: float = 0.04
    jitter: float = 0.02

    def load_model(self, **options: Any) -> Model:
        """The XML above."""
        return Model.from_mjcf(XML, **options)

    def matter(self) -> TaskMatter:
        """A cube of liquid and one of sand."""
        water = Matter("water", Liquid(E=self.stiffness, nu=0.35), cube((0.0, 0.0, 0.03)), SPACING**3)
        sand = Matter("sand", Sand(E=2e4, rho=1500.0), cube((0.0, -0.05, 0.03))[:20], SPACING**3)
        return TaskMatter(
            matters=[water, sand],
            lower_bound=(-0.1, -0.1, 0.0),
            upper_bound=(0.1, 0.1, 0.2),
            grid_density=50,
            dt=0.001,
            geoms=["blade", "post", "floor"],
            looks={"water": {"rgba": (0.1, 0.2, 0.9, 1.0)}},
        )

    def reset(self, noise: Noise) -> Start:
        """The cube of water lies elsewhere, and is as thick as it likes."""
        shift = noise.uniform(-self.jitter, self.jitter, 2)
        start = self.array(np.concatenate([each.positions for each in self.matter().matters]))
        water = self.array(np.arange(len(start)) < SIDE**3)[:, None]
        offset = self.xp.concat((self.array(shift), 0 * self.array(shift[:, :1])), axis=1)[:, None, :]
        thick = noise.uniform(0, 0.5, 1)[:, 0]
        return Start(
            0 * shift[:, :1],
            0 * shift[:, :1],
            {"moved": 0 * shift[:, 0]},
            {"water.viscosity": thick},
            particles={"pos": start + water * offset},
        )

    def begin(self, state: TaskState) -> ResetResult:
        """Remember where the water was."""
        return ResetResult(self.observation(state), memory={"moved": self.water(state)[:, 0]})

    def water(self, state: TaskState) -> Any:
        """The middle of the water, (n, 3) m."""
        return centroid(state.fields["particles_pos"][:, self.particles["water"], :])

    def observation(self, state: TaskState) -> Any:
        """Paddle, water, its velocity, what exists: (n, 9)."""
        active = self.array(state.fields["particles_active"])[:, :1]
        vel = centroid(state.fields["particles_vel"][:, self.particles["water"], :])
        return self.xp.concat((state.coordinates, self.water(state), vel, active), axis=1)

    def step(self, state: TaskState, action: Any) -> StepResult:
        """Reward water beyond the line."""
        water = state.fields["particles_pos"][:, self.particles["water"], :]
        beyond = share(water[..., 0] > self.line, water)
        terms = {"reward_beyond": beyond, "reward_effort": -0.01 * action[:, 0] * action[:, 0]}
        return StepResult(self.observation(state), terms, beyond > 0.5, {"beyond": beyond})


class PaddleScene(Task):
    """Sand falls on a box of a scene."""

    reads = ("xpos", "particles_pos")
    frame_skip: int = 2

    def build_scene(self) -> ts.Scene:
        """A floor, a box on a slope of nothing, sand above it."""
        scene = ts.Scene(
            sim_options=ts.options.SimOptions(dt=0.004),
            mpm_options=ts.options.MPMOptions(
                lower_bound=(-0.2, -0.2, 0.0),
                upper_bound=(0.2, 0.2, 0.4),
                grid_density=50,
                particle_size=0.01,
                dt=0.001,
            ),
        )
        scene.add_entity(ts.morphs.Plane())
        scene.add_entity(ts.morphs.Box(pos=(0, 0, 0.04), size=(0.08, 0.08, 0.08)), name="box")
        scene.add_entity(
            ts.morphs.Box(pos=(0.02, 0, 0.14), size=(0.04, 0.04, 0.04)),
            material=ts.materials.MPM.Sand(E=2e4),
            surface=ts.surfaces.Default(color=(0.9, 0.7, 0.3)),
            name="sand",
        )
        return scene

    @property
    def action_space(self) -> Any:
        """Forces along x and y."""
        from gymnasium.spaces import Box

        return Box(-1, 1, (2,), np.float32)

    def control(self, state: TaskState, action: Any) -> Any:
        """No actuators."""
        return action[:, :0]

    def reset(self, noise: Noise) -> Start:
        """At rest."""
        zero = noise.uniform(0, 0, self.model.nv)
        return Start(0 * noise.uniform(0, 1, self.model.nq) + self.init_qpos, zero)

    def observation(self, state: TaskState) -> Any:
        """The box and the sand, (n, 6)."""
        sand = state.fields["particles_pos"][:, self.particles["sand"], :]
        return self.xp.concat((state.fields["xpos"][:, self.scene_entity("box").body, :], centroid(sand)), axis=1)

    def step(self, state: TaskState, action: Any) -> StepResult:
        """Reward low sand."""
        observation = self.observation(state)
        return StepResult(observation, {"reward_low": -observation[:, 5]})
