"""Scoop: an arm takes sand from a tray and lifts it to a goal."""

from typing import ClassVar

import numpy as np

from ...soft import Matter, Sand
from ...soft.mpm.sampling import in_box
from ..arrays import Array, clip, row_norm, sin_cos
from ..task.matter import TaskMatter
from ..task.noise import Noise
from ..task.particles import height_map, in_cup
from ..task.task import Start, StepResult, TaskState
from ..task.terms import control_cost
from .arm import draw_in_box, nearness
from .arm_tool import ArmToolTask
from .vessels import Vessel, vessel

HOME = (-0.856916, 0.586151, 0.129955, -2.005221, 0.878253, 1.252007, 1.281029)  # rad: the mouth is ahead
INNER, DEPTH, BOTTOM = 0.045, 0.055, -0.025  # m: radius, depth and floor of the scoop, in its frame
SLACK = 0.01  # m: a heap may be so much higher than the scoop
MOUTH = (0.0, 0.0, BOTTOM + DEPTH)  # m, the middle of its opening
TRAY, HALF, TOP = (0.46, 0.0), (0.1, 0.075), 0.08  # m: the tray's middle, half its sides inside, its height
SAND = (0.18, 0.13, 0.06)  # m, edges of the sand when an episode begins
SPACING, RHO = 0.0125, 1500.0  # m, of particles; kg/m3
GOAL_LOW, GOAL_HIGH = (0.4, -0.1, 0.2), (0.55, 0.1, 0.32)  # m, the box of goals
MAP = (6, 4)  # columns of the height map along x and y
NEAR, FAR = 0.05, 0.3  # m: how far from the goal a lifted scoop may be, and where lifting begins to be rewarded


class Scoop(ArmToolTask):
    """An arm of seven hinges dips a scoop into a tray of sand and lifts what it takes to a goal.

    The sand is of particles, two in a cell of 16 mm (`tumble.soft.Sand`); 2 kg lie in the tray.

    Action: a velocity of the scoop and its turn, which move a wished pose (`ArmToolTask.control`).

    | index | name | low | high | meaning |
    |---|---|---|---|---|
    | 0 | x | -1 | 1 | velocity ahead / `max_speed` |
    | 1 | y | -1 | 1 | velocity to the left / `max_speed` |
    | 2 | z | -1 | 1 | velocity upwards / `max_speed` |
    | 3 | tilt | -1 | 1 | turn about y / `max_turn`; above 0 the mouth goes ahead and down |

    Observation:

    | index | name | unit | meaning |
    |---|---|---|---|
    | 0-6 | qpos[:7] | rad | the arm's hinges |
    | 7-13 | qvel[:7] | rad/s | their velocities |
    | 14-16 | scoop | m | its middle |
    | 17 | tilt | rad | 0 upright |
    | 18-21 | wish - scoop | m, rad | the way to the wished pose |
    | 22-24 | goal - scoop | m | |
    | 25 | filled | | what the scoop holds, as a share of `amount`, at most 2 |
    | 26 | spilled | | what lies beside the tray, as a share of `amount`, at most 2 |
    | 27-50 | heights | m | of the sand in the tray, in 6 columns along x of 4 along y |

    Reward:

    - `reward_reach`: 1 - tanh(distance of the mouth from the middle of the sand / 0.1 m), until the scoop is filled, in
      proportion to what is missing
    - `reward_filled`: 2 x filled x level, where filled counts up to 1 and level is (1 + cos(tilt)) / 2
    - `reward_lift`: 6 x (1 - distance of the scoop from the goal / 0.3 m), at least 0, x filled x level
    - `reward_spilled`: -spilled, at least -1
    - `reward_effort`: -`effort_weight` x |action|²

    Never ends by itself. Success: the scoop holds `amount` within 50 mm of the goal. Starts: the scoop above the tray,
    its mouth ahead, and the sand level; the sand's angle of friction is drawn from `friction_angle`.
    """

    reads: ClassVar = ("xpos", "xquat", "particles_pos")
    home: ClassVar = HOME
    low: ClassVar = (0.36, -0.12, 0.06)
    high: ClassVar = (0.58, 0.12, 0.36)
    tilts: ClassVar = (-0.4, 1.8)
    vessels: ClassVar = {
        "scoop": Vessel("tool", vessel(INNER, DEPTH, lip=0.008, wall=0.022, floor=0.024), BOTTOM, "steel", touches=True)
    }

    xml_file: str = "arm_scoop.xml"
    friction_angle: tuple[float, float] = (35.0, 45.0)  # degrees, drawn for every episode
    amount: float = 0.07  # kg
    effort_weight: float = 0.01

    def matter(self) -> TaskMatter:
        """Return a tray of sand; waves of pressure run at 3.8 m/s in it."""
        places = in_box(SAND, SPACING) + np.array((*TRAY, SAND[2] / 2 + 0.002))
        sand = Matter("sand", Sand(E=2e4, nu=0.2, rho=RHO, friction_angle=40.0), places, SPACING**3)
        return TaskMatter(
            matters=[sand],
            lower_bound=(0.2, -0.25, 0.0),
            upper_bound=(0.7, 0.25, 0.5),
            grid_density=62.5,
            dt=0.0025,
            geoms=["scoop", *(f"tray{k}" for k in range(4)), "table"],
            friction=[0.3] * 5 + [0.6],
        )

    def bind(self) -> None:
        """Make constants."""
        super().bind()
        self.mouth = self.array(MOUTH)
        self.sand = self.array((*TRAY, SAND[2] / 2))
        self.unit = RHO * SPACING**3 / self.amount  # what a particle is worth

    def reset(self, noise: Noise) -> Start:
        """Draw the goal, and the sand's friction."""
        qpos = self.arm_start(noise)
        goal, angle = draw_in_box(noise, GOAL_LOW, GOAL_HIGH), noise.uniform(*self.friction_angle, 1)[:, 0]
        inputs, parameters = {"mocap_pos": goal[:, None, :]}, {"sand.friction_angle": angle}
        return Start(qpos, 0 * qpos, {"goal": goal, "wish": 0 * qpos[:, :4]}, parameters, inputs)

    def amounts(self, state: TaskState) -> tuple[Array, Array]:
        """Return what the scoop holds and what lies beside the tray, as shares of `amount`, (n,) each."""
        xp, pos = self.xp, state.fields["particles_pos"]
        held = in_cup(self.in_tool(state, pos), INNER, BOTTOM, DEPTH + SLACK)
        beside = (abs(pos[..., 0] - TRAY[0]) > HALF[0] + 0.03) | (abs(pos[..., 1] - TRAY[1]) > HALF[1] + 0.03)
        count = [xp.sum(xp.astype(mask, xp.int64), axis=1) for mask in (held, beside & ~held)]
        return tuple(xp.astype(number, pos.dtype) * self.unit for number in count)

    def heights(self, state: TaskState) -> Array:
        """Return the heights of the sand in the tray, (n, 24) m."""
        xp, pos = self.xp, state.fields["particles_pos"]
        low, high = ([m + side * h for m, h in zip(TRAY, HALF, strict=True)] for side in (-1, 1))
        lying = xp.where(pos[..., 2:] < TOP + SLACK, pos, 0 * pos)
        return xp.reshape(height_map(lying, low, high, MAP), (-1, MAP[0] * MAP[1]))

    def observation(self, state: TaskState) -> Array:
        """Return arm, goal and sand, (n, 51)."""
        way = state.memory["goal"] - self.tool_pos(state)
        amounts = [clip(each, 0.0, 2.0)[:, None] for each in self.amounts(state)]
        return self.xp.concat((*self.arm_seen(state), way, *amounts, self.heights(state)), axis=1)

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward dipping into the sand, what the scoop holds, and bringing it to the goal."""
        state = state.remember(wish=self.wished(state, action))
        held, spilled = self.amounts(state)
        filled, level = clip(held, 0.0, 1.0), (1 + sin_cos(self.tilt(state))[1]) / 2
        distance = row_norm(state.memory["goal"] - self.tool_pos(state))
        reach = row_norm(self.sand - self.tool_point(state, self.mouth))
        terms = {
            "reward_reach": (1 - filled) * nearness(reach, 0.1),
            "reward_filled": 2 * filled * level,
            "reward_lift": 6 * clip(1 - distance / FAR, 0.0, 1.0) * filled * level,
            "reward_spilled": -clip(spilled, 0.0, 1.0),
            "reward_effort": -control_cost(action, self.effort_weight),
        }
        info = {"held": held * self.amount, "spilled": spilled * self.amount, "distance": distance}
        info["success"] = (held >= 1) & (distance < NEAR)
        return StepResult(self.observation(state), terms, info=info, memory={"wish": state.memory["wish"]})
