"""Ctrl-C: the solver is exactly as before the step, or as after it; nothing runs later, and the next call works.

Where a step waits for a compilation, a slow one stands in for it. Where it launches, the interrupt comes during the
launch, which Python notices right after it.
"""

import signal
import threading
import time

import numpy as np
import pytest
import torch

import tumble
from tumble.physics import Model, RigidSolver
from tumble.physics.machine.interrupts import interrupts_wait
from tumble.physics.machine.runtime import init_columns
from tumble.physics.machine.taichi_thread import in_taichis_thread
from tumble.physics.run import bound_kernel, programs, taichi_kernel

from .interrupting import interrupted, interrupted_after_launch
from .starts import run_in_columns
from .test_capacity import TINY, begin_with, spheres
from .test_driver_host import NUM_ENVS, XML, states

apart = pytest.mark.skipif(not programs.can_compile_apart(), reason="units cannot be compiled here")


def begin(driver, monkeypatch, anew=False):
    """Start with a driver: programs of units, Taichi's kernel in this process, or the GPU driver on a processor.

    The last one has its kernels from tests before, unless it is to begin anew.
    """
    if driver == "fused":
        monkeypatch.setattr(programs, "can_compile_apart", lambda: False)
    if driver == "columns":
        init_columns() if anew else run_in_columns()
    else:
        tumble.init(precision="32", lanes=4, threads=1)


def made(outputs=("xpos",)):
    solver = RigidSolver(Model.from_mjcf(XML), NUM_ENVS, outputs)
    solver.set_state(*states())
    solver.ctrl = np.linspace(-1, 1, NUM_ENVS)[:, None]
    return solver


def seen(solver):
    """Everything that a user can see of a solver."""
    state = solver.state_dict()
    numbers = [solver.get(name) for name in ("xpos", "qacc", "cvel")]
    return [*state.values(), *numbers, solver.contacts.dist, solver.time, solver.solver_niter]


def equal(one, other):
    return all(map(torch.equal, one, other))


@pytest.mark.parametrize("driver", [pytest.param(name, marks=pytest.mark.slow) for name in ("fused", "columns")])
def test_while_taichi_compiles(driver, monkeypatch):
    """The job goes on in Taichi's thread after its caller has left, and moves nothing, even after a reset."""
    begin(driver, monkeypatch, anew=True)
    compiled, begun, slow = taichi_kernel.compiled, threading.Event(), [True]

    def slowly(*arguments):
        begun.set()
        if slow[0]:
            time.sleep(1.0)
        return compiled(*arguments)

    monkeypatch.setattr(taichi_kernel, "compiled", slowly)
    for action in (lambda solver: solver.step(), lambda solver: solver.rollout(np.zeros((NUM_ENVS, 3, 1)))):
        solver = made()
        before, edits = solver.state_dict(), solver.edits
        with interrupted(0.3):
            action(solver)
        assert begun.is_set() and all(map(torch.equal, before.values(), solver.state_dict().values()))
        solver.reset()
        start = solver.state_dict()
        in_taichis_thread(lambda: None)  # it has done all that it was told to
        assert all(map(torch.equal, start.values(), solver.state_dict().values())) and solver.edits >= edits
        slow[0] = False
        fresh = RigidSolver(solver.model, NUM_ENVS, ("xpos",))
        action(solver)
        action(fresh)
        assert equal(seen(solver), seen(fresh))
        begin(driver, monkeypatch, anew=True)
        begun.clear()
        slow[0] = True


def test_a_job_that_has_not_begun_never_does():
    """Taichi's thread is busy with another one's when its caller is interrupted."""
    done, hold = [], threading.Event()
    busy = threading.Thread(target=in_taichis_thread, args=(hold.wait,))
    busy.start()
    with interrupted(0.2):
        in_taichis_thread(done.append, 1)
    hold.set()
    busy.join()
    in_taichis_thread(lambda: None)
    assert not done


LAUNCHES = {"apart": (programs._Bound, "__call__"), "columns": (bound_kernel.BoundKernel, "attempt")}


@pytest.mark.parametrize(
    "driver", [pytest.param("apart", marks=apart), pytest.param("columns", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("outputs", [(), ("xpos",)])
def test_as_a_launch_ends(driver, outputs, monkeypatch):
    """The step or the rollout was taken, with all that follows from it: nothing of the state before is handed out."""
    begin(driver, monkeypatch)
    made().step()  # all is compiled
    controls = np.random.default_rng(0).uniform(-1, 1, (NUM_ENVS, 5, 1))
    for action in (lambda solver: solver.step(3), lambda solver: solver.rollout(controls)):
        for after_a_step in (True, False):
            solver, twin = made(outputs), made(outputs)
            for other in (solver, twin):
                if after_a_step:
                    other.step()
                seen(other)  # what is kept of it is out of date afterwards
            edits = solver.edits
            with interrupted_after_launch(monkeypatch, *LAUNCHES[driver]):
                action(solver)
            action(twin)
            assert solver.edits == edits + 1
            assert torch.equal(solver.ctrl, twin.ctrl) and equal(seen(solver), seen(twin))
            for other in (solver, twin):
                other.step()
            assert equal(seen(solver), seen(twin))


@apart
@pytest.mark.parametrize("number", [1, 2])
def test_as_a_launch_ends_that_left_some_tiles(number, monkeypatch):
    """Some environments have moved, and others wait for more scratch: all have, when the interrupt is handled."""
    found = []
    for interrupt in (False, True):
        tumble.init(precision="32", threads=2)
        begin_with(monkeypatch, TINY)
        solver = spheres(40)
        if interrupt:
            with interrupted_after_launch(monkeypatch, *LAUNCHES["apart"], number):
                solver.step(50)
        else:
            solver.step(50)
        assert solver._driver._room.grown > 0
        solver.step()
        found.append([*solver.state_dict().values(), solver.get("cfrc_ext"), solver.contacts.mask, solver.time])
    assert all(map(torch.equal, *found))


@apart
def test_in_a_long_rollout(monkeypatch):
    """A real one: it is taken to its end, and then the interrupt is handled."""
    begin("apart", monkeypatch)
    steps, seconds = 1000, 0.0
    while seconds < 0.5:
        solver, steps = made(), 2 * steps
        began = time.perf_counter()
        solver.rollout(np.zeros((NUM_ENVS, steps, 1)))
        seconds = time.perf_counter() - began
    controls = np.random.default_rng(1).uniform(-1, 1, (NUM_ENVS, steps, 1))
    before, ends = made(), made()
    ends.rollout(controls)
    for part in (0.1, 0.3, 0.5):
        solver = made()
        seen(solver)
        with interrupted(seconds * part):
            solver.rollout(controls)
            time.sleep(10.0)
        taken = bool(solver.time.any())
        assert equal(seen(solver), seen(ends if taken else before)), taken


def test_interrupts_wait():
    """Until the end of the block: the handler that was there is told once, and is there again."""
    told, before = [], signal.getsignal(signal.SIGINT)
    try:
        signal.signal(signal.SIGINT, lambda *_: told.append(1))
        with interrupts_wait():
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
            assert not told
        assert told == [1]
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with pytest.raises(KeyboardInterrupt), interrupts_wait():
            signal.raise_signal(signal.SIGINT)
            told.append(2)
        assert told == [1, 2] and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        with pytest.raises(ValueError), interrupts_wait():
            raise ValueError
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with interrupts_wait():
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_interrupts_wait_nowhere_but_in_the_main_thread():
    found = []

    def work():
        with interrupts_wait():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [signal.getsignal(signal.SIGINT)]
