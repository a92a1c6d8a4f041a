"""`solver.distance` and `solver.overlap`: MuJoCo's `mj_geomDistance`, SciPy's hulls and closed forms judge them."""

import itertools
import math

import mujoco
import numpy as np
import pytest
import torch
from scipy.spatial import ConvexHull

import tumble
from tumble.physics import Model, RigidSolver

from ..widths import WIDTH
from .starts import run_in_columns, run_with

BALL = np.random.default_rng(7).normal(size=(24, 3))
BALL *= 0.15 / np.linalg.norm(BALL, axis=1)[:, None]
SHAPES = (
    'type="sphere" size="0.1"',
    'type="capsule" size="0.08 0.2"',
    'type="ellipsoid" size="0.1 0.2 0.15"',
    'type="cylinder" size="0.1 0.15"',
    'type="box" size="0.1 0.2 0.15"',
    'type="mesh" mesh="ball"',
)
# Nothing collides: distances need no pair table, and the kernel of the steps is a small one.
SCENE = f"""
<mujoco>
  <option ccd_tolerance="1e-12" ccd_iterations="500"/>
  <asset><mesh name="ball" vertex="{" ".join(map(str, BALL.ravel()))}"/></asset>
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1" pos="0 0 -0.1" euler="10 20 0"/>
    {"".join(f'<body><freejoint/><geom name="{shape.split(chr(34))[1]}" {shape}/></body>' for shape in SHAPES)}
    <body><freejoint/><geom name="box2" type="box" size="0.15 0.1 0.1"/></body>
    <geom name="wall" type="plane" size="1 1 1" pos="0 0 3"/>
  </worldbody>
</mujoco>"""
N = 60
SPREADS = (0.05, 0.15, 0.3, 1.0)  # m: deep, touching, near and far
EXACT = 1e-9  # m: polytopes end on a face, smooth shapes where bounds are 1e-12 apart
POINTS = 3e-6  # m: where a smooth surface is 1e-12 away, its point may be the root of that away
ROUNDED = 1e-6  # m: in single precision poses within 3 m are rounded by 2e-7 each
POLYHEDRAL = ("capsule", "box", "mesh")  # but for a radius
OWN_ROUTINE = {"capsule", "box"}  # MuJoCo measures these by its contacts, which are no shortest ways out of each other


@pytest.fixture(scope="module")
def mjm() -> mujoco.MjModel:
    """The scene."""
    return mujoco.MjModel.from_xml_string(SCENE)


@pytest.fixture(scope="module")
def qpos(mjm) -> np.ndarray:
    """Poses (N, nq): every shape near the origin, the more so the earlier the environment in its four."""
    rng = np.random.default_rng(0)
    q = rng.normal(size=(N, mjm.nq))
    for start in range(0, mjm.nq, 7):
        q[:, start : start + 3] *= np.resize(SPREADS, N)[:, None]
        q[:, start + 3 : start + 7] /= np.linalg.norm(q[:, start + 3 : start + 7], axis=1)[:, None]
    return q


@pytest.fixture
def precise():
    """Double precision; the tests that ask for it stand together, so that kernels are loaded once."""
    run_with("64")


@pytest.fixture
def single():
    """Single precision."""
    run_with("32")


def all_pairs(mjm: mujoco.MjModel) -> np.ndarray:
    """Every two geoms, both ways round, (npairs, 2)."""
    return np.array(list(itertools.permutations(range(mjm.ngeom), 2)))


def solver_at(mjm: mujoco.MjModel, qpos: np.ndarray) -> RigidSolver:
    """A solver whose environments are evaluated there."""
    solver = RigidSolver(Model.from_mjmodel(mjm), len(qpos))
    solver.set_state(qpos=qpos)
    solver.forward()
    return solver


def mujocos(mjm: mujoco.MjModel, qpos: np.ndarray, pairs: np.ndarray, distmax: float) -> tuple[np.ndarray, np.ndarray]:
    """What `mj_geomDistance` says: (n, npairs) and (n, npairs, 6)."""
    data, point = mujoco.MjData(mjm), np.zeros(6)
    dist, fromto = np.zeros((len(qpos), len(pairs))), np.zeros((len(qpos), len(pairs), 6))
    for env, q in enumerate(qpos):
        data.qpos[:] = q
        mujoco.mj_kinematics(mjm, data)
        for k, (g1, g2) in enumerate(pairs):
            dist[env, k] = mujoco.mj_geomDistance(mjm, data, g1, g2, distmax, point)
            fromto[env, k] = point
    return dist, fromto


def core(mjm: mujoco.MjModel, data: mujoco.MjData, geom: int) -> tuple[np.ndarray, float]:
    """Corners (n, 3) in the world of what a polyhedral geom is around, and by how much."""
    kind, size, radius = mjm.geom(geom).name.rstrip("2"), mjm.geom_size[geom], 0.0
    corners = np.array(list(itertools.product((-1, 1), repeat=3))) * size
    if kind == "capsule":
        corners, radius = np.array([[0, 0, -size[1]], [0, 0, size[1]]]), size[0]
    elif kind == "mesh":
        first, count = mjm.mesh_vertadr[mjm.geom_dataid[geom]], mjm.mesh_vertnum[mjm.geom_dataid[geom]]
        corners = mjm.mesh_vert[first : first + count]
    return corners @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom], radius


def hull_distance(mjm: mujoco.MjModel, q: np.ndarray, g1: int, g2: int) -> float | None:
    """Signed distance of overlapping polyhedra by the hull of their difference; None where their cores are apart."""
    data = mujoco.MjData(mjm)
    data.qpos[:] = q
    mujoco.mj_kinematics(mjm, data)
    (corners1, radius1), (corners2, radius2) = core(mjm, data, g1), core(mjm, data, g2)
    highest = ConvexHull((corners1[:, None] - corners2[None]).reshape(-1, 3)).equations[:, 3].max()
    return None if highest > 0 else highest - radius1 - radius2


def test_every_pair_of_types(mjm, qpos, precise):
    """Distances and points are MuJoCo's where it has the shortest way; where polyhedra overlap, the hull's."""
    pairs, solver = all_pairs(mjm), solver_at(mjm, qpos)
    dist, fromto = (part.numpy() for part in solver.distance(*pairs.T))
    wanted, points = mujocos(mjm, qpos, pairs, 1e6)
    names = [{mjm.geom(int(g)).name.rstrip("2") for g in pair} for pair in pairs]
    by_hull = 0
    for k, kinds in enumerate(names):
        if kinds == {"floor", "wall"}:
            assert np.isinf(dist[:, k]).all()
            continue
        theirs = np.ones(N, bool)
        if kinds <= set(POLYHEDRAL) or kinds == {"capsule"}:
            for env in range(N):
                exact = hull_distance(mjm, qpos[env], *pairs[k])
                if exact is not None:
                    assert abs(dist[env, k] - exact) < EXACT, (env, kinds)
                    by_hull += 1
                theirs[env] = exact is None and (kinds != OWN_ROUTINE or wanted[env, k] > 0)
        np.testing.assert_allclose(dist[theirs, k], wanted[theirs, k], atol=EXACT, err_msg=str(kinds))
    between = np.linalg.norm(fromto[..., 3:] - fromto[..., :3], axis=-1)
    finite = np.isfinite(dist)
    np.testing.assert_allclose(between[finite], np.abs(dist[finite]), atol=EXACT)
    apart = finite & (wanted > 0)
    off = np.linalg.norm((fromto - points)[apart], axis=-1)
    print(f"{by_hull} by hulls, {apart.sum()} apart: points median {np.median(off):.1e}, worst {off.max():.1e}")
    assert by_hull > 200 and np.median(off) < EXACT and np.quantile(off, 0.99) < POINTS
    assert np.isfinite(fromto).all() and (fromto[~finite] == 0).all()


def test_both_ways_round(mjm, qpos, precise):
    """Swapped geoms have the same distance, and the same points swapped, where these are unique."""
    pairs, solver = all_pairs(mjm), solver_at(mjm, qpos)
    there, back = solver.distance(*pairs.T), solver.distance(*pairs.T[::-1])
    np.testing.assert_allclose(there.dist, back.dist, atol=EXACT)
    off = (there.fromto - back.fromto[..., [3, 4, 5, 0, 1, 2]]).norm(dim=-1)
    assert float(off.median()) < EXACT


def test_farthest(mjm, qpos, precise):
    """What is `distmax` apart or farther is told as that, with points of zero, as MuJoCo does; negative ones too."""
    pairs, solver = all_pairs(mjm), solver_at(mjm, qpos)
    whole = solver.distance(*pairs.T)
    for distmax in (0.2, 0.0, -0.05):
        cut = solver.distance(*pairs.T, distmax=distmax)
        beyond = whole.dist >= distmax
        assert 0.1 < beyond.double().mean() < 0.95
        assert (cut.dist[beyond] == distmax).all() and not cut.fromto[beyond].any()
        assert torch.equal(cut.dist[~beyond], whole.dist[~beyond])
        assert torch.equal(cut.fromto[~beyond], whole.fromto[~beyond])


def test_overlap(mjm, qpos, precise):
    """Pairs overlap where their distance is at most the margin."""
    pairs, solver = all_pairs(mjm), solver_at(mjm, qpos)
    dist = solver.distance(*pairs.T).dist
    for margin in (0.0, 0.1, -0.05):
        found = solver.overlap(*pairs.T, margin=margin)
        assert found.dtype == torch.bool and torch.equal(found, dist <= margin)


BALLS = """<mujoco><default><geom contype="0" conaffinity="0"/></default><worldbody>
<geom name="ball" type="sphere" size="0.3"/> <geom name="point" type="sphere" size="0.1"/>
<geom name="rod" type="capsule" size="0.1 0.5"/> <geom name="cross" type="capsule" size="0.2 0.5" euler="90 0 0"/>
<geom name="drum" type="cylinder" size="0.4 1"/> <geom name="disk" type="cylinder" size="0.2 0.1"/>
<geom name="cube" type="box" size="1 2 3"/> <geom name="next" type="box" size="1 1 1" pos="2 0 0"/>
<geom name="on" type="box" size="0.5 0.5 0.5" pos="0 0 3.5"/>
<geom name="egg" type="ellipsoid" size="0.1 0.2 0.3"/> <geom name="floor" type="plane" size="1 1 1"/>
<body pos="7 0 0"><freejoint/><geom size="1"/></body></worldbody></mujoco>"""
CLOSED_FORMS = {
    ("ball", "point"): -0.4,
    ("ball", "rod"): -0.4,
    ("rod", "cross"): -0.3,
    ("rod", "rod"): -0.2,
    ("drum", "disk"): -0.6,
    ("drum", "rod"): -0.5,
    ("cube", "ball"): -1.3,
    ("cube", "next"): 0.0,
    ("cube", "on"): 0.0,
    ("egg", "point"): -0.2,
    ("egg", "egg"): -0.2,
    ("floor", "egg"): -0.3,
    ("floor", "on"): 3.0,
    ("drum", "floor"): -1.0,
}


def test_closed_forms(precise):
    """Centres and axes that fall together, faces that touch: there GJK and EPA have the least to hold."""
    solver = RigidSolver(Model.from_mjcf(BALLS, ccd_tolerance=1e-12, ccd_iterations=500), 1, lanes=WIDTH)
    found = solver.distance(*zip(*CLOSED_FORMS, strict=True))
    np.testing.assert_allclose(found.dist[0], list(CLOSED_FORMS.values()), atol=EXACT)
    between = (found.fromto[0, :, 3:] - found.fromto[0, :, :3]).norm(dim=-1)
    np.testing.assert_allclose(between, found.dist[0].abs(), atol=EXACT)


def test_sizes_of_environments_own(precise):
    """Sizes and frames that an environment has of its own are measured there."""
    solver = RigidSolver(Model.from_mjcf(BALLS), 3)
    size = solver.get_parameters("geom_size")
    size[1, solver.model.mj.geom("ball").id, 0] = 0.5
    solver.set_parameters("geom_size", size)
    pos = solver.get_parameters("geom_pos")
    pos[2, solver.model.mj.geom("point").id] = torch.tensor([0.0, 0.0, 1.0])
    solver.set_parameters("geom_pos", pos)
    found = solver.distance("ball", "point").dist[:, 0]
    np.testing.assert_allclose(found, [-0.4, -0.6, 0.6], atol=EXACT)
    assert solver.overlap("ball", "point").flatten().tolist() == [True, True, False]
    np.testing.assert_allclose(solver.distance("ball", "point", envs_idx=[2, 1]).dist[:, 0], [0.6, -0.6], atol=EXACT)


def test_one_environment_is_not_finite(mjm, qpos, precise):
    """Others have the bits that they have without it."""
    pairs, solver = all_pairs(mjm), solver_at(mjm, qpos)
    before = solver.distance(*pairs.T)
    solver.set_state(qpos=np.full((1, mjm.nq), np.nan), envs_idx=[4])
    solver.forward()
    after, others = solver.distance(*pairs.T), np.arange(N) != 4
    for old, new in zip(before, after, strict=True):
        assert torch.equal(old[others], new[others])
    fields = solver._driver.evaluate(("xpos", "xquat", "root_offset"), None)
    fields["root_offset"][4] = math.nan
    poor = solver._envs.distances.measure(pairs, fields, {}, math.inf)
    moving = ~np.isin(pairs, [0, mjm.ngeom - 1]).all(axis=1)
    assert poor.dist[4][moving].isnan().all() and torch.equal(poor.dist[others], before.dist[others])


def test_far_from_the_origin(single):
    """Single precision keeps the digits of distances inside a tree, wherever that is."""
    links = (
        '<geom name="a" size="0.1"/><body pos="0.5 0 0"><joint/><geom name="b" type="box" size="0.1 0.1 0.1"/></body>'
    )
    bodies = f'<body><freejoint/>{links}</body><geom name="c" size="1"/>'
    xml = f'<mujoco><default><geom contype="0"/></default><worldbody>{bodies}</worldbody></mujoco>'
    solver = RigidSolver(Model.from_mjcf(xml), 2)
    qpos = solver.qpos
    qpos[1, :3] = torch.tensor([3e4, -2e4, 1e4])
    solver.set_state(qpos=qpos)
    solver.forward()
    np.testing.assert_allclose(solver.distance("a", "b").dist, 0.3, atol=ROUNDED)
    assert float(solver.distance("a", "c").dist[1, 0]) == pytest.approx(math.sqrt(14) * 1e4 - 1.1, rel=1e-6)


def test_whom_it_asks(mjm, qpos, single):
    """Names and numbers, one against many, some environments; wrong ones are named."""
    solver = solver_at(mjm, qpos)
    ids = [mjm.geom(name).id for name in ("sphere", "box")]
    both = solver.distance("floor", ["sphere", "box"])
    assert both.dist.shape == (N, 2) and both.fromto.shape == (N, 2, 6) and both.dist.dtype == solver.dtype
    assert torch.equal(both.dist, solver.distance(0, np.array(ids)).dist)
    assert torch.equal(both.dist[[5, 2], 1:], solver.distance("floor", "box", envs_idx=[5, 2]).dist)
    assert solver.distance([], []).dist.shape == (N, 0)
    assert solver.overlap(0, ids, envs_idx=[1]).shape == (1, 2)
    with pytest.raises(KeyError, match="sphere"):
        solver.distance("spere", "box")
    with pytest.raises(IndexError, match="geom 99: the model has geoms 0 to 8"):
        solver.distance(99, "box")
    with pytest.raises(ValueError, match="2 geoms 1 and 3 geoms 2"):
        solver.distance([0, 1], [2, 3, 4])
    with pytest.raises(ValueError, match="distmax=nan: expected a number"):
        solver.distance(0, 1, distmax=math.nan)
    with pytest.raises(IndexError, match="60"):
        solver.overlap(0, 1, envs_idx=[N])


def test_nothing_is_compiled_unasked(mjm, qpos):
    """The kernel is made with the first question."""
    tumble.init(precision="32")
    solver = solver_at(mjm, qpos)
    solver.step()
    assert not any(key[0] == "distances" for key in solver.runtime.pool)
    solver.overlap(0, 1)
    assert any(key[0] == "distances" for key in solver.runtime.pool)


def distances_by(starts, mjm, qpos):
    """The distances of all pairs after each of some starts."""
    pairs, found = all_pairs(mjm), []
    for start in starts:
        start()
        found.append([part.double() for part in solver_at(mjm, qpos).distance(*pairs.T)])
    return found


def test_both_precisions(mjm, qpos, single):
    """Single precision differs by the rounding of poses."""
    exact, rounded = distances_by((lambda: run_with("64"), lambda: run_with("32")), mjm, qpos)
    assert torch.allclose(rounded[0], exact[0], rtol=0, atol=ROUNDED)


@pytest.mark.slow
def test_both_drivers(mjm, qpos, single):
    """The GPU's driver has the bits of the CPU's."""
    lanes, columns = distances_by((lambda: run_with("32"), run_in_columns), mjm, qpos)
    assert all(map(torch.equal, lanes, columns))
