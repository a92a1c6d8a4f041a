"""The quadruped of the control suite: walk, run, climb out of a bowl, fetch a ball."""

import math
from typing import TYPE_CHECKING, Any, ClassVar

import mujoco
import numpy as np
import torch

from ..arrays import Array, exp, row_norm, sin_cos
from ..managers.frames import to_local
from ..task.noise import Noise
from ..task.task import Start, StepResult, TaskState
from .elementary import arcsinh
from .legged import LeggedTask
from .rewards import tolerance

if TYPE_CHECKING:
    from ...physics import Model

WALLS = ("wall_px", "wall_py", "wall_nx", "wall_ny")
SMOOTHNESS, BUMP = 0.15, 2.0  # of the bowl: the least height of a bump as a share; m, from bump to bump
_S = mujoco.mjtSensor


class QuadrupedMove(LeggedTask):
    """A quadruped gets up and moves forward. Same tasks as the control suite's quadruped walk and run.

    Observation: `egocentric_state`, hinges' positions (16) and velocities (16), activations (12); `torso_velocity` in
    its frame (3); `torso_upright`, the cosine of its angle from upright; `imu`, acceleration and angular velocity (6);
    `force_torque`, arcsinh of forces in N and torques in N m at the toes (24).

    Reward, from 0 to 1: (1 + torso_upright) / 2 times tolerance(speed ahead, from `move_speed` on, margin as much,
    linear to 0.5).

    Never ends by itself. Starts: at rest, turned in any way, the least height in steps of 1 cm with no contact.
    """

    reads_present: ClassVar = ("xpos", "xmat", "site_xpos", "act", "sensordata")

    xml_file: str = "dm_control:quadruped.xml"
    frame_skip: int = 4
    move_speed: float = 0.5  # m/s
    floor_size: float = 0.0  # m, half an edge; 0: as far as it can go at `move_speed`
    upright_within: float = 0.0  # degrees from upright that are worth 1

    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Leave out what the task does not have, and size the floor."""
        self.leave_out(spec, terrain=True, ball=True)
        size = self.floor_size or 20 * self.move_speed
        spec.geom("floor").size = size, size, 0.5

    @staticmethod
    def leave_out(spec: mujoco.MjSpec, terrain: bool, ball: bool) -> None:
        """Delete the terrain with the range finders, or the ball with walls and target."""
        gone = [spec.geom("terrain")] if terrain else []
        gone += [each for each in spec.sensors if each.type == _S.mjSENS_RANGEFINDER] if terrain else []
        gone += [*map(spec.geom, WALLS), spec.body("ball"), spec.site("target")] if ball else []
        for part in gone:
            spec.delete(part)

    def bind(self) -> None:
        """Find bodies, and columns of sensors."""
        super().bind()
        self.torso, self.workspace = self.body("torso"), self.site("workspace")
        self.velocity = self.sensors("velocimeter")
        self.imu = self.sensors_of(_S.mjSENS_GYRO, _S.mjSENS_ACCELEROMETER)
        self.force_torque = self.sensors_of(_S.mjSENS_FORCE, _S.mjSENS_TORQUE)
        self.least = math.cos(math.radians(self.upright_within))

    def sensors_of(self, *kinds: int) -> Array:
        """Return the columns of all sensors of some types, in the model's order."""
        chosen = np.flatnonzero(np.isin(self.model.sensor_type, [int(kind) for kind in kinds]))
        return self.sensors(*(self.model.sensor(k).name for k in chosen))

    def reset(self, noise: Noise) -> Start:
        """Draw the turn, and find the height."""
        quat = noise.normal(4)
        qpos = self.starts.lowest_free(self.standing(quat / row_norm(quat)[:, None]))
        return Start(qpos, self.xp.zeros_like(qpos[:, : self.model.nv]))

    def standing(self, quat: Array, place: Array | None = None) -> Array:
        """Return coordinates (n, nq) with the torso turned (n, 4), at a place (n, 2) m or in the middle."""
        place = 0 * quat[:, :2] if place is None else place
        rest = 0 * quat[:, :1] + self.init_qpos[7:]
        return self.xp.concat((place, 0 * quat[:, :1], quat, rest), axis=1)

    def parts(self, state: TaskState) -> dict[str, Array]:
        """Return joints, velocity, uprightness and sensors."""
        xp = self.xp
        joints = xp.take(state.qpos, self.hinge_qpos, axis=1), xp.take(state.qvel, self.hinge_qvel, axis=1)
        return {
            "egocentric_state": xp.concat((*joints, state.present["act"]), axis=1),
            "torso_velocity": self.read(state, self.velocity),
            "torso_upright": state.present["xmat"][:, self.torso, 8],
            "imu": self.read(state, self.imu),
            "force_torque": arcsinh(self.read(state, self.force_torque)),
        }

    def upright(self, state: TaskState) -> Array:
        """Return how upright the torso is, from 0 to 1, (n,)."""
        cosine, bounds = state.present["xmat"][:, self.torso, 8], (self.least, float("inf"))
        return tolerance(cosine, bounds, sigmoid="linear", margin=1 + self.least, value_at_margin=0)

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward moving upright."""
        speed, goal = self.read(state, self.velocity)[:, 0], self.move_speed
        move = tolerance(speed, (goal, float("inf")), margin=goal, value_at_margin=0.5, sigmoid="linear")
        terms = {"reward_move": self.upright(state) * move}
        return StepResult(self.observation(state), terms, info={"speed": speed})

    def local(self, state: TaskState, vector: Array) -> Array:
        """Return vectors (n, 3) of the world in the torso's frame."""
        return to_local(vector, state.present["xmat"][:, self.torso, :])


class QuadrupedEscape(QuadrupedMove):
    """A quadruped climbs out of a bumpy bowl. Same task as the control suite's quadruped escape.

    Observation: as `QuadrupedMove`, then `origin`, the bowl's middle in the torso's frame (3); `rangefinder`, tanh of
    20 distances in m, 1 where a ray hits nothing.

    Reward: as for `QuadrupedMove`, with `upright_within` 20 degrees, times tolerance(distance of the workspace from the
    origin, from 30 m on, margin 30, linear to 0).

    The bumps are those of `terrain_seed` in all environments and episodes; the suite draws them for every episode.
    """

    floor_size: float = 40.0
    upright_within: float = 20.0
    terrain_seed: int = 0

    def load_model(self, **options: Any) -> "Model":
        """Load the model; contacts with the bowl are MuJoCo's unless `hfield` says otherwise."""
        return super().load_model(**{"hfield": "mujoco", **options})

    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Shape the bowl."""
        self.leave_out(spec, terrain=False, ball=True)
        spec.geom("floor").size = self.floor_size, self.floor_size, 0.5
        field = spec.hfield("terrain")
        heights = bowl(int(field.nrow), 2 * float(field.size[0]), self.terrain_seed)
        # the compiler makes the lowest 0 and the highest 1
        low, span = heights.min(), np.ptp(heights)
        spec.geom("terrain").pos[2] += low * field.size[2]
        field.size = *field.size[:2], span * field.size[2], field.size[3]
        field.userdata = heights.ravel()

    def bind(self) -> None:
        """Find the rays."""
        super().bind()
        self.rays_found, self.radius = self.sensors_of(_S.mjSENS_RANGEFINDER), float(self.model.hfield_size[0, 0])

    def parts(self, state: TaskState) -> dict[str, Array]:
        """Return what `QuadrupedMove` sees, and the bowl."""
        rays = self.read(state, self.rays_found)
        falling = exp(-2 * abs(rays))
        return {
            **super().parts(state),
            "origin": self.local(state, -state.present["xpos"][:, self.torso, :]),
            "rangefinder": self.xp.where(rays == -1.0, 0 * rays + 1, (1 - falling) / (1 + falling)),
        }

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward the distance from the middle."""
        distance, bounds = row_norm(state.present["site_xpos"][:, self.workspace, :]), (self.radius, float("inf"))
        away = tolerance(distance, bounds, margin=self.radius, value_at_margin=0, sigmoid="linear")
        terms = {"reward_escape": self.upright(state) * away}
        return StepResult(self.observation(state), terms, info={"distance": distance})


class QuadrupedFetch(QuadrupedMove):
    """A quadruped brings a ball to the middle of its arena. Same task as the control suite's quadruped fetch.

    Observation: as `QuadrupedMove`, then `ball_state`, the ball's place and velocity from the torso, and its angular
    velocity, in the torso's frame (9); `target_position` from the torso, there (3).

    Reward: (1 + torso_upright) / 2 times reach times (1 + fetch) / 2, with tolerances, linear to 0 across the arena, of
    the horizontal distances of the workspace from the ball, and of the ball from the target.

    Starts: the quadruped anywhere, heading anywhere; the ball falls anywhere from 2 m.
    """

    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Leave the terrain out."""
        self.leave_out(spec, terrain=True, ball=False)

    def bind(self) -> None:
        """Find the ball and the target, and the distances that are worth 1."""
        super().bind()
        model = self.model
        self.ball, self.target = self.body("ball"), self.site("target")
        self.arena = math.sqrt(2) * float(model.geom("floor").size[0])
        self.spawn = 0.9 * float(model.geom("floor").size[0])
        self.reach = float(model.site("workspace").size[0] + model.geom("ball").size[0])
        self.near = float(model.site("target").size[0])
        self.ball_qpos = int(model.joint("ball_root").qposadr[0])
        self.ball_qvel = int(model.joint("ball_root").dofadr[0])

    def reset(self, noise: Noise) -> Start:
        """Draw places of quadruped and ball."""
        xp, (sine, cosine) = self.xp, sin_cos(noise.uniform(0, math.pi, 1))
        quat = xp.concat((cosine, 0 * sine, 0 * sine, sine), axis=1)
        places = noise.uniform(-self.spawn, self.spawn, 4)
        qpos = self.starts.lowest_free(self.standing(quat, places[:, :2]))
        first, qvel = self.ball_qpos, xp.zeros_like(qpos[:, : self.model.nv])
        parts = qpos[:, :first], places[:, 2:], 0 * sine + 2.0, qpos[:, first + 3 :]
        first, speed = self.ball_qvel, 5 * noise.normal(2)
        return Start(xp.concat(parts, axis=1), xp.concat((qvel[:, :first], speed, qvel[:, first + 2 :]), axis=1))

    def parts(self, state: TaskState) -> dict[str, Array]:
        """Return what `QuadrupedMove` sees, the ball and the target."""
        places, first = state.present["xpos"], self.ball_qvel
        torso = places[:, self.torso, :]
        ball = places[:, self.ball, :] - torso, state.qvel[:, first : first + 3] - state.qvel[:, :3]
        states = [self.local(state, part) for part in (*ball, state.qvel[:, first + 3 : first + 6])]
        return {
            **super().parts(state),
            "ball_state": self.xp.concat(states, axis=1),
            "target_position": self.local(state, state.present["site_xpos"][:, self.target, :] - torso),
        }

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward reaching the ball and bringing it to the target."""
        sites, ball = state.present["site_xpos"], state.present["xpos"][:, self.ball, :2]
        linear: dict[str, Any] = {"sigmoid": "linear", "margin": self.arena, "value_at_margin": 0.0}
        to_ball, to_target = (row_norm(sites[:, site, :2] - ball) for site in (self.workspace, self.target))
        reach, fetch = tolerance(to_ball, (0, self.reach), **linear), tolerance(to_target, (0, self.near), **linear)
        terms = {"reward_fetch": self.upright(state) * reach * (0.5 + 0.5 * fetch)}
        return StepResult(self.observation(state), terms, info={"distance": to_target})


def bowl(count: int, edge: float, seed: int) -> np.ndarray:
    """Return heights (count, count), shares of the highest, of a bowl of sine shape with smooth bumps.

    Args:
        count: points along an edge.
        edge: its length, m.
        seed: of the bumps.
    """
    along = np.linspace(-1, 1, count)
    radius = np.clip(np.hypot(*np.meshgrid(along, along)), 0.04, 1)
    bumps = int(edge / BUMP)
    drawn = np.random.default_rng(seed).uniform(SMOOTHNESS, 1, (bumps, bumps))
    smooth = torch.nn.functional.interpolate(
        torch.as_tensor(drawn)[None, None], (count, count), mode="bicubic", align_corners=True
    )
    return (0.5 - np.cos(2 * np.pi * radius) / 2) * smooth[0, 0].numpy()
