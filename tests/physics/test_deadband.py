"""Springs with a dead band: MuJoCo with the force of such springs, numbers and memory of environments' own."""

import mujoco
import numpy as np
import pytest

from tumble.physics import Model, RigidSolver
from tumble.physics.model.loading.sanity import ModelLoadError

from ..models.purpose import FOLDER
from .own_forces import passive_force

pytestmark = pytest.mark.usefixtures("double")

LANES = ENVS = 4
STEPS = 300
EXACT = 1e-10
"""Tolerance after these steps in double precision, relative to the largest number."""
FILE = FOLDER / "deadband.xml"
XML = FILE.read_text()
NUMBERS = ("deadband_width", "deadband_stiffness", "deadband_creep")
JOINTS = ("knee", "rail", "wheel")


@pytest.fixture(scope="module")
def model():
    return Model.from_mjcf(FILE)


@pytest.fixture(scope="module")
def states(model):
    rng = np.random.default_rng(0)
    return rng.uniform(-1, 1, (ENVS, model.mj.nq)), rng.uniform(-2, 2, (ENVS, model.mj.nv))


@pytest.fixture(scope="module")
def own(model):
    """Numbers of each environment: width, stiffness, creep and where springs rest."""
    rng = np.random.default_rng(1)
    numbers = {name: model.mj.numeric(name).data * rng.uniform(0.5, 2.0, (ENVS, 3)) for name in NUMBERS}
    return numbers | {"qpos_spring": model.mj.qpos_spring + rng.uniform(-0.2, 0.2, (ENVS, model.mj.nq))}


def begin(solver, states):
    solver.reset()
    solver.set_state(*states)


def center_of(solver):
    return solver.get("deadband_center").numpy()


def mujocos(mjm, own, states, env):
    """MuJoCo's state after STEPS, where its springs rest at last, and the times at which each was beyond its band."""
    mjm.qpos_spring[:] = own["qpos_spring"][env]
    width, stiffness, creep = (own[name][env] for name in NUMBERS)
    places = np.array([mjm.joint(name).qposadr[0] for name in JOINTS])
    dofs = np.array([mjm.joint(name).dofadr[0] for name in JOINTS])
    center, beyond = mjm.qpos_spring[places].copy(), np.zeros(3, int)

    def excess(data):
        stretch = data.qpos[places] - center
        return np.sign(stretch) * np.maximum(np.abs(stretch) - width, 0.0)

    def force(mjm, data):
        pull = np.zeros(mjm.nv)
        pull[dofs] = -stiffness * excess(data)
        return pull

    data = mujoco.MjData(mjm)
    data.qpos[:], data.qvel[:] = states[0][env], states[1][env]
    with passive_force(force):
        for _ in range(STEPS):
            mujoco.mj_step(mjm, data)
            beyond += excess(data) != 0
            center += (1 - np.exp(-creep * mjm.opt.timestep)) * excess(data)
    return data, center, beyond


@pytest.mark.parametrize("integrator", ["EULER", "IMPLICITFAST", "RK4"])
def test_they_move_as_in_mujoco_with_their_force(own, states, integrator):
    model = Model.from_mjcf(FILE, integrator=int(getattr(mujoco.mjtIntegrator, f"mjINT_{integrator}")))
    solver = RigidSolver(model, ENVS, lanes=LANES)
    solver.update_parameters(own)
    begin(solver, states)
    solver.step(STEPS)
    seen = np.zeros(3, int)
    for env in range(ENVS):
        data, center, beyond = mujocos(model.editable(), own, states, env)
        seen += beyond
        for found, wanted in ((solver.qpos, data.qpos), (solver.qvel, data.qvel), (center_of(solver), center)):
            np.testing.assert_allclose(found[env], wanted, rtol=0, atol=EXACT * np.abs(wanted).max())
    assert ((seen / ENVS / STEPS > 0.1) & (seen / ENVS / STEPS < 0.9)).all(), "in its band, and beyond it"


@pytest.fixture(scope="module")
def solver(model):
    return RigidSolver(model, ENVS, lanes=LANES)


def test_a_reset_puts_the_band_where_the_spring_rests(model, own, solver, states):
    rest = [model.mj.joint(name).qposadr[0] for name in JOINTS]
    begin(solver, states)
    solver.step(STEPS)
    solver.reset()
    solver.forward()
    assert (center_of(solver) == model.mj.qpos_spring[rest]).all()
    solver.set_parameters("qpos_spring", own["qpos_spring"])
    solver.reset()
    solver.forward()
    assert (center_of(solver) == own["qpos_spring"][:, rest]).all()
    solver.set_parameters("qpos_spring", model.mj.qpos_spring)


def test_a_saved_state_goes_on_with_the_same_bits(model, own, states, solver, tmp_path):
    solver.update_parameters(own)
    begin(solver, states)
    solver.state.set(deadband_center=np.full((ENVS, 3), 0.3))
    solver.forward()
    assert (center_of(solver) == 0.3).all()
    solver.step(STEPS)
    solver.save(tmp_path / "state")
    solver.step(STEPS)
    other = RigidSolver(model, ENVS, lanes=LANES)
    other.load(tmp_path / "state")
    other.step(STEPS)
    assert (center_of(other) == center_of(solver)).all() and (center_of(other) != 0.3).any()
    assert (other.qpos == solver.qpos).all()


def test_neighbours_and_broken_environments_change_no_bit(own, states, solver):
    def run(numbers, qvel, center):
        solver.update_parameters(numbers)
        begin(solver, (states[0], qvel))
        solver.state.set(deadband_center=center)
        solver.step(STEPS)
        return solver.qpos.numpy(), center_of(solver)

    start = np.full((ENVS, 3), 0.1)
    qpos, center = run(own, states[1], start)
    others, second = [0, 2, 3], np.arange(ENVS)[:, None] == 1
    changed = {name: own[name] * np.where(second, 1.7, 1.0) for name in NUMBERS}
    for name, found in {
        "numbers": run(changed, states[1], start),
        "broken velocity": run(own, np.where(second, np.nan, states[1]), start),
        "broken center": run(own, states[1], np.where(second, np.nan, start)),
    }.items():
        assert (found[0][others] == qpos[others]).all() and (found[1][others] == center[others]).all(), name
        assert (found[0][1] != qpos[1]).any() and np.isfinite(found[1]).all(), name


def test_the_band_of_what_sleeps_stays():
    """It moves until the joint rests, beyond its band; a sleeping tree is as it was, to the bit."""
    body = (
        """<body pos="0 {y} 0"><joint name="{name}" axis="0 1 0" damping="5"/><geom size=".05" pos=".2 0 0"/></body>"""
    )
    solver = RigidSolver(
        Model.from_mjcf(
            f"""<mujoco><option timestep="0.01"><flag sleep="enable"/></option><custom>
            <text name="deadband_joints" data="a b"/><numeric name="deadband_width" data="0.1"/>
            <numeric name="deadband_stiffness" data="40"/><numeric name="deadband_creep" data="1e-4"/></custom>
            <worldbody>{body.format(y=0, name="a")}{body.format(y=1, name="b")}</worldbody></mujoco>"""
        ),
        ENVS,
        lanes=LANES,
    )
    for _ in range(60):
        solver.step(20)
        if solver.state.asleep.all():
            break
    assert solver.state.asleep.all() and (center_of(solver) > 0).all()
    solver.state.set([1], qvel=[[0.3, 0.0]])
    qpos, center = solver.qpos.numpy(), center_of(solver)
    solver.step(3)
    awake = ~solver.state.asleep.numpy()
    assert awake.sum() == 1 and awake[1, 0]
    assert ((center_of(solver) != center) == awake).all() and ((solver.qpos.numpy() != qpos) == awake).all()


def test_without_springs_there_are_none(states):
    solver = RigidSolver(Model.from_mjcf(FILE, disableflags=["spring"]), ENVS, lanes=LANES)
    begin(solver, states)
    solver.forward()
    before = center_of(solver)
    assert (solver.get("qfrc_passive").numpy() == -solver.model.mj.dof_damping * states[1]).all()
    solver.step(3)
    solver.forward()
    assert (center_of(solver) == before).all()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("knee rail wheel", "knee rial wheel", "custom text 'deadband_joints': no joint is named 'rial'"),
        ("knee rail wheel", "knee rail knee", "custom text 'deadband_joints' names joint 'knee' twice"),
        ('name="rail" type="slide"', 'name="rail" type="ball"', "joint 'rail' is neither a hinge nor a slide"),
        ("30 400 5", "30 400", "custom numeric 'deadband_stiffness' has 2 numbers for the 3 names of custom text"),
        (
            "30 400 5",
            "30 -400 5",
            r"deadband_stiffness\[1\] -400 is negative; it must be a finite number of at least 0",
        ),
        ('"deadband_width"', '"deadband_weight"', "asks for a custom numeric 'deadband_width', and there is none"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused(old, new, message, tmp_path):
    assert XML.count(old) == 1
    (tmp_path / "wrong.xml").write_text(XML.replace(old, new))
    with pytest.raises(ModelLoadError, match=rf"wrong\.xml: .*{message}"):
        Model.from_mjcf(tmp_path / "wrong.xml")


def test_numbers_that_make_no_sense_are_refused(solver):
    with pytest.raises(ValueError, match=r"deadband_width\[0\] of environment 0 is -0.1: it must not be negative"):
        solver.set_parameters("deadband_width", [-0.1, 0, 0])
    with pytest.raises(ValueError, match=r"deadband_creep: expected shape \(4, 3\)"):
        solver.set_parameters("deadband_creep", [1.0, 2.0])


def test_its_elements_are_not_unused(model):
    assert not [line for line in model.unused if "deadband" in line]
