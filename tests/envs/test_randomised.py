"""Tasks whose episodes begin with numbers of the model of their own."""

import numpy as np
import pytest
import torch

import tumble
from tumble.envs import SimVectorEnv, SingleEnv
from tumble.envs.v5.hopper import Hopper

COUNT = 20


class Varied(Hopper):
    """Every episode has other masses, gravity, damping and gains."""

    share: float = 0.3

    def reset(self, noise):
        start, share = super().reset(noise), self.share
        parameters = {
            "body_mass": self.model.body_mass * (1 + noise.uniform(-share, share, self.model.nbody)),
            "dof_damping": self.model.dof_damping * (1 + noise.uniform(-share, share, self.model.nv)),
            "gravity": self.model.opt.gravity * (1 + noise.uniform(-share, share, 1)),
            "actuator_gear": self.model.actuator_gear * (1 + noise.uniform(-share, share, 1))[:, :, None],
        }
        return start._replace(parameters=parameters)


@pytest.fixture(scope="module")
def envs():
    return SimVectorEnv(Varied, COUNT, max_episode_steps=60, output="numpy")


def follow(envs, steps: int) -> list[np.ndarray]:
    """Observations under actions that depend on the environment's number alone."""
    actions = np.stack([np.random.default_rng(env).uniform(-1, 1, (steps, 3)) for env in range(envs.num_envs)], 1)
    return [envs.step(action.astype(np.float32))[0] for action in actions]


def test_only_environments_that_begin_anew_change(envs):
    """By the time limit all of them do, by falls some."""
    envs.reset(seed=0)
    masses = envs.solver.get_parameters("body_mass")
    assert (masses[0] != masses[1]).any() and torch.equal(masses[:, 0], torch.zeros(COUNT, dtype=torch.float64))
    inertia = envs.solver.get_parameters("dof_invweight0")
    ended_some = False
    for action in np.random.default_rng(0).uniform(-1, 1, (80, COUNT, 3)).astype(np.float32):
        *_, terminated, truncated, _ = envs.step(action)
        now = envs.solver.get_parameters("body_mass")
        changed = (now != masses).any(1).numpy()
        assert (changed == (terminated | truncated)).all()
        ended_some |= 0 < changed.sum() < COUNT
        masses = now
    assert ended_some
    assert (envs.solver.get_parameters("dof_invweight0") != inertia).any()


def test_one_environment_replays_that_of_a_batch(envs):
    """Its numbers too, to the last bit, over several episodes; two runs of a seed are equal."""
    envs.reset(seed=7)
    seen = follow(envs, 90)
    envs.reset(seed=7)
    for one, other in zip(seen, follow(envs, 90), strict=True):
        np.testing.assert_array_equal(one, other)
    alone = SimVectorEnv(Varied, 1, max_episode_steps=60, output="numpy")
    alone.reset(seed=7)
    for one, other in zip(seen, follow(alone, 90), strict=True):
        np.testing.assert_array_equal(one[0], other[0])


def test_a_saved_environment_goes_on_with_its_numbers(envs):
    envs.reset(seed=3)
    follow(envs, 20)
    state = envs.state_dict()
    expected = follow(envs, 50)
    other = SimVectorEnv(Varied, COUNT, max_episode_steps=60, output="numpy")
    other.load_state_dict(state)
    for one, two in zip(expected, follow(other, 50), strict=True):
        np.testing.assert_array_equal(one, two)


def test_numbers_that_cannot_be_are_refused_in_the_tasks_name():
    class Wrong(Hopper):
        def reset(self, noise):
            return super().reset(noise)._replace(parameters={"body_mass": -self.model.body_mass})

    class Unknown(Hopper):
        def reset(self, noise):
            return super().reset(noise)._replace(parameters={"mass": 1.0})

    with pytest.raises(ValueError, match=r"Wrong.reset: parameters: body_mass\[1\] of environment 0 is -3"):
        SimVectorEnv(Wrong, 2)
    with pytest.raises(KeyError, match=r"Unknown.reset: parameters: no parameter is named 'mass'"):
        SingleEnv(Unknown)


def test_an_ordinary_task_has_the_plain_kernel():
    """Without randomization no fields of the model are overridden."""
    assert not tumble.make_vec("Hopper", 3).solver._overrides
