"""The page about managers is true: its task uses all of them, in environments of every kind, and trains."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import tumble
from tumble.envs.managers import randomize
from tumble.training.cli import main

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE = (DOCS / "your_own_task.md").read_text(encoding="utf-8")
EXAMPLES = DOCS.parent / "examples" / "tasks"


@pytest.fixture(scope="module")
def walk() -> Iterator:
    """The page's task as a module; what it registers is forgotten afterwards."""
    registered = dict(gym.registry)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(EXAMPLES), *sys.path])
        import walk

        yield walk
    del sys.modules["walk"]
    gym.registry.clear()
    gym.registry.update(registered)


@pytest.fixture(scope="module")
def envs(walk) -> Iterator:
    """Some environments."""
    envs = tumble.make_vec(walk.Walk, 8, max_episode_steps=500, autoreset_mode="SAME_STEP", output="numpy")
    yield envs
    envs.close()


def test_the_robot_stands_pushed_and_randomized(envs):
    """Most of the time, without corrections; the critic knows the friction, the policy sees noise, and gains change."""
    observation, _ = envs.reset(seed=0)
    assert {name: part.shape[1] for name, part in observation.items()} == {"policy": 69, "critic": 53}
    solver, ended, gains = envs.solver, 0, []
    for _ in range(400):
        observation, _, terminated, _, info = envs.step(np.zeros((8, 12), np.float32))
        ended += terminated.sum()
        gains.append(solver.get_parameters("actuator_biasprm")[:, 0, 2].numpy())
        floor = solver.get_parameters("geom_friction")[:, envs.task.model.geom("floor").id, 0]
        np.testing.assert_allclose(observation["critic"][:, 48], floor, rtol=1e-6)
        assert (observation["policy"][:, :3] != observation["critic"][:, :3]).any()
    assert not solver.faults.any() and ended < 10
    assert (np.diff(np.array(gains), axis=0) != 0).sum(0).max() <= 3
    assert (np.diff(np.array(gains), axis=0) != 0).any()
    assert set(info) >= {"tracking_error", "difficulty", "reward_track", "reward_air_time"}


def test_a_seed_determines_everything(envs):
    runs = []
    for _ in range(2):
        envs.reset(seed=3)
        actions = np.random.default_rng(0).uniform(-0.5, 0.5, (60, 8, 12)).astype(np.float32)
        runs.append([envs.step(action)[0]["critic"] for action in actions])
    np.testing.assert_array_equal(*runs)


@pytest.mark.slow
def test_gymnasium_finds_nothing_wrong(walk):
    env = gym.make("me/Walk-v0")
    check_env(env.unwrapped, skip_render_check=True)
    env.close()


def test_the_tables_name_what_there_is():
    """Every function of terms is in the table, and every option that terms have."""
    functions = {name for name in vars(randomize) if name.islower() and not name.startswith("_")}
    own = {name for name in functions if getattr(vars(randomize)[name], "__module__", "") == randomize.__name__}
    table = PAGE.partition("| `dr.` |")[2].partition("\n\n")[0]
    assert own <= set(re.findall(r"\w+", table))
    options = PAGE.partition("| option | values |")[2].partition("\n\n")[0]
    fields = {name for name in randomize.Randomize.__dataclass_fields__ if not name.startswith("_")}
    named = re.findall(r"`(\w+)`", re.sub(r"\|[^|]*\|$", "|", options, flags=re.M))
    assert fields - {"parameter", "low", "high"} == set(named)


@pytest.mark.slow
def test_it_trains(walk, tmp_path, monkeypatch):
    """The command of the page, for a shorter time."""
    monkeypatch.chdir(Path(walk.__file__).parent)
    (command,) = re.findall(r"`tumble (train walk.py .*?)`", PAGE)
    words = command.replace("2_000_000", "100_000").replace("runs/walk", str(tmp_path / "walk")).split()
    monkeypatch.setattr(sys, "argv", ["tumble", *words])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert not stopped.value.code
