"""Parts that MuJoCo lacks, side by side in a model: on a GPU's driver and in single precision."""

from types import SimpleNamespace

import mujoco
import numpy as np
import pytest

from tumble.physics import Model, RigidSolver
from tumble.physics.base.hooks import Hook

from .starts import run_in_columns, run_with

# -- Parts that MuJoCo lacks, side by side in a model: on a GPU's driver and in single precision


ENVS, STEPS = 4, 60
XML = """<mujoco><option timestep="0.005" wind="3 1 0" integrator="implicitfast"/>
<custom>
  <text name="drag_geoms" data="sail"/><numeric name="drag_area" data="0.5"/>
  <numeric name="drag_coefficient" data="1.3"/><numeric name="drag_density" data="1.2"/>
  <text name="deadband_joints" data="mast"/><numeric name="deadband_width" data="0.1"/>
  <numeric name="deadband_stiffness" data="20"/><numeric name="deadband_creep" data="2"/>
</custom>
<worldbody><body>
  <joint name="mast" axis="0 1 0"/>
  <geom name="sail" type="box" size=".01 .3 .4" pos="0 0 -.5" density="50" contype="0" conaffinity="0"/>
</body></worldbody></mujoco>"""


def state_after_steps():
    """Return the state of environments with numbers of their own after steps, one of them reset."""
    solver = RigidSolver(Model.from_mjcf(XML), ENVS)
    solver.set_parameters("drag_coefficient", np.array([[1.3], [0.0], [4.0], [1.0]]))
    solver.set_parameters("deadband_width", np.array([[0.1], [0.0], [0.2], [0.1]]))
    solver.step(STEPS)
    solver.reset([3])
    solver.step(STEPS)
    found = [solver.get(name).double().numpy() for name in ("qpos", "qvel", "deadband_center", "qfrc_drag")]
    return [*found, solver.state_dict()["memory"].double().numpy()]


def test_what_steps_deliver_is_that_also_after_environments_differ():
    """The scratch then has room for parts that the file leaves off, and other fields in other places."""
    run_with("64", ENVS)
    model, names = Model.from_mjcf(XML), ("xipos", "xquat")
    solver, data = RigidSolver(model, ENVS, outputs=names), mujoco.MjData(model.mj)
    angles = np.linspace(0.1, 0.7, ENVS)[:, None]
    solver.set_state(qpos=angles)
    solver.set_parameters("drag_coefficient", np.array([[1.3], [0.0], [4.0], [1.0]]))
    solver.step(1)
    for k, angle in enumerate(angles):
        data.qpos[:] = angle
        mujoco.mj_kinematics(model.mj, data)
        for name in names:
            np.testing.assert_allclose(solver.get(name, [k])[0], getattr(data, name), atol=1e-15)


def test_single_precision_is_near():
    run_with("64", ENVS)
    exact = state_after_steps()
    assert all((numbers != 0).any(axis=1).sum() >= ENVS - 1 for numbers in exact), "one has no drag"
    run_with("32", ENVS)
    for numbers, wanted in zip(state_after_steps()[:-1], exact[:-1], strict=True):
        np.testing.assert_allclose(numbers, wanted, rtol=0, atol=1e-5 * np.abs(wanted).max())


@pytest.mark.slow
def test_a_gpus_driver_has_the_same_bits():
    run_with("64", ENVS)
    exact = state_after_steps()
    run_in_columns(precision="64")
    assert all((numbers == wanted).all() for numbers, wanted in zip(state_after_steps(), exact, strict=True))


# -- Hooks: several mechanisms may stand in one


def test_mechanisms_that_change_the_same_number_do_it_one_after_the_other():
    """Each gets what those before it have made of the usual number; those that a kernel has not are left out."""
    hook = Hook("(x, usual): return a number instead of `usual`.")
    hook.add("doubled", lambda x, usual: 2 * usual)
    hook.add("missing", lambda x, usual: 1 / 0)
    hook.add("shifted", lambda x, usual: usual + x)

    def found(doubled, shifted):
        return hook.around(SimpleNamespace(doubled=doubled, missing=False, shifted=shifted), lambda x: 10 + x)(3)

    assert [found(False, False), found(True, False), found(False, True), found(True, True)] == [13, 26, 16, 29]
