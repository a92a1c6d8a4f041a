"""The swimmers of the control suite: a chain of links swims its nose to a target in a viscous plane."""

from typing import ClassVar

import mujoco

from ..arrays import Array, row_norm
from ..managers.frames import to_local
from ..task.noise import Noise
from ..task.task import Start, StepResult, TaskState
from .rewards import tolerance
from .starts import JointRanges
from .suite_task import SuiteTask, to_mocap

NEAR, FAR, OFTEN = 0.3, 2.0, 0.2  # m, half the edges of the boxes that targets are drawn in; how often it is the first


class SuiteSwimmer(SuiteTask):
    """A chain of `links` swims to a target. Same tasks as the control suite's swimmer6 and swimmer15.

    Observation: `joints` (links - 1); `to_target`, from the nose to the target along x and y of the head (2);
    `body_velocities`, of each link along its x and y, and about z (3 links).

    Reward: `reward_target`, from 0 to 1, tolerance(distance from the nose to the target, up to its radius of 0.1 m,
    margin 0.5, long tail). `success` is a nose in the target.

    Never ends by itself. Starts: at rest, joints evenly distributed in their limits, the head turned by any angle.
    """

    reads_present: ClassVar = ("geom_xpos", "xmat", "sensordata")

    xml_file: str = "dm_control:swimmer.xml"
    frame_skip: int = 15
    links: int = 6

    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Hang the links on the head, with a joint, a motor and two sensors each.

        Raises:
            ValueError: there are fewer than three links.
        """
        if self.links < 3:
            raise ValueError(f"{type(self).__name__}: links={self.links}: a swimmer has 3 or more")
        parent, limit = spec.body("head"), 360 / self.links
        joint, visual, inertial = (spec.find_default(name) for name in ("swimmer", "visual", "inertial"))
        for k in range(self.links - 1):
            parent = parent.add_body(name=f"segment_{k}", pos=(0, 0.1, 0))
            parent.add_geom(visual, name=f"visual_{k}")
            parent.add_geom(inertial, name=f"inertial_{k}")
            parent.add_site(joint, name=f"site_{k}")
            parent.add_joint(joint, name=f"joint_{k}", range=(-limit, limit))
            motor = spec.add_actuator(name=f"motor_{k}", target=f"joint_{k}", trntype=mujoco.mjtTrn.mjTRN_JOINT)
            motor.set_to_motor()
            for kind, sensor in (("velocimeter", "mjSENS_VELOCIMETER"), ("gyro", "mjSENS_GYRO")):
                where = {"objtype": mujoco.mjtObj.mjOBJ_SITE, "objname": f"site_{k}"}
                spec.add_sensor(name=f"{kind}_{k}", type=getattr(mujoco.mjtSensor, sensor), **where)
        for camera in spec.cameras:
            if camera.mode == mujoco.mjtCamLight.mjCAMLIGHT_TRACKCOM:
                camera.pos = camera.pos * self.links / 6
        to_mocap(spec, "target")

    def bind(self) -> None:
        """Find the nose, the head, and the columns of velocities."""
        self.ranges = JointRanges(self)
        self.nose, self.head = int(self.model.geom("nose").id), self.body("head")
        self.height, self.radius = float(self.model.body("target").pos[2]), float(self.model.geom("target").size[0])
        names = [name for k in range(self.links - 1) for name in (f"velocimeter_{k}", f"gyro_{k}")]
        columns = self.sensors("head_vel", "head_gyro", *names)
        self.velocities = self.xp.reshape(self.xp.reshape(columns, (-1, 6))[:, [0, 1, 5]], (-1,))

    def reset(self, noise: Noise) -> Start:
        """Draw the joints and the target."""
        xp, qpos = self.xp, self.ranges.draw(noise)
        size = xp.where(noise.uniform(0, 1, 1) < OFTEN, NEAR + 0 * qpos[:, :1], FAR + 0 * qpos[:, :1])
        target = xp.concat((size * noise.uniform(-1, 1, 2), 0 * size + self.height), axis=1)
        return Start(qpos, 0 * qpos, {"target": target}, inputs={"mocap_pos": target[:, None, :]})

    def parts(self, state: TaskState) -> dict[str, Array]:
        """Return joints, the offset to the target, velocities."""
        offset = state.memory["target"] - state.present["geom_xpos"][:, self.nose, :]
        to_target = to_local(offset, state.present["xmat"][:, self.head, :])[:, :2]
        velocities = self.read(state, self.velocities)
        return {"joints": state.qpos[:, 3:], "to_target": to_target, "body_velocities": velocities}

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward a nose near the target."""
        features, first = self.features(state), self.links - 1
        distance = row_norm(features[:, first : first + 2])
        near = tolerance(distance, (0.0, self.radius), margin=5 * self.radius, sigmoid="long_tail")
        info = {"distance": distance, "success": distance <= self.radius}
        return StepResult(self.seen(state, features), {"reward_target": near}, info=info)
