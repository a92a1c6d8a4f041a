"""With hfield="mujoco" contacts are MuJoCo's: those of the prisms under all triangles, the first fifty.

MuJoCo 4.0 ends the search of a box or mesh and a prism too early: it takes two corners of a prism for one, as prisms'
corners have no numbers, and reports depths that do not separate them. With any margin it searches on; so here geoms
have one of 1e-10 m.
"""

import mujoco
import numpy as np
import pytest
import torch

from tumble.physics import Model, RigidSolver

from ...widths import WIDTH
from ..starts import run_with
from .fields import SOLIDS, add_solid, random_poses, rough, with_field

MARGIN = 1e-10
CELL, HEIGHT = 0.1, 0.1
MOST = 50
BESIDE, MOVED = 8, 1e-10
"""Poses beside each one, so far away (m, rad), at which MuJoCo is asked as well: where it jumps, both answers count."""
FOUND = (1e-5, 1.7e-3)
"""m and rad (0.1 degrees): curved shapes are searched until neither changes by more than rounding of the depth."""


def scene(**options: str) -> mujoco.MjModel:
    """Return one free body of each kind over a rough field that is moved and tilted."""
    spec = with_field(rough(21, 25, HEIGHT), CELL, pos=[0.3, 0.2, 0.1], quat=[1, 0.1, 0.05, 0.02])
    for kind in SOLIDS:
        add_solid(spec, kind)
    spec.option.ccd_tolerance, spec.option.ccd_iterations = 1e-12, 500
    for geom in spec.geoms:
        geom.margin = MARGIN / 2
    return spec.compile()


def contacts_of(mjm: mujoco.MjModel, geoms: np.ndarray, *numbers: np.ndarray) -> dict[str, np.ndarray]:
    """Return (n, 7) rows of distance, position and normal by the name of the solid, in the order given."""
    widths = (1, 3, 9)
    rows = np.concatenate([np.reshape(x, (-1, w)) for x, w in zip(numbers, widths, strict=True)], axis=1)[:, :7]
    return {kind: rows[np.reshape(geoms, (-1, 2)).max(1) == mjm.geom(kind).id] for kind in SOLIDS}


def theirs(mjm: mujoco.MjModel, data: mujoco.MjData, qpos: np.ndarray) -> dict[str, np.ndarray]:
    data.qpos[:] = qpos
    mujoco.mj_kinematics(mjm, data)
    mujoco.mj_collision(mjm, data)
    found = data.contact
    return contacts_of(mjm, found.geom, found.dist, found.pos, found.frame)


def alike(mine: np.ndarray, other: np.ndarray) -> bool:
    """Return True if two sets of contacts are equal, in their order."""
    if mine.shape != other.shape:
        return False
    apart = np.abs(mine - other)
    return bool((apart[:, :4] <= FOUND[0]).all() and (apart[:, 4:] <= FOUND[1]).all())


def check(count: int, seed: int) -> None:
    run_with("64")
    mjm, rng = scene(), np.random.default_rng(seed)
    qpos = np.concatenate([random_poses(rng, count, 0.9, 0.05, 0.3) for _ in SOLIDS], axis=1)
    solver = RigidSolver(Model.from_mjmodel(mjm, hfield="mujoco"), count)
    solver.set_state(qpos=torch.from_numpy(qpos))
    solver.forward()
    data, wrong, touching = mujoco.MjData(mjm), [], dict.fromkeys(SOLIDS, 0)
    for env in range(count):
        ours = solver.inspect(env)
        mine = contacts_of(mjm, ours["contact_geom"], ours["contact_dist"], ours["contact_pos"], ours["contact_frame"])
        other = theirs(mjm, data, qpos[env])
        for kind in SOLIDS:
            if len(other[kind]) >= MOST:
                continue
            touching[kind] += len(other[kind]) > 0
            beside = (qpos[env] + MOVED * rng.standard_normal(mjm.nq) for _ in range(BESIDE))
            same = alike(mine[kind], other[kind])
            if not same and not any(alike(mine[kind], theirs(mjm, data, near)[kind]) for near in beside):
                wrong.append((env, kind, mine[kind], other[kind]))
    assert not wrong, f"{len(wrong)} sets differ, the first: {wrong[0]}"
    assert min(touching.values()) > count // 4


def test_sets_are_mujocos():
    check(100, seed=1)


@pytest.mark.slow
def test_sets_are_mujocos_in_2000_poses():
    check(2000, seed=2)


def test_the_first_fifty_count():
    """A box that touches more prisms has the first fifty in the order of rows, as MuJoCo."""
    run_with("64")
    spec = with_field(rough(31, 31, 0.01), 0.02)
    add_solid(spec, "box", pos=[0.003, 0.005, 0.04], quat=[1, 0.02, 0.03, 0.2])
    for geom in spec.geoms:
        geom.margin = MARGIN / 2
    spec.option.ccd_tolerance, spec.option.ccd_iterations = 1e-12, 500
    mjm = spec.compile()
    solver = RigidSolver(Model.from_mjmodel(mjm, hfield="mujoco", max_contacts=100), 1, lanes=WIDTH)
    solver.forward()
    data = mujoco.MjData(mjm)
    mujoco.mj_forward(mjm, data)
    ours = solver.inspect(0)
    assert len(ours["contact_dist"]) == data.ncon == MOST
    np.testing.assert_allclose(ours["contact_pos"], data.contact.pos, atol=FOUND[0])


def test_other_names_are_refused():
    with pytest.raises(ValueError, match=r"option hfield: 'prisms' is neither 'surface' nor 'mujoco'"):
        Model.from_mjspec(with_field(rough(3, 3, 0.1), 0.1), hfield="prisms")
