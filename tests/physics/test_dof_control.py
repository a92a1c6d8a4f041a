"""Controls of dofs without actuators, against MuJoCo models that have `motor`, `velocity` and `position` there."""

import mujoco
import numpy as np
import pytest
import torch

import tumble
from tumble.physics import Model, RigidSolver
from tumble.physics.solver.solver import NON_FINITE

from .starts import run_in_columns

pytestmark = pytest.mark.usefixtures("double")

XML = """<mujoco><compiler angle="radian"/><option timestep="0.004" integrator="{integrator}">{flags}</option>
<worldbody>
<body pos="0 0 1">
  <joint name="hinge" axis="0 1 0" damping=".1" ref="0.3"/><geom type="capsule" size=".04 .2"/>
  <body pos="0 0 .4"><joint name="slide" type="slide" axis="0 .2 1" armature="0.05"/>
    <joint name="held" axis="1 0 0" actuatorfrcrange="-0.4 0.3"/><geom type="capsule" size=".04 .2" pos=".1 0 .2"/>
    <body pos="0 0 .3"><joint name="ball" type="ball"/><geom type="capsule" size=".04 .1" pos=".1 0 .1"/></body>
  </body>
</body>
<body name="drone" pos="2 0 1"><joint name="free" type="free"/><geom type="box" size=".1 .2 .05"/></body>
</worldbody>
<actuator><motor joint="hinge" gear="0.5"/>{actuators}</actuator></mujoco>"""
COUNT, LANES = 24, 4
JOINTS = ("hinge", "slide", "held", *["ball"] * 3, *["free"] * 6)
GEARS = (*["1"] * 3, *(" ".join(map(str, row)) for row in np.eye(3)), *(" ".join(map(str, row)) for row in np.eye(6)))
SINGLE = range(3)
"""Dofs that have a coordinate of their own."""
NONE, FORCE, VELOCITY, POSITION = range(4)
TOLERANCE = 1e-9
"""Relative to the largest number: rounding through a chain of bodies."""


def made(integrator="Euler", flags=""):
    return Model.from_mjcf(XML.format(integrator=integrator, flags=flags, actuators=""))


def drawn(model, seed=0):
    """States, and of every dof in every environment a mode, a target, gains and a range."""
    rng, nv = np.random.default_rng(seed), model.mj.nv
    mode = rng.integers(0, 4, (COUNT, nv))
    mode[:, len(SINGLE) :] = rng.integers(0, 3, (COUNT, nv - len(SINGLE)))
    low, high = -rng.uniform(0.3, 3, (COUNT, nv)), rng.uniform(0.3, 3, (COUNT, nv))
    free = rng.random((COUNT, nv)) < 0.5
    low[free], high[free] = -np.inf, np.inf
    qpos = model.mj.qpos0 + 0.3 * rng.standard_normal((COUNT, model.mj.nq))
    for q in (3, 10):
        qpos[:, q : q + 4] /= np.linalg.norm(qpos[:, q : q + 4], axis=1, keepdims=True)
    return {
        "qpos": qpos,
        "qvel": rng.standard_normal((COUNT, nv)),
        "ctrl": rng.uniform(-1, 1, (COUNT, model.mj.nu)),
        "mode": mode,
        "target": rng.standard_normal((COUNT, nv)),
        "kp": rng.uniform(0, 5, (COUNT, nv)),
        "kv": rng.uniform(0, 0.5, (COUNT, nv)),
        "low": low,
        "high": high,
    }


def put(solver, given):
    solver.set_state(given["qpos"], given["qvel"])
    solver.ctrl = given["ctrl"]
    solver.set_dofs_kp(given["kp"])
    solver.set_dofs_kv(given["kv"])
    solver.set_dofs_force_range(given["low"], given["high"])
    control(solver, given, range(COUNT))


def control(solver, given, envs):
    asks = (solver.control_dofs_force, solver.control_dofs_velocity, solver.control_dofs_position)
    for env in envs:
        for mode, ask in enumerate(asks, start=1):
            dofs = np.flatnonzero(given["mode"][env] == mode)
            if len(dofs):
                ask(given["target"][env, dofs], dofs, [env])


def with_actuators(integrator, flags, given, env):
    """A MuJoCo model whose actuators are the controls of an environment, and its data at that state."""
    lines, ctrl = [], list(given["ctrl"][env])
    for dof, mode in enumerate(given["mode"][env]):
        gains = {FORCE: "motor", VELOCITY: 'velocity kv="{kv!r}"', POSITION: 'position kp="{kp!r}" kv="{kv!r}"'}
        if mode == NONE:
            continue
        kind = gains[mode].format(kv=float(given["kv"][env, dof]), kp=float(given["kp"][env, dof]))
        limits = [float(given[name][env, dof]) for name in ("low", "high")]
        held = f'forcelimited="true" forcerange="{limits[0]!r} {limits[1]!r}"' if np.isfinite(limits[0]) else ""
        lines.append(f'<{kind} joint="{JOINTS[dof]}" gear="{GEARS[dof]}" {held}/>')
        ctrl.append(given["target"][env, dof])
    mj = mujoco.MjModel.from_xml_string(XML.format(integrator=integrator, flags=flags, actuators="".join(lines)))
    data = mujoco.MjData(mj)
    data.qpos[:], data.qvel[:], data.ctrl[:] = given["qpos"][env], given["qvel"][env], ctrl
    return mj, data


FLAGS = {"all": "", "actuation off": '<flag actuation="disable"/>'}


@pytest.mark.parametrize(
    ("integrator", "which"),
    [("Euler", "all"), ("implicitfast", "all"), ("RK4", "all"), ("implicitfast", "actuation off")],
)
def test_as_with_actuators_of_the_same_gains(integrator, which):
    """Modes, gains and ranges differ in every dof of every environment."""
    model = made(integrator, FLAGS[which])
    solver, given = RigidSolver(model, COUNT, lanes=LANES), drawn(model)
    put(solver, given)
    solver.forward()
    forces = solver.get("qfrc_actuator").numpy()
    solver.step(3)
    at_bound = 0
    for env in range(COUNT):
        mj, data = with_actuators(integrator, FLAGS[which], given, env)
        mujoco.mj_forward(mj, data)
        wanted = {"qfrc_actuator": (forces[env], np.array(data.qfrc_actuator))}
        at_bound += int(np.sum(data.qfrc_actuator == 0.3) + np.sum(data.qfrc_actuator == -0.4))
        for _ in range(3):
            mujoco.mj_step(mj, data)
        wanted |= {name: (getattr(solver, name)[env].numpy(), getattr(data, name)) for name in ("qpos", "qvel")}
        for name, (mine, theirs) in wanted.items():
            assert np.abs(mine - theirs).max() <= TOLERANCE * max(1.0, np.abs(theirs).max()), (env, name)
    assert at_bound >= 3 * (which == "all") and forces.any() == (which == "all")


@pytest.mark.slow
def test_single_precision_and_the_gpu_driver():
    for start, tolerance in (
        (lambda: tumble.init(precision="32"), 1e-4),
        (lambda: run_in_columns(precision="64"), 1e-9),
    ):
        start()
        model = made("implicitfast")
        solver, given = RigidSolver(model, COUNT, **({"lanes": LANES} if tolerance > 1e-6 else {})), drawn(model)
        put(solver, given)
        solver.step(3)
        for env in range(COUNT):
            mj, data = with_actuators("implicitfast", "", given, env)
            for _ in range(3):
                mujoco.mj_step(mj, data)
            assert np.abs(solver.qvel[env].cpu().numpy() - data.qvel).max() <= tolerance * np.abs(data.qvel).max(), env
    tumble.init(precision="64")


def test_what_resets_files_and_other_environments_do(tmp_path):
    model = made()
    solver, given = RigidSolver(model, COUNT, lanes=LANES), drawn(model)
    without = RigidSolver(model, COUNT, lanes=LANES)
    for each in (solver, without):
        each.set_state(given["qpos"], given["qvel"])
    solver.set_dofs_kp(given["kp"])
    solver.control_dofs_force(0.0, envs_idx=[2])
    for each in (solver, without):
        each.step(3)
    assert torch.equal(solver.qpos, without.qpos)  # no control and a force of zero are none, to the bit
    put(solver, given)
    solver.step(2)
    solver.save(tmp_path / "state")
    other = RigidSolver(model, COUNT, lanes=LANES)
    other.load(tmp_path / "state")
    for each in (solver, other):
        each.step(2)
    assert torch.equal(solver.qpos, other.qpos) and torch.equal(other.get_dofs_kp(), solver.get_dofs_kp())
    other.reset([4])
    low, high = other.get_dofs_force_range([1, 2], [4])
    bounds = np.clip([given["low"][4, 1:3], given["high"][4, 1:3]], -1e30, 1e30)
    assert np.array_equal(torch.cat((low, high)).numpy(), bounds)
    assert np.array_equal(other.get_dofs_kv(None, [4])[0].numpy(), given["kv"][4])
    other.forward([4])
    assert not other.get("qfrc_actuator", [4]).any() and other.get("qfrc_actuator", [5]).any()
    other.release_dofs()
    other.ctrl = np.zeros((COUNT, 1))
    other.forward()
    assert not other.get("qfrc_actuator").any()


def test_neighbours_change_no_bit_and_a_broken_target_stops_its_environment_alone():
    model = made("implicitfast")
    given = drawn(model)
    order = np.random.default_rng(1).permutation(COUNT)
    solvers = [RigidSolver(model, COUNT, lanes=LANES) for _ in range(3)]
    put(solvers[0], given)
    put(solvers[1], {name: numbers[order] for name, numbers in given.items()})
    put(solvers[2], given)
    given["mode"][7, 0], given["target"][7, 0] = VELOCITY, np.nan
    solvers[2].set_dofs_force_range(-1.0, 1.0, [0], [7])  # a range does not hide what is no number
    control(solvers[2], given, [7])
    for solver in solvers:
        solver.step(10)
    assert torch.equal(solvers[0].qpos[order], solvers[1].qpos)
    sound = np.arange(COUNT) != 7
    assert int(solvers[2].faults[7]) & NON_FINITE and not solvers[2].faults[sound].any()
    assert torch.equal(solvers[0].qpos[sound], solvers[2].qpos[sound])


def test_clear_errors():
    solver = RigidSolver(made(), 2, lanes=LANES)
    with pytest.raises(ValueError, match="dof 3 belongs to a free or ball joint"):
        solver.control_dofs_position(np.zeros(12))
    with pytest.raises(IndexError, match="dof 12 does not exist: the model has 12"):
        solver.control_dofs_force(1.0, [12])
    with pytest.raises(IndexError, match="dofs_idx: expected a list of whole numbers"):
        solver.control_dofs_force(1.0, [0.5])
    with pytest.raises(ValueError, match=r"velocity: expected shape \(1, 2\), got \(3,\)"):
        solver.control_dofs_velocity(np.zeros(3), [0, 1], [1])
    with pytest.raises(ValueError, match="not above its `upper`"):
        solver.set_dofs_force_range([0.0, np.nan], 1.0, [0, 1])
