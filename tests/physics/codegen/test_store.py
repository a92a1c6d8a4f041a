"""Files of machine code: nothing is executed but what we saved, whatever happens to the disk and to processes."""

import contextlib
import errno
import hashlib
import os
import random
import resource
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

from tumble.physics.codegen import store as module
from tumble.physics.codegen.store import Store, default_folder, shared_store

HEAD = 52  # bytes: word 8, version 4, length 8, hash 32
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")

IN_A_CHILD = """
import os, random, resource, signal, sys, time
from pathlib import Path
from tumble.physics.codegen.store import Store
store = Store(Path(sys.argv[1]))
"""


def key_of(number):
    return hashlib.sha256(str(number).encode()).hexdigest()


def contents_of(number, size=3000):
    return random.Random(number).randbytes(size)


def path_of(folder, number):
    return folder / f"{key_of(number)}.code"


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@contextlib.contextmanager
def warned(*texts):
    """Every text is in a warning of its own, and there are no others."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    said = [str(warning.message) for warning in caught]
    assert len(said) == len(texts) and all(text in one for text, one in zip(texts, said, strict=True)), said


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "parent" / "objects"


@pytest.fixture
def filled(folder):
    """A folder with one file, under the key of 0."""
    with warned():
        Store(folder).save(key_of(0), contents_of(0))
    return folder


def test_what_was_saved_is_loaded(folder):
    with warned():
        store = Store(folder)
        for number, size in enumerate((0, 1, 5000, 3_000_000)):
            assert store.load(key_of(number)) is None
            store.save(key_of(number), contents_of(number, size))
            assert store.load(key_of(number)) == Store(folder).load(key_of(number)) == contents_of(number, size)
        store.save(key_of(1), b"anew")
        assert store.load(key_of(1)) == b"anew"


def test_looking_makes_no_folder(folder):
    with warned():
        assert Store(folder).load(key_of(0)) is None
    assert not folder.exists()


def test_others_cannot_write_to_what_is_made(folder):
    """Whatever the process allows for its other files."""
    before = os.umask(0)
    try:
        Store(folder).save(key_of(0), contents_of(0))
    finally:
        os.umask(before)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert path_of(folder, 0).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("key", ["", "xyz", "AB", "../ab", "ab/cd", "ab\n", " ab", "ab.", "a" * 129, "\u0661"])
def test_a_key_that_is_not_hex_is_refused(folder, key):
    for store in (Store(folder), Store(None)):
        with pytest.raises(ValueError, match="is not 1 to 128 of the digits"):
            store.load(key)
        with pytest.raises(ValueError, match="is not 1 to 128 of the digits"):
            store.save(key, b"")
    assert not folder.exists()


def test_without_a_folder_nothing_is_kept():
    with warned():
        store = Store(None)
        store.save(key_of(0), contents_of(0))
        assert store.load(key_of(0)) is None


# ---- where


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"TUMBLE_CACHE": "/a/b", "XDG_CACHE_HOME": "/x", "HOME": "/h"}, "/a/b"),
        ({"TUMBLE_CACHE": "", "XDG_CACHE_HOME": "/x", "HOME": "/h"}, "/x/tumble/objects"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "/h"}, "/h/.cache/tumble/objects"),
        ({"HOME": "/h"}, "/h/.cache/tumble/objects"),
        ({"TUMBLE_CACHE": "0", "XDG_CACHE_HOME": "/x", "HOME": "/h"}, None),
        ({}, None),
    ],
)
def test_where_it_lies(monkeypatch, variables, expected):
    for name in ("TUMBLE_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert default_folder() == (None if expected is None else Path(expected))


def test_a_process_has_one_store(monkeypatch, folder):
    monkeypatch.setenv("TUMBLE_CACHE", str(folder))
    shared_store().save(key_of(0), b"x")
    assert shared_store() is shared_store() and shared_store().load(key_of(0)) == b"x" and folder.is_dir()


@pytest.mark.parametrize("wanted", [True, False])
def test_a_process_without_a_home_is_told_once(monkeypatch, wanted):
    for name in ("TUMBLE_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    if not wanted:
        monkeypatch.setenv("TUMBLE_CACHE", "0")
    module._store_in.cache_clear()
    with warned(*["machine code is not kept (neither XDG_CACHE_HOME nor HOME names a folder)"] * wanted):
        for _ in range(2):
            shared_store().save(key_of(0), b"x")
    module._store_in.cache_clear()


def test_a_folder_named_from_here_stays_where_it_was(monkeypatch, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    store = Store(Path("objects"))
    monkeypatch.chdir(tmp_path / "elsewhere")
    store.save(key_of(0), b"x")
    assert names(tmp_path) == ["elsewhere", "objects"] and not names(tmp_path / "elsewhere")


# ---- damage


def damage(folder, number, rng):
    """Spoil the file of a number, and its neighbour's where two are swapped."""
    path = path_of(folder, number)
    data = bytearray(path.read_bytes())
    kind = number % 7
    if kind == 0:
        data = data[: rng.randrange(1, len(data))]
    elif kind == 1:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    elif kind == 2:
        data = bytearray()
    elif kind == 3:  # what a power failure may leave
        begin = rng.randrange(HEAD)
        data[begin:] = bytes(len(data) - begin)
    elif kind == 4:
        data += rng.randbytes(rng.randrange(1, 100))
    else:  # 5 and 6 take each other's place
        if kind == 5:
            other, aside = path_of(folder, number + 1), folder / "aside"
            path.rename(aside)
            other.rename(path)
            aside.rename(other)
        return
    path.write_bytes(data)


def test_three_hundred_damaged_files(folder):
    """None is taken for what it was, one warning for all, and each is right when it is saved again."""
    store, rng, count = Store(folder), random.Random(7), 301
    for number in range(count):
        store.save(key_of(number), contents_of(number))
    for number in range(count):
        damage(folder, number, rng)
    with warned("machine code is compiled anew, once"):
        assert [store.load(key_of(number)) for number in range(count)] == [None] * count
    assert not names(folder)  # they are ours, so they go
    with warned():
        for number in range(count):
            store.save(key_of(number), contents_of(number))
        assert all(store.load(key_of(number)) == contents_of(number) for number in range(count))


def test_every_bit_of_the_head_counts(filled):
    store, whole = Store(filled), path_of(filled, 0).read_bytes()
    with warned("is not used"):
        for bit in range(8 * HEAD):
            data = bytearray(whole)
            data[bit // 8] ^= 1 << bit % 8
            path_of(filled, 0).write_bytes(data)
            assert store.load(key_of(0)) is None, f"bit {bit}"
    path_of(filled, 0).write_bytes(whole)
    assert store.load(key_of(0)) == contents_of(0)


def test_a_file_of_another_version_of_the_format(monkeypatch, filled):
    monkeypatch.setattr(module, "_VERSION", module._VERSION + 1)
    with warned("has the head of another format"):
        assert Store(filled).load(key_of(0)) is None


def test_a_file_as_large_as_a_disk_is_not_read(filled):
    """A length that came from damage: there is no memory for it."""
    os.truncate(path_of(filled, 0), 1 << 42)
    with warned("is larger than all files together may be"):
        assert Store(filled).load(key_of(0)) is None


# ---- whose


@pytest.mark.parametrize("broken", [False, True])
def test_a_link_in_place_of_a_file(filled, tmp_path, broken):
    """Not followed, even to contents that would do; removed, but not what it leads to."""
    path, elsewhere = path_of(filled, 0), tmp_path / "elsewhere"
    path.rename(elsewhere)
    path.symlink_to(tmp_path / "nowhere" if broken else elsewhere)
    store = Store(filled)
    with warned("is no regular file"):
        assert store.load(key_of(0)) is None
    assert elsewhere.exists() and not path.is_symlink()
    path.symlink_to(elsewhere)
    before = elsewhere.read_bytes()
    store.save(key_of(0), b"new")
    assert store.load(key_of(0)) == b"new" and elsewhere.read_bytes() == before


def test_a_temporary_file_is_never_written_through_a_link(monkeypatch, folder, tmp_path):
    """Nor into a file that is there already: somebody guessed its name."""
    folder.mkdir(parents=True, mode=0o700)
    monkeypatch.setattr(os, "urandom", lambda count: bytes(count))
    (tmp_path / "victim").write_bytes(b"mine")
    (folder / f"{key_of(0)}.{'0' * 16}.part").symlink_to(tmp_path / "victim")
    with warned("machine code is not kept"):
        Store(folder).save(key_of(0), b"x")
    assert (tmp_path / "victim").read_bytes() == b"mine" and not path_of(folder, 0).exists()


def test_a_pipe_in_place_of_a_file(filled):
    """Opening one waits for its writer, for ever; so does opening it here, unless told not to."""
    path_of(filled, 0).unlink()
    os.mkfifo(path_of(filled, 0), 0o600)
    script = IN_A_CHILD + "print(store.load(sys.argv[2]))"
    command = [sys.executable, "-W", "ignore", "-c", script, str(filled), key_of(0)]
    assert subprocess.run(command, capture_output=True, text=True, timeout=60).stdout == "None\n"


def test_a_folder_in_place_of_a_file(filled):
    path_of(filled, 0).unlink()
    path_of(filled, 0).mkdir()
    store = Store(filled)
    with warned("is no regular file", "machine code is not kept"):
        assert store.load(key_of(0)) is None
        store.save(key_of(0), b"x")
    assert names(filled) == [path_of(filled, 0).name]


@root_only
def test_a_file_of_another_user(filled):
    """Refused, left alone, told once."""
    path = path_of(filled, 0)
    os.chown(path, 12345, -1)
    before, store = path.read_bytes(), Store(filled)
    with warned("belongs to another user (number 12345); remove it"):
        assert store.load(key_of(0)) is None
        store.save(key_of(0), b"x")
        assert store.load(key_of(0)) is None
    assert path.read_bytes() == before and path.stat().st_uid == 12345 and names(filled) == [path.name]
    with warned("belongs to another user (number 12345)"):
        Store(filled).save(key_of(0), b"x")


@root_only
def test_a_link_of_another_user(filled, tmp_path):
    path_of(filled, 0).rename(tmp_path / "elsewhere")
    path_of(filled, 0).symlink_to(tmp_path / "elsewhere")
    os.chown(path_of(filled, 0), 12345, -1, follow_symlinks=False)
    with warned("belongs to another user (number 12345)"):
        assert Store(filled).load(key_of(0)) is None
    assert path_of(filled, 0).is_symlink()


@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_a_file_that_others_can_write_to(filled, mode):
    path_of(filled, 0).chmod(mode)
    store = Store(filled)
    with warned("could be written to by users other than you"):
        assert store.load(key_of(0)) is None
    with warned():
        store.save(key_of(0), contents_of(0))
        assert store.load(key_of(0)) == contents_of(0)


def test_what_is_judged_is_what_is_read(monkeypatch, filled):
    """Somebody puts his file, with a right hash, in our file's place for the moment in which it is opened."""
    path, ours, his, whole = path_of(filled, 0), filled / "ours", filled / "his", os.open
    his.write_bytes(module.pack(key_of(0), b"his"))
    his.chmod(0o666)

    def swap(name, *rest):
        path.rename(ours)
        his.rename(path)
        descriptor = whole(name, *rest)
        path.rename(his)
        ours.rename(path)
        return descriptor

    monkeypatch.setattr(os, "open", swap)
    with warned("could be written to by users other than you"):
        assert Store(filled).load(key_of(0)) is None


def expect_unused(folder, reason):
    """Nothing is read or written there, and one warning says why and what helps."""
    before, store = names(folder), Store(folder)
    with warned(reason):
        assert store.load(key_of(0)) is None
        store.save(key_of(1), b"x")
        assert store.load(key_of(1)) is None
    assert names(folder) == before


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o1777])
def test_a_folder_that_others_can_write_to(filled, mode):
    filled.chmod(mode)
    expect_unused(filled, f"users other than you can write to {filled}), so every start compiles anew; chmod go-w")


def test_a_folder_of_another_user(monkeypatch, filled):
    """As the one whose rights count: that of the process may be another's than that of the person."""
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    expect_unused(filled, f"{filled} belongs to another user (number {owner})")


@root_only
def test_a_link_to_a_folder_of_another_user(filled, tmp_path):
    os.chown(filled, 12345, -1)
    (tmp_path / "link").symlink_to(filled)
    expect_unused(tmp_path / "link", "belongs to another user (number 12345)")


def test_a_link_to_a_folder_of_ones_own(filled, tmp_path):
    (tmp_path / "link").symlink_to(filled)
    with warned():
        assert Store(tmp_path / "link").load(key_of(0)) == contents_of(0)


def test_a_folder_that_loses_our_trust_while_we_run(filled):
    store = Store(filled)
    assert store.load(key_of(0)) == contents_of(0)
    filled.chmod(0o777)
    with warned("users other than you can write to"):
        assert store.load(key_of(0)) is None


def test_a_system_without_users_and_links(monkeypatch, filled):
    """There every file looks as if all could write to it."""
    monkeypatch.delattr(os, "geteuid")
    monkeypatch.setattr(os, "supports_fd", set())
    filled.chmod(0o777)
    path_of(filled, 0).chmod(0o666)
    os.utime(path_of(filled, 0), (1e9, 1e9))
    with warned():
        assert Store(filled).load(key_of(0)) == contents_of(0)
    assert path_of(filled, 0).stat().st_mtime > 1e9


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
    expect_unwritable(tmp_path / "file" / below, "so every start compiles anew; let TUMBLE_CACHE name a folder")
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
assert os.system(f"mount -o remount,ro {sys.argv[1]}") == 0
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
    not_kept = "Tumble: machine code is not kept ({}), so every start compiles anew; let TUMBLE_CACHE name a folder"
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


# ---- how much


def with_ages(folder, count, size):
    """Files of a size: number 0 was used so many days ago, the last one yesterday but one."""
    for number in range(count):
        Store(folder).save(key_of(number), contents_of(number, size - HEAD))
        os.utime(path_of(folder, number), (time.time() - (count - number + 1) * module.DAY,) * 2)


def test_files_used_longest_ago_make_room(monkeypatch, folder):
    """Ten of 1,000 bytes, 8,000 allowed: down to three quarters of that. Number 1 is old but used, so it stays."""
    with_ages(folder, 10, 1000)
    (folder / "notes.txt").write_bytes(bytes(9000))
    (folder / "deadbeef").write_bytes(bytes(9000))
    monkeypatch.setattr(module, "LARGEST", 8000)
    monkeypatch.setattr(module, "MANY", 10)
    store = Store(folder)
    with warned():
        assert store.load(key_of(1)) == contents_of(1, 1000 - HEAD)
        store.save(key_of(10), contents_of(10, 1000 - HEAD))
    kept = [number for number in range(11) if path_of(folder, number).exists()]
    assert kept == [1, 6, 7, 8, 9, 10]
    assert {"notes.txt", "deadbeef"} < set(names(folder))


@pytest.mark.parametrize(("largest", "many"), [(100_000, 5), (8000, 100)])
def test_nothing_goes_where_there_is_room_or_few_files_are(monkeypatch, folder, largest, many):
    with_ages(folder, 10, 1000)
    monkeypatch.setattr(module, "LARGEST", largest)
    monkeypatch.setattr(module, "MANY", many)
    Store(folder).save(key_of(10), bytes(1000))
    assert len(names(folder)) == 11


def test_sizes_are_added_up_once_in_a_process(monkeypatch, folder):
    with_ages(folder, 10, 1000)
    monkeypatch.setattr(module, "MANY", 5)
    looks, store = [], Store(folder)
    monkeypatch.setattr(Store, "_make_room", lambda self: looks.append(self))
    for number in range(5):
        assert store.load(key_of(number))
    assert not looks  # whoever only reads never looks
    for number in range(5):
        store.save(key_of(number), b"x")
    assert looks == [store]


@root_only
def test_another_users_file_does_not_make_room(monkeypatch, folder):
    with_ages(folder, 10, 1000)
    os.chown(path_of(folder, 0), 12345, -1)
    monkeypatch.setattr(module, "LARGEST", 5000)
    monkeypatch.setattr(module, "MANY", 5)
    Store(folder).save(key_of(10), b"x")
    assert path_of(folder, 0).exists() and not path_of(folder, 1).exists()


@pytest.mark.parametrize(("days", "noted"), [(0.9, False), (1.1, True), (-3, True)])
def test_a_use_is_noted_once_a_day(filled, days, noted):
    """Reading stays cheap. A clock that ran ahead once does not keep a file for ever."""
    then = time.time() - days * module.DAY
    os.utime(path_of(filled, 0), (then, then))
    assert Store(filled).load(key_of(0)) == contents_of(0)
    assert (abs(path_of(filled, 0).stat().st_mtime - time.time()) < 60) == noted
