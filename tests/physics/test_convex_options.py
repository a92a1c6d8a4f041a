"""The other ways to contacts of convex shapes: portal refinement, and more contacts by tilts."""

import mujoco
import numpy as np
import pytest
import torch
from scipy.spatial import ConvexHull

import tumble
from tumble.physics import Model, RigidSolver
from tumble.physics.collision.tilts import ANGLE

from .test_convex_pairs import NAMES, REACH, gap_along, geoms, listed, poses, side_by_side

POSES = 150
PROVEN = 2e-11
"""Metres: what a normal says of its distance (test_convex_pairs)."""
EXCESS = {"64": (1e-7, 5e-4), "32": (1e-6, 5e-4)}
"""Metres that depths by portals are above EPA's, of 99 % and of all: the foot of the origin lies in a portal of finite
size; and where many small faces are nearly as deep, a portal may end at one that is deeper than its neighbours."""
SURFACE = 2e-5
"""Metres, and so much more as the angle of two turns times how far both points are apart: they face each other but for
that angle."""


@pytest.fixture(autouse=True, scope="module")
def single_precision_afterwards():
    """Later tests in this process make their solvers of the runtime that they find."""
    yield
    tumble.init(precision="32")


def contacts(mjm: mujoco.MjModel, qpos: np.ndarray, **options: str) -> list[dict]:
    """Of every environment, by pair: distance, place, normal."""
    solver = RigidSolver(Model.from_mjmodel(mjm, **options), len(qpos))
    solver.set_state(qpos=torch.as_tensor(qpos, dtype=solver.dtype))
    solver.forward()
    names = ("contact_geom", "contact_dist", "contact_pos", "contact_frame")
    return [listed(mjm, *(found[name] for name in names)) for found in map(solver.inspect, range(len(qpos)))]


@pytest.mark.parametrize("precision", ["64", "32"])
def test_portals_find_what_gjk_and_epa_find(precision):
    """No contact is missed, none is a phantom; a normal parts the shapes by the depth, which is never too small."""
    tumble.init(precision=precision)
    mjm = side_by_side("disable")
    qpos = poses(mjm, count=POSES)
    expected, found = contacts(mjm, qpos), contacts(mjm, qpos, convex="mpr")
    data, excess, otherwise = mujoco.MjData(mjm), [], 0
    for env, pose in enumerate(qpos):
        data.qpos[:] = pose
        mujoco.mj_kinematics(mjm, data)
        for k in range(len(NAMES)):
            one, other = (side[env].get(k) for side in (expected, found))
            assert (one is None) == (other is None) or max(
                c[0, 0] for c in (one, other) if c is not None
            ) > REACH - 1e-5
            if one is not None and other is not None:
                excess.append(one[0, 0] - other[0, 0])
                otherwise += excess[-1] != 0
                if precision == "64":
                    gap = gap_along(mjm, data, geoms(mjm, k), other[0, 4:] / np.linalg.norm(other[0, 4:]))
                    assert abs(gap - other[0, 0]) < PROVEN, (env, NAMES[k])
    print(f"portals: {len(excess)} contacts, excess {np.quantile(excess, [0.5, 0.99, 1])}")
    assert len(excess) > POSES * len(NAMES) // 3 and otherwise > 50  # GJK and EPA did not answer everything
    assert min(excess) > (-PROVEN if precision == "64" else -1e-7)
    assert np.quantile(excess, 0.99) < EXCESS[precision][0] and max(excess) < EXCESS[precision][1]


def test_tilts_add_points_of_both_surfaces():
    """Up to five contacts, the first MuJoCo's; each between points of both surfaces that face each other there."""
    tumble.init(precision="64")
    mjm = side_by_side("disable")
    qpos = poses(mjm, count=POSES)
    expected, found = contacts(mjm, qpos), contacts(mjm, qpos, manifold="tilts")
    data, counts = mujoco.MjData(mjm), np.zeros(6, int)
    for env, pose in enumerate(qpos):
        data.qpos[:] = pose
        mujoco.mj_kinematics(mjm, data)
        for k, several in found[env].items():
            counts[len(several)] += 1
            assert np.array_equal(several[0], expected[env][k][0]), (env, NAMES[k])
            assert (several[:, 0] < REACH).all() and np.allclose(several[:, 4:], several[0, 4:])
            apart = np.linalg.norm(several[:, None, 1:4] - several[None, :, 1:4], axis=2)
            assert (apart + np.eye(len(several)) > 1e-4).all(), (env, NAMES[k])  # none twice
            for dist, *place in several[1:, :4]:
                for g, side in zip(geoms(mjm, k), (1, -1), strict=True):
                    point = np.array(place) - side * 0.5 * dist * several[0, 4:]
                    local = data.geom_xmat[g].reshape(3, 3).T @ (point - data.geom_xpos[g])
                    assert abs(outside(mjm, g, local)) < SURFACE + 2 * ANGLE * abs(dist), (env, NAMES[k])
    assert (counts[[2, 3, 4, 5]] > 20).all() and counts[1] > 100, counts


def outside(mjm: mujoco.MjModel, g: int, x: np.ndarray) -> float:
    """How far a point in a geom's frame is outside, to first order (m)."""
    size, kind = mjm.geom_size[g], mujoco.mjtGeom(mjm.geom_type[g]).name[7:]
    if kind == "MESH":
        mesh = mjm.geom_dataid[g]
        points = mjm.mesh_vert[mjm.mesh_vertadr[mesh] :][: mjm.mesh_vertnum[mesh]].astype(float)
        planes = ConvexHull(points).equations
        return float((planes[:, :3] @ x + planes[:, 3]).max())
    if kind == "BOX":
        return float((np.abs(x) - size).max())
    if kind == "ELLIPSOID":
        length = np.linalg.norm(x / size)
        return float((length - 1) * length / np.linalg.norm(x / size**2))
    if kind == "CYLINDER":
        return float(max(np.hypot(x[0], x[1]) - size[0], abs(x[2]) - size[1]))
    middle = np.clip(x[2], -size[1], size[1]) if kind == "CAPSULE" else 0.0
    return float(np.linalg.norm(x - [0, 0, middle]) - size[0])


@pytest.mark.parametrize(("option", "value"), [("convex", "xeno"), ("manifold", "five")])
def test_an_unknown_way_is_refused(option, value):
    with pytest.raises(ValueError, match=f"option {option}: '{value}' is neither"):
        Model.from_mjcf("<mujoco/>", **{option: value})


@pytest.mark.parametrize("options", [{"convex": "mpr"}, {"manifold": "tilts"}], ids=["mpr", "tilts"])
def test_neighbours_change_no_bit(options):
    tumble.init(precision="32")
    mjm = side_by_side("disable")
    qpos = poses(mjm, count=POSES)
    order, ends = np.random.default_rng(0).permutation(POSES), []
    for chosen in (np.arange(POSES), order):
        solver = RigidSolver(Model.from_mjmodel(mjm, **options), POSES)
        solver.set_state(qpos=torch.as_tensor(qpos[chosen], dtype=solver.dtype))
        solver.step(3)
        ends.append(solver.qpos)
    assert torch.equal(ends[0][order], ends[1])
