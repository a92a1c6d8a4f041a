"""A run's tables `[randomize]`, `[observe]` and `[delay]`: read, refused, trained with, evaluated with and without."""

import json
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

from tumble.envs import Push, Scatter, dr
from tumble.envs.managers.options import ManagerOptions
from tumble.training.config import ConfigError, RunConfig
from tumble.training.evaluate import make_envs, twin_of
from tumble.training.runs import Run

from ..cases import cases

HEAD = 'task = "tumble/InvertedPendulum-v0"\nalgo = "ppo"\n'
TABLES = """
[randomize]
mass = [0.8, 1.2]
damping = { low = 0.5, high = 2.0, joints = "hinge", when = [0.2, 0.4] }

[[randomize.gravity]]
low = -0.5
high = 0.5
axes = 2

[randomize.gear]
term = "actuator_gear"
low = 0.9
high = 1.1
shared = true

[observe]
"0:2" = { noise = 0.01, bias = [0.01, 0.02] }
"2:" = { noise = 0.05, distribution = "normal", history = 2 }

[delay]
action = [0.0, 0.04]
observation = 0.04
unit = "seconds"
"""
SMALL = ["--steps", 512, "--num-envs", 16, "--no-progress", "--set", "ppo.n_steps=32"]


def test_tables_are_read_written_and_used(tmp_path):
    """The snapshot of a run has the same tables, and the environments are those of the objects."""
    (tmp_path / "a.toml").write_text(HEAD + TABLES)
    config = RunConfig.load(tmp_path / "a.toml")
    (tmp_path / "b.toml").write_text(config.to_toml())
    assert RunConfig.load(tmp_path / "b.toml") == config and '"0:2"' in config.to_toml()
    envs = make_envs(config, "tumble", 3)
    options = envs.unwrapped.batch.managers.options
    assert [term.parameter for term in options.randomize] == ["mass", "dof_damping", "gravity", "actuator_gear"]
    assert options.randomize[1].when == (0.2, 0.4) and options.randomize[2].axes == 2 and options.randomize[3].shared
    assert options.observe["0:2"].bias == (0.01, 0.02) and options.observe["2:"].history == 2
    assert envs.unwrapped.batch.managers.options.delay.steps("action", envs.unwrapped.task.dt) == (0, 1)
    assert envs.single_observation_space.shape == (6,)
    envs.close()


@cases(
    "text, message",
    [
        ("[randomize]\nfricton = [0.4, 1.0]", "randomize.fricton: no term is called 'fricton'; there is friction"),
        ("[randomize]\nfriction = 0.4", "randomize.friction: 0.4: write [0.8, 1.2] or { low = 0.8, high = 1.2 }"),
        ("[randomize.friction]\nlow = 0.4", "randomize.friction: high is missing"),
        ("[randomize.friction]\nlow = 0.4\nhigh = true", "randomize.friction.high is True; it must be a number or"),
        ("[randomize.mass]\nlow = 1\nhigh = 2\nbody = 'x'", "randomize.mass: there is no 'body'; there is bodies"),
        ("[randomize.push]\nspeed = 0.5", "randomize.push.speed is 0.5; it must be a pair of numbers [low, high]"),
        (
            "[[randomize.kp]]\nlow = 1\nhigh = 2\n[[randomize.kp]]\nlo = 1",
            "randomize.kp[1]: there is no 'lo'; there is low",
        ),
        ("[randomize.friction]\nlow = 1\nhigh = 2\nkind = 'rol'", "randomize.friction: friction: kind='rol'"),
        ("randomize = true", "'randomize' must be a table"),
        ("[env]\nrandomize = true\n[randomize]\nmass = [0.9, 1.1]", "'randomize' is in env too"),
        ("[observe.policy]\nnois = 0.1", "observe.policy: there is no 'nois'; there is noise"),
        ("[observe]\nnoise = -0.1", "observe: noise=-0.1: it must be at least 0"),
        ("[delay]\naction = 1.5", "delay.action is 1.5; steps are whole numbers"),
        ("[delay]\naction = 1\nunit = 'ms'", "delay.unit is 'ms'; there are steps and seconds"),
    ],
)
def test_mistakes_name_the_file_and_the_field(tmp_path, text, message):
    path = tmp_path / "mine.toml"
    first, _, rest = text.partition("\n") if text.startswith("randomize") else ("", "", text)
    path.write_text(f"{HEAD}{first}\n{rest}")
    with pytest.raises(ConfigError) as raised:
        RunConfig.load(path)
    assert str(path) in str(raised.value) and message in str(raised.value)


def test_the_tables_of_the_page_are_as_it_says(tmp_path):
    """They can be read and make environments; the table is short for the objects above it."""
    text = (Path(__file__).resolve().parents[2] / "docs" / "randomize.md").read_text("utf-8")
    (tables,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    (tmp_path / "a.toml").write_text(HEAD.replace("InvertedPendulum", "Ant") + tables)
    config = RunConfig.load(tmp_path / "a.toml")
    envs = make_envs(config, "tumble", 2)
    options = envs.unwrapped.batch.managers.options
    terms = [dr.friction(0.4, 1.0, geoms="floor"), dr.mass(0.9, 1.1), dr.damping(0.5, 2.0, when="start")]
    assert list(options.randomize[:4]) == [*terms, Push(speed=(0.0, 1.0), when=(2.0, 4.0))]
    assert options.randomize[4] == Scatter("hip_.*", position=(-0.1, 0.1), velocity=(-0.5, 0.5))
    assert options.delay.steps("action", 0.05) == (0, 2) and envs.single_observation_space.shape == (119,)
    feet = re.search(r"`feet = (\{ term = .*?\})`", text).group(1)
    (term,) = ManagerOptions.of(randomize={"feet": tomllib.loads(f"feet = {feet}")["feet"]}).randomize
    assert term == dr.friction(0.4, 1.0, geoms=".*_foot")
    envs.close()


def test_settings_of_the_command(tmp_path, command):
    settings = ["randomize.friction=[0.4, 1.0]", "randomize.push.speed=[0, 0.5]", "randomize.push.when=[2, 3]"]
    settings += ["observe.0:3.noise=0.1", "delay.action=[0, 2]"]
    given = [argument for setting in settings for argument in ("--set", setting)]
    (tmp_path / "a.toml").write_text(command("config", "Ant", *given))
    config = RunConfig.load(tmp_path / "a.toml")
    assert config.randomize == {"friction": [0.4, 1.0], "push": {"speed": [0, 0.5], "when": [2, 3]}}
    assert config.observe == {"0:3": {"noise": 0.1}} and config.delay == {"action": [0, 2]}
    message = command.mistake("config", "Ant", "--set", "randomize.frction=[0.4, 1.0]")
    assert "randomize.frction: no term is called 'frction'; there is friction" in message
    message = command.mistake("config", "Ant", "--set", "randomize.friction.geoms=nose")
    assert "randomize.friction: low and high are missing" in message
    nose = "randomize.friction={ low = 0.4, high = 1.0, geoms = 'nose' }"
    message = command.mistake("train", "Ant", *SMALL, "--set", nose, "--out", tmp_path / "run")
    assert "tumble/Ant-v0: randomize: Randomize('geom_friction'): geoms='nose': the model has none" in message


def test_a_run_trains_and_is_judged_with_and_without(tmp_path, command):
    """In MuJoCo the task's own code plays, as Gymnasium's class knows nothing of managers."""
    (tmp_path / "a.toml").write_text(HEAD + TABLES)
    command("train", "--config", tmp_path / "a.toml", *SMALL, "--out", tmp_path / "run")
    command("train", "--resume", tmp_path / "run", "--steps", 1024, "--no-progress")
    run = Run(tmp_path / "run")
    assert twin_of(run.config, "mujoco") is None and twin_of(
        run.config.replace(randomize={}, observe={}, delay={}), "mujoco"
    )
    command("evaluate", run.folder, "--episodes", 8, "--in", "tumble", "--in", "mujoco")
    ours, theirs = (json.loads((run.folder / f"evaluation-{name}.json").read_text()) for name in ("tumble", "mujoco"))
    np.testing.assert_allclose(ours["returns"], theirs["returns"], atol=2)
    assert theirs["environment"] == ""
    command("evaluate", run.folder, "--episodes", 8, "--option", "randomize=false", "--option", "delay=false")
    command("export", run.folder, "--torchscript", tmp_path / "actor.pt")
    assert (tmp_path / "actor.pt").exists()
