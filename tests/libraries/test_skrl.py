"""skrl's wrapper and trainer, with their defaults."""

import pytest
import torch

import tumble

pytest.importorskip("skrl")

from skrl.envs.wrappers.torch import wrap_env
from skrl.envs.wrappers.torch.gymnasium_envs import GymnasiumWrapper


@pytest.mark.parametrize("output", ["torch", "numpy"])
@pytest.mark.filterwarnings("ignore:To copy construct from a tensor")  # how skrl takes rewards
def test_wrap_env_gives_the_vector_environments_numbers(output):
    envs, plain = (tumble.make_vec("Hopper", 5, output=output, max_episode_steps=20) for _ in range(2))
    env = wrap_env(envs)
    assert isinstance(env, GymnasiumWrapper) and env.device == envs.device == torch.device("cpu")
    assert (env.num_envs, env.observation_space, env.action_space) == (
        5,
        envs.single_observation_space,
        envs.single_action_space,
    )
    torch.manual_seed(0)
    env._seed = 7  # what skrl.utils.set_seed chooses for all environments of a process
    observation, _ = env.reset()
    expected, _ = plain.reset(seed=7)
    ends = 0
    for _ in range(30):
        torch.testing.assert_close(observation, torch.as_tensor(expected), rtol=0, atol=0)
        assert observation.dtype == torch.float32
        actions = torch.rand(5, 3) * 2 - 1
        observation, reward, terminated, truncated, _ = env.step(actions)
        expected, *others, _ = plain.step(actions)
        for got, wanted in zip((reward, terminated, truncated), others, strict=True):
            assert got.shape == (5, 1)
            torch.testing.assert_close(got[:, 0], torch.as_tensor(wanted), rtol=0, atol=0)
        ends += int((terminated | truncated).sum())
    assert ends >= 5
    env.close()


def test_the_device_that_skrl_asks_for():
    """Without it, skrl learns on a GPU where there is one, while observations lie where the solver does."""
    for output in ("torch", "numpy"):
        envs = tumble.make_vec("InvertedPendulum", 2, output=output)
        assert envs.device == torch.device("cpu") and wrap_env(envs, verbose=False).device == envs.device
        envs.close()
    elsewhere = tumble.make_vec("InvertedPendulum", 2, device="meta")
    assert elsewhere.device == torch.device("meta") == elsewhere.reset()[0].device
