"""The cache of compiled kernels: a place that is none, files that are damaged, processes that are killed."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tumble.physics import kernel_cache

STEP = """
import socket
def refuse(*_): raise SystemExit("reached for the network")
socket.socket.connect = socket.getaddrinfo = refuse
from tumble.physics.runtime import init
init()
import taichi as ti
from tumble.physics.taichi_thread import in_taichis_thread
x = in_taichis_thread(lambda: ti.field(ti.f32, 4))
@ti.kernel
def fill(scale: ti.f32):
    for i in x:
        x[i] = scale * i
fill(2.0)
print(x.to_numpy().tolist(), ti.cfg.offline_cache)
"""
SOLVE = """
import tumble
from tumble.physics import Model, RigidSolver
xml = '<mujoco><worldbody><body><joint type="slide" axis="0 0 1"/><geom size=".1"/></body></worldbody></mujoco>'
solver = RigidSolver(Model.from_mjcf(xml), 2)
solver.step()
print(solver.qvel.flatten().tolist(), flush=True)
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
    assert {"ticache.tcb", "tumble.checked"} <= files and "ticache.lock" not in files


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


@pytest.mark.parametrize(
    ("name", "at"),
    [("*.tic", 0), ("*.tic", 6), ("*.tic", 15), ("*.tic", 17), ("*.tic", 3000), ("*.tic", -5), ("ticache.tcb", 5)]
    + [("ticache.tcb", at) for at in (23, 29, 33)],
)
def test_a_flipped_bit(tmp_path, name, at):
    """In the head of a file it ended the process; elsewhere the kernel was compiled anew at every start."""
    place = {"TI_OFFLINE_CACHE_FILE_PATH": tmp_path}
    expect(run(**place), True, 0)
    path = max(tmp_path.glob(name), key=lambda p: p.stat().st_size)
    data = bytearray(path.read_bytes())
    data[at] ^= 0x40
    path.write_bytes(data)
    os.utime(path, (time.time() + 1,) * 2)
    done = run(**place)
    expect(done, True, 1)
    assert f"{path} is damaged and was removed" in done.stderr
    assert path.read_bytes() != data and not kernel_cache.damaged(tmp_path)
    expect(run(**place), True, 0)


def test_a_file_that_was_cut_off(tmp_path):
    """As a full disk leaves it, or a kill while it was written."""
    place = {"TI_OFFLINE_CACHE_FILE_PATH": tmp_path}
    expect(run(**place), True, 0)
    for path in (tmp_path / "ticache.tcb", next(tmp_path.glob("*.tic"))):
        os.truncate(path, path.stat().st_size - 7)
        expect(run(**place), True, 1)


def test_the_lock_of_a_killed_process(tmp_path):
    """It stayed for ever, and nobody had a cache any more."""
    (tmp_path / "ticache.lock").touch()
    os.utime(tmp_path / "ticache.lock", (time.time() - 3600,) * 2)
    expect(run(TI_OFFLINE_CACHE_FILE_PATH=tmp_path), True, 0)
    assert not (tmp_path / "ticache.lock").exists() and list(tmp_path.glob("*.tic"))


def test_importing_asks_nobody_for_newer_versions():
    """Taichi asks a server from a thread of its own when it is started; unless the environment says otherwise."""
    script = "import os, tumble.physics; print(os.environ['TI_SKIP_VERSION_CHECK'])"
    assert run(script, TI_SKIP_VERSION_CHECK=None).stdout.split() == ["ON"]
    assert run(script, TI_SKIP_VERSION_CHECK="OFF").stdout.split() == ["OFF"]


def test_llvm_is_asked_for_nothing_if_so_wanted():
    script = "from tumble.physics import compiler\nprint(compiler.ask(compiler.NO_STRENGTH_REDUCTION))"
    assert run(script, TUMBLE_LLVM="0").stdout.split() == ["False"]


@pytest.mark.slow
def test_cold_processes_side_by_side_two_of_them_killed(tmp_path):
    """Eight on one empty cache: six finish, and so does a later one, which finds the kernel there."""
    place = {**os.environ, "TI_OFFLINE_CACHE_FILE_PATH": str(tmp_path / "cache"), "TUMBLE_THREADS": "1"}
    start = {"env": place, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    eight = [subprocess.Popen([sys.executable, "-c", SOLVE], **start) for _ in range(8)]
    time.sleep(4)
    eight[0].send_signal(signal.SIGKILL)  # while it compiles
    assert eight[1].stdout.readline()  # and one that is about to write
    eight[1].send_signal(signal.SIGKILL)
    ended = [process.communicate(timeout=500) for process in eight]
    results = {out for (out, _), process in zip(ended[2:], eight[2:], strict=True) if process.returncode == 0}
    assert [p.returncode for p in eight[2:]] == [0] * 6, [err for _, err in ended]
    later = subprocess.run([sys.executable, "-c", SOLVE], env=place, capture_output=True, text=True, timeout=200)
    assert later.returncode == 0 and results == {later.stdout}
    assert not kernel_cache.damaged(Path(place["TI_OFFLINE_CACHE_FILE_PATH"]))
