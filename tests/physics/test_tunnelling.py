"""How fast a body goes through a thin wall: at the speeds at which it does in MuJoCo, as docs/physics.md says."""

import mujoco
import numpy as np
import pytest

import tumble
from tumble.physics import Model, RigidSolver

THICKNESS, TIMESTEP, START = 0.02, 0.002, -0.3
RATIOS = np.linspace(0.05, 1.5, 30)
"""Speed times timestep over thickness."""


@pytest.fixture(autouse=True)
def single_precision_afterwards():
    """Later tests in this process make their solvers of the runtime that they find."""
    yield
    tumble.init(precision="32")


@pytest.mark.parametrize(("radius", "least", "most"), [(0.005, 0.2, 0.35), (0.02, 0.4, 0.65)])
def test_what_goes_through_a_wall(radius, least, most):
    tumble.init(precision="64")
    model = Model.from_mjcf(
        f'<mujoco><option timestep="{TIMESTEP}" gravity="0 0 0"/><worldbody>'
        f'<geom type="box" size="{THICKNESS / 2} 1 1"/>'
        f'<body><freejoint/><geom type="sphere" size="{radius}" mass="1"/></body></worldbody></mujoco>'
    )
    speed = RATIOS * THICKNESS / TIMESTEP
    qpos, qvel = np.tile(model.mj.qpos0, (len(RATIOS), 1)), np.zeros((len(RATIOS), 6))
    qpos[:, 0], qvel[:, 0] = START, speed
    steps = 400 + int(2 * -START / speed.min() / TIMESTEP)
    solver = RigidSolver(model, len(RATIOS))
    solver.set_state(qpos, qvel)
    solver.step(steps)
    found = solver.qpos[:, 0].numpy() > 0
    data = mujoco.MjData(model.mj)
    for env in range(len(RATIOS)):
        mujoco.mj_resetData(model.mj, data)
        data.qpos[:], data.qvel[:] = qpos[env], qvel[env]
        for _ in range(steps):
            mujoco.mj_step(model.mj, data)
        assert found[env] == (data.qpos[0] > 0), RATIOS[env]
    first = RATIOS[np.argmax(found)]
    assert not found[0] and found[-1] and least < first < most, first
