"""A run that was stopped, or killed, and resumed ends with the weights of one that was not: to the last bit."""

import importlib.util
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import textwrap
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from stable_baselines3.common.save_util import load_from_zip_file

from tumble.training.checkpoint import list_checkpoints, verify_checkpoint
from tumble.training.config import OFF_POLICY
from tumble.training.learning import callbacks
from tumble.training.learning.callbacks import CheckpointCallback, StopRequest
from tumble.training.learning.learner import Learner
from tumble.training.learning.loggers import read_curve
from tumble.training.runs import Run, RunError
from tumble.training.train import resume, train

from .conftest import KINDS

HERE = Path(__file__).parent
needs_sb3_contrib = pytest.mark.skipif(importlib.util.find_spec("sb3_contrib") is None, reason="needs sb3-contrib")


@pytest.fixture(autouse=True)
def one_thread():
    """Sums over several threads may be taken in another order; the promise is for one."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def weights(run: Run) -> dict[str, torch.Tensor]:
    """All tensors of the newest checkpoint's policy and optimisers, flat."""
    _, parameters, variables = load_from_zip_file(run.latest() / "model.zip", load_data=False)
    flat = {f"variable.{name}": value for name, value in (variables or {}).items()}
    for module, state in parameters.items():
        if "optimizer" in module:
            state = {f"{k}.{name}": value for k, slot in state["state"].items() for name, value in slot.items()}
        flat |= {f"{module}.{name}": value for name, value in state.items()}
    return flat


def assert_equal_runs(a: Run, b: Run) -> None:
    """Weights, optimisers, statistics, generators and environments are the same bits."""
    ours, theirs = weights(a), weights(b)
    assert ours.keys() == theirs.keys()
    for name, value in ours.items():
        assert torch.equal(value, theirs[name]), name
    states = [torch.load(run.latest() / "state.pt", weights_only=True) for run in (a, b)]
    for state in states:
        for episode in state["episode_infos"]:
            del episode["t"]  # wall clock
    compare(*states, "state")


def assert_equal_buffers(a: Run, b: Run) -> None:
    """All that SAC and TD3 remember, part by part."""
    with np.load(a.latest() / "replay_buffer.npz") as ours, np.load(b.latest() / "replay_buffer.npz") as theirs:
        assert set(ours) == set(theirs) and len(ours["rewards"]) > 50
        for name in ours:
            np.testing.assert_array_equal(ours[name], theirs[name], name)


def compare(a, b, where):
    """Equality of nested containers of tensors."""
    assert type(a) is type(b), where
    if isinstance(a, dict):
        assert a.keys() == b.keys(), where
        for key in a:
            compare(a[key], b[key], f"{where}.{key}")
    elif isinstance(a, list | tuple):
        assert len(a) == len(b), where
        for k, pair in enumerate(zip(a, b, strict=True)):
            compare(*pair, f"{where}[{k}]")
    else:
        assert torch.equal(a, b) if isinstance(a, torch.Tensor) else a == b, where


def stop_at(monkeypatch, step: int) -> None:
    """Ask for a stop, as Ctrl-C does, at the first iteration's end after `step`."""
    original = CheckpointCallback._on_rollout_start

    def patched(self):
        self.request.wanted |= self.model.num_timesteps >= step
        original(self)

    monkeypatch.setattr(CheckpointCallback, "_on_rollout_start", patched)


RESUMED = [
    *(("ppo", "box"), ("ppo", "dict"), ("ppo", "told apart"), ("sac", "told apart"), ("td3", "box")),
    *(("compiled sac", "told apart"), ("compiled td3", "box")),
]
ALSO_RESUMED = [("sac", "box"), ("sac", "dict"), ("td3", "dict"), ("td3", "told apart")]
"""Algorithms and observations; those of the second list are put together from what the first one proves."""


@pytest.mark.parametrize(
    ("algo", "observations"),
    [
        *RESUMED,
        *(pytest.param(*case, marks=pytest.mark.slow) for case in ALSO_RESUMED),
        pytest.param("recurrent_ppo", "box", marks=needs_sb3_contrib),
        *(
            pytest.param("recurrent_ppo", seen, marks=[needs_sb3_contrib, pytest.mark.slow])
            for seen in ("dict", "told apart")
        ),
    ],
)
def test_stopped_and_resumed_equals_uninterrupted(
    tmp_path, monkeypatch, pendulums, seen_pendulums, told_apart_pendulums, configs, algo, observations
):
    config = configs[algo]
    pendulums = {"box": pendulums, "dict": seen_pendulums, "told apart": told_apart_pendulums}[observations]
    whole = train(config, tmp_path / "whole", progress=False, envs=pendulums(config.num_envs))
    assert whole.finished and whole.step == config.total_steps
    with monkeypatch.context() as patch:
        stop_at(patch, config.total_steps // 2)
        part = train(config, tmp_path / "part", progress=False, envs=pendulums(config.num_envs))
    assert not part.finished and part.step < config.total_steps
    torch.manual_seed(999)  # whatever happens between the two must not matter
    rest = resume(part.run.folder, progress=False, envs=pendulums(config.num_envs))
    assert rest.finished
    assert_equal_runs(whole.run, rest.run)
    if config.algo in OFF_POLICY:
        assert_equal_buffers(whole.run, rest.run)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory, pendulums, small_ppo) -> Run:
    """A run of forty iterations."""
    config = small_ppo.replace(total_steps=40 * 128)
    return train(config, tmp_path_factory.mktemp("runs") / "whole", progress=False, envs=pendulums(8)).run


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signalled_process_resumed_equals_uninterrupted(tmp_path, pendulums, uninterrupted, number):
    """Another process trains and is signalled after its second checkpoint; this one goes on."""
    config = uninterrupted.config
    (tmp_path / "config.toml").write_text(config.to_toml())
    program = f"""
        import sys
        sys.path.insert(0, {str(HERE)!r})
        import torch
        torch.set_num_threads(1)
        from pathlib import Path
        from conftest import PendulumVectorEnv
        from tumble.training.learning import callbacks; from tumble.training import train
        from tumble.training.config import RunConfig
        original = callbacks.CheckpointCallback.save
        def save(self):
            path = original(self)
            print(self.model.num_timesteps, flush=True)
            return path
        callbacks.CheckpointCallback.save = save
        config = RunConfig.load(Path({str(tmp_path / "config.toml")!r}))
        outcome = train.train(config, Path({str(tmp_path / "part")!r}), progress=False, envs=PendulumVectorEnv(8))
        print("end", outcome.finished)
    """
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, text=True)
    for _ in range(2):
        assert process.stdout.readline()
    process.send_signal(number)
    printed, _ = process.communicate(timeout=60)
    assert process.returncode == 0 and printed.endswith("end False\n"), "the signal saves and stops"
    rest = resume(tmp_path / "part", progress=False, envs=pendulums(config.num_envs))
    assert rest.finished
    assert_equal_runs(uninterrupted, rest.run)


KILLED = [("steered ppo", "told apart, with choices", 2)]
ALSO_KILLED = [
    ("steered ppo", "told apart, with choices", 10),
    *((algo, "box", 10) for algo in ("compiled ppo", "ppo", "compiled sac", "sac")),
]
"""Algorithms, observations and actions, and numbers of kills."""


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.parametrize(
    ("algo", "kind", "kills"), [*KILLED, *(pytest.param(*case, marks=pytest.mark.slow) for case in ALSO_KILLED)]
)
def test_killed_at_random_moments_and_resumed_equals_uninterrupted(tmp_path, configs, algo, kind, kills):
    """Processes train one after the other, each from where the one before was killed; this one finishes."""
    config = configs[algo]
    off_policy = config.algo in OFF_POLICY
    at_most = (9, 8) if off_policy else (5, 128)  # iterations that a child lives, and steps of one
    config = config.replace(total_steps=kills * math.prod(at_most))
    config = with_interval(config, 40) if off_policy else config
    whole = train(config, tmp_path / "whole", progress=False, envs=KINDS[kind](config.num_envs))
    arguments = [str(whole.run.folder / "config.toml"), str(tmp_path / "part"), kind, str(kills)]
    program = [sys.executable, "-m", "tests.training.killed_children", *arguments]
    subprocess.run(program, cwd=HERE.parents[1], check=True, timeout=300)
    part = Run(tmp_path / "part")
    assert not part.has_checkpoint() or verify_checkpoint(part.latest()) < config.total_steps
    rest = resume(part.folder, progress=False, envs=KINDS[kind](config.num_envs))
    assert rest.finished
    assert_equal_runs(whole.run, rest.run)
    if off_policy:
        assert_equal_buffers(whole.run, rest.run)


def test_saving_does_not_disturb_training(tmp_path, pendulums, small_ppo):
    often = small_ppo
    seldom = with_interval(small_ppo, 10**9)
    a = train(often, tmp_path / "often", progress=False, envs=pendulums(8))
    b = train(seldom, tmp_path / "seldom", progress=False, envs=pendulums(8))
    assert_equal_runs(a.run, b.run)


def with_interval(config, every_steps, every_seconds=math.inf):
    """The configuration with another checkpoint interval."""
    return config.change({"checkpoint.every_steps": every_steps, "checkpoint.every_seconds": every_seconds})


@pytest.fixture
def saves(monkeypatch) -> list[tuple[int, bool]]:
    """Step of each checkpoint that is written, and whether it is in passing."""
    written, original = [], CheckpointCallback._write

    def write(self, passing, state=None):
        path = original(self, passing, state)
        written.append((verify_checkpoint(path), passing))
        return path

    monkeypatch.setattr(CheckpointCallback, "_write", write)
    return written


@pytest.mark.parametrize("algo", ["ppo", "sac", pytest.param("td3", marks=pytest.mark.slow)])
def test_saving_by_the_clock_does_not_disturb_training(
    tmp_path, monkeypatch, saves, pendulums, small_ppo, small_sac, small_td3, algo
):
    """A checkpoint after each iteration, or the last one alone; few are kept."""
    config = {"ppo": small_ppo, "sac": small_sac, "td3": small_td3}[algo]
    monkeypatch.setattr(callbacks, "LEAST_SHARE", 1e-9)
    often, seldom = with_interval(config, 10**9, 1e-9), with_interval(config, 10**9)
    a = train(often, tmp_path / "often", progress=False, envs=pendulums(config.num_envs))
    iteration = 128 if algo == "ppo" else 4
    total = config.total_steps
    assert saves == [(step, True) for step in range(iteration, total, iteration)] + [(total, False)]
    assert len(list_checkpoints(a.run.checkpoints)) == 2
    saves.clear()
    b = train(seldom, tmp_path / "seldom", progress=False, envs=pendulums(config.num_envs))
    assert saves == [(total, False)]
    assert_equal_runs(a.run, b.run)
    if algo != "ppo":
        assert_equal_buffers(a.run, b.run)


@pytest.mark.parametrize(("seconds", "iterations"), [(5.0, 4), (40.0, 2)])
def test_a_checkpoint_after_each_tenth_and_each_minute(
    tmp_path, monkeypatch, saves, pendulums, small_ppo, seconds, iterations
):
    """Of forty iterations, which take so many seconds by a clock that the test turns on."""
    time, original = [0.0], callbacks.ProgressCallback._on_rollout_end

    def end(self):
        time[0] += seconds
        original(self)

    monkeypatch.setattr(callbacks.ProgressCallback, "_on_rollout_end", end)
    monkeypatch.setattr(callbacks, "clock", lambda: time[0])
    config = with_interval(small_ppo.replace(total_steps=40 * 128), 10**9, 60.0)
    train(config, tmp_path / "tenths", progress=False, envs=pendulums(8))
    assert saves == [(k * 128, True) for k in range(iterations, 40, iterations)] + [(40 * 128, False)]


def test_checkpoints_in_passing_take_a_twentieth_of_the_time(tmp_path, monkeypatch, saves, pendulums, small_ppo):
    """Where one takes longer than the whole run, there is one, and the last."""
    original = CheckpointCallback._write

    def slow(self, *arguments, **options):
        path = original(self, *arguments, **options)
        self._cost = 1e6
        return path

    monkeypatch.setattr(CheckpointCallback, "_write", slow)
    train(with_interval(small_ppo, 10**9, 1e-9), tmp_path / "run", progress=False, envs=pendulums(8))
    assert saves == [(128, True), (6 * 128, False)]


class Killed(BaseException):
    """Ends training at once, and nothing can be saved any more."""


def breaking(pendulums, error, after, num_envs):
    """Pendulums whose `step` raises an error, once."""
    envs = pendulums(num_envs)
    step, left = envs.step, [after]

    def count(actions):
        left[0] -= 1
        if left[0] < 0:
            raise error
        return step(actions)

    envs.step = count
    return envs


@pytest.mark.parametrize("algo", ["ppo", "sac"])
def test_a_run_without_a_checkpoint_begins_anew(tmp_path, caplog, pendulums, small_ppo, small_sac, algo):
    """It was killed in its first iteration. Then the same is learnt as if it had not been."""
    config = {"ppo": small_ppo, "sac": small_sac}[algo]
    if algo == "sac":
        config = with_interval(config, 10**9)
    whole = train(config, tmp_path / "whole", progress=False, envs=pendulums(config.num_envs))
    with pytest.raises(Killed):
        train(config, tmp_path / "part", progress=False, envs=breaking(pendulums, Killed(), 5, config.num_envs))
    rest = resume(tmp_path / "part", progress=False, envs=pendulums(config.num_envs))
    assert rest.finished and rest.changed
    assert "part has no checkpoint: it begins again, with its configuration and seed" in caplog.text
    assert_equal_runs(whole.run, rest.run)


def test_a_run_that_learnt_nothing_does_not_block_its_name(tmp_path, pendulums, small_ppo):
    """Another may begin there, with another configuration; a folder with anything of a run in it is refused."""
    with pytest.raises(Killed):
        train(small_ppo, tmp_path / "run", progress=False, envs=breaking(pendulums, Killed(), 5, 8))
    done = train(small_ppo.replace(seed=7), tmp_path / "run", progress=False, envs=pendulums(8))
    assert done.finished and done.run.config.seed == 7
    with pytest.raises(RunError, match="already holds a run: continue it with --resume"):
        train(small_ppo, tmp_path / "run", progress=False, envs=pendulums(8))
    for path in done.run.checkpoints.iterdir():
        shutil.rmtree(path)
    with pytest.raises(RunError, match="already holds a run"):  # its learning curve is there
        train(small_ppo, tmp_path / "run", progress=False, envs=pendulums(8))


def test_a_configuration_of_the_users_is_not_replaced(tmp_path, pendulums, small_ppo):
    """It may lie where the run is to be; no run has begun there."""
    text = "# mine\n" + small_ppo.to_toml()
    (tmp_path / "config.toml").write_text(text)
    with pytest.raises(RunError, match="already holds a run"):
        train(small_ppo, tmp_path, progress=False, envs=pendulums(8))
    assert (tmp_path / "config.toml").read_text() == text


@pytest.mark.parametrize("algo", ["ppo", "sac", pytest.param("td3", marks=pytest.mark.slow)])
def test_after_an_error_in_the_tasks_code_nothing_learnt_is_lost(
    tmp_path, pendulums, small_ppo, small_sac, small_td3, algo
):
    """The last iteration before it is saved, and from there the run goes on as if there had been no error."""
    config = with_interval({"ppo": small_ppo, "sac": small_sac, "td3": small_td3}[algo], 10**9)
    whole = train(config, tmp_path / "whole", progress=False, envs=pendulums(config.num_envs))
    envs = breaking(pendulums, ZeroDivisionError("no"), 70, config.num_envs)
    with pytest.raises(ZeroDivisionError) as raised:
        train(config, tmp_path / "part", progress=False, envs=envs)
    saved = 4 * 128 if algo == "ppo" else 70 * 4
    assert raised.value.__notes__ == [
        f"What was learnt in {saved:,} steps is saved. When the mistake is mended, go on: tumble train --resume "
        f"{tmp_path / 'part'}"
    ]
    assert verify_checkpoint(Run(tmp_path / "part").latest()) == saved
    rest = resume(tmp_path / "part", progress=False, envs=pendulums(config.num_envs))
    assert_equal_runs(whole.run, rest.run)
    if algo != "ppo":
        assert_equal_buffers(whole.run, rest.run)


def test_an_error_before_anything_was_learnt_says_so(tmp_path, pendulums, small_ppo):
    with pytest.raises(ZeroDivisionError) as raised:
        train(small_ppo, tmp_path / "run", progress=False, envs=breaking(pendulums, ZeroDivisionError(), 5, 8))
    assert raised.value.__notes__[0].startswith("Nothing had been learnt yet. When the mistake is mended, begin again:")
    assert not Run(tmp_path / "run").has_checkpoint()
    assert resume(tmp_path / "run", progress=False, envs=pendulums(8)).finished


def test_weights_that_are_no_numbers_are_not_saved(tmp_path, monkeypatch, pendulums, small_ppo):
    """They may be why the task's code fails; the last good ones stay."""
    monkeypatch.setattr(Learner, "is_finite", lambda self: False)
    config = with_interval(small_ppo, 256)
    with pytest.raises(ZeroDivisionError) as raised:
        train(config, tmp_path / "run", progress=False, envs=breaking(pendulums, ZeroDivisionError(), 60, 8))
    assert "in 256 steps is saved" in raised.value.__notes__[0]
    monkeypatch.undo()
    learner = Learner(small_ppo, pendulums(8))
    assert learner.is_finite()
    next(learner.model.policy.parameters()).data[0] = math.nan
    assert not learner.is_finite()


def test_errors_of_tumbles_own_save_nothing(tmp_path, monkeypatch, pendulums, small_ppo):
    """The state may be damaged; the traceback stays as it is."""

    def broken(*arguments):
        return [][0]

    broken.__code__ = broken.__code__.replace(co_filename=callbacks.__file__)
    monkeypatch.setattr(callbacks.ProgressCallback, "_on_step", broken)
    with pytest.raises(IndexError) as raised:
        train(small_ppo, tmp_path / "run", progress=False, envs=pendulums(8))
    assert not hasattr(raised.value, "__notes__")


def test_learning_curve_goes_on(tmp_path, monkeypatch, pendulums, small_ppo):
    with monkeypatch.context() as patch:
        stop_at(patch, 3 * 128)
        part = train(small_ppo, tmp_path / "run", progress=False, envs=pendulums(8))
    path = part.run.folder / "progress.jsonl"
    with path.open("a") as file:  # what a killed process leaves: later lines, the last one cut off
        file.write(json.dumps({"step": 4 * 128, "seconds": 99.0}) + "\n" + '{"step": 6')
    resume(part.run.folder, progress=False, envs=pendulums(8))
    rows = read_curve(path)
    assert [row["step"] for row in rows] == [128 * k for k in range(1, 7)]
    assert all(a["seconds"] <= b["seconds"] for a, b in pairwise(rows))


def test_a_finished_run_can_be_extended(tmp_path, pendulums, small_ppo):
    done = train(small_ppo, tmp_path / "run", progress=False, envs=pendulums(8))
    again = resume(done.run.folder, progress=False, envs=pendulums(8))
    assert again.finished and again.step == small_ppo.total_steps
    more = resume(done.run.folder, total_steps=8 * 128, progress=False, envs=pendulums(8))
    assert more.step == 8 * 128 and more.run.config.total_steps == 8 * 128


def test_a_checkpoint_holds_numbers_only(tmp_path, pendulums, small_ppo):
    """Loading runs no code of the file's: everything goes through torch's weights_only reader."""
    learner = Learner(small_ppo, pendulums(8))
    learner.model.learn(128)
    learner.save(tmp_path)
    torch.load(tmp_path / "state.pt", weights_only=True)
    Learner(small_ppo, pendulums(8)).load(tmp_path)


def test_run_folders_are_named_and_protected(tmp_path, monkeypatch, small_ppo):
    monkeypatch.chdir(tmp_path)
    run, second = Run.create(small_ppo), Run.create(small_ppo)
    assert run.folder.name.startswith("Pendulum-v0-ppo-0-")
    assert run.folder != second.folder
    run.keep_config(small_ppo)
    with pytest.raises(RunError, match="--resume"):
        Run.create(small_ppo, run.folder)
    with pytest.raises(RunError, match="did you mean"):
        Run.find(Path("runs/Pendulum-v0-ppo-0"))
    with pytest.raises(RunError, match=r"no config\.toml"):
        Run.find(tmp_path)


def test_a_second_interrupt_stops_at_once():
    request = StopRequest()
    request(signal.SIGINT, None)
    assert request.wanted
    with pytest.raises(KeyboardInterrupt):
        request(signal.SIGINT, None)


def test_a_cluster_and_the_process_of_several_seeds_may_both_ask():
    """SLURM sends SIGTERM to all processes of a step, and the one that has started others passes it on as Ctrl-C."""
    request = StopRequest()
    request(signal.SIGTERM, None)
    request(signal.SIGINT, None)
    assert request.wanted
    with pytest.raises(KeyboardInterrupt):
        request(signal.SIGINT, None)
