"""Pour: an arm pours the liquid of one cup into another."""

from typing import ClassVar

import numpy as np

from ...soft import Liquid, Matter
from ...soft.mpm.sampling import in_cylinder
from ..arrays import Array, clip, row_norm
from ..task.matter import TaskMatter
from ..task.noise import Noise
from ..task.particles import centroid, in_cup, share, spread
from ..task.task import Start, StepResult, TaskState
from ..task.terms import control_cost
from .arm import draw_in_box, nearness
from .arm_tool import ArmToolTask
from .vessels import Vessel, vessel

HOME = (-0.858121, 0.320292, 0.154987, -2.194697, 0.943365, 1.208126, -1.82678)  # rad
START = (0.4, 0.0, 0.27)  # m, where the held cup is then: see `test_pour.py`
INNER, DEPTH, BOTTOM = 0.045, 0.08, -0.04  # m: radius, depth and floor of the held cup, in its frame
CUP_INNER, CUP_DEPTH, CUP_BOTTOM = 0.055, 0.08, 0.031  # m: those of the cup on the table
LIP = (0.045, 0.0, 0.04)  # m, the middle of the lip, in the held cup's frame
SLACK = 0.012  # m: walls stop particles about half a cell before them, and a heap may be as much higher than a cup
GOAL_LOW, GOAL_HIGH = (0.6, -0.08), (0.68, 0.08)  # m, where the cup on the table stands
SPACING = 0.0102  # m, of particles
RIM = CUP_BOTTOM + CUP_DEPTH  # m, height of the cup on the table
ABOVE = 0.05  # m: the lip is led to so far above it
TIPPED = 1.8  # rad, a tilt at which a cup is empty


class Pour(ArmToolTask):
    """An arm of seven hinges pours 0.3 kg of liquid into a cup that stands elsewhere in every episode.

    The liquid is of particles, of which 8 fill a cell of 20 mm (`tumble.soft.Liquid`).

    Action: a velocity of the held cup and its turn, which move a wished pose (`ArmToolTask.control`).

    | index | name | low | high | meaning |
    |---|---|---|---|---|
    | 0 | x | -1 | 1 | velocity ahead / `max_speed` |
    | 1 | y | -1 | 1 | velocity to the left / `max_speed` |
    | 2 | z | -1 | 1 | velocity upwards / `max_speed` |
    | 3 | tilt | -1 | 1 | turn about y / `max_turn`; above 0 it pours ahead |

    Observation:

    | index | name | unit | meaning |
    |---|---|---|---|
    | 0-6 | qpos[:7] | rad | the arm's hinges |
    | 7-13 | qvel[:7] | rad/s | their velocities |
    | 14-16 | cup | m | the middle of the held cup |
    | 17 | tilt | rad | 0 upright |
    | 18-21 | wish - cup | m, rad | the way to the wished pose |
    | 22-24 | goal - lip | m | from the lip to the point 50 mm above the cup on the table |
    | 25-27 | centroid - lip | m | of the liquid |
    | 28-30 | spread | m | standard deviations of the liquid along x, y, z |
    | 31 | held | | share of the liquid that is in the held cup |
    | 32 | poured | | share in the cup on the table |
    | 33 | spilled | | share that is in no cup, and lower than the rim of that on the table |

    Reward:

    - `reward_poured`: 4 x poured
    - `reward_reach`: 1 - tanh(distance of the lip from its goal / 0.2 m)
    - `reward_tilt`: (1 - tanh(that distance / 0.1 m)) x tilt / 1.8 rad, which counts from 0 to 1
    - `reward_spilled`: -2 x spilled
    - `reward_effort`: -`effort_weight` x |action|²

    Never ends by itself. Success: `enough` of the liquid is in the cup on the table. Starts: the held cup is filled to
    50 mm; the other one stands in a box of 80 x 160 mm ahead; the liquid is as thick as `viscosity` says.
    """

    reads: ClassVar = ("xpos", "xquat", "particles_pos")
    home: ClassVar = HOME
    vessels: ClassVar = {
        "held": Vessel("tool", vessel(INNER, DEPTH, lip=0.012, wall=0.028, floor=0.031), BOTTOM, "clay"),
        "cup": Vessel("cup", vessel(CUP_INNER, CUP_DEPTH, lip=0.014, wall=0.026, floor=0.031), CUP_BOTTOM, "glaze"),
    }

    xml_file: str = "arm_pour.xml"
    viscosity: tuple[float, float] = (0.0, 2.0)  # Pa s, drawn for every episode
    enough: float = 0.8
    effort_weight: float = 0.01

    def matter(self) -> TaskMatter:
        """Return a cup of liquid; waves of pressure run at 3.2 m/s in it."""
        places = in_cylinder(INNER - 0.007, 0.05, SPACING) + np.array(START) + (0, 0, BOTTOM + 0.025 + 0.008)
        liquid = Matter("liquid", Liquid(E=1.2e4, nu=0.35, viscosity=0.0), places, SPACING**3)
        walls = [f"{cup}_wall{k}" for cup in ("held", "cup") for k in range(8)]
        return TaskMatter(
            matters=[liquid],
            lower_bound=(0.2, -0.3, 0.0),
            upper_bound=(0.9, 0.3, 0.6),
            grid_density=50,
            dt=0.00125,
            geoms=[*walls, "held_floor", "cup_floor", "table"],
            friction=[0.1] * 18 + [0.6],
            looks={"liquid": {"rgba": (0.16, 0.47, 0.78, 1.0)}},
        )

    def bind(self) -> None:
        """Make constants."""
        super().bind()
        self.lip = self.array(LIP)
        self.above = self.array((0.0, 0.0, RIM + ABOVE))

    def reset(self, noise: Noise) -> Start:
        """Draw the place of the cup on the table, and the viscosity."""
        qpos = self.arm_start(noise)
        place = draw_in_box(noise, GOAL_LOW, GOAL_HIGH)
        goal = self.xp.concat((place, 0 * place[:, :1]), axis=1)
        thick = noise.uniform(*self.viscosity, 1)[:, 0]
        inputs, parameters = {"mocap_pos": goal[:, None, :]}, {"liquid.viscosity": thick}
        memory = {"goal": goal, "wish": 0 * qpos[:, :4]}
        return Start(qpos, 0 * qpos, memory, parameters, inputs)

    def shares(self, state: TaskState) -> tuple[Array, Array, Array]:
        """Return the shares of the liquid that are held, poured and spilled, (n,) each."""
        pos = state.fields["particles_pos"]
        held = in_cup(self.in_tool(state, pos), INNER + SLACK, BOTTOM - SLACK, DEPTH + 2 * SLACK)
        local = pos - state.memory["goal"][:, None, :]
        poured = in_cup(local, CUP_INNER + SLACK, CUP_BOTTOM - SLACK, CUP_DEPTH + 2 * SLACK) & ~held
        spilled = (pos[..., 2] < RIM) & ~held & ~poured
        return share(held, pos), share(poured, pos), share(spilled, pos)

    def way(self, state: TaskState) -> Array:
        """Return the way from the lip to its goal, (n, 3) m."""
        return state.memory["goal"] + self.above - self.tool_point(state, self.lip)

    def observation(self, state: TaskState) -> Array:
        """Return arm, cups and liquid, (n, 34)."""
        pos = state.fields["particles_pos"]
        liquid = centroid(pos) - self.tool_point(state, self.lip)
        shares = [each[:, None] for each in self.shares(state)]
        return self.xp.concat((*self.arm_seen(state), self.way(state), liquid, spread(pos), *shares), axis=1)

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward liquid in the cup and the lip above it, penalize liquid on the table."""
        state = state.remember(wish=self.wished(state, action))
        held, poured, spilled = self.shares(state)
        distance = row_norm(self.way(state))
        terms = {
            "reward_poured": 4 * poured,
            "reward_reach": nearness(distance, 0.2),
            "reward_tilt": nearness(distance, 0.1) * clip(self.tilt(state) / TIPPED, 0.0, 1.0),
            "reward_spilled": -2 * spilled,
            "reward_effort": -control_cost(action, self.effort_weight),
        }
        info = {"held": held, "poured": poured, "spilled": spilled, "distance": distance}
        info["success"] = poured >= self.enough
        return StepResult(self.observation(state), terms, info=info, memory={"wish": state.memory["wish"]})
