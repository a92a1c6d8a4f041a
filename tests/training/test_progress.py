"""How far training is: a bar on a terminal, elsewhere a line every ten seconds; and what else is waited for."""

import collections
import importlib.machinery
import logging
import re
import subprocess
import sys
import time
import types
from pathlib import Path

import gymnasium
import pytest
import torch

from tumble.benchmarks import main as benchmarks
from tumble.physics.machine import waiting
from tumble.training.learning import callbacks
from tumble.training.learning.loggers import TrainingClock, read_curve
from tumble.training.train import resume, train

# -- How far training is: a bar on a terminal, elsewhere a line every ten seconds; and what else is waited for


def timeless(text):
    """A text without the seconds that waits have lasted."""
    return re.sub(r"\d+ s so far", "N s so far", text)


def until(told):
    """Wait until something has been told; a busy machine takes its time."""
    end = time.monotonic() + 60
    while not told():
        assert time.monotonic() < end, "nothing was told"
        time.sleep(0.01)


def lines_of(text):
    """The lines that say how far training is."""
    return [line for line in text.splitlines() if " steps (" in line]


def test_without_a_terminal_there_are_lines_in_place_of_the_bar(tmp_path, capsys, pendulums, small_ppo):
    train(small_ppo, tmp_path / "run", envs=pendulums(8))
    out, err = capsys.readouterr()
    assert len(lines_of(out)) == 6 and lines_of(out)[-1].startswith("768 steps (100 %), ")
    assert out.startswith(f"run folder: {tmp_path / 'run'}\n") and "\r" not in out + err and "it/s" not in err


def test_what_the_task_tells_is_in_the_curve(tmp_path, pendulums, small_ppo):
    """The mean over environments at the end of each rollout, and only numbers of which each has one."""
    told = []

    class Telling(pendulums):
        def step(self, actions):
            *step, info = super().step(actions)
            told.append(torch.arange(8.0) * len(told))
            return *step, info | {"level": told[-1], "_level": told[-1], "table": torch.zeros(8, 2)}

    outcome = train(small_ppo, tmp_path / "run", progress=False, envs=Telling(8))
    curve = read_curve(outcome.run.folder / "progress.jsonl")
    logged = [row["info/level"] for row in curve]
    ends = [float(told[row["step"] // 8 - 1].mean()) for row in curve]
    assert logged == ends and len(set(ends)) > 1
    assert "info/table" not in curve[-1] and "info/_level" not in curve[-1]


def test_where_the_time_goes_is_in_the_curve(tmp_path, pendulums, small_ppo):
    """Environments that sleep for 5 ms of a step, and whose solver does for 5 ms more, have most of it."""

    class Solver:
        def step(self, count):
            time.sleep(0.005 * count)

    class Slow(pendulums):
        solver = Solver()

        def step(self, actions):
            self.solver.step(1)
            time.sleep(0.005)
            return super().step(actions)

    envs = Slow(8)
    outcome = train(small_ppo, tmp_path / "run", progress=False, envs=envs)
    row = read_curve(outcome.run.folder / "progress.jsonl")[-1]
    shares = {name: row[f"time/{name}"] for name in ("physics", "task", "copies", "acting", "updating")}
    assert set(shares) == set(outcome.spent) and sum(shares.values()) <= 1
    slept = 0.005 * (small_ppo.total_steps // 8)
    assert shares["physics"] * row["seconds"] >= slept and shares["task"] * row["seconds"] >= slept
    assert shares["updating"] > 0 and shares["acting"] > 0 and shares["copies"] > 0
    assert "step" not in vars(envs) and "step" not in vars(Slow.solver)


def test_a_real_task_spends_time_in_physics(tmp_path, small_ppo):
    outcome = train(small_ppo.replace(task="tumble/InvertedPendulum-v0"), tmp_path / "run", progress=False)
    assert outcome.spent["physics"] > 0 and outcome.spent["task"] > 0
    assert 1 < outcome.rate < 1e6


def test_evaluations_do_not_count_as_training():
    clock = TrainingClock({"step": 1, "seconds": 5.0, "cpu_seconds": 3.0})
    with clock.stopped():
        time.sleep(0.2)
    assert 5 <= clock.read()["seconds"] < 5.2 and 3 <= clock.read()["cpu_seconds"] < 3.2


def test_on_a_terminal_there_is_a_bar(tmp_path, capsys, monkeypatch, pendulums, small_ppo):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    train(small_ppo, tmp_path / "run", envs=pendulums(8))
    out, err = capsys.readouterr()
    assert not lines_of(out) and "\r" in err and "768/768" in err


def test_a_line_every_ten_seconds_within_an_iteration(tmp_path, capsys, monkeypatch, pendulums, small_ppo):
    """Sixteen steps, which seem to take 4 s each."""
    assert callbacks.LINE_EVERY == 10.0
    begun, counter, count = time.perf_counter(), time.perf_counter, [0]
    original = callbacks.ProgressCallback._on_step

    def step(self):
        count[0] += 1
        return original(self)

    monkeypatch.setattr(callbacks.ProgressCallback, "_on_step", step)
    monkeypatch.setattr(callbacks.time, "perf_counter", lambda: begun + 4.0 * count[0] + 1e-9 * counter())
    train(small_ppo.replace(total_steps=128), tmp_path / "run", envs=pendulums(8))
    said = [int(line.split()[0]) for line in lines_of(capsys.readouterr().out)]
    assert said == [3 * 8, 6 * 8, 9 * 8, 12 * 8, 15 * 8, 16 * 8]


@pytest.fixture
def impatient(monkeypatch, patient):
    """Tell waits after 50 ms, and again every 20."""
    monkeypatch.setattr(waiting, "PATIENCE", 0.05)
    monkeypatch.setattr(waiting, "INTERVAL", 0.02)


def test_a_long_update_is_told(tmp_path, monkeypatch, caplog, impatient, pendulums, small_ppo):
    """As is a checkpoint that takes long."""
    monkeypatch.setattr(callbacks, "LINE_EVERY", 0.05)
    end, save = callbacks.CheckpointCallback._on_rollout_end, callbacks.save_checkpoint

    def told():
        return [timeless(record.getMessage()) for record in caplog.records]

    def slow(*arguments, **options):
        until(lambda: "writing the checkpoint of step 128: N s so far" in told())
        return save(*arguments, **options)

    def slow_end(self):
        end(self)
        until(lambda: "learning from the last steps: N s so far" in told())

    monkeypatch.setattr(callbacks, "save_checkpoint", slow)
    monkeypatch.setattr(callbacks.CheckpointCallback, "_on_rollout_end", slow_end)
    with caplog.at_level(logging.INFO, logger="tumble"):
        train(small_ppo.replace(total_steps=128), tmp_path / "run", progress=False, envs=pendulums(8))


def test_the_commands_say_what_they_wait_for(tmp_path):
    """In a process of its own, which has to import everything; its patience is short."""
    model = tmp_path / "ball.xml"
    model.write_text("<mujoco><worldbody><body><freejoint/><geom size='1'/></body></worldbody></mujoco>")
    program = (
        "from tumble.physics.machine import waiting; waiting.PATIENCE = waiting.INTERVAL = 0.05; "
        "from tumble.training.cli import main; main()"
    )
    film = ["--out", "film.mp4", "--width", "64", "--height", "64", "--seconds", "3"]
    run = subprocess.run(
        [sys.executable, "-c", program, "render", "ball.xml", *film], cwd=tmp_path, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    told = {line.split(":")[0] for line in run.stderr.splitlines()}
    assert "importing PyTorch" in told
    assert told & {"filming into film.mp4", "compiling pictures, once", "compiling the solver for this model, once"}
    assert run.stdout == "film.mp4\n"


class Told(logging.Handler):
    """Counts what is told, by its first word."""

    def __init__(self):
        super().__init__()
        self.words = collections.Counter()

    def emit(self, record):
        self.words[record.getMessage().split()[0]] += 1

    def before(self, word, function):
        """The function, which begins when something with this first word has been told once more."""

        def slowly(*arguments, **options):
            count = self.words[word]
            until(lambda: self.words[word] > count)
            return function(*arguments, **options)

        return slowly


@pytest.fixture
def told(impatient):
    """What is told in this test."""
    handler = Told()
    waiting.show_what_is_waited_for()
    waiting.logger.addHandler(handler)
    yield handler
    waiting.logger.removeHandler(handler)


def test_training_and_evaluation_say_what_they_wait_for(tmp_path, monkeypatch, command, told):
    monkeypatch.setattr("tumble.training.tasks.gym.make_vec", told.before("making", gymnasium.make_vec))
    short = ["--steps", 32, "--num-envs", 2, "--set", "ppo.n_steps=16", "--out", tmp_path / "run"]
    _, err = command.run("train", "InvertedPendulum", *short)
    assert "making 2 environments of tumble/InvertedPendulum-v0: N s so far" in timeless(err)
    act = told.before("playing", lambda self, observations, *_: 0 * observations[:, :1])
    monkeypatch.setattr("tumble.training.policy.Policy.act", act)
    monkeypatch.setattr("tumble.training.evaluate.LONGEST", 2)
    _, err = command.run("evaluate", tmp_path / "run", "--episodes", 3, code=2)
    assert "making 3 environments of tumble/InvertedPendulum-v0: N s so far" in timeless(err)
    assert "playing 3 episodes: N s so far (0 have ended, after 1 steps at most)" in timeless(err)


def test_a_benchmark_says_what_it_measures(monkeypatch, capsys, told):
    class Slow:
        """A benchmark that is not there when it is done."""

        @staticmethod
        def run(**options):
            until(lambda: told.words["measuring:"])
            raise benchmarks.Unavailable("enough")

    monkeypatch.setattr(benchmarks, "UNTOLD", 0.05)
    monkeypatch.setattr(benchmarks.importlib, "import_module", lambda *_: Slow)
    assert benchmarks.main(["lanes"]) == 2
    assert f"measuring: {benchmarks.BENCHMARKS['lanes'].help}: N s so far" in timeless(capsys.readouterr().err)


def test_lines_come_above_a_bar(capsys):
    """The bar is drawn anew below."""
    from tqdm import tqdm

    waiting.show_what_is_waited_for()
    waiting.show_what_is_waited_for()
    with tqdm(total=3, file=sys.stderr, mininterval=0):
        waiting.logger.info("compiling")
    err = capsys.readouterr().err
    assert err.count("compiling") == 1 and "\rcompiling\n" in err


def test_the_program_of_this_repository_tells_nobody_twice():
    """The handler belongs to the command line alone; libraries add none."""
    program = "import logging, tumble.physics.machine.waiting; print(logging.getLogger('tumble').handlers)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=Path.home())
    assert run.stdout == "[]\n"


def test_returns_of_episodes_wait_for_a_whole_one_of_each_environment(tmp_path, capsys, pendulums, small_ppo):
    """Seven environments end every second step, the eighth at step 40, in the third iteration."""

    class Uneven(pendulums):
        taken = 0

        def step(self, actions):
            self.taken += 1
            self.speed *= 0.0  # none is terminated
            self.steps[:7] = 38 + self.taken % 2
            return super().step(actions)

    outcome = train(small_ppo.replace(total_steps=5 * 128), tmp_path / "run", progress="lines", envs=Uneven(8))
    curve = read_curve(outcome.run.folder / "progress.jsonl")
    shown = [name for name in ("rollout/ep_rew_mean", "rollout/ep_len_mean") if any(name in row for row in curve[:2])]
    assert not shown and all("rollout/ep_rew_mean" in row for row in curve[2:]) and len(curve) == 5
    assert [", return " in line for line in lines_of(capsys.readouterr().out)] == [False, False, True, True, True]


# -- Weights & Biases as a logger: a stand-in of its package shows what it is told


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
