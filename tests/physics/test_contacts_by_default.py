"""Contacts of convex shapes at MuJoCo's default search, `ccd_tolerance` 1e-6 and 35 iterations: they are MuJoCo's.

Within the tolerance of a depth there are many answers, and the way of the search says which, so these tests fail if a
search starts, stops or orders its corners otherwise than MuJoCo's.
"""

import mujoco
import numpy as np
import pytest

from .parity.exact import depth, shape_of
from .starts import run_with
from .test_convex_pairs import ALL, MESHES, REACH, geoms, ours, poses, same, theirs

POSES, BESIDE, MOVED = 90, 8, 1e-10
TOP = [[x, y, 0.05 - 4e-4 * (x * x + y * y)] for x in np.linspace(-0.08, 0.08, 5) for y in np.linspace(-0.07, 0.07, 5)]
BULGED = " ".join(str(z) for z in np.ravel([*TOP, *([x, y, -0.05] for x in (-0.08, 0.08) for y in (-0.07, 0.07))]))
"""A block whose top is bulged by micrometres: depths across its facets differ by less than `ccd_tolerance`."""
HULLS = [("box", "prism"), ("cube", "prism"), ("box", "bulged"), ("rock", "bulged")]
CURVED = [("cylinder", "box"), ("cylinder", "cylinder"), ("cylinder", "prism"), ("ellipsoid", "box")]
CURVED += [("capsule", "cylinder"), ("capsule", "ellipsoid"), ("capsule", "pebble")]
PAIRS = HULLS + CURVED
OTHERWISE = 0.05
"""Share of the sets of curved shapes that may be others than MuJoCo's, as in `test_convex_pairs`: mirror images are as
deep as each other, and some of MuJoCo's sets lie on a face that hardly looks at the other shape
(docs/reference/pairs.md)."""


def side_by_side(reach: float, several: str = "enable", search: str = "") -> mujoco.MjModel:
    """For each pair one geom fixed in the world and one on a free body, as in `test_convex_pairs`."""
    shapes = {**ALL, "bulged": 'type="mesh" mesh="bulged"'}
    meshes = MESHES.replace("</asset>", f'<mesh name="bulged" vertex="{BULGED}"/></asset>')
    world = "".join(
        f'<geom name="fixed{k}" {shapes[a]} pos="{k - len(PAIRS) // 2} 0 0" contype="{1 << k}" conaffinity="0"/>'
        f'<body pos="{k - len(PAIRS) // 2} 0 0"><freejoint/>'
        f'<geom name="moving{k}" {shapes[b]} contype="0" conaffinity="{1 << k}"/></body>'
        for k, (a, b) in enumerate(PAIRS)
    )
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><option {search}><flag multiccd="{several}"/></option><default>'
        f'<geom margin="{reach / 4}" gap="{reach / 4}"/></default>{meshes}<worldbody>{world}</worldbody></mujoco>'
    )


@pytest.fixture(scope="module")
def qpos() -> np.ndarray:
    """Poses of all pairs; half of what is near is as deep as a body at rest, 1e-6 to 1e-3 m."""
    run_with("64")
    mjm = side_by_side(REACH, "disable", 'ccd_tolerance="1e-12" ccd_iterations="500"')
    found, rng = poses(mjm, PAIRS, POSES), np.random.default_rng(7)
    for env, contacts in enumerate(theirs(mjm, found)):
        for k, rows in contacts.items():
            if rng.random() < 0.5:
                sign = 1 if geoms(mjm, k)[0] == mjm.geom(f"fixed{k}").id else -1
                found[env, 7 * k : 7 * k + 3] += sign * rows[0, 4:] * (-(10 ** rng.uniform(-6, -3)) - rows[0, 0])
    return found


@pytest.fixture(scope="module", params=[0.0, REACH], ids=["no margin", "margin"])
def found(request, qpos) -> tuple:
    """Detection distance, Tumble's sets of contacts, MuJoCo's, and MuJoCo's at poses beside."""
    mjm, rng = side_by_side(request.param), np.random.default_rng(1)
    beside = [theirs(mjm, qpos + MOVED * rng.standard_normal(qpos.shape)) for _ in range(BESIDE)]
    return request.param, ours(mjm, qpos), theirs(mjm, qpos), beside


@pytest.mark.parametrize("k", range(len(PAIRS)), ids=[f"{a}-{b}" for a, b in PAIRS])
def test_sets_of_contacts_are_mujocos(found, k):
    reach, mine, yours, beside = found
    touching, otherwise = 0, []
    for env in range(POSES):
        answers = [side[env].get(k) for side in (yours, *beside)]
        touching += any(answer is not None for answer in answers)
        if not any(same(mine[env].get(k), answer, turn=1.7e-3) for answer in answers):
            otherwise.append(env)
    print(f"{PAIRS[k]}, {reach}: {len(otherwise)} of {touching}")
    assert touching > POSES // 4
    curved = PAIRS[k] in CURVED or reach > 0  # hulls that have grown by a margin are
    assert len(otherwise) <= (OTHERWISE if curved else 0) * touching, otherwise


def test_depths_of_hulls_are_exact_at_any_tolerance(qpos):
    """The nearest facet of the difference of all corners is qhull's."""
    mjm = side_by_side(0.0, "disable")
    mine, data, off = ours(mjm, qpos), mujoco.MjData(mjm), []
    for env, pose in enumerate(qpos):
        data.qpos[:] = pose
        mujoco.mj_kinematics(mjm, data)
        for k in range(len(HULLS)):
            if k in mine[env]:
                truth, _ = depth(*(shape_of(mjm, data, g) for g in geoms(mjm, k)))
                off.append(abs(-mine[env][k][0, 0] - truth))
    assert len(off) > POSES and max(off) < 1e-12
