"""One process trains in a run folder; the second one is told which, and touches nothing."""

import errno
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time

import pytest

from tumble.training import train as training
from tumble.training.lock import LockedError, locked
from tumble.training.train import resume, train

fcntl = pytest.importorskip("fcntl")


@pytest.fixture
def run(tmp_path, pendulums, small_ppo):
    """A run that may go on for two more iterations."""
    return train(small_ppo, tmp_path / "run", progress=False, envs=pendulums(8)).run


def contents(folder):
    """Every file of a folder with its bytes."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def holder(run):
    """Another process that trains in the run's folder, for all that this one can see."""
    program = f"""
        import time
        from pathlib import Path
        from tumble.training.lock import locked
        with locked(Path({str(run.folder)!r})):
            print("locked", flush=True)
            time.sleep(600)
    """
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "locked\n"
    yield process
    process.kill()
    process.communicate()


def test_the_second_is_told_who_and_what_to_do_and_deletes_nothing(run, holder, pendulums, small_ppo, command):
    """As resumed from Python and from the command line, and as a new run; until the first is killed."""
    unfinished = run.checkpoints / ".writing-000000001024"  # what the first is writing
    unfinished.mkdir()
    (unfinished / "model.zip").touch()
    before = contents(run.folder)
    with pytest.raises(LockedError) as raised:
        resume(run.folder, total_steps=1024, progress=False, envs=pendulums(8))
    message = str(raised.value)
    assert f"{run.folder}: process {holder.pid} on this machine is training in this folder since 20" in message
    assert f"wait until it ends, stop it, which saves (kill {holder.pid}), or choose another --out" in message
    assert f"process {holder.pid}" in command.mistake("train", "--resume", run.folder, "--steps", 1024, "--trust")
    for path in [*run.checkpoints.glob("step-*"), run.folder / "progress.jsonl"]:
        os.rename(path, run.folder.parent / path.name)  # it has learnt nothing yet
    before = contents(run.folder)
    with pytest.raises(LockedError, match=f"process {holder.pid}"):
        train(small_ppo.replace(seed=5), run.folder, progress=False, envs=pendulums(8))
    assert contents(run.folder) == before
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert train(small_ppo.replace(seed=5), run.folder, progress=False, envs=pendulums(8)).finished


def test_the_second_in_the_same_process_is_told(run, monkeypatch, pendulums):
    """In a callback of the first, the second is refused; afterwards it may go on."""
    learn, seen = training._learn, []

    def meddle(*arguments, **options):
        with pytest.raises(LockedError) as raised:
            resume(run.folder, total_steps=1024, progress=False, envs=pendulums(8))
        seen.append(str(raised.value))
        return learn(*arguments, **options)

    monkeypatch.setattr(training, "_learn", meddle)
    assert resume(run.folder, total_steps=1024, progress=False, envs=pendulums(8)).step == 1024
    assert len(seen) == 1 and "this process is training in this folder" in seen[0]


def test_another_machine_is_named(tmp_path, monkeypatch):
    with locked(tmp_path):
        monkeypatch.setattr(socket, "gethostname", lambda: "elsewhere")
        with pytest.raises(LockedError) as raised, locked(tmp_path):
            pass
    assert f"process {os.getpid()} on " in str(raised.value) and "(Ctrl-C there)" in str(raised.value)


@pytest.mark.parametrize("content", [b"", b"\xff", b"[]", b"{}", b'{"pid": "many", "host": 1, "since": 2}'])
def test_a_lock_without_words_is_told_all_the_same(tmp_path, content):
    with locked(tmp_path):
        (tmp_path / "lock").write_bytes(content)
        with pytest.raises(LockedError, match="another process is training in this folder"), locked(tmp_path):
            pass
    with locked(tmp_path):
        pass


def test_an_error_gives_the_lock_back(tmp_path):
    with pytest.raises(KeyError), locked(tmp_path):
        raise KeyError
    with locked(tmp_path):
        pass


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_does_not_keep_the_lock(tmp_path):
    """Such as a user's workers, which may outlive a process that was killed."""
    reading, writing = os.pipe()
    with locked(tmp_path):
        child = os.fork()
        if not child:
            os.write(writing, b"forked")
            time.sleep(600)
            os._exit(0)
    assert os.read(reading, 6) == b"forked"
    try:
        with locked(tmp_path):
            pass
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_a_file_system_without_locks_is_told_and_trains(tmp_path, monkeypatch, caplog):
    def refuse(file, how):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with locked(tmp_path):
        pass
    assert "lock: the file system has no locks" in caplog.text and "start no second training there" in caplog.text
