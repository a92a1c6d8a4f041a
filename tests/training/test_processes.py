"""Several processes train one run: as one process does, or they end together with one sentence."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from tumble.physics.machine import children
from tumble.training.checkpoint import CheckpointError, verify_checkpoint
from tumble.training.commands.processes_command import train_in
from tumble.training.config import CheckpointConfig, EvaluationConfig, PolicyConfig, PPOConfig, RunConfig, SACConfig
from tumble.training.distributed import ProcessGroup
from tumble.training.learning.learner import DeviceError, Learner
from tumble.training.learning.loggers import read_curve
from tumble.training.runs import Run

from .test_resume import assert_equal_runs
from .test_resume import compare as compare_states

ROOT = Path(__file__).resolve().parents[2]
VARIABLES = {"TUMBLE_THREADS": "1", "TORCH_CPP_LOG_LEVEL": "ERROR"}
PATIENCE = 240.0  # s, on a machine that does other things too


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Started:
    """Processes of a group, with what they print."""

    def __init__(self, folder, size, **case):
        folder.mkdir(exist_ok=True)
        case = {"envs": 64 // size, "all": 64, "iterations": 10, "do": "learn"} | case
        path = folder / "case.json"
        path.write_text(json.dumps(case))
        where = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": str(size)}
        self.folder, self.children = folder, []
        for rank in range(size):
            own = os.environ | VARIABLES | (where | {"RANK": str(rank)} if size > 1 else {})
            command = [sys.executable, "-m", "tests.training.process_worker", str(path)]
            output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "cwd": ROOT}
            self.children.append(subprocess.Popen(command, env=own, **output))

    def ends(self):
        """Wait for all processes; return exit codes and outputs."""
        until, results = time.monotonic() + PATIENCE, []
        for child in self.children:
            try:
                results.append(child.communicate(timeout=max(until - time.monotonic(), 1)))
            except subprocess.TimeoutExpired:
                child.kill()
                results.append(child.communicate())
        return [child.returncode for child in self.children], [out for out, _ in results]

    def results(self):
        """Wait until all processes have ended without an error; return their results."""
        codes, outputs = self.ends()
        assert not any(codes), "\n".join(outputs)
        return [torch.load(self.folder / f"{rank}.pt") for rank in range(len(self.children))]


def compare(one, several, tolerance):
    """Weights and statistics are the same to a tolerance, and episodes; processes have the same bits."""
    for other in several:
        assert torch.equal(other["weights"], several[0]["weights"]) and other["steps"] == one["steps"]
        np.testing.assert_allclose(other["statistics"], one["statistics"], rtol=tolerance, atol=tolerance)
        np.testing.assert_allclose(other["weights"], one["weights"], rtol=0, atol=tolerance)
    lengths = [length for _, length in one["episodes"]]
    assert len(lengths) > 100 and all(other["episodes"] == several[0]["episodes"] for other in several)
    assert sorted(length for _, length in several[0]["episodes"]) == sorted(lengths)
    returns = [sorted(r for r, _ in each["episodes"]) for each in (one, several[0])]
    np.testing.assert_allclose(*returns, rtol=0, atol=100 * tolerance)


@pytest.mark.parametrize("size", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_two_processes_learn_what_one_learns_in_double_precision(tmp_path, size):
    """Ten iterations; only the order of sums differs."""
    (one,) = Started(tmp_path / "one", 1, double=True).results()
    several = Started(tmp_path / "several", size, double=True).results()
    compare(one, several, 1e-10)


@pytest.mark.parametrize(
    "case",
    [
        {},
        *(
            pytest.param(c, marks=pytest.mark.slow)
            for c in ({"kind": "told apart"}, {"kind": "choices", "space": "Discrete"})
        ),
    ],
)
def test_two_processes_learn_what_one_learns_with_compiled_code(tmp_path, case):
    """Three iterations in single precision: rounding of 1e-7 grows with each."""
    case = case | {"iterations": 3, "ppo": {"desired_kl": 0.01}}
    (one,) = Started(tmp_path / "one", 1, **case).results()
    several = Started(tmp_path / "two", 2, **case).results()
    for other in several:
        assert torch.equal(other["weights"], several[0]["weights"])
        np.testing.assert_allclose(other["weights"], one["weights"], rtol=0, atol=2e-4)
        np.testing.assert_allclose(other["statistics"], one["statistics"], rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("size", [2, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("algo", ["sac", pytest.param("td3", marks=pytest.mark.slow)])
def test_processes_learn_off_policy_what_one_learns(tmp_path, algo, size):
    """Random actions, noise of actions and of updates, a buffer that forgets, and 56 updates.

    The tolerance is 100 roundings of single precision: weights differed by 6e-8 after 72 updates.
    """
    (one,) = Started(tmp_path / "one", 1, algo=algo, iterations=8).results()
    several = Started(tmp_path / "several", size, algo=algo, iterations=8).results()
    compare(one, several, 6e-6)


@pytest.mark.parametrize(
    ("algo", "stops_at"),
    [("ppo", 3072), *(pytest.param(algo, 2560, marks=pytest.mark.slow) for algo in ("sac", "td3"))],
)
def test_a_run_of_two_processes_stops_and_goes_on(tmp_path, algo, stops_at):
    """Ctrl-C in one of them stops both at the same iteration; one process goes on with new episodes, and says so."""
    whole = Started(tmp_path / "whole", 2, do="train", iterations=6, algo=algo)
    codes, outputs = whole.ends()
    assert codes == [0, 0], outputs
    assert "run folder" in outputs[0] and "stands at 6144 finished True" in outputs[0] and "steps/s" not in outputs[1]
    stopped = Started(tmp_path / "stopped", 2, do="train", iterations=6, algo=algo, who=1, failing="SIGINT")
    codes, outputs = stopped.ends()
    assert codes == [0, 0], outputs
    assert all(f"stands at {stops_at} finished False" in out for out in outputs)
    runs = [Run(tmp_path / name / "run") for name in ("whole", "stopped")]
    assert json.loads((runs[1].folder / "run.json").read_text())["processes"] == 2
    codes, outputs = Started(tmp_path / "stopped", 2, do="resume", iterations=6, algo=algo).ends()
    assert codes == [0, 0], outputs
    assert_equal_runs(*runs)
    latest = [run.latest() for run in runs]
    compare_states(*(torch.load(path / "state-1.pt", weights_only=True) for path in latest), "state of process 1")
    for path in latest[0].glob("replay_buffer*"):
        with np.load(path) as ours, np.load(latest[1] / path.name) as theirs:
            assert all(np.array_equal(ours[name], theirs[name]) for name in ours)
    assert len([*latest[1].glob("replay_buffer*")]) == (0 if algo == "ppo" else 2)
    assert not [*runs[1].checkpoints.glob("replay_buffer*")]
    codes, outputs = Started(tmp_path / "stopped", 1, do="resume", total=16 * 64 * 8, envs=32, algo=algo).ends()
    assert codes == [0] and "had 2 processes and has 1 now" in outputs[0] and "32 instead of 64" in outputs[0], outputs


def test_what_processes_cannot_train_is_refused(small_sac, pendulums):
    """The sentence says which setting is the reason."""
    group = type("Two", (ProcessGroup,), {"size": 2})()
    with pytest.raises(DeviceError, match=r'\(--set sac.learner=compiled\), and here sac.learner is "sb3"; start'):
        Learner(small_sac, pendulums(4), group)
    two = small_sac.replace(sac=SACConfig(learner="compiled", buffer_size=100))
    assert Learner(two, pendulums(4), group).model.replay_buffer.buffer_size == 100 // 8


def test_process_0_says_that_another_could_not_write_its_replay_buffer(configs, pendulums, tmp_path):
    """So that all decide the same: a checkpoint in passing is left out, another one ends the run."""
    given = []

    class Two(ProcessGroup):
        size = 2

        def gather(self, mine):
            given.insert(0, mine)
            return given if self.rank == 0 else []

    (tmp_path / "replay_buffer-1.npz").mkdir()
    for rank in (1, 0):
        group = Two()
        group.rank = rank
        learner = Learner(configs["compiled sac"], pendulums(4), group)
        learner.model._setup_learn(1)
        if rank:
            assert learner.other_states(tmp_path) == []
    with pytest.raises(CheckpointError, match=r"process 1 could not write its replay buffer: .*-1.npz: Is a directory"):
        learner.other_states(tmp_path)


@pytest.mark.parametrize(
    ("failing", "who", "sentence"),
    [
        ("SIGKILL", 1, "process 1 on {host} has ended without a word"),
        pytest.param("SIGKILL", 0, "process 0 on {host}", marks=pytest.mark.slow),
        ("SIGSTOP", 1, "process 1 on {host} has given no sign of life for"),
        pytest.param(
            "SIGSTOP",
            0,
            "process 0 on {host}, which keeps the group's store, cannot be reached. All processes",
            marks=pytest.mark.slow,
        ),
        ("hang", 1, "process 1 on {host} hangs: others have waited"),
        pytest.param("hang", 0, "process 0 on {host} hangs: others have waited", marks=pytest.mark.slow),
        ("raise", 1, "ZeroDivisionError: the bob fell off. All processes end; go on from"),
        (
            "config",
            1,
            "process 1 on {host} has another configuration than process 0 on {host}: 'learning_rate = 0.001'",
        ),
        pytest.param("torch", 1, "has another torch than process 0 on {host}: '1.0'", marks=pytest.mark.slow),
    ],
)
def test_a_process_that_fails_ends_all_with_its_name(tmp_path, failing, who, sentence):
    """Each ends within a minute; here signs of life are looked for more often."""
    case = {"iterations": 2000, "do": "train", "who": who, "failing": failing, "SILENCE": 6.0, "BEAT": 0.5, "LAST": 2.0}
    begun = time.monotonic()
    started = Started(tmp_path, 2, **case)
    other = started.children[1 - who]
    out, _ = other.communicate(timeout=PATIENCE)
    failed = started.children[who]
    if failed.poll() is None and failing == "SIGSTOP":
        failed.send_signal(signal.SIGKILL)
    failed.wait(60)
    assert other.returncode == 2, out
    assert sentence.format(host=socket.gethostname()) in out and "Traceback" not in out, out
    assert time.monotonic() - begun < PATIENCE
    if failing not in ("config", "torch"):
        assert "--resume" in out


@pytest.mark.slow
def test_a_full_disk_in_process_0_ends_all_and_the_last_checkpoint_stays(tmp_path):
    """The sentence names the process, the folder and what to do; two processes go on."""
    codes, outputs = Started(tmp_path, 2, do="train", iterations=10, who=0, failing="full disk", BEAT=0.5).ends()
    assert codes == [2, 2], outputs
    checkpoints = tmp_path / "run" / "checkpoints"
    reason = f"{checkpoints}: the checkpoint of step 4,096 could not be written: "
    assert f"error: {reason}" in outputs[0] and f"process 0 on {socket.gethostname()}: {reason}" in outputs[1], outputs
    assert all("go on from them with --resume" in out and "Traceback" not in out for out in outputs)
    assert verify_checkpoint(Run(tmp_path / "run").latest()) == 2048
    codes, outputs = Started(tmp_path, 2, do="resume", iterations=10).ends()
    assert codes == [0, 0] and "stands at 10240 finished True" in outputs[0], outputs


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.parametrize(
    ("second", "code", "said"),
    [
        ("pass", 3, ""),
        ("os.kill(os.getpid(), signal.SIGKILL)", 2, "error: process 1 was ended from outside by SIGKILL\n"),
    ],
)
def test_the_command_ends_all_processes_as_soon_as_one_fails(monkeypatch, capfd, second, code, said):
    """Process 0 would sleep for longer than the test takes; the exit code is that of process 1."""
    program = f"import os, signal, sys, time\nif os.environ['RANK'] == '0': time.sleep(600)\n{second}\nsys.exit(3)"
    monkeypatch.setattr(children, "python_command", lambda *_: [sys.executable, "-c", program])
    assert train_in(2) == code
    assert capfd.readouterr().err == said


@pytest.mark.slow
def test_the_same_mistake_in_all_processes_is_printed_once(tmp_path):
    """All processes refuse a learner that several cannot share."""
    codes, outputs = Started(tmp_path, 2, do="train", ppo={"learner": "sb3"}).ends()
    assert codes == [2, 2] and "".join(outputs).count("error: ") == 1, outputs


@pytest.mark.slow
def test_after_an_error_in_the_tasks_code_two_processes_go_on_from_the_last_checkpoint(tmp_path):
    """The error is at step 40, after a checkpoint at step 32; the run has the same bits as one without the error."""
    codes, outputs = Started(tmp_path / "whole", 2, do="train", iterations=6).ends()
    assert codes == [0, 0], outputs
    case = {"do": "train", "iterations": 6, "who": 1, "failing": "raise", "BEAT": 0.5}
    codes, outputs = Started(tmp_path / "part", 2, **case).ends()
    assert codes[0] == 2 and "the bob fell off" in outputs[0], outputs
    whole, part = (Run(tmp_path / name / "run") for name in ("whole", "part"))
    assert verify_checkpoint(part.latest()) == 32 * 64
    codes, outputs = Started(tmp_path / "part", 2, do="resume", iterations=6).ends()
    assert codes == [0, 0], outputs
    assert_equal_runs(whole, part)


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("algo", ["ppo", "sac"])
def test_processes_killed_at_random_moments_learn_what_others_learn(tmp_path, algo):
    """Twenty groups of two lose one process each; the others end with its name, and the run has the same bits."""
    sac = SACConfig(buffer_size=3000, learning_starts=300, batch_size=64, learner="compiled", train_freq=16)
    ppo = PPOConfig(n_steps=16, batch_size=96, n_epochs=2, learning_rate_end=0.0, learner="compiled")
    config = RunConfig(
        task="test/Pendulum-v0",
        algo=algo,
        num_envs=8,
        total_steps=120 * 16 * 16,
        policy=PolicyConfig(hidden=(16, 16)),
        ppo=ppo,
        sac=sac,
        checkpoint=CheckpointConfig(every_steps=2 * 16 * 16, every_seconds=2.0),
        evaluation=EvaluationConfig(every_steps=4 * 16 * 16, episodes=4),
    )
    (tmp_path / "config.toml").write_text(config.to_toml())
    for name, kills in (("whole", 0), ("part", 20)):
        arguments = [str(tmp_path / "config.toml"), str(tmp_path / name), str(kills)]
        program = [sys.executable, "-m", "tests.training.killed_groups", *arguments]
        subprocess.run(program, cwd=ROOT, check=True, timeout=1800, env=os.environ | VARIABLES)
    whole, part = (Run(tmp_path / name) for name in ("whole", "part"))
    assert_equal_runs(whole, part)
    states = [torch.load(run.latest() / "state-1.pt", weights_only=True) for run in (whole, part)]
    compare_states(*states, "state of process 1")
    for name in ("progress.jsonl", "evaluations.jsonl"):
        rows = [read_curve(run.folder / name) for run in (whole, part)]
        assert [row["step"] for row in rows[0]] == [row["step"] for row in rows[1]] and len(rows[0]) >= 30
        for one, other in zip(*rows, strict=True):  # the first row after a resume has no figures of the update before
            names = [name for name in one.keys() & other.keys() if "seconds" not in name and "time/" not in name]
            assert {name: one[name] for name in names} == {name: other[name] for name in names}
