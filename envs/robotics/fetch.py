"""Fetch: an arm whose gripper follows a mocap body reaches, pushes, slides and lifts."""

from collections.abc import Mapping
from typing import ClassVar

import mujoco
import numpy as np

from ..arrays import Array, clip, row_norm
from ..suite.starts import first_that_fits
from ..task.noise import Noise
from ..task.task import ResetResult, Start, StepResult, TaskState
from .goal_task import GoalTask, add_marker
from .rotations import SiteVelocity, euler_of

SEEN = ("site_xpos", "site_xmat", "subtree_com", "cdof", "xpos", "xquat")
FINGERS = ("robot0:r_gripper_finger_joint", "robot0:l_gripper_finger_joint")
MOCAP = "robot0:mocap"  # the body that the gripper is welded to
SETTLING = 10  # environment steps before the first episode, in which the gripper comes to its place
TRIES = 48  # places drawn for an object; all are too near to the gripper with a probability below 1e-5
NEAR = 0.1  # m from the gripper's axis, where no object begins
DOWN = (1.0, 0.0, 1.0, 0.0)  # what is added to the mocap body's quaternion: the gripper points down


class FetchTask(GoalTask):
    """An arm moves its gripper by steps of up to 5 cm; its base and torso stand still.

    Action:

    | index | name | low | high | meaning |
    |---|---|---|---|---|
    | 0-2 | x, y, z | -1 | 1 | step of the gripper / 0.05 m |
    | 3 | gripper | -1 | 1 | target of each finger from where it is, m; no effect where the gripper is locked |

    Observation, `achieved_goal` (the object, or the grip) and `desired_goal`, 3 m each, and `observation`, without the
    rows of the object where there is none:

    | index | name | unit | meaning |
    |---|---|---|---|
    | 0-2 | grip | m | the middle between the fingers |
    | 3-5 | object | m | |
    | 6-8 | object - grip | m | |
    | 9-10 | qpos[fingers] | m | right, left |
    | 11-13 | object's angles | rad | about the moving axes x, y, z |
    | 14-16 | object's velocity - grip's | m | in an environment step |
    | 17-19 | object's angular velocity | rad | in an environment step |
    | 20-22 | grip's velocity | m | in an environment step |
    | 23-24 | qvel[fingers] | m | in an environment step |

    Reward: `reward_goal`, 0 within `threshold` of the goal, else -1; reward_type "dense": minus the distance (m).

    Starts: the gripper where it has come to from the file's pose in ten steps; an object anywhere within `object_range`
    of it along x and y but not within 10 cm; a goal within `target_range` of the gripper, on the table or in the air.
    """

    locked: ClassVar[bool] = True  # the fingers are put back to 0 after every step
    object_range: ClassVar[float] = 0.0  # m; 0: there is no object
    target_range: ClassVar[float] = 0.15  # m
    target_offset: ClassVar[float] = 0.0  # m, along x
    in_the_air: ClassVar[bool] = False  # half of the goals are up to 45 cm above the table
    height: ClassVar[float] = 0.0  # m, of the gripper above the pose that the file is made for
    base: ClassVar[float] = 0.405  # m, of the robot's base along x
    object_place: ClassVar[tuple[float, ...]] = (1.25, 0.53, 0.4, 1.0, 0.0, 0.0, 0.0)
    camera: ClassVar = {"distance": 2.5, "lookat": (1.3, 0.75, 0.55), "azimuth": 132.0, "elevation": -14.0}
    actions: ClassVar[int] = 4

    frame_skip: int = 20

    @property
    def reads(self) -> tuple[str, ...]:  # type: ignore[override]
        """Quantities of the last evaluation, which the original reads where it does not lock the fingers."""
        return () if self.locked else SEEN

    @property
    def reads_present(self) -> tuple[str, ...]:  # type: ignore[override]
        """Quantities of the state after a step, which the original evaluates again where it has locked the fingers."""
        return SEEN if self.locked else ()

    def seen(self, state: TaskState) -> Mapping[str, Array]:
        """Return the quantities that observations are made of."""
        return state.present if self.locked else state.fields

    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Weld the gripper to the mocap body without an offset, and show the goal on a body that can be placed."""
        (weld,) = spec.equalities
        weld.data[:10] = (0, 0, 0, 0, 0, 0, 1, 0, 0, 0)
        spec.delete(spec.site("target0"))
        add_marker(spec, "goal", 0.02)

    def bind(self) -> None:
        """Find the parts of the robot, and the pose in which episodes begin."""
        super().bind()
        model = self.model
        self.grip = SiteVelocity(model, "robot0:grip", self.array)
        self.thing = SiteVelocity(model, "object0", self.array) if self.object_range else None
        self.gripper = model.body("robot0:gripper_link").id
        joints = [model.joint(name) for name in FINGERS]
        self.fingers = slice(int(joints[0].qposadr[0]), int(joints[1].qposadr[0]) + 1)
        self.finger_dofs = slice(int(joints[0].dofadr[0]), int(joints[1].dofadr[0]) + 1)
        self.driven = self.indices(model.jnt_qposadr[model.actuator_trnid[:, 0]])
        self.box = int(model.joint("object0:joint").qposadr[0]) if self.object_range else None
        self.settle()

    def settle(self) -> None:
        """Find the state in which the gripper has come to its place, as MuJoCo computes it."""
        model = self.model
        data = mujoco.MjData(model)
        for name, value in (("slide0", self.base), ("slide1", 0.48), ("slide2", 0.0)):
            data.qpos[model.joint(f"robot0:{name}").qposadr] = value
        if self.box is not None:
            data.qpos[self.box : self.box + 7] = self.object_place
        mujoco.mj_forward(model, data)
        grip, hand = model.site("robot0:grip").id, int(model.body(MOCAP).mocapid[0])
        data.mocap_pos[hand] = np.array([-0.498, 0.005, -0.431 + self.height]) + data.site_xpos[grip]
        data.mocap_quat[hand] = DOWN
        mujoco.mj_step(model, data, SETTLING * self.frame_skip)
        self.start_qpos, self.start_qvel = self.doubles(data.qpos), self.doubles(data.qvel)
        self.start_grip = self.doubles(data.site_xpos[grip])
        self.table = float(data.site_xpos[model.site("object0").id, 2]) if self.box is not None else None

    def reset(self, noise: Noise) -> Start:
        """Draw the places of object and goal."""
        xp = self.xp
        goal = self.draw_goal(noise)
        qpos = self.start_qpos + 0 * goal[:, :1]
        if self.box is not None:
            offsets = noise.uniform(-self.object_range, self.object_range, 2 * TRIES)
            tries = [offsets[:, 2 * k : 2 * k + 2] for k in range(TRIES)]
            place = self.start_grip[:2] + first_that_fits(tries, [row_norm(offset) >= NEAR for offset in tries])
            qpos = xp.concat((qpos[:, : self.box], place, qpos[:, self.box + 2 :]), axis=1)
        return Start(qpos, self.start_qvel, {"goal": goal}, inputs=self.mocaps(goal=(goal, None)))

    def draw_goal(self, noise: Noise) -> Array:
        """Draw goals, (n, 3) m."""
        goal = self.start_grip + noise.uniform(-self.target_range, self.target_range, 3)
        if self.table is None:
            return goal
        height = 0 * goal[:, 2:] + self.table
        if self.in_the_air:
            chance, above = noise.uniform(0, 1, 1), noise.uniform(0, 0.45, 1)
            height = self.xp.where(chance < 0.5, height + above, height)
        return self.xp.concat((goal[:, :1] + self.target_offset, goal[:, 1:2], height), axis=1)

    def drive(self, state: TaskState, action: Array) -> dict[str, Array]:
        """Put the mocap body a step from the gripper."""
        pose = state.memory["gripper"]
        place, quat = pose[:, :3] + 0.05 * clip(action[:, :3], -1, 1), pose[:, 3:] + self.array(DOWN)
        return self.mocaps(goal=(state.memory["goal"], None), **{MOCAP: (place, quat)})

    def pose(self, state: TaskState) -> dict[str, Array]:
        """Return the memory of the gripper's pose, from which the next step goes on: (n, 7)."""
        seen = self.seen(state)
        return {"gripper": self.xp.concat((seen["xpos"][:, self.gripper], seen["xquat"][:, self.gripper]), axis=1)}

    def begin(self, state: TaskState) -> ResetResult:
        """Return the first observation, and the gripper's pose."""
        return ResetResult(self.observation(state), memory=self.pose(state))

    def control(self, state: TaskState, action: Array) -> Array:
        """Drive the fingers from where they are, if the model has actuators for them."""
        grip = clip(action[:, 3:], -1, 1) * (0.0 if self.locked else 1.0)
        return self.xp.take(state.qpos, self.driven, axis=1) + grip[:, : self.model.nu]

    def features(self, state: TaskState) -> list[Array]:
        """Return gripper and object, (n, 25), or the gripper, (n, 10)."""
        seen = self.seen(state)
        grip, (speed, _) = seen["site_xpos"][:, self.grip.site], self.grip(seen, state.qvel)
        fingers, rates = state.qpos[:, self.fingers], state.qvel[:, self.finger_dofs]
        if self.thing is None:
            return [grip, fingers, speed * self.dt, rates * self.dt]
        place = seen["site_xpos"][:, self.thing.site]
        angles = euler_of(seen["site_xmat"][:, self.thing.site])
        velocity, spin = (self.dt * part for part in self.thing(seen, state.qvel))
        speed = speed * self.dt
        return [grip, place, place - grip, fingers, angles, velocity - speed, spin, speed, rates * self.dt]

    def achieved(self, state: TaskState) -> Array:
        """Return the object's place, or the grip's."""
        return self.seen(state)["site_xpos"][:, (self.thing or self.grip).site]

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward the goal, and put locked fingers back."""
        if not self.locked:
            return super().step(state, action)._replace(memory=self.pose(state))
        first, last = self.fingers.start, self.fingers.stop
        parts = state.qpos[:, :first], 0 * state.qpos[:, first:last], state.qpos[:, last:]
        qpos = self.xp.concat(parts, axis=1)
        return super().step(state._replace(qpos=qpos), action)._replace(qpos=qpos, memory=self.pose(state))


class FetchReach(FetchTask):
    """The grip is to come to a goal in the air."""

    xml_file: str = "gymnasium_robotics:fetch/reach.xml"
    height: ClassVar[float] = 0.2
    base: ClassVar[float] = 0.4049


class FetchPush(FetchTask):
    """A cube is to be pushed to a goal on the table by a closed gripper."""

    xml_file: str = "gymnasium_robotics:fetch/push.xml"
    object_range: ClassVar[float] = 0.15


class FetchSlide(FetchTask):
    """A puck is to be hit so that it slides to a goal out of reach."""

    xml_file: str = "gymnasium_robotics:fetch/slide.xml"
    object_range: ClassVar[float] = 0.1
    target_range: ClassVar[float] = 0.3
    target_offset: ClassVar[float] = 0.4
    height: ClassVar[float] = -0.02
    base: ClassVar[float] = 0.05
    object_place: ClassVar[tuple[float, ...]] = (1.7, 1.1, 0.41, 1.0, 0.0, 0.0, 0.0)


class FetchPickAndPlace(FetchTask):
    """A cube is to be brought to a goal in the air or on the table."""

    xml_file: str = "gymnasium_robotics:fetch/pick_and_place.xml"
    locked: ClassVar[bool] = False
    object_range: ClassVar[float] = 0.15
    in_the_air: ClassVar[bool] = True
    height: ClassVar[float] = 0.2
