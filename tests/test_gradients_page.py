"""The programs of the page on derivatives do what it says, and in MuJoCo the same controls do the same."""

import re
import sys
from copy import copy
from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
import torch

from .page_programs import ROOT, page
from .physics.starts import run_with
from .test_page_programs import in_a_process

PROGRAMS = ROOT / "examples" / "gradients"
SAME_MOTION = 1e-8  # of MuJoCo's, m, rad, m/s, rad/s: rounding, which these motions amplify by up to 1e6

ERROR_OF_DIFFERENCES = 0.05  # of a cost: at contacts that just close, differences take neither side


@pytest.fixture
def programs(monkeypatch):
    """The modules of the programs, in double precision."""
    monkeypatch.syspath_prepend(str(PROGRAMS))
    run_with("64")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    import balance
    import in_mujoco
    import mpc

    yield SimpleNamespace(balance=balance, in_mujoco=in_mujoco, mpc=mpc)
    torch.set_num_threads(threads)
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", "")).startswith(str(PROGRAMS)):
            del sys.modules[name]


def in_mujoco(dynamics, states, controls):
    """Return the states of MuJoCo's C under some controls, one after the other."""
    found = [dynamics.begin(states[0])[0]]
    found += [dynamics.step(u[None])[0] for u in controls]
    return np.stack(found)


@pytest.mark.parametrize("name", ["acrobot", "hopper"])
def test_it_is_brought_up_and_stays_up(programs, name):
    """From disturbed starts, too; MuJoCo moves in the same way under the plan, and under its feedback."""
    balance = programs.balance
    planner, start = getattr(balance, name)()
    plan, costs = balance.solve(planner, start)
    assert costs[-1] < 0.005 * costs[0]
    dynamics = planner.dynamics
    one = programs.in_mujoco.InMujoco(dynamics.model, 1, 1, dynamics.n)
    assert np.abs(in_mujoco(one, plan.states, plan.controls) - plan.states).max() < SAME_MOTION

    held, noise = balance.rest(planner, plan), np.random.default_rng(0)
    starts = start + balance.DISTURBANCE * noise.standard_normal((balance.TRIALS, len(start)))
    states = balance.play(dynamics, plan, held, starts, 2 * dynamics.horizon)
    assert balance.standing(dynamics, states[-1], held) == balance.TRIALS
    many = programs.in_mujoco.InMujoco(dynamics.model, 1, balance.TRIALS, dynamics.n)
    judged = balance.play(many, plan, held, starts, 2 * dynamics.horizon)
    assert np.abs(judged - states).max() < SAME_MOTION
    rests = judged[-1]
    if name == "acrobot":
        assert np.cos(rests[:, 0]).min() > 0.999 and np.cos(rests[:, 0] + rests[:, 1]).min() > 0.999
    else:
        assert rests[:, 1].min() > 1.1 and np.abs(rests[:, 2]).max() < 0.05


def test_derivatives_by_differences_lead_there_too(programs):
    """The first iterations have the costs of those with mjd_transitionFD, until contacts amplify the differences."""
    balance, in_mujoco = programs.balance, programs.in_mujoco
    (_, ours), (_, theirs) = (balance.solve(*balance.hopper(d), most=6) for d in (balance.Dynamics, in_mujoco.InMujoco))
    np.testing.assert_allclose(ours, theirs, rtol=ERROR_OF_DIFFERENCES)


def test_the_quadruped_keeps_to_its_path_and_survives_a_push(programs):
    """For 3 s, with the push after 1.5; MuJoCo's quadruped goes the same way under the same controls."""
    mpc, at = programs.mpc, 75
    walked = mpc.walk(seconds=3.0, push=(at * mpc.PERIOD, 1.0))
    off = np.linalg.norm(walked.states[:, :2] - walked.path[: len(walked.states), :2], axis=1)
    assert off[:at].max() < 0.03 and 0.08 < off.max() < 0.15 and off[-1] < 0.05
    assert walked.states[-1, 0] > 1.7  # of 1.94 m
    assert walked.states[:, 2].min() > 0.27

    real = programs.in_mujoco.InMujoco(walked.model, 1, 1, mpc.STEPS)
    before = in_mujoco(real, walked.states[: at + 1], walked.controls[:at])
    assert np.abs(before - walked.states[: at + 1])[:-1].max() < SAME_MOTION
    after = in_mujoco(real, walked.states[at:], walked.controls[at:])
    assert np.abs(after - walked.states[at:]).max() < SAME_MOTION


@pytest.mark.slow
@pytest.mark.parametrize(("extra", "friction", "stands"), [(3.0, 1.0, True), (0.0, 0.7, True), (0.0, 0.5, False)])
def test_a_plan_for_another_robot(programs, extra, friction, stands):
    """A heavier trunk and less friction do no harm, as the page says; with half of it the push is too much."""

    class Other(programs.in_mujoco.InMujoco):
        def __init__(self, model, horizon, trials, n):
            super().__init__(model, horizon, trials, n)
            self.mj = copy(model.mj)
            self.mj.body_mass[self.mj.body("trunk").id] += extra
            self.mj.geom_friction[:, 0] *= friction
            self.data = [mujoco.MjData(self.mj)]

    walked = programs.mpc.walk(seconds=6.0, world=Other)
    assert (walked.states[:, 2].min() > 0.25) == stands
    off = np.linalg.norm(walked.states[-1, :2] - walked.path[300, :2])
    assert (off < 0.05) == stands


@pytest.mark.slow
def test_the_programs_run_and_draw(tmp_path):
    """As on the page; distances and costs are those that it gives."""
    printed = in_a_process([str(PROGRAMS / "balance.py"), "--picture", "both.png", "--curves", "costs.png"], tmp_path)
    assert printed.count("16 of 16 stand still") == 2
    printed = in_a_process([str(PROGRAMS / "mpc.py"), "--picture", "mpc.png"], tmp_path)
    said = re.search(r"walks (\S+) m in 8 s .*? its path by (\S+) m,", page("gradients"), re.DOTALL)
    far, off = re.search(r"walked (\S+) m in 8 s, at most (\S+) m", printed).groups()
    assert abs(float(far) - float(said[1])) < 0.1 and abs(float(off) - float(said[2])) < 0.02
    assert all((tmp_path / name).stat().st_size > 10_000 for name in ("both.png", "costs.png", "mpc.png"))
