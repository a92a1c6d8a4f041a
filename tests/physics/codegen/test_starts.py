"""Starts of real solvers, from files that are whole, damaged, another's, or cannot be kept: right numbers each time.

Files are those of one small model. Where some are missing, `fake_compiler.py` hands them out, so nothing is compiled
twice; the slow tests compile.
"""

import json
import os
import platform
import random
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import tumble
from tumble.physics import Model, RigidSolver
from tumble.physics.machine.codegen import store
from tumble.physics.machine.codegen.keys import key_of
from tumble.physics.machine.codegen.store import Store, default_folder
from tumble.physics.model.features import Features
from tumble.physics.run import programs
from tumble.physics.run.compile import compilers

from ..interrupting import interrupted
from .kept import FALLING, root_only, warned

WIDTH, STEPS = 4, 300
ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.skipif(not programs.can_compile_apart(), reason="units cannot be compiled here")


def states(threads=1):
    """Of a new solver, after some steps; sixteen environments are four tiles, for several threads."""
    tumble.init(lanes=WIDTH, threads=threads)
    solver = RigidSolver(Model.from_mjcf(FALLING), 4 * WIDTH)
    solver.set_state(qvel=np.linspace(-1.0, 1.0, 4 * WIDTH)[:, None])
    for _ in range(STEPS):
        solver.step()
    return solver.qpos.tolist(), solver.qvel.tolist()


@pytest.fixture(scope="module")
def right():
    """The states, and the folder in which the files are."""
    kept = default_folder()
    if kept is None:
        pytest.skip("there is no folder for machine code")
    return states(), kept


@pytest.fixture
def begin(right, monkeypatch, tmp_path):
    """Start anew with a folder for files: as if no machine code were loaded yet."""
    kept = right[1]
    model = Model.from_mjcf(FALLING)
    monkeypatch.syspath_prepend(ROOT)
    monkeypatch.setattr(compilers, "_MODULE", "tests.physics.codegen.fake_compiler")
    monkeypatch.setenv("FAKE_COMPILER", json.dumps({"store": str(kept)}))
    plan, code = compilers.units_of_program(WIDTH, "32", Features.of(model, True))
    filled = Store(tmp_path / "objects")
    for name, key in plan.units.items():
        filled.save(key, code[name])

    def begun(folder, threads=1):
        monkeypatch.setenv("TUMBLE_CACHE", str(folder))
        monkeypatch.setattr(programs, "_addresses", {})
        store._store_in.cache_clear()
        return states(threads)

    return begun


def files(folder):
    return sorted(folder.glob("*.code"))


def damage(path, way, rng):
    """Change a file as disks, people and killed processes might."""
    data = bytearray(path.read_bytes())
    if way == "bit":
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    elif way == "cut":
        del data[rng.randrange(len(data)) :]
    elif way == "hole":
        at = rng.randrange(len(data) - 64)
        data[at : at + 64] = bytes(b ^ 255 for b in data[at : at + 64])
    elif way == "longer":
        data += b"\0"
    elif way == "other":
        data = bytearray(rng.choice(files(path.parent)).read_bytes() + b"!")
    path.write_bytes(data)


WAYS = "bit", "cut", "hole", "longer", "other"


def test_whole_files(begin, right, tmp_path, monkeypatch):
    """All are read, and one, the plan, is asked for and kept; then nothing is asked for, whatever the threads."""
    assert begin(tmp_path / "objects") == right[0]
    monkeypatch.setattr(subprocess, "Popen", None)
    assert begin(tmp_path / "objects") == right[0]
    assert begin(tmp_path / "objects", threads=2) == right[0]


def expect_mended(begin, right, folder, seed):
    """Damage of a third of the files, each in some way, is found, told once, and mended."""
    rng, whole = random.Random(seed), {path.name: path.read_bytes() for path in files(folder)}
    chosen = rng.sample(files(folder), len(whole) // 3)
    for path in chosen:
        damage(path, rng.choice(WAYS), rng)
    with warned("machine code is compiled again, once"):
        assert begin(folder) == right[0]
    assert {path.name: path.read_bytes() for path in files(folder)} == whole
    return len(chosen)


def test_damaged_files(begin, right, tmp_path):
    begin(tmp_path / "objects")
    assert expect_mended(begin, right, tmp_path / "objects", 0) > 5


@pytest.mark.slow
def test_three_hundred_damaged_files(begin, right, tmp_path):
    begin(tmp_path / "objects")
    damaged, seed = 0, 1
    while damaged < 300:
        damaged += expect_mended(begin, right, tmp_path / "objects", seed)
        seed += 1


def test_a_folder_that_cannot_be_used(begin, right, tmp_path):
    (tmp_path / "file").write_bytes(b"mine")
    with warned("so every start compiles again; let TUMBLE_CACHE name a folder"):
        assert begin(tmp_path / "file" / "below") == right[0]


def test_an_interrupt_while_it_compiles(begin, right, tmp_path, monkeypatch):
    """Ctrl-C in the first step: no process stays, nothing has moved or moves later, and the next step goes on.

    What was compiled until then is kept.
    """
    started, popen = [], subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda *a, **o: started.append(popen(*a, **o)) or started[-1])
    monkeypatch.setenv("FAKE_COMPILER", json.dumps({"store": str(right[1]), "seconds": 0.3}))
    monkeypatch.setenv("TUMBLE_CACHE", str(tmp_path / "empty"))
    monkeypatch.setattr(programs, "_addresses", {})
    store._store_in.cache_clear()
    tumble.init(lanes=WIDTH, threads=1)
    solver = RigidSolver(Model.from_mjcf(FALLING), 4 * WIDTH)
    before = solver.state_dict()
    with interrupted(2.0):
        solver.step()
    assert started and all(process.returncode is not None for process in started)
    assert all(map(torch.equal, before.values(), solver.state_dict().values()))
    assert files(tmp_path / "empty")
    monkeypatch.setenv("FAKE_COMPILER", json.dumps({"store": str(right[1])}))
    solver.reset()
    solver.set_state(qvel=np.linspace(-1.0, 1.0, 4 * WIDTH)[:, None])
    for _ in range(STEPS):
        solver.step()
    assert (solver.qpos.tolist(), solver.qvel.tolist()) == right[0]


@root_only
def test_files_of_another_user(begin, right, tmp_path):
    """They are not executed, and left as they are: each is made anew, and one warning says so."""
    folder = tmp_path / "objects"
    begin(folder)
    foreign = files(folder)[::5]
    for path in foreign:
        path.write_bytes(b"\xcc" * 5000)
        os.chown(path, 12345, -1)
    with warned("belongs to another user (number 12345)"):
        assert begin(folder) == right[0]
    assert all(path.read_bytes() == b"\xcc" * 5000 for path in foreign)


IN_A_CHILD = """
import logging, subprocess, sys
logging.basicConfig(level=logging.DEBUG, stream=sys.stdout)
from tests.physics.codegen import test_starts
if sys.argv[1] == "warm":
    subprocess.Popen = None
print(test_starts.states())
from taichi.lang import impl
print(impl.get_runtime().prog is None)
"""


def child(folder, kind):
    environment = {**os.environ, "TUMBLE_CACHE": str(folder)}
    command = [sys.executable, "-W", "error::RuntimeWarning", "-c", IN_A_CHILD, kind]
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True
    )


def test_a_warm_start(right):
    """It starts no process, tells nothing, and Taichi never begins."""
    run = child(right[1], "warm")
    said = run.communicate()[0].splitlines()
    assert run.returncode == 0 and said == [str(right[0]), "True"]


@pytest.mark.slow
def test_eight_processes_at_once_three_of_which_are_killed(right, tmp_path):
    """In an empty folder; the others have the right states, and leave whole files."""
    folder, rng = tmp_path / "objects", random.Random(8)
    runs = [child(folder, "cold") for _ in range(8)]
    for run in runs[:3]:
        time.sleep(rng.uniform(2.0, 6.0))
        os.killpg(run.pid, signal.SIGKILL)  # with the processes that compile for it
    for run in runs[3:]:
        said = run.communicate()[0].splitlines()
        assert run.returncode == 0 and said[-2:] == [str(right[0]), "True"]
    for run in runs[:3]:
        run.communicate()
    assert child(folder, "warm").communicate()[0].splitlines() == [str(right[0]), "True"]
    assert all(Store(folder).load(path.stem) for path in files(folder))


def children_of(run):
    """The processes that the first thread of a process has started."""
    path = Path(f"/proc/{run.pid}/task/{run.pid}/children")
    return [int(number) for number in path.read_text().split()] if run.poll() is None else []


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.5, 2.5, 5.0])
def test_a_process_that_compiles_is_killed(right, tmp_path, seconds):
    """A real one: the solver says so; the next start goes on with what is there."""
    folder = tmp_path / "objects"
    run = child(folder, "cold")
    while not children_of(run):
        time.sleep(0.05)
    time.sleep(seconds)
    below = children_of(run)
    for number in below:
        os.kill(number, signal.SIGKILL)
    run.communicate()
    assert run.returncode == (1 if below else 0)
    last = child(folder, "cold")
    assert last.communicate()[0].splitlines()[-2:] == [str(right[0]), "True"]
    shutil.rmtree(folder)


def test_one_environment_takes_the_code_of_many_if_it_is_there(begin, right, tmp_path, monkeypatch):
    """It has a batch's lanes then, and the same bits, without a process that compiles; else one lane, as ever."""
    folder, model = tmp_path / "objects", Model.from_mjcf(FALLING)
    begin(folder)
    monkeypatch.setattr(subprocess, "Popen", None)
    has, runtime = Features.of(model, True), tumble.init(lanes=WIDTH, threads=1)
    assert programs.lanes_of_one(runtime, has) == WIDTH
    solver = RigidSolver(model, 1, lanes=WIDTH)
    solver.set_state(qvel=[[-1.0]])
    for _ in range(STEPS):
        solver.step()
    assert (solver.qpos.tolist(), solver.qvel.tolist()) == tuple(numbers[:1] for numbers in right[0])
    monkeypatch.setenv("TUMBLE_CACHE", str(tmp_path / "nothing"))
    assert programs.lanes_of_one(runtime, has) == WIDTH  # the process has loaded it
    runtime = tumble.init(lanes=WIDTH, threads=1)
    assert programs.lanes_of_one(runtime, has) == 1


def test_one_environment_has_one_lane_if_both_are_there(begin, tmp_path):
    folder, has = tmp_path / "objects", Features.of(Model.from_mjcf(FALLING), True)
    begin(folder)
    runtime, kept = tumble.init(lanes=WIDTH, threads=1), store.shared_store()
    whole, own = (compilers._job(WIDTH, "32", features) for features in (has, replace(has, parameters=True)))
    plan = kept.load(key_of("program", whole))
    os.unlink(folder / f"{key_of('program', whole)}.code")
    assert programs.lanes_of_one(runtime, has) == 1
    kept.save(key_of("program", own), plan)  # a task whose environments have their own numbers compiles only this
    assert programs.lanes_of_one(runtime, has) == WIDTH
    kept.save(key_of("program", whole | {"width": 1}), plan)
    assert programs.lanes_of_one(runtime, has) == 1
    os.unlink(next(path for path in files(folder) if path.stem in plan.decode()))
    assert programs.lanes_of_one(runtime, has) == 1


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the other processor is one of x86-64")
def test_processors_that_share_a_folder_have_code_of_their_own(tmp_path):
    """Two processors share a folder, as nodes of a cluster do: each loads only code for itself, and compiles once."""
    command, files, states = [sys.executable, "-m", "tests.physics.codegen.other_processor"], {}, {}
    for name in ("", "x86-64-v2", "", "x86-64-v2"):
        before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
        environment = os.environ | {"TUMBLE_CACHE": str(tmp_path), "PROCESSOR": name}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        after = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
        assert before.items() <= after.items(), "no file is replaced"
        if name in files:
            assert after == before and json.loads(done.stdout) == states[name]
        else:
            files[name], states[name] = after.keys() - before.keys(), json.loads(done.stdout)
    assert len(files[""]) == len(files["x86-64-v2"]) > 5
    np.testing.assert_allclose(states[""], states["x86-64-v2"], rtol=1e-5, atol=1e-6)
