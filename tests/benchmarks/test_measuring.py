"""Timing, and the work of both sides of a comparison."""

import numpy as np
import pytest

from tumble.benchmarks.models import load, random_controls, scatter
from tumble.benchmarks.physics import MujocoSide, mujoco_states, step_by_step, tumble_side
from tumble.benchmarks.timing import Sample, clock, take_turns
from tumble.benchmarks.workload import Work, counted_steps, mujoco_work, tumble_rows, tumble_work
from tumble.physics import RigidSolver

# -- Sides take turns, and figures are medians over rounds


def test_sides_take_turns_and_the_warm_up_does_not_count():
    calls, clocks = [], iter(range(100))

    def side(name):
        def work():
            calls.append(name)
            return float(next(clocks))

        return work

    samples = take_turns({"a": side("a"), "b": side("b")}, rounds=2)
    assert calls == ["b", "a", "a", "b", "b", "a"]
    assert samples["a"].seconds == (2.0, 5.0)
    assert samples["b"].seconds == (3.0, 4.0)


def test_ratio_is_of_the_same_round():
    """A machine that slows down by half in one round does not change the ratio."""
    ours, theirs = Sample((1.0, 2.0, 1.0)), Sample((4.0, 8.0, 5.0))
    ratio = ours.times_faster_than(theirs)
    assert (ratio.median, ratio.low, ratio.high) == (4.0, 4.0, 5.0)
    assert ours.median == 1.0
    assert ours.spread == 1.0


def test_clock_repeats_the_work():
    done = []
    assert clock(lambda: done.append(1), 3) > 0
    assert len(done) == 3


def test_a_ratio_needs_equal_rounds():
    with pytest.raises(ValueError):
        Sample((1.0,)).times_faster_than(Sample((1.0, 2.0)))


# -- Both sides of the physics comparison do the same work, and it is counted as the engine counts it


ENVS, STEPS = 16, 4


@pytest.fixture
def hopper(runtime) -> RigidSolver:
    solver = RigidSolver(load("Hopper"), ENVS)
    scatter(solver, steps=60)
    return solver


def test_rows_are_those_of_inspect(hopper):
    contacts, rows = tumble_rows(hopper)
    whole = [hopper.inspect(env) for env in range(ENVS)]
    assert contacts.tolist() == [len(found["contact_dist"]) for found in whole]
    assert rows.tolist() == [len(found["efc_type"]) for found in whole]
    assert rows.sum() > 0


def test_both_sides_do_the_same_work(hopper):
    controls = random_controls(hopper.model, ENVS, STEPS, seed=1)
    states, warm = mujoco_states(hopper), hopper.qacc_warmstart.double().numpy()
    theirs = mujoco_work(hopper.model, states, warm, controls.transpose(0, 1).double().numpy())
    ours = tumble_work(hopper, controls)
    assert ours.faults == theirs.faults == 0
    assert ours.disagreement(theirs) < 0.02
    assert ours.rows > 0 and ours.iterations > 0


@pytest.mark.parametrize("by", ["rollout", "step"])
def test_both_sides_take_the_same_steps(by, hopper):
    """The timed stretches end in the same states, to single precision."""
    controls = random_controls(hopper.model, ENVS, STEPS, seed=1)
    states, warm = mujoco_states(hopper), hopper.qacc_warmstart.double().numpy()
    in_order = np.ascontiguousarray(controls.transpose(0, 1).double().numpy())
    together = controls.transpose(0, 1)
    follow = {"rollout": lambda: hopper.rollout(together), "step": lambda: step_by_step(hopper, controls)}[by]
    assert tumble_side(hopper, hopper.state_dict(), 1, follow)() > 0
    theirs = MujocoSide(hopper.model, states, warm, in_order, 1)
    assert theirs() > 0
    final = theirs.state[:, -1, 1 : 1 + hopper.model.mj.nq]
    np.testing.assert_allclose(hopper.qpos.numpy(), final, atol=1e-4)


def test_disagreement_is_the_largest_of_the_means():
    assert Work(1.0, 2.0, 3.0, 0).disagreement(Work(1.0, 2.5, 3.0, 0)) == pytest.approx(0.2)
    assert Work(1.0, 2.0, 2.4, 0).disagreement(Work(1.0, 2.0, 3.0, 0)) == pytest.approx(0.2)
    assert Work(1.0, 2.0, 4.0, 0).disagreement(Work(1.0, 2.0, 3.0, 0)) == 0.0
    assert Work(1.0, 2.0, 3.0, 1).disagreement(Work(1.0, 2.0, 3.0, 0)) == float("inf")
    assert Work(0.0, 0.0, 0.0, 0).disagreement(Work(0.0, 0.0, 0.0, 0)) == 0.0


def test_counted_steps_reach_both_ends():
    assert counted_steps(4) == {0, 1, 2, 3}
    assert len(counted_steps(100)) == 10 and {0, 99} <= counted_steps(100)
