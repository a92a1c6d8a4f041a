"""Contacts of capsules: at corners, at small angles and at shared ends."""

import mujoco
import numpy as np
import pytest
import torch

from tumble.physics import Model, RigidSolver

from .starts import run_with
from .test_convex_pairs import gap_along

# -- The end of a capsule at a corner of a box: one contact where MuJoCo has one or two, as rounding says


POSES, BESIDE, MOVED = 120, 8, 1e-10
SIZE, RADIUS, HALF = np.array([0.1, 0.05, 0.07]), 0.04, 0.09
XML = f"""<mujoco><worldbody><geom type="box" size="{SIZE[0]} {SIZE[1]} {SIZE[2]}"/>
  <body><freejoint/><geom type="capsule" size="{RADIUS} {HALF}"/></body></worldbody></mujoco>"""


def poses(aligned: bool) -> np.ndarray:
    """qpos, (POSES, 7): an end of the capsule is beyond a corner, its axis points away; along a side if `aligned`."""
    rng, found = np.random.default_rng(0), []
    for _ in range(POSES):
        signs = rng.choice([-1, 1], 3)
        out = np.abs(rng.standard_normal(3)) * signs
        axis = np.eye(3)[rng.integers(3)] * signs if aligned else rng.standard_normal(3)
        axis *= np.sign(axis @ out) / np.linalg.norm(axis)
        center = SIZE * signs + out / np.linalg.norm(out) * rng.uniform(0.01, 0.035) + axis * HALF
        turn = np.array([1 + axis[2], -axis[1], axis[0], 0]) if axis[2] > -0.999 else np.array([0.0, 1, 0, 0])
        found.append([*center, *(turn / np.linalg.norm(turn))])
    return np.array(found)


def mujocos(mjm: mujoco.MjModel, qpos: np.ndarray) -> list[np.ndarray]:
    """MuJoCo's contacts of each pose: distance and place, (n, 4)."""
    data, found = mujoco.MjData(mjm), []
    for pose in qpos:
        data.qpos[:] = pose
        mujoco.mj_fwdPosition(mjm, data)
        found.append(np.column_stack([data.contact.dist, data.contact.pos]))
    return found


def ours(mjm: mujoco.MjModel, qpos: np.ndarray) -> list[np.ndarray]:
    """Tumble's, likewise."""
    solver = RigidSolver(Model.from_mjmodel(mjm), len(qpos))
    solver.set_state(qpos=torch.as_tensor(qpos, dtype=solver.dtype))
    solver.forward()
    found = map(solver.inspect, range(len(qpos)))
    return [np.column_stack([np.ravel(f["contact_dist"]), np.reshape(f["contact_pos"], (-1, 3))]) for f in found]


@pytest.fixture(scope="module")
def mjm() -> mujoco.MjModel:
    """A box and a free capsule."""
    run_with("64")
    return mujoco.MjModel.from_xml_string(XML)


def test_one_contact_where_mujoco_tosses_a_coin(mjm):
    """Poses beside each other have one contact; MuJoCo has one in some of them and two in others, at one place."""
    qpos, rng = poses(aligned=True), np.random.default_rng(1)
    moved = np.concatenate([qpos + MOVED * rng.standard_normal(qpos.shape) for _ in range(BESIDE)])
    yours, mine = mujocos(mjm, moved), ours(mjm, moved)
    doubled = [len(found) == 2 and np.abs(found[0] - found[1]).max() < 1e-8 for found in yours]
    flips = np.reshape(doubled, (BESIDE, POSES))
    assert (flips.any(0) & ~flips.all(0)).mean() > 0.8
    for found, other in zip(mine, yours, strict=True):
        assert len(found) == 1
        np.testing.assert_allclose(found[0], other[0], atol=1e-12)


def test_two_contacts_where_mujoco_has_them(mjm):
    """In other poses MuJoCo's second contact is no coin, and Tumble has it."""
    qpos = poses(aligned=False)
    yours, mine = mujocos(mjm, qpos), ours(mjm, qpos)
    assert sum(len(found) == 2 for found in yours) > POSES // 4
    for found, other in zip(mine, yours, strict=True):
        np.testing.assert_allclose(found, other, atol=1e-12)


# -- Capsules that are almost parallel: MuJoCo's contacts, on both sides of its switch from one contact to two
# In single precision at the same rounded pose, as the force and torque that the contacts exert: where two capsules
# cross at a thousandth of a radian, an error of 1e-7 of their directions moves the place where they touch by
# centimetres.


SWITCH = 1e-4
"""Angle (rad) below which MuJoCo 4.0 finds two contacts: the sine's square against 1e-8."""
ANGLES = np.logspace(-8, -1, 71)
ANGLES = np.sort(np.append(ANGLES[np.abs(ANGLES / SWITCH - 1) > 0.01], [0.989 * SWITCH, 1.011 * SWITCH]))
PLACE, DEPTH = 1e-7, 1e-12
"""Metres: a direction's rounding, 1e-16, moves a place by 1e-16 / SWITCH^2 of the distance between the axes."""
WRENCH = {"64": 1e-6, "32": 1e-3}
"""Of the largest component of the wrench."""
SHAPES = {
    "equal": ('size=".04 .2"', 'size=".04 .2"', ".03 0 .079"),
    "long on short": ('size=".04 .05"', 'size=".03 .3"', "-.02 .004 .0685"),
    "short on long": ('size=".03 .3"', 'size=".04 .05"', ".11 0 .0685"),
    "end to end": ('size=".04 .2"', 'size=".04 .2"', ".34 .01 .077"),
}
FIXED = """<mujoco><option gravity="0 0 0"/><worldbody><geom type="capsule" {0} euler="0 90 0"/>
<body pos="{2}"><freejoint/><geom type="capsule" {1} euler="0 90 0"/></body></worldbody></mujoco>"""
JOINTED = """<mujoco><option gravity="0 0 0"><flag filterparent="disable"/></option><worldbody>
<body pos="0 0 1" euler="10 20 30"><joint axis="0 1 0" pos=".1 0 0"/><geom type="capsule" {0} euler="0 90 0"/>
<body pos="{2}"><joint type="slide" axis="0 0 1"/><joint type="ball"/><geom type="capsule" {1} euler="0 90 0"/></body>
</body></worldbody></mujoco>"""


def turned(axis: str, angles: np.ndarray) -> np.ndarray:
    """Quaternions of a turn about a vertical axis (yaw), a lying one (roll), or both."""
    direction = {"yaw": [0, 0, 1], "roll": [0, 1, 0], "both": [0, 0.6, 0.8]}[axis]
    half = angles[:, None] / 2
    return np.hstack([np.cos(half), np.sin(half) * direction])


def wrench(places: np.ndarray, frames: np.ndarray, depths: np.ndarray) -> np.ndarray:
    """Force and torque about the moving body's origin of springs of 1 N/m at the contacts."""
    total = np.zeros(6)
    for place, frame, depth in zip(places, frames, depths, strict=True):
        force = -min(depth, 0.0) * frame[:3]
        total += np.concatenate([force, np.cross(place, force)])
    return total


@pytest.mark.parametrize("tree", [FIXED, JOINTED], ids=["fixed", "jointed"])
@pytest.mark.parametrize(
    ("precision", "axis"),
    [
        *(("64", axis) for axis in ("yaw", "roll", "both")),
        ("32", "both"),
        *(pytest.param("32", axis, marks=pytest.mark.slow) for axis in ("yaw", "roll")),
    ],
)
@pytest.mark.parametrize("shape", SHAPES)
def test_contacts_of_capsules_at_any_small_angle_are_mujocos(precision, shape, axis, tree):
    """As many, and their wrench; in double precision their places and depths too."""
    run_with(precision)
    mjm = mujoco.MjModel.from_xml_string(tree.format(*SHAPES[shape]))
    data, qpos = mujoco.MjData(mjm), np.tile(mjm.qpos0, (len(ANGLES), 1))
    qpos[:, -4:] = turned(axis, ANGLES)
    if precision == "32":
        qpos = qpos.astype(np.float32).astype(float)
    solver = RigidSolver(Model.from_mjmodel(mjm), len(ANGLES))
    solver.set_state(qpos=qpos)
    solver.forward()
    touching = 0
    for env, angle in enumerate(ANGLES):
        data.qpos[:] = qpos[env]
        mujoco.mj_forward(mjm, data)
        ours, theirs = solver.inspect(env), data.contact
        assert len(ours["contact_dist"]) == len(theirs.dist), angle
        theirs_at, ours_at = (np.reshape(pos, (-1, 3)) - data.xpos[-1] for pos in (theirs.pos, ours["contact_pos"]))
        expected = wrench(theirs_at, theirs.frame, theirs.dist)
        found = wrench(ours_at, ours["contact_frame"], ours["contact_dist"])
        scale = max(np.abs(expected).max(), 1e-12)
        np.testing.assert_allclose(found / scale, expected / scale, atol=WRENCH[precision], err_msg=f"{angle}")
        if precision == "64":
            np.testing.assert_allclose(ours_at, theirs_at, atol=PLACE, err_msg=f"{angle}")
            np.testing.assert_allclose(ours["contact_dist"], theirs.dist, atol=DEPTH, err_msg=f"{angle}")
        touching += len(theirs.dist)
    assert touching > len(ANGLES)


# -- Capsules and spheres that share an end, as limbs at a joint do: the difference of their centres is rounding


ELBOWS = """<mujoco><option gravity="0 0 0"><flag filterparent="disable"/></option><worldbody>
<body pos=".5 -.3 .2"><joint type="ball"/>
  <geom name="upper" type="capsule" size=".04" fromto="0 0 0 .2 .2 .15" contype="1" conaffinity="0"/>
  <body pos=".2 .2 .15"><joint type="ball"/>
    <geom name="lower" type="capsule" size=".03" fromto="0 0 0 -.25 -.2 -.15" contype="0" conaffinity="1"/></body>
</body>
<geom name="bone" type="capsule" size=".04" fromto="1.5 -.3 .2 1.7 -.1 .35" contype="2" conaffinity="0"/>
<body pos="1.7 -.1 .35"><joint type="ball"/>
  <geom name="head" type="sphere" size=".05" mass="1" contype="0" conaffinity="2"/></body>
</worldbody></mujoco>"""
COUNT = 200
PROVEN = {"64": 1e-11, "32": 1e-5}
"""m: how far a normal may be from proving the depth; the radii are 30 to 50 mm."""


@pytest.mark.parametrize("precision", ["64", "32"])
def test_normals_at_a_shared_end_prove_the_depth(precision):
    """No other direction separates the shapes by less; one of rounding asks for a push along a limb, of decimetres."""
    run_with(precision)
    mjm = mujoco.MjModel.from_xml_string(ELBOWS)
    qpos = np.random.default_rng(0).standard_normal((COUNT, 3, 4))
    qpos[::2, 1] = [1, 0, 0, 0] + 0.1 * qpos[::2, 1]  # almost folded together
    qpos = (qpos / np.linalg.norm(qpos, axis=2, keepdims=True)).reshape(COUNT, 12)
    solver = RigidSolver(Model.from_mjmodel(mjm), COUNT)
    solver.set_state(qpos=torch.as_tensor(qpos, dtype=solver.dtype))
    solver.forward()
    found, data, wrong = solver.contacts, mujoco.MjData(mjm), []
    for env in range(COUNT):
        data.qpos[:] = solver.qpos[env].double().numpy()
        mujoco.mj_forward(mjm, data)
        assert data.ncon == int((found.mask[env] > 0).sum()) == 2
        for k in range(2):
            pair, frame = found.geom[env, k].numpy().astype(int), found.frame[env, k].double().numpy()
            dist = float(found.dist[env, k])
            theirs = next(c for c in data.contact if set(c.geom) == set(pair))
            assert abs(dist - theirs.dist) < PROVEN[precision]
            wrong.append(abs(gap_along(mjm, data, pair, frame[0]) - dist))
    assert max(wrong) < PROVEN[precision]
