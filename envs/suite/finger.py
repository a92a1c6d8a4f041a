"""The finger of the control suite: keep a body spinning with flicks of a finger."""

import math
from typing import ClassVar

import mujoco

from ..arrays import Array, namespace, row_norm, sin_cos
from ..task.noise import Noise
from ..task.task import Start, StepResult, TaskState
from .elementary import log1p
from .starts import TRIES, JointRanges, capsule_ends, first_that_fits, segment_distance
from .suite_task import SuiteTask, to_mocap

SPIN, SPIN_DAMPING = 15.0, 0.03  # rad/s; N m s


class FingerSpin(SuiteTask):
    """A finger of two links spins a body on a hinge. Same task as the control suite's finger spin.

    Action:

    | index | actuator | low | high | meaning |
    |---|---|---|---|---|
    | 0 | proximal | -1 | 1 | torque / 30 N m |
    | 1 | distal | -1 | 1 | torque / 15 N m |

    Observation:

    | index | name | unit | meaning |
    |---|---|---|---|
    | 0-1 | qpos[:2] | rad | proximal and distal joint |
    | 2-3 | tip | m | x and z of the spinner's tip from its hinge |
    | 4-6 | qvel | rad/s | proximal, distal, hinge |
    | 7-8 | touch | | log(1 + force in N) on the fingertip's top and bottom |

    Reward: `reward_spin`, 1 where the spinner turns at -15 rad/s or below, else 0; that is `success` in the info,
    beside the `spin` (rad/s).

    Never ends by itself. Starts at rest: finger joints within their limits of ±110 degrees and the spinner at any
    angle, but not where the fingertip would touch it.
    """

    reads: ClassVar = ("sensordata",)
    camera: ClassVar = {"distance": 1.3, "lookat": (0.0, 0.0, 0.35), "azimuth": 90.0, "elevation": -8.0}

    xml_file: str = "suite_finger.xml"
    frame_skip: int = 2

    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Set the damping of the spinner, and hide what only the turning task shows."""
        spec.joint("hinge").damping[0] = SPIN_DAMPING
        for name in ("target", "tip"):
            if spec.site(name) is not None:
                spec.site(name).rgba[3] = 0

    def bind(self) -> None:
        """Look up the shapes of the fingertip and of the spinner, and the joints' ranges."""
        model = self.model
        self.touch_columns = self.sensors("touchtop", "touchbottom")
        self.ranges = JointRanges(self)
        self.tip = float(model.site("tip").pos[2])
        self.reference = float(model.qpos0[0])
        self.knuckle = self.array(model.body("distal").pos[[0, 2]])
        self.fingertip, *self.caps = (
            [self.array(end) for end in capsule_ends(model, name)] for name in ("fingertip", "cap1", "cap2")
        )
        self.between = self.array((model.body("proximal").pos - model.body("spinner").pos)[[0, 2]])
        self.touch = float(model.geom("fingertip").size[0] + model.geom("cap1").size[0])

    def reset(self, noise: Noise) -> Start:
        """Draw all angles, but none with which the fingertip touches the spinner."""
        tries = [self.ranges.draw(noise) for _ in range(TRIES)]
        qpos = first_that_fits(tries, [self.separated(self.array(qpos)) for qpos in tries])
        return Start(qpos, 0 * qpos)

    def separated(self, qpos: Array) -> Array:
        """Return True where the fingertip does not touch the spinner, (n,) bool."""
        proximal = self.reference - qpos[:, :1]
        knuckle = _turned(self.knuckle, proximal) + self.between
        tip = [_turned(end, proximal - qpos[:, 1:2]) + knuckle for end in self.fingertip]
        fits = None
        for cap in self.caps:
            side = [_turned(end, -qpos[:, 2:]) for end in cap]
            pairs = [(end, *side) for end in tip] + [(end, *tip) for end in side]
            for point, start, end in pairs:
                far = segment_distance(point, start, end) > self.touch
                fits = far if fits is None else fits & far
        return fits

    def features(self, state: TaskState) -> Array:
        """Return finger joints, the spinner's tip, rates and touch, (n, 9)."""
        sine, cosine = sin_cos(state.qpos[:, 2:])
        touch = log1p(self.xp.take(state.fields["sensordata"], self.touch_columns, axis=1))
        return self.xp.concat((state.qpos[:, :2], -self.tip * sine, self.tip * cosine, state.qvel, touch), axis=1)

    @property
    def observation_structure(self) -> dict[str, int]:
        """The widths of the observation's blocks, in order."""
        return {"position": 4, "velocity": 3, "touch": 2}

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward a spinner that is fast enough."""
        spin = state.qvel[:, 2]
        fast = spin <= -SPIN
        reward = self.xp.astype(fast, spin.dtype)
        return StepResult(self.observation(state), {"reward_spin": reward}, info={"spin": spin, "success": fast})


class FingerTurn(FingerSpin):
    """A finger of two links turns a body on a hinge to an angle. Same task as the control suite's finger turn tasks.

    Actions and starts are those of `FingerSpin`; the target is at any angle. The observation is that of `FingerSpin`,
    then:

    | index | name | unit | meaning |
    |---|---|---|---|
    | 9-10 | target | m | x and z of the target from the hinge |
    | 11 | distance | m | from the tip to the target's surface, below 0 inside |

    Reward: `reward_turn`, 1 where the tip is in the target, of radius `target_size`, else 0; `success` in the info.
    """

    xml_file: str = "dm_control:finger.xml"
    target_size: float = 0.07  # m

    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Give the target its size, and let episodes place it."""
        spec.site("target").size[0] = self.target_size
        sensor = spec.sensor("target")  # of the site, which has another name or none during the change
        to_mocap(spec, "target", "site")
        del sensor

    def bind(self) -> None:
        """Look up where the target may be."""
        super().bind()
        self.radius = float(self.model.geom("cap1").size.sum())
        self.hinge = self.array(self.model.body("spinner").pos)

    def reset(self, noise: Noise) -> Start:
        """Draw angles of the joints and of the target."""
        start, (sine, cosine) = super().reset(noise), sin_cos(noise.uniform(-math.pi, math.pi, 1))
        target = self.radius * self.xp.concat((sine, cosine), axis=1)
        place = self.xp.concat((target[:, :1], 0 * sine, target[:, 1:]), axis=1) + self.hinge
        return start._replace(memory={"target": target}, inputs={"mocap_pos": place[:, None, :]})

    def features(self, state: TaskState) -> Array:
        """Return what `FingerSpin` sees, the target, and the distance from it, (n, 12)."""
        features, target = super().features(state), state.memory["target"]
        distance = row_norm(target - features[:, 2:4]) - self.target_size
        return self.xp.concat((features, target, distance[:, None]), axis=1)

    @property
    def observation_structure(self) -> dict[str, int]:
        """The widths of the observation's blocks, in order."""
        return {**super().observation_structure, "target_position": 2, "dist_to_target": 1}

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward a tip in the target."""
        features = self.features(state)
        inside = features[:, 11] <= 0
        terms = {"reward_turn": self.xp.astype(inside, features.dtype)}
        return StepResult(self.seen(state, features), terms, info={"success": inside})


def _turned(vector: Array, angle: Array) -> Array:
    """Turn x and z (2,) m about +y by angles (n, 1): (n, 2) m."""
    sine, cosine = sin_cos(angle)
    x, z = vector[0], vector[1]
    return namespace(angle).concat((x * cosine + z * sine, z * cosine - x * sine), axis=1)
