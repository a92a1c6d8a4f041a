"""The base of Meta-World's tasks: a Sawyer arm whose hand follows a mocap body, before a table with one thing to do.

Shapes: n environments come first. Positions are in m in the world's frame, x to the right, y away from the robot.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import gymnasium
import mujoco
import numpy as np

from ..arrays import Array, clip, host, row_norm
from ..suite.starts import first_that_fits
from ..task.noise import Noise
from ..task.task import Last, ResetResult, Start, StepResult, Task, TaskState
from .fixtures import make_mocap
from .poses import scalar_last

WELD = (0, 0, 0, 0, 0, 0, -1, 0, 0, 0, 5, 0)  # hand and mocap body in the same pose; torques count fivefold
DOWN = (1, 0, 1, 0)  # the mocap body's orientation: the gripper points down
STRIDE = 0.01  # m that an action of 1 moves the mocap body
OPEN = 0.1  # m between the open fingers
REACH = np.array([[-0.525, 0.348, -0.0525], [0.525, 1.025, 0.7]])  # m, where observations have the hand
TRIES = 48  # candidates for a start whose object and goal are to be apart; all fail with a probability below 1e-8
FRAME, OBJECTS = 18, 14  # numbers of a frame, and of the two objects in it
SETTLING = 50  # environment steps before an episode, in which the hand comes to its place
STRONGEST_FORCE = (1 << int(mujoco.mjtConDataField.mjCONDATA_FORCE), 2, 1)  # what a contact sensor reports


Vector = tuple[float, float, float]


def single(*numbers: float) -> tuple[float, ...]:
    """Return numbers as single precision has them, in which Meta-World keeps some."""
    return tuple(float(np.float32(number)) for number in numbers)


class SeenObject(NamedTuple):
    """Something that is observed as an object: its position and orientation.

    Attributes:
        place: the quantity of its position by MuJoCo's name, and the name of the body, site or geom.
        turn: the same of its orientation: "xquat" is w first, matrices become quaternions with w last; None: zeros.
        offset: added to the position, m.
    """

    place: tuple[str, str]
    turn: tuple[str, str] | None = None
    offset: Vector = (0.0, 0.0, 0.0)


class Glimpse(NamedTuple):
    """Positions and efforts that a reward is made of, each with n environments in front."""

    hand: Array  # (n, 3) as observed
    opened: Array  # (n,) distance of the fingers, 1 where they are open
    obj: Array  # (n, 3) the first object, as observed
    quat: Array  # (n, 4) its orientation, as observed
    other: Array  # (n, 3) the second object, as observed
    tcp: Array  # (n, 3) middle between the fingertips
    left: Array  # (n, 3) left pad
    right: Array  # (n, 3) right pad
    effort: Array  # (n,) of the action that closes the gripper
    target: Array  # (n, 3)
    start: Array  # (n, 3) where the object was at the start
    tcp_start: Array  # (n, 3) the middle between the fingertips at the start
    state: TaskState


class SawyerRating(NamedTuple):
    """The judgement of a moment: the reward and Meta-World's measures, each (n,), or one number for all."""

    reward: Array
    success: Array  # bool
    near_object: Array | float
    grasp_success: Array | float
    grasp_reward: Array | float
    in_place_reward: Array | float
    obj_to_target: Array | float


class SawyerTask(Task):
    """A task of Meta-World.

    Action: a step of the mocap body that the hand is welded to along x, y and z, in units of 1 cm, and the effort that
    closes the gripper; each from -1 to 1.

    Observation (39): the present frame, the frame before, and the goal's position, or zeros if it is hidden. A frame is

    | index | meaning |
    |---|---|
    | 0-2 | position of the hand, m |
    | 3 | distance of the fingers, 1: open |
    | 4-10 | position (m) and quaternion of the object; its order is w first or last as in Meta-World |
    | 11-17 | the same of a second object, if there is one |

    The reward is `unscaled_reward`, up to 10. The info has `success` and Meta-World's other measures. Nothing ends an
    episode, unless `terminate_on_success`.

    Options: `goals` are the starts to draw from, (k, numbers), as `draw_goals` makes them; None: any start in `low` to
    `high`. With `goal_choice` "random" every episode draws one; with "turn" an environment keeps its goal until
    `TaskSetEnv.sample_tasks`. With `goals_apart` environment i of n uses only goals i, i + n, i + 2n, ...
    `goal_visible` False hides the goal.
    """

    low: ClassVar[tuple[float, ...]]
    """The least numbers that a start is drawn from: the object's or a fixture's position, and often the goal's."""
    high: ClassVar[tuple[float, ...]]
    apart: ClassVar[float] = 0.0  # m, the least distance in x and y between object and goal
    hand: ClassVar[tuple[float, ...]] = (0.0, 0.6, 0.2)  # where the hand starts, m
    hand_low: ClassVar[tuple[float, ...]] = (-0.5, 0.4, 0.05)  # m, the mocap body stays above
    hand_high: ClassVar[tuple[float, ...]] = (0.5, 1.0, 0.5)
    goal_low: ClassVar[tuple[float, ...]] = ()  # m, where observations have the goal; (): as drawn, or as the hand
    goal_high: ClassVar[tuple[float, ...]] = ()
    parts: ClassVar[tuple[SeenObject, ...]]
    """The observed objects."""
    gripped: ClassVar[str] = ""
    """The geom for which contacts of both pads are asked."""
    extra_reads: ClassVar[tuple[str, ...]] = ()
    """Further quantities of the state that the reward reads."""
    camera: ClassVar = {"distance": 1.3, "lookat": (0.0, 0.68, 0.12), "azimuth": 130.0, "elevation": -28.0}

    # where things are placed: the "start" is the first three numbers that were drawn, the "goal" the last three
    height: ClassVar[float | tuple[str, str] | None] = None  # m, of the start; as that quantity has it; or as drawn
    free: ClassVar[int] = -1  # the first coordinate of a free body that is placed at the start
    lift: ClassVar[Vector] = (0.0, 0.0, 0.0)  # m, from the start to that body
    joints: ClassVar[Mapping[int, float]] = {}  # coordinates that an episode starts with, by their numbers
    stilled: ClassVar[Sequence[int]] = range(9, 15)  # velocities that are zero if coordinates are set
    fixture: ClassVar[str] = ""  # a body of the world that an episode places
    fixture_at: ClassVar[tuple[str, Vector]] = ("start", (0.0, 0.0, 0.0))  # there, and so far off, m
    fixture_keeps_height: ClassVar[bool] = False
    target_at: ClassVar[tuple[str, Any]] = (
        "goal",
        (0.0, 0.0, 0.0),
    )  # the same, or a quantity and a name, as in `SeenObject`
    extra_steps: ClassVar[int] = 0  # physics steps after the hand has come to its place
    rests_by_goal: ClassVar[bool] = False
    """True: things come to rest differently for each start, and every reset waits for that."""
    shown_early: ClassVar[bool] = False
    """True: an episode's first frame is that before the last physics step of the rest, as Meta-World shows it."""

    frame_skip: int = 5
    goals: Any = None
    goal_choice: str = "random"
    goals_apart: bool = False
    goal_visible: bool = True
    terminate_on_success: bool = False

    # -- model --------------------------------------------------------------------------------------------------------

    @property
    def reads(self) -> tuple[str, ...]:  # type: ignore[override]
        """The mocap bodies, and the forces on the pads if they are asked for."""
        return ("mocap_pos", "sensordata") if self.gripped else ("mocap_pos",)

    @property
    def reads_present(self) -> tuple[str, ...]:  # type: ignore[override]
        """Positions and orientations that observations and rewards are made of."""
        named = [pair[0] for part in self.parts for pair in (part.place, part.turn) if pair is not None]
        return tuple(dict.fromkeys(("xpos", "site_xpos", *named, *self.extra_reads)))

    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Add Meta-World's weld, and mocap bodies for what an episode places."""
        for weld in spec.equalities:
            weld.data = np.array(WELD, float)
        spec.body("mocap").pos, spec.body("mocap").quat = self.hand, DOWN
        if self.fixture:
            make_mocap(spec, self.fixture)
        marker = spec.worldbody.add_body(name="goal_marker", mocap=True)
        marker.add_geom(size=[0.012, 0, 0], contype=0, conaffinity=0, rgba=[0.1, 0.8, 0.2, 1.0])
        for pad in ("leftpad_geom", "rightpad_geom") if self.gripped else ():
            geom, kind = mujoco.mjtObj.mjOBJ_GEOM, mujoco.mjtSensor.mjSENS_CONTACT
            force = spec.add_sensor(name=pad, type=kind, objtype=geom, objname=pad, reftype=geom, refname=self.gripped)
            force.intprm[:3] = STRONGEST_FORCE

    def bind(self) -> None:
        """Look up parts of the model, and let the arm come to rest as before every episode."""
        model, mocap = self.model, self.model.body_mocapid
        self.claws = [model.body(f"{side}claw").id for side in ("right", "left")]
        self.pads = [model.body(f"{side}pad").id for side in ("left", "right")]
        self.tips = [model.site(f"{side}EndEffector").id for side in ("right", "left")]
        self.hand_body, self.hand_mocap = model.body("hand").id, mocap[model.body("mocap").id]
        self.marker = mocap[model.body("goal_marker").id]
        self.fixture_mocap = mocap[model.body(self.fixture).id] if self.fixture else -1
        self.mocap_start = self.array(np.stack([model.body_pos[mocap == i][0] for i in range(model.nmocap)]))
        self.hand_range = [self.array(bound) for bound in (self.hand_low, self.hand_high)]
        self.observed_range = [self.array(bound) for bound in self._bounds()]
        self.start_low, self.start_width = (
            self.doubles(bound) for bound in (self.low, np.subtract(self.high, self.low))
        )
        if self.goal_choice not in ("random", "turn"):
            raise ValueError(f"{type(self).__name__}: goal_choice={self.goal_choice!r}: there is 'random' and 'turn'")
        self.known_goals = None if self.goals is None else self.doubles(self._checked_goals())
        self.known_ids: dict[tuple[str, str], int] = {}
        self.vectors: dict[tuple[float, ...], Array] = {}
        self.tool, self.offsets = self.array(self.hand), [self.array(part.offset) for part in self.parts]
        self.rest = self.settled()
        self.laid = mujoco.MjData(model)  # as an episode starts, but with the fixture where the file has it
        self.laid.qpos[:], self.laid.mocap_pos[:] = self.rest.qpos, self.rest.mocap_pos
        for joint, value in self.joints.items():
            self.laid.qpos[joint] = value
        mujoco.mj_forward(model, self.laid)
        if self.shown_early:
            self.earlier = self.frame_of(self.rest) - self.frame_of(self.laid)

    def settled(self, fixture: np.ndarray | None = None) -> mujoco.MjData:
        """Return MuJoCo's data after the steps before an episode, in which the fingers open and things come to rest.

        Args:
            fixture: the position of the fixture, (3,) m; None: as the file has it.
        """
        data = mujoco.MjData(self.model)
        if fixture is not None:
            data.mocap_pos[self.fixture_mocap] = fixture
        data.ctrl[:] = (-1, 1)
        mujoco.mj_step(self.model, data, SETTLING * self.frame_skip + self.extra_steps)
        return data

    def vector(self, *numbers: float) -> Array:
        """Return a constant (numbers,), which is made once."""
        if numbers not in self.vectors:
            self.vectors[numbers] = self.array(numbers)
        return self.vectors[numbers]

    def _checked_goals(self) -> np.ndarray:
        """Return the starts to draw from, (k, numbers)."""
        goals = np.asarray(self.goals, float)
        if goals.ndim != 2 or goals.shape[1] != len(self.low) or not len(goals):
            raise ValueError(
                f"{type(self).__name__}: goals has shape {goals.shape}; needed is (k, {len(self.low)}), k starts"
            )
        return goals

    def _bounds(self) -> np.ndarray:
        """Return the least and the largest observation, (2, 39)."""
        frame = np.full((2, FRAME), [[-np.inf], [np.inf]])
        frame[:, :3], frame[:, 3] = REACH, (-1, 1)
        drawn = len(self.low) > 3
        goal = np.array(
            [
                self.goal_low or (self.low[3:] if drawn else self.hand_low),
                self.goal_high or (self.high[3:] if drawn else self.hand_high),
            ]
        )
        return np.concatenate((frame, frame, goal if self.goal_visible else 0 * goal), axis=1)

    @property
    def action_space(self) -> gymnasium.Space:
        """Steps of the hand and the gripper's effort."""
        return gymnasium.spaces.Box(-1.0, 1.0, (4,), np.float32)

    @property
    def observation_space(self) -> gymnasium.Space:
        """Two frames and the goal."""
        low, high = self._bounds()
        return gymnasium.spaces.Box(low, high, dtype=np.float64)

    # -- starts -------------------------------------------------------------------------------------------------------

    def reset(self, noise: Noise) -> Start:
        """Draw where things lie."""
        if self.known_goals is not None:
            return self.start_of(self.known_goals[noise.integers(0, len(self.known_goals), 1)[:, 0]])
        count = TRIES if self.apart else 1
        tries = [self.start_low + self.start_width * noise.uniform(0, 1, len(self.low)) for _ in range(count)]
        return self.start_of(first_that_fits(tries, [self.fits(drawn) for drawn in tries]))

    def reset_after(self, last: Last, noise: Noise) -> Start:
        """Draw where things lie, or keep to the goal whose turn it is."""
        goals, xp = self.known_goals, self.xp
        if goals is None or not (self.goals_apart or self.goal_choice == "turn"):
            return self.reset(noise)
        first, envs = (last.whole or (0, last.num_envs)) if self.goals_apart else (0, 1)
        offset = ((first + last.envs) if self.goals_apart else 0 * last.envs) % len(goals)
        count = (len(goals) - 1 - offset) // envs + 1  # goals of each environment
        if self.goal_choice == "random":
            number = xp.astype(noise.uniform(0, 1, 1)[:, 0] * count, xp.int64)
        elif "turn" in last.memory:
            number = xp.where(last.fresh, 0, last.memory["turn"])
        else:
            number = 0 * offset
        start = self.start_of(goals[offset + envs * (number % count)])
        return start._replace(memory={**start.memory, "turn": number})

    def fits(self, drawn: Array) -> Array:
        """Return True where object and goal are far enough from each other, (n,) bool."""
        return row_norm(drawn[:, :2] - drawn[:, -3:-1]) >= self.apart

    def start_of(self, drawn: Array) -> Start:
        """Return the starts of episodes with things where they were drawn, (n, numbers)."""
        drawn, n = self.array(drawn), len(drawn)
        start, goal = drawn[:, :3], drawn[:, -3:]
        if self.height is not None:
            level = self.height if isinstance(self.height, float) else self.found(self.rest, *self.height)[2]
            start = self.xp.concat((start[:, :2], 0 * start[:, 2:] + level), axis=1)
        mocap = self.xp.broadcast_to(self.mocap_start, (n, *self.mocap_start.shape)) + 0
        fixture = {"start": start, "goal": goal}[self.fixture_at[0]] + self.vector(*self.fixture_at[1])
        if self.fixture:
            columns = 2 if self.fixture_keeps_height else 3
            mocap[:, self.fixture_mocap, :columns] = fixture[:, :columns]
            fixture = mocap[:, self.fixture_mocap]
        target = self.aim(start, goal, fixture)
        mocap[:, self.marker] = target
        rests = [self.settled(place) for place in host(fixture)] if self.rests_by_goal else [self.rest]
        rows = [[rest.qpos, rest.qvel, rest.site_xpos[self.tips].sum(0) / 2] for rest in rests]
        qpos, qvel, tips = (
            self.xp.broadcast_to(self.array(np.stack(part)), (n, len(part[0]))) + 0 for part in zip(*rows, strict=True)
        )
        if self.free >= 0:
            qpos[:, self.free : self.free + 3] = start + self.vector(*self.lift)
        if self.free >= 0 or self.joints:
            qvel[:, list(self.stilled)] = 0.0
        for joint, value in self.joints.items():
            qpos[:, joint] = value
        memory = {"target": target, "start": start, "tcp_start": tips}
        return Start(qpos, qvel, {**memory, **self.notes(start, goal, fixture)}, inputs={"mocap_pos": mocap})

    def aim(self, start: Array, goal: Array, fixture: Array) -> Array:
        """Return the targets, (n, 3)."""
        what, where = self.target_at
        if what in ("start", "goal"):
            return (start if what == "start" else goal) + self.vector(*where)
        return fixture + self.beside_fixture(self.laid, what, where)

    def notes(self, start: Array, goal: Array, fixture: Array) -> Mapping[str, Array]:
        """Return what else an episode remembers; it may have another "start"."""
        return {}

    def found(self, data: mujoco.MjData, quantity: str, name: str) -> np.ndarray:
        """Return a position in MuJoCo's data, (3,)."""
        return np.array(getattr(data, quantity)[self.index(quantity, name)])

    def beside_fixture(self, data: mujoco.MjData, quantity: str, name: str) -> Array:
        """Return a position from that of the fixture, (3,)."""
        return self.array(self.found(data, quantity, name) - data.xpos[self.model.body(self.fixture).id])

    def index(self, quantity: str, name: str) -> int:
        """Return the number of a body, site or geom, whose quantity it is by MuJoCo's name."""
        if (quantity, name) not in self.known_ids:
            kind = quantity.partition("_")[0]
            thing = getattr(self.model, kind if kind in ("site", "geom") else "body")(name)
            self.known_ids[quantity, name] = int(thing.id)
        return self.known_ids[quantity, name]

    # -- steps --------------------------------------------------------------------------------------------------------

    def drive(self, state: TaskState, action: Array) -> Mapping[str, Array]:
        """Move the mocap body that the hand follows."""
        mocap = state.fields["mocap_pos"] + 0
        moved = mocap[:, self.hand_mocap] + STRIDE * clip(action[:, :3], -1.0, 1.0)
        low, high = self.hand_range
        mocap[:, self.hand_mocap] = self.xp.minimum(self.xp.maximum(moved, low), high)
        return {"mocap_pos": mocap}

    def control(self, state: TaskState, action: Array) -> Array:
        """Close the fingers by the same effort."""
        return self.xp.stack((action[:, 3], -action[:, 3]), axis=1)

    def frame(self, state: TaskState) -> Array:
        """Return what is seen now, (n, 18)."""
        present, xpos, xp = state.present, state.present["xpos"], self.xp
        right, left = self.claws
        opened = clip(row_norm(xpos[:, right] - xpos[:, left]) / OPEN, 0.0, 1.0)
        seen = [xpos[:, self.hand_body], opened[:, None]]
        zeros = xp.broadcast_to(0 * opened[:, None], (len(opened), OBJECTS))
        for part, offset in zip(self.parts, self.offsets, strict=True):
            seen.append(self.at(state, *part.place) + offset)
            if part.turn is None:
                seen.append(zeros[:, :4])
            else:
                turned = present[part.turn[0]][:, self.index(*part.turn)]
                seen.append(turned if part.turn[0] == "xquat" else scalar_last(turned))
        return xp.concat([*seen, zeros[:, 7 * len(self.parts) :]], axis=1)

    def frame_of(self, data: mujoco.MjData) -> Array:
        """Return the frame that MuJoCo's data have, (1, 18), whether or not they are evaluated at their coordinates."""
        present = {name: self.array(np.array(getattr(data, name))[None]) for name in self.reads_present}
        qpos, qvel = self.array(data.qpos[None]), self.array(data.qvel[None])
        coordinates, none = self.xp.concat((qpos, qvel), axis=1), dict[str, Array]()
        return self.frame(TaskState(coordinates, qpos, qvel, none, none, none, Noise(lambda: None), none, present))

    def at(self, state: TaskState, quantity: str, name: str) -> Array:
        """Return the position of a body, site or geom now, (n, 3)."""
        return state.present[quantity][:, self.index(quantity, name)]

    def held(self, state: TaskState) -> Array:
        """Return True where both pads press on the object that is to be gripped, (n,) bool."""
        forces = state.fields["sensordata"][:, -6:]
        return (row_norm(forces[:, :3]) > 0) & (row_norm(forces[:, 3:]) > 0)

    def observed(self, frame: Array, before: Array, target: Array) -> Array:
        """Return the observation, (n, 39), not yet within its bounds."""
        return self.xp.concat((frame, before, target if self.goal_visible else 0 * target), axis=1)

    def begin(self, state: TaskState) -> ResetResult:
        """Return the first frame twice."""
        frame = self.frame(state)
        if self.shown_early and "frame" not in state.memory:  # else a user changed the state of a running episode
            frame = frame + self.earlier
        return ResetResult(self.observed(frame, frame, state.memory["target"]), memory={"frame": frame})

    def moment(self, state: TaskState, observation: Array, action: Array) -> Glimpse:
        """Return what the reward is made of."""
        xpos, sites, memory = state.present["xpos"], state.present["site_xpos"], state.memory
        hand, opened, obj, quat, other = (
            observation[:, part] for part in (slice(0, 3), 3, slice(4, 7), slice(7, 11), slice(11, 14))
        )
        tcp = (sites[:, self.tips[0]] + sites[:, self.tips[1]]) / 2
        left, right = (xpos[:, pad] for pad in self.pads)
        kept = memory["target"], memory["start"], memory["tcp_start"]
        return Glimpse(hand, opened, obj, quat, other, tcp, left, right, action[:, 3], *kept, state)

    @abstractmethod
    def rate(self, now: Glimpse) -> SawyerRating:
        """Return the reward and the measures of a moment."""

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Judge the moment."""
        frame, memory, xp = self.frame(state), state.memory, self.xp
        low, high = self.observed_range
        observation = xp.minimum(xp.maximum(self.observed(frame, memory["frame"], memory["target"]), low), high)
        now = self.moment(state, observation, action)
        reward, success, *measures = self.rate(now)
        like = now.opened
        info = {name: self.numbers(value, like) for name, value in zip(SawyerRating._fields[2:], measures, strict=True)}
        return StepResult(
            observation,
            {"unscaled_reward": reward},
            terminated=success if self.terminate_on_success else None,
            info={"success": success, **info},
            memory={"frame": frame, **self.later(now)},
        )

    def later(self, now: Glimpse) -> Mapping[str, Array]:
        """Return memory that a step changes."""
        return {}

    def numbers(self, value: Array | float, like: Array) -> Array:
        """Return a measure as numbers (n,) of the type of others: masks as 0 and 1, one number for all repeated."""
        if isinstance(value, float | int):
            return 0 * like + value
        return self.xp.astype(value, like.dtype)
