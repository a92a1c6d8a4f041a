"""Sleeping islands: who falls asleep when, what wakes them, and that nobody else notices; MuJoCo is the oracle."""

import copy

import mujoco
import numpy as np
import pytest
import torch

from tumble.physics import Model, RigidSolver
from tumble.physics.model.parts.sleeping import least_of_cycles

pytestmark = pytest.mark.usefixtures("double")

LANES, EVERY = 4, 5
FOLLOWS = 1e-6
"""Metres and radians that bodies of both sides may be apart while they fall, touch and are pushed: their solvers stop
at a tolerance of 1e-15, and contacts magnify what is left."""
SCENE = """<mujoco><option timestep="0.002" integrator="{}" tolerance="1e-15"><flag sleep="enable"/></option>
<default><geom friction="0.8"/></default>
<worldbody>
  <geom type="plane" size="5 5 1"/>
  <body name="low" pos="0 0 .101"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
  <body name="high" pos="0.01 0 .302"><freejoint/><geom type="box" size=".08 .08 .1"/></body>
  <body name="ball" pos="1 0 .15"><freejoint/><geom type="sphere" size=".1" condim="6" friction="1 .1 .05"/></body>
  <body name="tied" pos="1 1 .1"><freejoint/><geom type="sphere" size=".1" condim="6" friction="1 .1 .05"/></body>
  <body name="other" pos="1.3 1 .1"><freejoint/><geom type="sphere" size=".1" condim="6" friction="1 .1 .05"/></body>
  <body name="ram" pos="-1.5 0 .1"><joint name="ram" type="slide" axis="1 0 0" damping=".2"/>
    <geom type="sphere" size=".1" mass="3"/></body>
  <body name="hangs" pos="-1 1 .5" sleep="init"><freejoint/><geom type="box" size=".05 .05 .05"/></body>
  <body name="never" pos="-1 -1 .1" sleep="never"><joint type="slide" axis="1 0 0"/><geom size=".1"/></body>
  <body name="hand" pos="3 0 1" mocap="true"><geom type="sphere" size=".1"/></body>
</worldbody>
<equality><connect name="tie" body1="tied" body2="other" anchor=".15 0 0" active="false"/></equality>
</mujoco>"""
LOW, HIGH, BALL, TIED, OTHER, RAM, HANGS, NEVER = range(8)
"""Trees."""
RAM_QPOS, RAM_QVEL = 35, 30


@pytest.fixture(scope="module")
def model(double):
    return Model.from_mjcf(SCENE.format("Euler"))


def make(model, count=LANES):
    return RigidSolver(model, count, lanes=LANES)


def settled(model, count=LANES, steps=400):
    """A solver in which all but the tree that never sleeps are asleep."""
    solver = make(model, count)
    solver.step(steps)
    assert torch.equal(solver.asleep, (torch.arange(8) != NEVER).expand(count, 8))
    return solver


def trees(data):
    return least_of_cycles(np.array(data.tree_asleep))


def events(k):
    """What users do before step k: (name of the input, index, value)."""
    return {
        500: [("qvel", RAM_QVEL, 2.5)],
        1100: [("mocap_pos", 0, 1.15), ("mocap_pos", 2, 0.1)],
        1300: [("mocap_pos", 2, 2.0)],
        1500: [("eq_active", 0, 1.0)],
        1520: [("xfrc_applied", 6 * 2 + 2, 9.0)],
        1540: [("xfrc_applied", 6 * 2 + 2, 0.0)],
        1900: [("qpos", 7 * 6 + 1 - 5, 0.4)],
    }.get(k, [])


def act(solver, data, changes):
    """The same on both sides."""
    for name, at, value in changes:
        numbers = getattr(solver, name).clone().reshape(solver.num_envs, -1)
        numbers[:, at] = value
        if name in ("qpos", "qvel"):
            solver.set_state(**{name: numbers})
        else:
            shape = getattr(solver, name).shape
            solver.set_inputs(**{name: numbers.reshape(shape)})
        np.reshape(getattr(data, name), -1)[at] = value


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast"])
def test_trees_fall_asleep_and_wake_when_mujocos_do(integrator):
    """Through a fall, a hit, a mocap body's touch, an equality, a force and a write."""
    model = Model.from_mjcf(SCENE.format(integrator))
    solver, data = make(model), mujoco.MjData(model.mj)
    slept, woke = np.zeros((2, 8), bool)
    for k in range(0, 2200, EVERY):
        act(solver, data, events(k))
        solver.step(EVERY)
        for _ in range(EVERY):
            mujoco.mj_step(model.mj, data)
        ours = solver.get("tree_asleep")[1].numpy().ravel()
        assert np.array_equal(ours, trees(data)), (k, ours, trees(data))
        assert np.abs(solver.qpos[1].numpy() - data.qpos).max() < FOLLOWS, k
        slept |= ours >= 0
        woke |= slept & (ours < 0)
    assert slept.tolist() == woke.tolist() == [t != NEVER for t in range(8)], "all but one, both"


@pytest.mark.parametrize("name", ["geom_pos", "geom_size"])
def test_a_tree_of_an_environments_own_shape_falls_asleep_when_mujocos_does(model, name):
    """How fast a turning body may be follows from its size, dof_length, by mj_setConst."""
    own, ball = copy.copy(model.mj), model.mj.body("ball")
    turning = ball.dofadr[0] + np.arange(3, 6)
    geom = ball.geomadr[0]
    if name == "geom_pos":
        own.geom_pos[geom, 2] += 0.004
    else:
        own.geom_size[geom, 0] *= 1.3
    own.geom_sameframe[:] = 0
    mujoco.mj_setConst(own, mujoco.MjData(own))
    solver = make(model)
    solver.set_parameters(name, getattr(own, name), [2])
    found = solver.get_parameters("dof_length")
    assert np.allclose(found[2], own.dof_length, rtol=1e-9) and np.allclose(found[1], model.mj.dof_length, rtol=1e-9)
    assert (own.dof_length[turning] > 1.01 * model.mj.dof_length[turning]).all()
    datas = [mujoco.MjData(model.mj), mujoco.MjData(own)]
    began = [0, 0]
    for k in range(600):
        solver.step(1)
        ours = solver.get("tree_asleep")[1:3, BALL].numpy()
        for i, (mjm, data) in enumerate(zip((model.mj, own), datas, strict=True)):
            mujoco.mj_step(mjm, data)
            assert ours[i] == trees(data)[BALL], (k, i)
            began[i] = began[i] or (ours[i] >= 0) * k
    assert began[0] != began[1] and min(began) > 0, began


def test_with_runge_kutta_they_stay_asleep():
    """MuJoCo 4.0.0 wakes them a step later: its stages go on with the acceleration that they fell asleep with."""
    solver = settled(Model.from_mjcf(SCENE.format("RK4")))
    before = solver.qpos
    solver.step(50)
    assert torch.equal(solver.qpos[:, : 7 * 5], before[:, : 7 * 5]) and solver.asleep[:, :NEVER].all()


def test_contacts_of_what_sleeps_are_kept_and_there_again(model):
    """Absent from MuJoCo's list; they are those, with the forces, that MuJoCo finds where nothing may sleep."""
    solver, data = make(model), mujoco.MjData(model.mj)
    solver.step(400)
    mujoco.mj_step(model.mj, data, 400)
    found = solver.contacts
    assert data.ncon == 1 == int(found.mask[0].sum()), "the ball that never sleeps"
    assert not (found.mask & found.asleep).any()
    assert np.array_equal(solver.inspect(0)["contact_geom"], data.contact.geom)
    awake = copy.copy(model.mj)
    awake.opt.enableflags = 0
    wanted = mujoco.MjData(awake)
    wanted.qpos[:], wanted.qvel[:] = solver.qpos[0].numpy(), solver.qvel[0].numpy()
    mujoco.mj_forward(awake, wanted)
    both = found.mask[0] | found.asleep[0]
    assert sorted(map(tuple, found.geom[0][both].tolist())) == sorted(map(tuple, wanted.contact.geom.tolist()))
    force, total = np.zeros(6), 0.0
    for k in range(wanted.ncon):
        mujoco.mj_contactForce(awake, wanted, k, force)
        total += force[0]
    assert float(found.force[0, :, 0][both].sum()) == pytest.approx(total, rel=1e-6) and total > 100.0
    solver.wake()
    solver.forward()
    assert int(solver.contacts.mask[0].sum()) == wanted.ncon and not solver.contacts.asleep.any()


def test_a_hit_an_end_and_a_waking_change_no_bit_of_a_neighbour(model):
    solver, alone = settled(model, 8), settled(model, 8)
    qvel = solver.qvel
    qvel[2, RAM_QVEL], qvel[5, 0] = 2.5, torch.nan
    solver.set_state(qvel=qvel)
    solver.wake([6])
    for one in (solver, alone):
        one.step(300)
    others = [0, 1, 3, 4, 7]
    assert torch.equal(solver.state_dict()["memory"][others], alone.state_dict()["memory"][others])
    assert not solver.asleep[2, LOW] or solver.qpos[2, 0] != alone.qpos[2, 0]
    assert int(solver.faults[5]) and not solver.faults[others].any()
    mixed = make(model, 8)
    mixed.load_state_dict({n: v[[7, 2, 6, 0, 1, 3, 4, 5]] for n, v in solver.state_dict().items()})
    for one in (solver, mixed):
        one.step(100)
    assert torch.equal(mixed.qpos, solver.qpos[[7, 2, 6, 0, 1, 3, 4, 5]]), "nor does a place in the batch"


def test_writes_wake_only_whom_they_move(model, tmp_path):
    solver = settled(model)
    solver.set_state(qpos=solver.qpos, qvel=solver.qvel)
    solver.forward()
    assert solver.asleep[:, :NEVER].all(), "nothing has moved"
    qpos = solver.qpos[[1]]
    qpos[0, 7 * HIGH + 2] += 0.01
    solver.set_state(qpos=qpos, envs_idx=[1])
    awake = ~solver.asleep
    assert awake[1].tolist() == [t in (LOW, HIGH, NEVER) for t in range(8)], "its island wakes as one"
    assert awake[0].tolist() == [t == NEVER for t in range(8)]
    solver.save(tmp_path / "state")
    again = make(model)
    again.load(tmp_path / "state")
    for one in (solver, again):
        one.step(20)
    assert torch.equal(again.qpos, solver.qpos) and torch.equal(again.asleep, solver.asleep)
    solver.reset()
    assert solver.asleep.tolist() == [[t == HANGS for t in range(8)]] * LANES
    start = torch.as_tensor(model.mj.qpos0).clone()
    start[-6] += 0.1
    solver.reset(qpos=start)
    assert int((~solver.asleep[:, HANGS]).sum()) in (0, LANES)


def test_models_that_sleep_are_solved_by_newton_and_need_islands():
    crowd = Model.from_mjcf(SCENE.format("Euler").replace("<option ", '<option solver="CG" '))
    assert crowd.solver == "newton" and any("islands may sleep" in note for note in crowd.notes)
    with pytest.raises(ValueError, match="sleep without islands"):
        Model.from_mjcf(SCENE.format("Euler").replace('<flag sleep="enable"', '<flag island="disable" sleep="enable"'))
