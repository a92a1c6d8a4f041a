"""The Shadow hand: its fingertips come to places, and it turns a block, an egg and a pen."""

import math
from itertools import product
from typing import Any, ClassVar

import mujoco
import numpy as np

from ..arrays import Array, clip, namespace, row_norm
from ..managers.frames import atan2, quat_conj, quat_mul
from ..task.noise import Noise
from ..task.task import ResetResult, Start, TaskState
from .goal_task import GoalTask, add_marker
from .rotations import euler_of, mat_of, quat_about, quat_of_euler

TIPS = tuple(f"robot0:S_{finger}tip" for finger in ("ff", "mf", "rf", "lf", "th"))
THUMB = 4  # its number among the tips
COLOURS = ((1, 0, 0, 1), (0, 1, 0, 1), (0, 0, 1, 1), (1, 1, 0, 1), (1, 0, 1, 1))
REACH_POSE = {
    "WRJ1": -0.16514339750464327,
    "WRJ0": -0.31973286565062153,
    "FFJ3": 0.14340512546557435,
    "FFJ2": 0.32028208333591573,
    "FFJ1": 0.7126053607727917,
    "FFJ0": 0.6705281001412586,
    "MFJ3": 0.000246444303701037,
    "MFJ2": 0.3152655251085491,
    "MFJ1": 0.7659800313729842,
    "MFJ0": 0.7323156897425923,
    "RFJ3": 0.00038520700007378114,
    "RFJ2": 0.36743546201985233,
    "RFJ1": 0.7119514095008576,
    "RFJ0": 0.6699446327514138,
    "LFJ4": 0.0525442258033891,
    "LFJ3": -0.13615534724474673,
    "LFJ2": 0.39872030433433003,
    "LFJ1": 0.7415570009679252,
    "LFJ0": 0.704096378652974,
    "THJ4": 0.003673823825070126,
    "THJ3": 0.5506291436028695,
    "THJ2": -0.014515151997119306,
    "THJ1": -0.0015229223564485414,
    "THJ0": -0.7894883021600622,
}
"""The joints of the hand at the start of HandReach, rad."""
JOINTS = len(REACH_POSE)  # of the hand, the first coordinates of the models
THING = slice(JOINTS, JOINTS + 7)  # the coordinates of the thing in the hand
SETTLING = 10  # environment steps in which a thing comes to rest on the palm
TRIALS = 100  # the most trials for each of the settled starts
ON_THE_PALM = 0.04  # m, the least height of a thing that is
TARGET_RANGE = ((-0.04, -0.06, 0.0), (0.04, 0.02, 0.06))  # m, of goals from the thing's start, least and greatest
ROTATIONS = ("ignore", "fixed", "xyz", "z", "parallel")
POSITIONS = ("ignore", "fixed", "random")
TOUCH = ("off", "boolean", "sensordata")


class HandTask(GoalTask):
    """A hand of 24 joints: 20 motors drive 20 of them to angles, tendons couple the other four to these.

    Action: the target of each motor, from -1 at the lower to 1 at the upper end of its range.
    """

    camera: ClassVar = {"distance": 0.5, "lookat": (1.0, 0.96, 0.14), "azimuth": 55.0, "elevation": -25.0}

    threshold: float = 0.01  # m
    frame_skip: int = 20


class HandReach(HandTask):
    """The tips of the thumb and of a finger are to meet above the palm, the other tips to stay where they are.

    Observations, `achieved_goal` and `desired_goal` (15 m: five tips), and `observation`: joints (24 rad), their
    velocities (24 rad/s), and the tips (15 m). The distance between goals is that of all 15 numbers.

    Starts from one pose. Goals: in one episode of ten the tips of this pose; else the thumb and a finger drawn evenly
    are to come within 5 mm of a point, normal with a deviation of 5 mm.
    """

    reads: ClassVar = ("site_xpos",)

    xml_file: str = "gymnasium_robotics:hand/reach.xml"

    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Show the goals on mocap bodies."""
        for k, colour in enumerate(COLOURS):
            spec.delete(spec.site(f"target{k}"))
            spec.delete(spec.site(f"finger{k}"))
            add_marker(spec, f"target{k}", 0.005, colour)

    def bind(self) -> None:
        """Find the start, and where its tips and palm are."""
        super().bind()
        model = self.model
        data = mujoco.MjData(model)
        for name, angle in REACH_POSE.items():
            data.qpos[model.joint(f"robot0:{name}").qposadr] = angle
        mujoco.mj_forward(model, data)
        sites = [model.site(name).id for name in TIPS]
        self.tips = self.indices(sites)
        self.start_qpos, self.start_tips = self.doubles(data.qpos), self.doubles(data.site_xpos[sites])
        self.palm = self.doubles(data.body("robot0:palm").xpos)

    def reset(self, noise: Noise) -> Start:
        """Draw the goal."""
        xp = self.xp
        finger, at_rest = noise.integers(0, THUMB, 1), noise.uniform(0, 1, 1) < 0.1
        meeting = self.palm + self.doubles((0.0, -0.09, 0.05)) + 0.005 * noise.normal(3)
        goals = []
        for k in range(len(TIPS)):
            tip = self.start_tips[k] + 0 * meeting
            way = meeting - tip
            there = meeting - 0.005 * way / row_norm(way)[:, None]
            stays = at_rest if k == THUMB else at_rest | (finger != k)
            goals.append(xp.where(stays, tip, there))
        qpos = self.start_qpos + 0 * meeting[:, :1]
        shown = self.mocaps(**{f"target{k}": (goal, None) for k, goal in enumerate(goals)})
        return Start(qpos, xp.zeros_like(qpos), {"goal": xp.concat(goals, axis=1)}, inputs=shown)

    def achieved(self, state: TaskState) -> Array:
        """Return the places of the tips, (n, 15) m."""
        tips = self.xp.take(state.fields["site_xpos"], self.tips, axis=1)
        return self.xp.reshape(tips, (tips.shape[0], -1))

    def features(self, state: TaskState) -> list[Array]:
        """Return joints, velocities and tips, (n, 63)."""
        return [state.coordinates, self.achieved(state)]


class HandManipulate(HandTask):
    """A thing on the palm is to be brought to a place and an orientation.

    Observations, `achieved_goal` and `desired_goal` (place, m, and quaternion, w first), and `observation`: joints (24
    rad), their velocities (24 rad/s), the thing's velocities (6 m/s, rad/s), its place and quaternion, and with `touch`
    the readings of 92 sensors: 1 where one is touched ("boolean"), or its force in N ("sensordata").

    Reward: `reward_goal`, 0 within `threshold` of the goal's place and `rotation_threshold` of its orientation, else
    -1; reward_type "dense": -(10 x distance / m + angle / rad). `target_position` says what counts of the place, and
    where goals lie: "ignore", "fixed" (where the thing is) or "random" (up to 6 cm from it). `target_rotation` says it
    of the orientation: "ignore", "fixed", "z" (any turn about z), "parallel" (that, and right angles), "xyz" (any).

    Starts: one of `settled_starts` states, in which the thing was dropped onto the palm and came to rest in ten steps.
    """

    any_rotation: ClassVar[bool] = True  # the thing is dropped in orientations of the kind that goals have
    ignores_z: ClassVar[bool] = False  # the last of its Euler angles does not count

    rotation_threshold: float = 0.1  # rad
    target_position: str = "random"
    target_rotation: str = "xyz"
    touch: str = "off"
    settled_starts: int = 48

    def __post_init__(self) -> None:
        """Check the options that have a few values.

        Raises:
            ValueError: an option has another value.
        """
        super().__post_init__()
        for name, known in (("target_position", POSITIONS), ("target_rotation", ROTATIONS), ("touch", TOUCH)):
            if getattr(self, name) not in known:
                raise ValueError(f"{type(self).__name__}: {name}={getattr(self, name)!r}; known are {', '.join(known)}")

    @property
    def reads(self) -> tuple[str, ...]:  # type: ignore[override]
        """The sensors, if they are observed."""
        return () if self.touch == "off" else ("sensordata",)

    @property
    def model_file(self) -> str:
        """The file with the sensors, if they are observed."""
        return self.xml_file if self.touch == "off" else self.xml_file.replace(".xml", "_touch_sensors.xml")

    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Show the goal on a mocap body, in place of a body that falls."""
        spec.delete(spec.joint("target:joint"))
        spec.body("target").mocap = True

    def bind(self) -> None:
        """Find the sensors, and let things settle on the palm."""
        super().bind()
        model = self.model
        names = [model.sensor(k).name for k in range(model.nsensor)]
        sensors = [int(model.sensor(name).adr[0]) for name in names if name.startswith("robot0:TS_")]
        self.sensors = self.indices(sensors)
        self.right_angles = self.doubles(right_angles())
        states = settled(self, self.settled_starts)
        self.settled_qpos, self.settled_qvel, readings = (self.doubles(part) for part in states)
        self.settled_touch = self.xp.take(readings, self.sensors, axis=1)

    def turns(self, noise: Noise, kind: str) -> Array:
        """Draw rotations of a kind, (n, 4)."""
        angle, axis = noise.uniform(-math.pi, math.pi, 1), noise.uniform(-1, 1, 3)
        if kind == "xyz":
            return quat_about(axis, angle)
        turn = quat_about(0 * axis + self.doubles((0.0, 0.0, 1.0)), angle)
        if kind == "z":
            return turn
        return quat_mul(turn, self.right_angles[noise.integers(0, len(self.right_angles), 1)[:, 0]])

    def reset(self, noise: Noise) -> Start:
        """Draw a start and a goal."""
        xp = self.xp
        chosen = noise.integers(0, self.settled_starts, 1)[:, 0]
        qpos, qvel = self.settled_qpos[chosen], self.settled_qvel[chosen]
        place, quat = qpos[:, THING][:, :3], qpos[:, THING][:, 3:]
        if self.target_position == "random":
            low, high = (self.doubles(bound) for bound in TARGET_RANGE)
            place = place + low + (high - low) * noise.uniform(0, 1, 3)
        if self.target_rotation in ("xyz", "z", "parallel"):
            quat = self.turns(noise, self.target_rotation)
        quat = quat / row_norm(quat)[:, None]
        aside = self.doubles((0.15, 0.0, 0.0)) * (self.target_position == "ignore")
        shown = self.mocaps(target=(place + aside, quat))
        memory = {"goal": xp.concat((place, quat), axis=1)}
        if self.touch != "off":
            memory["first_touch"] = self.settled_touch[chosen]
        return Start(qpos, qvel, memory, inputs=shown)

    def begin(self, state: TaskState) -> ResetResult:
        """Return the first observation; the sensors read as at the end of settling, when the motors held the hand."""
        seen = self.observation(state)
        if self.touch != "off":
            first = self.felt(self.array(state.memory["first_touch"]))
            without = seen["observation"][:, : -first.shape[1]]
            seen["observation"] = self.xp.concat((without, first), axis=1)
        return ResetResult(seen)

    def felt(self, forces: Array) -> Array:
        """Return the readings of the sensors (n, 92), as forces in N or 1 where one is touched."""
        return self.array(forces > 0) if self.touch == "boolean" else forces

    def achieved(self, state: TaskState) -> Array:
        """Return place and quaternion of the thing, (n, 7)."""
        return state.qpos[:, THING]

    def features(self, state: TaskState) -> list[Array]:
        """Return hand and thing, (n, 61), and the sensors, (n, 92)."""
        parts = [state.qpos[:, :JOINTS], state.qvel, self.achieved(state)]
        if self.touch == "off":
            return parts
        return [*parts, self.felt(self.xp.take(state.fields["sensordata"], self.sensors, axis=1))]

    def gaps(self, achieved: Any, desired: Any) -> tuple[Any, Any]:
        """Return the distances between goals (..., 7) that count: (...) m and (...) rad."""
        far = row_norm(achieved[..., :3] - desired[..., :3])
        far = 0 * far if self.target_position == "ignore" else far
        if self.target_rotation == "ignore":
            return far, 0 * far
        xp, ours, theirs = namespace(achieved), achieved[..., 3:], desired[..., 3:]
        if self.ignores_z:
            angles = [euler_of(mat_of(quat)) for quat in (ours, theirs)]
            ours = quat_of_euler(xp.concat((angles[0][..., :2], angles[1][..., 2:]), axis=-1))
        cosine = clip(quat_mul(ours, quat_conj(theirs))[..., 0], -1, 1)
        return far, 2 * atan2(xp.sqrt((1 - cosine) * (1 + cosine)), cosine)

    def apart(self, achieved: Any, desired: Any) -> Any:
        """Return how far goals are apart: 10 x distance / m + angle / rad."""
        far, turned = self.gaps(achieved, desired)
        return 10 * far + turned

    def reached(self, achieved: Any, desired: Any) -> Any:
        """Return True where place and orientation are reached."""
        far, turned = self.gaps(achieved, desired)
        return (far < self.threshold) & (turned < self.rotation_threshold)


class HandManipulateBlock(HandManipulate):
    """A cube of 5 cm is to be turned in the hand."""

    xml_file: str = "gymnasium_robotics:hand/manipulate_block.xml"


class HandManipulateEgg(HandManipulate):
    """An egg of 8 cm is to be turned in the hand."""

    xml_file: str = "gymnasium_robotics:hand/manipulate_egg.xml"


class HandManipulatePen(HandManipulate):
    """A pen of 20 cm is to be turned in the hand; its turn about its own axis does not count."""

    any_rotation: ClassVar[bool] = False
    ignores_z: ClassVar[bool] = True

    xml_file: str = "gymnasium_robotics:hand/manipulate_pen.xml"
    threshold: float = 0.05  # m


def right_angles() -> np.ndarray:
    """Return the 24 rotations by right angles about the axes, (24, 4)."""
    found: dict[tuple[int, ...], np.ndarray] = {}
    for turns in product((0, 1, -1, 2), repeat=3):
        quat = quat_of_euler(np.array(turns, np.float64) * (math.pi / 2))
        x, y, z = (int(k) for k in np.round(euler_of(mat_of(quat)) / (math.pi / 2)))
        canonical = 2 if x == -2 else x, y, 2 if z == -2 else z
        found.setdefault(canonical, quat_of_euler(np.array(canonical, np.float64) * (math.pi / 2)))
    return np.array(list(found.values()))


def settled(task: HandManipulate, count: int) -> tuple[np.ndarray, ...]:
    """Return states in which a thing has come to rest on the palm, as MuJoCo finds them.

    They are qpos (count, nq), qvel (count, nv), and the readings of the sensors (count, nsensordata). The generator's
    seed is fixed, so that every process finds the same states.

    Raises:
        ValueError: no start is asked for.
        RuntimeError: in most of the trials the thing fell from the palm.
    """
    if count < 1:
        raise ValueError(f"{type(task).__name__}: settled_starts={count}: one or more are needed")
    model, found = task.model, list[tuple[np.ndarray, ...]]()
    rng, data = np.random.default_rng(0), mujoco.MjData(model)
    turns = right_angles()
    for _ in range(TRIALS * count):
        mujoco.mj_resetData(model, data)
        if task.any_rotation and task.target_rotation != "fixed":
            angle, axis = rng.uniform(-math.pi, math.pi, (1, 1)), rng.uniform(-1, 1, (1, 3))
            upright = task.target_rotation in ("z", "parallel")
            turn = quat_about(np.array([[0.0, 0.0, 1.0]]) if upright else axis, angle)
            if task.target_rotation == "parallel":
                turn = quat_mul(turn, turns[rng.integers(len(turns))][None])
            data.qpos[THING][3:] = quat_mul(data.qpos[THING][None, 3:], turn)[0]
        if task.target_position != "fixed":
            data.qpos[THING][:3] += rng.normal(0, 0.005, 3)
        data.ctrl[:] = model.actuator_ctrlrange.mean(axis=1)
        mujoco.mj_step(model, data, SETTLING * task.frame_skip)
        if data.qpos[THING][2] > ON_THE_PALM:
            mujoco.mj_forward(model, data)
            found.append((data.qpos.copy(), data.qvel.copy(), data.sensordata.copy()))
        if len(found) == count:
            break
    else:
        raise RuntimeError(f"{type(task).__name__}: only {len(found)} of {count} starts came to rest on the palm")
    return tuple(np.array(part) for part in zip(*found, strict=True))
