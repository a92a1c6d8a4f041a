"""Legs of MyoSuite: standing and walking on 80 muscles."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import mujoco
import numpy as np

from ..arrays import Array, clip, exp, row_norm, row_sum
from ..task.noise import Noise
from ..task.task import Start, TaskState
from .muscle_task import MuscleRating, MuscleTask
from .reach import MyoReach

if TYPE_CHECKING:
    from ...physics import Model

LEGS = "myosuite:simhive/myo_sim/leg/myolegs.xml"
STAND, STRIDE = 0, 2  # keyframes: on both feet, and in the middle of a stride
UPRIGHT = 10.0  # the reward of a pelvis at its target and at rest


class MyoLegStand(MyoReach):
    """Stand with the pelvis at a target. MyoSuite's myoLegStand.

    Observation and ends: those of `MyoReach`, with the pelvis as the tip.

    Reward: as there; `reach` is 10 minus the distance (m) and minus 10 times the length of qvel (m and rad in a step);
    `act_reg`, minus 100 times the length of the vector of activations divided by their number.

    Starts at rest from standing, each joint up to ±`spread` (rad, m) off, within its range; the target lies up to
    ±0.05 m along x and y from the pelvis.
    """

    weights: ClassVar = {"reach": 1.0, "bonus": 4.0, "penalty": 50.0, "act_reg": 1.0}

    xml_file: str = LEGS
    near: float = 0.05
    far: float = 0.44
    spread: float = 0.2

    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Leave out the ground of other tasks."""
        super().edit_spec(spec)
        spec.delete(spec.geom("terrain"))

    def bind(self) -> None:
        """Look up the ranges of joints, and the pelvis of legs that stand."""
        super().bind()
        model = self.model
        data = mujoco.MjData(model)
        data.qpos[:] = model.key_qpos[STAND]
        data.qpos[0] = 0
        mujoco.mj_kinematics(model, data)
        low, high = data.qpos.copy(), data.qpos.copy()
        low[model.jnt_qposadr], high[model.jnt_qposadr] = model.jnt_range.T
        low[0], high[0] = 0, 0
        spread = np.zeros(model.nq)
        spread[model.jnt_qposadr] = self.spread
        self.rest, self.low, self.high, self.spreads, self.home = (
            self.doubles(part) for part in (model.key_qpos[STAND], low, high, spread, data.site("pelvis").xpos)
        )

    def reset(self, noise: Noise) -> Start:
        """Draw the joints and the target."""
        xp, start = self.xp, super().reset(noise)
        target = start.memory["target"] + self.home
        qpos = self.rest + self.spreads * noise.uniform(-1, 1, self.model.nq)
        qpos = xp.minimum(xp.maximum(qpos, self.low), self.high)
        memory = {**start.memory, "target": target}
        return start._replace(qpos=qpos, memory=memory, inputs={"mocap_pos": target[:, None, :]})

    def rate(self, state: TaskState, parts: Mapping[str, Array]) -> MuscleRating:
        """Rate distance and rest."""
        rating = super().rate(state, parts)
        reach = UPRIGHT + rating.terms["reach"] - 10 * row_norm(parts["qvel"])
        return rating._replace(terms={**rating.terms, "reach": reach, "act_reg": -100 * self.activity(parts)})


class MyoLegWalk(MuscleTask):
    """Walk along y at `speed` (m/s). MyoSuite's myoLegWalk.

    Observation: qpos without x and y (m, rad), qvel (m and rad in a step), velocity of the centre of mass (x, y), the
    torso's quaternion, heights of the feet, height of the centre of mass, places of the feet from the pelvis (m), the
    phase of the gait, lengths (m), velocities (m/s) and forces (kN) of the muscles, activations.

    Reward: `vel_reward`, exp(-(velocity - wanted)^2) for y and for x, where 0 is wanted; `cyclic_hip`, the distance of
    both hip angles from a wave of 0.8 rad and `period` steps, a cost; `ref_rot`, how near the root's quaternion is to
    that of standing; `joint_angle_rew`, how near the hips' adduction and rotation are to 0; `done`, a cost. Success:
    `vel_reward` of at least 1.

    Ends when the centre of mass is below `lowest` (m), or the root's x axis is more than `most_turn` along x. Starts in
    the middle of a stride.
    """

    weights: ClassVar = {
        "vel_reward": 5.0,
        "done": -100.0,
        "cyclic_hip": -10.0,
        "ref_rot": 10.0,
        "joint_angle_rew": 5.0,
    }
    reads_present: ClassVar[Sequence[str]] = (
        *("act", "xipos", "xpos", "xquat", "cvel"),
        *("actuator_length", "actuator_velocity", "actuator_force"),
    )

    xml_file: str = LEGS
    speed: float = 1.2
    lowest: float = 0.8
    most_turn: float = 0.8
    period: int = 100

    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Shape the ground."""
        super().edit_spec(spec)
        self.shape_ground(spec)

    def shape_ground(self, spec: mujoco.MjSpec) -> None:
        """Leave out the ground of other tasks."""
        spec.delete(spec.geom("terrain"))

    def bind(self) -> None:
        """Look up bodies, joints, the start and the wave of the hips."""
        super().bind()
        model, pi = self.model, math.pi
        self.torso, self.pelvis = (model.body(name).id for name in ("torso", "pelvis"))
        self.feet = self.indices([model.body(name).id for name in ("talus_l", "talus_r")])
        self.hips, self.sideways = (
            self.indices([model.jnt_qposadr[model.joint(name).id] for name in names])
            for names in (
                ("hip_flexion_l", "hip_flexion_r"),
                ("hip_adduction_l", "hip_adduction_r", "hip_rotation_l", "hip_rotation_r"),
            )
        )
        self.mass = self.array(model.body_mass / model.body_mass.sum())
        phase = np.arange(self.period) / self.period % 1 * 2 * pi
        # MyoSuite rounds the wave to single precision.
        self.wave = self.array(np.float32(0.8 * np.cos(np.stack((phase + pi, phase), axis=1))))
        self.first, self.speeds = self.doubles(model.key_qpos[STRIDE]), self.doubles(model.key_qvel[STRIDE])
        self.reference = self.array(model.key_qpos[STAND][3:7])

    def reset(self, noise: Noise) -> Start:
        """Start all in the same state."""
        zeros = 0 * noise.uniform(0, 1, 1)  # (n, 1): a row for each episode
        return self.start(self.first + zeros, qvel=self.speeds + zeros)

    def step_in_gait(self, state: TaskState) -> Array:
        """Return the number of the step within the wave, (n,)."""
        return state.memory["count"][:, 0] % self.period

    def parts(self, state: TaskState) -> dict[str, Array]:
        """Return joints, body, feet, gait and muscles."""
        xp, found = self.xp, state.present
        velocity = [row_sum(-found["cvel"][:, :, k] * self.mass)[:, None] for k in (3, 4)]
        feet, pelvis = xp.take(found["xpos"], self.feet, axis=1), found["xpos"][:, self.pelvis]
        return {
            "qpos_without_xy": state.qpos[:, 2:],
            "qvel": state.qvel * self.dt,
            "com_vel": xp.concat(velocity, axis=1),
            "torso_angle": found["xquat"][:, self.torso],
            "feet_heights": feet[:, :, 2],
            "height": row_sum(found["xipos"][:, :, 2] * self.mass)[:, None],
            "feet_rel_positions": xp.reshape(feet - pelvis[:, None], (-1, 6)),
            "phase_var": self.step_in_gait(state)[:, None] / self.period,
            "muscle_length": found["actuator_length"],
            "muscle_velocity": clip(found["actuator_velocity"], -100, 100),
            "muscle_force": clip(found["actuator_force"] / 1000, -100, 100),
        }

    def rate(self, state: TaskState, parts: Mapping[str, Array]) -> MuscleRating:
        """Rate speed, gait and posture."""
        qpos, xp = state.qpos, self.xp
        vx, vy = parts["com_vel"][:, 0], parts["com_vel"][:, 1]
        speed = exp(-((self.speed - vy) ** 2)) + exp(-(vx**2))
        wave = xp.take(self.wave, xp.astype(self.step_in_gait(state), xp.int64), axis=0)
        quat = qpos[:, 3:7]
        ahead = 1 - 2 * row_sum(quat[:, 2:] ** 2) / row_sum(quat**2)  # of the root's x axis, along x
        fallen = (parts["height"][:, 0] < self.lowest) | (abs(ahead) > self.most_turn)
        terms = {
            "vel_reward": speed,
            "done": self.array(fallen),
            "cyclic_hip": row_norm(wave - xp.take(qpos, self.hips, axis=1)),
            "ref_rot": exp(-5 * row_norm(quat - self.reference)),
            "joint_angle_rew": exp(-5 * row_sum(abs(xp.take(qpos, self.sideways, axis=1))) / 4),
        }
        return MuscleRating(terms, speed >= 1, fallen)


class MyoLegTerrainWalk(MyoLegWalk):
    """Walk over a field of heights. MyoSuite's myoLegRoughTerrainWalk, -HillyTerrainWalk, -StairTerrainWalk.

    Observation and reward: those of `MyoLegWalk`. Ends as there, and where the centre of mass is less than 0.61 m above
    the feet. `terrain` is "rough", "hilly" or "stairs"; `terrain_seed` decides on the heights of rough ground.
    """

    terrain: str = "hilly"
    terrain_seed: int = 0

    def load_model(self, **options: Any) -> "Model":
        """Load the legs on a ground that consists of prisms, as in MuJoCo; `hfield="surface"` is the other one."""
        return super().load_model(**{"hfield": "mujoco", **options})

    def shape_ground(self, spec: mujoco.MjSpec) -> None:
        """Give the ground its heights.

        Raises:
            ValueError: there is no such terrain.
        """
        if self.terrain not in TERRAINS:
            raise ValueError(f"{type(self).__name__}: terrain is {self.terrain!r}; there are {', '.join(TERRAINS)}")
        heights, lowest, range_of_heights = TERRAINS[self.terrain](self.terrain_seed)
        field, geom = spec.hfield("terrain"), spec.geom("terrain")
        field.userdata = np.float32(heights).ravel()
        field.size[2] = range_of_heights
        geom.pos, geom.rgba = [0, 0, lowest], [1, 1, 1, 1]

    def rate(self, state: TaskState, parts: Mapping[str, Array]) -> MuscleRating:
        """Rate as a walk, and look for knees on the ground."""
        rating = super().rate(state, parts)
        above = parts["height"][:, 0] - row_sum(parts["feet_heights"]) / 2
        fallen = rating.done | (above < 0.61)
        return rating._replace(terms={**rating.terms, "done": self.array(fallen)}, done=fallen)


def _rough(seed: int) -> tuple[np.ndarray, float, float]:
    heights = np.random.default_rng(seed).uniform(size=(100, 100))
    return (heights - heights.min()) / np.ptp(heights), -0.02, 0.08


def _hilly(seed: int) -> tuple[np.ndarray, float, float]:
    wave = 0.5 + 0.5 * np.sin(np.linspace(0, 3 * math.pi, 7000) + math.pi / 2)
    return np.concatenate((np.ones(3000), (wave - wave.min()) / np.ptp(wave)))[::-1], 0.0, 0.63


def _stairs(seed: int) -> tuple[np.ndarray, float, float]:
    rise, steps = 0.1 / 3.2, 12  # of MyoSuite's own unit, which is 2.5 m
    rows = np.concatenate((np.zeros(52), np.repeat(np.arange(steps), 4)))[::-1]
    return np.repeat(rows / (steps - 1), 100), 0.0, 2.5 * rise * (steps - 1)


TERRAINS = {"rough": _rough, "hilly": _hilly, "stairs": _stairs}
"""Functions of a seed by the names of terrains: heights from 0 to 1 (10000), the lowest (m) and their range (m)."""
