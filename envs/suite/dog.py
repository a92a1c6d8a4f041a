"""The dog of the control suite: stand, walk, trot, run, and fetch a ball."""

import math
from functools import reduce
from operator import mul
from typing import Any, ClassVar

import mujoco
import numpy as np

from ..arrays import Array, row_norm, row_sum, sin_cos
from ..managers.frames import cross, to_local
from ..task.noise import Noise
from ..task.task import Start, StepResult, TaskState
from .legged import LeggedTask
from .rewards import tolerance

UPRIGHT, STAND_SHARE = math.cos(math.radians(30)), 0.9  # cosine; share of the height at the reference
WALLS = ("wall_px", "wall_nx", "wall_py", "wall_ny")


class SuiteDog(LeggedTask):
    """A dog of 38 motors like muscles stands, or moves ahead. Same tasks as the control suite's dog stand to run.

    Observation: `joint_angles` (73) and `joint_velocites` (73) of the hinges; `torso_pelvis_height`, m (2);
    `z_projection`, the world's z axis in the frames of skull, torso and pelvis (9); `torso_com_velocity` in the torso's
    frame (3); `inertial_sensors`, acceleration, velocity and angular velocity (9); `foot_forces`, N (12);
    `touch_sensors`, N (4); `actuator_state` (38).

    Reward, from 0 to 1, the product of

    - tolerance(height of the torso, from 9/10 of that at the reference on, margin as much), and of the pelvis
    - tolerance(cosine of the angle from upright, from 30 degrees on, linear to 0 upside down) of skull, torso, pelvis
    - tolerance(forces on the soles, from the body's weight on, margin as much, linear to 0.9)
    - with a `move_speed`: (1 + 4 tolerance(speed ahead, from it to twice as much, margin at least 1, linear to 0)) / 5

    Never ends by itself. Starts: the reference, heading anywhere, velocities along x and y and about z normal with
    deviation 2, activations evenly distributed in the ranges of the controls.
    """

    reads_present: ClassVar[tuple[str, ...]] = ("xpos", "xmat", "act", "sensordata")

    xml_file: str = "dm_control:dog.xml"
    frame_skip: int = 3
    move_speed: float = 0.0  # m/s; 0: stand
    ball: bool = False

    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Show the bones instead of the skin, which is not drawn; leave out ball and arena, and size the floor."""
        for geom in spec.geoms:
            if geom.type == mujoco.mjtGeom.mjGEOM_MESH:
                geom.group = 2
        if self.ball:
            return
        size = 15 * (self.move_speed or 1.0)
        spec.geom("floor").size = size, size, 0.1
        for part in (spec.body("ball"), spec.geom("target"), *map(spec.camera, ("ball", "head"))):
            spec.delete(part)
        for wall in WALLS:
            spec.delete(spec.geom(wall))

    def bind(self) -> None:
        """Find bodies and sensors; measure heights and weight at the reference."""
        super().bind()
        model = self.model
        self.torso, self.high = self.body("torso"), [self.body("torso"), self.body("pelvis")]
        self.straight = [self.body(name) for name in ("skull", "torso", "pelvis")]
        self.inertial = self.sensors("accelerometer", "velocimeter", "gyro")
        self.forces = self.sensors("foot_L", "foot_R", "hand_L", "hand_R")
        self.touches = self.sensors("palm_L", "palm_R", "sole_L", "sole_R")
        self.com_velocity = self.sensors("torso_linvel")
        data = self.starts.place(model.qpos0)
        self.heights = [STAND_SHARE * float(data.xpos[body, 2]) for body in self.high]
        self.weight = -float(model.opt.gravity[2]) * float(model.body_subtreemass[self.torso])
        self.low = self.doubles(model.actuator_ctrlrange[:, 0])
        self.width = self.doubles(np.ptp(model.actuator_ctrlrange, axis=1))

    def reset(self, noise: Noise) -> Start:
        """Draw heading, velocities and activations."""
        xp, (sine, cosine) = self.xp, sin_cos(noise.uniform(0, math.pi, 1))
        zeros = 0 * sine
        quat = xp.concat((cosine, zeros, zeros, sine), axis=1)
        qpos = xp.concat((zeros + self.init_qpos[:3], quat, zeros + self.init_qpos[7:]), axis=1)
        drawn = 2 * noise.normal(3)
        rest = xp.zeros_like(qpos[:, : self.model.nv - 6])
        qvel = xp.concat((drawn[:, :2], zeros, zeros, zeros, drawn[:, 2:], rest), axis=1)
        return Start(qpos, qvel, act=self.low + self.width * noise.uniform(0, 1, self.model.na))

    def ahead(self, state: TaskState) -> Array:
        """Return the velocity of the center of mass in the torso's frame, (n, 3) m/s."""
        return to_local(self.read(state, self.com_velocity), state.present["xmat"][:, self.torso, :])

    def parts(self, state: TaskState) -> dict[str, Array]:
        """Return joints, heights, turns, velocity and sensors."""
        xp, places, turns = self.xp, state.present["xpos"], state.present["xmat"]
        return {
            "joint_angles": xp.take(state.qpos, self.hinge_qpos, axis=1),
            "joint_velocites": xp.take(state.qvel, self.hinge_qvel, axis=1),
            "torso_pelvis_height": xp.stack([places[:, body, 2] for body in self.high], axis=1),
            "z_projection": xp.concat([turns[:, body, 6:9] for body in self.straight], axis=1),
            "torso_com_velocity": self.ahead(state),
            "inertial_sensors": self.read(state, self.inertial),
            "foot_forces": self.read(state, self.forces),
            "touch_sensors": self.read(state, self.touches),
            "actuator_state": state.present["act"],
        }

    def factors(self, state: TaskState) -> list[Array]:
        """Return the factors of the reward, each (n,)."""
        present, infinite = state.present, float("inf")
        linear: dict[str, Any] = {"sigmoid": "linear", "value_at_margin": 0.0}
        found = [
            tolerance(present["xpos"][:, body, 2], (height, infinite), margin=height)
            for body, height in zip(self.high, self.heights, strict=True)
        ]
        cosines = [present["xmat"][:, body, 8] for body in self.straight]
        found += [tolerance(cosine, (UPRIGHT, infinite), margin=UPRIGHT + 1, **linear) for cosine in cosines]
        force, weight = row_sum(self.read(state, self.touches)), self.weight
        found.append(tolerance(force, (weight, infinite), margin=weight, sigmoid="linear", value_at_margin=0.9))
        if self.move_speed > 0:
            bounds = self.move_speed, 2 * self.move_speed
            forward = tolerance(self.ahead(state)[:, 0], bounds, margin=max(1.0, self.move_speed), **linear)
            found.append((4 * forward + 1) / 5)
        return found

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward all factors at once."""
        return StepResult(self.observation(state), {"reward_dog": reduce(mul, self.factors(state))})


class DogFetch(SuiteDog):
    """A dog catches a ball and brings it to the middle. Same task as the control suite's dog fetch.

    Observation: as `SuiteDog`, then `ball_state`, place and velocity of the ball from the head, in its frame (6);
    `target_position` from the head, there (3).

    Reward: that of standing, times (1 + 6 reach) / 7 and (1 + bring) / 2: tolerances, reciprocal, of the distance of
    the ball from the mouth (margin 2), 1 if the ball is in the target, and of the ball from the target (margin 10).

    Starts: as `SuiteDog`; the ball flies from 7.5 m away to the middle, up to 3 m high.
    """

    reads_present: ClassVar = (
        *SuiteDog.reads_present,
        *("site_xpos", "site_xmat", "geom_xpos", "cvel", "subtree_com"),
    )

    ball: bool = True

    def bind(self) -> None:
        """Find ball, target, head and mouth."""
        super().bind()
        model = self.model
        self.ball_geom, self.target_geom = int(model.geom("ball").id), int(model.geom("target").id)
        self.ball_body, self.head_body = self.body("ball"), int(model.site("head").bodyid[0])
        self.head, self.mouth = self.site("head"), [self.site("upper_bite"), self.site("lower_bite")]
        self.bite, self.near = float(model.site("upper_bite").size[0]), float(model.geom("target").size[0])
        self.floor = float(model.geom("floor").size[0])
        self.ball_qpos = int(model.joint("ball_root").qposadr[0])
        self.ball_qvel = int(model.joint("ball_root").dofadr[0])

    def reset(self, noise: Noise) -> Start:
        """Draw the dog, and throw the ball."""
        xp, start = self.xp, super().reset(noise)
        sine, cosine = sin_cos(noise.uniform(0, 2 * math.pi, 1))
        gravity = -float(self.model.opt.gravity[2])
        upwards, speed = xp.sqrt(2 * gravity * noise.uniform(0, 3, 1)), noise.uniform(0, 5, 1)
        off = 0.05 * noise.normal(2)
        place = 0.75 * self.floor * xp.concat((sine, cosine), axis=1)
        velocity = xp.concat((speed * (off[:, :1] - sine), speed * (off[:, 1:] - cosine), upwards), axis=1)
        q, v = self.ball_qpos, self.ball_qvel
        qpos = xp.concat((start.qpos[:, :q], place, 0 * sine + 0.05, start.qpos[:, q + 3 :]), axis=1)
        return start._replace(qpos=qpos, qvel=xp.concat((start.qvel[:, :v], velocity, start.qvel[:, v + 3 :]), axis=1))

    def velocity(self, state: TaskState, body: int, point: Array) -> Array:
        """Return the velocity (n, 3) m/s of a point (n, 3) m of a body."""
        motion, root = state.present["cvel"][:, body, :], int(self.model.body_rootid[body])
        return motion[:, 3:] + cross(motion[:, :3], point - state.present["subtree_com"][:, root, :])

    def parts(self, state: TaskState) -> dict[str, Array]:
        """Return what `SuiteDog` sees, ball and target."""
        present = state.present
        ball, target = (present["geom_xpos"][:, geom, :] for geom in (self.ball_geom, self.target_geom))
        head, turn = present["site_xpos"][:, self.head, :], present["site_xmat"][:, self.head, :]
        relative = self.velocity(state, self.ball_body, ball) - self.velocity(state, self.head_body, head)
        ball_state = self.xp.concat([to_local(part, turn) for part in (ball - head, relative)], axis=1)
        return {**super().parts(state), "ball_state": ball_state, "target_position": to_local(target - head, turn)}

    def factors(self, state: TaskState) -> list[Array]:
        """Return the factors of standing, of reaching the ball, and of bringing it."""
        present = state.present
        ball, target = (present["geom_xpos"][:, geom, :] for geom in (self.ball_geom, self.target_geom))
        to_mouth = sum(row_norm(ball - present["site_xpos"][:, bite, :]) for bite in self.mouth) / 2
        to_target = row_norm(ball - target)
        reach = (6 * tolerance(to_mouth, (0, self.bite), sigmoid="reciprocal", margin=2) + 1) / 7
        bring = tolerance(to_target, (0, self.near), sigmoid="reciprocal", margin=self.floor)
        reach = self.xp.where(to_target < 2 * self.near, 0 * reach + 1, reach)
        return [*super().factors(state), reach, (bring + 1) / 2]
