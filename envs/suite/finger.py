"""The finger of the control suite: keep a body spinning with flicks of a finger."""

from typing import ClassVar

from ..arrays import Array, namespace, sin_cos
from ..task.noise import Noise
from ..task.task import Start, StepResult, Task, TaskState
from .starts import TRIES, JointRanges, capsule_ends, first_that_fits, segment_distance

SPIN = 15.0  # rad/s


class FingerSpin(Task):
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

    def bind(self) -> None:
        """Look up the shapes of the fingertip and of the spinner, and the joints' ranges."""
        model = self.model
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

    def observation(self, state: TaskState) -> Array:
        """Return finger joints, the spinner's tip, rates and touch, (n, 9)."""
        sine, cosine = sin_cos(state.qpos[:, 2:])
        touch = _log1p(state.fields["sensordata"])
        return self.xp.concat((state.qpos[:, :2], -self.tip * sine, self.tip * cosine, state.qvel, touch), axis=1)

    @property
    def observation_structure(self) -> dict[str, int]:
        """The widths of the observation's blocks, in order."""
        return {"position": 4, "velocity": 3, "touch": 2}

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Pay for a spinner that is fast enough."""
        spin = state.qvel[:, 2]
        fast = spin <= -SPIN
        reward = self.xp.astype(fast, spin.dtype)
        return StepResult(self.observation(state), {"reward_spin": reward}, info={"spin": spin, "success": fast})


def _turned(vector: Array, angle: Array) -> Array:
    """Turn x and z (2,) m about +y by angles (n, 1): (n, 2) m."""
    sine, cosine = sin_cos(angle)
    x, z = vector[0], vector[1]
    return namespace(angle).concat((x * cosine + z * sine, z * cosine - x * sine), axis=1)


def _log1p(x: Array) -> Array:
    """Return log(1 + x) of numbers >= 0, good to 32 roundings, with the same bits in any batch.

    Five roots bring numbers up to 1e10 below 2.1, where the series of the inverse hyperbolic tangent needs few terms.
    """
    xp, root = namespace(x), 1 + x
    for _ in range(5):
        root = xp.sqrt(root)
    z = (root - 1) / (root + 1)
    square, series = z * z, 0 * z
    for k in range(14, -1, -1):
        series = series * square + 1 / (2 * k + 1)
    return 64 * z * series
