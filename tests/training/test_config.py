"""Configurations are complete, round-trip, and explain their mistakes."""

import pytest

from tumble.training.config import CONFIG_FOLDER, ConfigError, PPOConfig, RunConfig, packaged_algorithms
from tumble.training.tasks import TaskError, find_task, task_ids

PACKAGED = sorted(CONFIG_FOLDER.glob("*.toml"))


@pytest.mark.parametrize("path", PACKAGED, ids=lambda path: path.stem)
def test_packaged_configurations_load_and_say_what_they_are(path):
    config = RunConfig.load(path)
    assert path.stem == f"{config.task.removeprefix('tumble/')}-{config.algo}"
    assert config.task in task_ids()
    if config.algo == "ppo":
        collected = config.num_envs * config.ppo.n_steps
        assert collected % config.ppo.batch_size == 0, "minibatches of unequal size"
        assert config.total_steps % collected == 0, "the last iteration would go past total_steps"


@pytest.mark.parametrize("task", [task for task in task_ids() if task.startswith("tumble/")])
def test_every_task_can_be_trained_by_both_algorithms(task):
    assert packaged_algorithms(task) == ["ppo", "sac"]


def test_snapshot_round_trips(tmp_path, small_ppo):
    config = small_ppo.replace(seed=9)
    config = RunConfig(**{**vars(config), "env": {"healthy_z_range": (0.7, float("inf")), "note": 'a "b" \\ c'}})
    path = tmp_path / "config.toml"
    path.write_text(config.to_toml())
    loaded = RunConfig.load(path)
    assert loaded.env == {"healthy_z_range": [0.7, float("inf")], "note": 'a "b" \\ c'}
    assert loaded.replace(env=config.env) == config


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('task = "a"\nalgo = "ppo"\nnum_env = 3', "unknown key 'num_env'; did you mean 'num_envs'"),
        ('task = "a"\nalgo = "ppo"\n[ppo]\nlearning_rat = 1e-3', "'ppo.learning_rat'; did you mean 'learning_rate'"),
        ('task = "a"\nalgo = "ppo"\n[ppo]\ngamma = "high"', "'ppo.gamma' must be a number, not 'high'"),
        ('task = "a"\nalgo = "ppo"\nnum_envs = true', "'num_envs' must be a whole number"),
        ('task = "a"\nalgo = "ppo"\n[policy]\nhidden = [64, 0.5]', "'policy.hidden' must be a list of whole numbers"),
        ('task = "a"\nalgo = "ppo"\n[policy]\nactivation = "step"', "policy.activation must be one of"),
        ('task = "a"\nalgo = "dqn"', "algo must be one of ppo, sac, td3, not 'dqn'"),
        ('task = "a"\nalgo = "ppo"\nppo = 3', "'ppo' must be a table"),
        ('algo = "ppo"', "missing key 'task'"),
        ("task = ", "Invalid value"),
    ],
)
def test_mistakes_name_the_file_the_key_and_the_remedy(tmp_path, text, message):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(ConfigError) as raised:
        RunConfig.load(path)
    assert str(path) in str(raised.value) and message in str(raised.value)


def test_missing_files_and_configurations_are_named(tmp_path):
    with pytest.raises(ConfigError, match="no such configuration file"):
        RunConfig.load(tmp_path / "none.toml")
    with pytest.raises(ConfigError, match="--config"):
        RunConfig.packaged("tumble/Nothing-v0", "ppo")


def test_whole_numbers_serve_as_numbers(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text('task = "a"\nalgo = "ppo"\n[ppo]\ngamma = 1')
    assert RunConfig.load(path).ppo == PPOConfig(gamma=1.0)


@pytest.mark.parametrize("name", ["tumble/HalfCheetah-v0", "HalfCheetah-v0", "HalfCheetah", "half_cheetah"])
def test_tasks_are_found_by_any_of_their_names(name):
    assert find_task(name) == "tumble/HalfCheetah-v0"


def test_an_unknown_task_suggests_the_nearest():
    with pytest.raises(TaskError, match="did you mean tumble/HalfCheetah-v0"):
        find_task("HalfChetah")
    with pytest.raises(TaskError, match="there are tumble/"):
        find_task("zzz")
    assert packaged_algorithms("me/Ant-v0") == packaged_algorithms("/tmp/ant.py:me/Ant-v0") == []
