"""Bounds in the world: tight for every type, against points on the surfaces and the vertices of meshes."""

import copy

import mujoco
import numpy as np
import pytest
import torch
from scipy.spatial import ConvexHull

from tumble.physics import Model, RigidSolver
from tumble.physics.solver.readout.bounds import world_bounds

from .test_store import numbers

DOUBLE = 1e-12
"""Closed forms in double precision, sizes of some 0.3 m some 3 m from the origin."""
FINE = 2e-4
"""How much of a curved surface of 0.3 m its finest points below miss: 1 - cos of half the angle between them."""
TYPES = ("sphere", "capsule", "cylinder", "ellipsoid", "box", "mesh", "seen", "small", "field")
CLOUD = np.random.default_rng(3).normal(size=(40, 3)) * [0.1, 0.2, 0.3]
XML = f"""<mujoco><asset><mesh name="cloud" vertex="{numbers(CLOUD)}"/>
    <hfield name="hills" nrow="2" ncol="3" size="0.3 0.2 0.1 0.05" elevation="0 1 0.5 0.2 0.3 1"/></asset>
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1" pos="1 2 3"/>
    <geom name="ceiling" type="plane" size="1 1 1" pos="1 2 3" euler="180 0 0"/>
    <geom name="slope" type="plane" size="1 1 1" euler="10 0 0"/>
    <geom name="shelf" type="mesh" mesh="cloud" pos="1 1 1" euler="10 20 30"/>
    <body name="b" pos="1 2 3"><freejoint/>
      <geom name="sphere" size="0.3" pos="0.1 0.2 0.3"/>
      <geom name="capsule" type="capsule" size="0.1 0.3" euler="20 30 40"/>
      <geom name="cylinder" type="cylinder" size="0.2 0.3" euler="50 30 40"/>
      <geom name="ellipsoid" type="ellipsoid" size="0.1 0.2 0.3" euler="20 70 40"/>
      <geom name="box" type="box" size="0.1 0.2 0.3" euler="20 30 80"/>
      <geom name="mesh" type="mesh" mesh="cloud" euler="20 30 10"/>
      <geom name="seen" type="mesh" mesh="cloud"/>
      <geom name="small" size="1e-6"/>
      <geom name="field" type="hfield" hfield="hills" euler="20 30 40" mass="0"/>
    </body></worldbody></mujoco>"""


@pytest.fixture(scope="module")
def model():
    return Model.from_mjcf(XML)


def surface(mjm, geom):
    """Points (n, 3) on a geom's surface, in its frame, dense enough to miss no more than FINE of its size."""
    kind, size = mujoco.mjtGeom(int(mjm.geom_type[geom])), mjm.geom_size[geom]
    turn, rise = np.meshgrid(np.linspace(0, 2 * np.pi, 361), np.linspace(-np.pi / 2, np.pi / 2, 181))
    ball = np.stack([np.cos(rise) * np.cos(turn), np.cos(rise) * np.sin(turn), np.sin(rise)], -1).reshape(-1, 3)
    if kind == mujoco.mjtGeom.mjGEOM_SPHERE:
        return ball * size[0]
    if kind == mujoco.mjtGeom.mjGEOM_ELLIPSOID:
        return ball * size
    if kind == mujoco.mjtGeom.mjGEOM_CAPSULE:
        return ball * size[0] + np.sign(ball[:, 2:]) * [0, 0, size[1]]
    if kind == mujoco.mjtGeom.mjGEOM_CYLINDER:
        ring = np.stack([np.cos(turn[0]), np.sin(turn[0]), np.ones(361)], -1) * [size[0], size[0], size[1]]
        return np.concatenate([ring, ring * [1, 1, -1]])
    if kind == mujoco.mjtGeom.mjGEOM_BOX:
        return np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * size
    if kind == mujoco.mjtGeom.mjGEOM_HFIELD:  # the corners of its own box
        x, y, top, base = mjm.hfield_size[mjm.geom_dataid[geom]]
        return np.array([[i * x, j * y, z] for i in (-1, 1) for j in (-1, 1) for z in (-base, top)])
    mesh = mjm.geom_dataid[geom]
    first = mjm.mesh_vertadr[mesh]
    return mjm.mesh_vert[first : first + mjm.mesh_vertnum[mesh]].astype(float)


def poses(mjm, count, seed=0):
    """Poses of all geoms (count, ngeom, ...) by MuJoCo, and the coordinates (count, nq)."""
    rng, data = np.random.default_rng(seed), mujoco.MjData(mjm)
    found = []
    for _ in range(count):
        data.qpos[:] = [*rng.normal(size=3), *rng.normal(size=4)]
        mujoco.mj_normalizeQuat(mjm, data.qpos)
        mujoco.mj_kinematics(mjm, data)
        found.append((data.qpos.copy(), data.geom_xpos.copy(), data.geom_xmat.reshape(-1, 3, 3).copy()))
    return [np.stack(part) for part in zip(*found, strict=True)]


@pytest.mark.parametrize("name", TYPES)
def test_bounds_are_tight(name, model):
    mjm, g = model.mj, model.mj.geom(name).id
    _, pos, mat = poses(mjm, 8)
    sizes = torch.as_tensor(mjm.geom_size)[None, g : g + 1]
    box = world_bounds(
        model.geometry, [g], torch.as_tensor(pos[:, g : g + 1]), torch.as_tensor(mat[:, g : g + 1]), sizes
    )[:, 0].numpy()
    points = surface(mjm, g) @ mat[:, g].transpose(0, 2, 1) + pos[:, None, g]
    lower, upper = points.min(axis=1), points.max(axis=1)
    assert (box[:, 0] <= lower + DOUBLE).all() and (box[:, 1] >= upper - DOUBLE).all()  # nothing is outside
    missed = DOUBLE if name in ("box", "mesh", "seen", "field") else FINE * (upper - lower).max()
    assert np.abs(box[:, 0] - lower).max() <= missed and np.abs(box[:, 1] - upper).max() <= missed


def test_a_plane_is_a_half_space(model):
    ids = [model.mj.geom(name).id for name in ("floor", "ceiling", "slope")]
    _, pos, mat = poses(model.mj, 1)
    boxes = world_bounds(
        model.geometry,
        ids,
        *(torch.as_tensor(x[:, ids]) for x in (pos, mat)),
        torch.as_tensor(model.mj.geom_size)[None, ids],
    )
    inf = np.inf
    assert boxes[0, 0].tolist() == [[-inf, -inf, -inf], [inf, inf, pytest.approx(3)]]
    assert boxes[0, 1].tolist() == [[-inf, -inf, pytest.approx(3)], [inf, inf, inf]]
    assert torch.isinf(boxes[0, 2]).all()


SINGLE = 2e-6
"""Single precision of the solver, some 3 m from the origin."""


@pytest.fixture(scope="module")
def solver(model):
    found = RigidSolver(model, num_envs=5)
    yield found
    found.close()


def place(solver, qpos):
    """A state, and all that follows from it."""
    solver.set_state(qpos=qpos)
    solver.forward()


def sorted_rows(points):
    """Points (n, m, 3) of each environment in the order of their x."""
    return np.stack([rows[np.argsort(rows[:, 0])] for rows in np.asarray(points, float)])


def test_a_solver_gives_bounds_and_vertices_of_its_state(solver, model):
    qpos, pos, mat = poses(model.mj, 5, seed=1)
    place(solver, qpos)
    boxes = solver.geom_aabb()
    assert boxes.shape == (5, model.mj.ngeom, 2, 3) and boxes.dtype == solver.dtype
    for name in ("mesh", "box"):
        g = model.mj.geom(name).id
        points = surface(model.mj, g) @ mat[:, g].transpose(0, 2, 1) + pos[:, None, g]
        hull = points[:, ConvexHull(points[0]).vertices]
        assert sorted_rows(solver.geom_verts(name).numpy()) == pytest.approx(sorted_rows(hull), abs=SINGLE)
        expected = np.stack([points.min(axis=1), points.max(axis=1)], axis=1)
        assert boxes[:, g].numpy() == pytest.approx(expected, abs=SINGLE)
    some = solver.geom_aabb(["box", "floor"], envs_idx=[3, 1])
    ids = [model.mj.geom(name).id for name in ("box", "floor")]
    assert torch.equal(some, boxes[[3, 1]][:, ids])
    assert solver.geom_aabb("box").shape == (5, 1, 2, 3)
    assert solver.geom_verts("box", envs_idx=[2]).shape == (1, 8, 3)
    assert torch.equal(solver.geom_verts("seen", visual=True)[0].amax(0), boxes[0, model.mj.geom("seen").id, 1])


def test_what_stands_still_has_one_copy(solver, model):
    verts = solver.geom_verts("shelf")
    assert verts.shape[0] == 5 and verts.stride(0) == 0
    g = model.mj.geom("shelf").id
    _, pos, mat = poses(model.mj, 1)
    points = surface(model.mj, g) @ mat[0, g].T + pos[0, g]
    hull = points[ConvexHull(points).vertices]
    assert sorted_rows(verts[4:].numpy()) == pytest.approx(sorted_rows(hull[None]), abs=SINGLE)
    assert solver.geom_verts("mesh").stride(0) > 0


def test_an_environment_that_is_lost_keeps_it_to_itself(solver, model):
    qpos, _, _ = poses(model.mj, 5, seed=2)
    place(solver, qpos)
    before, verts = solver.geom_aabb(), solver.geom_verts("mesh")
    qpos[2, 0] = np.nan
    place(solver, qpos)
    after, verts_after = solver.geom_aabb(), solver.geom_verts("mesh")
    others = [0, 1, 3, 4]
    assert torch.equal(before[others], after[others]) and torch.equal(verts[others], verts_after[others])
    assert torch.equal(before[2, :4], after[2, :4])  # what stands still
    solver.reset()


def test_a_pose_that_is_not_finite_has_no_bounds_and_spoils_no_others(model):
    _, pos, mat = poses(model.mj, 3)
    ids, (pos, mat) = list(range(model.mj.ngeom)), (torch.as_tensor(x) for x in (pos, mat))
    size = torch.as_tensor(model.mj.geom_size)[None]
    before = world_bounds(model.geometry, ids, pos, mat, size)
    for spoilt in (pos, mat):
        spoilt[1] = torch.nan
        after = world_bounds(model.geometry, ids, pos, mat, size)
        assert torch.equal(before[[0, 2]], after[[0, 2]])
        assert not torch.isfinite(after[1]).any()


@pytest.mark.slow  # for a kernel that no other test needs
def test_environments_with_sizes_and_places_of_their_own(solver, model):
    """MuJoCo with the same numbers is the oracle; what stood still in all has a copy for each then."""
    mjm, g = copy.copy(model.mj), model.mj.geom("box").id
    solver.reset()
    size, shelf = np.array([0.3, 0.2, 0.1]), model.mj.geom("shelf").id
    moved = mjm.geom_pos[shelf] + [0, 0, 1]
    solver.set_parameters("geom_size", np.where(np.arange(mjm.ngeom)[:, None] == g, size, mjm.geom_size), [1])
    solver.set_parameters("geom_pos", np.where(np.arange(mjm.ngeom)[:, None] == shelf, moved, mjm.geom_pos), [1])
    boxes, shelves, corners = solver.geom_aabb(), solver.geom_verts("shelf"), solver.geom_verts("box")
    mjm.geom_size[g] = size
    data = mujoco.MjData(mjm)
    mujoco.mj_kinematics(mjm, data)
    points = surface(mjm, g) @ data.geom_xmat[g].reshape(3, 3).T + data.geom_xpos[g]
    assert boxes[1, g].numpy() == pytest.approx(np.stack([points.min(0), points.max(0)]), abs=SINGLE)
    assert corners[1].amax(0).numpy() == pytest.approx(points.max(0), abs=SINGLE)
    assert not torch.allclose(boxes[0, g], boxes[1, g])
    assert (shelves[1] - shelves[0]).numpy() == pytest.approx(np.tile([0, 0, 1.0], (shelves.shape[1], 1)), abs=SINGLE)


def test_names_that_no_geom_has(solver):
    with pytest.raises(KeyError, match="did you mean"):
        solver.geom_aabb("spher")
    with pytest.raises(IndexError, match="geom 99: the model has geoms 0 to 12"):
        solver.geom_verts(99)
    with pytest.raises(ValueError, match="sphere \\(sphere\\) has no vertices"):
        solver.geom_verts("sphere")
    with pytest.raises(ValueError, match="not drawn"):
        solver.geom_verts("box", visual=True)
    with pytest.raises(IndexError):
        solver.geom_aabb(envs_idx=[7])
