"""The command `tumble suite`: a suite's tasks with one configuration, and their table."""

import importlib.util
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from tumble.envs.registry import suite_rows
from tumble.training.cli import app
from tumble.training.config import RunConfig, packaged_algorithms
from tumble.training.results.suite_table import TaskScores, over_tasks, page, published

HERE = importlib.util.find_spec("dm_control") is not None
SCORES = [
    TaskScores("dm_control/cartpole-balance-v0", [900.0, 700.0], [], 1000, [1.0, 2.0]),
    TaskScores("dm_control/pendulum-swingup-v0", [0.0, 500.0], [0.0, 0.5], 1000, [1.0, 1.0]),
]


def run(*arguments):
    return CliRunner().invoke(app, ["suite", *map(str, arguments)])


@pytest.mark.parametrize(("suite", "tasks"), [("dm_control", 51), ("humanoid_bench", 14)])
def test_one_configuration_for_all_tasks(suite, tasks):
    ids = [name for name in suite_rows() if name.startswith(f"{suite}/")]
    configs = [RunConfig.packaged(name, "ppo") for name in ids]
    assert [config.task for config in configs] == ids and len(ids) == tasks
    assert len({config.replace(task="same").to_toml() for config in configs}) == 1
    assert packaged_algorithms("dm_control/dog-run-v0") == ["ppo"]


def test_figures_over_tasks():
    """Interquartile mean of four normalised scores: that of the middle two."""
    figures = over_tasks(SCORES)
    assert figures["tasks"] == 2
    assert figures["mean"] == pytest.approx(np.mean([0.8, 0.25])) == figures["median"]
    assert figures["interquartile"]["mean"] == pytest.approx(np.mean([0.5, 0.7]))
    low, high = figures["interquartile"]["interval"]
    assert low < figures["interquartile"]["mean"] < high


def test_the_page_has_published_scores():
    known = published()
    assert set(known) <= set(suite_rows())
    text = page("dm_control", SCORES, known, over_tasks(SCORES))
    assert "| dm_control/cartpole-balance-v0 | 2 | 1,000 | 1.5 | 800.0 ± 141.4 |" in text
    assert f"{known['dm_control/cartpole-balance-v0']['SimbaV2'][0]:g}" in text


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["dm_contol"], "no suite 'dm_contol'; there is dm_control"),
        (["dm_control", "--tasks", "dog-rum"], "dm_control has no task 'dog-rum'; there is dog-run"),
        (["dm_control", "--tasks", "lqr-lqr_2_1"], "has no time limit, and no bounds of actions"),
        (["dm_control", "--tasks", ""], "names no task"),
        (["dm_control", "--tasks", "dog-run,dm_control/dog-run-v0"], "dm_control/dog-run-v0 is there twice"),
        (["dm_control", "--seeds", "x"], "write whole numbers"),
    ],
)
def test_wrong_words(arguments, says, tmp_path):
    done = run(*arguments, "--out", tmp_path)
    assert done.exit_code != 0 and says in str(done.exception)


@pytest.mark.skipif(not HERE, reason="dm_control is not installed")
def test_two_tasks_are_trained_and_played(tmp_path):
    """The second call trains and plays nothing again."""
    pytest.importorskip("matplotlib")
    words = ["dm_control", "--tasks", "cartpole-balance,pendulum-swingup", "--seeds", "1", "--steps", 8192]
    for _ in range(2):
        done = run(*words, "--episodes", 2, "--out", tmp_path)
        assert done.exit_code == 0, done.output
    assert "finished at step" not in done.output
    scores = json.loads((tmp_path / "scores.json").read_text())
    assert [row["task"] for row in scores["tasks"]] == [
        "dm_control/cartpole-balance-v0",
        "dm_control/pendulum-swingup-v0",
    ]
    assert len(scores["tasks"][0]["commits"]) == 1 and "command" in scores
    assert 0 < scores["tasks"][0]["returns"][0] < 1000 and (tmp_path / "scores.png").stat().st_size > 5000
