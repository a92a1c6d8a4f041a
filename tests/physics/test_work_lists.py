"""Hulls over a plane, each environment with some near and some far: MuJoCo's contacts in its order, whoever is near."""

import mujoco
import numpy as np
import pytest
import torch

import tumble
from tumble.physics import Model, RigidSolver

EXACT = 1e-12
"""Metres: double rounding of bodies of a decimetre a few metres from the origin."""
KINDS = ("box", "cylinder", "mesh", "box", "mesh", "cylinder", "box")
VERTICES = 150
ENVS = 40


def ellipsoid() -> str:
    """Vertices of a mesh, all of them on its hull."""
    points = np.random.default_rng(3).standard_normal((VERTICES, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    return " ".join(f"{x:.6f}" for x in (points * [0.12, 0.09, 0.07]).ravel())


def hulls() -> mujoco.MjModel:
    """Hulls of three types by turns on a slanted plane, which touch nothing else."""
    shapes = {"box": 'size=".1 .06 .08"', "cylinder": 'size=".09 .06"', "mesh": 'mesh="stone"'}
    bodies = "".join(
        f'<body pos="{0.5 * i} 0 0.1"><freejoint/>'
        f'<geom type="{kind}" {shapes[kind]} contype="0" conaffinity="1" margin="0.01"/></body>'
        for i, kind in enumerate(KINDS)
    )
    return mujoco.MjModel.from_xml_string(
        f"""<mujoco><option timestep="0.004"/><asset><mesh name="stone" vertex="{ellipsoid()}"/></asset><worldbody>
        <geom type="plane" size="5 5 1" euler="2 1 0" contype="1" conaffinity="0"/>{bodies}</worldbody></mujoco>"""
    )


@pytest.fixture(scope="module")
def mjm() -> mujoco.MjModel:
    return hulls()


@pytest.fixture(scope="module")
def qpos(mjm: mujoco.MjModel) -> np.ndarray:
    """(ENVS, nq): any orientation, in every fourth environment flat; two bodies in three are high up."""
    rng = np.random.default_rng(0)
    found = np.tile(mjm.qpos0, (ENVS, 1)).reshape(ENVS, len(KINDS), 7)
    found[:, :, 2] += rng.uniform(-0.08, 0.0, (ENVS, len(KINDS)))
    found[:, :, 2] += np.where(rng.random((ENVS, len(KINDS))) < 2 / 3, 1.0, 0.0)
    found[:, :, 3:] = rng.standard_normal((ENVS, len(KINDS), 4))
    found[::4, :, 3:] = [1, 0, 0, 0]
    found[:, :, 3:] /= np.linalg.norm(found[:, :, 3:], axis=-1, keepdims=True)
    return found.reshape(ENVS, -1)


def solver_at(mjm, qpos):
    solver = RigidSolver(Model.from_mjmodel(mjm), len(qpos))
    solver.set_state(qpos=torch.as_tensor(qpos, dtype=solver.dtype))
    return solver


def counts(found, geoms):
    """(environments, geoms): contacts of every hull."""
    return torch.stack([((found.geom[..., 1] == g) & found.mask).sum(1) for g in range(1, geoms)], 1)


def test_where_some_are_near_they_have_mujocos_contacts_in_its_order(mjm, qpos):
    tumble.init(precision="64")
    solver, data = solver_at(mjm, qpos), mujoco.MjData(mjm)
    solver.forward()
    touching = np.zeros(mjm.ngeom, int)
    for env in range(ENVS):
        data.qpos[:] = qpos[env]
        mujoco.mj_forward(mjm, data)
        ours = solver.inspect(env)
        geoms = ours["contact_geom"][:, 1]
        types = mjm.geom_type[geoms]
        assert (np.diff(types * mjm.ngeom + geoms) >= 0).all()  # by type, then by geom
        order = np.lexsort((data.contact.geom[:, 1], mjm.geom_type[data.contact.geom[:, 1]]))  # stable: point by point
        np.testing.assert_array_equal(geoms, data.contact.geom[order, 1])
        for name in ("dist", "pos", "frame"):
            theirs = getattr(data.contact, name)[order]
            np.testing.assert_allclose(ours[f"contact_{name}"], theirs, rtol=0, atol=EXACT, err_msg=str(env))
        touching[np.unique(geoms)] += 1
    assert (touching[1:] > ENVS // 8).all() and (touching[1:] < ENVS // 2).all()


def test_lanes_share_a_slot_by_rank(mjm, qpos):
    """The k-th contacts of a pair lie in one slot, whichever corners they are of."""
    tumble.init(precision="32", lanes=16)
    solver = solver_at(mjm, qpos[:16])
    solver.forward()
    found = solver.contacts
    most = counts(found, mjm.ngeom).max(0).values
    assert found.mask.shape[1] == most.sum() and most.max() == 4
    for g in range(1, mjm.ngeom):
        slots = found.mask[:, (found.geom[..., 1] == g).any(0)]
        assert bool((slots[:, :-1] >= slots[:, 1:]).all()), "a lane's contacts of a pair begin with its first slot"


def test_neighbours_do_not_matter(mjm, qpos):
    """Bitwise: alone, among few, among many, and in another order; W = 1, 4, 16."""
    found = {}
    for lanes, rows in (
        (16, range(ENVS)),
        (16, range(5)),
        (16, range(ENVS - 1, -1, -1)),
        (4, range(ENVS)),
        (1, range(9)),
    ):
        tumble.init(precision="32", lanes=lanes)
        solver = solver_at(mjm, qpos[list(rows)])
        solver.forward()
        contacts = [solver.inspect(k)["contact_pos"].tobytes() for k in range(len(rows))]
        solver.step(30)
        assert not solver.any_fault
        for k, env in enumerate(rows):
            state = solver.qpos[k].numpy().tobytes() + solver.qvel[k].numpy().tobytes() + contacts[k]
            assert found.setdefault(env, state) == state, (lanes, env)
