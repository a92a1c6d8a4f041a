"""A process in which a thread is at work with a solver while another one takes it away: `at_work.py init apart 20`.

It ends well if the thread at work ends with the error that says so, and nothing crashes.
"""

import faulthandler
import gc
import os
import random
import sys
import threading
import time

import numpy as np

import tumble
from tumble.physics import Model, RigidSolver
from tumble.physics.machine.runtime import StaleRuntimeError, init_columns
from tumble.physics.solver.solver import ClosedSolverError

XML = """<mujoco><worldbody><geom type="plane" size="1 1 1"/>
<body pos="0 0 .5"><joint name="z" type="slide" axis="0 0 1"/><joint name="t" axis="0 1 0"/>
<geom size=".1" pos=".2 0 0"/></body></worldbody><actuator><motor joint="t" gear=".1"/></actuator></mujoco>"""
NUM_ENVS = 6


def begin(kind):
    """Settings: programs of units ("apart"), Taichi's kernel ("fused": TUMBLE_LLVM=0), the GPU driver ("columns")."""
    if kind == "columns":
        init_columns()
    else:
        tumble.init(lanes=4, threads=2)


def made(model):
    solver = RigidSolver(model, NUM_ENVS, ("xpos",))
    solver.step()
    solver.get("qacc")
    return solver


def actions(kind):
    """What a thread does with a solver, one after the other."""
    controls = np.zeros((NUM_ENVS, 5, 1))
    found = [
        lambda solver: solver.step(),
        lambda solver: solver.step(20),
        lambda solver: solver.rollout(controls),
        lambda solver: (solver.get("xpos"), solver.get("qacc"), solver.contacts, solver.inspect(1)),
        lambda solver: (
            solver.set_state(qpos=solver.qpos, envs_idx=None),
            solver.forward([2]),
            solver.get("xpos", [2]),
        ),
        lambda solver: solver.load_state_dict(solver.state_dict()),
        lambda solver: solver.reset([1, 2]),
    ]
    if kind == "apart":
        from tumble.physics.rendering import BatchRenderer

        kept = {}

        def render(solver):
            if "renderer" not in kept:
                kept["renderer"] = BatchRenderer(solver.model, 16, 16)
            return kept["renderer"].render(solver)

        found += [render, lambda solver: solver.ray([0, 0, 3], [0, 0, -1])]
    return found


def work(solver, doings, ended, begun, daemon=False):
    """Begin to work in a thread, until there is an error."""
    held = [solver]

    def run():
        try:
            while True:
                for do in doings:
                    do(held[0])
                begun.set()
        except Exception as error:
            ended.append(error)

    thread = threading.Thread(target=run, daemon=daemon)
    thread.start()
    return thread


def taken_away(kind, rounds, take, expected):
    """Round after round, a solver is taken away from a thread at work."""
    chance, doings = random.Random(0), actions(kind)
    begin(kind)
    model = Model.from_mjcf(XML)
    for number in range(rounds):
        solver, ended, begun = made(model), [], threading.Event()
        thread = work(solver, doings[number % len(doings) :] + doings[: number % len(doings)], ended, begun)
        assert begun.wait(300), ended
        time.sleep(chance.random() * 0.01)
        take(solver)
        thread.join(100)
        assert not thread.is_alive() and type(ended[0]) is expected, ended
        assert "tumble.init" in str(ended[0]) if expected is StaleRuntimeError else "closed" in str(ended[0])
        del solver, thread, ended[:]
        if number % 10 == 0:
            gc.collect()


def collected(kind, rounds):
    """A thread drops the last reference to a solver, in a circle and without one, while another one is at work."""
    begin(kind)
    model, ended, begun = Model.from_mjcf(XML), [], threading.Event()
    thread = work(solver := made(model), actions(kind), ended, begun)
    assert begun.wait(300), ended

    def drop(kept):
        del kept[:]
        gc.collect()

    for number in range(rounds):
        kept = [made(model)]
        if number % 2:
            kept[0].myself = kept[0]
        other = threading.Thread(target=drop, args=(kept,))
        other.start()
        other.join()
    solver.close()
    thread.join(100)
    assert not thread.is_alive() and type(ended[0]) is ClosedSolverError, ended


def left(kind):
    """The process ends while a thread is at work that nobody waits for."""
    begin(kind)
    ended, begun = [], threading.Event()
    work(made(Model.from_mjcf(XML)), actions(kind), ended, begun, daemon=True)
    assert begun.wait(300), ended
    time.sleep(random.Random(os.getpid()).random() * 0.02)


def main(what, kind, rounds):
    faulthandler.dump_traceback_later(500, exit=True)
    if what == "init":
        taken_away(kind, rounds, lambda solver: begin(kind), StaleRuntimeError)
    elif what == "close":
        taken_away(kind, rounds, RigidSolver.close, ClosedSolverError)
    elif what == "collect":
        collected(kind, rounds)
    else:
        left(kind)
    print("well", flush=True)
    faulthandler.cancel_dump_traceback_later()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
