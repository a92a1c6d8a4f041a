"""In any pose, shallow, deep or just within reach: the same contacts as MuJoCo, with their distances and places."""

import mujoco
import numpy as np
import pytest
import torch

import tumble
from tumble.physics import Model, RigidSolver

POSES = 1000
EXACT = 1e-12
"""Metres: double rounding of bodies of a decimetre some ten metres from the origin."""
REACH = 0.05
APART = 2.0
"""Metres between one pair and the next."""
SHAPES = {
    "plane": 'type="plane" size=".5 .5 1" euler="3 -2 0"',
    "sphere": 'type="sphere" size=".08"',
    "capsule": 'type="capsule" size=".04 .09"',
    "ellipsoid": 'type="ellipsoid" size=".1 .05 .07"',
    "cylinder": 'type="cylinder" size=".09 .05"',
    "box": 'type="box" size=".1 .05 .07"',
    "pebble": 'type="mesh" mesh="pebble"',
    "splinter": 'type="mesh" mesh="splinter"',
    "prism": 'type="mesh" mesh="prism"',
}
PAIRS = [("plane", name) for name in SHAPES if name != "plane"]
PAIRS += [(a, b) for a in ("sphere", "capsule") for b in ("sphere", "capsule")]
PAIRS += [("sphere", "cylinder"), ("sphere", "box"), ("capsule", "box"), ("box", "capsule"), ("box", "box")]


def uneven(seed: int, size: tuple[float, float, float]) -> str:
    """Vertices of a mesh: points on an uneven ellipsoid."""
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((11, 3))
    points *= rng.uniform(0.8, 1.2, (11, 1)) / np.linalg.norm(points, axis=1)[:, None]
    return " ".join(f"{x:.5f}" for x in (points * size).ravel())


ASSETS = f"""<asset>
<mesh name="pebble" vertex="{uneven(1, (0.1, 0.09, 0.08))}"/>
<mesh name="splinter" vertex="{uneven(2, (0.12, 0.06, 0.03))}"/>
<mesh name="prism" vertex=".1 0 .05 -.05 .08 .05 -.05 -.08 .05 .1 0 -.05 -.05 .08 -.05 -.05 -.08 -.05"/>
</asset>"""


def pairs_side_by_side() -> mujoco.MjModel:
    """For each pair one geom fixed in the world and one on a free body; they touch nothing but each other."""
    world = "".join(
        f'<geom name="fixed{k}" {SHAPES[a]} pos="{k * APART} 0 0" contype="{1 << k}" conaffinity="0"/>'
        f'<body pos="{k * APART} 0 0"><freejoint/>'
        f'<geom name="moving{k}" {SHAPES[b]} contype="0" conaffinity="{1 << k}"/></body>'
        for k, (a, b) in enumerate(PAIRS)
    )
    margins = f'<default><geom margin="{REACH / 4}" gap="{REACH / 4}"/></default>'
    return mujoco.MjModel.from_xml_string(f"<mujoco>{margins}{ASSETS}<worldbody>{world}</worldbody></mujoco>")


def poses(mjm: mujoco.MjModel) -> np.ndarray:
    """Any orientation, some almost upright, at places within the sum of both radii; over a plane at such heights."""
    rng = np.random.default_rng(0)
    qpos = np.tile(mjm.qpos0, (POSES, 1))
    for k, (first, _) in enumerate(PAIRS):
        reach = float(mjm.geom(f"fixed{k}").rbound[0] + mjm.geom(f"moving{k}").rbound[0]) + REACH
        size = [0.3, 0.3, reach] if first == "plane" else reach / np.sqrt(3)
        qpos[:, 7 * k : 7 * k + 3] += rng.uniform(-1, 1, (POSES, 3)) * size
        turn = rng.standard_normal((POSES, 4))
        turn[: POSES // 4] = [1, 0, 0, 0] + 1e-2 * turn[: POSES // 4]
        qpos[:, 7 * k + 3 : 7 * k + 7] = turn / np.linalg.norm(turn, axis=1)[:, None]
    return qpos


@pytest.fixture(scope="module")
def found() -> list[tuple[np.ndarray, np.ndarray]]:
    """For each pose the contacts of Tumble and of MuJoCo: number of the pair, distance, place; (n, 5)."""
    tumble.init(precision="64")
    mjm = pairs_side_by_side()
    qpos, data = poses(mjm), mujoco.MjData(mjm)
    solver = RigidSolver(Model.from_mjmodel(mjm), POSES)
    solver.set_state(qpos=torch.from_numpy(qpos))
    solver.forward()
    both = []
    for env in range(POSES):
        data.qpos[:] = qpos[env]
        mujoco.mj_forward(mjm, data)
        ours = solver.inspect(env)
        mine = listed(mjm, ours["contact_geom"], ours["contact_dist"], ours["contact_pos"])
        both.append((mine, listed(mjm, data.contact.geom, data.contact.dist, data.contact.pos)))
    return both


def listed(mjm: mujoco.MjModel, geoms: np.ndarray, dist: np.ndarray, pos: np.ndarray) -> np.ndarray:
    """Contacts in an order that both sides share: by pair, distance, place."""
    numbers = [int(mjm.geom(int(pair.max())).name.removeprefix("moving")) for pair in np.reshape(geoms, (-1, 2))]
    rows = np.column_stack([numbers, np.reshape(dist, -1), np.reshape(pos, (-1, 3))])
    return rows[np.lexsort(np.round(rows.T[::-1], 9))]


@pytest.mark.parametrize("k", range(len(PAIRS)), ids=[f"{a}-{b}" for a, b in PAIRS])
def test_contacts_are_mujocos(found, k):
    touching = 0
    for env, (mine, yours) in enumerate(found):
        mine, yours = mine[mine[:, 0] == k], yours[yours[:, 0] == k]
        assert mine.shape == yours.shape, (env, mine, yours)
        np.testing.assert_allclose(mine, yours, atol=EXACT, err_msg=str(env))
        touching += len(yours) > 0
    assert touching > POSES // 4
