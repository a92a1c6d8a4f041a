"""The base class of HumanoidBench's tasks: a Unitree H1 whose servos follow actions, and what is measured on it."""

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar, NamedTuple

import gymnasium
import mujoco
import numpy as np

from ..arrays import Array, row_sum
from ..suite.rewards import tolerance
from ..task.noise import Noise
from ..task.task import Start, StepResult, Task, TaskState

HEAD = 1.65  # m, the height of the head of an H1 that stands


class HumanoidRating(NamedTuple):
    """The rating of a step of n environments."""

    terms: Mapping[str, Array]  # of the reward, each (n,)
    terminated: Array | None = None  # (n,) bool
    info: Mapping[str, Array] = {}  # factors of the reward by HumanoidBench's names, each (n,)
    memory: Mapping[str, Array] = {}


class HumanoidBenchTask(Task):
    """A task of HumanoidBench for the H1 without hands, 19 servos in a step of 0.02 s.

    Actions: [-1, 1], over the ranges of the servos' angles. Observation: qpos and qvel (m, rad, s) of the H1 and of
    what moves beside it.

    Reward: a single term `reward_task` but where a task says otherwise; its factors are in the info. Starts in the
    first keyframe, each coordinate up to ±`randomness` off.
    """

    shows_sites: ClassVar = True
    reads: ClassVar[Sequence[str]] = ("site_xpos", "xpos", "xquat", "xmat", "sensordata", "actuator_force")
    camera: ClassVar = {"distance": 4.5, "lookat": (1.0, 0.0, 1.0), "azimuth": 30.0, "elevation": -15.0}
    touches: ClassVar[Mapping[str, tuple[str, str]]] = {}
    """Counts of contacts by their names: those of a geom or a body's subtree with another one, "" for anything."""

    frame_skip: int = 10
    randomness: float = 0.01

    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Add a sensor for each count of contacts."""
        for name, (one, other) in self.touches.items():
            (kind, kind_of_other), none = (_kind(spec, each) for each in (one, other)), mujoco.mjtObj.mjOBJ_UNKNOWN
            spec.add_sensor(
                name=name,
                type=mujoco.mjtSensor.mjSENS_CONTACT,
                objtype=kind,
                objname=one,
                reftype=kind_of_other if other else none,
                refname=other,
                intprm=[1, 0, 1],  # the number of contacts
            )

    def bind(self) -> None:
        """Look up sites, bodies, sensors and the start."""
        model = self.model
        self.site = {model.site(k).name: k for k in range(model.nsite)}
        self.body = {model.body(k).name: k for k in range(model.nbody)}
        self.sensor = {model.sensor(k).name: int(model.sensor_adr[k]) for k in range(model.nsensor)}
        # HumanoidBench takes the ranges from a space in single precision.
        low, high = model.actuator_ctrlrange.astype(np.float32).T
        self.low, self.width = self.array(low), self.array(high - low)
        self.first = self.doubles(model.key_qpos[0])

    @property
    def action_space(self) -> gymnasium.spaces.Box:
        """[-1, 1] for every servo, float32."""
        return gymnasium.spaces.Box(-1.0, 1.0, (self.model.nu,), np.float32)

    def reset(self, noise: Noise) -> Start:
        """Draw the coordinates."""
        qpos = self.first + noise.uniform(-self.randomness, self.randomness, self.model.nq)
        return Start(qpos, self.array(np.zeros(self.model.nv)))

    def control(self, state: TaskState, action: Array) -> Array:
        """Turn actions into angles, (n, nu) rad."""
        return (action + 1) / 2 * self.width + self.low

    def observation(self, state: TaskState) -> Array:
        """Return coordinates and velocities."""
        return self.xp.concat((state.qpos, state.qvel), axis=1)

    @abstractmethod
    def rate(self, state: TaskState) -> HumanoidRating:
        """Rate the state after a step."""

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Return what `rate` says."""
        rating = self.rate(state)
        terms = {f"reward_{name}": value for name, value in rating.terms.items()}
        return StepResult(self.observation(state), terms, rating.terminated, rating.info, rating.memory)

    # -- measures -----------------------------------------------------------------------------------------------------

    def at(self, state: TaskState, site: str) -> Array:
        """Return the place of a site, (n, 3) m."""
        return state.fields["site_xpos"][:, self.site[site]]

    def upright(self, state: TaskState) -> Array:
        """Return the cosine between the torso's axis and the vertical, (n,)."""
        return self.rotation(state, "torso_link")

    def rotation(self, state: TaskState, body: str) -> Array:
        """Return the cosine between a body's axis z and the vertical, (n,)."""
        return state.fields["xmat"][:, self.body[body], 8]

    def velocity(self, state: TaskState) -> Array:
        """Return the velocity of the centre of mass along x and y, (n, 2) m/s."""
        first = self.sensor["pelvis_subtreelinvel"]
        return state.fields["sensordata"][:, first : first + 2]

    def count(self, state: TaskState, name: str) -> Array:
        """Return the number of contacts of one of `touches`, (n,)."""
        return state.fields["sensordata"][:, self.sensor[name]]

    # -- factors of rewards -------------------------------------------------------------------------------------------

    def standing(self, state: TaskState, least: float, height: float = HEAD) -> dict[str, Array]:
        """Return how well the H1 stands: its head above a height (m), and `least` the cosine of an upright torso."""
        standing = tolerance(self.at(state, "head")[:, 2], (height, math.inf), HEAD / 4)
        return self.both(standing, tolerance(self.upright(state), (least, math.inf), 1.9, "linear", 0.0))

    def both(self, standing: Array, upright: Array) -> dict[str, Array]:
        """Return two factors and their product, by HumanoidBench's names."""
        return {"standing": standing, "upright": upright, "stand_reward": standing * upright}

    def small_control(self, state: TaskState) -> Array:
        """Return a factor from 0.8 to 1, the larger the smaller the torques are, (n,)."""
        forces = state.fields["actuator_force"]
        return (4 + row_sum(tolerance(forces, (0.0, 0.0), 10.0, "quadratic", 0.0)) / forces.shape[1]) / 5

    def moving(self, state: TaskState, speed: float) -> Array:
        """Return a factor from 1/6 to 1, the share of a speed (m/s) along x, (n,)."""
        return (5 * tolerance(self.velocity(state)[:, 0], (speed, math.inf), speed, "linear", 0.0) + 1) / 6

    def resting(self, state: TaskState) -> Array:
        """Return a factor that is 1 at rest, (n,)."""
        return row_sum(tolerance(self.velocity(state), (0.0, 0.0), 2.0)) / 2

    def unless(self, touched: Array) -> Array:
        """Return the factor of contacts that a task does not want: 0.1 where there are any, else 1, (n,)."""
        return self.xp.where(touched, 0.1, self.xp.ones_like(self.low[0]))


def _kind(spec: mujoco.MjSpec, name: str) -> mujoco.mjtObj:
    """Return the kind of a contact's partner by its name: a geom, or a body with its whole subtree."""
    return mujoco.mjtObj.mjOBJ_GEOM if spec.body(name) is None else mujoco.mjtObj.mjOBJ_XBODY
