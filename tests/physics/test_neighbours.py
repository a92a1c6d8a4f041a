"""No environment knows its neighbours, and a saved state is the whole of it, whatever mechanism a model has."""

import mujoco
import numpy as np
import pytest
import torch

from tumble.physics.solver.solver import NON_FINITE

from ..cases import cases
from .parity.catalogue import load
from .parity.reference import reference_model
from .parity.run import settings_of
from .parity.states import sample
from .parity.subjects import Tumble

pytestmark = pytest.mark.usefixtures("double")

MECHANISMS = (
    *("everything", "everything, implicit", "mixing, elliptic", "polynomials", "plastic", "activations", "pid"),
    *("delays", "dc_motor", "orientation", "transmissions", "adhesive_bodies", "actuator_inertia", "lifted", "fluid"),
    *("pairs_by_hand", "repeated_pairs", "surface_velocity", "adhesion", "equalities", "tendons", "tendon_paths"),
    *("frictionloss", "noslip"),
)
"""Models of the parity proof with code of their own; with an integrator after a comma."""
COUNT, BROKEN, STEPS = 12, 5, 10


def model_of(name: str) -> mujoco.MjModel:
    """Return the model of a name, with the settings of the parity proof."""
    file = name.removesuffix(", implicit")
    mjm = load(file)
    mjm = reference_model(mjm, **settings_of(mjm))
    if file != name:
        mjm.opt.integrator = int(mujoco.mjtIntegrator.mjINT_IMPLICIT)
    return mjm


@cases("name", MECHANISMS)
def test_environments_do_not_know_each_other(name, tmp_path):
    """All that a state has is the same to the bit in another order, beside a broken one, and from a file."""
    mjm = model_of(name)
    states, order = sample(mjm, COUNT), np.random.default_rng(0).permutation(COUNT)
    broken, sound = states[np.arange(COUNT)], np.arange(COUNT) != BROKEN
    broken.qvel[BROKEN, -1] = np.nan
    subjects = [Tumble(mjm, COUNT) for _ in range(4)]
    for subject, begin in zip(subjects, (states, states[order], broken), strict=False):
        subject.load(begin)
        subject.solver.step(STEPS)
    one, other, third, fourth = (subject.solver for subject in subjects)
    one.save(tmp_path / "state")
    fourth.load(tmp_path / "state")
    assert third.faults.nonzero().flatten().tolist() == [BROKEN] and int(third.faults[BROKEN]) & NON_FINITE
    found, turned, beside = (solver.state_dict() for solver in (one, other, third))
    for part in ("memory", "counters"):
        assert torch.equal(found[part][order], turned[part]), f"{part}, in another order"
        assert torch.equal(found[part][sound], beside[part][sound]), f"{part}, beside a broken environment"
    for solver in (one, fourth):
        solver.step(STEPS)
    assert all(map(torch.equal, one.state_dict().values(), fourth.state_dict().values())), "from a file"
    assert not torch.equal(one.state_dict()["memory"], found["memory"])
