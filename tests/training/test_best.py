"""Evaluation during training: it does not disturb, it keeps the best policy, and its scores are `tumble evaluate`'s."""

import dataclasses
import json
import os
import shutil

import numpy as np
import pytest
import torch
from stable_baselines3.common.save_util import load_from_zip_file

from tumble.training.best import BEST, CHOOSING_SEED, EVALUATIONS, EvaluationCallback, read_best
from tumble.training.config import CheckpointConfig, EvaluationConfig, PolicyConfig, PPOConfig, RunConfig, SACConfig
from tumble.training.evaluate import FIRST_SEED, Evaluation, evaluate
from tumble.training.learning import callbacks
from tumble.training.learning.callbacks import CheckpointCallback
from tumble.training.learning.loggers import read_curve
from tumble.training.train import resume, train

TASK = "tumble/InvertedPendulum-v0"


def configuration(algo="ppo", every=512):
    """A short run, a checkpoint and an evaluation each second iteration."""
    return RunConfig(
        TASK,
        algo,
        total_steps=2048,
        num_envs=8,
        policy=PolicyConfig(hidden=(16, 16)),
        ppo=PPOConfig(n_steps=32, batch_size=64, n_epochs=4, learning_rate=1e-3),
        sac=SACConfig(buffer_size=4000, learning_starts=200, batch_size=32),
        checkpoint=CheckpointConfig(every_steps=512, keep=2),
        evaluation=EvaluationConfig(every_steps=every, episodes=5),
    )


def weights(run):
    """The newest checkpoint's policy in one vector."""
    _, parameters, _ = load_from_zip_file(run.latest() / "model.zip", load_data=False)
    return torch.cat([value.flatten() for value in parameters["policy"].values()])


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory):
    """A run that was evaluated while it trained."""
    return train(configuration(), tmp_path_factory.mktemp("runs") / "run", progress=False).run


def test_figures_are_kept_and_logged(evaluated):
    rows = read_curve(evaluated.folder / EVALUATIONS)
    assert [row["step"] for row in rows] == [512, 1024, 1536, 2048]
    assert all(row["episodes"] == 5 and row["standard_error"] is not None for row in rows)
    assert all(np.mean(row["returns"]) == row["mean"] and len(row["lengths"]) == 5 for row in rows)
    times = [row["seconds"] for row in rows]
    assert times[0] > 0 and times == sorted(times) and rows[0]["cpu_seconds"] > 0
    logged = [
        row["eval/mean_return"] for row in read_curve(evaluated.folder / "progress.jsonl") if "eval/mean_return" in row
    ]
    assert logged == pytest.approx([row["mean"] for row in rows])


def test_the_best_is_kept_and_scores_the_same_again(evaluated, command):
    rows = read_curve(evaluated.folder / EVALUATIONS)
    (kept,) = evaluated.best.iterdir()
    best = max(rows, key=lambda row: row["mean"])
    assert kept.name == f"step-{best['step']:012d}"
    score = evaluate(evaluated, episodes=5, checkpoint=evaluated.checkpoint("best"), seed=CHOOSING_SEED)
    assert score.mean == best["mean"] and score.step == best["step"]
    printed = command("evaluate", evaluated.folder, "--episodes", 5, "--checkpoint", "best")
    assert f"after {best['step']:,} steps" in printed


def test_the_best_is_judged_by_episodes_that_did_not_choose_it(evaluated):
    """They are those of `tumble evaluate`; the figures by which it was chosen are kept beside them."""
    rows, judged = read_curve(evaluated.folder / EVALUATIONS), json.loads((evaluated.folder / BEST).read_text())
    best = max(rows, key=lambda row: row["mean"])
    score = evaluate(evaluated, episodes=5, checkpoint=evaluated.checkpoint("best"))
    assert judged["returns"] == score.returns and judged["step"] == best["step"]
    assert judged["chosen_by"] == best and judged["seed"] != best["seed"]


def timeless(row):
    """A line of figures without its time."""
    return {name: value for name, value in row.items() if "seconds" not in name}


def test_an_error_of_the_task_while_it_is_evaluated_loses_nothing(tmp_path, monkeypatch, evaluated):
    """What was learnt until then is saved, and resumed it ends as if there had been no error."""
    play = EvaluationCallback.play_policy

    def fail(self, *which):
        if self.model.num_timesteps > 1200:
            raise ZeroDivisionError("in the task")
        return play(self, *which)

    config = dataclasses.replace(configuration(), checkpoint=CheckpointConfig(every_steps=10**9, every_seconds=1e9))
    monkeypatch.setattr(callbacks, "LEAST_SHARE", 1e9)  # nothing in passing but the first
    with monkeypatch.context() as patch, pytest.raises(ZeroDivisionError) as raised:
        patch.setattr(EvaluationCallback, "play_policy", fail)
        train(config, tmp_path / "run", progress=False)
    assert "What was learnt in 1,536 steps is saved" in raised.value.__notes__[0]
    rest = resume(tmp_path / "run", progress=False)
    assert torch.equal(weights(rest.run), weights(evaluated))
    steps = [row["step"] for row in read_curve(rest.run.folder / EVALUATIONS)]
    assert steps == [512, 1024, 2048], "the one that failed is not repeated"


@pytest.mark.parametrize("algo", ["ppo", pytest.param("sac", marks=pytest.mark.slow)])
def test_training_does_not_notice(tmp_path, evaluated, algo):
    with_it = evaluated if algo == "ppo" else train(configuration(algo), tmp_path / "with", progress=False).run
    without = train(configuration(algo, every=0), tmp_path / "without", progress=False).run
    assert torch.equal(weights(with_it), weights(without))
    assert not without.best.exists() and not (without.folder / EVALUATIONS).exists()


def test_stopped_and_resumed_it_goes_on(tmp_path, monkeypatch, evaluated):
    original = CheckpointCallback._on_rollout_start
    with monkeypatch.context() as patch:

        def stop(self):
            self.request.wanted |= self.model.num_timesteps >= 1024
            original(self)

        patch.setattr(CheckpointCallback, "_on_rollout_start", stop)
        part = train(configuration(), tmp_path / "part", progress=False)
    assert part.step == 1024
    rest = resume(part.run.folder, progress=False)
    assert torch.equal(weights(rest.run), weights(evaluated))
    rows = [read_curve(run.folder / EVALUATIONS) for run in (rest.run, evaluated)]
    assert [timeless(row) for row in rows[0]] == [timeless(row) for row in rows[1]]
    times = [row["seconds"] for row in rows[0]]
    assert times == sorted(times) and times[0] > 0


def test_a_worse_policy_does_not_replace_the_best(tmp_path, monkeypatch):
    means = iter([3.0, 5.0, 4.0, 5.0])

    def play(self, folder, seed):
        if seed == FIRST_SEED:
            return Evaluation(TASK, "tumble", 1024, 0, True, [4.0, 4.0], [1, 1])
        return Evaluation(TASK, "tumble", self.model.num_timesteps, 0, True, [next(means)] * 2, [1, 1])

    monkeypatch.setattr(EvaluationCallback, "play_policy", play)
    run = train(configuration(), tmp_path / "run", progress=False).run
    assert [path.name for path in run.best.iterdir()] == ["step-000000001024"]
    (line,) = (run.checkpoint("best") / EVALUATIONS).read_text().splitlines()
    assert json.loads(line)["mean"] == 5.0
    judged = read_best(run)
    assert judged["mean"] == 4.0 and judged["chosen_by"]["mean"] == 5.0


@pytest.mark.parametrize("damaged", ["model.zip", EVALUATIONS])
def test_a_damaged_best_policy_stops_no_run(tmp_path, evaluated, caplog, damaged):
    """The policy of the end is saved; one whose line cannot be read is replaced."""
    folder = tmp_path / "run"
    shutil.copytree(evaluated.folder, folder)
    (folder / BEST).unlink()
    (kept,) = (folder / "best").iterdir()
    line = json.loads((kept / EVALUATIONS).read_text()) | {"mean": 1e9}
    (kept / EVALUATIONS).write_text(json.dumps(line) + "\n")
    (kept / damaged).unlink()
    if damaged == EVALUATIONS:
        os.mkfifo(kept / damaged)
    else:
        (kept / damaged).write_bytes(b"")
    outcome = resume(folder, total_steps=2304, progress=False)
    assert outcome.run.latest().name == "step-000000002304"
    found = read_best(outcome.run)
    assert found.get("step") == (2304 if damaged == EVALUATIONS else None)
    assert ("the best policy is not scored" in caplog.text) == (damaged == "model.zip")


def test_checkpoints_are_chosen_by_name(tmp_path, evaluated, command):
    folder = tmp_path / "copy"
    shutil.copytree(evaluated.folder, folder)
    for name, step in (("latest", 2048), ("1_536", 1536), ("1536", 1536), ("step-000000002048", 2048)):
        assert f"after {step:,} steps" in command("evaluate", folder, "--episodes", 1, "--checkpoint", name)
    path = folder / "checkpoints" / "step-000000001536"
    assert "after 1,536 steps" in command("evaluate", folder, "--episodes", 1, "--checkpoint", path)
    message = command.mistake("evaluate", folder, "--checkpoint", "77")
    assert "no checkpoint '77'; there are step-000000002048, step-000000001536, best" in message
    shutil.rmtree(folder / "best")
    assert "--evaluate-every" in command.mistake("evaluate", folder, "--checkpoint", "best")
    (path / "state.pt").write_bytes(b"")
    assert "damaged" in command.mistake("evaluate", folder, "--checkpoint", 1536)


def test_the_command_line_asks_for_it(tmp_path, command):
    command("train", TASK, "--steps", 64, "--num-envs", 2, "--set", "evaluation.episodes=2", "--evaluate-every", 32,
            "--set", "ppo.n_steps=16", "--out", tmp_path / "run", "--no-progress")  # fmt: skip
    kept = RunConfig.load(tmp_path / "run" / "config.toml")
    assert kept.evaluation == EvaluationConfig(every_steps=32, episodes=2)
    assert [row["step"] for row in read_curve(tmp_path / "run" / EVALUATIONS)] == [32, 64]
    assert dataclasses.replace(kept.ppo, n_steps=16) == kept.ppo
