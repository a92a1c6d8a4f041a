"""Scratch that grows under programs which are loaded and bound, and what does not fit."""

import pytest
import torch

import tumble
from tumble.physics import Model, RigidSolver
from tumble.physics.run.programs import Program
from tumble.physics.run.tiles import growing, scratch

BALL = "<mujoco><worldbody><geom type='plane' size='9 9 1'/><body pos='0 0 .2'>{}</body></worldbody></mujoco>"
SPHERE, CYLINDER = (f"<freejoint/><geom type='{kind}' size='.1 .1'/>" for kind in ("sphere", "cylinder"))


def falling(num_envs, shape=SPHERE, lanes=None):
    return RigidSolver(Model.from_mjcf(BALL.format(shape)), num_envs, lanes=lanes)


def fallen(solver):
    """Where everything is after forty steps from the reference."""
    solver.reset()
    solver.step(40)
    return solver.state_dict()["memory"]


@pytest.fixture
def loaded(monkeypatch):
    """Programs loaded since the runtime was started."""
    seen, load = [], Program._load

    def load_and_note(program):
        seen.append(program)
        return load(program)

    monkeypatch.setattr(Program, "_load", load_and_note)
    tumble.init(precision="32")
    return seen


def need(monkeypatch, *rows):
    """Have models need so many items of each array for each worker."""
    monkeypatch.setattr(growing, "scratch_rows", lambda sizes: rows)


@pytest.mark.parametrize("num_envs", [1, 20])
def test_a_larger_model_loads_nothing_anew(loaded, num_envs, monkeypatch):
    """The same bits as before, of solvers that were bound before scratch was exchanged under them."""
    small = falling(num_envs)
    before = fallen(small)
    for size in (1 << 17, 1 << 19):
        need(monkeypatch, size, size // 4, size // 8, size // 2)
        large = falling(num_envs)
        workers = 1 if num_envs == 1 else large.runtime.threads
        place = large.runtime.pool["host scratch", large._driver._arrangement.width]
        assert torch.equal(fallen(large), before)
        assert place._sizes == tuple(workers * size // part for part in (1, 4, 8, 2))
        assert torch.equal(fallen(small), before)
    assert len(loaded) == 1


def test_programs_loaded_over_scratch_that_has_grown(loaded, monkeypatch):
    """Another width, and optional code: in what there is by then."""
    first = fallen(falling(1))
    need(monkeypatch, 1 << 17, 1 << 15, 1 << 15, 1 << 15)
    assert torch.equal(fallen(falling(20))[:1], first) and torch.equal(fallen(falling(1)), first)
    assert torch.isfinite(fallen(falling(1, CYLINDER))).all()
    assert len(loaded) == 3


def test_scratch_is_exchanged_while_others_step(loaded):
    """A step that another thread takes meanwhile waits, or is waited for."""
    from threading import Thread

    solver = falling(20)
    before = fallen(solver)
    place = solver.runtime.pool["host scratch", solver._driver._arrangement.width]

    def grow():
        for k in range(40):
            place.grow([(1 << 17) + k] * 4)

    thread = Thread(target=grow)
    thread.start()
    while thread.is_alive():
        assert torch.equal(fallen(solver), before)
    assert place._sizes == ((1 << 17) + 39,) * 4


def test_a_very_large_model_gets_fewer_workers(monkeypatch):
    runtime = tumble.init(precision="32", threads=2)
    monkeypatch.setattr(scratch, "MOST_ROWS", 1 << 17)
    assert [scratch.workers_for((rows, 1, 1, 1), 16, runtime) for rows in (1 << 16, (1 << 16) + 1)] == [2, 1]
    with pytest.raises(
        ValueError, match=r"too large a model: a step needs 131,073 rows .* 131,072 can be addressed; use"
    ):
        scratch.workers_for((1, 1, 1, (1 << 17) + 1), 16, runtime)


def test_a_model_for_which_there_is_no_memory(monkeypatch):
    runtime = tumble.init(precision="32", threads=2)
    monkeypatch.setattr(scratch, "available_memory", lambda: 1.5 * (1 << 30))
    assert [scratch.workers_for((0, 0, rows, 0), 16, runtime) for rows in (1 << 22, 1 << 23)] == [2, 1]
    with pytest.raises(
        MemoryError, match=r"too large a model: a step needs 2\.0 GiB of scratch, and 1\.5 GiB are free"
    ):
        scratch.workers_for((1 << 24, 0, 1 << 23, 0), 16, runtime)
