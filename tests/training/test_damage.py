"""Whatever a run's files hold: an older checkpoint serves, or an error says what is damaged; no code of theirs runs."""

import io
import json
import os
import pickle
import re
import shutil
import signal
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch

from tumble.training import evaluate
from tumble.training.checkpoint import CheckpointError, _describe, list_checkpoints, save_checkpoint, verify_checkpoint
from tumble.training.config import ConfigError, RunConfig
from tumble.training.learning.loggers import open_to_append, read_curve
from tumble.training.policy import newest_policy, read_policy
from tumble.training.runs import Run, RunError
from tumble.training.train import resume, train

MANIFESTS = {
    "not UTF-8": b'{"format": 1, "step": 1, "files": {"\xff": 1}}',
    "binary": bytes(range(256)),
    "empty": b"",
    "a list": b"[1, 2]",
    "a number": b"3",
    "null": b"null",
    "files is a list": b'{"format": 1, "step": 1, "files": ["a"]}',
    "files is null": b'{"format": 1, "step": 1, "files": null}',
    "a name with a null": b'{"format": 1, "step": 1, "files": {"a\\u0000b": 1}}',
    "step is a word": b'{"format": 1, "step": "many", "files": {}}',
    "no files": b'{"format": 1, "step": 768, "files": {}}',
    "nested deeply": b"[" * 100_000,
}


@pytest.fixture
def run(tmp_path, pendulums, small_ppo):
    """A finished run with two checkpoints, at 512 and 768 steps."""
    return train(small_ppo, tmp_path / "run", progress=False, envs=pendulums(8)).run


def again(run, pendulums):
    """Resume for two more iterations."""
    return resume(run.folder, total_steps=8 * 128, progress=False, envs=pendulums(8))


def replace_file(checkpoint: Path, name: str, content: bytes) -> None:
    """Plant a file, with a manifest that vouches for it."""
    (checkpoint / name).write_bytes(content)
    manifest = json.loads((checkpoint / "manifest.json").read_text())
    manifest["files"][name] = _describe(checkpoint / name)
    (checkpoint / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize("damage", MANIFESTS)
def test_a_damaged_manifest_falls_back(run, pendulums, damage):
    newest, older = list_checkpoints(run.checkpoints)
    (newest / "manifest.json").write_bytes(MANIFESTS[damage])
    if damage != "no files":
        with pytest.raises(CheckpointError):
            verify_checkpoint(newest)
    else:
        (newest / "model.zip").unlink()
    with pytest.warns(UserWarning, match=f"going back to {older.name}"):
        assert newest_policy(run) == older
    with pytest.warns(UserWarning, match=f"going back to {older.name}"):
        assert again(run, pendulums).step == 1024


def test_a_folder_in_the_place_of_a_file_falls_back(run, pendulums):
    newest, older = list_checkpoints(run.checkpoints)
    for name in ("manifest.json", "state.pt"):
        (newest / name).unlink()
        (newest / name).mkdir()
    with pytest.warns(UserWarning, match=f"going back to {older.name}"):
        assert again(run, pendulums).step == 1024


class Bomb:
    """A pickle that leaves a mark where it is loaded."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self):
        return (Path.touch, (self.mark,))


def bombs(name: str, mark: Path) -> bytes:
    """A file of a checkpoint with a pickle in it that must not be loaded."""
    charge = pickle.dumps(Bomb(mark))
    if name == "state.pt":
        return charge
    file = io.BytesIO()
    if name == "model.zip":
        with zipfile.ZipFile(file, "w") as archive:
            for member in ("data", "policy.pth", "policy.optimizer.pth", "pytorch_variables.pth"):
                archive.writestr(member, charge)
    else:
        np.savez(file, rewards=np.array([Bomb(mark)], dtype=object), pos=1, full=False)
    return file.getvalue()


@pytest.mark.parametrize("name", ["state.pt", "model.zip"])
@pytest.mark.parametrize("where", ["newest", "all"])
def test_planted_pickles_do_not_run(tmp_path, run, pendulums, name, where):
    mark = tmp_path / "mark"
    pickle.loads(bombs("state.pt", mark))
    assert mark.exists(), "the test's pickle works"
    mark.unlink()
    newest, older = list_checkpoints(run.checkpoints)
    for checkpoint in {"newest": [newest], "all": [newest, older]}[where]:
        replace_file(checkpoint, name, bombs(name, mark))
    if where == "newest":
        with pytest.warns(UserWarning, match=f"it cannot be loaded .*; going back to {older.name}"):
            assert newest_policy(run) == older
        with pytest.warns(UserWarning, match=f"it cannot be loaded .*; going back to {older.name}"):
            assert again(run, pendulums).step == 1024
    else:
        for use in (lambda: newest_policy(run), lambda: again(run, pendulums)):
            with pytest.raises(CheckpointError, match=r"no usable checkpoint.*it cannot be loaded"):
                use()
    assert not mark.exists()


@pytest.mark.parametrize("name", ["state.pt", "model.zip", "replay_buffer.npz"])
def test_every_damage_of_a_file_is_told(tmp_path, pendulums, small_sac, name):
    """Nothing, the begin of an archive, a pickle, and noise."""
    run = train(small_sac, tmp_path / "run", progress=False, envs=pendulums(4)).run
    for content in (b"", b"PK", b"\x80\x04.", bytes(range(256)) * 9):
        for checkpoint in list_checkpoints(run.checkpoints):
            replace_file(checkpoint, name, content)
        with pytest.raises(CheckpointError, match="it cannot be loaded"):
            resume(run.folder, total_steps=800, progress=False, envs=pendulums(4))


def test_a_planted_replay_buffer_does_not_run(tmp_path, pendulums, small_sac):
    run, mark = train(small_sac, tmp_path / "run", progress=False, envs=pendulums(4)).run, tmp_path / "mark"
    for checkpoint in list_checkpoints(run.checkpoints):
        replace_file(checkpoint, "replay_buffer.npz", bombs("replay_buffer.npz", mark))
    with pytest.raises(CheckpointError, match="it cannot be loaded"):
        resume(run.folder, total_steps=800, progress=False, envs=pendulums(4))
    assert not mark.exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'task = "\xff"', "byte 8 is not UTF-8"),
        (bytes(range(256)), "damaged|Invalid|Illegal"),
        (b"", "missing key 'task'"),
        (b"a = " + b"[" * 100_000, "nested too deeply|Unclosed|Invalid"),
        (b'task = "a"\nalgo = "ppo"\n[ppo]\nlearning_rate = 1' + b"0" * 400, "too large"),
    ],
)
def test_a_damaged_configuration_is_told(run, command, content, message):
    run.config_path.write_bytes(content)
    with pytest.raises(ConfigError, match=message) as raised:
        RunConfig.load(run.config_path)
    assert str(run.config_path) in str(raised.value)
    assert str(run.config_path) in command.mistake("evaluate", run.folder)
    assert str(run.config_path) in command.mistake("train", "--resume", run.folder)
    assert str(run.config_path) in command.mistake("report", run.folder)


def test_a_folder_as_configuration_is_told(run, command):
    run.config_path.unlink()
    run.config_path.mkdir()
    assert "cannot be read (Is a directory)" in command.mistake("evaluate", run.folder)


def test_a_damaged_curve_is_cut_there(run, pendulums):
    path = run.folder / "progress.jsonl"
    rows = read_curve(path)
    for damage in (
        b"\xff\xfe\n",
        b"[1]\n",
        b'{"seconds": 1}\n',
        b'{"step": null, "seconds": 1}\n',
        b'{"step": 1e999, "seconds": 1}\n',
        b'{"step": 1, "seconds": 1, "cpu_seconds": "long"}\n',
        b"[" * 100_000 + b"\n",
    ):
        lines = path.read_bytes().splitlines(keepends=True)[:6]
        path.write_bytes(b"".join([*lines[:2], damage, *lines[2:]]))
        assert read_curve(path) == rows[:2]
        path.write_bytes(b"".join(lines))
    path.write_bytes(b"\xff")
    assert again(run, pendulums).step == 1024


def test_a_damaged_evaluation_is_told_in_a_report(run, command):
    for content in (b"\xff", b"{", b"[]", b"{}"):
        (run.folder / "evaluation-tumble.json").write_bytes(content)
        assert "evaluation-tumble.json: this is no evaluation" in command.mistake("report", run.folder)


def test_without_checkpoints_it_is_told(run, command):
    shutil.rmtree(run.checkpoints)
    assert "no usable checkpoint" in command.mistake("evaluate", run.folder)


def test_checkpoints_without_a_configuration_are_not_mixed_with_those_of_another_run(run, pendulums, small_ppo):
    """They would be taken for the new run's newest ones; the learning curve would be cut."""
    run.config_path.unlink()
    before = {path: path.read_bytes() for path in run.folder.rglob("*") if path.is_file()}
    with pytest.raises(RunError, match=r"has no config.toml, but holds .*step-000000000768 of a run: choose another"):
        train(small_ppo, run.folder, progress=False, envs=pendulums(8))
    assert {path: path.read_bytes() for path in run.folder.rglob("*") if path.is_file()} == before


def test_a_folder_of_runs_names_them(run):
    with pytest.raises(RunError, match=rf"it has no config.toml; did you mean {run.folder}\?"):
        Run.find(run.folder.parent)


LINKED_FILES = (
    *("lock", "progress.jsonl", "evaluations.jsonl", "config.toml", "run.json"),
    *(".config.toml.writing", ".progress.jsonl.writing", ".writing", "checkpoints/.writing-000000000256"),
)
LINKED_FOLDERS = ("checkpoints", "best", "tensorboard", "checkpoints/.writing-000000000256", "best/step-000000000256")


@pytest.mark.parametrize("kind", [os.symlink, os.link])
def test_no_link_in_a_run_folder_leads_writing_out_of_it(tmp_path, pendulums, small_ppo, kind):
    """Training refuses the link, or puts its own file in its place; what the link leads to stays as it is."""
    victim, folder = tmp_path / "victim", tmp_path / "folder of the victim"
    victim.write_text("precious")
    folder.mkdir()
    (folder / "step-000000000001").mkdir()
    planted = [(name, victim) for name in LINKED_FILES]
    planted += [(name, folder) for name in LINKED_FOLDERS if kind is os.symlink]
    config = small_ppo.replace(total_steps=256)
    for number, (name, target) in enumerate(planted):
        link = tmp_path / str(number) / name
        link.parent.mkdir(parents=True)
        kind(target, link)
        try:
            if name == "config.toml":
                Run(tmp_path / str(number)).keep_config(config)
            elif name.startswith("best"):
                save_checkpoint(Run(tmp_path / str(number)).best, 256, lambda folder: None)
            elif name == "evaluations.jsonl":
                open_to_append(link).write("{}")
            else:
                train(config, tmp_path / str(number), progress=False, envs=pendulums(8))
        except (OSError, CheckpointError, RunError) as error:
            assert re.search("is a link|has another name|choose another --out", str(error)), (name, error)
        assert victim.read_text() == "precious", name
        assert [path.name for path in folder.iterdir()] == ["step-000000000001"], name


@pytest.fixture
def in_time():
    """End a test that waits for what never comes."""

    def over(*_):
        raise TimeoutError("it waits")

    before = signal.signal(signal.SIGALRM, over)
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def test_no_device_or_pipe_is_waited_for(run, in_time):
    """Named by a manifest, as the configuration, a curve, a score, or the manifest itself."""
    newest, older = list_checkpoints(run.checkpoints)
    for name in ("/dev/zero", "../../../../../../dev/zero", "pipe"):
        if name == "pipe":
            os.mkfifo(newest / name)
        manifest = {"format": 1, "step": 768, "files": {name: {"bytes": 0, "sha256": ""}}}
        (newest / "manifest.json").write_text(json.dumps(manifest))
        with pytest.raises(CheckpointError, match=r"another place|a device or a pipe"):
            verify_checkpoint(newest)
    (newest / "manifest.json").unlink()
    os.mkfifo(newest / "manifest.json")
    with pytest.warns(UserWarning, match=f"going back to {older.name}"):
        assert newest_policy(run) == older
    for path, read in (
        (run.folder / "progress.jsonl", read_curve),
        (run.folder / "evaluation-tumble.json", read_curve),
        (run.config_path, lambda _: run.config),
    ):
        for target in ("/dev/zero", "pipe"):
            path.unlink(missing_ok=True)
            os.mkfifo(path) if target == "pipe" else path.symlink_to(target)
            with pytest.raises((OSError, ConfigError), match="a device or a pipe"):
                read(path)
    assert evaluate._episodes_and_step(run.folder / "evaluation-tumble.json") == (0, 0)


def deflated(content: bytes, inside: str, zeros: int) -> bytes:
    """A zip archive in which the entries of another are packed, and an entry more is nothing but zeros."""
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
        new.writestr(f"{inside}zeros", bytes(zeros))
    return packed.getvalue()


@pytest.mark.parametrize("name", ["model.zip", "state.pt", "a file in model.zip", "a tensor"])
def test_what_declares_more_than_it_holds_is_not_unpacked(run, pendulums, name):
    newest, older = list_checkpoints(run.checkpoints)
    if name == "a file in model.zip":
        model = io.BytesIO()
        with zipfile.ZipFile(newest / "model.zip") as old, zipfile.ZipFile(model, "w") as new:
            for entry in old.namelist():
                content = old.read(entry)
                new.writestr(entry, deflated(content, "archive/", 1 << 20) if entry == "policy.pth" else content)
        replace_file(newest, "model.zip", model.getvalue())
    elif name == "a tensor":
        state = torch.load(newest / "state.pt", weights_only=True)
        state["last_obs"] = torch.zeros(1).expand(1 << 40)
        content = io.BytesIO()
        torch.save(state, content)
        replace_file(newest, "state.pt", content.getvalue())
    else:
        inside = "state/" if name == "state.pt" else ""
        replace_file(newest, name, deflated((newest / name).read_bytes(), inside, 1 << 20))
    with pytest.raises(CheckpointError, match=r"its header declares|is not stored as a whole"):
        read_policy(newest)
    with pytest.warns(UserWarning, match=f"going back to {older.name}"):
        assert again(run, pendulums).step == 1024
