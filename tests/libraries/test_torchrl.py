"""torchrl gets rewards in the shape of its spec, and final observations where episodes end."""

import warnings

import pytest
import torch

import tumble
from tumble.envs.v5.hopper import Hopper

from .page import definitions

pytest.importorskip("torchrl")

from torchrl.collectors import Collector
from torchrl.envs import GymEnv, GymWrapper, RewardSum, TransformedEnv, check_env_specs

TorchWrapper = definitions("torchrl")["TorchWrapper"]
WRAPPERS = {"torch": TorchWrapper, "numpy": GymWrapper}  # as the page says


def hoppers(output, mode="SAME_STEP"):
    return tumble.make_vec("Hopper", 8, output=output, autoreset_mode=mode, max_episode_steps=25)


@pytest.mark.parametrize("mode", ["SAME_STEP", "DISABLED"])
@pytest.mark.parametrize("output", ["torch", "numpy"])
def test_a_collector_with_sums_of_rewards(output, mode):
    """Shapes, and every number against the vector environment's own."""
    env = TransformedEnv(WRAPPERS[output](hoppers(output, mode)), RewardSum())
    env.set_seed(0)
    data = next(iter(Collector(env, None, frames_per_batch=8 * 60, total_frames=8 * 60)))
    for key in ("reward", "episode_reward", "done", "terminated", "truncated"):
        assert data["next", key].shape == (8, 60, 1), key
    assert data["next", "reward"].dtype == data["next", "observation"].dtype == torch.float32
    actions, ends = data["action"], 0
    rewards, done, following = data["next", "reward"][..., 0], data["next", "done"][..., 0], data["next", "observation"]
    sums = torch.zeros(8)
    for t in range(60):
        sums = sums + rewards[:, t]
        torch.testing.assert_close(data["next", "episode_reward"][:, t, 0], sums)
        sums = torch.where(done[:, t], 0.0, sums)
        if t < 59:
            going = ~done[:, t]
            assert torch.equal(following[going, t], data["observation"][going, t + 1])
            assert (following[done[:, t], t] != data["observation"][done[:, t], t + 1]).any(1).all()
            assert torch.allclose(data["observation"][done[:, t], t + 1, 0], torch.tensor(1.25), atol=0.01)
        ends += int(done[:, t].sum())
    assert ends > 8 and actions.shape == (8, 60, 3)
    env.close()


def test_the_numbers_are_the_vector_environments():
    """The observations a wrapped batch reports are those of a plain one under the same actions."""
    env, plain = TorchWrapper(hoppers("torch")), hoppers("torch")
    env.reset(seed=4)
    data = env.rollout(20, break_when_any_done=False, auto_reset=False, tensordict=env.reset(seed=4))
    observation, _ = plain.reset(seed=4)
    for t in range(20):
        assert torch.equal(data["observation"][:, t], observation)
        observation, reward, terminated, truncated, info = plain.step(data["action"][:, t])
        assert torch.equal(data["next", "reward"][:, t, 0], reward)
        assert torch.equal(data["next", "terminated"][:, t, 0], terminated)
        last = torch.where((terminated | truncated)[:, None], info.get("final_obs", observation), observation)
        assert torch.equal(data["next", "observation"][:, t], last)


@pytest.mark.parametrize("output", ["torch", "numpy"])
def test_the_specs_are_what_comes(output):
    """Torchrl's own check: keys, shapes, types and devices."""
    check_env_specs(WRAPPERS[output](hoppers(output)))


def test_torchrl_refuses_next_step():
    """As the page says; the words are torchrl's."""
    with pytest.raises(RuntimeError, match="SAME_STEP or DISABLED"):
        TorchWrapper(hoppers("torch", "NEXT_STEP"))


def test_a_single_environment_by_name():
    """`GymEnv` makes what Gymnasium's registry has."""
    one = TransformedEnv(GymEnv("tumble/Hopper-v0"), RewardSum())
    one.set_seed(0)
    data = one.rollout(10)
    torch.testing.assert_close(data["next", "episode_reward"][-1], data["next", "reward"].sum(0))
    assert data["observation"].shape[1:] == (11,)
    one.close()


@pytest.mark.slow
def test_processes_by_name():
    """With `num_envs` they are processes of Gymnasium's, each of which must import tumble."""
    env = TransformedEnv(GymEnv("tumble:tumble/Hopper-v0", num_envs=3), RewardSum())
    env.set_seed(0)
    data = env.rollout(30, break_when_any_done=False)
    assert data["next", "reward"].shape == data["next", "episode_reward"].shape == (3, 30, 1)
    assert len({*data["observation"][:, 0, 0].tolist()}) == 3
    env.close()


def test_options_that_torchrl_tries_are_refused_in_the_words_it_reads():
    """It offers `frameskip` first, and takes a TypeError with Python's words as "no such option"."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = GymEnv("tumble/InvertedPendulum-v0", frame_skip=2)
    assert env.wrapper_frame_skip == 2
    env.set_seed(0)
    assert env.rollout(3)["next", "reward"][0].item() == 2.0
    env.close()
    with pytest.raises(TypeError, match="unexpected keyword argument 'frameskip'"):
        Hopper(frameskip=2)  # type: ignore[call-arg]
