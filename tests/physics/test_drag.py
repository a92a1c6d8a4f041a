"""Drag of geoms: MuJoCo with the same force, coefficients of environments' own, and a terminal velocity."""

import mujoco
import numpy as np
import pytest

from tumble.physics import Model, RigidSolver
from tumble.physics.files.mjmodel.allowed import POSITIVE
from tumble.physics.model.loading.sanity import ModelLoadError
from tumble.physics.model.parts import NUMBERS as ALL_NUMBERS

from ..models.purpose import FOLDER
from .own_forces import passive_force

pytestmark = pytest.mark.usefixtures("double")

LANES = ENVS = 4
STEPS = 200
EXACT = 1e-10
"""Tolerance after these steps in double precision, relative to the largest number."""
FILE = FOLDER / "drag.xml"
XML = FILE.read_text()
NAMES = ("left", "right", "tail", "disc")
NUMBERS = ("drag_coefficient", "drag_area", "drag_density")


@pytest.fixture(scope="module")
def model():
    return Model.from_mjcf(FILE)


@pytest.fixture(scope="module")
def states(model):
    """Velocities that are fast for the wind: (ENVS, nq) and (ENVS, nv)."""
    rng = np.random.default_rng(0)
    qpos = np.tile(model.mj.qpos0, (ENVS, 1))
    qvel = rng.normal(0, 3, (ENVS, model.mj.nv))
    for row, moved in zip(qpos, qvel, strict=True):
        mujoco.mj_integratePos(model.mj, row, moved, 0.3)
    return qpos, qvel


@pytest.fixture(scope="module")
def own(model):
    """Numbers of each environment; one has no drag on two of its geoms."""
    rng = np.random.default_rng(1)
    numbers = {n: model.mj.numeric(n).data * rng.uniform(0.5, 2.0, (ENVS, 1)) for n in NUMBERS}
    numbers["drag_coefficient"] = numbers["drag_coefficient"] * rng.uniform(0.5, 2.0, (ENVS, 4))
    numbers["drag_coefficient"][2, 1:3] = 0.0
    return numbers | {"wind": rng.normal(0, 2, (ENVS, 3))}


@pytest.fixture(scope="module")
def solver(model):
    return RigidSolver(model, ENVS, lanes=LANES)


def begin(solver, states):
    solver.reset()
    solver.set_state(*states)


def mujocos(mjm, own, states, env, steps):
    """MuJoCo's state after so many steps, and the drag where the last evaluation was."""
    mjm.opt.wind[:] = own["wind"][env]
    share = 0.5 * own["drag_density"][env] * own["drag_area"][env] * own["drag_coefficient"][env]
    last = np.zeros(mjm.nv)

    def force(mjm, data):
        last[:] = 0
        for name, constant in zip(NAMES, share, strict=True):
            jacobian = np.zeros((3, mjm.nv))
            geom = mjm.geom(name).id
            mujoco.mj_jac(mjm, data, jacobian, None, data.geom_xpos[geom], mjm.geom_bodyid[geom])
            velocity = jacobian @ data.qvel - mjm.opt.wind
            last[:] -= jacobian.T @ (constant * np.sqrt(velocity @ velocity) * velocity)
        return last

    data = mujoco.MjData(mjm)
    data.qpos[:], data.qvel[:] = states[0][env], states[1][env]
    with passive_force(force):
        if steps:
            mujoco.mj_step(mjm, data, steps)
        else:
            mujoco.mj_forward(mjm, data)
    return data, last


def assert_close(ours, theirs):
    np.testing.assert_allclose(np.asarray(ours), theirs, rtol=0, atol=EXACT * np.abs(theirs).max())


def test_the_force_is_the_formulas(model, own, solver, states):
    solver.update_parameters(own)
    begin(solver, states)
    solver.forward()
    for env in range(ENVS):
        data, drag = mujocos(model.editable(), own, states, env, 0)
        assert np.abs(drag).max() > 0.5
        assert_close(solver.get("qfrc_drag")[env], drag)
        assert_close(solver.get("qfrc_passive")[env], data.qfrc_passive)


@pytest.mark.parametrize("integrator", ["EULER", "IMPLICITFAST", "RK4"])
def test_bodies_move_as_in_mujoco_with_the_force(own, states, integrator):
    model = Model.from_mjcf(FILE, integrator=int(getattr(mujoco.mjtIntegrator, f"mjINT_{integrator}")))
    solver = RigidSolver(model, ENVS, lanes=LANES)
    solver.update_parameters(own)
    begin(solver, states)
    solver.step(STEPS)
    for env in range(ENVS):
        data, _ = mujocos(model.editable(), own, states, env, STEPS)
        assert_close(solver.qpos[env], data.qpos)
        assert_close(solver.qvel[env], data.qvel)


def test_a_disc_falls_at_its_terminal_velocity(model, solver):
    """Weight = 1/2 rho c A v^2, where there is no wind; the disc's centre is not that of its body's frame."""
    solver.update_parameters({n: model.mj.numeric(n).data for n in NUMBERS} | {"wind": np.zeros(3)})
    solver.reset()
    solver.step(4000)
    density, area, coefficient = (solver.get_parameters(n)[0, -1] for n in ("drag_density", *NUMBERS[1::-1]))
    speed = np.sqrt(2 * model.mj.body_mass[3] * 9.81 / float(density * area * coefficient))
    np.testing.assert_allclose(solver.qvel[:, 6], -speed, rtol=1e-9)


def test_neighbours_and_broken_environments_change_no_bit(own, solver, states):
    def run(numbers, qvel):
        solver.update_parameters(numbers)
        begin(solver, (states[0], qvel))
        solver.step(20)
        return solver.qvel.numpy()

    clean, others, second = run(own, states[1]), [0, 2, 3], np.arange(ENVS)[:, None] == 1
    neighbour = own | {"drag_coefficient": own["drag_coefficient"] * np.where(second, 3.0, 1.0)}
    for found in (run(neighbour, states[1]), run(own, np.where(second, np.nan, states[1]))):
        assert (found[others] == clean[others]).all() and (found[1] != clean[1]).any() and np.isfinite(found).all()


def test_a_saved_state_has_the_numbers_of_environments(model, own, solver, states, tmp_path):
    solver.update_parameters(own)
    begin(solver, states)
    solver.step(20)
    solver.save(tmp_path / "state")
    solver.step(20)
    other = RigidSolver(model, ENVS, lanes=LANES)
    other.load(tmp_path / "state")
    assert (other.get_parameters("drag_coefficient").numpy() == own["drag_coefficient"]).all()
    other.step(20)
    assert (other.qvel == solver.qvel).all()
    other.reset(parameters={"drag_coefficient": 0.0})
    other.forward()
    assert (other.get("qfrc_drag") == 0).all()


def test_without_passive_forces_there_is_none(states):
    solver = RigidSolver(Model.from_mjcf(FILE, disableflags=["spring", "damper"]), ENVS, lanes=LANES)
    begin(solver, states)
    solver.forward()
    assert (solver.get("qfrc_passive") == 0).all()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("left right", "left write", "custom text 'drag_geoms': no geom is named 'write'"),
        ("<worldbody>", "<worldbody><geom name='wall' size='1'/>", ""),
        ("0.3 0.25 0.1 0.2", "0.3 0.25", "custom numeric 'drag_area' has 2 numbers for the 4 names"),
        ('"drag_density" data="1.2"', '"drag_density" data="-1.2"', r"drag_density\[0\] -1.2 is negative"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused(old, new, message, tmp_path):
    xml = XML.replace(old, new)
    if not message:
        xml, message = xml.replace("left right", "left wall"), "geom 'wall' is fixed to the world"
    assert xml != XML
    (tmp_path / "wrong.xml").write_text(xml)
    with pytest.raises(ModelLoadError, match=rf"wrong\.xml: .*{message}"):
        Model.from_mjcf(tmp_path / "wrong.xml")


def test_numbers_that_make_no_sense_are_refused(solver):
    with pytest.raises(ValueError, match=r"drag_coefficient\[2\] of environment 0 is -1: it must not be negative"):
        solver.set_parameters("drag_coefficient", [1, 0, -1, 1])


def test_a_number_that_must_be_above_0_is_refused_at_0(solver, monkeypatch):
    """A number of a part is checked by the part's rule, in a file and for environments."""
    positive = {name: ALL_NUMBERS[name]._replace(allowed=POSITIVE) for name in ("drag_area", "drag_density")}
    for name, number in positive.items():
        monkeypatch.setitem(ALL_NUMBERS, name, number)
    with pytest.raises(ValueError, match=r"drag_area\[1\] of environment 0 is 0: it must be above 0"):
        solver.set_parameters("drag_area", [1, 0, 1, 1])
    with pytest.raises(ModelLoadError, match=r"drag_density\[0\] 0 is not above 0; it must be a finite number above 0"):
        Model.from_mjcf(XML.replace('"drag_density" data="1.2"', '"drag_density" data="0"'))
