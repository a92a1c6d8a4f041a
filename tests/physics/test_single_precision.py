"""Where single precision would lose digits: the solver starts near the solution, and again where that is too far."""

import mujoco
import numpy as np
import pytest
import torch

import tumble
from tumble.physics import Model, RigidSolver
from tumble.physics.model import condition as conditions
from tumble.physics.model.condition import closed_condition, condition, worst_condition
from tumble.physics.model.features import needs_double_solver
from tumble.physics.model.model import pair_hardness

from ..test_architecture import ROOT
from ..widths import WIDTH
from .starts import run_in_columns, run_with

ACCURATE = 5e-5
"""Float32's bar for accelerations without constraints in ORACLES."""
CONSTRAINED = 1e-3
"""Float32's bar for accelerations under constraints in ORACLES."""
STATES = 64
FAR = 1e5
"""A warm start so far off (m/s^2, rad/s^2) that, without restarts, what it leaves is wrong by 0.07 and by 6 times."""


def chain(links: int, tip: float, floor: bool = False) -> str:
    """MJCF of hinged links of 20 g on a slider, the last of them of `tip` kg, with a floor within reach or without."""
    inner = ""
    for k in reversed(range(links)):
        axis = "0 1 0" if k % 2 else "1 0 0"
        mass = tip if k == links - 1 else 0.02
        inner = (
            f'<body pos="0 0 -0.1"><joint type="hinge" axis="{axis}"/>'
            f'<geom type="capsule" fromto="0 0 0 0 0 -0.1" size="0.01" mass="{mass}" conaffinity="0"/>{inner}</body>'
        )
    cart = f'<body pos="0 0 {0.06 * links}"><joint type="slide"/><geom size="0.05" contype="0"/>{inner}</body>'
    ground = '<geom type="plane" size="1 1 1" contype="0" conaffinity="1"/>' if floor else ""
    return f"<mujoco><worldbody>{ground}{cart}</worldbody></mujoco>"


CHAINS = {"benign": (2, 0.1), "nasty": (9, 2.0)}


@pytest.fixture(scope="module", params=sorted(CHAINS))
def chains(request):
    """(name, model, states): the chain and where it is looked at."""
    tumble.init(precision="32")
    mjm = mujoco.MjModel.from_xml_string(chain(*CHAINS[request.param], floor=True))
    rng = np.random.default_rng(0)
    qpos = np.float32(rng.uniform(-1.5, 1.5, (STATES, mjm.nq)))
    return request.param, mjm, (qpos, np.float32(rng.uniform(-1.0, 1.0, (STATES, mjm.nv))))


def exact(mjm: mujoco.MjModel, states: tuple[np.ndarray, np.ndarray]) -> list[mujoco.MjData]:
    """MuJoCo's evaluation of every state."""
    found = []
    for qpos, qvel in zip(*states, strict=True):
        data = mujoco.MjData(mjm)
        data.qpos[:], data.qvel[:] = qpos, qvel
        mujoco.mj_forward(mjm, data)
        found.append(data)
    return found


def evaluated(
    mjm: mujoco.MjModel,
    states: tuple[np.ndarray, np.ndarray],
    start: float = 0.0,
    every: int = 1,
    lanes: int | None = None,
) -> RigidSolver:
    """A solver at the states; the warm start of every so many of them is `start` times a random number for each dof."""
    solver = RigidSolver(Model.from_mjmodel(mjm), STATES, lanes=lanes)
    solver.set_state(*map(torch.from_numpy, states))
    far = start * np.random.default_rng(1).normal(size=states[1].shape)
    solver._driver.write("qacc_warmstart", np.where(np.arange(STATES)[:, None] % every == 0, far, 0.0), None)
    solver.forward()
    return solver


def error(ours: np.ndarray, theirs: list[np.ndarray]) -> np.ndarray:
    return np.array([np.abs(a - b).max() / np.abs(b).max() for a, b in zip(ours, theirs, strict=True)])


def test_plain_single_precision_would_not_do(chains):
    """Else the tests below would show nothing."""
    name, mjm, states = chains
    plain = []
    for data in exact(mjm, states):
        plain.append(np.linalg.solve(np.float32(dense(mjm, data)), np.float32(data.qfrc_smooth)))
    worst = error(np.array(plain), [data.qacc_smooth for data in exact(mjm, states)]).max()
    assert worst > 4 * ACCURATE if name == "nasty" else worst < ACCURATE


def test_smooth_accelerations_stay_accurate(chains):
    _, mjm, states = chains
    ours = evaluated(mjm, states).get("qacc_smooth").numpy()
    assert error(ours, [data.qacc_smooth for data in exact(mjm, states)]).max() < ACCURATE


@pytest.mark.parametrize("start", [0.0, FAR])
def test_accelerations_do_not_depend_on_where_the_solver_starts(chains, start):
    _, mjm, states = chains
    found = exact(mjm, states)
    assert 0.2 < np.mean([data.nefc > 0 for data in found]) < 0.8  # some touch the floor
    scale = np.array([max(np.abs(data.qacc).max(), np.abs(data.qacc_smooth).max()) for data in found])
    difference = np.abs(evaluated(mjm, states, start).get("qacc").numpy() - np.array([data.qacc for data in found]))
    assert (difference.max(axis=1) / scale).max() < CONSTRAINED


def test_who_starts_again_does_not_disturb_the_neighbours(chains):
    """Bits are the same at every width of the lanes, so they do not depend on who else is in the tile."""
    _, mjm, states = chains
    names = ("qacc", "qfrc_constraint", "qacc_smooth", "solver_niter")
    alone = evaluated(mjm, states, FAR, every=3, lanes=1)
    for width in (4, 16):
        together = evaluated(mjm, states, FAR, every=3, lanes=width)
        for name in names:
            assert torch.equal(alone.get(name), together.get(name)), name


def dense(mjm: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    """M column by column, from the product with unit vectors."""
    columns = []
    for unit in np.eye(mjm.nv):
        column = np.zeros(mjm.nv)
        mujoco.mj_mulM(mjm, data, column, unit)
        columns.append(column)
    return np.array(columns)


def test_condition_is_that_of_the_scaled_matrix():
    mjm = mujoco.MjModel.from_xml_string(chain(5, 0.3))
    data = mujoco.MjData(mjm)
    data.qpos[:] = np.linspace(-1, 1, mjm.nq)
    found = condition(mjm, data)
    matrix = dense(mjm, data)
    scale = np.sqrt(np.diag(matrix))
    assert found == pytest.approx(np.linalg.cond(matrix / scale / scale[:, None]), rel=1e-9)


def test_the_worst_condition_tells_the_chains_apart():
    benign, nasty = (worst_condition(mujoco.MjModel.from_xml_string(chain(*CHAINS[n]))) for n in ("benign", "nasty"))
    assert benign < 100 < 1000 < nasty


def test_trees_do_not_worsen_each_others_condition():
    """A grain beside a boulder."""
    xml = "".join(f'<body><freejoint/><geom size="{size}"/></body>' for size in ("0.001", "1"))
    mjm = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{xml}</worldbody></mujoco>")
    assert worst_condition(mjm) == pytest.approx(1.0)


SLIPPERY = """<mujoco><default><geom friction="{mu} .005 .0001"/></default><worldbody><geom type="plane" size="9 9 .1"/>
<body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
<body pos="0 0 .3"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
<body pos="1 0 .1"><freejoint/><geom type="sphere" size=".1"/></body>
<body pos="2 0 .1"><freejoint/><geom type="cylinder" size=".1 .1"/></body>
<body pos="3 0 .1"><freejoint/><geom type="ellipsoid" size=".1 .2 .1"/></body></worldbody></mujoco>"""
"""A stack of two boxes and three round bodies, at rest on a floor with a sliding friction of `mu`."""
SETTLED = 1e-6
"""m/s and rad/s that are left of heaving and tilting after a second; MuJoCo has 2e-7, rows as hard as theirs 0.07."""


@pytest.mark.parametrize(
    ("mu", "start"), [(0.0, run_with), (0.01, run_with), pytest.param(0.01, run_in_columns, marks=pytest.mark.slow)]
)
def test_bodies_rest_where_a_pyramid_is_hard(mu, start):
    """Rows of a pyramid have D in proportion to 1 / mu^2; single precision loses M beside them."""
    start("32")
    mjm = mujoco.MjModel.from_xml_string(SLIPPERY.format(mu=mu))
    solver = RigidSolver(Model.from_mjmodel(mjm), STATES)
    solver.set_state(torch.tensor(mjm.qpos0), 1e-3 * torch.randn(STATES, mjm.nv, generator=torch.manual_seed(0)))
    solver.step(600)
    assert not solver.faults.any()
    fastest = solver.qvel.abs().amax(0).reshape(-1, 6)
    assert fastest[:2, 2:5].max() < SETTLED, "the stack"
    assert fastest[2:, 2].max() < SETTLED, "round bodies"


@pytest.mark.parametrize("solver", ["Newton", pytest.param("CG", marks=pytest.mark.slow)])
def test_environments_may_be_slippery_where_the_file_is_not(solver):
    """Rows are scaled by at least `SOFTEST`: stacks rest at any friction of their own, and nothing is non-finite."""
    run_with("32")
    xml = SLIPPERY.format(mu=1.0).replace("<default>", f'<option solver="{solver}"/><default>', 1)
    mjm = mujoco.MjModel.from_xml_string(xml)
    batch = RigidSolver(Model.from_mjmodel(mjm), STATES)
    friction = np.tile(mjm.geom_friction, (STATES, 1, 1))
    friction[: STATES // 2, :, 0], friction[STATES // 2 :, :, 0] = 1e-9, 0.02
    batch.set_parameters("geom_friction", friction)
    batch.set_state(torch.tensor(mjm.qpos0), 1e-2 * torch.randn(STATES, mjm.nv, generator=torch.manual_seed(0)))
    batch.step(600)
    assert not batch.faults.any()
    assert batch.qvel[STATES // 2 :].reshape(-1, mjm.nbody - 1, 6)[:, :2, 2:5].abs().max() < SETTLED


@pytest.mark.parametrize("option", ["", 'impratio="20"', 'cone="elliptic"'])
def test_the_hardness_of_contacts_is_that_of_mujocos_rows(option):
    """D times the inverse weight of both bodies; the impedance is 0.9 at any depth."""
    xml = SLIPPERY.format(mu=0.02).replace("<default>", f'<option {option}/><default><geom solimp=".9 .9 .1"/>')
    mjm = mujoco.MjModel.from_xml_string(xml.replace('<geom solimp=".9 .9 .1"/><geom', '<geom solimp=".9 .9 .1"'))
    data = mujoco.MjData(mjm)
    data.qpos[2::7] -= 1e-3
    mujoco.mj_forward(mjm, data)
    first = [contact.efc_address for contact in data.contact]
    softness = mjm.body_invweight0[mjm.geom_bodyid[data.contact.geom], 0].sum(axis=1)
    np.testing.assert_allclose(pair_hardness(mjm, data.contact.geom), data.efc_D[first] * softness, rtol=1e-9)


LOOP = """<mujoco><option timestep=".001" {option}/>
<default><equality solref=".002 1" solimp="{solimp} .001"/></default>
<worldbody><body pos="0 0 2">{chain}</body></worldbody><equality>{equalities}</equality></mujoco>"""
FOLLOWED = 1e-3
"""rad off MuJoCo's positions after 0.3 s; without double precision 0.4 or more, or not finite."""
CONNECT = '<connect body1="{}" body2="world" anchor=".05 0 0"/>'
WELD = '<weld body1="{}" body2="world"/>'


@pytest.mark.parametrize(
    ("links", "equality", "solimp", "every"),
    [
        (10, CONNECT, ".9999 .9999", 10),
        (40, CONNECT, ".99 .999", 40),
        (6, WELD, ".99 .999", 6),
        (14, WELD, ".9 .95", 5),
        (40, WELD, ".99 .999", 5),
    ],
)
@pytest.mark.parametrize("option", ["", 'solver="CG"'])
def test_a_chain_closed_by_hard_equalities_moves_as_mujocos(links, equality, solimp, every, option):
    """They leave nothing of M in a Hessian of single precision, and gradients do not get through either."""
    run_with("32")
    inner = ""
    for k in range(links):
        place = 'pos=".05 0 0"' if k < links - 1 else ""
        geom = '<geom type="capsule" fromto="0 0 0 .05 0 0" size=".01" contype="0" conaffinity="0"/>'
        inner = f'<body name="{k}" {place}><joint type="hinge" axis="0 1 0"/>{geom}{inner}</body>'
    equalities = "".join(equality.format(k) for k in range(0, links - 1, every))
    models = (LOOP.format(option=each, solimp=solimp, chain=inner, equalities=equalities) for each in ("", option))
    mjm, asked = (mujoco.MjModel.from_xml_string(xml) for xml in models)
    data = mujoco.MjData(mjm)
    data.qvel[:] = np.float32(np.random.default_rng(0).normal(0, 0.1, mjm.nv))
    model = Model.from_mjmodel(asked)
    assert model.solver == "newton" and sum("solver CG" in note for note in model.notes) == bool(option)
    solver = RigidSolver(model, WIDTH)
    solver.set_state(torch.tensor(data.qpos), torch.tensor(data.qvel))
    solver.step()
    mujoco.mj_step(mjm, data)
    acceleration = solver.get("qacc_warmstart").numpy()
    assert error(acceleration[:1], [data.qacc_warmstart]) < CONSTRAINED
    solver.step(299)
    mujoco.mj_step(mjm, data, 299)
    assert not data.warning.number.any() and not solver.faults.any()
    assert abs(solver.qpos[0].numpy() - data.qpos).max() < FOLLOWED


def test_joints_that_follow_each_other_need_no_double_precision():
    """Joint equalities as hard as the loops above add to the diagonal of the Hessian, which loses nothing."""
    chain = "".join(f'<body><joint name="{k}" axis="0 1 0"/><geom size=".1" pos=".2 0 0"/>' for k in range(10))
    follow = "".join(f'<joint joint1="{k + 1}" joint2="{k}"/>' for k in range(9))
    xml = LOOP.format(option="", solimp=".99 .999", chain=chain + "</body>" * 10, equalities=follow)
    model = Model.from_mjmodel(mujoco.MjModel.from_xml_string(xml))
    assert model.closed_condition < model.values["condition"].max() and not needs_double_solver(model)


def test_equalities_of_what_has_no_dofs_need_no_double_precision():
    xml = """<mujoco><worldbody><body name="led" mocap="true"/><body name="post"/></worldbody>
      <equality><weld body1="led" body2="post"/></equality></mujoco>"""
    model = Model.from_mjcf(xml)
    assert model.closed_condition == 1.0 and not needs_double_solver(model)


def test_large_matrices_are_looked_at_in_fewer_poses(monkeypatch):
    """A rope of balls: NumPy's condition of MuJoCo's dense M + J' D J, scaled, in the reference pose."""
    balls = "".join(f'<body name="{k}" pos="{0.1 * k} 0 0"><freejoint/><geom size=".04"/></body>' for k in range(12))
    ties = "".join(f'<connect body1="{k}" body2="{k + 1}" anchor=".05 0 0"/>' for k in range(11))
    xml = f'<mujoco><option jacobian="dense"/><worldbody>{balls}</worldbody><equality>{ties}</equality></mujoco>'
    mjm, count = mujoco.MjModel.from_xml_string(xml), 0
    data, mass = mujoco.MjData(mjm), np.zeros((mjm.nv, mjm.nv))
    mujoco.mj_forward(mjm, data)
    mujoco.mj_fullM(mjm, data, mass)
    J = data.efc_J.reshape(-1, mjm.nv)[: data.ne]
    hessian = mass + J.T * data.efc_D[: data.ne] @ J
    scale = 1 / np.sqrt(np.diag(hessian))
    make = mujoco.mj_makeConstraint

    def counted(*arguments):
        nonlocal count
        count += 1
        make(*arguments)

    monkeypatch.setattr(mujoco, "mj_makeConstraint", counted)
    everywhere = closed_condition(mjm)
    assert count == 16
    monkeypatch.setattr(conditions, "MOST_WORK", 100)
    assert closed_condition(mjm) == pytest.approx(np.linalg.cond(hessian * scale[:, None] * scale), rel=1e-9)
    assert count == 17 and closed_condition(mjm) <= everywhere


def test_no_packaged_model_pays_for_hard_constraints():
    for path in sorted((ROOT / "assets").glob("*.xml")):
        assert not needs_double_solver(Model.from_mjmodel(mujoco.MjModel.from_xml_path(str(path)))), path.name
