"""The Hessian's pattern: rows of a tree, and room for every entry that the contacts of a tile couple."""

import numpy as np

import tumble
from tumble.physics import Model, RigidSolver
from tumble.physics.base.fields import layout
from tumble.physics.model.state.fields import INDICES

from ..test_architecture import ROOT

ENVS = 16


def crouching(num_envs):
    """Humanoids with hinges far from the reference, so that limbs meet."""
    model = Model.from_mjcf(str(ROOT / "assets" / "humanoid.xml"))
    solver = RigidSolver(model, num_envs, lanes=16)
    rng = np.random.default_rng(3)
    qpos = np.tile(model.mj.qpos0, (num_envs, 1))
    low, high = model.mj.jnt_range[1:].T
    qpos[:, 7:] = rng.uniform(low, high, (num_envs, len(low)))
    qpos[:, 2] += rng.uniform(-0.5, 0.5, num_envs)
    solver.set_state(qpos)
    solver.forward()
    return solver


def pattern_of(solver):
    """Rows of the pattern in the first tile: columns of each dof, and how many coupling contacts it was made for."""
    _, dump = solver._driver.evaluate_together(("M",), None)
    at, nv = layout(INDICES, solver._driver.sizes)[0], solver.model.mj.nv
    first = dump[0].numpy()
    counts = first[at["H_rownnz"] : at["H_rownnz"] + nv]
    starts = first[at["H_rowadr"] : at["H_rowadr"] + nv]
    assert starts.tolist() == (np.cumsum(counts) - counts).tolist()
    order = first[at["H_order"] : at["H_order"] + nv]
    assert sorted(order) == list(range(nv)) and (np.diff(counts[order]) >= 0).all()
    columns = first[at["H_colind"] : at["H_colind"] + counts.sum()]
    return [row.tolist() for row in np.split(columns, starts[1:])], first[at["H_ncouple"]]


def couplings(solver):
    """The couplings that the pattern of the first tile was made for."""
    _, dump = solver._driver.evaluate_together(("M",), None)
    at, first = layout(INDICES, solver._driver.sizes)[0], dump[0].numpy()
    return first[at["H_couple"] : at["H_couple"] + first[at["H_ncouple"]]].tolist()


def test_rows_are_paths_to_the_root():
    """A row is its dof and then its parent's row; without coupling contacts it is the dof's ancestors."""
    tumble.init(precision="32")
    standing = RigidSolver(Model.from_mjcf(str(ROOT / "assets" / "humanoid.xml")), ENVS, lanes=16)
    standing.forward()
    for solver in (standing, crouching(ENVS)):
        rows, coupling = pattern_of(solver)
        for i, row in enumerate(rows):
            assert row[0] == i and row == sorted(row, reverse=True)
            assert len(row) == 1 or row[1:] == rows[row[1]]
        own = solver.model.dof_paths()
        assert all(set(a) <= set(row) for a, row in zip(own, rows, strict=True))
        assert (rows == own) == (coupling == 0)
        assert (solver is standing) == (coupling == 0)


def test_every_entry_of_the_hessian_has_its_place():
    """M + J' D J of all environments of the tile, from what `inspect` gives."""
    tumble.init(precision="32")
    solver = crouching(ENVS)
    rows, _ = pattern_of(solver)
    place = np.zeros((solver.model.mj.nv,) * 2, bool)
    for i, row in enumerate(rows):
        place[i, row] = True
    outside_the_tree = 0
    for env in range(ENVS):
        found = solver.inspect(env)
        weighted = found["efc_J"] * found["efc_D"][:, None]
        hessian = found["qM"] + found["efc_J"].T @ weighted
        assert not (np.tril(hessian != 0) & ~place).any()
        outside_the_tree += (np.tril(hessian != 0) & (found["qM"] == 0)).sum()
    assert outside_the_tree > 0


def passing(posts):
    """A ball on a rail that touches one post after the other, each in one step alone; posts give way sideways."""
    post = "<body pos='{} .08 0'><joint type='slide' axis='0 1 0'/><geom size='.05' mass='1'/></body>"
    xml = f"""<mujoco><option timestep=".02" gravity="0 0 0"/><worldbody>
      <body><joint type='slide' axis='1 0 0'/><geom size='.05' mass='1000'/></body>
      {"".join(post.format(0.2 * k) for k in range(posts))}</worldbody></mujoco>"""
    solver = RigidSolver(Model.from_mjcf(xml), 1)
    solver.set_state(qvel=np.eye(1, posts + 1) * 10)
    return solver


def test_the_pattern_follows_the_contacts():
    """Within a launch it is kept while the coupling contacts are the same; every launch begins anew."""
    tumble.init(precision="32")
    solver = passing(posts=5)
    state = solver.state_dict()
    solver.step(5)
    expected = solver.qvel
    solver.load_state_dict(state)
    seen = []
    for _ in range(5):
        solver.step()
        seen.append(couplings(solver))
    assert seen == [[post] for post in range(1, 6)]  # as many, and others
    np.testing.assert_array_equal(solver.qvel, expected)
    assert (expected[0, 1:] > 0.1).all() and expected[0, 0] != 10  # all were pushed, and braked it
