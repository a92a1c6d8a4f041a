"""Several seeds in one command: runs as if each were alone, one table, one curve; Ctrl-C saves all, and all go on."""

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import torch
from stable_baselines3.common.save_util import load_from_zip_file

from tumble.training import seeds
from tumble.training.checkpoint import verify_checkpoint
from tumble.training.errors import TumbleUserError
from tumble.training.results.curves import write_summary
from tumble.training.runs import Run, RunError
from tumble.training.seeds import SeedBatch, default_jobs, parse_seeds
from tumble.training.train import train

SMALL = ["--num-envs", "8", "--set", "ppo.n_steps=32", "--set", "ppo.batch_size=64"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("1-3", [1, 2, 3]), ("1,2,5", [1, 2, 5]), ("1 2  5", [1, 2, 5]), ("7", [7]), ("0, 4-5,2", [0, 4, 5, 2])],
)
def test_seeds_are_read(text, wanted):
    assert parse_seeds(text) == wanted


@pytest.mark.parametrize("text", ["", "a", "3-1", "1-", "-1", "1.5", "0-9999", "1-2-3"])
def test_other_texts_are_refused(text):
    with pytest.raises(TumbleUserError, match="write whole numbers, such as 1-3"):
        parse_seeds(text)


def test_a_seed_that_is_named_twice_is_refused():
    with pytest.raises(TumbleUserError, match="2 is there twice"):
        parse_seeds("1-3,2")


def test_as_many_at_a_time_as_cores_allow(monkeypatch, small_ppo):
    monkeypatch.setattr("tumble.training.seeds.usable_cores", lambda: 8)
    assert default_jobs(small_ppo, 3) == 3 and default_jobs(small_ppo, 20) == 8
    assert default_jobs(small_ppo.replace(threads=4), 3) == 2 and default_jobs(small_ppo.replace(threads=16), 3) == 1
    assert default_jobs(small_ppo.replace(device="cuda"), 3) == 1


def test_the_folder_knows_its_seeds_and_is_protected(tmp_path, small_ppo):
    batch = SeedBatch.create(small_ppo, [10, 9], tmp_path / "batch")
    found = SeedBatch.find(tmp_path / "batch")
    assert found is not None and found.seeds == [9, 10] and found.config == small_ppo and found.runs == []
    assert SeedBatch.find(batch.run(9).folder) is None
    with pytest.raises(RunError, match="already holds runs: continue them with --resume"):
        SeedBatch.create(small_ppo, [1], tmp_path / "batch")


@pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="the curve needs matplotlib")
def test_scores_and_curve(tmp_path, pendulums, small_ppo):
    batch = SeedBatch.create(small_ppo, [1, 2, 3], tmp_path / "batch")
    for seed in (1, 2):  # the third has not begun
        train(small_ppo.replace(seed=seed), batch.run(seed).folder, progress=False, envs=pendulums(8))
    assert batch.is_finished(1, small_ppo.total_steps) and not batch.is_finished(3, small_ppo.total_steps)
    scores, picture = write_summary(batch)
    summary = json.loads(scores.read_text())
    returns = [row["training_return"] for row in summary["seeds"]]
    assert [row["steps"] for row in summary["seeds"]] == [768, 768] and summary["curve"] == "training"
    spread = summary["training_return"]
    assert spread["seeds"] == 2 and spread["mean"] == pytest.approx(np.mean(returns))
    assert spread["standard_deviation"] == pytest.approx(np.std(returns, ddof=1)) and summary["headline"] == spread
    assert picture.read_bytes()[1:4] == b"PNG"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "Ant", "--seeds", "1-3", "--seed", "1"], "give --seed or --seeds"),
        (["train", "Ant", "--jobs", "2"], "--jobs is for several seeds: give --seeds"),
        (["train", "Ant", "--seeds", "x"], "--seeds x: write whole numbers"),
        (["train", "--resume", "runs/none", "--seeds", "1"], "leave out --seeds"),
        (["train", "--resume", "runs/none", "--jobs", "2"], "is not a folder of them"),
    ],
)
def test_mistakes_are_explained(command, arguments, message):
    assert message in command.mistake(*arguments)


def weights(run):
    """The policy's tensors in the newest checkpoint."""
    _, parameters, _ = load_from_zip_file(run.latest() / "model.zip", load_data=False)
    return parameters["policy"]


def test_each_run_is_as_if_it_were_alone(tmp_path, command, planted):
    """Processes of their own, one after the other; a failure of one is told, and the other trains all the same."""
    folder = tmp_path / "batch"
    arguments = ["train", "InvertedPendulum", *SMALL, "--steps", 512, "--out", folder]
    folder.mkdir()
    (folder / "seed-1").mkdir()  # in which no checkpoint can be written
    (folder / "seed-1" / "checkpoints").write_text("no folder")
    printed, message = command.run(*arguments, "--seeds", "1,2", "--jobs", 1, code=2)
    assert "1 of 2 runs failed: seed 1 (exit code" in message, printed + message
    assert f"tumble train --resume {folder}" in message
    (folder / "seed-1" / "checkpoints").unlink()
    (folder / "seed-1" / "config.toml").unlink()
    shutil.rmtree(folder / "seed-1" / "best")
    printed = command("train", "--resume", folder)
    assert "finished 2 seeds" in printed and "mean ± 95 % interval" in printed, printed
    assert "seed 1: " in printed and "seed 2: " not in printed, f"the second had nothing left to do: {printed}"
    found = SeedBatch.find(folder)
    command("train", "InvertedPendulum", *SMALL, "--steps", 512, "--seed", 2, "--out", tmp_path / "alone")
    ours, other, alone = weights(found.run(2)), weights(found.run(1)), weights(Run(tmp_path / "alone"))
    assert [name for name in alone if not torch.equal(ours[name], alone[name])] == []
    assert not all(torch.equal(ours[name], other[name]) for name in other)
    assert {"seeds.json", "curve.png"} <= {path.name for path in folder.iterdir()}
    summary = json.loads((folder / "seeds.json").read_text())
    assert summary["curve"] == "evaluation" and summary["headline"] == summary["last_evaluation"]
    assert "steps/s" in printed and "best policy, other episodes" in printed
    assert not planted.exists(), f"modules of the present folder were executed: {planted.read_text()}"


def interrupt_when(text, printed, times=1):
    """Let a thread interrupt this process as soon as a child has printed a text."""

    def wait():
        while not any(text in line for line in printed):
            time.sleep(0.02)
        for _ in range(times):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.3)

    threading.Thread(target=wait, daemon=True).start()


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.parametrize("deaf", [False, True])
def test_processes_that_learn_nothing_yet_end_too(tmp_path, monkeypatch, small_ppo, deaf):
    """One that still imports is gone at once, which is no failure; one that does not listen is killed at the second."""
    ignore = "signal.signal(signal.SIGINT, signal.SIG_IGN); " if deaf else ""
    program = f"import signal, time; {ignore}print('imports', flush=True); time.sleep(60)"
    start, started, printed = subprocess.Popen, [], []

    def stand_in(command, **options):
        started.append(start([sys.executable, "-c", program], **options))
        return started[-1]

    monkeypatch.setattr(seeds.subprocess, "Popen", stand_in)
    monkeypatch.setattr(seeds, "print", lambda line, flush: printed.append(line), raising=False)
    monkeypatch.setattr(seeds, "PATIENCE", 0.5)
    batch = SeedBatch.create(small_ppo, [1, 2, 3], tmp_path / "batch")
    interrupt_when("seed 2: imports", printed, times=1 + deaf)
    if deaf:
        with pytest.raises(KeyboardInterrupt):
            seeds.train_batch(batch, jobs=2)
    else:
        assert seeds.train_batch(batch, jobs=2) == []
    assert len(started) == 2 and all(process.poll() is not None for process in started)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_an_interrupt_saves_all_and_all_go_on(tmp_path, command):
    folder = tmp_path / "batch"
    arguments = [*SMALL, "--steps", "100000000", "--seeds", "1-3", "--jobs", "2", "--out", str(folder)]
    line = [sys.executable, "-m", "tumble.training.cli", "train", "InvertedPendulum", *arguments]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    waited_for = {"seed 1: run folder", "seed 2: run folder"}
    printed = []
    while waited_for:
        printed.append(process.stdout.readline())
        assert printed[-1], "".join(printed)
        waited_for -= {start for start in waited_for if printed[-1].startswith(start)}
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=120)
    assert process.returncode == 0 and "stopped and saved; seeds 1, 2, 3 are not finished" in rest, rest
    assert "seed 3: " not in rest, "what had not begun does not begin"
    batch = SeedBatch.find(folder)
    steps = [verify_checkpoint(run.latest()) for run in batch.runs]
    assert len(steps) == 2
    total = max(steps) + 256
    printed = command("train", "--resume", folder, "--steps", total)
    assert "finished 3 seeds" in printed
    assert [run.config.seed for run in batch.runs] == [1, 2, 3]
    assert all(verify_checkpoint(run.latest()) >= total for run in batch.runs)
