"""RLlib's runner collects from our vector environments what they gave, whole episodes with their last observations."""

import gymnasium as gym
import numpy as np
import pytest

from tumble.training.rllib import make_envs
from tumble.wrappers import RecordEpisodeStatistics

from ..envs.own_tasks import Counter


def test_what_is_missing_is_said():
    with pytest.raises(ValueError, match='gym_env_vectorize_mode="vector_entry_point"'):
        make_envs({"task": "Ant"})
    with pytest.raises(ValueError, match=r'\{"task": "Ant"\}'):
        make_envs({"num_envs": 4})
    with pytest.raises(TypeError, match="autoreset_mode"):
        make_envs({"task": "Ant", "num_envs": 4, "autoreset_mode": "SAME_STEP"})


LIMIT, NUM_ENVS, STEPS = 5, 3, 60
GAMMA, VALUE = 0.9, 10.0


def configured(env, **env_config):
    """Settings of PPO for a runner in this process."""
    ppo = pytest.importorskip("ray.rllib.algorithms.ppo", reason="Ray RLlib is not installed")
    config = ppo.PPOConfig().environment(env, env_config=env_config).training(gamma=GAMMA, lambda_=1.0)
    vectorized = {"gym_env_vectorize_mode": "vector_entry_point", "num_envs_per_env_runner": NUM_ENVS}
    return config.env_runners(num_env_runners=0, **vectorized).debugging(seed=0)


def runner_of(config):
    from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner

    return SingleAgentEnvRunner(config=config)


@pytest.fixture(scope="module")
def counted():
    """Return the settings, the runner, its episodes, and our own monitor of the same environments."""
    monitors = []

    def monitored(context):
        monitors.append(RecordEpisodeStatistics(make_envs(context)))
        return monitors[-1]

    config = configured(monitored, task=Counter, max_episode_steps=LIMIT)
    runner = runner_of(config)
    episodes = runner.sample(num_timesteps=STEPS, random_actions=True)
    yield config, runner, episodes, monitors[-1]
    runner.stop()


@pytest.mark.filterwarnings("ignore")
def test_episodes_are_whole(counted):
    """Observations count from 0 to the last one, in whose place the next episode's first must not be."""
    _, runner, episodes, monitor = counted
    for episode in episodes:
        actions = episode.get_actions()
        np.testing.assert_array_equal(episode.get_observations()[:, 0], np.arange(len(episode) + 1))
        np.testing.assert_array_equal(episode.get_rewards(), actions)
        assert episode.is_terminated == (actions[-1] >= 3) and not (actions[:-1] >= 3).any()
        assert episode.is_truncated == (len(episode) == LIMIT)
        assert [set(info) & {"begun", "action"} for info in episode.get_infos()] == [{"begun"}] + [{"action"}] * len(
            episode
        )
    ended = [episode for episode in episodes if episode.is_done]
    assert len(ended) > 2 * NUM_ENVS and any(not episode.is_terminated for episode in ended)
    assert [len(episode) for episode in ended] == list(monitor.length_queue)
    assert [episode.get_return() for episode in ended] == list(monitor.return_queue)
    metrics = runner.get_metrics()
    assert metrics["num_episodes"].peek() == len(ended) == monitor.episode_count
    assert sum(map(len, episodes)) == metrics["num_env_steps_sampled"].peek() >= STEPS


@pytest.mark.filterwarnings("ignore")
def test_a_truncated_episode_goes_on_with_the_value_of_its_last_observation(counted):
    """With lambda = 1 the target of a value is the discounted return, plus the value after a time limit."""
    config, runner, episodes, _ = counted
    learner = config.build_learner(env=runner.env.unwrapped)
    module = learner.module["default_policy"]
    module.compute_values = lambda batch, embeddings=None: VALUE * batch["obs"][:, 0]
    expected = []
    for episode in episodes:
        following = 0.0 if episode.is_terminated else VALUE * len(episode)
        targets = []
        for reward in episode.get_rewards()[::-1]:
            targets.append(following := reward + GAMMA * following)
        expected += [*targets[::-1], np.nan]  # RLlib adds a step to the episode, and masks it
    batch = learner._learner_connector(rl_module=learner.module, batch={}, episodes=episodes, shared_data={})
    targets, mask = (batch["default_policy"][name].numpy() for name in ("value_targets", "loss_mask"))
    assert len(targets) == len(expected) and mask.tolist() == (~np.isnan(expected)).tolist()
    np.testing.assert_allclose(targets[mask], np.array(expected)[mask], rtol=1e-5)


@pytest.mark.filterwarnings("ignore")
def test_environments_are_made_by_name():
    """RLlib makes them by an id with the module to import, as it makes Gymnasium's, and by a registered name."""
    tune = pytest.importorskip("ray.tune", reason="Ray is not installed")
    tune.register_env("pendulums", make_envs)
    chosen = {"output": "numpy", "autoreset_mode": "NEXT_STEP"}
    for config in (
        configured("tumble:tumble/InvertedPendulum-v0", **chosen),
        configured("pendulums", task="InvertedPendulum"),
    ):
        runner = runner_of(config)
        envs = runner.env.unwrapped
        assert envs.metadata["autoreset_mode"] == gym.vector.AutoresetMode.NEXT_STEP and not envs.metadata["torch"]
        ended = [episode for episode in runner.sample(num_timesteps=100, random_actions=True) if episode.is_done]
        assert len(ended) > NUM_ENVS and all(episode.is_terminated for episode in ended)
        for episode in ended:
            angles = np.abs(episode.get_observations()[:, 1])
            assert angles[0] <= 0.01 and (angles[:-1] <= 0.2).all() and angles[-1] > 0.2
        runner.stop()


@pytest.mark.filterwarnings("ignore")
def test_returns_that_training_reports_are_those_of_our_monitor():
    """Also of episodes that RLlib cuts into fragments; to the lengths that it reports it adds a step for each cut."""
    tune = pytest.importorskip("ray.tune", reason="Ray is not installed")
    tune.register_env("monitored", lambda context: RecordEpisodeStatistics(make_envs(context), buffer_length=1000))
    config = configured("monitored", task=Counter, max_episode_steps=LIMIT)
    rows = {"train_batch_size_per_learner": 2 * NUM_ENVS, "minibatch_size": NUM_ENVS, "num_epochs": 1}
    algorithm = config.env_runners(rollout_fragment_length=2).training(**rows).build_algo()
    monitor, ended = algorithm.env_runner.env, 0
    while not isinstance(monitor, RecordEpisodeStatistics):
        monitor = monitor.env
    for _ in range(12):
        reported = algorithm.train()["env_runners"]
        returns = list(monitor.return_queue)[ended:]
        ended += len(returns)
        assert reported["num_episodes_lifetime"] == ended
        if returns:
            assert reported["episode_return_mean"] == pytest.approx(np.mean(returns))
    algorithm.stop()
    assert max(monitor.length_queue) == LIMIT, "episodes were cut"
