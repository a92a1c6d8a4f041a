"""Wrenches of matter that another solver moves: MuJoCo with the same xfrc_applied; what couplers read of bodies."""

import mujoco
import numpy as np
import pytest
import torch

from tumble.physics import Model, RigidSolver
from tumble.physics.machine.runtime import ensure_runtime
from tumble.physics.model.features import Features
from tumble.physics.model.state.capacity import first_capacity
from tumble.physics.model.state.sizes import all_sizes, memory_groups
from tumble.physics.run.settings import NON_FINITE
from tumble.physics.solver.readout.body_inertia import SHARE

from .starts import run_in_columns, run_with

ENVS, STEPS, SETTLED = 4, 100, 20
EXACT = 1e-10
"""Tolerance in double precision, relative to the largest number: rounding, which contacts magnify in so many steps."""
NEAR = {"64": 1e-12, "32": 3e-5}
"""Of quantities at one state, relative to the largest number; in single precision of a matrix of condition 100."""
ROUGH = 2e-4
"""The same of states after the steps in single precision."""
XML = """<mujoco><option timestep="0.002" tolerance="1e-15"/><worldbody>
<geom type="plane" size="5 5 .1"/>
<body name="box" pos="0 0 .098"><freejoint/><geom name="box" type="box" size=".1 .08 .1" pos=".01 0 0"/>
  <body pos="0 0 .1"><geom name="knob" size=".03" pos="0 .02 0"/></body></body>
<body name="arm" pos="1 0 .8"><joint axis="0 1 .2" damping=".2" armature=".05" limited="true" range="-40 90"/>
  <geom name="arm" type="capsule" fromto="0 0 0 .3 0 0" size=".03" contype="0" conaffinity="0"/>
  <body name="hand" pos=".3 0 0"><joint axis="1 .1 0" damping=".1"/><joint type="slide" axis="0 0 1" stiffness="50"/>
    <geom name="hand" type="box" size=".05 .02 .1" euler="10 20 30" contype="0" conaffinity="0"/></body>
  <body name="other" pos=".15 .1 0"><joint type="ball"/>
    <geom size=".06" pos="0 .1 0" contype="0" conaffinity="0"/></body>
</body>
<body name="hinge" pos="-1 0 .5"><joint axis="0 1 0"/><geom type="box" size=".2 .05 .02" pos=".2 0 0"/></body>
<body name="loose" pos="0 2 1"><freejoint/><geom type="ellipsoid" size=".1 .06 .03" euler="20 30 40"/></body>
</worldbody></mujoco>"""
BOX, KNOB, ARM, HAND, OTHER, HINGE, LOOSE = range(1, 8)
INTEGRATORS = ("Euler", "implicitfast", "implicit", "RK4")
SLEEPY = """<mujoco><option timestep="0.002"><flag sleep="enable"/></option><worldbody>
<geom type="plane" size="5 5 .1"/>
<body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
<body pos="1 0 .1"><freejoint/><geom type="box" size=".1 .1 .1"/></body></worldbody></mujoco>"""


@pytest.fixture(params=["64", pytest.param("32", marks=pytest.mark.slow)])
def precision(request):
    run_with(request.param)
    return request.param


@pytest.fixture
def double():
    run_with("64")


def load(integrator="Euler", xml=XML, **options):
    return Model.from_mjcf(xml, integrator=integrator, **{"matter": True} | options)


def drawn(mj, count=ENVS):
    """States, and two wrenches on every body of every environment: qpos, qvel, (count, nbody, 6) twice."""
    rng = np.random.default_rng(0)
    qpos, qvel = np.tile(mj.qpos0, (count, 1)), rng.normal(0, 0.5, (count, mj.nv))
    for row in qpos:
        mujoco.mj_integratePos(mj, row, 0.1 * rng.standard_normal(mj.nv), 1.0)
    qvel[:, :6] *= 0.1  # the box stays on the plane
    size = np.repeat([1.0, 0.1], 3)
    return qpos, qvel, *(rng.normal(0, 1, (2, count, mj.nbody, 6)) * size)


def begun(model, count=ENVS):
    """A solver in such states, with the first wrenches of matter and the second ones of the user."""
    solver, (qpos, qvel, matter, users) = RigidSolver(model, count), drawn(model.mj, count)
    solver.set_state(qpos=qpos, qvel=qvel)
    solver.coupling.push(range(model.mj.nbody), matter)
    solver.set_inputs(xfrc_applied=users)
    return solver


def mujocos(mj, env, matter=1.0):
    """MuJoCo's data with the sum of both wrenches."""
    qpos, qvel, wrench, users = drawn(mj)
    data = mujoco.MjData(mj)
    data.qpos[:], data.qvel[:], data.xfrc_applied[:] = qpos[env], qvel[env], users[env] + matter * wrench[env]
    return data


def close(ours, theirs, within):
    """Assert that tensors are near MuJoCo's numbers, relative to the largest of these."""
    theirs = np.asarray(theirs)
    np.testing.assert_allclose(
        np.asarray(ours).reshape(theirs.shape), theirs, rtol=0, atol=within * np.abs(theirs).max()
    )


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_bodies_move_as_with_xfrc_applied_in_mujoco(integrator, precision):
    model = load(integrator)
    solver, within = begun(model), EXACT if precision == "64" else ROUGH
    solver.step(STEPS)
    for env in range(ENVS):
        data = mujocos(model.mj, env)
        mujoco.mj_step(model.mj, data, STEPS)
        close(solver.qpos[env], data.qpos, within)
        close(solver.qvel[env], data.qvel, within)
        without = mujocos(model.mj, env, matter=0.0)
        mujoco.mj_step(model.mj, without, STEPS)
        assert np.abs(data.qvel - without.qvel).max() > 0.1, "the matter matters"


def test_forces_and_accelerations_are_mujocos_with_the_sum(precision):
    """In MuJoCo cfrc_ext and cfrc_int count xfrc_applied, and qfrc_passive does not: here all count the matter."""
    model = load()
    solver = begun(model)
    solver.forward()
    assert solver.get("matter_wrench").shape == (ENVS, model.mj.nbody, 6)
    for env in range(ENVS):
        data = mujocos(model.mj, env)
        mujoco.mj_forward(model.mj, data)
        mujoco.mj_rnePostConstraint(model.mj, data)
        for name in ("cfrc_ext", "cfrc_int", "cacc", "qacc", "qacc_smooth", "qfrc_smooth", "qfrc_constraint"):
            close(solver.get(name)[env], getattr(data, name), 20 * NEAR[precision])
        pushed = np.zeros(model.mj.nv)
        for body, wrench in enumerate(solver.get("matter_wrench")[env].numpy().astype(float)):
            place = data.xipos[body]
            mujoco.mj_applyFT(model.mj, data, wrench[:3], wrench[3:], place, body, pushed)
        close(solver.get("qfrc_matter")[env], pushed, NEAR[precision])
        close(solver.get("qfrc_passive")[env], data.qfrc_passive + pushed, NEAR[precision])


def inverse_inertia(mj, data, body):
    """J M^-1 J' (6, 6) of a body at its centre of mass."""
    jacobian = np.zeros((6, mj.nv))
    mujoco.mj_jacBodyCom(mj, data, jacobian[:3], jacobian[3:], body)
    solved = np.zeros_like(jacobian)
    mujoco.mj_solveM(mj, data, solved, jacobian)
    return jacobian @ solved.T


@pytest.mark.parametrize("integrator", ["Euler", pytest.param("RK4", marks=pytest.mark.slow)])
def test_motion_and_inertia_of_bodies_are_mujocos(integrator, precision):
    """After steps, at the present state, and without the matter's wrenches; these stay."""
    model, ids = load(integrator), [HAND, BOX, OTHER, KNOB, LOOSE, HINGE, 0, ARM]
    solver, within = begun(model), NEAR[precision]
    solver.step(SETTLED)
    found, before = solver.coupling.bodies(ids), solver.get("matter_wrench")
    assert [part.shape[1:] for part in found] == [(8, 3), (8, 6), (8, 6), (8, 6, 6)]
    assert {part.dtype for part in found} == {solver.dtype}
    solver.forward()
    assert torch.equal(solver.get("matter_wrench"), before)
    for env in range(ENVS):
        data = mujocos(model.mj, env, matter=0.0)
        data.qpos[:], data.qvel[:] = solver.qpos[env], solver.qvel[env]
        mujoco.mj_forward(model.mj, data)
        mujoco.mj_rnePostConstraint(model.mj, data)
        velocity, acceleration = np.zeros((2, len(ids), 6))
        for k, body in enumerate(ids):
            for call, into in ((mujoco.mj_objectVelocity, velocity), (mujoco.mj_objectAcceleration, acceleration)):
                call(model.mj, data, mujoco.mjtObj.mjOBJ_BODY, body, into[k], 0)
        close(found.com[env], data.xipos[ids], within)
        close(found.velocity[env], np.roll(velocity, 3, axis=1), 10 * within)
        expected = np.roll(acceleration, 3, axis=1)
        expected[:, :3] += model.mj.opt.gravity  # MuJoCo's are less gravity
        close(found.acceleration[env], expected * (np.array(ids) > 0)[:, None], 100 * within)
        for k, body in enumerate(ids):
            root = found.root[env, k].numpy().astype(float)
            assert not np.triu(root, 1).any() and np.isfinite(root).all()
            expected = inverse_inertia(model.mj, data, body)
            np.testing.assert_allclose(root @ root.T, expected, rtol=0, atol=10 * within * expected.max(initial=1e-9))


def test_free_bodies_are_exact_and_others_nearly_so(double):
    """A free body has diag(1/m, R I^-1 R'); the part that is added to other bodies' inertia is SHARE of it."""
    model = load()
    solver = begun(model)
    root = solver.coupling.bodies([LOOSE, HINGE]).root
    for env in range(ENVS):
        data = mujocos(model.mj, env)
        mujoco.mj_forward(model.mj, data)
        axes = data.ximat[LOOSE].reshape(3, 3)
        expected = np.eye(6) / model.mj.body_mass[LOOSE]
        expected[3:, 3:] = axes / model.mj.body_inertia[LOOSE] @ axes.T
        free, hinge = (part.numpy() @ part.numpy().T for part in root[env])
        np.testing.assert_allclose(free, expected, rtol=1e-13, atol=1e-13 * expected.max())
        wanted = inverse_inertia(model.mj, data, HINGE)
        assert np.linalg.matrix_rank(wanted, tol=1e-9) == 1
        np.testing.assert_allclose(hinge, wanted, rtol=0, atol=2 * SHARE * wanted.max())


@pytest.mark.parametrize("integrator", ["Euler", pytest.param("RK4", marks=pytest.mark.slow)])
def test_the_acceleration_is_that_of_the_next_step(integrator, double):
    """Of a body in the air, and of one that contacts stop: with no wrench, and with the one that was foretold."""
    model = load(integrator)
    solver = begun(model)
    before, wrench = solver.coupling.bodies([BOX, LOOSE]), 3.0 * torch.ones((ENVS, 2, 6), dtype=torch.float64)
    solver.coupling.push(range(model.mj.nbody), np.zeros((ENVS, model.mj.nbody, 6)))
    state = solver.state_dict()
    for push in (0.0 * wrench, wrench):
        solver.load_state_dict(state)
        solver.coupling.push([BOX, LOOSE], push)
        solver.step()
        after, dt = solver.coupling.bodies([BOX, LOOSE]), model.mj.opt.timestep
        rate = ((after.velocity - before.velocity) / dt)[:, 1]
        inverse = (before.root @ before.root.mT)[:, 1]
        expected = before.acceleration[:, 1] + (inverse @ push[:, 1, :, None])[..., 0]
        # a force is that of the step to rounding; angular velocities turn the inertia, an error of the order of dt
        np.testing.assert_allclose(rate[:, :3], expected[:, :3], rtol=0, atol=1e-9)
        np.testing.assert_allclose(rate[:, 3:], expected[:, 3:], rtol=0.02, atol=0.02 * float(expected.abs().max()))


def test_poses_of_geoms_are_mujocos(precision):
    model, names = load(), ["hand", "box", "knob", "arm"]
    solver, geoms = begun(model), [load().mj.geom(name).id for name in names]
    solver.step(SETTLED)
    found = solver.coupling.poses(geoms)
    assert found.pos.shape == (ENVS, 4, 3) and found.mat.shape == (ENVS, 4, 3, 3)
    for env in range(ENVS):
        data = mujoco.MjData(model.mj)
        data.qpos[:] = solver.qpos[env]
        mujoco.mj_kinematics(model.mj, data)
        close(found.pos[env], data.geom_xpos[geoms], NEAR[precision])
        close(found.mat[env], data.geom_xmat[geoms].reshape(-1, 3, 3), NEAR[precision])


@pytest.mark.slow
def test_poses_and_inertia_are_of_environments_own_numbers(double):
    model = load()
    solver, geom = begun(model), model.mj.geom("hand").id
    moved, mass = np.tile(model.mj.geom_pos, (ENVS, 1, 1)), np.tile(model.mj.body_mass, (ENVS, 1))
    moved[2, geom], mass[2, LOOSE] = [0.1, 0.2, 0.3], 5.0
    solver.set_parameters("geom_pos", moved)
    solver.set_parameters("body_mass", mass)
    pos, root = solver.coupling.poses([geom]).pos, solver.coupling.bodies([LOOSE]).root
    for env in range(ENVS):
        data = mujoco.MjData(model.mj)
        data.qpos[:] = solver.qpos[env]
        mujoco.mj_kinematics(model.mj, data)
        axes = data.xmat[HAND].reshape(3, 3)
        close(pos[env, 0], data.xpos[HAND] + axes @ moved[env, geom], 1e-12)
        np.testing.assert_allclose((root @ root.mT)[env, 0, 0, 0], 1 / mass[env, LOOSE], rtol=1e-12)


def test_a_wrench_stays_until_it_is_overwritten(double):
    """Each coupler writes the bodies that it has."""
    solver, rng = RigidSolver(load(), ENVS), np.random.default_rng(2)
    one, other = rng.normal(0, 1, (ENVS, 2, 6)), torch.from_numpy(rng.normal(0, 1, (ENVS, 1, 6)))
    solver.coupling.push([HAND, BOX], one)
    solver.coupling.push([LOOSE], other)
    for _ in range(2):
        wrench = solver.get("matter_wrench").numpy()
        assert (wrench[:, [HAND, BOX]] == one).all() and (wrench[:, [LOOSE]] == other.numpy()).all()
        assert np.count_nonzero(wrench.any(axis=(0, 2))) == 3
        solver.step(3)
        assert not solver.xfrc_applied.any()
    solver.reset([1])
    assert not solver.get("matter_wrench")[1].any() and solver.get("matter_wrench")[[0, 2, 3]].any()
    solver.reset()
    assert not solver.get("matter_wrench").any()


def test_a_state_has_the_wrenches(double, tmp_path):
    solver, other = begun(load()), RigidSolver(load(), ENVS)
    solver.step(3)
    solver.save(tmp_path / "state")
    kept = solver.state_dict([2])
    solver.step(SETTLED)
    other.load(tmp_path / "state")
    other.step(SETTLED)
    for name, numbers in solver.state_dict().items():
        assert torch.equal(other.state_dict()[name], numbers), name
    other.load_state_dict(kept, [0])
    assert torch.equal(other.get("matter_wrench")[0], solver.get("matter_wrench")[2])


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 1e11])
def test_a_wrench_that_is_not_finite_stops_its_environment(wrong, double):
    clean, broken = begun(load()), begun(load())
    wrench = drawn(clean.model.mj)[2][:, [HAND]].copy()
    wrench[1, 0, 4] = wrong
    for solver in (clean, broken):
        solver.step(3)
    broken.coupling.push([HAND], wrench)
    for solver in (clean, broken):
        solver.step(5)
    others = [0, 2, 3]
    assert broken.faults.tolist() == [0, NON_FINITE, 0, 0] and not clean.faults.any()
    assert torch.equal(broken.qpos[others], clean.qpos[others]) and torch.equal(broken.qvel[others], clean.qvel[others])
    assert broken.qpos.isfinite().all() and broken.get("matter_wrench").isfinite().all()
    assert all(part.isfinite().all() for part in broken.coupling.bodies([HAND]))
    broken.reset([1])
    broken.step(5)
    assert not broken.faults.any()


def test_a_wrench_wakes_a_sleeping_tree_and_keeps_it_awake(double):
    """As xfrc_applied in MuJoCo; no wrench is 0, and wakes nobody."""
    model = Model.from_mjcf(SLEEPY, matter=True)
    solver, data, push = RigidSolver(model, ENVS), mujoco.MjData(model.mj), np.zeros((ENVS, 1, 6))
    for step in range(400):
        if step == 200:
            assert solver.asleep.all()
            solver.coupling.push([1], push)
            assert not solver.coupling.bodies([1, 2]).acceleration.any()
        if step == 210:
            assert solver.asleep.all()
            push[2, 0, 1] = data.xfrc_applied[1, 1] = 1.0
            solver.coupling.push([1], push)
        solver.step()
        mujoco.mj_step(model.mj, data)
        if step > 209:
            asleep = np.array(data.tree_asleep) >= 0
            assert solver.asleep.tolist() == [[True, True], [True, True], asleep.tolist(), [True, True]], step
    assert asleep.tolist() == [False, True]


def test_models_without_it_are_as_before(double):
    """They have no room for it, nor its code, and refuse in a sentence; without a wrench there is no force."""
    plain, model = load(matter=False), load()
    assert not Features.of(plain, single=False).matter and Features.of(model, single=False).matter
    memory = [memory_groups(all_sizes(each, first_capacity(each))) for each in (plain, model)]
    assert memory[1]["STATE"].stop - memory[0]["STATE"].stop == 6 * model.mj.nbody
    solvers = [RigidSolver(each, ENVS) for each in (plain, model)]
    for solver in solvers:
        solver.set_state(*drawn(model.mj)[:2])
        solver.step(SETTLED)
    assert torch.equal(solvers[0].qpos, solvers[1].qpos) and torch.equal(solvers[0].qvel, solvers[1].qvel)
    assert solvers[0].get("matter_wrench").numel() == solvers[0].get("qfrc_matter").numel() == 0
    coupling = solvers[0].coupling
    for call in (coupling.bodies, coupling.poses, lambda ids: coupling.push(ids, np.zeros((ENVS, 1, 6)))):
        with pytest.raises(ValueError, match=r"no wrench of matter; load it with the option matter=True"):
            call([1])
    with pytest.raises(ValueError, match="memory: saved as"):
        solvers[0].load_state_dict(solvers[1].state_dict())


def test_every_way_to_load_a_model_takes_the_option(double):
    spec = mujoco.MjSpec.from_string(SLEEPY)
    urdf = """<robot name="r"><link name="l"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""
    assert Model.from_mjspec(spec, matter=True).matter and not Model.from_mjspec(spec).matter
    assert Model.from_mjmodel(spec.compile(), matter=True).matter and Model.from_urdf(urdf, matter=True).matter
    with pytest.raises(ValueError, match="option matter: 1 is not True or False"):
        Model.from_mjcf(SLEEPY, matter=1)


def test_mistakes_are_named(double):
    coupling = RigidSolver(load(), ENVS).coupling
    with pytest.raises(IndexError, match=r"body: there is no 8; they are numbered 0 to 7"):
        coupling.bodies([1, 8])
    with pytest.raises(IndexError, match=r"geom: there is no -1"):
        coupling.poses([-1])
    with pytest.raises(ValueError, match=r"wrench: expected shape \(4, 2, 6\), got \(4, 1, 6\)"):
        coupling.push([1, 2], np.zeros((ENVS, 1, 6)))


@pytest.mark.slow
def test_a_gpus_driver_has_the_same_bits():
    """All that is read, too."""

    def read():
        solver = begun(load())
        solver.step(SETTLED)
        found = solver.coupling.bodies([HAND, BOX]), solver.coupling.poses([1, 2]), (solver.qpos, solver.qvel)
        assert {part.device for parts in found for part in parts} == {ensure_runtime().torch_device}
        return [part.clone() for parts in found for part in parts]

    run_with("64")
    exact = read()
    run_in_columns(precision="64")
    assert all(torch.allclose(ours, wanted, rtol=0, atol=1e-13) for ours, wanted in zip(read(), exact, strict=True))
