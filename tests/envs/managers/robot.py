"""A small robot for tests of managers: a free trunk with two joints held by position actuators, and a motor."""

import array_api_strict
import mujoco
import numpy as np
import torch

from tumble.envs import Noise, Start, StepResult, Task, TaskState
from tumble.envs.arrays import ArrayKind
from tumble.physics import Model
from tumble.physics.base.draws import hashed_key, mix

XML = """
<mujoco model="robot">
  <compiler angle="radian"/>
  <option timestep="0.01" integrator="implicitfast"/>
  <default><joint type="hinge" axis="0 1 0" range="-1 1" armature="0.01" frictionloss="0.1"/></default>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <body name="trunk" pos="0 0 0.4">
      <freejoint name="root"/>
      <geom name="trunk" type="box" size="0.2 0.1 0.05" mass="5"/>
      <geom name="load" type="box" pos="0.1 0.05 0.08" euler="0.3 0.5 0" size="0.05 0.04 0.03" mass="1"/>
      <body name="left" pos="0 0.15 0">
        <joint name="left_hip" damping="0.2"/>
        <geom name="left_shank" type="capsule" fromto="0 0 0 0.05 0 -0.2" size="0.03" mass="0.7"/>
        <body name="left_foot" pos="0 0 -0.25">
          <joint name="left_knee" damping="0.1"/>
          <geom name="left_sole" type="sphere" size="0.04" mass="0.2" friction="0.8 0.01 0.001"/>
        </body>
      </body>
      <body name="right" pos="0 -0.15 0">
        <joint name="right_hip" damping="0.2"/>
        <geom name="right_shank" type="capsule" fromto="0 0 0 0.05 0 -0.2" size="0.03" mass="0.7"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <position name="left_hip" joint="left_hip" kp="40" kv="2" forcerange="-30 30"/>
    <position name="left_knee" joint="left_knee" kp="30" kv="1"/>
    <motor name="right_hip" joint="right_hip" gear="10" ctrlrange="-1 1"/>
  </actuator>
</mujoco>
"""
NUMPY, TORCH = ArrayKind.of(torch.float32, "cpu"), ArrayKind.of(torch.float32, "cpu", "torch")


class Strict(ArrayKind):
    """The strict library's arrays; numbers come from numpy."""

    def numbers(self, values):
        """Through numpy."""
        return self.xp.asarray(np.asarray(values, np.float32))

    def like(self, values):
        """Through numpy, too."""
        values = np.asarray(values)
        return self.numbers(values) if values.dtype.kind == "f" else self.xp.asarray(values)


STRICT = Strict(array_api_strict, array_api_strict.float32, None)


class Robot(Task):
    """Stand; nothing more."""

    frame_skip: int = 2
    xml_file: str = "none"

    def load_model(self, **options) -> Model:
        """The text above."""
        return Model.from_mjcf(XML, **options)

    def reset(self, noise: Noise) -> Start:
        """At rest, with a little noise."""
        qpos = self.init_qpos + 0.01 * noise.uniform(-1, 1, self.model.nq)
        return Start(qpos, 0 * qpos[:, 1:])

    def observation(self, state: TaskState):
        """All there is."""
        return state.coordinates

    def step(self, state: TaskState, action) -> StepResult:
        """Being there is worth 1."""
        return StepResult(self.observation(state), {"reward": 0 * state.qpos[:, 0] + 1})


def bound(kind: ArrayKind = NUMPY, task: type[Task] = Robot, **options) -> Task:
    """A task that knows its model, and no solver."""
    return task(**options).bound(mujoco.MjModel.from_xml_string(XML), kind)


def noise_of(n: int, step: int = 0, kind: ArrayKind = NUMPY, first: int = 0) -> Noise:
    """Noise of n environments with the seeds `first`, `first` + 1, ..., at a step."""
    keys = hashed_key(mix(np.arange(first, first + n)), np.full(n, step))
    return Noise(lambda: keys if kind is STRICT else kind.xp.asarray(keys))  # the batch never draws strict arrays


def state_of(task: Task, memory, step: int = 0, qpos=None, qvel=None, first: int = 0, **fields) -> TaskState:
    """A state with this memory, as the batch would keep it; by default at the reference, at rest."""
    kind = task._kind
    memory = {name: kind.like(value) for name, value in memory.items()}
    n = next(iter(memory.values())).shape[0] if memory else 1 if qpos is None else len(qpos)
    qpos = np.tile(task.model.qpos0, (n, 1)) if qpos is None else qpos
    qvel = np.zeros((n, task.model.nv)) if qvel is None else qvel
    fields = {name: task.array(value) for name, value in fields.items()}
    both = task.array(np.concatenate((qpos, qvel), axis=1)), task.array(qpos), task.array(qvel)
    return TaskState(*both, fields, {}, memory, noise_of(n, step + 1, kind, first))


def in_numpy(memory) -> dict[str, np.ndarray]:
    """Memory as numpy's arrays."""
    return {name: np.asarray(value) for name, value in memory.items()}
