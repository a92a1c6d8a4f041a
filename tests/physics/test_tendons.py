"""Tendons: MuJoCo by both solvers, inertia and geoms touched from within, environments of one batch, rollouts."""

import mujoco
import numpy as np
import pytest
import torch

from tumble.physics import Model, RigidSolver
from tumble.physics.model.tables.pack import coupled_parents

from ..models.purpose import FOLDER
from .parity.catalogue import load
from .parity.reference import fields_of, put, reference_model
from .parity.rollout import rollout
from .parity.run import SETTINGS
from .parity.states import sample
from .parity.subjects import Tumble
from .test_equality import close, solver_of

pytestmark = pytest.mark.usefixtures("double")

"""Beyond the default, at which conjugate gradients leave 2e-5."""
ROUNDING = 1e-9
"""Of what no constraint decides, relative to the largest entry."""
SOLUTION = 1e-6
"""Of accelerations and forces, likewise: both sides stop at their own tolerance."""
WITHIN = 1e-6
"""Of moment arms where a geom is touched from within: MuJoCo stops at an angle of 1e-6 from the shortest way."""
LANES = 4


def model_with(*changes):
    """The model `tendon_paths` with parts of its text replaced."""
    text = (FOLDER / "tendon_paths.xml").read_text()
    for old, new in changes:
        assert text.count(old) == 1
        text = text.replace(old, new)
    return reference_model(mujoco.MjModel.from_xml_string(text), **SETTINGS)


def compare(solver, mjm, states, smooth=ROUNDING):
    """All that tendons do, in every state, and the order of the rows."""
    data = mujoco.MjData(mjm)
    for env in range(len(states)):
        put(mjm, data, states, env)
        mujoco.mj_forward(mjm, data)
        mujoco.mj_rnePostConstraint(mjm, data)
        found = solver.inspect(env)
        assert np.array_equal(found["efc_type"], data.efc_type[: data.nefc])
        exact = ("ten_length", "ten_velocity", "ten_J", "qM", "qfrc_bias", "qfrc_passive", "qfrc_actuator")
        for name, wanted in fields_of(mjm, data, exact).items():
            assert close(found[name], wanted, smooth), (env, name)
        for name in ("qacc", "qfrc_constraint", "cfrc_ext"):
            assert close(found[name], np.array(getattr(data, name)), SOLUTION), (env, name)
        for name in ("efc_D", "efc_aref", "efc_force", "efc_frictionloss"):
            assert close(found[name], np.array(getattr(data, name))[: data.nefc], SOLUTION), (env, name)


@pytest.mark.parametrize("which", ["newton", pytest.param("cg", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["tendons", pytest.param("tendon_paths", marks=pytest.mark.slow)])
def test_both_solvers_find_mujocos_solution(name, which):
    mjm = reference_model(load(name), **SETTINGS)
    states = sample(mjm, 12)
    solver = solver_of(mjm, states, which)
    solver.forward()
    compare(solver, mjm, states)


INERTIA = ('name="stay" ', 'name="stay" armature="0.4" '), ('name="cable" ', 'name="cable" armature="0.2" ')
INSIDE = (
    "</tendon>\n  <equality>",
    '<spatial name="through" stiffness="15" damping="0.3"><site site="biceps"/><geom geom="knuckle" sidesite="within"/>'
    '<site site="radius"/></spatial></tendon><equality>',
)


@pytest.mark.slow
def test_inertia_of_tendons_with_a_path():
    """It counts in M, and the turning of their pieces in the bias force; a step by each integrator goes as far."""
    for integrator in ("Euler", "implicitfast", "RK4"):
        mjm = model_with(*INERTIA)
        mjm.opt.integrator = int(mujoco.mjtIntegrator.__members__[f"mjINT_{integrator.upper()}"])
        states = sample(mjm, 12)
        solver = solver_of(mjm, states)
        solver.forward()
        compare(solver, mjm, states)
        solver.step(1)
        data = mujoco.MjData(mjm)
        for env in range(12):
            put(mjm, data, states, env)
            mujoco.mj_step(mjm, data)
            assert close(solver.qvel[env].numpy(), np.array(data.qvel), SOLUTION), (integrator, env)


@pytest.mark.slow
def test_the_way_through_a_geom_is_the_shortest():
    mjm = model_with(INSIDE)
    states = sample(mjm, 24)
    solver = solver_of(mjm, states)
    solver.forward()
    compare(solver, mjm, states, WITHIN)
    data, inside = mujoco.MjData(mjm), 0
    for env in range(24):
        put(mjm, data, states, env)
        mujoco.mj_forward(mjm, data)
        assert close(solver.get("ten_length")[env].numpy(), np.array(data.ten_length), ROUNDING)
        inside += data.ten_wrapnum[mjm.tendon("through").id] == 4
    assert inside >= 6


def test_a_way_that_just_touches_a_cylinder_is_straight():
    """Rounding decides whether it is in the way; a turn by nothing is not one all around."""
    rng, bodies, tendons = np.random.default_rng(0), "", ""
    for k in range(30):
        start, way = 0.02 * rng.standard_normal(2)
        bodies += f"""<body pos="{k} 0 0" euler="{" ".join(map(str, rng.uniform(-90, 90, 3)))}"><joint axis="0 0 1"/>
          <geom size=".001"/><geom name="g{k}" type="cylinder" size=".0025 .01" contype="0" conaffinity="0"/>
          <site name="a{k}" pos="{-abs(start) - 0.005} .0025 0"/><site name="b{k}" pos="{abs(way) + 0.005} .0025 0"/>
          <site name="s{k}" pos=".001 .004 0"/></body>"""
        tendons += f"""<spatial stiffness="1"><site site="a{k}"/><geom geom="g{k}" sidesite="s{k}"/><site site="b{k}"/>
          </spatial>"""
    mjm = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{bodies}</worldbody><tendon>{tendons}</tendon></mujoco>")
    solver = RigidSolver(Model.from_mjmodel(mjm), LANES, lanes=LANES)
    solver.set_state(qpos=rng.uniform(-3, 3, (LANES, mjm.nv)))
    solver.forward()
    straight = [np.linalg.norm(mjm.site(f"b{k}").pos - mjm.site(f"a{k}").pos) for k in range(30)]
    np.testing.assert_allclose(solver.get("ten_length").numpy(), np.tile(straight, (LANES, 1)), rtol=1e-12)


def test_a_way_that_misses_a_cylinder_by_little_touches_it_where_it_is_shortest():
    """Past a cylinder that it must go through, by a nanometre to a micrometre: the way is longer by some 1e-12 m."""
    rng, bodies, tendons, count = np.random.default_rng(0), "", "", 30
    for k in range(count):
        first, second = -rng.uniform(0.002, 0.04), rng.uniform(0.0005, 0.01)
        beside = 0.007 + 10 ** rng.uniform(-9, -6)
        bodies += f"""<body pos="{k} 0 0" euler="{" ".join(map(str, rng.uniform(-90, 90, 3)))}"><joint axis="0 0 1"/>
          <geom size=".001"/><geom name="g{k}" type="cylinder" size=".007 .01" contype="0" conaffinity="0"/>
          <site name="a{k}" pos="{first} {beside} .005"/><site name="b{k}" pos="{second} {beside} 0"/>
          <site name="s{k}"/></body>"""
        tendons += f"""<spatial stiffness="1"><site site="a{k}"/><geom geom="g{k}" sidesite="s{k}"/><site site="b{k}"/>
          </spatial>"""
    mjm = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{bodies}</worldbody><tendon>{tendons}</tendon></mujoco>")
    solver = RigidSolver(Model.from_mjmodel(mjm), LANES, lanes=LANES)
    solver.forward()
    straight = [np.linalg.norm(mjm.site(f"b{k}").pos - mjm.site(f"a{k}").pos) for k in range(count)]
    np.testing.assert_allclose(solver.get("ten_length").numpy(), np.tile(straight, (LANES, 1)), atol=1e-8, rtol=0)


FINGER = """<mujoco><option timestep="0.002" integrator="{}"/>
<default><geom contype="0" conaffinity="0" density="900"/>
  <joint axis="0 1 0" damping="0.002" armature="2e-4"/></default>
<worldbody>
  <site name="forearm" pos="-0.1 0 -0.02"/>
  <body><joint name="mcp" range="-90 30"/><geom type="capsule" size=".01" fromto="0 0 0 .05 0 0"/>
    <geom name="roll" type="cylinder" size="0.012 0.02" euler="90 0 0"/><site name="a" pos=".03 0 -.012"/>
    <body pos=".05 0 0"><joint name="pip"/><geom type="capsule" size=".009" fromto="0 0 0 .035 0 0"/>
      <site name="b" pos=".02 0 -.01"/>
      <body pos=".035 0 0"><joint name="dip"/><geom type="capsule" size=".008" fromto="0 0 0 .025 0 0"/>
        <site name="c" pos=".015 0 -.009"/></body></body></body>
</worldbody>
<tendon>
  <spatial name="flexor" damping="1" range="0.1 0.24" stiffness="10" springlength="0.16 0.2">
    <site site="forearm"/><geom geom="roll"/><site site="a"/><site site="b"/><site site="c"/></spatial>
  <fixed name="extensor" stiffness="30" damping="0.2" frictionloss="0.05" springlength="-0.005 0.005">
    <joint joint="mcp" coef="0.012"/><joint joint="pip" coef="0.009"/><joint joint="dip" coef="0.007"/></fixed>
  <fixed name="dip"><joint joint="dip" coef="1"/></fixed><fixed name="pip"><joint joint="pip" coef="1"/></fixed>
</tendon>
<equality><tendon tendon1="dip" tendon2="pip" polycoef="0 0.7 0.1"/></equality>
<actuator><motor tendon="flexor" gear="-4" ctrlrange="0 1"/><motor tendon="extensor" gear="-2" ctrlrange="0 1"/>
</actuator></mujoco>"""


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["Euler", "implicitfast"])
def test_a_finger_follows_mujocos_for_a_thousand_steps(integrator, monkeypatch):
    """Driven by its tendons, over limits, springs, friction loss and the coupling of its joints."""
    monkeypatch.setattr(f"{rollout.__module__}.STEPS", 1000)
    found = rollout(mujoco.MjModel.from_xml_string(FINGER.format(integrator)), Tumble, "64")
    assert len(found.error) == 20 and found.ratio < 10, found


def test_a_tendon_that_only_measures_costs_nothing_and_is_read():
    """Its length follows from qpos."""
    model = Model.from_mjcf("""<mujoco><worldbody><body><joint name="a" ref="0.1"/><geom size=".1" pos=".2 0 0"/>
      <body><joint name="b"/><geom size=".1" pos="0 .2 0"/></body></body><body pos="9 0 0"><freejoint/>
      <geom size="0.1"/></body></worldbody>
      <tendon><fixed name="t"><joint joint="b" coef="2"/><joint joint="a" coef="-3"/></fixed></tendon></mujoco>""")
    assert model.sizes["ntendon"] == 0
    solver = RigidSolver(model, 3, lanes=LANES)
    solver.set_state(qvel=torch.tensor([[0.5, 0.7, *[0] * 6]]).double().expand(3, -1))
    solver.forward()
    qpos, qvel = solver.qpos, solver.qvel
    assert torch.allclose(solver.get("ten_length")[:, 0], 2 * qpos[:, 1] - 3 * qpos[:, 0], rtol=1e-14)
    assert torch.allclose(solver.get("ten_velocity")[:, 0], 2 * qvel[:, 1] - 3 * qvel[:, 0], rtol=1e-14)
    assert solver.inspect(1)["ten_J"].tolist() == [[-3.0, 2.0, *[0.0] * 6]]


@pytest.mark.parametrize("name", ["tendons", "tendon_paths"])
def test_trees_that_tendons_tie_are_one_path_in_the_hessian(name):
    mjm = load(name)
    parent = coupled_parents(mjm)
    for t in np.flatnonzero((mjm.tendon_limited != 0) | (mjm.tendon_frictionloss > 0)):
        first = mjm.ten_J_rowadr[t]
        dofs = mjm.ten_J_colind[first : first + mjm.ten_J_rownnz[t]]
        for i in dofs:
            for j in dofs[dofs < i]:
                above = i
                while above > j:
                    above = parent[above]
                assert above == j, (t, i, j)


def test_numbers_of_their_own_are_refused_where_the_model_has_none():
    model = Model.from_mjmodel(load("tendons"))
    solver = RigidSolver(model, 2, lanes=LANES)
    for name in ("tendon_stiffness", "tendon_damping", "tendon_frictionloss"):
        wanted = np.array(getattr(model.mj, name))
        wanted[model.mj.tendon("gauge").id] = 1.0
        with pytest.raises(ValueError, match=rf"{name}\[8\] of environment 0 is 1: the model has none there"):
            solver.set_parameters(name, wanted)
    with pytest.raises(ValueError, match=r"tendon_range\[0\]\[0\] of environment 0"):
        solver.set_parameters("tendon_range", np.tile([1.0, -1.0], (model.mj.ntendon, 1)))
