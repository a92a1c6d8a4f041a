"""The planar arms of the control suite: bring a prop to a target or into a vessel; stack boxes."""

import math
from typing import ClassVar

import mujoco
import numpy as np

from ..arrays import Array, host, row_norm, sin_cos
from ..task.noise import Noise
from ..task.task import Start, StepResult, TaskState
from .elementary import log1p
from .free_starts import StartModel
from .rewards import tolerance
from .suite_task import SuiteTask

JOINTS = ("arm_root", "arm_shoulder", "arm_elbow", "arm_wrist", "finger", "fingertip", "thumb", "thumbtip")
TOUCH = ("palm_touch", "finger_touch", "thumb_touch", "fingertip_touch", "thumbtip_touch")
PROPS = {"ball", "target_ball", "cup", "peg", "target_peg", "slot"}
CLOSE = 0.01  # m
MOST_BOXES = 4  # in the model of stacker
IN_HAND, IN_TARGET = 0.1, 0.1  # how often a prop begins there


class PlanarArm(SuiteTask):
    """The base class of tasks of an arm of four hinges with two fingers, in a plane.

    Observation: `arm_pos`, sine and cosine of the eight joints (16); `arm_vel` (8); `touch`, log(1 + force in N) (5);
    then with `fully_observable` poses as x, z, w and y of the quaternion: `hand_pos`, and of the prop and of the
    target.
    """

    reads_present: ClassVar = ("xpos", "xquat", "site_xpos", "sensordata")

    frame_skip: int = 10
    fully_observable: bool = True

    def bind(self) -> None:
        """Find joints, hand and sensors."""
        model = self.model
        joints = [model.joint(name) for name in JOINTS]
        self.starts, self.hand = StartModel(self), self.body("hand")
        self.arm_qpos = self.indices([joint.qposadr[0] for joint in joints])
        self.arm_qvel = self.indices([joint.dofadr[0] for joint in joints])
        self.touch = self.sensors(*TOUCH)
        limited = model.jnt_limited.astype(bool)
        ids = [joint.id for joint in joints]
        self.ranges = [model.jnt_range[k] if limited[k] else np.array([-math.pi, math.pi]) for k in ids]

    def arm(self, noise: Noise) -> Array:
        """Draw angles of the arm's joints in their limits, with both fingers at the same angle, (n, 8)."""
        drawn = noise.uniform(0, 1, len(JOINTS))
        angles = [low + (high - low) * drawn[:, k : k + 1] for k, (low, high) in enumerate(self.ranges)]
        angles[JOINTS.index("finger")] = angles[JOINTS.index("thumb")]
        return self.xp.concat(angles, axis=1)

    def coordinates(self, joints: dict[str, Array], like: Array) -> Array:
        """Return coordinates (n, nq) with these joints, (n, 1) each; all others are the model's."""
        rest = 0 * like[:, :1]
        columns = [joints.get(self.model.joint(k).name, rest + self.init_qpos[k]) for k in range(self.model.njnt)]
        return self.xp.concat(columns, axis=1)

    def pose(self, state: TaskState, body: int) -> Array:
        """Return the planar pose of a body, (n, 4)."""
        place, quat = state.present["xpos"][:, body, :], state.present["xquat"][:, body, :]
        return self.xp.concat((place[:, ::2], quat[:, ::2]), axis=1)

    def parts(self, state: TaskState) -> dict[str, Array]:
        """Return the arm's joints and touch, and the hand."""
        xp = self.xp
        sine, cosine = sin_cos(xp.take(state.qpos, self.arm_qpos, axis=1))
        found = {
            "arm_pos": xp.reshape(xp.stack((sine, cosine), axis=-1), (-1, 2 * len(JOINTS))),
            "arm_vel": xp.take(state.qvel, self.arm_qvel, axis=1),
            "touch": log1p(self.read(state, self.touch)),
        }
        return {**found, "hand_pos": self.pose(state, self.hand)} if self.fully_observable else found

    def distance(self, state: TaskState, one: str, other: str) -> Array:
        """Return the distance between two sites, (n,) m."""
        sites = state.present["site_xpos"]
        return row_norm(sites[:, self.site(one), :] - sites[:, self.site(other), :])


class ManipulatorBring(PlanarArm):
    """An arm brings a ball or a peg to a target, or into a vessel. Same tasks as the control suite's manipulator.

    Observation: as `PlanarArm`, with `object_pos` (4), `object_vel` (3) and `target_pos` (4).

    Reward, from 0 to 1, with close(x) = tolerance(x, up to 1 cm, margin 2 cm): of a ball close(distance from the
    target); of a peg the larger of the mean of its middle's and tip's closeness to the target's, and of a third of the
    mean of closeness of its grips to the hand's.

    Never ends by itself. Starts without contacts: joints evenly in their limits, target and prop anywhere, but one time
    in ten each the prop is in the hand or in the target.
    """

    xml_file: str = "dm_control:manipulator.xml"
    peg: bool = False
    insert: bool = False

    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Leave other props out, and let episodes place the target."""
        placed = [self.vessel, self.goal] if self.insert else [self.goal]
        for name in PROPS.difference((self.prop, *placed)):
            spec.delete(spec.body(name))
        for name in placed:
            spec.body(name).mocap = True

    @property
    def prop(self) -> str:
        """The name of the body that the arm moves."""
        return "peg" if self.peg else "ball"

    @property
    def vessel(self) -> str:
        """The name of the body that it is inserted into."""
        return "slot" if self.peg else "cup"

    @property
    def goal(self) -> str:
        """The name of the target."""
        return f"target_{self.prop}"

    def bind(self) -> None:
        """Find the prop and the target."""
        super().bind()
        joints = [self.model.joint(f"{self.prop}_{axis}") for axis in "xzy"]
        self.prop_qvel = self.indices([joint.dofadr[0] for joint in joints])
        self.prop_body, self.goal_body = self.body(self.prop), self.body(self.goal)
        names = (self.goal, self.vessel) if self.insert else (self.goal,)
        bodies = sorted((int(self.model.body(name).mocapid[0]), self.body(name)) for name in names)
        self.depths = [float(self.model.body_pos[body, 1]) for _, body in bodies]

    def reset(self, noise: Noise) -> Start:
        """Draw everything until nothing touches."""
        sliding: list[Array] = []
        parts = self.starts.first_free(lambda: self._draw(noise, sliding))
        qpos, places, quats, qvel = parts
        return Start(qpos, qvel, inputs={"mocap_pos": places, "mocap_quat": quats})

    def _draw(self, noise: Noise, sliding: list[Array]) -> tuple[Array, ...]:
        """Draw coordinates, poses of target and vessel, and velocities.

        `sliding` holds the prop's last drawn x velocity: a prop that is then placed in the hand or the target keeps it,
        as in dm_control.
        """
        xp, arm = self.xp, self.arm(noise)
        target = xp.concat((noise.uniform(-0.4, 0.4, 1), noise.uniform(0.1, 0.4, 1)), axis=1)
        angle = noise.uniform(-1, 1, 1) * (math.pi / 3 if self.insert else math.pi)
        chance, anywhere = noise.uniform(0, 1, 1), noise.uniform(0, 1, 4)
        spread = xp.concat((anywhere[:, :1] - 0.5, 0.7 * anywhere[:, 1:2], 2 * math.pi * anywhere[:, 2:3]), axis=1)
        joints = {name: arm[:, k : k + 1] for k, name in enumerate(JOINTS)}
        held = self._in_hand(self.coordinates(joints, arm), chance)
        in_hand, in_target = chance < IN_HAND, (chance >= IN_HAND) & (chance < IN_HAND + IN_TARGET)
        prop = xp.where(in_hand, held, xp.where(in_target, xp.concat((target, angle), axis=1), spread))
        joints |= {f"{self.prop}_{axis}": prop[:, k : k + 1] for k, axis in enumerate("xzy")}
        speed = 10 * anywhere[:, 3:] - 5
        before = sliding[0] if sliding else 0 * speed
        sliding[:] = [xp.where(in_hand | in_target, before, speed)]
        qpos = self.coordinates(joints, arm)
        columns = [sliding[0] if k == self.prop_qvel[0] else 0 * speed for k in range(self.model.nv)]
        sine, cosine = sin_cos(angle / 2)
        count, zero = len(self.depths), 0 * sine
        places = [xp.concat((target[:, :1], zero + depth, target[:, 1:]), axis=1) for depth in self.depths]
        quats = xp.stack([xp.concat((cosine, zero, sine, zero), axis=1)] * count, axis=1)
        return qpos, xp.stack(places, axis=1), quats, xp.concat(columns, axis=1)

    def _in_hand(self, qpos: Array, chance: Array) -> Array:
        """Return the prop's coordinates in the hand, (n, 3), where the chance says that it is there."""
        found, grasp = np.zeros((len(qpos), 3)), self.site("grasp")
        for env in np.flatnonzero(host(chance)[:, 0] < IN_HAND):
            data = self.starts.place(host(qpos)[env])
            turn = data.site_xmat[grasp]
            found[env] = *data.site_xpos[grasp, ::2], math.pi - math.atan2(turn[6], turn[0])
        return self.doubles(found)

    def parts(self, state: TaskState) -> dict[str, Array]:
        """Return what `PlanarArm` sees, the prop and the target."""
        found = super().parts(state)
        if self.fully_observable:
            found["object_pos"] = self.pose(state, self.prop_body)
            found["object_vel"] = self.xp.take(state.qvel, self.prop_qvel, axis=1)
            found["target_pos"] = self.pose(state, self.goal_body)
        return found

    def close(self, state: TaskState, one: str, other: str) -> Array:
        """Return how close two sites are, from 0 to 1, (n,)."""
        return tolerance(self.distance(state, one, other), (0, CLOSE), margin=2 * CLOSE)

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward the prop near the target."""
        reward = self.close(state, self.prop, self.goal)
        if self.peg:
            bringing = (reward + self.close(state, "target_peg_tip", "peg_tip")) / 2
            grasping = (self.close(state, "peg_grasp", "grasp") + self.close(state, "peg_pinch", "pinch")) / 2
            reward = self.xp.maximum(bringing, grasping / 3)
        return StepResult(self.observation(state), {"reward_bring": reward})


class StackerStack(PlanarArm):
    """An arm stacks boxes on a target. Same tasks as the control suite's stacker.

    Observation: as `PlanarArm`, with `box_pos` (4 each), `box_vel` (3 each) and `target_pos` (2).

    Reward, from 0 to 1: tolerance(least distance of a box from the target, margin its edge) times tolerance(distance of
    the hand from it, from 10 cm on, margin 1 cm).

    Never ends by itself. Starts without contacts: joints evenly in their limits, the target on the floor as high as
    one of the boxes of a stack, boxes on the right.
    """

    xml_file: str = "dm_control:stacker.xml"
    boxes: int = 2

    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Leave other boxes out, and let episodes place the target.

        Raises:
            ValueError: the model does not have so many boxes.
        """
        if not 1 <= self.boxes <= MOST_BOXES:
            raise ValueError(f"{type(self).__name__}: boxes={self.boxes}: there are 1 to {MOST_BOXES}")
        for k in range(self.boxes, MOST_BOXES):
            spec.delete(spec.body(f"box{k}"))
        spec.body("target").mocap = True

    def bind(self) -> None:
        """Find boxes and target."""
        super().bind()
        model = self.model
        self.names = [f"box{k}" for k in range(self.boxes)]
        joints = [model.joint(f"{name}_{axis}") for name in self.names for axis in "xyz"]
        self.box_qvel = self.indices([joint.dofadr[0] for joint in joints])
        self.bodies, self.target = [self.body(name) for name in self.names], self.body("target")
        self.half, self.depth = float(model.geom("target").size[0]), float(model.body_pos[self.target, 1])

    def reset(self, noise: Noise) -> Start:
        """Draw everything until nothing touches."""
        qpos, places = self.starts.first_free(lambda: self._draw(noise))
        return Start(qpos, 0 * qpos, inputs={"mocap_pos": places})

    def _draw(self, noise: Noise) -> tuple[Array, ...]:
        """Draw coordinates, and the place of the target."""
        xp, arm = self.xp, self.arm(noise)
        floor = xp.astype(noise.integers(0, self.boxes, 1), arm.dtype)
        x = noise.uniform(-0.37, 0.37, 1)
        place = xp.concat((x, 0 * x + self.depth, self.half * (2 * floor + 1)), axis=1)
        joints = {name: arm[:, k : k + 1] for k, name in enumerate(JOINTS)}
        for name in self.names:
            joints[f"{name}_x"] = noise.uniform(0.1, 0.3, 1)
            joints[f"{name}_z"] = noise.uniform(0, 0.7, 1)
            joints[f"{name}_y"] = noise.uniform(0, 2 * math.pi, 1)
        return self.coordinates(joints, arm), place[:, None, :]

    def parts(self, state: TaskState) -> dict[str, Array]:
        """Return what `PlanarArm` sees, boxes and target."""
        found = super().parts(state)
        if self.fully_observable:
            found["box_pos"] = self.xp.concat([self.pose(state, body) for body in self.bodies], axis=1)
            found["box_vel"] = self.xp.take(state.qvel, self.box_qvel, axis=1)
            found["target_pos"] = state.present["xpos"][:, self.target, ::2]
        return found

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward a box in the target and a hand away from it."""
        distances = self.xp.stack([self.distance(state, name, "target") for name in self.names], axis=1)
        near = tolerance(self.xp.min(distances, axis=1), margin=2 * self.half)
        away = tolerance(self.distance(state, "grasp", "target"), (0.1, float("inf")), margin=CLOSE)
        return StepResult(self.observation(state), {"reward_stack": near * away})
