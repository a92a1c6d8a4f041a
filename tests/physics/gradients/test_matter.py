"""Derivatives with wrenches of matter: they are inputs, held in the world's frame; what couplers read has none."""

import mujoco
import numpy as np
import pytest
import torch

from tumble.physics import Model, RigidSolver

from .test_graph import BOX, COUNT, XML, drawn

pytestmark = pytest.mark.usefixtures("double")

PUSHED, STEPS = [1, 3], 4
DISTANCE, TOLERANCE = 1e-6, 1e-7
"""Of central differences, and of a derivative and 1: rounding of the differences, as in `test_graph`."""
WITHIN = 1e-6
"""Of MuJoCo's differences, relative to 1: they are 2e-7 off."""


def begun(model, requires_grad=False, height=0.0):
    """A solver in states in which the box stands on the plane, or is in the air at a height (m)."""
    solver, given = RigidSolver(model, COUNT, requires_grad=requires_grad), drawn()
    given["qpos"][:, 2] += height
    solver.set_state(**{name: given[name] for name in ("qpos", "qvel", "act")})
    solver.inputs.set(ctrl=given["ctrl"], mocap_pos=given["mocap_pos"][:, None])
    return solver


def wrenches():
    return torch.from_numpy(np.random.default_rng(3).normal(0, 0.5, (COUNT, len(PUSHED), 6)))


def moved(solver, wrench):
    """Steps under wrenches that depend on the state after the first of them, as a coupler's do."""
    solver.coupling.push(PUSHED, wrench)
    solver.step(STEPS)
    place = solver.qpos[:, None, :3]
    if solver.model.mj.opt.integrator != mujoco.mjtIntegrator.mjINT_RK4:  # with it, quantities have no gradients
        place = solver.coupling.poses([1]).pos
    solver.coupling.push([1], wrench[:, :1] * (1.0 + place[:, :, :1]))
    solver.step()
    return torch.cat((solver.qpos, solver.qvel), 1)


@pytest.mark.parametrize("integrator", ["implicitfast", pytest.param("RK4", marks=pytest.mark.slow)])
def test_gradients_by_the_wrenches_are_differences(integrator):
    model, wrench = Model.from_mjcf(XML, integrator=integrator, matter=True), wrenches().requires_grad_()
    solver, weights = begun(model, requires_grad=True), torch.linspace(0.5, 1.5, model.mj.nq + model.mj.nv)
    found = moved(solver, wrench)
    (found * weights.double()).sum().backward()
    assert (wrench.grad.abs() > 1e-5).all(), "each of them matters"

    def value(wrench):
        return (moved(begun(model), wrench) * weights.double()).sum()

    assert torch.equal(moved(begun(model), wrench.detach()), found.detach())
    rng = np.random.default_rng(4)
    for _ in range(4):
        along = torch.from_numpy(rng.standard_normal(wrench.shape))
        ends = (value(wrench.detach() + sign * DISTANCE * along) for sign in (1, -1))
        difference = (next(ends) - next(ends)) / (2 * DISTANCE)
        np.testing.assert_allclose((wrench.grad * along).sum(), difference, rtol=TOLERANCE, atol=TOLERANCE)


def test_jacobians_of_a_step_are_those_under_the_wrench():
    """MuJoCo's, with the same xfrc_applied, by differences, where the box is in the air."""
    model, wrench = Model.from_mjcf(XML, tolerance=1e-15, matter=True), 20.0 * wrenches()
    solver, (box, arm) = begun(model, height=1.0), PUSHED
    solver.coupling.push(PUSHED, wrench)
    found, nv = solver.gradients.transition(), model.mj.nv
    assert found.A.shape == (COUNT, 2 * nv + model.mj.na, 2 * nv + model.mj.na)
    for env in range(COUNT):
        data, size = mujoco.MjData(model.mj), 2 * nv + model.mj.na
        for name in ("qpos", "qvel", "act", "ctrl", "mocap_pos"):
            getattr(data, name)[:] = getattr(solver, name)[env]
        data.xfrc_applied[[box, arm]] = wrench[env]
        A, B = np.zeros((size, size)), np.zeros((size, model.mj.nu))
        mujoco.mjd_transitionFD(model.mj, data, 1e-6, True, A, B, None, None)
        np.testing.assert_allclose(found.A[env], A, rtol=0, atol=WITHIN)
        np.testing.assert_allclose(found.B[env], B, rtol=0, atol=WITHIN)
    still = begun(model, height=1.0)
    assert (still.gradients.transition().A - found.A)[:, nv:, :nv].abs().max() > 1e-3, "the wrench matters"


def test_what_has_no_gradient_is_refused_by_name():
    solver = begun(Model.from_mjcf(XML, matter=True), requires_grad=True)
    assert solver.coupling.bodies([1]).root.shape == (COUNT, 1, 6, 6)
    solver.coupling.push([1], wrenches()[:, :1].requires_grad_())
    with pytest.raises(NotImplementedError, match=r"coupling\.bodies: .* no part of torch's graph; call it under"):
        solver.coupling.bodies([1])
    with torch.no_grad():
        assert solver.coupling.bodies([1]).com.shape == (COUNT, 1, 3)
    solver.step()
    assert solver.qvel[:, BOX].requires_grad
    solver.reset()
    solver.step()
    assert not solver.qvel.requires_grad and solver.coupling.bodies([1]).com.isfinite().all()
