"""ArmPegInHole: an arm puts a peg into a hole that is 3 mm wider."""

from typing import ClassVar

from ..arrays import Array, clip, row_norm
from ..task.noise import Noise
from ..task.task import Start, StepResult, TaskState
from ..task.terms import control_cost
from .arm import JOINTS, ArmTask, nearness, places, z_axis

LENGTH = 0.05  # m, half the peg's
TOP, DEPTH = 0.05, 0.04  # m, the block's height, and how deep the peg has to be
ASIDE = 0.004  # m, a tip that is farther from the hole's axis is not in it
HOLE_LOW, HOLE_HIGH = (0.42, -0.12), (0.58, 0.12)  # m, where holes are


class ArmPegInHole(ArmTask):
    """An arm of seven hinges holds a peg of 20 x 20 x 100 mm, and puts it into a hole of 23 x 23 x 50 mm.

    The fingers stay closed.

    Action: the velocity of the grip, turned into targets of the joints' servos (`ArmTask.control`).

    | index | name | low | high | meaning |
    |---|---|---|---|---|
    | 0 | x | -1 | 1 | velocity ahead / `max_speed` |
    | 1 | y | -1 | 1 | velocity to the left / `max_speed` |
    | 2 | z | -1 | 1 | velocity upwards / `max_speed` |

    Observation:

    | index | name | unit | meaning |
    |---|---|---|---|
    | 0-6 | qpos[:7] | rad | the arm's hinges |
    | 7 | gap | m | between the pads |
    | 8-14 | qvel[:7] | rad/s | velocities of the hinges |
    | 15 | gap's rate | m/s | |
    | 16-18 | grip | m | the middle between the pads |
    | 19-21 | tip | m | the middle of the peg's lower end |
    | 22-25 | peg's xquat | | w first |
    | 26-28 | mouth - tip | m | the mouth is the middle of the hole's upper end |

    Reward, approach, alignment and depth as in IsaacLab's Factory tasks:

    - `reward_approach`: 1 - tanh(5 x distance in m from the tip to the mouth), or 1 in the hole
    - `reward_align`: 1 - tanh(distance from the tip to the hole's axis / 20 mm)
    - `reward_insert`: 3 x how deep the tip is / 40 mm, at most 3, if it is within 4 mm of the axis
    - `reward_success`: 1 with success
    - `reward_effort`: -`effort_weight` x |action|²

    Never ends by itself. Success: the tip is 40 mm deep, within 4 mm of the axis. Starts: the posture "home"; the peg
    in the grip, off its middle by up to 3 mm along the pads and 5 mm in height; holes in a box of 0.16 x 0.24 m.
    """

    grips: ClassVar = False
    camera: ClassVar = {"lookat": (0.42, 0.0, 0.15), "distance": 1.15, "azimuth": 140.0, "elevation": -18.0}

    xml_file: str = "arm_peg.xml"
    max_speed: float = 0.5  # m/s, along each axis
    effort_weight: float = 0.01

    def bind(self) -> None:
        """Find the peg."""
        super().bind()
        self.peg = self.model.body("peg").id
        self.start = self.xp.asarray(
            self.model.key("home").qpos.copy(), dtype=self.home.dtype, device=self._kind.device
        )

    def reset(self, noise: Noise) -> Start:
        """Draw the peg's place in the grip, and the hole."""
        xp = self.xp
        x, y = (noise.uniform(low, high, 1) for low, high in zip(HOLE_LOW, HOLE_HIGH, strict=True))
        along, aloft = noise.uniform(-0.003, 0.003, 1), noise.uniform(-0.005, 0.005, 1)
        zeros = xp.concat([0 * x] * (JOINTS + 2), axis=1)
        offset = xp.concat((zeros, along, 0 * x, aloft, 0 * x, 0 * x, 0 * x, 0 * x), axis=1)
        qpos, mouth = self.home + offset, xp.concat((x, y, 0 * x + TOP), axis=1)
        inputs = {"mocap_pos": places(x, y, 0 * x + TOP / 2)}
        return Start(qpos, 0 * qpos[:, 1:], {"mouth": mouth}, inputs=inputs)

    def tip(self, state: TaskState) -> Array:
        """Return the middle of the peg's lower end, (n, 3) m."""
        axis = self.xp.stack(z_axis(state.fields["xquat"][:, self.peg, :].T), axis=1)
        return state.fields["xpos"][:, self.peg, :] - LENGTH * axis

    def observation(self, state: TaskState) -> Array:
        """Return arm, peg and the way to the hole, (n, 29)."""
        tip = self.tip(state)
        parts = (tip, state.fields["xquat"][:, self.peg, :], state.memory["mouth"] - tip)
        return self.xp.concat((*self.arm_seen(state), *parts), axis=1)

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward the tip being over the hole, and its depth in it."""
        xp, offset = self.xp, state.memory["mouth"] - self.tip(state)
        aside, depth = row_norm(offset[:, :2]), offset[:, 2]
        inside = (aside < ASIDE) & (depth > 0)
        success = inside & (depth >= DEPTH)
        terms = {
            "reward_approach": xp.where(inside, 1 + 0 * aside, nearness(row_norm(offset), 0.2)),
            "reward_align": nearness(aside, 0.02),
            "reward_insert": xp.where(inside, 3 * clip(depth / DEPTH, 0.0, 1.0), 0 * depth),
            "reward_success": self.array(success),
            "reward_effort": -control_cost(action, self.effort_weight),
        }
        return StepResult(self.observation(state), terms, info={"distance": aside, "depth": depth, "success": success})
