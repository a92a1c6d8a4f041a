"""Taichi's cache of compiled kernels: where it lies, places that are none, a process that was killed."""

import os
import subprocess
import sys
import tempfile
import time

import pytest

from tumble.physics.machine import kernel_cache

from .codegen.kept import root_only

STEP = """
import socket
def refuse(*_): raise SystemExit("reached for the network")
socket.socket.connect = socket.getaddrinfo = refuse
from tumble.physics.machine.runtime import init
init()
import taichi as ti
from tumble.physics.machine.taichi_thread import in_taichis_thread
x = in_taichis_thread(lambda: ti.field(ti.f32, 4))
@ti.kernel
def fill(scale: ti.f32):
    for i in x:
        x[i] = scale * i
fill(2.0)
print(x.to_numpy().tolist(), ti.cfg.offline_cache)
"""


def run(script=STEP, timeout=100.0, **variables):
    """A fresh process; None takes a variable out of its environment."""
    place = {**os.environ, **{k: str(v) for k, v in variables.items()}}
    place = {k: v for k, v in place.items() if variables.get(k, "") is not None}
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:  # Taichi reads the source of its kernels
        file.write(script)
        file.flush()
        command = [sys.executable, file.name]
        return subprocess.run(command, env=place, capture_output=True, text=True, timeout=timeout)


def expect(done, cached, warnings):
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == f"[0.0, 2.0, 4.0, 6.0] {cached}"
    assert done.stderr.count("RuntimeWarning: Tumble:") == warnings, done.stderr


def test_a_cache_is_filled_and_used_in_silence(tmp_path):
    for _ in range(2):
        expect(run(TI_OFFLINE_CACHE_FILE_PATH=tmp_path / "new"), True, 0)
    files = {path.name for path in (tmp_path / "new").iterdir()}
    assert "ticache.tcb" in files and "ticache.lock" not in files


def test_there_is_room_for_more_kernels_than_taichi_keeps(tmp_path):
    """Its own limit, a hundred million bytes, is the kernels of a few precisions, widths and solvers."""
    script = STEP.replace("ti.cfg.offline_cache)", "ti.cfg.offline_cache_max_size_of_files)")
    expect(run(script, TI_OFFLINE_CACHE_FILE_PATH=tmp_path), kernel_cache.LARGEST_CACHE, 0)
    assert kernel_cache.LARGEST_CACHE > 1e9


@pytest.mark.parametrize(("variable", "below"), [("XDG_CACHE_HOME", "tumble"), ("HOME", ".cache/tumble")])
def test_it_lies_apart_from_other_programs(tmp_path, variable, below):
    """Any other program's Taichi removes kernels from its own folder above a hundred million bytes."""
    places = {"HOME": None, "XDG_CACHE_HOME": None, kernel_cache.VARIABLE: None, variable: tmp_path}
    expect(run(**places), True, 0)
    assert list((tmp_path / below / "kernels").glob("*.tic"))
    assert not list(tmp_path.rglob("ticache/*.tic"))


def test_without_a_home(tmp_path):
    """Taichi asserts that there is one, while it is imported."""
    none = {"HOME": None, "XDG_CACHE_HOME": None}
    done = run(**none)
    expect(done, False, 1)
    assert "neither HOME nor XDG_CACHE_HOME is set" in done.stderr
    expect(run(**none, TI_OFFLINE_CACHE_FILE_PATH=tmp_path), True, 0)


def test_a_place_that_cannot_be_made(tmp_path):
    (tmp_path / "file").touch()
    for place in (tmp_path / "file" / "below", tmp_path / "file", "/proc/nowhere"):
        expect(run(TI_OFFLINE_CACHE_FILE_PATH=place), False, 1)


def test_nobody_wants_a_cache(tmp_path):
    expect(run(TI_OFFLINE_CACHE="0", TI_OFFLINE_CACHE_FILE_PATH=tmp_path / "none"), False, 0)
    assert not (tmp_path / "none").exists()


def test_the_lock_of_a_killed_process(tmp_path):
    """It stayed for ever, and nobody had a cache any more."""
    (tmp_path / "ticache.lock").touch()
    os.utime(tmp_path / "ticache.lock", (time.time() - 3600,) * 2)
    expect(run(TI_OFFLINE_CACHE_FILE_PATH=tmp_path), True, 0)
    assert not (tmp_path / "ticache.lock").exists() and list(tmp_path.glob("*.tic"))


def test_the_folder_is_made_for_its_user_alone(tmp_path):
    """Whatever the process allows for its other files: what is loaded from it is executed."""
    before = os.umask(0)
    try:
        assert kernel_cache.problem(tmp_path / "below" / "new") == ""
    finally:
        os.umask(before)
    assert (tmp_path / "below" / "new").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o1777])
def test_a_folder_that_others_can_write_to(tmp_path, mode):
    """A kernel may be anybody's there, so it is not used, and a warning says what helps."""
    tmp_path.chmod(mode)
    done = run(TI_OFFLINE_CACHE_FILE_PATH=tmp_path)
    expect(done, False, 1)
    assert f"users other than you can write to {tmp_path}: remove its contents, and chmod go-w" in done.stderr
    assert not list(tmp_path.iterdir())


@root_only
def test_a_folder_and_files_of_another_user(tmp_path):
    (tmp_path / "T1.tic").write_bytes(b"")
    assert kernel_cache.problem(tmp_path) == ""
    os.chown(tmp_path / "T1.tic", 12345, -1)
    assert "T1.tic belongs to another user (number 12345): remove it" in kernel_cache.problem(tmp_path)
    os.chown(tmp_path, 12345, -1)
    assert f"{tmp_path} belongs to another user (number 12345)" in kernel_cache.problem(tmp_path)


@pytest.mark.parametrize(("asked", "asks"), [(None, "no"), ("OFF", "yes")])
def test_nobody_is_asked_for_newer_versions(asked, asks):
    """Taichi asks a server from a thread of its own when it is started; only if the environment wants that."""
    script = (
        "from taichi import _version_check\n"
        "asked = []\n"
        "_version_check.try_check_version = lambda: asked.append(1)\n"
        "from tumble.physics.machine.runtime import init_columns\n"
        "init_columns()\n"
        "import time; time.sleep(0.2)\n"
        "print('yes' if asked else 'no')"
    )
    assert run(script, TI_SKIP_VERSION_CHECK=asked).stdout.split()[-1] == asks


def test_llvm_is_asked_for_nothing_if_so_wanted():
    script = "from tumble.physics.machine import compiler\nprint(compiler.ask(compiler.NO_STRENGTH_REDUCTION))"
    assert run(script, TUMBLE_LLVM="0").stdout.split() == ["False"]
