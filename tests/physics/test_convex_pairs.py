"""Convex shapes by GJK and EPA: what their contacts say holds, and they are MuJoCo's.

A contact's normal proves its distance: of both shapes' farthest points along it the planes are so far apart. No other
normal may prove that the shapes are farther apart (or overlap less), MuJoCo's included.
"""

import mujoco
import numpy as np
import pytest
import torch
from scipy.optimize import brentq

import tumble
from tumble.physics import Model, RigidSolver

from .test_contact_sets import APART, ASSETS, SHAPES

POSES = 400
REACH = 0.012
"""Metres: detection distance."""
CUBE = " ".join(f"{0.08 * x} {0.06 * y} {0.07 * z}" for x in (-1, 1) for y in (-1, 1) for z in (-1, 1))
ROUNDED = np.random.default_rng(3).standard_normal((200, 3))
ROUNDED *= np.array([0.07, 0.09, 0.06]) / np.linalg.norm(ROUNDED, axis=1)[:, None]
ROCK = " ".join(str(x) for x in ROUNDED.ravel())
"""Of so many vertices that the farthest is sought by climbing."""
MESHES = ASSETS.replace("</asset>", f'<mesh name="cube" vertex="{CUBE}"/><mesh name="rock" vertex="{ROCK}"/></asset>')
ALL = {**SHAPES, "cube": 'type="mesh" mesh="cube"', "rock": 'type="mesh" mesh="rock"'}
SMOOTH = [("sphere", "ellipsoid"), ("sphere", "pebble"), ("capsule", "ellipsoid")]
SMOOTH += [("ellipsoid", name) for name in ("ellipsoid", "cylinder", "box", "splinter")]
ROUND = [("capsule", name) for name in ("cylinder", "pebble", "prism", "cube")]
ROUND += [("cylinder", name) for name in ("cylinder", "box", "splinter", "prism")]
FLAT = [
    ("box", "pebble"),
    ("box", "cube"),
    ("box", "prism"),
    ("pebble", "splinter"),
    ("cube", "prism"),
    ("cube", "cube"),
]
DENSE = [("box", "rock"), ("rock", "rock")]
PAIRS = SMOOTH + ROUND + FLAT + DENSE
OTHERWISE = {
    **dict.fromkeys(SMOOTH, 0.005),
    **dict.fromkeys(FLAT, 0.01),
    **dict.fromkeys(ROUND, 0.04),
    **dict.fromkeys(DENSE, 0.01),
}
"""Share of the contacts that may be others than MuJoCo's: where edges are parallel one contact may be anywhere along
them; and MuJoCo clips some deep cylinders by a face that hardly looks at the other shape, which says nothing."""
NAMES = [f"{a}-{b}" for a, b in PAIRS]


def side_by_side(flag: str) -> mujoco.MjModel:
    """For each pair one geom fixed in the world and one on a free body; they touch nothing but each other.

    The row of pairs has its middle at the origin: far from it single precision rounds positions more.
    """
    world = "".join(
        f'<geom name="fixed{k}" {ALL[a]} pos="{(k - len(PAIRS) // 2) * APART} 0 0" contype="{1 << k}" conaffinity="0"/>'
        f'<body pos="{(k - len(PAIRS) // 2) * APART} 0 0"><freejoint/>'
        f'<geom name="moving{k}" {ALL[b]} contype="0" conaffinity="{1 << k}"/></body>'
        for k, (a, b) in enumerate(PAIRS)
    )
    option = f'<option ccd_tolerance="1e-12" ccd_iterations="500"><flag multiccd="{flag}"/></option>'
    margins = f'<default><geom margin="{REACH / 4}" gap="{REACH / 4}"/></default>'
    return mujoco.MjModel.from_xml_string(f"<mujoco>{option}{margins}{MESHES}<worldbody>{world}</worldbody></mujoco>")


def support(mjm: mujoco.MjModel, data: mujoco.MjData, g: int, direction: np.ndarray) -> np.ndarray:
    """The point of a geom that is farthest in a direction."""
    axes, size, kind = data.geom_xmat[g].reshape(3, 3), mjm.geom_size[g], mujoco.mjtGeom(mjm.geom_type[g]).name[7:]
    local = axes.T @ direction
    if kind == "MESH":
        mesh = mjm.geom_dataid[g]
        vertices = mjm.mesh_vert[mjm.mesh_vertadr[mesh] :][: mjm.mesh_vertnum[mesh]].astype(float)
        point = vertices[(vertices @ local).argmax()]
    elif kind == "CYLINDER":
        across = np.hypot(local[0], local[1])
        point = np.array([*(local[:2] * (size[0] / max(across, 1e-30))), size[1] * np.sign(local[2])])
    elif kind == "ELLIPSOID":
        point = size * size * local / np.linalg.norm(size * local)
    elif kind == "BOX":
        point = size * np.sign(local)
    elif kind == "PLANE":  # along its normal
        point = np.zeros(3)
    else:
        point = size[0] * local + np.array([0, 0, size[1] * np.sign(local[2])])
    return data.geom_xpos[g] + axes @ point


def gap_along(mjm: mujoco.MjModel, data: mujoco.MjData, pair: np.ndarray, normal: np.ndarray) -> float:
    """How far apart the planes of both shapes across a normal are; negative: they overlap."""
    return float(normal @ (support(mjm, data, pair[1], -normal) - support(mjm, data, pair[0], normal)))


def geoms(mjm: mujoco.MjModel, k: int) -> np.ndarray:
    """Both geoms of a pair, the smaller type first."""
    pair = [mjm.geom(f"fixed{k}").id, mjm.geom(f"moving{k}").id]
    return np.array(sorted(pair, key=lambda g: mjm.geom_type[g]))


def poses(mjm: mujoco.MjModel, pairs: list[tuple[str, str]] = PAIRS, count: int = POSES, far: float = 0) -> np.ndarray:
    """Any orientation, or with sides parallel up to 0.1 rad; from deep inside to the end of reach, often just there.

    A share `far` of them is farther apart, and as many others are turned by 45 degrees, edge to edge.
    """
    rng = np.random.default_rng(0)
    qpos, data = np.tile(mjm.qpos0, (count, 1)), mujoco.MjData(mjm)
    mujoco.mj_kinematics(mjm, data)
    for k, (first, _) in enumerate(pairs):
        fixed, moving = mjm.geom(f"fixed{k}").id, mjm.geom(f"moving{k}").id
        turn = rng.standard_normal((count, 4))
        flat = rng.random(count) < 0.6
        quarter = np.array([[1.0, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1]])[rng.integers(4, size=count)]
        tilt = np.array([0, 0, 1e-3, 1e-2, 3e-2, 0.1])[rng.integers(6, size=count)]
        way = rng.standard_normal((count, 3))
        along = rng.random(count) < 0.5
        way[along] = (np.eye(3)[rng.integers(3, size=count)] * rng.choice([-1, 1], (count, 1)))[along]
        gap = np.where(rng.random(count) < 0.7, rng.uniform(-0.01, REACH, count), rng.uniform(-0.1, 0, count))
        if far:
            kind = rng.random(count)
            gap[kind < far] = rng.uniform(REACH, 0.3, count)[kind < far]
            edges = kind > 1 - far
            flat |= edges
            quarter[edges, 1:] *= np.tan(np.pi / 8)
            way[edges] = rng.choice([-1, 1], (count, 3))[edges] * (rng.random((count, 3)) < 2 / 3)[edges] + 1e-9
        turn[flat] = (quarter + tilt[:, None] * turn)[flat]
        turn /= np.linalg.norm(turn, axis=1)[:, None]
        if first == "plane":
            way[:] = data.geom_xmat[fixed].reshape(3, 3)[:, 2]
        way /= np.linalg.norm(way, axis=1)[:, None]
        for env in range(count):
            qpos[env, 7 * k + 3 : 7 * k + 7] = turn[env]
            mujoco.mju_quat2Mat(data.geom_xmat[moving], turn[env])
            apart = gap_along(mjm, data, np.array([fixed, moving]), way[env])
            aside = np.cross(way[env], rng.standard_normal(3)) * 0.03
            qpos[env, 7 * k : 7 * k + 3] += way[env] * (gap[env] - apart) + aside
    return qpos


def listed(mjm: mujoco.MjModel, pairs: np.ndarray, dist: np.ndarray, pos: np.ndarray, frame: np.ndarray) -> dict:
    """For each pair its contacts: distance, place, normal; (n, 7). Geoms that move come behind as many of the world."""
    found: dict[int, list] = {}
    rows = zip(np.reshape(pairs, (-1, 2)), np.reshape(dist, -1), np.reshape(pos, (-1, 3)), strict=True)
    for (pair, far, place), normal in zip(rows, np.reshape(frame, (-1, 9))[:, :3], strict=True):
        found.setdefault(int(pair.max()) - mjm.ngeom // 2, []).append([far, *place, *normal])
    return {k: np.array(contacts) for k, contacts in found.items()}


def ours(mjm: mujoco.MjModel, qpos: np.ndarray) -> list[dict]:
    """Tumble's contacts of every environment."""
    solver = RigidSolver(Model.from_mjmodel(mjm), len(qpos))
    solver.set_state(qpos=torch.as_tensor(qpos, dtype=solver.dtype))
    solver.forward()
    names = ("contact_geom", "contact_dist", "contact_pos", "contact_frame")
    return [listed(mjm, *(found[name] for name in names)) for found in map(solver.inspect, range(len(qpos)))]


def theirs(mjm: mujoco.MjModel, qpos: np.ndarray) -> list[dict]:
    """MuJoCo's."""
    data, found = mujoco.MjData(mjm), []
    for pose in qpos:
        data.qpos[:] = pose
        mujoco.mj_fwdPosition(mjm, data)
        found.append(listed(mjm, data.contact.geom, data.contact.dist, data.contact.pos, data.contact.frame))
    return found


def same(mine: np.ndarray | None, yours: np.ndarray | None, length: float = 1e-5, turn: float = 1e-3) -> bool:
    """Whether two sets of contacts are one: distances and places to `length` (m), normals to `turn` (0.06 degrees)."""
    if mine is None or yours is None or len(mine) != len(yours):
        return mine is None and yours is None
    left = list(yours)
    for contact in mine:
        best = min(range(len(left)), key=lambda i: np.abs(left[i] - contact).max())
        error = np.abs(left.pop(best) - contact)
        if error[:4].max() > length or error[4:].max() > turn:
            return False
    return True


@pytest.fixture(scope="module", params=["64", "32"])
def single(request) -> tuple:
    """With one contact a pair: precision, model, poses, Tumble's contacts and MuJoCo's."""
    tumble.init(precision=request.param)
    mjm = side_by_side("disable")
    qpos = poses(mjm)
    return request.param, mjm, qpos, ours(mjm, qpos), theirs(mjm, qpos)


@pytest.mark.parametrize("k", range(len(PAIRS)), ids=NAMES)
def test_normals_prove_distances(single, k):
    """To 1e-11 in double precision; in single precision to the rounding of poses, some 1e-7 of what is metres away."""
    precision, mjm, qpos, mine, yours = single
    data, pair = mujoco.MjData(mjm), geoms(mjm, k)
    errors = []
    for env, pose in enumerate(qpos):
        data.qpos[:] = pose
        mujoco.mj_kinematics(mjm, data)
        proven = []
        for contacts in (mine[env].get(k), yours[env].get(k)):
            if contacts is not None:
                normal = contacts[0, 4:].astype(float)
                proven.append(gap_along(mjm, data, pair, normal / np.linalg.norm(normal)))
        if k in mine[env]:
            errors.append(max(abs(mine[env][k][0, 0] - proven[0]), max(proven) - proven[0]))
        elif k in yours[env]:
            assert yours[env][k][0, 0] > REACH - 1e-5, env  # just at the end of reach
    assert len(errors) > POSES // 4
    print(f"{NAMES[k]}: {np.quantile(errors, [0.5, 0.9, 0.99, 1])}")
    assert max(errors) < (2e-11 if precision == "64" else 6e-6)


@pytest.mark.parametrize("k", range(len(PAIRS)), ids=NAMES)
def test_distances_and_normals_are_mujocos(single, k):
    """Where MuJoCo's own normal proves its distance: nobody misses a contact."""
    precision, mjm, qpos, mine, yours = single
    data, pair, wrong = mujoco.MjData(mjm), geoms(mjm, k), 0
    depth, angle = (1e-6, 2e-3) if precision == "64" else (3e-6, 2e-2)
    for env, pose in enumerate(qpos):
        if k not in yours[env] or k not in mine[env]:
            continue
        data.qpos[:] = pose
        mujoco.mj_kinematics(mjm, data)
        contact = yours[env][k][0]
        if abs(gap_along(mjm, data, pair, contact[4:]) - contact[0]) < 1e-9:
            wrong += (
                abs(mine[env][k][0, 0] - contact[0]) > depth or np.abs(mine[env][k][0, 4:] - contact[4:]).max() > angle
            )
    assert wrong <= POSES // 100  # as deep along two normals


def closest_direction(size: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Outward normal of an ellipsoid at the origin where it is closest to a line segment, by roots of derivatives.

    The point of the surface closest to p has a normal along p_i / (t + s_i^2), with the largest t for which it is on
    the surface (Eberly: Distance from a point to an ellipse); on the segment its normal is across it, or an end is it.
    """

    def normal_at(share: float) -> np.ndarray:
        p = start + share * (end - start)
        least = int(size.argmin())
        low, high = np.abs(size * p)[least] + 1e-15 - size[least] ** 2, np.linalg.norm(size * p) - size[least] ** 2
        t = brentq(lambda t: ((size * p / (t + size**2)) ** 2).sum() - 1, low, high, xtol=1e-18, rtol=1e-15)
        normal = p / (t + size**2)
        return normal / np.linalg.norm(normal)

    def slope(share: float) -> float:
        return float(normal_at(share) @ (end - start))

    if slope(0) > 0:
        return normal_at(0)
    return normal_at(1 if slope(1) < 0 else brentq(slope, 0, 1, xtol=1e-15, rtol=1e-15))


def test_directions_between_capsules_and_ellipsoids_are_exact(single):
    """As exact as distances known to 1e-16 can make them, the square root of that; MuJoCo's are up to 1e-5 off."""
    precision, mjm, qpos, mine, yours = single
    k = PAIRS.index(("capsule", "ellipsoid"))
    capsule, ellipsoid = geoms(mjm, k)
    data, ours_off, mujocos_off = mujoco.MjData(mjm), [], []
    for env, pose in enumerate(qpos):
        # the capsule's axis is outside
        if k in mine[env] and k in yours[env] and yours[env][k][0, 0] > -0.9 * mjm.geom_size[capsule, 0]:
            data.qpos[:] = pose
            mujoco.mj_kinematics(mjm, data)
            axes = data.geom_xmat[ellipsoid].reshape(3, 3)
            along = data.geom_xmat[capsule].reshape(3, 3)[:, 2] * mjm.geom_size[capsule, 1]
            ends = [(data.geom_xpos[capsule] + way - data.geom_xpos[ellipsoid]) @ axes for way in (-along, along)]
            exact = -axes @ closest_direction(mjm.geom_size[ellipsoid], *ends)  # from the capsule to the ellipsoid
            ours_off.append(np.abs(mine[env][k][0, 4:] - exact).max())
            mujocos_off.append(np.abs(yours[env][k][0, 4:] - exact).max())
    print(f"{precision}: {np.quantile(ours_off, [0.5, 1])}, MuJoCo's {np.quantile(mujocos_off, [0.5, 1])}")
    assert len(ours_off) > POSES // 4
    assert max(ours_off) < (1e-7 if precision == "64" else 1e-3)


@pytest.fixture(scope="module")
def several() -> tuple:
    """With all contacts: Tumble's, MuJoCo's, and MuJoCo's at eight poses beside."""
    tumble.init(precision="64")
    mjm = side_by_side("enable")
    qpos = poses(mjm)
    rng = np.random.default_rng(1)
    beside = [theirs(mjm, qpos + 1e-10 * rng.standard_normal(qpos.shape)) for _ in range(8)]
    return ours(mjm, qpos), theirs(mjm, qpos), beside


@pytest.mark.parametrize("k", range(len(PAIRS)), ids=NAMES)
def test_sets_of_contacts_are_mujocos(several, k):
    mine, yours, beside = several
    touching, otherwise = 0, []
    for env in range(POSES):
        answers = [found[env].get(k) for found in (yours, *beside)]
        touching += any(answer is not None for answer in answers)
        if not any(same(mine[env].get(k), answer) for answer in answers):
            otherwise.append(env)
    print(f"{NAMES[k]}: {len(otherwise)} of {touching}")
    assert touching > POSES // 4
    assert len(otherwise) <= OTHERWISE[PAIRS[k]] * touching, otherwise
