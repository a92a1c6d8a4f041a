"""Poses of mocap bodies and applied forces, against MuJoCo's; what they are before and after they are written."""

import mujoco
import numpy as np
import pytest
import torch

import tumble
from tumble.physics import Model, RigidSolver
from tumble.physics.solver.solver import NON_FINITE

from .starts import run_in_columns

XML = """<mujoco><option timestep="0.004"/><worldbody>
<geom type="plane" size="5 5 1"/>
<body name="hand" mocap="true" pos="0 0 .35" quat="1 .2 0 0">
  <geom type="capsule" size=".1 .2"/>
  <body pos=".3 0 0" quat="1 0 .5 0"><geom type="sphere" size=".1"/><site name="palm" pos="0 0 .1"/></body>
</body>
<body name="ball" pos="0 0 .09"><freejoint/><geom type="sphere" size=".1"/></body>
<body name="second hand" mocap="true" pos="2 0 1"><geom type="sphere" size=".1"/></body>
<body pos="1 0 .8">
  <joint axis="0 1 0" damping=".1"/><geom type="capsule" size=".04 .2"/>
  <body pos="0 0 .4"><joint type="ball"/><geom type="capsule" size=".04 .2" pos=".1 0 .2"/></body>
</body>
</worldbody></mujoco>"""
COUNT = 24
FORWARD = ("xpos", "geom_xpos", "site_xpos", "qfrc_smooth", "qacc_smooth", "qacc", "cfrc_ext")
TOLERANCE = {"64": 1e-10, "32": 2e-3}
"""Of the largest number of a quantity: stiff contacts turn the rounding of a pose into a force."""
INPUTS = ("mocap_pos", "mocap_quat", "qfrc_applied", "xfrc_applied")


def start(columns: bool, precision: str) -> None:
    if columns:
        run_in_columns(precision=precision)
    else:
        tumble.init(precision=precision)


def made(integrator: str = "Euler") -> Model:
    return Model.from_mjcf(XML.replace("<option", f'<option integrator="{integrator}"'))


def states(mj: mujoco.MjModel) -> dict[str, np.ndarray]:
    """Coordinates and inputs (COUNT, ...); every other environment has a hand that pushes the ball."""
    rng = np.random.default_rng(0)
    mocap = np.flatnonzero(mj.body_mocapid >= 0)
    found = {
        "qpos": mj.qpos0 + 0.02 * rng.standard_normal((COUNT, mj.nq)),
        "qvel": rng.standard_normal((COUNT, mj.nv)),
        "mocap_pos": mj.body_pos[mocap] + 0.1 * rng.standard_normal((COUNT, mj.nmocap, 3)),
        "mocap_quat": rng.standard_normal((COUNT, mj.nmocap, 4)),
        "qfrc_applied": rng.standard_normal((COUNT, mj.nv)),
        "xfrc_applied": rng.standard_normal((COUNT, mj.nbody, 6)),
    }
    found["mocap_pos"][::2, 1] = (0.05, 0, 0.25)
    return {name: np.float64(np.float32(numbers)) for name, numbers in found.items()}


def apply(solver: RigidSolver, given: dict[str, np.ndarray]) -> None:
    solver.set_state(given["qpos"], given["qvel"])
    solver.set_inputs(**{name: given[name] for name in INPUTS})


@pytest.mark.parametrize(
    ("precision", "columns"), [("64", False), ("32", False), pytest.param("64", True, marks=pytest.mark.slow)]
)
def test_as_in_mujoco(precision, columns):
    start(columns, precision)
    for integrator in ("Euler", "implicitfast", "RK4"):
        model = made(integrator)
        solver, given = RigidSolver(model, COUNT), states(model.mj)
        apply(solver, given)
        solver.forward()
        found = {name: solver.get(name).numpy() for name in FORWARD}
        solver.step()
        found |= {name: getattr(solver, name).numpy() for name in ("qpos", "qvel")}
        found |= {f"{name} after": solver.get(name).numpy() for name in ("qacc", "cfrc_ext")}
        touching = 0
        for env in range(COUNT):
            expected, ncon = in_mujoco(model.mj, {name: numbers[env] for name, numbers in given.items()})
            touching += ncon
            for name, numbers in expected.items():
                size = max(1.0, np.abs(numbers).max())
                assert np.abs(found[name][env] - numbers.reshape(found[name][env].shape)).max() <= (
                    TOLERANCE[precision] * size
                ), (integrator, name, env)
        assert touching >= COUNT / 2


def in_mujoco(mj: mujoco.MjModel, given: dict[str, np.ndarray]) -> tuple[dict[str, np.ndarray], int]:
    """Quantities after mj_forward, and after mj_step; and how many contacts a hand has."""
    data = mujoco.MjData(mj)
    for name, numbers in given.items():
        getattr(data, name)[:] = numbers
    mujoco.mj_forward(mj, data)
    mujoco.mj_rnePostConstraint(mj, data)
    hands = mj.body_mocapid[mj.body_weldid[mj.geom_bodyid]] >= 0
    touching = sum(bool(hands[contact.geom].any()) for contact in data.contact)
    found = {name: np.array(getattr(data, name)) for name in FORWARD}
    mujoco.mj_step(mj, data)
    mujoco.mj_rnePostConstraint(mj, data)
    found |= {name: np.array(getattr(data, name)) for name in ("qpos", "qvel")}
    return found | {f"{name} after": np.array(getattr(data, name)) for name in ("qacc", "cfrc_ext")}, touching


@pytest.mark.parametrize("columns", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_what_inputs_are_before_and_after(columns):
    start(columns, "64")
    model = made()
    solver, given = RigidSolver(model, COUNT), states(model.mj)
    mocap = np.flatnonzero(model.mj.body_mocapid >= 0)
    assert np.array_equal(solver.mocap_pos[3].numpy(), model.mj.body_pos[mocap])
    assert np.array_equal(solver.mocap_quat[3].numpy(), model.mj.body_quat[mocap])
    solver.set_state(given["qpos"], given["qvel"])
    solver.step(3)
    without = solver.state_dict()["memory"]
    solver.reset()
    solver.set_inputs(xfrc_applied=np.zeros((model.mj.nbody, 6)))
    solver.set_state(given["qpos"], given["qvel"])
    solver.step(3)
    assert torch.equal(solver.state_dict()["memory"], without)  # forces of zero are none, to the bit
    apply(solver, given)
    solver.step(2)
    state, last = solver.state_dict(), solver.get("qfrc_smooth")
    for name in INPUTS:
        assert np.array_equal(getattr(solver, name).numpy(), given[name])
    solver.set_inputs([2], xfrc_applied=given["xfrc_applied"][:1])  # counts from the next evaluation on
    assert torch.equal(solver.get("qfrc_smooth"), last)
    other = RigidSolver(model, COUNT)
    other.load_state_dict(state)
    assert torch.equal(other.get("qfrc_smooth"), last)
    solver.load_state_dict(state)
    solver.step()
    other.step()
    assert torch.equal(other.state_dict()["memory"], solver.state_dict()["memory"])
    solver.reset([4])
    assert not solver.xfrc_applied[4].any() and not solver.qfrc_applied[4].any()
    assert np.array_equal(solver.mocap_pos[4].numpy(), model.mj.body_pos[mocap])
    assert np.array_equal(solver.mocap_pos[5].numpy(), given["mocap_pos"][5])


def test_a_broken_input_stops_its_environment_alone():
    tumble.init(precision="64")
    model = made()
    solver, given = RigidSolver(model, COUNT), states(model.mj)
    apply(solver, given)
    solver.step(2)
    expected = solver.qpos
    for name in INPUTS:
        broken = {n: numbers.copy() for n, numbers in given.items()}
        broken[name][7] = np.nan
        solver.reset()
        apply(solver, broken)
        solver.step(2)
        faults = solver.faults.numpy()
        assert faults[7] == NON_FINITE and not np.delete(faults, 7).any(), name
        assert np.array_equal(np.delete(solver.qpos.numpy(), 7, 0), np.delete(expected.numpy(), 7, 0)), name
        assert np.isfinite(solver.qpos.numpy()).all() and np.isfinite(solver.get("xpos").numpy()).all(), name


def test_mistakes_are_named():
    tumble.init(precision="64")
    solver = RigidSolver(made(), 3)
    with pytest.raises(ValueError, match=r"mocap_pos: expected shape \(3, 2, 3\), got \(3, 3\)"):
        solver.mocap_pos = np.zeros((3, 3))
    with pytest.raises(ValueError, match=r"xfrc_applied: expected shape \(1, 7, 6\)"):
        solver.set_inputs([1], xfrc_applied=np.zeros((3, 7, 6)))
    with pytest.raises(TypeError, match="no input is named 'force'; there are ctrl"):
        solver.set_inputs(force=np.zeros(3))
    with pytest.raises(IndexError):
        solver.set_inputs([3], qfrc_applied=np.zeros(10))
