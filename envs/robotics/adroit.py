"""Adroit: a hand of 24 joints on an arm opens a door, hammers a nail, turns a pen and carries a ball."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import mujoco
import numpy as np

from ..arrays import Array, clip, row_norm, row_sum
from ..task.noise import Noise
from ..task.task import Start, StepResult, TaskState
from .goal_task import RoboticsTask, add_marker
from .rotations import euler_of, mat_of, quat_of_euler

WRIST, FINGERS = ("A_WRJ1", "A_WRJ0"), ("A_FFJ3", "A_THJ0")  # first and last actuator of each
STRENGTH = {WRIST: 10.0, FINGERS: 1.0}  # N m/rad, in place of the file's
LIFTED = 0.04  # m, the height above which an object is off the table


class AdroitTask(RoboticsTask):
    """A hand whose joints are driven to angles within the ranges of its actuators.

    Action: the target of each joint, from -1 at the lower to 1 at the upper end of its range.

    Reward: with reward_type "dense" the terms of the task; with "sparse" `reward_goal`, 10 at the goal and -0.1
    elsewhere. `success` is in the info. Never ends by itself.
    """

    reads: ClassVar[Sequence[str]] = ("site_xpos", "xpos")
    placed: ClassVar[str] = ""  # a fixed body that an episode places
    camera: ClassVar = {"distance": 1.5, "azimuth": 90.0}

    reward_type: str = "dense"
    frame_skip: int = 5

    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Give the actuators their strength, and make what an episode places a mocap body."""
        names = [actuator.name for actuator in spec.actuators]
        for (first, last), strength in STRENGTH.items():
            for name in names[names.index(first) : names.index(last) + 1]:
                actuator = spec.actuator(name)
                actuator.gainprm[:3], actuator.biasprm[:3] = (strength, 0, 0), (0, -strength, 0)
        if self.placed:
            spec.body(self.placed).mocap = True

    def bind(self) -> None:
        """Find the sites and bodies that the task is about."""
        super().bind()
        model = self.model
        self.sites = {model.site(k).name: k for k in range(model.nsite)}
        self.bodies = {model.body(k).name: k for k in range(model.nbody)}

    def site(self, state: TaskState, name: str) -> Array:
        """Return the place of a site, (n, 3) m."""
        return state.fields["site_xpos"][:, self.sites[name]]

    def body(self, state: TaskState, name: str) -> Array:
        """Return the place of a body, (n, 3) m."""
        return state.fields["xpos"][:, self.bodies[name]]

    def start(self, noise: Noise, low: tuple[float, ...], high: tuple[float, ...]) -> tuple[Array, Array]:
        """Return the reference positions, (n, nq), and numbers (n, k) drawn between bounds (k,)."""
        drawn = noise.uniform(0, 1, len(low))
        columns = [low[k] + (high[k] - low[k]) * drawn[:, k : k + 1] for k in range(len(low))]
        return self.init_qpos + 0 * drawn[:, :1], self.xp.concat(columns, axis=1)

    @abstractmethod
    def success(self, state: TaskState) -> Array:
        """Return True at the goal, (n,) bool."""

    @abstractmethod
    def terms(self, state: TaskState) -> dict[str, Array]:
        """Return the terms of the dense reward, each (n,)."""

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward the goal, or what leads to it."""
        success = self.success(state)
        terms = {"reward_goal": 10.1 * self.array(success) - 0.1} if self.reward_type == "sparse" else self.terms(state)
        return StepResult(self.observation(state), terms, info={"success": success})


class AdroitHandDoor(AdroitTask):
    """A latch is to be turned and a door to be opened to 1.35 rad.

    Observation: joints but the arm's first, latch, hinge (27 and 2 rad), palm, handle, palm - handle (m), and 1 or -1
    for a door that is open beyond 1 rad or not. Starts: the door anywhere in a box of 10 cm by 10 cm by 9.8 cm.

    Dense reward: `reward_reach`, 0.1 x distance from palm to handle; `reward_open`, -0.1 x (hinge - 1.57)²;
    `reward_speed`, -1e-5 x |qvel|²; `reward_bonus`, 2, 10 or 20 beyond 0.2, 1 or 1.35 rad.
    """

    placed: ClassVar[str] = "frame"

    xml_file: str = "gymnasium_robotics:adroit_hand/adroit_door.xml"

    def reset(self, noise: Noise) -> Start:
        """Draw the place of the door's frame."""
        qpos, place = self.start(noise, (-0.3, 0.25, 0.252), (-0.2, 0.35, 0.35))
        return Start(qpos, 0 * qpos, inputs=self.mocaps(frame=(place, None)))

    def hinge(self, state: TaskState) -> Array:
        """Return the angle of the door, (n,) rad."""
        return state.qpos[:, -2]

    def observation(self, state: TaskState) -> Array:
        """Return hand, door and handle, (n, 39)."""
        qpos, palm, handle = state.qpos, self.site(state, "S_grasp"), self.site(state, "S_handle")
        opened = 2 * self.array(self.hinge(state) > 1.0)[:, None] - 1
        parts = (qpos[:, 1:-2], qpos[:, -1:], qpos[:, -2:-1], palm, handle, palm - handle, opened)
        return self.xp.concat(parts, axis=1)

    def success(self, state: TaskState) -> Array:
        """Return True where the door is open."""
        return self.hinge(state) >= 1.35

    def terms(self, state: TaskState) -> dict[str, Array]:
        """Reward an open door."""
        hinge, way = self.hinge(state), self.site(state, "S_grasp") - self.site(state, "S_handle")
        bonus = 2 * self.array(hinge > 0.2) + 8 * self.array(hinge > 1.0) + 10 * self.array(hinge > 1.35)
        return {
            "reward_reach": 0.1 * row_norm(way),
            "reward_open": -0.1 * (hinge - 1.57) * (hinge - 1.57),
            "reward_speed": -1e-5 * row_sum(state.qvel * state.qvel),
            "reward_bonus": bonus,
        }


class AdroitHandHammer(AdroitTask):
    """A hammer is to be picked up and a nail to be driven into a board.

    Observation: joints (26 rad, and the nail's coordinate, m), the hammer's velocities (clipped to 1), palm (m), hammer
    (m, rad), nail (m), and the force on the nail, clipped to 1. Starts: the board between 10 and 25 cm high.

    Dense reward: `reward_reach`, 0.1 x distance from palm to hammer; `reward_aim`, -distance from its head to the nail;
    `reward_drive`, -10 x the nail's way; `reward_speed`, -0.01 x |qvel|; `reward_lift`, 2 for a hammer off the table;
    `reward_bonus`, 25 or 100 for a nail within 2 or 1 cm.
    """

    reads: ClassVar = ("site_xpos", "xpos", "xquat", "sensordata")
    placed: ClassVar[str] = "nail_board"
    camera: ClassVar = {"distance": 2.0, "azimuth": 45.0}

    xml_file: str = "gymnasium_robotics:adroit_hand/adroit_hammer.xml"

    def bind(self) -> None:
        """Find the sensor of the nail too."""
        super().bind()
        self.sensor = int(self.model.sensor("S_nail").adr[0])

    def reset(self, noise: Noise) -> Start:
        """Draw the height of the board."""
        qpos, height = self.start(noise, (0.1,), (0.25,))
        x, y = (float(self.model.body_pos[self.bodies["nail_board"], k]) for k in range(2))
        place = self.xp.concat((0 * height + x, 0 * height + y, height), axis=1)
        return Start(qpos, 0 * qpos, inputs=self.mocaps(nail_board=(place, None)))

    def observation(self, state: TaskState) -> Array:
        """Return hand, hammer and nail, (n, 46)."""
        angles = euler_of(mat_of(state.fields["xquat"][:, self.bodies["Object"]]))
        impact = clip(state.fields["sensordata"][:, self.sensor : self.sensor + 1], -1, 1)
        places = (self.site(state, "S_grasp"), self.body(state, "Object"), angles, self.site(state, "S_target"))
        return self.xp.concat((state.qpos[:, :-6], clip(state.qvel[:, -6:], -1, 1), *places, impact), axis=1)

    def rest(self, state: TaskState) -> Array:
        """Return the way that the nail has still to go, (n,) m."""
        return row_norm(self.site(state, "S_target") - self.site(state, "nail_goal"))

    def success(self, state: TaskState) -> Array:
        """Return True where the nail is in the board."""
        return self.rest(state) < 0.01

    def terms(self, state: TaskState) -> dict[str, Array]:
        """Reward a nail in the board."""
        palm, head, nail = (self.site(state, name) for name in ("S_grasp", "tool", "S_target"))
        hammer, rest = self.body(state, "Object"), self.rest(state)
        lifted = (hammer[:, 2] > LIFTED) & (head[:, 2] > LIFTED)
        return {
            "reward_reach": 0.1 * row_norm(palm - hammer),
            "reward_aim": -row_norm(head - nail),
            "reward_drive": -10 * rest,
            "reward_speed": -0.01 * row_norm(state.qvel),
            "reward_lift": 2 * self.array(lifted),
            "reward_bonus": 25 * self.array(rest < 0.02) + 75 * self.array(rest < 0.01),
        }


class AdroitHandPen(AdroitTask):
    """A pen is to be turned in the hand until it points as the target does.

    Observation: joints (24 rad), pen (m), its velocities (m/s, rad/s), directions of pen and target, pen - place (m),
    and the difference of the directions. Starts: the target turned by up to 1 rad about x and about y.

    Dense reward: `reward_place`, -distance from the pen to its place (m); `reward_turn`, the cosine between pen and
    target; `reward_bonus`, 10 or 60 within 7.5 cm and above 0.9 or 0.95; `reward_drop`, -5 below a height of 7.5 cm.
    """

    placed: ClassVar[str] = "target"
    camera: ClassVar = {"distance": 1.0, "azimuth": -45.0}

    xml_file: str = "gymnasium_robotics:adroit_hand/adroit_pen.xml"

    def bind(self) -> None:
        """Find the lengths of pen and target too."""
        super().bind()
        ends = self.model.site_pos
        self.lengths = {
            thing: float(np.linalg.norm(ends[self.sites[f"{thing}_top"]] - ends[self.sites[f"{thing}_bottom"]]))
            for thing in ("object", "target")
        }

    def reset(self, noise: Noise) -> Start:
        """Draw the direction of the target."""
        qpos, angles = self.start(noise, (-1, -1), (1, 1))
        quat = quat_of_euler(self.xp.concat((angles, 0 * angles[:, :1]), axis=1))
        return Start(qpos, 0 * qpos, inputs=self.mocaps(target=(None, quat)))

    def direction(self, state: TaskState, thing: str) -> Array:
        """Return the direction of pen or target, (n, 3)."""
        return (self.site(state, f"{thing}_top") - self.site(state, f"{thing}_bottom")) / self.lengths[thing]

    def away(self, state: TaskState) -> Array:
        """Return the way from the pen's place to the pen, (n, 3) m."""
        return self.body(state, "Object") - self.site(state, "eps_ball")

    def observation(self, state: TaskState) -> Array:
        """Return hand, pen and target, (n, 45)."""
        pen, target = (self.direction(state, thing) for thing in ("object", "target"))
        things = self.body(state, "Object"), state.qvel[:, -6:], pen, target, self.away(state), pen - target
        return self.xp.concat((state.qpos[:, :-6], *things), axis=1)

    def fit(self, state: TaskState) -> tuple[Array, Array]:
        """Return how far the pen is from its place, and the cosine between pen and target, (n,) each."""
        cosine = row_sum(self.direction(state, "object") * self.direction(state, "target"))
        return row_norm(self.away(state)), cosine

    def success(self, state: TaskState) -> Array:
        """Return True where the pen points as the target does."""
        far, cosine = self.fit(state)
        return (far < 0.075) & (cosine > 0.95)

    def terms(self, state: TaskState) -> dict[str, Array]:
        """Reward a pen that points as the target does."""
        (far, cosine), dropped = self.fit(state), self.body(state, "Object")[:, 2] < 0.075
        near = far < 0.075
        return {
            "reward_place": -far,
            "reward_turn": cosine,
            "reward_bonus": 10 * self.array(near & (cosine > 0.9)) + 50 * self.array(near & (cosine > 0.95)),
            "reward_drop": -5 * self.array(dropped),
        }


class AdroitHandRelocate(AdroitTask):
    """A ball is to be carried to a place in the air.

    Observation: joints (30 m and rad), palm - ball, palm - target, ball - target (m). Starts: the ball within 30 cm by
    45 cm of the table, the target in a box of 40 cm by 40 cm by 20 cm above it.

    Dense reward: `reward_reach`, 0.1 x distance from palm to ball; for a ball off the table `reward_lift`, 1, and
    `reward_carry`, -0.5 x the distances of palm and ball from the target; `reward_bonus`, 10 or 30 within 10 or 5 cm.
    """

    camera: ClassVar = {"distance": 1.5, "azimuth": 90.0}

    xml_file: str = "gymnasium_robotics:adroit_hand/adroit_relocate.xml"

    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Show the target on a mocap body."""
        super().edit_spec(spec)
        spec.delete(spec.site("target"))
        add_marker(spec, "target", 0.07, (0.0, 1.0, 0.0, 0.125))

    def reset(self, noise: Noise) -> Start:
        """Draw the places of ball and target; the ball's are coordinates of its slides."""
        qpos, drawn = self.start(noise, (-0.15, -0.15, -0.2, -0.2, 0.15), (0.15, 0.3, 0.2, 0.2, 0.35))
        qpos = self.xp.concat((qpos[:, :-6], drawn[:, :2], qpos[:, -4:]), axis=1)
        target = drawn[:, 2:]
        return Start(qpos, 0 * qpos, {"target": target}, inputs=self.mocaps(target=(target, None)))

    def ways(self, state: TaskState) -> tuple[Array, Array, Array]:
        """Return palm - ball, palm - target and ball - target, (n, 3) m each."""
        palm, ball, target = self.site(state, "S_grasp"), self.body(state, "Object"), self.array(state.memory["target"])
        return palm - ball, palm - target, ball - target

    def observation(self, state: TaskState) -> Array:
        """Return hand, ball and target, (n, 39)."""
        return self.xp.concat((state.qpos[:, :-6], *self.ways(state)), axis=1)

    def success(self, state: TaskState) -> Array:
        """Return True where the ball is within 10 cm of the target."""
        return row_norm(self.ways(state)[2]) < 0.1

    def terms(self, state: TaskState) -> dict[str, Array]:
        """Reward a ball at the target."""
        reach, palm, ball = (row_norm(way) for way in self.ways(state))
        lifted = self.array(self.body(state, "Object")[:, 2] > LIFTED)
        return {
            "reward_reach": 0.1 * reach,
            "reward_lift": lifted,
            "reward_carry": -0.5 * lifted * (palm + ball),
            "reward_bonus": 10 * self.array(ball < 0.1) + 20 * self.array(ball < 0.05),
        }
