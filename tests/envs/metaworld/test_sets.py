"""Sets: Meta-World's goals for a seed, groups of tasks that step as alone, and what vector environments promise."""

import copy

import numpy as np
import pytest

import tumble
from tumble.envs.metaworld.goals import draw_goals
from tumble.envs.metaworld.names import KINDS, members

from .recorded import recorded

N, STEPS = 20, 8


def actions(num_envs: int = N, steps: int = STEPS) -> np.ndarray:
    """Return actions (steps, num_envs, 4)."""
    return np.random.default_rng(0).uniform(-1, 1, (steps, num_envs, 4)).astype(np.float32)


def make(name: str = "metaworld/MT10", num_envs: int = N, **options):
    """Make a set in MuJoCo, which compiles nothing."""
    return tumble.make_vec(name, num_envs, output="numpy", **{"seed": 7, "simulator": "mujoco", **options})


def same(one, other) -> bool:
    """Return True if results of steps have the same bits, infos aside."""
    return all(np.array_equal(a, b) for a, b in zip(one[:4], other[:4], strict=True))


@pytest.mark.parametrize(("name", "split"), [("MT10", "train"), ("MT50", "train"), ("ML10", "train"), ("ML10", "test")])
def test_goals_are_those_of_the_seed(name, split):
    goals = draw_goals(name, 7, split)
    assert list(goals) == members(name, split)
    for task, starts in goals.items():
        assert starts.shape == (50, starts.shape[1])
        np.testing.assert_array_equal(starts[::49], recorded("starts.npz")[f"{name}/{split}/{task}"])


def test_members():
    assert [len(members(f"{kind}{size}")) for kind in ("MT", "ML") for size in (10, 25)] == [10, 25, 10, 25]
    assert members("MT50") == list(KINDS) and len(members("ML45")) == 45
    assert not set(members("ML45")) & set(members("ML45", "test"))
    with pytest.raises(ValueError, match="MT10 has no tasks to test on"):
        members("MT10", "test")


def test_groups_step_as_alone():
    envs = make(use_one_hot=True)
    first, _ = envs.reset(seed=3)
    assert first.shape == (N, 49)
    np.testing.assert_array_equal(first[:, 39:], np.eye(10)[envs.task_of_env])
    alone = tumble.make_vec("metaworld/push-v3", 2, output="numpy", simulator="mujoco", goals=envs.goals["push-v3"])
    own, _ = alone.reset(seed=5)
    np.testing.assert_array_equal(own, first[2:4, :39])
    for action in actions():
        observation, reward, *_, info = envs.step(action)
        seen, worth, *_, infos = alone.step(action[2:4])
        np.testing.assert_array_equal(seen, observation[2:4, :39])
        np.testing.assert_array_equal(worth, reward[2:4])
        np.testing.assert_array_equal(infos["grasp_reward"], info["grasp_reward"][2:4])
        assert info["_success"].all()
    envs.close()
    alone.close()


def test_copies_states_and_threads():
    envs, threaded = make(), make(threads=2)
    envs.reset(seed=1)
    threaded.reset(seed=1)
    played = actions()
    for action in played[:4]:
        assert same(envs.step(action), threaded.step(action))
    state, other = envs.state_dict(), copy.deepcopy(envs)
    later = [envs.step(action) for action in played[4:]]
    assert all(same(result, other.step(action)) for result, action in zip(later, played[4:], strict=True))
    envs.load_state_dict(state)
    assert all(same(result, envs.step(action)) for result, action in zip(later, played[4:], strict=True))
    for each in (envs, threaded, other):
        each.close()


def test_final_observations_and_partial_resets():
    envs = make(max_episode_steps=5, use_one_hot=True)
    elapsed = np.arange(N) % 5
    envs.reset(seed=1, options={"elapsed_steps": elapsed})
    _, _, _, truncated, info = envs.step(actions()[0])
    np.testing.assert_array_equal(truncated, elapsed == 4)
    np.testing.assert_array_equal(info["_final_obs"], truncated)
    np.testing.assert_array_equal(info["final_obs"][:, 39:].sum(1), truncated)
    assert not info["final_info"]["grasp_reward"][~truncated].any()
    np.testing.assert_array_equal(envs.episode_lengths, np.where(truncated, 0, elapsed + 1))
    envs.reset(options={"reset_mask": np.arange(N) < 7})
    np.testing.assert_array_equal(envs.episode_lengths[:7], 0)
    envs.close()


def test_meta_learning_keeps_and_shares_goals():
    envs = make("metaworld/ML10", split="test", num_envs=10)

    def places() -> np.ndarray:
        memories = [group.batch._memory.arrays for group in envs.groups]
        return np.concatenate([np.hstack((memory["start"], memory["target"])) for memory in memories])

    first, _ = envs.reset(seed=1)
    assert not first[:, 36:].any()
    kept = places()
    envs.reset()
    np.testing.assert_array_equal(places(), kept)
    envs.sample_tasks()
    assert (places() != kept).any(1).all()
    for task, group in zip(envs.task_names, envs.groups, strict=True):
        for env in range(2):
            starts = group.task.start_of(envs.goals[task][env::2]).memory["target"]
            assert (abs(starts - group.batch._memory.arrays["target"][env]).max(1) < 1e-12).any()
    envs.close()


def test_wrong_arguments():
    with pytest.raises(ValueError, match="MT10 has 10 tasks"):
        make(num_envs=15)
    with pytest.raises(ValueError, match="env_name='reach'; there is reach-v3"):
        make("metaworld/MT1", 1, env_name="reach")
    with pytest.raises(ValueError, match="only MT1 and ML1 have it, not MT10"):
        make(env_name="reach-v3")
    with pytest.raises(ValueError, match="a set draws them itself"):
        make(goals=None)
    with pytest.raises(ValueError, match="only make_vec makes"):
        tumble.make("metaworld/MT10")
    envs = make(num_envs=10)
    envs.reset(seed=1)
    bad = actions(10)[0]
    bad[7, 2] = np.nan
    with pytest.raises(ValueError, match="7"):
        envs.step(bad)
    envs.close()


@pytest.mark.slow
def test_threads_in_tumble():
    both = [make(threads=threads, simulator="tumble") for threads in (1, 2)]
    for envs in both:
        envs.reset(seed=1)
    for action in actions():
        assert same(*(envs.step(action) for envs in both))
    for envs in both:
        envs.close()


@pytest.mark.slow
def test_as_vector_environments_are():
    tumble.check_vector_env("metaworld/MT10", num_envs=10, simulator="mujoco", seed=3, use_one_hot=True)
