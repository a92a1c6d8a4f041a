"""Configurations are complete, round-trip, and explain their mistakes."""

import pytest

from tumble.envs.registry import V5
from tumble.training.config import ALGORITHMS, CONFIG_FOLDER, ConfigError, PPOConfig, RunConfig, packaged_algorithms
from tumble.training.tasks import TaskError, find_task, task_ids

from ..cases import cases

PACKAGED = sorted(CONFIG_FOLDER.glob("*.toml"))


@cases("path", PACKAGED, label=lambda path: path.stem)
def test_packaged_configurations_load_and_say_what_they_are(path):
    config = RunConfig.load(path)
    names = config.task.removeprefix("tumble/"), config.task.partition("/")[0]  # of a task, or of a suite
    assert path.stem in [f"{name}-{config.algo}" for name in names]
    assert config.task in task_ids()
    if config.algo == "ppo":
        collected = config.num_envs * config.ppo.n_steps
        assert collected % config.ppo.batch_size == 0, "minibatches of unequal size"
        assert config.total_steps % collected == 0, "the last iteration would go past total_steps"


@cases("task", [f"tumble/{name}-v0" for name in V5])
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


@cases(
    "text, message",
    [
        ('task = "a"\nalgo = "ppo"\nnum_env = 3', "unknown key 'num_env'; did you mean 'num_envs'"),
        ('task = "a"\nalgo = "ppo"\n[ppo]\nlearning_rat = 1e-3', "'ppo.learning_rat'; did you mean 'learning_rate'"),
        ('task = "a"\nalgo = "ppo"\n[ppo]\ngamma = "high"', "'ppo.gamma' must be a number, not 'high'"),
        ('task = "a"\nalgo = "ppo"\nnum_envs = true', "'num_envs' must be a whole number"),
        ('task = "a"\nalgo = "ppo"\n[policy]\nhidden = [64, 0.5]', "'policy.hidden' must be a list of whole numbers"),
        ('task = "a"\nalgo = "ppo"\n[policy]\nactivation = "step"', "policy.activation must be one of"),
        ('task = "a"\nalgo = "dqn"', "algo must be one of ppo, sac, td3, recurrent_ppo, not 'dqn'"),
        ('task = "a"\nalgo = "ppo"\nppo = 3', "'ppo' must be a table"),
        ('task = "a"\nalgo = "ppo"\n[policy]\nhidden = [1e9, 1e6]', "'policy.hidden' must be a list of whole numbers"),
        (
            'task = "a"\nalgo = "ppo"\n[policy]\nhidden = [1000000000, 1000000]',
            "policy.hidden: a layer has 1 to 65,536 units, as a whole number, not [1000000000, 1000000]",
        ),
        (
            'task = "a"\nalgo = "ppo"\n[policy]\ncritic_hidden = [65536, 65536]',
            "policy.critic_hidden: layers of [65536, 65536] units have 4,294,967,296 weights between them",
        ),
        ('task = "a"\nalgo = "ppo"\n[policy]\nhidden = [64, 0]', "policy.hidden: a layer has 1 to 65,536 units"),
        ('task = "a"\nalgo = "ppo"\nnum_envs = 10000000000', "num_envs is 10,000,000,000; 1,000,000,000 are the most"),
        (
            'task = "a"\nalgo = "ppo"\nnum_envs = 100000\n[ppo]\nn_steps = 100000',
            "num_envs x ppo.n_steps is 10,000,000,000",
        ),
        ('task = "a"\nalgo = "sac"\n[sac]\nbuffer_size = 10000000000', "sac.buffer_size is 10,000,000,000"),
        ('task = "a"\nalgo = "td3"\n[td3]\nbuffer_size = 10000000000', "td3.buffer_size is 10,000,000,000"),
        ('task = "a"\nalgo = "ppo"\nthreads = 100000', "threads=100,000: 1,024 are the most"),
        ('task = "a"\nalgo = "ppo"\n[ppo]\nclip_range = nan', "'ppo.clip_range' is nan"),
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


@cases("algo", ALGORITHMS)
@cases("task", ["tumble/HalfCheetah-v0", "me/Own-v0"])
def test_a_printed_configuration_trains_the_same(tmp_path, task, algo):
    config = RunConfig.packaged(task, algo) if algo in packaged_algorithms(task) else RunConfig.default(task, algo)
    (tmp_path / "a.toml").write_text(config.to_toml())
    assert RunConfig.load(tmp_path / "a.toml") == config


def test_the_command_prints_what_it_would_train(tmp_path, command):
    for arguments in (["HalfCheetah"], ["Ant", "--algo", "td3", "--set", "td3.tau=0.5", "--option", "frame_skip=4"]):
        printed = command("config", *arguments)
        (tmp_path / "a.toml").write_text(printed)
        config = RunConfig.load(tmp_path / "a.toml")
    assert RunConfig.packaged("tumble/HalfCheetah-v0", "ppo").to_toml() in command("config", "HalfCheetah")
    assert (config.algo, config.td3.tau, config.env) == ("td3", 0.5, {"frame_skip": 4})
    assert "packaged" in command("config", "Ant") and "defaults" in command("config", "Ant", "--algo", "td3")


def test_any_value_can_be_set(tmp_path, command):
    settings = ["ppo.learning_rate=1e-4", "seed=7", "policy.hidden=[32, 16]", "policy.activation=relu", "num_envs=1"]
    settings += ["normalize.rewards=false", "ppo.gamma=1", "env.frame_skip=3", "env.model_options.timestep=0.5"]
    given = [argument for setting in settings for argument in ("--set", setting)]
    (tmp_path / "a.toml").write_text(command("config", "Ant", *given))
    config = RunConfig.load(tmp_path / "a.toml")
    assert (config.ppo.learning_rate, config.ppo.gamma, config.seed, config.num_envs) == (1e-4, 1.0, 7, 1)
    assert config.policy.hidden == (32, 16) and config.policy.activation == "relu" and not config.normalize.rewards
    assert config.env == {"frame_skip": 3, "model_options": {"timestep": 0.5}}
    assert config.ppo.n_steps == RunConfig.packaged("tumble/Ant-v0", "ppo").ppo.n_steps


@cases(
    "setting, message",
    [
        ("ppo.learning_rat=1", "unknown key 'ppo.learning_rat'; did you mean 'ppo.learning_rate'"),
        ("learning_rate=1", "did you mean 'ppo.learning_rate'?"),
        ("gama=1", "did you mean 'ppo.gamma'"),
        ("ppo.lr=1", "unknown key 'ppo.lr'; did you mean 'ppo.learning_rate'?"),
        ("lr=1", "did you mean 'ppo.learning_rate'?"),
        ("ppo.lam=1", "did you mean 'ppo.gae_lambda'?"),
        ("policy.learning_rate=1", "did you mean 'ppo.learning_rate'?"),
        ("ppo.epochs=1", "did you mean 'ppo.n_epochs'?"),
        ("qqq=1", "known keys: task, algo, total_steps"),
        ("ppo.gamma=high", "'ppo.gamma' must be a number, not 'high'"),
        ("num_envs=1.5", "'num_envs' must be a whole number, not 1.5"),
        ("num_envs=0", "num_envs, threads must be > 0"),
        ("policy.actor_parts=[1]", "'policy.actor_parts' must be a list of strings, not [1]"),
        ("ppo.learner=fast", "ppo.learner must be one of sb3, lean"),
        ("sac.gamma=0.9", "changes nothing: the algorithm is ppo, not sac"),
        ("task=Ant", "name it as TASK"),
        ("algo=sac", "use --algo"),
        ("env.num_envs=3", "use --num-envs"),
        ("ppo=3", "unknown key 'ppo'"),
        ("seed", "write KEY=VALUE"),
        ("=3", "write KEY=VALUE"),
    ],
)
def test_mistakes_in_settings_name_the_remedy(command, setting, message):
    assert message in command.mistake("train", "HalfCheetah", "--set", setting)


def test_whole_numbers_serve_as_numbers(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text('task = "a"\nalgo = "ppo"\n[ppo]\ngamma = 1')
    assert RunConfig.load(path).ppo == PPOConfig(gamma=1.0)


@cases("name", ["tumble/HalfCheetah-v0", "HalfCheetah-v0", "HalfCheetah", "half_cheetah"])
def test_tasks_are_found_by_any_of_their_names(name):
    assert find_task(name) == "tumble/HalfCheetah-v0"


def test_an_unknown_task_suggests_the_nearest():
    with pytest.raises(TaskError, match="did you mean tumble/HalfCheetah-v0"):
        find_task("HalfChetah")
    with pytest.raises(TaskError, match="there are tumble/"):
        find_task("zzz")
    assert packaged_algorithms("me/Ant-v0") == packaged_algorithms("/tmp/ant.py:me/Ant-v0") == []
