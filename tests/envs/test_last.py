"""The ends of episodes that a reset is told, after failed steps and after environments were closed."""

import numpy as np
import pytest
import torch

import tumble
from tumble.envs import SingleEnv, StepCount

from .own_tasks import Counter


class Following(Counter):
    """Keeps what it was told last, and counts all steps since it was seeded; a flag makes a step fail."""

    def bind(self):
        """Count."""
        self.total, self.told, self.fails = StepCount("total"), [], False

    def reset_after(self, last, noise):
        """Go on counting."""
        self.told.append(last)
        start = self.reset(noise)
        return start._replace(memory={**start.memory, **self.total.begin(last)})

    def step(self, state, action):
        """One more of all."""
        if self.fails:
            raise RuntimeError("no step")
        result = super().step(state, action)
        total = self.total.step(state).memory["total"]
        return result._replace(memory={**result.memory, "total": total}, info={"total": total})


def test_a_step_that_failed_is_no_reset():
    """The environments that it would have reset are not taken for those that a user resets then."""
    envs = tumble.make_vec(Following, 3, output="numpy", autoreset_mode="NEXT_STEP", simulator="mujoco")
    envs.reset(seed=0)
    envs.step(np.array([4, 0, 0]))
    envs.task.fails = True
    with pytest.raises(RuntimeError, match="no step"):
        envs.step(np.zeros(3, int))
    envs.task.fails = False
    envs.reset()
    assert envs.task.told[-1].envs.tolist() == [0, 1, 2]
    assert envs.step(np.zeros(3, int))[-1]["total"].tolist() == [2, 2, 2]


def test_an_environment_that_was_closed_begins_as_a_new_one():
    """The reset after opening again is told of no episode before."""
    env = SingleEnv(Following, simulator="mujoco")
    env.reset(seed=0)
    for _ in range(3):
        env.step(0)
    env.close()
    env.reset()
    last = env.task.told[-1]
    assert last.fresh.all() and last.steps.tolist() == [0] and not last.memory
    assert env.step(0)[-1]["total"] == 1
    env.reset()
    assert not env.task.told[-1].fresh.any() and env.step(0)[-1]["total"] == 2


def test_memory_of_the_other_library_is_welcome_in_a_step():
    """The memory of a step may hold torch tensors where the task is in numpy, as that of a reset may."""

    class Mixed(Counter):
        def step(self, state, action):
            result = super().step(state, action)
            return result._replace(memory={"count": torch.as_tensor(result.memory["count"])})

    envs = tumble.make_vec(Mixed, 2, output="numpy", simulator="mujoco")
    envs.reset(seed=0)
    for _ in range(3):
        observation, *_ = envs.step(np.zeros(2, int))
    assert observation.tolist() == [[3], [3]]
