"""Files of machine code: where they lie, and that nothing is taken for what it is not."""

import os
import random
import time
from pathlib import Path

import pytest

from tumble.physics.machine.codegen import store as module
from tumble.physics.machine.codegen.store import Store, default_folder, shared_store

from .kept import HEAD, contents_of, key_of, names, path_of, root_only, warned


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
    with warned("machine code is compiled again, once"):
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


@pytest.mark.parametrize(("largest", "many"), [(11_500, 5), (8000, 100)])
def test_nothing_goes_where_there_is_room_or_few_files_are(monkeypatch, folder, largest, many):
    """Eleven of 1,000 bytes: more than three quarters of the first limit, but not above it."""
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
