"""The end of a capsule at a corner of a box: one contact where MuJoCo has one or two, as rounding says."""

import mujoco
import numpy as np
import pytest
import torch

from tumble.physics import Model, RigidSolver

from .starts import run_with

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
