"""System identification and the throw: what the page on derivatives says of them, also in MuJoCo."""

import sys

import numpy as np
import pytest
import torch

from .physics.starts import run_with
from .test_gradients_page import PROGRAMS

FAR = 4.5
"""Standard deviations within which all of 35 numbers lie, but in one of 4,000 recordings."""
CHI2 = 0.9, 1.1
"""Of about 2,000 residuals: three standard deviations of their mean square are 0.1."""


@pytest.fixture
def programs(monkeypatch):
    """The modules of the programs, in double precision."""
    monkeypatch.syspath_prepend(str(PROGRAMS))
    run_with("64")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    import identify
    import throw

    yield {"identify": identify, "throw": throw}
    torch.set_num_threads(threads)
    for name in ("identify", "throw"):
        del sys.modules[name]


@pytest.mark.parametrize("name", ["puck", pytest.param("arm", marks=pytest.mark.slow)])
@pytest.mark.parametrize("simulator", ["mujoco", pytest.param("tumble", marks=pytest.mark.slow)])
def test_the_numbers_of_a_recording_are_found_within_their_error_bars(programs, name, simulator):
    identify = programs["identify"]
    move = getattr(identify, f"moved_in_{simulator}")
    model, unknowns, true, recording = identify.experiment(name, move=move)
    found = identify.identify(model, unknowns, recording)
    off = np.abs(np.log(found.factors / true)) / found.sigma
    assert off.max() < FAR
    assert np.mean(off < 1) > 0.5
    assert CHI2[0] < found.chi2 < CHI2[1]
    assert found.iterations < 10
    assert len(found.lost) == (name == "arm")  # the first link's mass turns about a vertical axis


def test_a_throw_is_found_by_its_gradient_and_lands_in_mujocos_basket(programs):
    throw = programs["throw"]
    thrower = throw.Throw()
    knots, history = throw.by_gradients(thrower)
    assert history[0] > 0.3
    assert history[-1] < throw.CLOSE
    assert len(history) <= 6
    _, states = throw.in_mujoco(thrower.commands(knots)[0].numpy())
    x, z = throw.BASKET
    assert abs(states[-1][2] - x) < 0.2 and states[-1][4] < z - 0.2
    _, misses = throw.in_mujoco(thrower.commands(throw.first_guess())[0].numpy())
    assert abs(misses[-1][2] - x) > 0.2
