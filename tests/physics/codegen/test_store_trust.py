"""Files of machine code: nothing is executed but what we saved, whoever can write to the disk."""

import functools
import os
import subprocess
import sys

import pytest

from tumble.physics.machine.codegen import store as module
from tumble.physics.machine.codegen.store import Store

from .kept import IN_A_CHILD, contents_of, key_of, names, path_of, root_only, warned


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


@pytest.mark.parametrize("link", [True, False])
def test_a_temporary_file_is_a_new_one(monkeypatch, folder, tmp_path, link):
    """Never what a link leads to, or a file that is there already: somebody guessed its name."""
    folder.mkdir(parents=True, mode=0o700)
    monkeypatch.setattr(os, "urandom", lambda count: bytes(count))
    (tmp_path / "victim").write_bytes(b"mine")
    place = folder / f"{key_of(0)}.{'0' * 16}.part"
    place.symlink_to(tmp_path / "victim") if link else place.hardlink_to(tmp_path / "victim")
    with warned("machine code is not kept"):
        Store(folder).save(key_of(0), b"x")
    assert (tmp_path / "victim").read_bytes() == b"mine" and not path_of(folder, 0).exists()


def test_a_pipe_in_place_of_a_file(filled):
    """Opening one waits for its writer, for ever; so does opening it here, unless told not to."""
    path_of(filled, 0).unlink()
    os.mkfifo(path_of(filled, 0), 0o600)
    script = IN_A_CHILD + "print(store.load(sys.argv[2]))"
    command = [sys.executable, "-W", "ignore", "-c", script, str(filled), key_of(0)]
    assert subprocess.run(command, capture_output=True, text=True, timeout=30).stdout == "None\n"


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
    expect_unused(filled, f"users other than you can write to {filled}), so every start compiles again; chmod go-w")


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


def _utime_by_path(whole, path, *rest):
    assert isinstance(path, str)
    return whole(path, *rest)


def test_a_system_without_users_and_links(monkeypatch, filled):
    """There every file looks as if all could write to it."""
    monkeypatch.delattr(os, "geteuid")
    monkeypatch.setattr(os, "supports_fd", set())
    monkeypatch.setattr(os, "utime", functools.partial(_utime_by_path, os.utime))
    filled.chmod(0o777)
    path_of(filled, 0).chmod(0o666)
    os.utime(str(path_of(filled, 0)), (1e9, 1e9))
    with warned():
        assert Store(filled).load(key_of(0)) == contents_of(0)
    assert path_of(filled, 0).stat().st_mtime > 1e9
