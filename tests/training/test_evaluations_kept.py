"""Evaluations stay in a run: few episodes do not replace many, nor sampled actions the likely ones."""

import json
from dataclasses import replace

import numpy as np
import pytest

from tumble.training.commands import view_command
from tumble.training.evaluate import Evaluation, save_evaluation
from tumble.training.policy import Policy
from tumble.training.results.playing import Playing
from tumble.training.runs import Run

SMALL = ["--steps", 512, "--num-envs", 16, "--no-progress", "--option", "width=64", "--option", "height=64"]


@pytest.fixture
def folder(tmp_path, command):
    """A policy trained for a moment."""
    command("train", "InvertedPendulum", *SMALL, "--set", "ppo.n_steps=32", "--out", tmp_path / "run")
    return tmp_path / "run"


def test_more_episodes_stay_until_as_many_come_or_a_later_policy_plays(tmp_path):
    """A file that is no evaluation is replaced by any."""
    run, place = Run(tmp_path), tmp_path / "evaluation-tumble.json"
    place.write_text("{}")
    many = Evaluation("tumble/Ant-v0", "tumble", 1000, 0, True, [1.0, 2.0, 3.0], [5, 5, 5])
    assert save_evaluation(run, many) == str(place)
    few = replace(many, returns=[9.0], lengths=[5])
    assert save_evaluation(run, few) == f"{place} keeps its 3 episodes of step 1,000: evaluate as many to replace them"
    save_evaluation(run, replace(few, step=500))
    assert json.loads(place.read_text())["returns"] == [1.0, 2.0, 3.0]
    save_evaluation(run, replace(many, returns=[4.0, 5.0, 6.0]))
    assert json.loads(place.read_text())["returns"] == [4.0, 5.0, 6.0]
    assert save_evaluation(run, replace(few, step=2000)) == str(place)
    assert json.loads(place.read_text())["returns"] == [9.0]


def test_a_film_of_one_episode_leaves_the_scores_and_samples_where_asked(folder, command, tmp_path, monkeypatch):
    """The scores of sampled actions have a file of their own, and film and view show them."""
    command("evaluate", folder, "--episodes", 4)
    before = (folder / "evaluation-tumble.json").read_bytes()
    film = ["--episodes", 1, "--seconds", 0.1, "--video"]
    assert "keeps its 4 episodes of step 512" in command("evaluate", folder, *film, tmp_path / "one.gif")
    acted, act = [], Policy.act
    monkeypatch.setattr(
        Policy,
        "act",
        lambda self, seen, deterministic=True, starts=None: (
            acted.append(deterministic) or act(self, seen, deterministic, starts)
        ),
    )
    command("evaluate", folder, "--stochastic", *film, tmp_path / "two.gif")
    assert acted and not any(acted)
    assert (folder / "evaluation-tumble.json").read_bytes() == before
    assert json.loads((folder / "evaluation-tumble-stochastic.json").read_text())["episodes"] == 1


def test_the_view_tells_the_policy_where_an_episode_begins(folder, monkeypatch):
    """An LSTM forgets there."""
    begins, shown = [], []
    monkeypatch.setattr(view_command, "_show", lambda envs, act, **settings: shown.append((envs, act)))
    monkeypatch.setattr(Policy, "act", lambda self, seen, deterministic, starts: begins.append(starts.tolist()))
    run = Run.find(folder)
    view_command.view_policy(run, run.latest(), 2, 0, {"max_episode_steps": 3})
    envs, act = shown[0]
    observations, _ = envs.reset(seed=0)
    for _ in range(5):
        act(observations)
        observations = envs.step(np.zeros((2, 1), np.float32))[0]
    envs.close()
    assert begins == [[True] * 2, [False] * 2, [False] * 2, [True] * 2, [False] * 2]


def test_a_simulator_is_chosen_by_in_and_wrong_options_of_gymnasiums_task_are_told(folder, command):
    assert "choose by --in" in command.mistake("evaluate", folder, "--option", "simulator=mujoco")
    wrong = ("evaluate", folder, "--in", "mujoco", "--option")
    assert "reset_noise_scale must be a number, got 'abc'" in command.mistake(*wrong, "reset_noise_scale=abc")
    assert "InvertedPendulum-v5 cannot be made" in command.mistake(*wrong, "frame_skip=0")


def test_a_run_trained_in_mujoco_is_judged_in_either(tmp_path, command):
    """By its task's own twin too: the option says where it was trained."""
    where = ["--option", "simulator=mujoco", "--set", "ppo.n_steps=32"]
    command("train", "InvertedPendulum", *SMALL, *where, "--out", tmp_path / "run")
    judges = ("tumble", "mujoco", "mujoco-task")
    command("evaluate", tmp_path / "run", "--episodes", 2, *(word for name in judges for word in ("--in", name)))
    scores = [json.loads((tmp_path / "run" / f"evaluation-{name}.json").read_text()) for name in judges]
    assert [score["environment"] for score in scores] == ["", "InvertedPendulum-v5", ""]
    played = Playing(Run.find(tmp_path / "run"), "tumble", None, 1, None)
    assert not hasattr(played.canvas.unwrapped.solver, "worlds")
    played.canvas.close()
