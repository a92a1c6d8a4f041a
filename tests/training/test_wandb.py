"""Weights & Biases as a logger: a stand-in of its package shows what it is told."""

import importlib.machinery
import sys
import types

import pytest

from tumble.training.learning.loggers import read_curve
from tumble.training.train import resume, train


class Wandb(types.ModuleType):
    """Remembers its runs."""

    def __init__(self):
        super().__init__("wandb")
        self.__spec__ = importlib.machinery.ModuleSpec("wandb", None)
        self.runs = []

    def init(self, **options):
        self.runs.append(types.SimpleNamespace(options=options, rows=[], open=True))
        run = self.runs[-1]
        run.log = lambda numbers, step: run.rows.append((step, numbers))
        run.finish = lambda: setattr(run, "open", False)
        return run


@pytest.fixture
def wandb(monkeypatch):
    """The stand-in."""
    module = Wandb()
    monkeypatch.setitem(sys.modules, "wandb", module)
    return module


def test_it_gets_the_curve_and_a_resumed_run_goes_on(tmp_path, wandb, pendulums, small_ppo):
    config = small_ppo.change({"log.wandb": "pendulums"})
    run = train(config, tmp_path / "run", progress=False, envs=pendulums(8)).run
    (logged,) = wandb.runs
    assert logged.options["project"] == "pendulums" and logged.options["name"] == "run" and not logged.open
    assert logged.options["config"]["ppo"]["n_steps"] == 16 and logged.options["dir"] == str(run.folder)
    curve = read_curve(run.folder / "progress.jsonl")
    assert [step for step, _ in logged.rows] == [row["step"] for row in curve]
    assert logged.rows[-1][1]["rollout/ep_rew_mean"] == curve[-1]["rollout/ep_rew_mean"]
    resume(run.folder, total_steps=8 * 128, progress=False, envs=pendulums(8))
    assert wandb.runs[1].options["id"] == logged.options["id"] and wandb.runs[1].options["resume"] == "allow"
    assert [step for step, _ in wandb.runs[1].rows] == [7 * 128, 8 * 128]


def test_nothing_is_told_unasked(tmp_path, wandb, pendulums, small_ppo):
    train(small_ppo, tmp_path / "run", progress=False, envs=pendulums(8))
    assert wandb.runs == []


def test_the_command_line_names_the_project(tmp_path, wandb, command):
    short = ["--steps", 32, "--num-envs", 2, "--set", "ppo.n_steps=16", "--no-progress"]
    command("train", "InvertedPendulum", "--wandb", "poles", "--out", tmp_path / "run", *short)
    assert wandb.runs[0].options["project"] == "poles"
