"""Types and devices of what environments hand out."""

import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode

import tumble
from tumble.envs import StepResult
from tumble.envs.v5.hopper import Hopper
from tumble.wrappers import NormalizeObservation, NormalizeReward


class Mixed(Hopper):
    """A hopper whose reward terms have several precisions, as a user's might."""

    def step(self, state, action):
        """The same terms, one in each precision."""
        result = super().step(state, action)
        xp = self.xp
        types = xp.float64, xp.float32, xp.float64
        terms = {
            name: xp.astype(term, dtype) for (name, term), dtype in zip(result.reward_terms.items(), types, strict=True)
        }
        return StepResult(result.observation, terms, result.terminated, result.info, result.memory)


@pytest.mark.parametrize("mode", [mode.name for mode in AutoresetMode])
@pytest.mark.parametrize("output", ["torch", "numpy"])
def test_rewards_have_the_observations_type(output, mode, each_precision):
    """In steps that move, that end episodes and that reset; the space says the same; wrappers keep it."""
    wanted = {"torch": getattr(torch, f"float{each_precision}"), "numpy": np.dtype(f"float{each_precision}")}[output]
    for task in ("Hopper", Mixed):
        envs = tumble.make_vec(task, 3, output=output, autoreset_mode=mode, max_episode_steps=4)
        assert envs.single_observation_space.dtype == np.dtype(f"float{each_precision}")
        if task == "Hopper":
            envs = NormalizeReward(NormalizeObservation(envs))
        observation, _ = envs.reset(seed=0)
        assert observation.dtype == wanted
        for _ in range(10 if mode != "DISABLED" else 4):
            observation, reward, *_, info = envs.step(np.zeros((3, 3), np.float32))
            assert reward.dtype == observation.dtype == wanted and reward.shape == (3,)
            if "reward_forward" in info:  # not where all were reset
                assert info["reward_forward"].dtype == wanted
        envs.close()


def test_the_device_is_where_tensors_lie():
    """The solver's, unless another is chosen; numpy arrays lie on the CPU."""
    for options, device in (({}, "cpu"), ({"device": "cpu"}, "cpu"), ({"output": "numpy"}, "cpu")):
        envs = tumble.make_vec("Hopper", 2, **options)
        assert envs.device == torch.device(device)
        observation, _ = envs.reset(seed=0)
        if "output" not in options:
            assert observation.device == envs.device
        envs.close()


@pytest.mark.parametrize("device", ["nowhere", "cuda", torch.device("cuda:99")])
def test_a_device_that_is_not_there_is_refused_when_environments_are_made(device):
    if str(device) == "cuda" and torch.cuda.is_available():
        pytest.skip("this machine has it")
    with pytest.raises(ValueError, match=f"device='{device}': torch has no tensors there"):
        tumble.make_vec("Hopper", 2, device=device)
