"""Inputs that follow from actions, and positions that a step changes."""

import numpy as np
import pytest
import torch

import tumble
from tumble.envs import SingleEnv, Start, StepResult, Task
from tumble.envs.arrays import clip
from tumble.physics import Model

XML = """<mujoco>
  <option timestep="0.01"/>
  <worldbody>
    <body name="hand" mocap="true" pos="0 0 1"/>
    <body name="held" pos="0 0 1"><freejoint/><geom size="0.1" mass="1"/></body>
    <body name="slider" pos="1 0 0"><joint name="slide" type="slide" axis="1 0 0"/><geom size="0.1" mass="1"/></body>
  </worldbody>
  <equality><weld body1="hand" body2="held" relpose="0 0 0 1 0 0 0"/></equality>
  <actuator><motor joint="slide" gear="10"/></actuator>
</mujoco>"""


class Dragged(Task):
    """A mocap body moves by the action before each step; the slider is put back where it went beyond 5 mm."""

    reads = ("xpos", "mocap_pos")
    frame_skip: int = 5
    limit: float = 0.005

    def load_model(self, **options):
        """Compile the text."""
        return Model.from_mjcf(XML, **options)

    def reset(self, noise):
        """Start at the reference."""
        return Start(self.init_qpos, self.xp.zeros(7), {"hand": 0 * noise.uniform(0, 1, 3) + 1})

    def drive(self, state, action):
        """Move the hand along x."""
        step = self.xp.concat((0.05 * clip(action, -1, 1), 0 * action, 0 * action), axis=1)
        return {"mocap_pos": (state.fields["mocap_pos"][:, 0] + step)[:, None]}

    def observation(self, state):
        """Return the held body's place, and the slide's coordinate."""
        return self.xp.concat((state.fields["xpos"][:, 2], state.qpos[:, 7:]), axis=1)

    def step(self, state, action):
        """Lock the slider."""
        beyond = abs(state.qpos[:, 7:]) > self.limit
        slide = self.xp.where(beyond, 0 * state.qpos[:, 7:], state.qpos[:, 7:])
        qpos = self.xp.concat((state.qpos[:, :7], slide), axis=1)
        return StepResult(self.observation(state), {"reward": state.qpos[:, 0]}, qpos=qpos)


def reference(actions: np.ndarray) -> np.ndarray:
    """Return what one environment observes under actions (steps,), in MuJoCo's own loop."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(XML)
    data, seen = mujoco.MjData(model), []
    for action in actions:
        data.mocap_pos[0, 0] += 0.05 * np.clip(action, -1, 1)
        data.ctrl[:] = action
        mujoco.mj_step(model, data, 5)
        seen.append([*data.xpos[2], data.qpos[7]])
        if abs(data.qpos[7]) > 0.005:
            data.qpos[7] = 0
            mujoco.mj_forward(model, data)
    return np.array(seen)


@pytest.mark.parametrize("simulator", ["tumble", "mujoco"])
def test_as_in_a_loop_of_mujocos(simulator, double_precision):
    actions = np.random.default_rng(0).uniform(-1, 1, (20, 3, 1))
    envs = tumble.make_vec(Dragged, 3, output="numpy", simulator=simulator)
    envs.reset(seed=0)
    seen = np.array([envs.step(action)[0] for action in actions])
    for i in range(3):
        np.testing.assert_allclose(seen[:, i], reference(actions[:, i, 0]), atol=1e-9)
    envs.close()


def test_a_single_environment_and_states(double_precision):
    """The same numbers in one environment, and after a state was saved between a step and the next."""
    actions = np.random.default_rng(0).uniform(-1, 1, (20, 1, 1))
    env, envs = SingleEnv(Dragged), tumble.make_vec(Dragged, 1, output="numpy")
    env.reset(seed=0)
    envs.reset(seed=0)
    for k, action in enumerate(actions):
        if k == 10:
            kept = envs.unwrapped.state_dict()
            envs.step(-action)
            envs.unwrapped.load_state_dict(kept)
        one, many = env.step(action[0]), envs.step(action)
        np.testing.assert_array_equal(one[0], many[0][0])
    envs.close()


def test_wrong_results_are_named():
    class Long(Dragged):
        """Returns too many positions."""

        def step(self, state, action):
            """Return the velocities beside the positions."""
            return super().step(state, action)._replace(qpos=state.coordinates)

    class Odd(Dragged):
        """Drives an input that does not exist."""

        def drive(self, state, action):
            """Name a force of nothing."""
            return {"wind": action}

    for task, error, message in (
        (Long, ValueError, r"Long\.step: qpos has shape \(2, 15\); needed is an array of shape \(2, 8\)"),
        (Odd, KeyError, r"Odd\.drive: inputs: no input is named 'wind'"),
    ):
        envs = tumble.make_vec(task, 2, output="numpy")
        envs.reset(seed=0)
        with pytest.raises(error, match=message):
            envs.step(np.zeros((2, 1), np.float32))
        envs.close()


def test_positions_have_no_gradients():
    usual = tumble.make_vec(Dragged, 2, output="torch")
    envs = usual.differentiable(num_envs=2)
    envs.reset(seed=0)
    with pytest.raises(NotImplementedError, match="changes positions"):
        envs.step(torch.zeros(2, 1))
    usual.close()
