"""Jacobians do not depend on how they are computed: on lanes, batches, levels, threads, and the scratch of before."""

from functools import partialmethod

import numpy as np
import pytest
import torch

import tumble
from tumble.physics import Model
from tumble.physics.gradients.batch import DirectionBatch
from tumble.physics.gradients.steps import Steps
from tumble.physics.machine.runtime import ensure_runtime
from tumble.physics.run.tiles import growing

from ...widths import WIDTH
from ..parity.catalogue import load
from ..parity.states import sample
from ..parity.subjects import Tumble
from ..starts import run_with

COUNT = 3 * WIDTH - 1
"""Environments: three tiles, of which the last is not full."""
ROUNDING = 1e-12
"""Of sums in another order, relative to the largest entry."""
EVERYTHING = [
    "everything",
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("everything, elliptic", "tendons")),
]


def begun(name, count=COUNT):
    """A solver of that model in random states, half of them in contact or at a limit, and its states in memory."""
    run_with("64")
    mjm = load(name)
    mjm.opt.tolerance, mjm.opt.iterations, mjm.opt.ls_iterations = 1e-15, 100, 50
    subject = Tumble(mjm, count)
    subject.load(sample(mjm, count))
    return subject.solver, subject.solver.gradients.recorder.states(torch.arange(count))[0]


def jacobians(steps, states, wide=None):
    """The Jacobians of one step, with directions in lanes if `wide`."""
    if wide is not None:
        steps._is_wide = lambda count, columns: wide
    return next(steps.jacobians(states)).clone()


def steps_of(solver):
    """Derivatives that share nothing with others of the solver but code and scratch."""
    return Steps(ensure_runtime(), solver.model)


def largest(found):
    return found.abs().max().item()


@pytest.mark.parametrize("name", EVERYTHING)
def test_lanes_are_environments_or_directions(name):
    solver, states = begun(name)
    found = [jacobians(steps_of(solver), states, wide) for wide in (False, True)]
    assert torch.equal(*found) and largest(found[0] - found[0][0]) > 0.1


@pytest.mark.parametrize("wide", [False, True])
def test_alone_or_among_others(wide):
    solver, states = begun("everything")
    together, steps = jacobians(steps_of(solver), states, wide), steps_of(solver)
    for env in (0, WIDTH, COUNT - 1):
        assert torch.equal(jacobians(steps, states[env : env + 1], wide)[0], together[env])


@pytest.mark.parametrize("wide", [False, True])
def test_a_scratch_that_grows(wide, monkeypatch):
    solver, states = begun("everything")
    expected = jacobians(steps_of(solver), states, wide)
    first = growing.first_capacity
    monkeypatch.setattr(growing, "first_capacity", lambda model: first(model)._replace(contacts=1))
    steps = steps_of(solver)
    assert torch.equal(jacobians(steps, states, wide), expected)
    (batch,) = steps._batches.values()
    assert batch._room.grown > 0


@pytest.mark.parametrize("name", EVERYTHING)
def test_levels_leave_out_nothing(name, monkeypatch):
    """At the level of positions all stages and all tangents are computed; contact frames are then completed again."""
    solver, states = begun(name)
    expected = jacobians(steps_of(solver), states)
    monkeypatch.setattr(DirectionBatch, "launch", partialmethod(DirectionBatch.launch, levels=False))
    found = jacobians(steps_of(solver), states)
    assert largest(found - expected) <= ROUNDING * largest(expected)


@pytest.mark.parametrize("name", EVERYTHING)
def test_products_are_jacobians_times_directions(name):
    solver, states = begun(name)
    steps = steps_of(solver)
    jacobian = jacobians(steps, states)
    seeds = torch.from_numpy(np.random.default_rng(0).normal(size=(COUNT, 3, jacobian.shape[2])))
    expected = seeds @ jacobian.transpose(1, 2)
    assert largest(steps.products(states, seeds) - expected) <= ROUNDING * largest(expected)


@pytest.mark.parametrize("name", EVERYTHING)
def test_several_steps_are_a_chain_of_single_ones(name):
    """Single ones from the states to which a plain solver comes."""
    solver, _ = begun(name)
    several, product = solver.gradients.transition(n=3), None
    state = 2 * solver.model.mj.nv + solver.model.mj.na
    for _ in range(3):
        A, B = solver.gradients.transition()
        product = (A, B) if product is None else (A @ product[0], A @ product[1] + B)
        solver.step()
    assert several.A.shape[1:] == (state, state)
    for found, expected in zip(several, product, strict=True):
        assert largest(found - expected) <= ROUNDING * largest(expected)


def test_the_number_of_threads():
    """Of many tiles, each thread has some."""
    found = []
    for threads in (1, 2):
        solver, states = begun("everything", 10 * WIDTH)
        tumble.init(precision="64", lanes=WIDTH, threads=threads)
        found.append(jacobians(Steps(ensure_runtime(), Model.from_mjmodel(solver.model.mj)), states, False))
    assert torch.equal(*found)


@pytest.mark.parametrize("wide", [False, True])
def test_what_was_in_the_scratch_before(wide):
    """Another model's numbers, a larger one's, and any: also those of the twins."""
    solver, states = begun("everything")
    steps = steps_of(solver)
    expected = jacobians(steps, states, wide)
    (batch,) = steps._batches.values()
    rng = np.random.default_rng(0)
    for place, array in enumerate(batch._scratch._room):
        if place != 1:
            array[:] = rng.normal(size=array.shape)
    batch._scratch.last_user = None
    assert torch.equal(jacobians(steps, states, wide), expected)
    other, others = begun("tendons")
    jacobians(steps_of(other), others, wide)
    assert torch.equal(jacobians(steps, states, wide), expected)
    assert torch.equal(jacobians(steps_of(solver), states, wide), expected)
