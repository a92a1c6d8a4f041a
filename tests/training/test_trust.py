"""A run folder may come from somebody else: the code that its task is in runs only if the user names or trusts it."""

import shutil
from pathlib import Path

import pytest

from tumble.training import seeds
from tumble.training.config import RunConfig
from tumble.training.seeds import SeedBatch

SMALL = ("--set", "ppo.n_steps=16", "--set", "ppo.batch_size=32")  # an iteration is 32 steps
SHORT = ("--steps", 1, "--num-envs", 2, *SMALL, "--no-progress")
MARK = "\nfrom pathlib import Path\nPath(__file__).with_name('imported').touch()\n"


@pytest.fixture
def run(workshop, command):
    """A run of a user's own task, whose file leaves a mark when it is imported; as another process finds it."""
    workshop.write("levers.py")
    command("train", "levers.py", "--out", "run", *SHORT)
    workshop.write("levers.py", more=MARK)
    workshop.forget()
    return Path("run")


def was_imported(workshop):
    """Whether the file was imported again."""
    return (workshop.folder / "imported").exists()


@pytest.mark.parametrize(
    "arguments", [("evaluate", "run"), ("train", "--resume", "run"), ("evaluate", "run", "--video", "a.mp4")]
)
def test_it_is_not_imported_unasked(workshop, run, command, arguments):
    message = command.mistake(*arguments)
    file = workshop.folder / "levers.py"
    assert f"the run's task is {file}:me/Lever-v0: Tumble would import it, and that runs its code" in message
    assert f"--task {file}" in message and "--trust" in message
    assert not was_imported(workshop)


@pytest.mark.parametrize("named", ["levers.py", "levers", "levers:me/Lever-v0", "./levers.py:lever"])
def test_named_it_is_imported_and_said(workshop, run, command, named):
    printed = command("evaluate", "run", "--task", named, "--episodes", 1)
    assert f"note: the run's task is {workshop.folder / 'levers.py'}:me/Lever-v0, which is imported now" in printed
    assert was_imported(workshop)
    printed = command("train", named, "--resume", "run", "--steps", 64, "--no-progress")
    assert "which is imported now" in printed and "finished at step" in printed
    assert f"next: tumble evaluate run --task {workshop.folder / 'levers.py'}" in printed


def test_trusted_it_is_imported_and_said(workshop, run, command):
    assert "which is imported now" in command("evaluate", "run", "--trust", "--episodes", 1)
    assert was_imported(workshop)


def test_through_a_link_it_is_the_same_file(workshop, run, command, tmp_path):
    (tmp_path / "link").symlink_to(workshop.folder, target_is_directory=True)
    command("evaluate", "run", "--task", tmp_path / "link" / "levers.py", "--episodes", 1)


def test_another_file_does_not_vouch_for_it(workshop, run, command):
    shutil.copy("levers.py", "mine.py")
    message = command.mistake("evaluate", "run", "--task", "mine.py")
    assert "in another place than mine.py" in message
    text = (run / "config.toml").read_text().replace("levers.py", "elsewhere/levers.py")
    workshop.write("elsewhere/levers.py", more=MARK)
    (run / "config.toml").write_text(text)
    workshop.forget()
    assert "in another place than" in command.mistake("evaluate", "run", "--task", "mine.py")
    assert not (workshop.folder / "elsewhere" / "imported").exists()


def test_a_module_in_the_configuration_is_not_imported_either(workshop, run, command):
    """With a colon it would be imported, without one it is an id."""
    for task, message in (("levers:me/Lever-v0", "would import it"), ("levers", "unknown task 'levers'")):
        config = RunConfig.load(run / "config.toml").replace(task=task)
        (run / "config.toml").write_text(config.to_toml())
        assert message in command.mistake("evaluate", "run")
        assert message in command.mistake("train", "--resume", "run", "--steps", 5000)
    assert not was_imported(workshop)


def test_a_report_imports_nothing(workshop, run, command):
    command("report", "run", "--out", "report")
    assert not was_imported(workshop)


def test_a_configuration_file_says_what_is_imported(workshop, run, command):
    printed = command("train", "--config", run / "config.toml", "--out", "again", *SHORT)
    assert "which is imported now" in printed


@pytest.mark.parametrize("planted", ["strange.py:me/Lever-v0", "strange:me/Lever-v0", "levers.py:me/Other-v0"])
@pytest.mark.parametrize("words", [[], ["--trust"]])
def test_a_seed_of_another_task_than_the_batch_is_refused(workshop, command, monkeypatch, planted, words):
    """The batch is of a packaged task, or trusted; its second seed names a file that nobody was asked about."""
    monkeypatch.setattr(seeds.subprocess, "Popen", lambda *_, **__: pytest.fail("a process was started"))
    workshop.write("strange.py", more=MARK)
    file = workshop.write("levers.py")
    ours = f"{file}:me/Lever-v0" if words else "tumble/InvertedPendulum-v0"
    batch = SeedBatch.create(RunConfig(task=ours, algo="ppo"), [1, 2], Path("batch"))
    other = planted if ":" in planted and ".py" not in planted else f"{workshop.folder}/{planted}"
    batch.run(1).keep_config(RunConfig(task=ours, algo="ppo"))
    batch.run(2).keep_config(RunConfig(task=other, algo="ppo"))
    message = command.mistake("train", "--resume", "batch", *words)
    assert f"seed-2/config.toml: its task is {other}, and that of batch/seeds.toml is {ours}" in message
    assert not was_imported(workshop)


def test_a_process_of_a_seed_is_told_one_file_and_trusts_no_other(workshop, monkeypatch, tmp_path):
    """What it is told lets a run in that file go on, and refuses one that names another, which came after the check."""
    started: list[list[str]] = []
    monkeypatch.setattr(seeds.subprocess, "Popen", lambda command, **_: started.append(command) or Ended())
    file = workshop.write("levers.py")
    batch = SeedBatch.create(RunConfig(task=f"{file}:me/Lever-v0", algo="ppo"), [1, 2], tmp_path / "batch")
    batch.run(1).keep_config(batch.config)
    assert seeds.train_batch(batch, jobs=1) == []
    resumed, begun = started
    words = resumed[resumed.index("train") :]
    assert words[:4] == ["train", str(file), "--resume", str(batch.run(1).folder)] and "--trust" not in words
    assert "--config" in begun and "--trust" not in begun


class Ended:
    """A process that has done its work."""

    stdout, returncode = (), 0

    def poll(self):
        return 0


def test_tumbles_own_tasks_need_no_trust(tmp_path, command):
    command("train", "InvertedPendulum", "--out", tmp_path / "run", *SHORT)
    assert "note" not in command("evaluate", tmp_path / "run", "--episodes", 1)
    command("evaluate", tmp_path / "run", "--task", "InvertedPendulum", "--episodes", 1)
    message = command.mistake("evaluate", tmp_path / "run", "--task", "Ant")
    assert "the run's task is tumble/InvertedPendulum-v0, not Ant" in message
    assert "leave out TASK" in command.mistake("train", "Ant", "--resume", tmp_path / "run")
    assert "leave it out" in command.mistake("train", "Ant", "--trust")
