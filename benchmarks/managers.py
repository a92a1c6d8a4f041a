"""A task with an observer, randomization, a difficulty, rays and sensors: Python's time in a vector step."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ..envs import Difficulty, Observer, Randomization, RayScan, ResetResult, Start, StepResult, Task, Term
from ..envs.arrays import Array
from ..envs.making import make_vec
from ..envs.managers import randomize as dr
from ..envs.task.noise import Noise
from ..envs.task.task import Last, TaskState
from ..physics import Model
from ..physics.machine.runtime import init
from .results import BenchmarkResult, Table, Verdict
from .timing import take_turns

TARGET = 3.0
"""CPU milliseconds of a vector step of 64 environments."""
WARM_UP_STEPS = 20
EPISODE = 500
RESET = 2
"""Environments of a partial reset, as many as fall in a step at random actions."""
COLUMNS = {
    "task": "",
    "CPU ms a vector step": ".2f",
    "episodes that end in it": ".1f",
    "CPU ms a partial reset": ".2f",
    "environment steps a CPU second": ",.0f",
}
_LEG = """
<body pos="0 {side} -.08">
  <joint name="{leg}_hip"/>
  <geom type="capsule" fromto="0 0 0 0 0 -.25" size=".03"/>
  <body pos="0 0 -.25">
    <joint name="{leg}_knee"/>
    <geom type="capsule" fromto="0 0 0 0 0 -.25" size=".025"/>
  </body>
</body>"""
HOPPER = f"""
<mujoco model="two-legged hopper">
  <option timestep=".005" integrator="implicitfast"/>
  <default>
    <geom friction=".8" density="800"/>
    <joint type="hinge" axis="0 1 0" range="-70 70" damping=".3" armature=".02"/>
    <position kp="60" kv="2" forcerange="-40 40"/>
  </default>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <body name="trunk" pos="0 0 .62">
      <joint name="x" type="slide" axis="1 0 0" range="-100 100" damping="0" armature="0"/>
      <joint name="z" type="slide" axis="0 0 1" range="-100 100" damping="0" armature="0"/>
      <joint name="pitch" range="-600 600" damping="0" armature="0"/>
      <geom type="box" size=".15 .1 .08"/>
      <site name="imu"/>
      {_LEG.format(leg="left", side=0.1)}
      {_LEG.format(leg="right", side=-0.1)}
    </body>
  </worldbody>
  <actuator>
    <position joint="left_hip"/><position joint="left_knee"/><position joint="right_hip"/><position joint="right_knee"/>
  </actuator>
  <sensor><accelerometer site="imu"/><gyro site="imu"/><velocimeter site="imu"/></sensor>
</mujoco>"""


class Hop(Task):
    """Forward on two legs in a plane: 7 dofs, 3 sensors, 9 rays."""

    reads = ("sensordata",)
    rays: ClassVar = {"ground": RayScan(body="trunk", points=[(0.1 * k - 0.4, 0.0, 0.0) for k in range(9)])}
    frame_skip: int = 4
    xml_file: str = "two-legged hopper"

    def load_model(self, **options: Any) -> Model:
        """Return the model of `HOPPER`."""
        return Model.from_mjcf(HOPPER, **options)

    def bind(self) -> None:
        """Make the managers."""
        self.observer = Observer(
            self,
            sensors=Term(noise=0.1),
            angles=Term(noise=0.01, history=3, delay=(0, 2)),
            speeds=Term(noise=0.1),
            ground=Term(noise=0.02),
        )
        self.randomization = Randomization(self, dr.friction(0.4, 1.0), dr.mass(0.9, 1.1))
        self.difficulty = Difficulty(self)

    def reset(self, noise: Noise) -> Start:
        """Start near the pose of the file, at rest."""
        qpos = self.init_qpos + 0.05 * noise.uniform(-1, 1, self.model.nq)
        return Start(qpos, 0 * qpos)

    def reset_after(self, last: Last, noise: Noise) -> Start:
        """Draw friction, masses and a difficulty, which follows how far the last episode came."""
        start = self.randomization.begin(self.reset(noise), last, noise)
        difficulty = self.difficulty.begin(last, last.memory.get("far"))
        return start._replace(memory={**start.memory, **difficulty})

    def measured(self, state: TaskState) -> dict[str, Array]:
        """Return the observed quantities, by name."""
        return {
            "sensors": state.fields["sensordata"],
            "angles": state.qpos[:, 2:],
            "speeds": state.qvel,
            "ground": state.rays["ground"],
        }

    def begin(self, state: TaskState) -> ResetResult:
        """Observe the first state."""
        memory, observation = self.observer.begin(self.measured(state), state.noise)
        return ResetResult(observation, memory={**memory, "far": self.array(0 * state.qpos[:, 0])})

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward speed; an episode ends where the trunk is low or leans over."""
        state, changes = self.randomization.step(state)
        state, observation = self.observer.step(state, self.measured(state))
        fell = (state.qpos[:, 1] < -0.3) | (abs(state.qpos[:, 2]) > 1.0)
        state = state.remember(far=self.array(state.qpos[:, 0] > 0.5))
        return StepResult(observation, {"reward_forward": state.qvel[:, 0]}, fell, {}, state.memory, **changes)


def run(num_envs: int, steps: int, rounds: int) -> BenchmarkResult:
    """Time vector steps at random actions, resets included, and partial resets, in CPU time of all threads.

    Args:
        num_envs: environments in the batch; the target is for 64.
        steps: vector steps of one timed stretch, and partial resets of one.
        rounds: of which medians are taken.
    """
    init(precision="32", threads=1)
    envs = make_vec(Hop, num_envs, max_episode_steps=EPISODE)
    envs.reset(seed=0)
    space: Any = envs.action_space
    actions = np.random.default_rng(0).uniform(-1, 1, (max(steps, WARM_UP_STEPS), *space.shape)).astype(np.float32)
    mask = np.arange(num_envs) < RESET
    ends = [0]

    def step(k: int) -> None:
        _, _, terminated, truncated, _ = envs.step(actions[k])
        ends[0] += int((terminated | truncated).sum())

    def reset(k: int) -> None:
        envs.reset(options={"reset_mask": mask})

    for k in range(WARM_UP_STEPS):
        step(k)
    ends[0] = 0
    works = {"reset": reset, "step": step}
    samples = take_turns({name: partial(_cpu_seconds, work, steps) for name, work in works.items()}, rounds)
    envs.close()
    ms = {name: 1e3 * sample.median / steps for name, sample in samples.items()}
    title = f"{num_envs} environments, one thread, float32; a partial reset is of {RESET} environments; medians"
    row = {
        "task": "two-legged hopper",
        "CPU ms a vector step": ms["step"],
        "episodes that end in it": ends[0] / (steps * (rounds + 1)),
        "CPU ms a partial reset": ms["reset"],
        "environment steps a CPU second": 1e3 * num_envs / ms["step"],
        "seconds": {name: sample.seconds for name, sample in samples.items()},
    }
    verdict = Verdict("CPU ms a vector step", ms["step"], TARGET, at_least=False)
    return BenchmarkResult([Table(title, COLUMNS, [row])], [verdict])


def _cpu_seconds(work: Callable[[int], object], times: int) -> float:
    """Return the CPU time, s, that all threads take for so many calls."""
    begun = time.process_time()
    for k in range(times):
        work(k)
    return time.process_time() - begun
