"""A four-legged robot walks on rough ground: a trot that a policy corrects, by what it sees of the ground."""

import math
from pathlib import Path

import mujoco
import numpy as np
from gymnasium.spaces import Box

import tumble
from tumble.envs import Ground, Start, StepResult, Task, TerrainLevels, clip, grid_points, row_sum, sin_cos
from tumble.physics import Model
from tumble.terrain import Ramp, SubTerrain, TerrainGenerator

GROUND = TerrainGenerator(
    sub_terrains={
        "rough": SubTerrain("random_uniform", noise_range=Ramp((0.0, 0.0), (0.0, 0.12)), downsampled_scale=0.2),
        "slope": SubTerrain("pyramid_slope", slope=Ramp(0.0, 0.5), inverted=True),
        "up": SubTerrain("pyramid_stairs", step_height=Ramp(0.02, 0.16), step_width=0.4, inverted=True),
        "down": SubTerrain("pyramid_stairs", step_height=Ramp(0.02, 0.16), step_width=0.4),
        "boxes": SubTerrain("random_grid", grid_height=Ramp(0.01, 0.1)),
    },
    size=(6.0, 6.0),
    num_rows=8,
    num_cols=10,
    border_width=6.0,
    color_scheme="height",
).generate()

LEG, HEIGHT, LIFT, FREQUENCY = 0.213, 0.28, 0.07, 2.2  # m: thigh and calf, trunk, feet; 1/s


class Rough(Task):
    """Walk as commanded. Actions (12) are corrections of the joints' angles, in `correction` rad."""

    reads = ("xpos", "xmat")
    camera = {"distance": 2.5, "trackbodyid": 1, "azimuth": 130.0, "elevation": -25.0}

    xml_file: str = "dog.xml"
    frame_skip: int = 5
    correction: float = 0.2  # rad

    @property
    def action_space(self):
        """Corrections between -1 and 1."""
        return Box(-1.0, 1.0, (12,), np.float32)

    def load_model(self, **options):
        """The robot on its ground."""
        spec = mujoco.MjSpec.from_file(str(Path(__file__).with_name(self.xml_file)))
        GROUND.add_to(spec, friction=0.8)
        return Model.from_mjspec(spec, **options)

    def bind(self):
        """Ground, levels, and which points of the ground the robot sees."""
        self.ground = Ground(GROUND, self)
        self.levels = TerrainLevels(GROUND, self, max_init_level=2, episode_length_s=20.0, command="command")
        self.points = self.array(grid_points((1.2, 0.6), 0.2))  # 7 x 4
        self.late = self.array([0.0, 0.5, 0.5, 0.0])  # of a step, by which each leg is behind

    def trot(self, time, speed):
        """Angles of hips, thighs and calves, (n, 12) rad, s after the start, (n, 1), at speeds (n, 1) m/s."""
        xp = self.xp
        sine, cosine = sin_cos(2 * math.pi * (FREQUENCY * time + self.late))
        x, z = -speed / FREQUENCY / 4 * cosine + 0.01, HEIGHT - LIFT * clip(sine, 0.0, 1.0)
        bend = xp.acos(xp.sqrt(x * x + z * z) / (2 * LEG))
        angles = (0 * x, xp.atan2(-x, z) + bend, -2 * bend)
        return xp.reshape(xp.stack(angles, axis=2), (-1, 12))

    def reset(self, noise) -> Start:
        """In the trot's first posture, in any direction, with a command that way."""
        xp = self.xp
        heading, speed = noise.uniform(-math.pi, math.pi, 1), noise.uniform(0.3, 0.8, 1)
        sine, cosine = sin_cos(heading)
        half_sine, half_cosine = sin_cos(heading / 2)
        place = xp.concat((0 * heading, 0 * heading, 0 * heading + HEIGHT + 0.03), axis=1)
        qpos = xp.concat(
            (place, half_cosine, 0 * heading, 0 * heading, half_sine, self.trot(0 * speed, 0 * speed)), axis=1
        )
        memory = {"command": speed * xp.concat((cosine, sine), axis=1), "time": 0 * speed, "action": 0 * qpos[:, 7:]}
        return Start(qpos, 0 * qpos[:, 1:], memory)

    def reset_after(self, last, noise) -> Start:
        """The same, at the origin of the environment's next level."""
        return self.levels.begin(self.reset(noise), last, noise)

    def control(self, state, action):
        """The trot at the commanded speed, from standing, with the policy's corrections."""
        time, command = state.memory["time"], state.memory["command"]
        speed = self.xp.sqrt(row_sum(command * command))[:, None] * clip(time, 0.0, 1.0)
        return self.array(self.trot(time, speed)) + self.correction * action

    def seen(self, state):
        """Velocity (n, 3) and command (n, 2) m/s in the frame of the robot's heading, and up (n, 3) in its own."""
        mat, xp = state.fields["xmat"][:, 1], self.xp
        length = xp.sqrt(mat[:, :1] ** 2 + mat[:, 3:4] ** 2) + 1e-6
        ahead, aside = mat[:, :1] / length, mat[:, 3:4] / length
        turned = [
            xp.concat((ahead * v[:, :1] + aside * v[:, 1:2], ahead * v[:, 1:2] - aside * v[:, :1]), axis=1)
            for v in (state.qvel, state.memory["command"])
        ]
        return xp.concat((turned[0], state.qvel[:, 2:3]), axis=1), turned[1], mat[:, 6:9]

    def observation(self, state):
        """Velocities, up, command, phase, joints, the last action, and the ground around: (n, 77)."""
        velocity, command, up = self.seen(state)
        scan = self.ground.scan(state.fields["xpos"][:, 1], state.fields["xmat"][:, 1], self.points)
        phase = self.xp.concat(sin_cos(2 * math.pi * FREQUENCY * state.memory["time"]), axis=1)
        joints = (state.qpos[:, 7:], 0.05 * state.qvel[:, 6:], state.memory["action"])
        return self.xp.concat(
            (velocity, state.qvel[:, 3:6], up, command, phase, *joints, 5 * clip(scan - HEIGHT, -0.5, 0.5)), axis=1
        )

    def step(self, state, action) -> StepResult:
        """Reward the commanded velocity, penalize shaking and jerks; it ends in a fall, and is cut at the edge."""
        velocity, command, up = self.seen(state)
        error = velocity[:, :2] - command
        jerk = action - state.memory["action"]
        terms = {
            "reward_track": self.xp.exp(-4 * row_sum(error * error)),
            "reward_upright": 0.5 * up[:, 2],
            "reward_steady": -0.005 * row_sum(state.qvel[:, 3:6] ** 2) - 0.1 * velocity[:, 2] ** 2,
            "reward_smooth": -0.002 * row_sum(jerk * jerk),
        }
        high = self.ground.above(state.fields["xpos"][:, 1])
        fell = (up[:, 2] < 0.3) | (high < 0.12)
        state = state.remember(time=state.memory["time"] + self.dt, action=action)
        info = {"level": state.memory["terrain_levels"]}
        outside = self.ground.outside(state.qpos[:, :2], 1.0)
        return StepResult(self.observation(state), terms, fell, info, state.memory, truncated=outside)


tumble.register("me/Rough-v0", Rough, max_episode_steps=1000)
