"""ArmStackCubes: an arm builds a tower of two or three cubes."""

import math
from functools import reduce
from operator import add

from ..arrays import Array, clip, row_norm
from ..managers.frames import quat_from_yaw
from ..task.noise import Noise
from ..task.task import Start, StepResult, TaskState
from ..task.terms import control_cost
from .arm import HALF, ArmTask, nearness

AHEAD = (0.44, 0.56)  # m, where cubes start along x
SPACING = {2: 0.2, 3: 0.14}  # m, between the middles of their strips along y
JITTER = {2: 0.04, 3: 0.02}  # m, how far they start from these middles
XML = {2: "arm_stack.xml", 3: "arm_stack_three.xml"}
ASIDE, ALOFT = math.sqrt(2) * HALF + 0.005, 0.005  # m, how far a stacked cube may be from its place
STILL_LINEAR, STILL_ANGULAR = 0.01, 0.5  # m/s, rad/s, of a stacked cube
CLEARANCE, BESIDE = 0.04, 0.03  # m: a held cube passes this far above its place, until it is this near to it
STAGES = 8.0  # reward of a stacked cube, before all is divided by that of all


class ArmStackCubes(ArmTask):
    """An arm of seven hinges stacks cubes of 40 mm in their order: red below, blue on it, then yellow.

    Action: the velocity of the grip, turned into targets of the joints' servos (`ArmTask.control`), and the fingers.

    | index | name | low | high | meaning |
    |---|---|---|---|---|
    | 0 | x | -1 | 1 | velocity ahead / `max_speed` |
    | 1 | y | -1 | 1 | velocity to the left / `max_speed` |
    | 2 | z | -1 | 1 | velocity upwards / `max_speed` |
    | 3 | gripper | -1 | 1 | target of each finger, from 10 mm beyond closed to 40 mm open |

    Observation:

    | index | name | unit | meaning |
    |---|---|---|---|
    | 0-6 | qpos[:7] | rad | the arm's hinges |
    | 7 | gap | m | between the pads |
    | 8-14 | qvel[:7] | rad/s | velocities of the hinges |
    | 15 | gap's rate | m/s | |
    | 16-18 | grip | m | the middle between the pads |
    | 19-21 | cube 0 | m | the lowest |
    | 22-25 | its xquat | | w first |
    | 26-28 | cube 1 | m | |
    | 29-32 | its xquat | | w first |
    | 33-35 | next cube - grip | m | the next cube is the first that is not stacked, or the last |
    | 36-38 | place - next cube | m | its place is on the cube before it |
    | 39 | holding | | 1 if the closed pads have the next cube between them |
    | 40 | stacked | | how many cubes are stacked |

    With `num_cubes=3` place and xquat of cube 2 follow the ones of cube 1.

    Reward, the stages of ManiSkill's StackCube for every cube, divided by 8 x (cubes - 1):

    - `reward_stacked`: 8 for every stacked cube
    - `reward_next`: of the next cube 2 x (1 - tanh(5 x distance in m from the grip to it)); while it is held
      4 + 1 - (tanh(d / 0.2 m) + tanh(d / 0.03 m)) / 2, d the distance from it to its place, where 40 mm are added to
      the place's height, in proportion below 30 mm along the table: the way leads over the lower cube, not against its
      side; once it lies in its place 5 + 2 x release + rest, where release is (1 + the action's last number) / 2 while
      it is held, so that every wish to open counts, else 1, and rest 1 - tanh(10 x its speed in m/s + its turn in
      rad/s)
    - `reward_effort`: -`effort_weight` x |action|²

    A cube is stacked if the cube before it is stacked and it lies on that cube (within 33 mm along the table and 5 mm
    in height),
    slower than 0.01 m/s and 0.5 rad/s, and is not held. Success: all are stacked. Never ends by itself. Starts: each
    cube, turned anyhow, in a separate strip, in any order of the strips.
    """

    xml_file: str = "arm_stack.xml"
    num_cubes: int = 2
    effort_weight: float = 0.002

    def __post_init__(self) -> None:
        """Choose the file with as many cubes.

        Raises:
            ValueError: no such number of cubes.
        """
        super().__post_init__()
        if self.num_cubes not in XML:
            raise ValueError(f"ArmStackCubes: num_cubes is {self.num_cubes}; there are towers of 2 and 3 cubes")
        if self.xml_file in XML.values():
            self.xml_file = XML[self.num_cubes]

    def bind(self) -> None:
        """Find the cubes."""
        super().bind()
        self.cubes = [self.model.body(f"cube{k}").id for k in range(self.num_cubes)]

    def reset(self, noise: Noise) -> Start:
        """Draw posture and cubes."""
        xp, count, arm = self.xp, self.num_cubes, self.arm_start(noise)
        x, jitter = noise.uniform(*AHEAD, count), noise.uniform(-JITTER[count], JITTER[count], count)
        turns, lots = noise.uniform(-math.pi, math.pi, count), noise.uniform(0, 1, count)
        parts = [arm]
        for k in range(count):
            lot = lots[:, k : k + 1]
            strip = reduce(add, (xp.astype(lots[:, i : i + 1] < lot, arm.dtype) for i in range(count)))
            y = SPACING[count] * (strip - (count - 1) / 2) + jitter[:, k : k + 1]
            parts += [x[:, k : k + 1], y, 0 * y + HALF, quat_from_yaw(turns[:, k])]
        qpos = xp.concat(parts, axis=1)
        return Start(qpos, 0 * qpos[:, count:])

    def cube_pos(self, state: TaskState, k: int) -> Array:
        """Return where cube k is, (n, 3) m."""
        return state.fields["xpos"][:, self.cubes[k], :]

    def velocities(self, state: TaskState, k: int) -> tuple[Array, Array]:
        """Return the speeds of cube k, (n,) m/s and (n,) rad/s."""
        first = 9 + 6 * k
        return row_norm(state.qvel[:, first : first + 3]), row_norm(state.qvel[:, first + 3 : first + 6])

    def offset_to_goal(self, state: TaskState, k: int) -> Array:
        """Return the offset from cube k to its place on the one before, (n, 3) m."""
        offset = self.cube_pos(state, k - 1) - self.cube_pos(state, k)
        return self.xp.concat((offset[:, :2], offset[:, 2:] + 2 * HALF), axis=1)

    def in_place(self, state: TaskState, k: int) -> Array:
        """Return True where cube k is where it should be, (n,) bool."""
        offset = self.offset_to_goal(state, k)
        return (row_norm(offset[:, :2]) <= ASIDE) & (offset[:, 2] <= ALOFT) & (offset[:, 2] >= -ALOFT)

    def stacked(self, state: TaskState) -> Array:
        """Return how many cubes are stacked, (n,)."""
        count, all_before = 0 * state.qpos[:, 0], None
        for k in range(1, self.num_cubes):
            linear, angular = self.velocities(state, k)
            done = self.in_place(state, k) & (linear <= STILL_LINEAR) & (angular <= STILL_ANGULAR)
            done = done & ~self.is_holding(state, self.cube_pos(state, k))
            all_before = done if all_before is None else all_before & done
            count = count + self.array(all_before)
        return count

    def next_cube(self, state: TaskState, stacked: Array) -> tuple[Array, ...]:
        """Return of the first cube that is not stacked, or the last: place, offset, held, in place, both its speeds."""
        about = self._about(state, 1)
        for k in range(2, self.num_cubes):
            next_is_k = stacked >= k - 1
            about = [
                self.xp.where(next_is_k[:, None] if new.ndim == 2 else next_is_k, new, old)
                for new, old in zip(self._about(state, k), about, strict=True)
            ]
        return tuple(about)

    def _about(self, state: TaskState, k: int) -> list[Array]:
        """Return the observations of cube k, as `next_cube` does."""
        pos = self.cube_pos(state, k)
        held, there = self.array(self.is_holding(state, pos)), self.in_place(state, k)
        return [pos, self.offset_to_goal(state, k), held, there, *self.velocities(state, k)]

    def observation(self, state: TaskState) -> Array:
        """Return the observations of arm, cubes and the next cube, (n, 27 + 7 num_cubes)."""
        cubes = [
            part
            for k in range(self.num_cubes)
            for part in (self.cube_pos(state, k), state.qpos[:, 12 + 7 * k : 16 + 7 * k])
        ]
        stacked = self.stacked(state)
        pos, offset, held, *_ = self.next_cube(state, stacked)
        ahead = (pos - self.grip(state), offset, held[:, None], stacked[:, None])
        return self.xp.concat((*self.arm_seen(state), *cubes, *ahead), axis=1)

    def stage(self, state: TaskState, stacked: Array, action: Array) -> Array:
        """Return how far the next cube has come, (n,) in [0, 8)."""
        xp = self.xp
        pos, offset, held, there, linear, angular = self.next_cube(state, stacked)
        lift = CLEARANCE * clip(row_norm(offset[:, :2]) / BESIDE, 0.0, 1.0)
        over = xp.concat((offset[:, :2], offset[:, 2:] + lift[:, None]), axis=1)
        reach, left = nearness(row_norm(pos - self.grip(state)), 0.2), row_norm(over)
        place = (nearness(left, 0.2) + nearness(left, 0.03)) / 2
        release = xp.where(held > 0, (1 + clip(action[:, 3], -1.0, 1.0)) / 2, 1 + 0 * held)
        rest = nearness(10 * linear + angular, 1.0)
        stage = xp.where(held > 0, 4 + place, 2 * reach)
        stage = xp.where(there, 5 + 2 * release + rest, stage)
        return xp.where(stacked >= self.num_cubes - 1, 0 * stage, stage)

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward stacked cubes and the progress of the next one."""
        stacked = self.stacked(state)
        most = STAGES * (self.num_cubes - 1)
        terms = {
            "reward_stacked": STAGES / most * stacked,
            "reward_next": self.stage(state, stacked, action) / most,
            "reward_effort": -control_cost(action, self.effort_weight),
        }
        _, offset, held, *_ = self.next_cube(state, stacked)
        info = {
            "distance": row_norm(offset),
            "holding": held,
            "stacked": stacked,
            "success": stacked >= self.num_cubes - 1,
        }
        return StepResult(self.observation(state), terms, info=info)
