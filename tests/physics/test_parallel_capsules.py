"""Capsules that are almost parallel: MuJoCo's contacts, on both sides of its switch from one contact to two.

In single precision at the same rounded pose, as the force and torque that the contacts exert: where two capsules cross
at a thousandth of a radian, an error of 1e-7 of their directions moves the place where they touch by centimetres.
"""

import mujoco
import numpy as np
import pytest

from tumble.physics import Model, RigidSolver

from .starts import run_with

SWITCH = 1e-4
"""Angle (rad) below which MuJoCo 4.0 finds two contacts: the sine's square against 1e-8."""
ANGLES = np.setdiff1d(np.logspace(-8, -1, 71), [SWITCH])
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
