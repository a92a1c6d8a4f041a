"""Files of machine code: disks that are full or read-only, processes that are killed, eight of them at once."""

import errno
import os
import random
import resource
import signal
import subprocess
import sys
import time

import pytest

from tumble.physics.machine.codegen.store import Store

from .kept import HEAD, IN_A_CHILD, contents_of, key_of, names, path_of, warned

# ---- places that cannot be written to


def expect_unwritable(folder, reason):
    """Nothing is found, two files are not kept, one warning says why, and no part of a file stays."""
    store = Store(folder)
    with warned(reason):
        assert store.load(key_of(1)) is None
        store.save(key_of(1), contents_of(1))
        store.save(key_of(2), contents_of(2))
        assert store.load(key_of(1)) is None


@pytest.mark.parametrize("below", ["", "below", "below/it"])
def test_no_such_place(tmp_path, below):
    (tmp_path / "file").write_bytes(b"mine")
    expect_unwritable(tmp_path / "file" / below, "so every start compiles again; let TUMBLE_CACHE name a folder")
    assert (tmp_path / "file").read_bytes() == b"mine"


@pytest.mark.parametrize("error", [errno.EROFS, errno.ENOSPC, errno.EACCES, errno.EDQUOT])
def test_no_file_can_be_made(monkeypatch, filled, error):
    """What is there is read all the same."""
    whole = os.open

    def refuse(path, flags, *rest):
        if flags & os.O_CREAT:
            raise OSError(error, os.strerror(error), path)
        return whole(path, flags, *rest)

    monkeypatch.setattr(os, "open", refuse)
    expect_unwritable(filled, f"machine code is not kept ({filled}: {os.strerror(error)})")
    assert Store(filled).load(key_of(0)) == contents_of(0)


@pytest.mark.parametrize("room", [0, 1, HEAD, 2000])
def test_a_disk_that_is_full_in_the_middle_of_a_file(filled, room):
    """Its end is that of the largest file allowed: the error comes from a real write."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        expect_unwritable(filled, os.strerror(errno.EFBIG))
        with warned(os.strerror(errno.EFBIG)):
            Store(filled).save(key_of(0), contents_of(3))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert names(filled) == [path_of(filled, 0).name] and Store(filled).load(key_of(0)) == contents_of(0)


def test_an_interrupt_while_a_file_is_written(monkeypatch, folder):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        Store(folder).save(key_of(0), b"x")
    assert not names(folder)


ON_A_SMALL_DISK = """
import warnings
def caught(action):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        return action(), [str(warning.message) for warning in said]
whole = bytes(100_000)
for k in range(4):
    _, said = caught(lambda: store.save(f"{k}", whole))
    print(store.load(f"{k}") == whole, *said)
print(sorted(os.listdir(sys.argv[1])))
assert os.system(f"mount -o remount,bind,ro {sys.argv[1]}") == 0
store = Store(Path(sys.argv[1]))
print(store.load("0") == whole, *caught(lambda: store.save("9", whole))[1])
"""


def test_a_disk_of_its_own_full_and_then_read_only(tmp_path):
    """One in memory with room for two files, in a name space of its own, where the system allows that."""
    mount = 'mount -t tmpfs -o size=256k,mode=700 none "$1" && shift && exec "$@"'
    command = ["unshare", "--map-root-user", "--mount", "sh", "-c", mount, "sh", str(tmp_path)]
    try:
        allowed = subprocess.run([*command, "true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        allowed = False
    if not allowed:
        pytest.skip("no disk can be mounted here")
    run = subprocess.run(
        [*command, sys.executable, "-c", IN_A_CHILD + ON_A_SMALL_DISK, str(tmp_path)], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    not_kept = "Tumble: machine code is not kept ({}), so every start compiles again; let TUMBLE_CACHE name a folder"
    first, second, third, fourth, files, reading = run.stdout.splitlines()
    assert (first, second, fourth, files) == ("True", "True", "False", "['0.code', '1.code']")
    assert third.startswith("False " + not_kept.format(f"{tmp_path}: No space left on device"))
    assert reading.startswith("True " + not_kept.format(f"{tmp_path}: Read-only file system"))


# ---- processes that are killed, and side by side


@pytest.mark.parametrize("written", [0, 1, HEAD, 2000])
@pytest.mark.parametrize("there", [False, True])
def test_a_process_killed_while_it_writes(folder, written, there):
    """By the signal for a file that is too large, after so many bytes: what was there stays."""
    if there:
        Store(folder).save(key_of(0), contents_of(0))
    script = IN_A_CHILD + (
        "signal.signal(signal.SIGXFSZ, signal.SIG_DFL)\n"
        "resource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]),) * 2)\n"
        "store.save(sys.argv[2], bytes(9000))"
    )
    run = subprocess.run([sys.executable, "-c", script, str(folder), key_of(0), str(written)])
    assert run.returncode == -signal.SIGXFSZ
    (left,) = folder.glob("*.part")
    assert left.stat().st_size == written
    with warned():
        store = Store(folder)
        assert store.load(key_of(0)) == (contents_of(0) if there else None)
        store.save(key_of(0), b"new")
        assert store.load(key_of(0)) == b"new"


SIDE_BY_SIDE = """
keys, rng = sys.argv[3:], random.Random(os.getpid())
def right(key):
    return random.Random(key).randbytes(30_000)
wrong = lost = turns = 0
known = set(keys[:10])  # these were there before anybody began
print("ready", flush=True)
sys.stdin.readline()
until = time.monotonic() + float(sys.argv[2])
while time.monotonic() < until:
    key = rng.choice(keys)
    if rng.random() < 0.5:
        store.save(key, right(key))
        known.add(key)
    found = store.load(key)
    wrong += found not in (None, right(key))
    lost += found is None and key in known
    turns += 1
print(wrong, lost, turns)
"""


def test_eight_processes_three_of_them_killed(folder):
    """They write and read the same twenty keys: never wrong contents, and never none where some were saved."""
    keys = [key_of(number) for number in range(20)]
    whole = {key: random.Random(key).randbytes(30_000) for key in keys}
    for key in keys[:10]:
        Store(folder).save(key, whole[key])
    command = [sys.executable, "-W", "error", "-c", IN_A_CHILD + SIDE_BY_SIDE, str(folder)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    eight = [subprocess.Popen([*command, "60" if one < 3 else "1.5", *keys], **pipes) for one in range(8)]
    for process in eight:
        assert process.stdout.readline() == "ready\n"
    for process in eight:
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in eight[:3]:
        time.sleep(0.2)
        process.send_signal(signal.SIGKILL)
    ended = [process.communicate(timeout=100) for process in eight]
    assert [process.returncode for process in eight] == [-signal.SIGKILL] * 3 + [0] * 5, [err for _, err in ended]
    for said, _ in ended[3:]:
        wrong, lost, turns = map(int, said.split())
        assert (wrong, lost) == (0, 0) and turns > 20
    with warned():
        assert all(Store(folder).load(key) in (None, whole[key]) for key in keys)


def test_what_killed_processes_left_goes_when_it_is_old(filled):
    """Not what may still be written to, and not other programs' files."""
    for name, age in [("old", 3700), ("new", 3500)]:
        left = filled / f"{key_of(name)}.{'ab' * 8}.part"
        left.write_bytes(b"half")
        os.utime(left, (time.time() - age,) * 2)
    for name in ("film.part", "0.part", f"{key_of(0)}.part"):
        (filled / name).touch()
        os.utime(filled / name, (1e9, 1e9))
    before = set(names(filled))
    with warned():
        assert Store(filled).load(key_of(0)) == contents_of(0)
    assert before - set(names(filled)) == {f"{key_of('old')}.{'ab' * 8}.part"}
