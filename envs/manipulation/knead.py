"""Knead: an arm presses dough to a given shape."""

from typing import ClassVar

import numpy as np

from ...soft import ElastoPlastic, Matter
from ...soft.mpm.sampling import in_box
from ..arrays import Array, clip, row_norm, row_sum
from ..task.matter import TaskMatter
from ..task.noise import Noise
from ..task.particles import height_map
from ..task.task import ResetResult, Start, StepResult, TaskState
from ..task.terms import control_cost
from .arm import nearness
from .arm_tool import ArmToolTask

HOME = (-0.72851, 0.636439, 0.199553, -2.000619, 1.017966, 1.392138, -1.858455)  # rad
MIDDLE, DOUGH = (0.48, 0.0), (0.12, 0.12, 0.04)  # m: where the dough lies, and its edges when an episode begins
SPACING = 0.01  # m, of particles
RIM = 0.04  # m, radius of the dents, whose depth falls evenly from their middle: the highest particles show such ones
GRID, COLUMN = 6, 0.02  # columns of the height map along x and along y, and the edge of one, m
ABOVE = 0.015  # m: matter is pressed by a face that is so far above it, three quarters of a cell
FAR, DEEP = 0.03, (0.012, 0.02)  # m: how far from the middle along x and y dents are, and how deep


class Knead(ArmToolTask):
    """An arm of seven hinges presses a stamp of 60 mm into dough, where and as deep as a height map says.

    The dough is of particles, of which 8 fill a cell of 20 mm (`tumble.soft.ElastoPlastic`); 0.6 kg lie on the table.

    Action: a velocity of the stamp and its turn, which move a wished pose (`ArmToolTask.control`).

    | index | name | low | high | meaning |
    |---|---|---|---|---|
    | 0 | x | -1 | 1 | velocity ahead / `max_speed` |
    | 1 | y | -1 | 1 | velocity to the left / `max_speed` |
    | 2 | z | -1 | 1 | velocity upwards / `max_speed` |
    | 3 | tilt | -1 | 1 | turn about y / `max_turn` |

    Observation:

    | index | name | unit | meaning |
    |---|---|---|---|
    | 0-6 | qpos[:7] | rad | the arm's hinges |
    | 7-13 | qvel[:7] | rad/s | their velocities |
    | 14-16 | stamp | m | the middle of the face below |
    | 17 | tilt | rad | 0 upright |
    | 18-21 | wish - stamp | m, rad | the way to the wished pose |
    | 22-24 | goal - stamp | m | the goal is the lowest point of the wished dent |
    | 25 | shaped | | 1 - error / error at the start; the error is the mean of abs(height - wished height) |
    | 26-61 | heights - wished | m | of the dough, in 6 columns along x of 6 along y, each 20 mm wide |

    Reward:

    - `reward_reach`: 1 - tanh(distance of the stamp from a place 15 mm above the goal / 0.05 m)
    - `reward_shape`: 4 x shaped, from 0 to 4
    - `reward_tilt`: -0.5 x abs(tilt)
    - `reward_effort`: -`effort_weight` x |action|²

    Never ends by itself. Success: shaped is above `enough`. Starts: a flat dough; the dent, of 40 mm radius, is drawn
    in a box of 60 x 60 mm around its middle, 12 to 20 mm deep in its middle; the dough yields at `yield_stress`.
    """

    reads: ClassVar = ("xpos", "xquat", "particles_pos")
    home: ClassVar = HOME
    low: ClassVar = (0.4, -0.08, 0.012)
    high: ClassVar = (0.56, 0.08, 0.2)
    tilts: ClassVar = (-0.6, 0.6)
    camera: ClassVar = {"lookat": (0.46, 0.0, 0.12), "distance": 0.95, "azimuth": -135.0, "elevation": -32.0}

    xml_file: str = "arm_knead.xml"
    max_speed: float = 0.15  # m/s, along each axis
    max_turn: float = 1.0  # rad/s
    yield_stress: tuple[float, float] = (1000.0, 2000.0)  # Pa, drawn for every episode
    enough: float = 0.5
    effort_weight: float = 0.01

    def matter(self) -> TaskMatter:
        """Return the dough; waves of pressure run at 5 m/s in it."""
        places = in_box(DOUGH, SPACING) + np.array((*MIDDLE, DOUGH[2] / 2 + 0.001))
        stuff = ElastoPlastic(E=2e4, nu=0.3, rho=1100.0, von_mises_yield_stress=1500.0)
        return TaskMatter(
            matters=[Matter("dough", stuff, places, SPACING**3)],
            lower_bound=(0.3, -0.18, 0.0),
            upper_bound=(0.66, 0.18, 0.3),
            grid_density=50,
            dt=0.0025,
            geoms=["stamp", "table"],
            friction=[0.1, 0.8],
            looks={"dough": {"rgba": (0.93, 0.83, 0.66, 1.0)}},
        )

    def bind(self) -> None:
        """Make constants, and the middles of the height map's columns."""
        super().bind()
        ends = (np.arange(GRID) - (GRID - 1) / 2) * COLUMN
        x, y = np.meshgrid(ends + MIDDLE[0], ends + MIDDLE[1], indexing="ij")
        self.above = self.array((0.0, 0.0, ABOVE))
        self.columns = self.array(np.stack((x.ravel(), y.ravel()), axis=1))

    def reset(self, noise: Noise) -> Start:
        """Draw the dent, and the stress at which the dough yields."""
        xp, qpos = self.xp, self.arm_start(noise)
        place, depth = noise.uniform(-FAR, FAR, 2), noise.uniform(*DEEP, 1)
        goal = xp.concat((place[:, :1] + MIDDLE[0], place[:, 1:] + MIDDLE[1], DOUGH[2] - depth), axis=1)
        stress = noise.uniform(*self.yield_stress, 1)[:, 0]
        memory = {"goal": goal, "wish": 0 * qpos[:, :4], "first_error": 0 * depth[:, 0] + 1}
        mark = xp.concat((goal[:, :2], 0 * depth), axis=1)[:, None, :]
        return Start(qpos, 0 * qpos, memory, {"dough.von_mises_yield_stress": stress}, {"mocap_pos": mark})

    def begin(self, state: TaskState) -> ResetResult:
        """Return the first observation, and remember the first error."""
        state = state.remember(wish=self.pose(state), first_error=self.error(state))
        memory = {name: state.memory[name] for name in ("wish", "first_error")}
        return ResetResult(self.observation(state), memory=memory)

    def offsets(self, state: TaskState) -> Array:
        """Return how much higher the dough is in each column than it should be, (n, 36) m."""
        xp, goal, half = self.xp, state.memory["goal"], GRID * COLUMN / 2
        low, high = ([middle + side * half for middle in MIDDLE] for side in (-1, 1))
        heights = xp.reshape(height_map(state.fields["particles_pos"], low, high, (GRID, GRID)), (-1, GRID * GRID))
        share = clip(1 - row_norm(self.columns - goal[:, None, :2]) * (1 / RIM), 0.0, 1.0)
        return heights + SPACING / 2 - DOUGH[2] + share * (DOUGH[2] - goal[:, 2:])

    def error(self, state: TaskState) -> Array:
        """Return the mean of the offsets' sizes, (n,) m."""
        return row_sum(abs(self.offsets(state))) / (GRID * GRID)

    def shaped(self, state: TaskState) -> Array:
        """Return how much of the first error is gone, (n,): 1 for all of it, below 0 for more error than at first."""
        return 1 - self.error(state) / state.memory["first_error"]

    def observation(self, state: TaskState) -> Array:
        """Return arm, goal and dough, (n, 62)."""
        way, shaped = state.memory["goal"] - self.tool_pos(state), clip(self.shaped(state), -1.0, 1.0)
        return self.xp.concat((*self.arm_seen(state), way, shaped[:, None], self.offsets(state)), axis=1)

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward the stamp's place, and the shape of the dough."""
        state = state.remember(wish=self.wished(state, action))
        shaped, distance = self.shaped(state), row_norm(state.memory["goal"] + self.above - self.tool_pos(state))
        terms = {
            "reward_reach": nearness(distance, 0.05),
            "reward_shape": 4 * clip(shaped, 0.0, 1.0),
            "reward_tilt": -0.5 * abs(self.tilt(state)),
            "reward_effort": -control_cost(action, self.effort_weight),
        }
        info = {"shaped": shaped, "error": self.error(state), "distance": distance}
        info["success"] = shaped > self.enough
        return StepResult(self.observation(state), terms, info=info, memory={"wish": state.memory["wish"]})
