"""A run says with what it was made, and each resume with what it went on."""

import datetime
import json
import subprocess
import sys

import gymnasium
import mujoco
import pytest
import stable_baselines3
import taichi
import torch

import tumble.__main__
from tumble.physics.machine import machine
from tumble.training import provenance
from tumble.training.config import RunConfig
from tumble.training.learning.learner import Learner
from tumble.training.train import resume, train


def test_the_record_is_written_at_the_start_and_kept_at_resumes(tmp_path, monkeypatch, pendulums, small_ppo):
    monkeypatch.setattr(sys, "argv", ["/somewhere/bin/tumble", "train", "a task", "--seed", "5"])
    config = small_ppo.replace(seed=5, total_steps=256)
    begun, seen = datetime.datetime.now().astimezone(), []

    class Looking(pendulums):
        def step(self, actions):
            seen.append((tmp_path / "run" / "run.json").exists())
            return super().step(actions)

    run = train(config, tmp_path / "run", progress=False, envs=Looking(8)).run
    assert all(seen)
    record = json.loads((run.folder / "run.json").read_text())
    assert record["command"] == "tumble train 'a task' --seed 5" and record["seed"] == 5 and record["resumes"] == []
    modules = {"gymnasium": gymnasium, "stable-baselines3": stable_baselines3, "torch": torch, "tumble": tumble}
    wanted = {name: module.__version__ for name, module in modules.items()}
    wanted |= {"taichi": ".".join(map(str, taichi.__version__)), "mujoco-core": mujoco.__version__}
    assert wanted.items() <= record["versions"].items()
    assert record["processes"] == 1
    assert record["versions"]["python"] == sys.version.split()[0]
    assert abs(datetime.datetime.fromisoformat(record["date"]) - begun) < datetime.timedelta(minutes=5)
    monkeypatch.setattr(sys, "argv", ["script.py"])
    for total in (512, 768):
        resume(run.folder, total_steps=total, threads=2, progress=False, envs=pendulums(8))
    now = json.loads((run.folder / "run.json").read_text())
    steps = [(entry["step"], entry["command"], entry["learner"]["threads"]) for entry in now["resumes"]]
    assert steps == [(256, "script.py", 2), (512, "script.py", 2)]
    assert now | {"resumes": []} == record
    (run.folder / "run.json").write_text("[")  # damaged
    resume(run.folder, total_steps=896, progress=False, envs=pendulums(8))
    assert [entry["step"] for entry in json.loads((run.folder / "run.json").read_text())["resumes"]] == [768]


def test_the_solvers_settings_are_told():
    learner = Learner(RunConfig("tumble/InvertedPendulum-v0", "ppo", num_envs=4))
    try:
        runtime = learner.bridge.envs.unwrapped.solver.runtime
        wanted = {"device": "cpu", "precision": "32", "lanes": runtime.lanes, "threads": runtime.threads}
        told = provenance.provenance(learner)
        assert told["solver"] == wanted and told["machine"]["processor"] and told["machine"]["cores"] >= 1
    finally:
        learner.bridge.close()


def test_the_commit_is_gits(tmp_path, monkeypatch):
    def git(*arguments):
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        done = subprocess.run(
            ["git", "-C", str(tmp_path), *who, *arguments], capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    monkeypatch.setattr(machine, "ROOT", tmp_path)
    ask = machine.commit.__wrapped__
    assert ask() is None, "no clone"
    git("init")
    (tmp_path / "file").write_text("1")
    git("add", ".")
    git("commit", "-m", "first")
    assert ask() == git("rev-parse", "HEAD")
    (tmp_path / "file").write_text("2")
    assert ask() == git("rev-parse", "HEAD") + "-dirty"
    elsewhere = tmp_path / "elsewhere"  # as in a hook of another repository
    git("init", str(elsewhere))
    monkeypatch.setenv("GIT_DIR", str(elsewhere / ".git"))
    assert ask() == git("--git-dir", str(tmp_path / ".git"), "rev-parse", "HEAD") + "-dirty"
    monkeypatch.setenv("PATH", "")
    assert ask() is None, "git is not installed"


@pytest.mark.parametrize(
    ("argv", "wanted"),
    [
        (["-c", "train", "Ant"], "tumble train Ant"),
        (["/x/bin/tumble", "list"], "tumble list"),
        ([tumble.__main__.__file__, "list"], "tumble list"),
        (["my script.py", "1"], "'my script.py' 1"),
        (["/x/mine/__main__.py", "1"], "/x/mine/__main__.py 1"),
        (["/x/mine/cli.py", "train"], "/x/mine/cli.py train"),
        (["-c"], "python"),
        ([], "python"),
    ],
)
def test_the_command_can_be_typed_again(monkeypatch, argv, wanted):
    monkeypatch.setattr(sys, "argv", argv)
    assert provenance.command_line() == wanted
