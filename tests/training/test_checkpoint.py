"""Checkpoints survive a kill at any moment, and damage is noticed."""

import os
import random
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from tumble.training.checkpoint import (
    CheckpointError,
    list_checkpoints,
    load_latest,
    save_checkpoint,
    verify_checkpoint,
)


def latest_checkpoint(folder):
    """The newest intact checkpoint."""
    return load_latest(folder, lambda checkpoint: checkpoint)


def writer(text):
    """A checkpoint of two files."""

    def write(folder):
        (folder / "a.txt").write_text(text)
        (folder / "sub").mkdir()
        (folder / "sub" / "b.bin").write_bytes(text.encode() * 1000)

    return write


def test_keeps_the_newest(tmp_path):
    for step in (100, 20, 3000):
        save_checkpoint(tmp_path, step, writer(str(step)), keep=2)
    assert [path.name for path in list_checkpoints(tmp_path)] == ["step-000000003000", "step-000000000100"]
    assert verify_checkpoint(latest_checkpoint(tmp_path)) == 3000


@pytest.mark.parametrize("keep", [1, 2, 3])
def test_those_in_passing_give_way(tmp_path, keep):
    """Whatever the order: the newest stays, and the newest of the others; there are never many, nor too few."""
    generator = random.Random(keep)
    passing, steps = {}, []
    for step in range(1, 60):
        passing[step] = generator.random() < 0.7
        save_checkpoint(tmp_path, step, writer("x"), keep=keep, passing=passing[step])
        steps = [verify_checkpoint(path) for path in list_checkpoints(tmp_path)]
        planned = [other for other in range(step, 0, -1) if not passing[other]][:keep]
        assert steps[0] == step and set(planned) <= set(steps)
        assert min(keep, step) <= len(steps) <= keep + 1
    assert len({*passing.values()}) == 2


def test_in_passing_the_last_two_stay_where_there_are_no_others(tmp_path):
    for step in (1, 2, 3):
        save_checkpoint(tmp_path, step, writer("x"), keep=2, passing=True)
    assert [verify_checkpoint(path) for path in list_checkpoints(tmp_path)] == [3, 2]


def test_what_training_replaces_while_it_is_read_is_read_anew(tmp_path):
    """The newest one disappears between the list and the reading, as another process has written the next."""
    save_checkpoint(tmp_path, 1, writer("old"), keep=1, passing=True)

    def load(checkpoint):
        if checkpoint.name.endswith("1"):
            save_checkpoint(tmp_path, 2, writer("new"), keep=1, passing=True)
            raise CheckpointError("it is gone")
        return (checkpoint / "a.txt").read_text()

    assert load_latest(tmp_path, load) == "new"


@pytest.mark.parametrize("damage", ["truncate", "change", "remove", "manifest", "no manifest"])
def test_damage_falls_back_to_the_one_before_with_a_warning(tmp_path, damage):
    save_checkpoint(tmp_path, 1, writer("old"))
    newest = save_checkpoint(tmp_path, 2, writer("new"))
    victim = newest / "sub" / "b.bin"
    if damage == "truncate":
        victim.write_bytes(victim.read_bytes()[:-1])
    elif damage == "change":
        victim.write_bytes(b"x" + victim.read_bytes()[1:])
    elif damage == "remove":
        victim.unlink()
    elif damage == "manifest":
        (newest / "manifest.json").write_text("{")
    else:
        (newest / "manifest.json").unlink()
    with pytest.warns(UserWarning, match="going back to step-000000000001"):
        assert latest_checkpoint(tmp_path).name == "step-000000000001"
    save_checkpoint(tmp_path, 2, writer("new"))  # written again on the way forward
    assert latest_checkpoint(tmp_path).name == "step-000000000002"


def test_none_at_all_says_so(tmp_path):
    with pytest.raises(CheckpointError, match="no usable checkpoint"):
        latest_checkpoint(tmp_path)


def test_a_failing_writer_leaves_the_last_one(tmp_path):
    save_checkpoint(tmp_path, 1, writer("old"))

    def fails(folder):
        (folder / "a.txt").write_text("half")
        raise OSError("disk full")

    with pytest.raises(CheckpointError, match=r"step 2 could not be written: disk full.*--resume"):
        save_checkpoint(tmp_path, 2, fails)
    assert latest_checkpoint(tmp_path).name == "step-000000000001"
    assert not list(tmp_path.glob(".writing-*")), "what was written in part would fill the disk"
    save_checkpoint(tmp_path, 3, writer("next"))


@pytest.mark.skipif(os.name == "nt", reason="kill -9 is a POSIX signal")
def test_kill_9_while_saving_leaves_a_checkpoint_that_loads(tmp_path):
    """A process saves large checkpoints without pause; it is killed at many different moments."""
    program = textwrap.dedent(
        """
        import sys
        from pathlib import Path
        from tumble.training.checkpoint import list_checkpoints, load_latest, save_checkpoint, verify_checkpoint
        folder = Path(sys.argv[1])
        step = verify_checkpoint(load_latest(folder, lambda last: last)) if list_checkpoints(folder) else 0
        while True:
            step += 1
            def write(target):
                for name in "abcdefgh":
                    (target / name).write_bytes(bytes([step % 256]) * 300_000)
            save_checkpoint(folder, step, write)
            print(step, flush=True)
        """
    )
    reached = 0
    for round_number in range(12):
        process = subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        promised = int(process.stdout.readline())  # at least one was finished in this round
        time.sleep(0.004 * round_number)
        process.send_signal(signal.SIGKILL)
        rest, _ = process.communicate()
        promised = max([promised, *map(int, rest.split())])
        newest = latest_checkpoint(tmp_path)
        step = verify_checkpoint(newest)
        assert step >= promised > reached
        assert (newest / "h").read_bytes() == bytes([step % 256]) * 300_000
        reached = promised
