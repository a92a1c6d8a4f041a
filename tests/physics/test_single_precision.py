"""Where single precision would lose digits: the solver starts near the solution, and again where that is too far."""

import mujoco
import numpy as np
import pytest
import torch

import tumble
from tumble.physics import Model, RigidSolver
from tumble.physics.model.condition import condition, worst_condition

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
