"""Sweeps: Optuna chooses, runs are pruned by their evaluations, workers die and others go on, no trial counts twice."""

import importlib.util
import json
import multiprocessing
import os
import signal
import time
from collections import Counter
from types import SimpleNamespace

import pytest

from tumble.training import seeds
from tumble.training.checkpoint import save_checkpoint
from tumble.training.config import RunConfig
from tumble.training.lock import locked
from tumble.training.runs import Run
from tumble.training.seeds import SeedBatch
from tumble.training.sweeps import study as studies
from tumble.training.sweeps import worker as workers
from tumble.training.toml_dataclass import ConfigError

from ..page_programs import EXAMPLES, ROOT

optuna = pytest.importorskip("optuna")
from tumble.training.sweeps.outcome import importances, write_outcome  # noqa: E402
from tumble.training.sweeps.sweep_file import SweepFile  # noqa: E402

FILE = """
task = "PointMass"
total_steps = 1000
num_envs = { values = [16, 32] }

[policy]
hidden = { values = [[32], [32, 32]] }

[ppo]
n_steps = 16
learning_rate = { low = 1e-4, high = 1e-2, log = true }

[sweep]
trials = 12
silence = 2
"""


class PlayedChild(seeds.Child):
    """A stand-in for a process of `tumble train`: it evaluates twice a look, and its returns show the learning rate."""

    steps = 100

    def __init__(self, batch, seed, arguments, jobs, name, tell):
        self.run, self.config, self.last = batch.run(seed), batch.config.replace(seed=seed), "boom"
        self.name, self.interrupted, self.process = name, False, SimpleNamespace(returncode=None)
        self.run.folder.mkdir(parents=True, exist_ok=True)
        self.run.keep_config(self.config)
        self.path = self.run.folder / "evaluations.jsonl"
        self.step = len(self.path.read_text().splitlines()) * self.steps if self.path.exists() else 0
        tell(f"{name}: begins at {self.step}")

    def score(self, step):
        return 1000 * self.config.ppo.learning_rate * step

    def has_ended(self):
        for _ in range(2):
            if self.step < self.config.total_steps and not self.interrupted:
                self.step += self.steps
                row = {"step": self.step, "seconds": self.step / 100, "mean": self.score(self.step)}
                for name in ("progress.jsonl", "evaluations.jsonl"):
                    with (self.run.folder / name).open("a") as file:
                        file.write(json.dumps(row) + "\n")
        if self.interrupted or self.step >= self.config.total_steps:
            save_checkpoint(self.run.checkpoints, self.step, lambda folder: (folder / "x").write_text("x"), keep=1)
            self.process.returncode = 0
        return self.process.returncode is not None

    def interrupt(self):
        self.interrupted = True

    def stop_at_once(self):
        self.interrupt()


@pytest.fixture(autouse=True)
def played(monkeypatch):
    monkeypatch.setattr(workers, "Child", PlayedChild)
    monkeypatch.setattr(workers, "PAUSE", 0.02)


@pytest.fixture
def written(tmp_path):
    def write(text=FILE, name="search.toml"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def opened(path, folder):
    return studies.Study(SweepFile.load(path), folder)


def carry_out(path, folder, jobs=2):
    workers.Worker(opened(path, folder), jobs).run()


def in_a_process(*arguments):
    process = multiprocessing.get_context("fork").Process(target=carry_out, args=arguments)
    process.start()
    return process


def require_complete(study, trials=12):
    """The study has so many trials that count, and their numbers are different."""
    numbers = Counter(study.number(trial) for trial in study.ended)
    assert len(study.ended) == trials == len(numbers), numbers
    assert not [t for t in study.optuna.trials if t.state in (study.state.RUNNING, study.state.WAITING)]


def test_a_sweep_ends_with_the_best_configuration(written, tmp_path):
    study = opened(written(), tmp_path / "sweep")
    workers.Worker(study, 2).run()
    require_complete(study)
    best = study.finished()[0]
    paths = [path.name for path in write_outcome(study)]
    config = RunConfig.load(tmp_path / "sweep" / "best.toml")
    assert config == study.file.config(best.params) and config.ppo.learning_rate == best.params["ppo.learning_rate"]
    assert best.value == pytest.approx(1e6 * config.ppo.learning_rate)
    assert isinstance(config.policy.hidden, tuple) and config.num_envs in (16, 32) and config.ppo.n_steps == 16
    lines = (tmp_path / "sweep" / "trials.csv").read_text().splitlines()
    assert len(lines) == 13 and lines[0] == "trial,state,score,num_envs,policy.hidden,ppo.learning_rate"
    run = Run.find(tmp_path / "sweep" / f"trial-{study.number(best):04d}" / "seed-0")
    assert run.config.ppo.learning_rate == config.ppo.learning_rate, "each is an ordinary run"
    if "importances.png" in paths:
        assert (tmp_path / "sweep" / "importances.png").read_bytes()[1:4] == b"PNG"
        shares = importances(study)
        assert max(shares, key=shares.get) == "ppo.learning_rate" and sum(shares.values()) == pytest.approx(1)


def test_poor_trials_are_pruned_by_their_curves(written, tmp_path):
    study = opened(written(FILE.replace("trials = 12", "trials = 12\nseeds = 2")), tmp_path / "sweep")
    study.optuna.sampler = optuna.samplers.TPESampler(seed=1)
    workers.Worker(study, 1).run()
    require_complete(study)
    pruned = [trial for trial in study.ended if trial.state == study.state.PRUNED]
    assert pruned and all(1 < max(trial.intermediate_values) < 21 for trial in pruned)
    assert min(trial.value for trial in study.finished()[:5]) > max(trial.value for trial in pruned)
    assert all(set(trial.intermediate_values) == {*range(1, 11), *range(12, 22)} for trial in study.finished())
    never = opened(written(FILE.replace("trials = 12", "trials = 8\nprune = false"), "other.toml"), tmp_path / "other")
    workers.Worker(never, 2).run()
    assert len(never.finished()) == 8


def test_a_budget_in_seconds_ends_runs(written, tmp_path):
    study = opened(written(FILE.replace("trials = 12", "trials = 3\nseconds = 5")), tmp_path / "sweep")
    workers.Worker(study, 1).run()
    require_complete(study, 3)
    for trial in study.finished():
        assert trial.value == pytest.approx(1000 * trial.params["ppo.learning_rate"] * 500), "of the step at 5 s"


def test_a_worker_that_is_killed_leaves_its_trials_to_the_next(written, tmp_path):
    """Three times by SIGKILL, and then by Ctrl-C, after which they are taken at once."""
    path, folder = written(), tmp_path / "sweep"
    for turn in range(4):
        process = in_a_process(path, folder)
        seen = len(list(folder.glob("trial-*")))
        deadline = time.monotonic() + 60
        while len(list(folder.glob("trial-*"))) < seen + 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL if turn < 3 else signal.SIGINT)
        process.join(60)
        assert process.exitcode == (-signal.SIGKILL if turn < 3 else 0)
    study = opened(path, folder)
    begun = time.monotonic()
    workers.Worker(study, 2).run()
    require_complete(study)
    retried = [trial for trial in study.ended if study.number(trial) != trial.number]
    assert retried and time.monotonic() - begun < 60
    assert len(list(folder.glob("trial-*"))) <= 12 + 4, "trials that were cut off keep their folders"


def test_workers_share_a_sweep(written, tmp_path):
    """They start together, so that they meet in creating the database and in its last trials."""
    path, folder = written(), tmp_path / "sweep"
    processes = [in_a_process(path, folder, 1) for _ in range(3)]
    for process in processes:
        process.join(120)
    assert [process.exitcode for process in processes] == [0, 0, 0]
    require_complete(opened(path, folder))


def test_a_result_of_a_worker_that_was_silent_does_not_count(written, tmp_path, capsys):
    study = opened(written(FILE.replace("trials = 12", "trials = 1")), tmp_path / "sweep")
    silent = study.next()
    study.optuna.tell(silent.number, state=study.state.FAIL)
    study.requeue(study.optuna, study.optuna.trials[0])
    with pytest.raises(studies.TrialLost):
        study.end(silent, score=5.0)
    with pytest.raises(studies.TrialLost):
        study.release(silent)
    workers.Worker(study, 1).run()
    require_complete(study, 1)
    assert study.number(study.ended[0]) == 0 and "trial 0: score" in capsys.readouterr().out


def test_a_trial_that_was_never_begun_is_replaced(written, tmp_path, monkeypatch):
    study = opened(written(FILE.replace("trials = 12", "trials = 2")), tmp_path / "sweep")
    study.optuna.ask(study.file.distributions())  # by a worker that is killed now
    workers.Worker(study, 1).run()
    require_complete(study, 2)


def test_a_run_in_which_an_orphan_still_trains_is_waited_for(written, tmp_path):
    study = opened(written(FILE.replace("trials = 12", "trials = 1")), tmp_path / "sweep")
    trial = workers._Trial(study, study.next())
    run = trial.batch.run(0)
    run.keep_config(trial.config)
    with locked(run.folder):
        assert not trial.start(1)
    assert trial.start(1)


def test_failures_are_explained_and_end_a_sweep_that_only_fails(written, tmp_path, monkeypatch, command):
    monkeypatch.setattr(PlayedChild, "score", lambda self, step: 1 / 0 if step > 500 else 1.0)

    def fail(self):
        self.process.returncode = 2
        return True

    monkeypatch.setattr(PlayedChild, "has_ended", fail)
    printed, error = command.run("sweep", written(), "--out", tmp_path / "sweep", "--jobs", 1, code=2)
    assert "3 trials failed: trial 0, seed 0 (exit code 2): boom" in error
    assert "stopped after 3 of 12 trials: 0 complete, 0 pruned, 3 failed" in printed


def test_a_process_that_dies_is_begun_again(written, tmp_path, monkeypatch):
    end, deaths = PlayedChild.has_ended, []

    def die(self):
        if len(deaths) < 2:
            deaths.append(self.name)
            self.process.returncode = -signal.SIGKILL
            return True
        return end(self)

    monkeypatch.setattr(PlayedChild, "has_ended", die)
    study = opened(written(FILE.replace("trials = 12", "trials = 2")), tmp_path / "sweep")
    workers.Worker(study, 1).run()
    assert len(deaths) == 2 and len(study.finished()) == 2 == len(study.optuna.trials)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("learning_rate", "lerning_rate", r"'ppo.lerning_rate'; did you mean 'ppo.learning_rate'"),
        ("low = 1e-4", "low = 1e-1", r"'ppo.learning_rate': low = 0.1 must be below high = 0.01"),
        ("low = 1e-4", "low = 0", r"'ppo.learning_rate': log = true needs low above 0"),
        ("low = 1e-4", "low = -1.0, values = [1]", r"'ppo.learning_rate': values must be a list of two or more"),
        ("low = 1e-4", "lo = 1e-4", r"'ppo.learning_rate': a range has no 'lo'; known keys: low, high"),
        ("low = 1e-4", 'low = "a"', r"'ppo.learning_rate': a range has numbers low and high"),
        ("log = true", "step = -1", r"'ppo.learning_rate': step must be positive"),
        ("high = 1e-2", "step = 1e-3", r"'ppo.learning_rate': a range has numbers low and high"),
        ("values = [16, 32]", "values = [16, 2.5]", r"num_envs = 2.5: 'num_envs' must be a whole number"),
        ("values = [16, 32]", "values = [16]", r"'num_envs': values must be a list of two or more"),
        ("num_envs =", "seed =", r"'seed' cannot be a range: sweep.seeds counts"),
        ("trials = 12", "trails = 12", r"unknown key 'sweep.trails'; did you mean 'trials'"),
        ("trials = 12", "trials = 0", r"sweep.trials must be positive"),
        ("trials = 12", "", r"missing key 'sweep.trials'"),
        ("[sweep]", "[sweeep]", r"the table \[sweep\] is missing"),
        ('task = "PointMass"', "", r"give task \(and algo\), or config"),
        ("n_steps", "n_stepps", r"unknown key 'ppo.n_stepps'"),
        ("[ppo]", "[sac]", r"'sac.n_steps' changes nothing: the algorithm is ppo"),
        (
            "[ppo]",
            "[env]\nfrme_skip = { low = 1, high = 3 }\n[ppo]",
            r"has no option 'frme_skip'; did you mean frame_skip",
        ),
    ],
)
def test_mistakes_in_a_file_are_named(written, command, before, after, message):
    assert before in FILE
    path = written(FILE.replace(before, after, 1))
    with pytest.raises(Exception, match=message):
        SweepFile.load(path)
    if before == "low = 1e-4":
        assert command.mistake("sweep", path).startswith(f"error: {path}: ")


def test_a_file_without_ranges_or_missing(written, tmp_path):
    with pytest.raises(ConfigError, match="no value is a range"):
        SweepFile.load(written('task = "PointMass"\n[sweep]\ntrials = 3\n'))
    with pytest.raises(ConfigError, match="no such configuration file"):
        SweepFile.load(tmp_path / "none.toml")
    with pytest.raises(ConfigError, match="no such configuration file"):
        SweepFile.load(written('config = "none.toml"\n[sweep]\ntrials = 3\n'))


def test_the_example_is_the_pages():
    path = EXAMPLES.parent / "point_mass.toml"
    assert SweepFile.load(path).settings.trials == 40
    text = path.read_text("utf-8")
    assert text[text.index("task =") :] in (ROOT / "docs" / "sweeps.md").read_text("utf-8")


def test_kinds_of_ranges(written, tmp_path):
    (tmp_path / "start.toml").write_text('task = "tumble/PointMass-v0"\nalgo = "ppo"\nnum_envs = 48\n')
    text = 'config = "start.toml"\nnum_envs = {low = 8, high = 64, step = 8}\n[ppo]\ngamma = {low = 0.9, high = 1}\n'
    text += 'n_epochs = {low = 1, high = 64, log = true}\nlearner = {values = ["lean", "compiled"]}\n'
    file = SweepFile.load(written(text + "[env]\nframe_skip = {low = 1, high = 4}\n[sweep]\ntrials = 3\n"))
    kinds = {name: type(kind).__name__.removesuffix("Distribution") for name, kind in file.distributions().items()}
    wanted = {"num_envs": "Int", "ppo.gamma": "Float", "ppo.n_epochs": "Int", "ppo.learner": "Categorical"}
    assert kinds == wanted | {"env.frame_skip": "Int"} and file.base.evaluation.every_steps == 100_000
    config = file.config({"num_envs": 24, "ppo.gamma": 0.95, "ppo.learner": "lean", "env.frame_skip": 2})
    assert (config.num_envs, config.ppo.gamma, config.env) == (24, 0.95, {"frame_skip": 2})


def test_terms_of_randomization_are_no_ranges(written):
    """In `[randomize]` low and high are a term's; `values` searches."""
    text = 'task = "Ant"\n[randomize]\nmass = {low = 0.9, high = 1.1}\ndamping = {values = [[0.9, 1.1], [0.5, 2.0]]}\n'
    text += 'friction = {low = 0.4, high = 1.0, geoms = "floor"}\n'
    text += "[delay]\naction = {low = 0, high = 2}\n[sweep]\ntrials = 3\n"
    file = SweepFile.load(written(text))
    assert file.ranges.keys() == {"randomize.damping", "delay.action"}
    assert file.base.randomize["friction"] == {"low": 0.4, "high": 1.0, "geoms": "floor"}
    assert file.config({"randomize.damping": "[0.5, 2.0]"}).randomize["damping"] == [0.5, 2.0]


def test_folders_and_storages_that_do_not_fit(written, tmp_path, command):
    path, folder = written(), tmp_path / "sweep"
    opened(path, folder)
    assert opened(written(FILE.replace("trials = 12", "trials = 30")), folder).file.settings.trials == 30, (
        "more trials are welcome"
    )
    other = FILE.replace("high = 1e-2", "high = 1e-1")
    message = command.mistake("sweep", written(other), "--out", folder)
    assert f"{folder} has another sweep called search, with another ppo.learning_rate: choose another --out" in message
    storage = f'silence = 2\nstorage = "sqlite:///{tmp_path}/all.db"'
    opened(written(FILE.replace("silence = 2", storage)), tmp_path / "a")
    message = command.mistake("sweep", written(other.replace("silence = 2", storage)), "--out", tmp_path / "b")
    assert "all.db has another sweep called search" in message
    SeedBatch.create(RunConfig("tumble/PointMass-v0", "ppo"), [0], tmp_path / "full" / "trial-0000")
    message = command.run("sweep", written(name="new.toml"), "--out", tmp_path / "full", "--jobs", 1, code=2)[1]
    assert "trial-0000 is a trial of another sweep: choose another --out" in message


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("sqlite:////nowhere/x.db", "the storage sqlite:////nowhere/x.db cannot be used: unable to open database file"),
        ("nonsense", "the storage nonsense cannot be used: Could not parse SQLAlchemy URL"),
        ("nosuch://me:secret@host/x", "the storage nosuch://me:***@host/x cannot be used: Can't load plugin"),
    ],
)
def test_a_storage_that_cannot_be_reached(written, tmp_path, command, monkeypatch, url, message):
    monkeypatch.setattr(studies, "TRIES", 1)
    path = written(FILE.replace("silence = 2", f'silence = 2\nstorage = "{url}"'))
    printed = command.mistake("sweep", path, "--out", tmp_path / "sweep")
    assert message in printed and "secret" not in printed


def test_without_optuna_the_command_says_what_to_install(written, command, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name == "optuna" else find(name, *more)
    )
    assert 'sweeps need Optuna: pip install "tumble[sweep]"' in command.mistake("sweep", written())


def test_real_runs(written, tmp_path, command, monkeypatch):
    """Two trials in processes, then the best configuration as an ordinary one."""
    monkeypatch.setattr(workers, "Child", seeds.Child)
    text = 'task = "InvertedPendulum"\ntotal_steps = 512\nnum_envs = 8\nevaluation.episodes = 2\n'
    text += "[ppo]\nn_steps = 32\nbatch_size = 64\nlearning_rate = {low = 1e-4, high = 1e-3}\n[sweep]\ntrials = 2\n"
    printed = command("sweep", written(text), "--out", tmp_path / "sweep", "--jobs", 2)
    assert "finished 2 of 2 trials: 2 complete, 0 pruned, 0 failed" in printed
    assert f"next: tumble train --config {tmp_path}/sweep/best.toml" in printed
    assert "seed 0: finished at step 512" in (tmp_path / "sweep" / "trial-0000" / "output.txt").read_text()
    again = command("sweep", written(text), "--out", tmp_path / "sweep")
    assert "finished 2 of 2 trials" in again and "trial 0:" not in again
    command(
        "report", tmp_path / "sweep" / "trial-0000", tmp_path / "sweep" / "trial-0001", "--out", tmp_path / "report"
    )
